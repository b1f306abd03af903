/* cargo test, as text: Rust's libtest and what imitates it.
 *
 * Ids: "target name". The target comes from cargo's line in front of each binary, without the hash:
 * "sample" for the unit tests of a library, "bin/sample", "test/it", "example/x", "bench/x" for the
 * other kinds, "doc/sample" for documentation tests. Cargo before 1.54 does not say the kind, and a
 * binary that was started by hand has no target. The mark " - should panic" is no part of a name. The
 * line numbers in the names of documentation tests are: they move when a patch adds lines.
 *
 * What counts: lines between "running N tests" and "failures:"; a test that was announced ("test a ...
 * ", with one thread) gets its result from a later line. Complete means for each binary: as many passed,
 * failed, ignored and measured as its last "test result:" says and N together; so a line that a test
 * wrote itself, or one that its output made unreadable, shows. The command's status is 0 unless something
 * failed. What remains: code under test that prints a whole run and ends the process. */
#include "verifier/readers/testlog_libtest_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define DOTS " ... "

/* Where a target's source lies, and what its ids say of it. */
static const struct {
	const char *source, *kind;
} kinds[] = {
	/* clang-format off */
	{ "tests/",       "test/" },
	{ "examples/",    "example/" },
	{ "benches/",     "bench/" },
	{ "src/main.rs",  "bin/" },
	{ "src/bin/",     "bin/" },
	/* clang-format on */
};

static bool starts(const char *s, size_t n, const char *prefix)
{
	size_t k = strlen(prefix);

	return n >= k && memcmp(s, prefix, k) == 0;
}

/* Length of [@s, @n) without "-" and 16 hex digits at its end, 0 when they are not there. */
static size_t without_hash(const char *s, size_t n)
{
	if (n < 18 || s[n - 17] != '-')
		return 0;
	for (size_t i = n - 16; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return 0;
	return n - 17;
}

/* The target of "[unittests] SOURCE (PATH)", "`PATH ARGS`" or "PATH". NULL when it is none. */
static char *target_of(const char *s, size_t n)
{
	const char *path = s, *source = "", *slash;
	size_t len, k;

	if (n > 2 && s[n - 1] == ')') {
		const char *open = memmem(s, n, " (", 2);

		if (!open)
			return NULL;
		path = open + 2;
		len = n - (size_t)(path - s) - 1;
		source = starts(s, n, "unittests ") ? s + strlen("unittests ") : s;
	} else {
		path += *s == '`';
		len = strcspn(path, " `");
	}
	slash = memrchr(path, '/', len);
	if (!slash)
		return NULL;
	len -= (size_t)(slash + 1 - path);
	len = without_hash(slash + 1, len);
	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		if (str_starts(source, kinds[k].source))
			break;
	return len ? mem_printf("%s%.*s", k < ARRAY_SIZE(kinds) ? kinds[k].kind : "", (int)len,
				slash + 1)
		   : NULL;
}

char *testlog_libtest_target(const struct testlog_line *line)
{
	static const char running[] = "Running ", doc[] = "Doc-tests ";
	size_t blanks = strspn(line->s, " "), n = line->n - blanks;
	const char *s = line->s + blanks;

	if (blanks && starts(s, n, running))
		return target_of(s + strlen(running), n - strlen(running));
	if (blanks && starts(s, n, doc))
		return mem_printf("doc/%s", s + strlen(doc));
	return NULL;
}

void testlog_libtest_enter(struct testlog_libtest *r, char *target)
{
	testlog_libtest_close(r);
	free(r->target);
	r->target = target;
}

void testlog_libtest_open(struct testlog_libtest *r, uint64_t want)
{
	testlog_libtest_close(r);
	r->open = true;
	r->want = want;
	r->runs++;
}

void testlog_libtest_put(struct testlog_libtest *r, const char *name, size_t n, enum test_status s,
			 bool measured, const struct testlog_line *line)
{
	static const char panic[] = " - should panic";
	size_t k = sizeof(panic) - 1;
	auto_free char *id = NULL;

	if (n > k && memcmp(name + n - k, panic, k) == 0)
		n -= k;
	id = mem_printf("%s%s%.*s", r->target ? r->target : "", r->target ? " " : "", (int)n, name);
	testlog_merge(r->in, r->out, id, strlen(id), s, line);
	if (s != TEST_ERROR)
		r->seen[measured            ? TESTLOG_LIBTEST_MEASURED
			: s == TEST_PASSED  ? TESTLOG_LIBTEST_PASSED
			: s == TEST_SKIPPED ? TESTLOG_LIBTEST_IGNORED
					    : TESTLOG_LIBTEST_FAILED]++;
}

void testlog_libtest_told(struct testlog_libtest *r, const uint64_t told[TESTLOG_LIBTEST_COUNTS])
{
	memcpy(r->told, told, sizeof(r->told));
	r->ended = true;
	if (told[TESTLOG_LIBTEST_FAILED] > r->most_failed)
		r->most_failed = told[TESTLOG_LIBTEST_FAILED];
}

void testlog_libtest_close(struct testlog_libtest *r)
{
	const char *name = r->target ? r->target : "a test binary";
	uint64_t seen = 0;

	if (!r->open)
		return;
	for (size_t i = 0; i < TESTLOG_LIBTEST_COUNTS; i++)
		seen += r->seen[i];
	if (!r->ended)
		testlog_incomplete(r->out, "%.200s ended without a summary", name);
	else if (!seen && r->want)
		testlog_incomplete(r->out, "%.200s names no test: run without --quiet", name);
	else if (memcmp(r->seen, r->told, sizeof(r->seen)) != 0 || seen != r->want ||
		 r->most_failed > r->seen[TESTLOG_LIBTEST_FAILED])
		testlog_incomplete(r->out,
				   "%.200s: its lines do not agree with its summary (%llu of %llu)",
				   name, (unsigned long long)seen, (unsigned long long)r->want);
	r->open = r->ended = false;
	r->most_failed = 0;
	memset(r->seen, 0, sizeof(r->seen));
	memset(r->told, 0, sizeof(r->told));
}

void testlog_libtest_finish(struct testlog_libtest *r)
{
	testlog_libtest_close(r);
	if (!r->runs)
		testlog_incomplete(r->out, "no test binary ran");
	testlog_run_exit(r->in, r->out);
	free(r->target);
}

/* Words of a result; times and reasons may follow. */
static const struct {
	const char *text;
	enum test_status status;
	bool measured, open; /* open: more may follow at once */
} words[] = {
	/* clang-format off */
	{ "ok",        TEST_PASSED,  false, false },
	{ "FAILED",    TEST_FAILED,  false, false },
	{ "ignored",   TEST_SKIPPED, false, false },
	{ "ignored, ", TEST_SKIPPED, false, true },
	{ "bench: ",   TEST_PASSED,  true,  true },
	/* clang-format on */
};

/* Announced tests whose results are to come. */
struct waiting {
	char *name; /* owned, NULL = none */
	bool maybe; /* output ended like a result */
	size_t word;
	struct testlog_line line;
};

struct reader {
	struct testlog_libtest r;
	struct waiting now, outer; /* outer: announced on the same line before it */
	bool body;                 /* in front of "failures:" */
	bool nested;               /* one line announced two tests */
	int first;                 /* the first of their results, -1 = none so far */
};

/* Index into words of what [@s, @n) says as a whole, -1 when it is no result. */
static int word_of(const char *s, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t k = strlen(words[i].text);

		if (n < k || memcmp(s, words[i].text, k) != 0)
			continue;
		/* --report-time: "ok <0.003s>", "FAILED (time limit exceeded)" */
		if (n == k || words[i].open ||
		    (n > k + 2 && s[k] == ' ' && (s[k + 1] == '<' || s[k + 1] == '(')))
			return (int)i;
	}
	return -1;
}

static void settle(struct reader *p, struct waiting *w, size_t word, uint64_t to)
{
	/* Nothing says which of the two is whose. */
	if (p->nested && p->first >= 0 && (size_t)p->first != word)
		testlog_incomplete(p->r.out,
				   "two tests share a line and one of them failed: %.200s",
				   w->name);
	p->first = (int)word;
	w->line.to = to;
	testlog_libtest_put(&p->r, w->name, strlen(w->name), words[word].status,
			    words[word].measured, &w->line);
	free(w->name);
	*w = (struct waiting){ .name = NULL };
}

/* The binary goes on or is over: what waits gets the result its output ended with, or none. */
static void leave(struct reader *p, bool over)
{
	struct waiting *all[] = { &p->outer, &p->now };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct waiting *w = all[i];

		if (w->name && w->maybe)
			settle(p, w, w->word, w->line.to);
		else if (w->name && over)
			testlog_libtest_put(&p->r, w->name, strlen(w->name), TEST_ERROR, false,
					    &w->line);
		free(w->name);
		*w = (struct waiting){ .name = NULL };
	}
}

/* Text behind the announcement of what waits. */
static void on_rest(struct reader *p, const char *s, size_t n, const struct testlog_line *line)
{
	int word = word_of(s, n);
	struct waiting *w = &p->now;

	w->maybe = false;
	if (word >= 0) {
		settle(p, w, (size_t)word, line->to);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		size_t k = strlen(words[i].text);

		if (n > k && memcmp(s + n - k, words[i].text, k) == 0) {
			w->maybe = true;
			w->word = i;
			w->line.to = line->to;
		}
	}
}

/* "test NAME ... REST" at @s. */
static bool on_test(struct reader *p, const char *s, size_t n, const struct testlog_line *line)
{
	const char *dots, *at;
	int word = -1;

	if (!starts(s, n, "test "))
		return false;
	s += 5;
	n -= 5;
	dots = memmem(s, n, DOTS, 5);
	if (!dots || dots == s)
		return false;
	/* A name may hold " ... " itself where the rest is a result. */
	for (at = dots; at && word < 0; at = memmem(at + 1, n - (size_t)(at + 1 - s), DOTS, 5)) {
		word = word_of(at + 5, n - (size_t)(at + 5 - s));
		if (word >= 0 && !starts(dots + 5, n - (size_t)(dots + 5 - s), "test "))
			dots = at;
	}
	leave(p, false);
	p->nested = false;
	p->first = -1;
	p->now = (struct waiting){ .name = mem_strndup(s, (size_t)(dots - s)), .line = *line };
	n -= (size_t)(dots + 5 - s);
	s = dots + 5;
	if (starts(s, n, "test ") && (at = memmem(s, n, DOTS, 5)) && at != s + 5) {
		struct waiting outer = p->now;
		size_t inner = (size_t)(at - s) - 5;

		p->nested = true;
		p->now = (struct waiting){ .name = mem_strndup(s + 5, inner), .line = *line };
		on_rest(p, at + 5, n - (size_t)(at + 5 - s), line);
		p->outer = outer;
		return true;
	}
	on_rest(p, s, n, line);
	return true;
}

/* A result behind output without a newline, when nothing waits for one. */
static void on_glued(struct reader *p, const struct testlog_line *line)
{
	const char *at = NULL, *next = line->s, *dots;
	size_t rest;

	while ((next = strstr(next, "test ")))
		at = next++;
	dots = at ? strstr(at, DOTS) : NULL;
	if (!dots || dots == at + 5)
		return;
	rest = (size_t)(dots + 5 - line->s);
	if (word_of(dots + 5, line->n - rest) >= 0)
		on_test(p, at, line->n - (size_t)(at - line->s), line);
}

static bool number(const char **s, uint64_t *ret)
{
	size_t n = testlog_digits(*s, ret);

	*s += n;
	return n != 0;
}

/* "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; ..." */
static bool on_summary(struct reader *p, const struct testlog_line *line)
{
	static const char *const words_of[TESTLOG_LIBTEST_COUNTS] = { " passed; ", " failed; ",
								      " ignored; ", " measured" };
	uint64_t told[TESTLOG_LIBTEST_COUNTS] = { 0 };
	const char *s;

	if (!testlog_starts(line, "test result: "))
		return false;
	s = strstr(line->s, ". ");
	if (!s)
		return false;
	s += 2;
	for (size_t i = 0; i < TESTLOG_LIBTEST_COUNTS; i++) {
		if (!number(&s, &told[i]) || !str_starts(s, words_of[i]))
			return false;
		s += strlen(words_of[i]);
	}
	testlog_libtest_told(&p->r, told);
	return true;
}

/* "running 3 tests" */
static bool on_running(struct reader *p, const struct testlog_line *line)
{
	const char *s = line->s + strlen("running ");
	uint64_t n;

	if (!testlog_starts(line, "running ") || !number(&s, &n) ||
	    (!str_eq(s, " test") && !str_eq(s, " tests")))
		return false;
	/* A failed test may have printed a run of its own. */
	if (p->r.open && !p->body && !p->r.ended)
		return false;
	leave(p, true);
	testlog_libtest_open(&p->r, n);
	p->body = true;
	return true;
}

/* cargo's line in front of a binary. */
static bool on_header(struct reader *p, const struct testlog_line *line)
{
	char *target = line->s[0] == ' ' ? testlog_libtest_target(line) : NULL;

	if (!target)
		return false;
	leave(p, true);
	testlog_libtest_enter(&p->r, target);
	p->body = false;
	return true;
}

static void on_body(struct reader *p, const struct testlog_line *line)
{
	int word = word_of(line->s, line->n);

	if (str_eq(line->s, "failures:") || str_eq(line->s, "successes:")) {
		leave(p, false);
		p->body = false;
	} else if (on_test(p, line->s, line->n, line)) {
		return;
	} else if (word >= 0 && !words[word].open && (p->now.name || p->outer.name)) {
		settle(p, p->now.name ? &p->now : &p->outer, (size_t)word, line->to);
	} else if (p->now.name) {
		on_rest(p, line->s, line->n, line);
	} else {
		on_glued(p, line);
	}
}

static void on_line(struct reader *p, const struct testlog_line *line)
{
	if (on_running(p, line) || on_header(p, line))
		return;
	if (p->r.open && !on_summary(p, line) && p->body)
		on_body(p, line);
}

int testlog_read_libtest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader p = { .r = { .in = in, .out = out } };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err;         /* anything is a log; what is wrong with it is in the note */
	it.returns = true; /* one printed behind an announcement must not hide it */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&p, &line);
	leave(&p, true);
	testlog_libtest_finish(&p.r);
	buf_done(&it.text);
	return 0;
}
