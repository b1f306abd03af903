/* The parser that SWE-bench's harness calls django. A name is what stands in front of " ... ", so a
 * test with a docstring is called by the line of its docstring, and a line "Applying x... OK" of a
 * migration makes no result while "  Applying x ... OK" would. Three messages of Django may stand
 * between " ... " and the "ok" of the next line. "FAIL: test_x (m.C)" and "ERROR: ..." give a name
 * without its class; those results beside the named ones are part of what that harness sees. */
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"

#define DOTS " ... "

/* A line of its own of one test, with an output that runs over several lines. */
#define VERSION_TEXT "--version is equivalent to version"

/* What the name of a migration may push in front of a test's own line. */
#define MIGRATION_TEXT "Applying sites.0002_alter_domain_unique...test_no_migrations"

static struct piece up_to(struct piece line, const char *what)
{
	const char *at = compat_find_first(line, what);

	return at ? compat_before(line, at) : line;
}

/* "name ... ok"; the line may be another one afterwards. */
static void on_passed(struct compat *c, struct piece *line)
{
	static const char *const suffixes[] = { " ... ok", " ... OK", " ...  OK" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const char *dots;

		if (!compat_ends(*line, suffixes[i]))
			continue;
		if (compat_starts(*line, MIGRATION_TEXT))
			*line = compat_strip(
				compat_from(*line, compat_find_first(*line, "...") + 3));
		dots = compat_find_last(*line, suffixes[i]);
		compat_set(c, dots ? compat_before(*line, dots) : *line, TEST_PASSED);
		return;
	}
}

/* "FAIL: test_x (m.C)" */
static void on_heading(struct compat *c, struct piece line, const char *word, enum test_status s)
{
	struct piece name;

	if (!compat_starts(line, word))
		return;
	compat_word(&line);
	name = compat_word(&line);
	if (name.n)
		compat_set(c, name, s);
}

static void on_line(struct compat *c, struct piece line, struct piece *before)
{
	line = compat_strip(line);
	if (compat_has(line, VERSION_TEXT))
		compat_set(c, PIECE(VERSION_TEXT), TEST_PASSED);
	if (compat_has(line, DOTS))
		*before = up_to(line, DOTS);
	on_passed(c, &line);
	if (compat_has(line, " ... skipped"))
		compat_set(c, up_to(line, " ... skipped"), TEST_SKIPPED);
	if (compat_ends(line, " ... FAIL"))
		compat_set(c, up_to(line, " ... FAIL"), TEST_FAILED);
	on_heading(c, line, "FAIL:", TEST_FAILED);
	if (compat_ends(line, " ... ERROR"))
		compat_set(c, up_to(line, " ... ERROR"), TEST_ERROR);
	on_heading(c, line, "ERROR:", TEST_ERROR);
	if (compat_starts(line, "ok") && before->s)
		compat_set(c, *before, TEST_PASSED);
}

/* A message between the dots of a test and its "ok", which has a line of its own. */
struct message {
	const char *head; /* follows the dots */
	const char *tail; /* ends the message */
	enum { IN_LINE, ALL_OF_LINE, OVER_LINES } kind;
};

/* Does "ok" stand at @at, with the end of its line behind it? */
static bool ok_line(struct piece p)
{
	return compat_eat(&p, "\nok") && (!p.n || *p.s == '\n');
}

/* Where the message behind its head ends, that is, its newline in front of "ok"; NULL when it does
 * not. */
static const char *message_end(struct piece p, const struct message *m)
{
	struct piece line = p, rest = p;

	if (m->kind != OVER_LINES) {
		compat_line(&rest, &line);
		if (m->kind == ALL_OF_LINE && line.n)
			return NULL;
		p = compat_from(p, p.s + line.n);
		return compat_ends(line, m->tail) && ok_line(p) ? p.s : NULL;
	}
	for (const char *at; (at = compat_find_first(p, m->tail));) {
		p = compat_from(p, at + strlen(m->tail));
		if (ok_line(p))
			return p.s;
	}
	return NULL;
}

/* The name in front of the dots that end @front, on one line. */
static bool name_before(struct piece front, struct piece *name)
{
	size_t n = compat_space_end(front);
	const char *nl;

	front.n -= n;
	if (!n || !compat_ends(front, "..."))
		return false;
	front.n -= 3;
	n = compat_space_end(front);
	if (!n)
		return false;
	front.n -= n;
	nl = front.n ? memrchr(front.s, '\n', front.n) : NULL;
	*name = nl ? compat_from(front, nl + 1) : front;
	return true;
}

/* The first head in @line that has a name in front of it; one line gives one name. For ALL_OF_LINE
 * only a head at the end can do. */
static const char *find_head(struct piece text, struct piece line, const struct message *m,
			     struct piece *name)
{
	size_t n = strlen(m->head);

	if (m->kind == ALL_OF_LINE && line.n > n)
		line = compat_from(line, line.s + line.n - n);
	for (const char *head; (head = compat_find_first(line, m->head));) {
		if (name_before(compat_before(text, head), name))
			return head + n;
		line = compat_from(line, head + n);
	}
	return NULL;
}

static void on_message(struct compat *c, const struct message *m)
{
	/* Names are looked for in @text, heads in @rest, a later part of it. */
	struct piece text = c->text, rest = c->text, line, name;

	while (compat_line(&rest, &line)) {
		const char *behind = find_head(text, line, m, &name), *end;

		if (!behind)
			continue;
		end = message_end(compat_from(text, behind), m);
		if (end) {
			c->at = name;
			compat_set(c, name, TEST_PASSED);
			text = rest = compat_from(text, end + strlen("\nok"));
		} else if (m->kind == OVER_LINES) {
			return;
		}
	}
}

int compat_read_django(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const struct message messages[] = {
		{ "Testing against Django installed in ", " silenced).", OVER_LINES },
		{ "Internal Server Error: /", "/", IN_LINE },
		{ "System check identified no issues (0 silenced)", "", ALL_OF_LINE },
	};
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, before = { NULL, 0 };

	(void)err;
	while (compat_next(&c, &rest, &line))
		on_line(&c, line, &before);
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		on_message(&c, &messages[i]);
	return 0;
}
