/* The parsers of SWE-bench's harness for mocha's JSON reporter, read as text: cypress, lighthouse
 * and prism. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

/* What stands behind the last @from, up to the last @to behind it; all of it where one is
 * missing. */
static struct piece between(struct piece p, const char *from, const char *to)
{
	const char *at = compat_find_last(p, from);

	if (at)
		p = compat_from(p, at + strlen(from));
	at = compat_find_last(p, to);
	return at ? compat_before(p, at) : p;
}

/* Each '"fullTitle": "name",' that ends its line. */
static void full_titles(struct compat *c, struct piece text, enum test_status s)
{
	static const char key[] = "\"fullTitle\":";

	for (const char *at; (at = compat_find_first(text, key));) {
		struct piece p = compat_from(text, at + strlen(key)), line;

		text = p;
		if (!compat_eat_space(&p) || !compat_eat(&p, "\""))
			continue;
		if (!compat_line(&p, &line) || !p.s)
			break;
		/* What fails is the end of the line: no other place on it does better. */
		text = p;
		if (!compat_ends(line, "\","))
			continue;
		line.n -= 2;
		c->at = line;
		compat_set(c, line, s);
	}
}

/* The list of passed tests ends elsewhere in the two, that of the failed ones at "],". */
static void lists(struct compat *c, struct piece text, const char *indent, const char *passes_end)
{
	auto_free char *passes = mem_printf("%s\"passes\": [", indent);
	auto_free char *failures = mem_printf("%s\"failures\": [", indent);
	auto_free char *failures_end = mem_printf("%s],", indent);

	full_titles(c, between(text, passes, passes_end), TEST_PASSED);
	full_titles(c, between(text, failures, failures_end), TEST_FAILED);
}

/* Parts that "../.." ends. */
int compat_read_cypress(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece text = c.text;

	(void)err;
	for (const char *at; (at = compat_find_first(text, "../.."));) {
		lists(&c, compat_before(text, at), "  ", "  }");
		text = compat_from(text, at + strlen("../.."));
	}
	return 0;
}

/* "running 12 test files": what is behind it in *text. false when there is none. */
static bool mocha_run(struct piece *text, const char **start)
{
	for (const char *at; (at = compat_find_first(*text, "running"));) {
		struct piece p = compat_from(*text, at + strlen("running"));

		*text = p;
		*start = at;
		if (!compat_eat_space(&p) || !compat_eat_digits(&p) || !compat_eat_space(&p) ||
		    !compat_eat(&p, "test") || !compat_eat_space(&p) || !compat_eat(&p, "files"))
			continue;
		*text = p;
		return true;
	}
	return false;
}

/* In front of "12 passing". */
static struct piece before_passing(struct piece text)
{
	struct piece p = text;

	for (const char *at; (at = compat_find_first(p, "passing"));) {
		struct piece front = compat_before(text, at);
		size_t n;

		p = compat_from(p, at + 1);
		front.n -= compat_space_end(front);
		if (front.s + front.n == at)
			continue;
		for (n = front.n; n && front.s[n - 1] >= '0' && front.s[n - 1] <= '9';)
			n--;
		if (n < front.n)
			return compat_before(front, front.s + n);
	}
	return text;
}

/* Cut the last " (12ms)" of the line and what is behind it. */
static void cut_ms(struct piece *p)
{
	struct piece front = *p;

	for (const char *at; (at = compat_find_last(front, "("));
	     front = compat_before(front, at)) {
		struct piece q = compat_from(*p, at + 1);
		size_t blank = compat_space_end(compat_before(front, at));

		if (!blank || !compat_eat_digits(&q) || !compat_eat(&q, "m"))
			continue;
		while (compat_eat(&q, "m"))
			;
		if (!compat_starts(q, "s)"))
			continue;
		p->n = (size_t)(at - p->s) - blank;
		return;
	}
}

static void mocha_line(struct compat *c, struct compat_suites *suites, struct piece line)
{
	struct piece p = compat_strip(line);
	bool passed = compat_eat(&p, "\u2714");
	bool failed = !passed && compat_eat_digits(&p) && compat_eat(&p, ")");

	if ((passed || failed) && compat_eat_space(&p)) {
		cut_ms(&p);
		compat_set_in_suites(c, suites, p, passed ? TEST_PASSED : TEST_FAILED);
	} else if (compat_space(line)) {
		compat_suite(suites, line);
	}
}

static void lighthouse_spec(struct compat *c)
{
	struct piece text = c->text, part, line;
	struct compat_suites suites;
	const char *start;
	bool more = mocha_run(&text, &start);

	while (more) {
		part = text;
		more = mocha_run(&text, &start);
		part = compat_strip(before_passing(more ? compat_before(part, start) : part));
		suites.n = 0;
		while (compat_next(c, &part, &line))
			mocha_line(c, &suites, line);
	}
}

/* The version of the project says how its tests report: three with mocha's spec reporter, other
 * ones from 3 on (also when none is given) with jest, older ones with mocha's JSON. */
int compat_read_lighthouse(const struct testlog_input *in, struct test_results *out,
			   struct err *err)
{
	static const char *const spec[] = { "9.5", "10.0", "10.2" };
	struct compat c = compat_start(in, out);
	struct piece text = c.text, part;
	const char *version = in->version && *in->version ? in->version : "3";

	for (size_t i = 0; i < ARRAY_SIZE(spec); i++)
		if (strcmp(version, spec[i]) == 0) {
			lighthouse_spec(&c);
			return 0;
		}
	if (!(strtod(version, NULL) < 3))
		return compat_read_jest_files(in, out, err);
	while (compat_part(&text, "./node_modules/.bin/mocha --reporter json", &part))
		lists(&c, part, "", "]");
	return 0;
}

/* The names in the list of @key of mocha's JSON object. */
static void json_list(struct compat *c, struct jslice object, const char *key, enum test_status s)
{
	struct jslice_walk walk = jslice_walk(jslice_get(object, key));
	struct jslice test;

	while (jslice_member(&walk, NULL, &test)) {
		size_t n = 0;
		auto_free char *title = jslice_text(jslice_get(test, "fullTitle"), &n);

		if (title)
			compat_set(c, (struct piece){ title, n }, s);
	}
}

/* The object from the first "{" to the last "}" behind each call of the tests. A part that is no
 * JSON ends the reading there with an error; here it makes the results incomplete. */
int compat_read_prismjs(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece text = c.text, part;

	(void)err;
	while (compat_part(&text, "./node_modules/.bin/mocha tests/run.js --reporter json",
			   &part)) {
		const char *from = compat_find_first(part, "{"), *to = compat_find_last(part, "}");
		struct jslice object;
		struct err ignored = { 0 };

		c.at = part;
		if (!from || !to || to < from ||
		    jslice_parse("log", from, (size_t)(to - from) + 1, &object, &ignored) < 0) {
			testlog_incomplete(out, "a result of mocha is no JSON");
			continue;
		}
		json_list(&c, object, "failures", TEST_FAILED);
		json_list(&c, object, "passes", TEST_PASSED);
	}
	return 0;
}
