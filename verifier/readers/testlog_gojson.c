/* go test -json (cmd/test2json), up to the build events of Go 1.24.
 *
 * Ids and what must agree are those of the text reader (testlog_go.c). The go command names the
 * package itself, so lines that tests print cannot move results into another one. test2json before Go
 * 1.20 makes events of lines that tests print ("pass" for "--- PASS: X", "run" for "=== RUN   X"), and
 * none of a result behind output without a newline: events count when a "run" came before, and such
 * results are read from the output.
 *
 * Lines between that are no JSON come from the build; of them "FAIL pkg [build failed]" counts. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_go_internal.h"

static const struct testlog_word actions[] = {
	/* clang-format off */
	{ "pass",  TEST_PASSED },
	{ "bench", TEST_PASSED },
	{ "fail",  TEST_FAILED },
	{ "skip",  TEST_SKIPPED },
	/* clang-format on */
};

struct package {
	char *name; /* owned */
	struct testlog_go g;
	bool open; /* something was said of it since it ended last */
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct package *v; /* owned */
	size_t n, cap;
	struct test_results index; /* package name -> position; its hash cannot be aimed at */
	size_t ended;
};

static struct package *package(struct reader *r, const char *s, size_t n)
{
	auto_free char *id = testlog_name(s, n, NULL);
	struct test_result *t = testlog_get(&r->index, id);

	if (!t) {
		size_t before = r->index.n;

		testlog_add(&r->index, id, strlen(id), TEST_PASSED, r->n, r->n);
		if (r->index.n == before)
			return NULL;
		MEM_GROW(r->v, r->cap, r->n + 1);
		r->v[r->n++] = (struct package){ .name = mem_strdup(id) };
		t = &r->index.v[before];
	}
	return &r->v[t->from];
}

static void end_of(struct reader *r, struct package *p, enum testlog_go_end end,
		   const struct testlog_line *line)
{
	r->ended++;
	p->open = false;
	if (end != TESTLOG_GO_EMPTY || p->g.t.n)
		testlog_go_done(r->in, r->out, &p->g, p->name, strlen(p->name), end, line);
}

/* What a test or its package printed. A result that test2json made no event of stands behind other
 * output, or is that of a subtest and was taken for output of another test. */
static void on_output(struct package *p, struct jslice test, const char *s, size_t n,
		      const struct testlog_line *line)
{
	struct testlog_go_line result = { 0 };
	const char *run;
	size_t k;

	while (n && s[n - 1] == '\n')
		n--;
	if (testlog_go_line(s, n, &result)) {
		auto_free char *name = mem_strndup(result.name, result.n);

		result.glued |= !jslice_is(test, name);
		if (result.glued)
			testlog_go_result(&p->g, &result, line);
	} else if (testlog_go_announced(s, n, &run, &k) && run > s + strlen(TESTLOG_GO_RUN)) {
		testlog_go_run(&p->g, run, k, line);
	} else if (testlog_go_bare(s, n)) {
		p->g.bare = true;
	}
}

static void on_test(struct package *p, struct jslice test, struct jslice action, bool decided,
		    enum test_status status, const struct testlog_line *line)
{
	struct testlog_go_line result = { .status = status };
	auto_free char *name = jslice_text(test, &result.n);

	result.name = name;
	if (decided)
		testlog_go_result(&p->g, &result, line);
	else if (jslice_is(action, "run"))
		testlog_go_run(&p->g, name, result.n, line);
}

static void on_event(struct reader *r, struct jslice event, const struct testlog_line *line)
{
	struct jslice action = jslice_get(event, "Action"), test = jslice_get(event, "Test"),
		      output = jslice_get(event, "Output");
	enum test_status s;
	bool decided = false;
	size_t n = 0;
	auto_free char *pkg = jslice_text(jslice_get(event, "Package"), &n), *text = NULL;
	struct package *p = pkg && n ? package(r, pkg, n) : NULL;

	if (!p || jslice_kind(action) != '"')
		return;
	p->open = true;
	decided = testlog_word(actions, ARRAY_SIZE(actions), action.s + 1, action.n - 2, &s);
	text = jslice_text(output, &n);
	if (text)
		on_output(p, test, text, n, line);
	else if (jslice_kind(test) == '"')
		on_test(p, test, action, decided, s, line);
	else if (decided)
		end_of(r, p,
		       s == TEST_PASSED                                ? TESTLOG_GO_OK
		       : s == TEST_SKIPPED                             ? TESTLOG_GO_EMPTY
		       : jslice_kind(jslice_get(event, "FailedBuild")) ? TESTLOG_GO_BUILD
								       : TESTLOG_GO_FAIL,
		       line);
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	enum testlog_go_end end;
	struct jslice event;
	const char *pkg;
	struct package *p;
	size_t n;

	if (line->n && line->s[0] == '{' &&
	    jslice_parse("log", line->s, line->n, &event, NULL) >= 0) {
		on_event(r, event, line);
		return;
	}
	if (testlog_go_package(line->s, line->n, &pkg, &n, &end) && end == TESTLOG_GO_BUILD) {
		p = package(r, pkg, n);
		if (p)
			end_of(r, p, end, line);
	}
}

int testlog_read_gotest_json(const struct testlog_input *in, struct test_results *out,
			     struct err *err)
{
	struct reader r = { .in = in, .out = out };
	size_t at = 0;

	(void)err;
	while (at < in->log_len && !testlog_full(out)) {
		const char *s = in->log + at, *nl = memchr(s, '\n', in->log_len - at);
		size_t n = nl ? (size_t)(nl - s) : in->log_len - at;
		struct testlog_line line = { .s = s, .n = n, .from = at, .to = at + n };

		/* The lines as they are: a JSON string holds neither escapes nor returns. */
		on_line(&r, &line);
		at += n + 1;
	}
	for (size_t i = 0; i < r.n; i++) {
		struct testlog_line line = { .s = "", .from = in->log_len, .to = in->log_len };

		if (r.v[i].open)
			testlog_go_done(in, out, &r.v[i].g, r.v[i].name, strlen(r.v[i].name),
					TESTLOG_GO_CUT, &line);
		testlog_done(&r.v[i].g.t);
		free(r.v[i].name);
	}
	if (!r.ended)
		testlog_incomplete(out, "no package ended: is this the output of go test -json?");
	testlog_run_exit(in, out);
	testlog_done(&r.index);
	free(r.v);
	return 0;
}
