/* libtest's JSON, one object a line: cargo test -- -Zunstable-options --format json, and nextest's
 * --message-format libtest-json and libtest-json-plus.
 *
 * Ids and what must agree are those of the text reader (testlog_libtest.c): "target name", where cargo
 * says the target in lines between. nextest's names hold it themselves ("crate::bin$name"); the "#2" it
 * puts behind the name of a test that it tried twice is taken off. A test that was started and did not
 * end is an error. An object behind output without a newline counts as well. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_libtest_internal.h"
#include "verifier/readers/testlog_run_internal.h"

/* "timeout" says that a test runs for long, not that it ended. */
static const struct testlog_word events[] = {
	/* clang-format off */
	{ "ok",              TEST_PASSED },
	{ "failed",          TEST_FAILED },
	{ "ignored",         TEST_SKIPPED },
	{ "allowed_failure", TEST_XFAIL },
	/* clang-format on */
};

struct reader {
	struct testlog_libtest r;
	struct test_results t; /* of the binary that runs; TEST_MISSING = no result so far */
};

/* What was started and did not end. */
static void leave(struct reader *p)
{
	for (size_t i = 0; i < p->t.n; i++) {
		const struct test_result *t = &p->t.v[i];
		struct testlog_line span = { .from = t->from, .to = t->to };

		if (t->status == TEST_MISSING)
			testlog_libtest_put(&p->r, t->name, strlen(t->name), TEST_ERROR, false,
					    &span);
	}
	testlog_done(&p->t);
}

static void on_suite(struct reader *p, struct jslice event)
{
	static const char *const keys[TESTLOG_LIBTEST_COUNTS] = { "passed", "failed", "ignored",
								  "measured" };
	uint64_t told[TESTLOG_LIBTEST_COUNTS], n;

	if (jslice_is(jslice_get(event, "event"), "started")) {
		if (testlog_docs_u64(event, "test_count", &n)) {
			leave(p);
			testlog_libtest_open(&p->r, n);
		}
		return;
	}
	for (size_t i = 0; i < TESTLOG_LIBTEST_COUNTS; i++)
		if (!testlog_docs_u64(event, keys[i], &told[i]))
			return;
	if (p->r.open)
		testlog_libtest_told(&p->r, told);
}

/* Length of a name without nextest's "#2". */
static size_t without_try(const char *s, size_t n)
{
	size_t i = n;

	while (i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9')
		i--;
	return i < n && i > 1 && s[i - 1] == '#' && memchr(s, '$', i) ? i - 1 : n;
}

static void on_test(struct reader *p, struct jslice event, bool bench,
		    const struct testlog_line *line)
{
	struct jslice what = jslice_get(event, "event");
	enum test_status s = TEST_PASSED;
	size_t n = 0;
	auto_free char *name = jslice_text(jslice_get(event, "name"), &n), *id = NULL;
	struct testlog_line span = *line;
	struct test_result *t;

	if (!name || !p->r.open)
		return;
	id = testlog_name(name, without_try(name, n), NULL);
	t = testlog_get(&p->t, id);
	if (jslice_is(what, "started")) {
		if (!t)
			testlog_add(&p->t, id, strlen(id), TEST_MISSING, line->from, line->to);
		return;
	}
	if (!bench && (jslice_kind(what) != '"' ||
		       !testlog_word(events, ARRAY_SIZE(events), what.s + 1, what.n - 2, &s)))
		return;
	if (t) {
		span.from = t->from;
		t->status = s;
	}
	testlog_libtest_put(&p->r, id, strlen(id), s, bench, &span);
}

static void on_line(struct reader *p, const struct testlog_line *line)
{
	const char *at, *end = line->s + line->n;
	struct jslice event, type;
	char *target;

	if (line->n && line->s[0] == ' ') {
		target = testlog_libtest_target(line);
		if (target) {
			leave(p);
			testlog_libtest_enter(&p->r, target);
			return;
		}
	}
	at = memmem(line->s, line->n, "{ \"type\": \"", 11);
	if (!at)
		at = memmem(line->s, line->n, "{\"type\":\"", 9);
	if (!at || jslice_parse("log", at, (size_t)(end - at), &event, NULL) < 0)
		return;
	type = jslice_get(event, "type");
	if (jslice_is(type, "suite"))
		on_suite(p, event);
	else if (jslice_is(type, "test") || jslice_is(type, "bench"))
		on_test(p, event, jslice_is(type, "bench"), line);
}

int testlog_read_libtest_json(const struct testlog_input *in, struct test_results *out,
			      struct err *err)
{
	struct reader p = { .r = { .in = in, .out = out } };
	auto_free char *log = mem_dup(in->log, in->log_len);
	size_t at = 0;

	(void)err;
	while (at < in->log_len && !testlog_full(out)) {
		char *s = log + at, *nl = memchr(s, '\n', in->log_len - at);
		size_t n = nl ? (size_t)(nl - s) : in->log_len - at;
		struct testlog_line line = { .s = s, .n = n, .from = at, .to = at + n };

		/* No cut at a length: the output of a test stands in its line. */
		s[n] = '\0';
		on_line(&p, &line);
		at += n + 1;
	}
	leave(&p);
	testlog_libtest_finish(&p.r);
	return 0;
}
