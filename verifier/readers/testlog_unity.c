/* Unity (C): "path:line:test:PASS", ":FAIL: message", ":IGNORE: message", and at the end of a program
 * "3 Tests 1 Failures 0 Ignored"; also behind "13: ", as ctest -V puts it in front of what test 13 prints.
 *
 * Ids: "path:test", without the line, which moves. One that comes twice keeps the worse result. The
 * checkout's place is taken off the path, as everywhere.
 *
 * Complete means for each program: as many tests, failures and ignored ones as its summary says; and
 * where ctest runs it, a summary in front of ctest's own result for that test (a crash leaves none); and
 * status 0 unless something failed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_numbered_internal.h"

#define PROGRAMS 65536u /* test programs of one ctest run */

static const struct testlog_word words[] = {
	/* clang-format off */
	{ "PASS",   TEST_PASSED },
	{ "FAIL",   TEST_FAILED },
	{ "IGNORE", TEST_SKIPPED },
	/* clang-format on */
};

/* Results since the last summary of a program. */
struct program {
	uint64_t tests, failures, ignored;
};

struct reader {
	const struct testlog_input *in;
	struct test_results *out;
	struct map by_number; /* key of ctest's number + 1, 0 without -> position + 1 */
	uint64_t seed;
	struct program *v; /* owned */
	size_t n, cap;
	uint64_t summaries;
	bool failed;
};

static struct program *program(struct reader *r, uint64_t number)
{
	uint64_t key = testlog_numbered_key(&r->seed, number);
	void *at = map_get(&r->by_number, key);

	if (at)
		return &r->v[(uintptr_t)at - 1];
	if (r->n == PROGRAMS) {
		testlog_incomplete(r->out, "more than %u test programs", PROGRAMS);
		return NULL;
	}
	MEM_GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = (struct program){ 0 };
	map_put(&r->by_number, key, (void *)(uintptr_t)r->n); // NOLINT: a position
	return &r->v[r->n - 1];
}

/* ":12:test:WORD" in [@s, @n): where it begins, @n when it does not stand there. */
static size_t place(const char *s, size_t n, const char **test, size_t *test_n,
		    enum test_status *status)
{
	for (size_t i = 1; i + 4 < n; i++) {
		size_t k = i + 1, from, word;

		if (s[i] != ':' || !isdigit((unsigned char)s[k]))
			continue;
		while (k < n && isdigit((unsigned char)s[k]))
			k++;
		if (k == n || s[k] != ':') {
			i = k - 1;
			continue;
		}
		from = ++k;
		while (k < n && s[k] != ':')
			k++;
		word = k + 1;
		for (k = word; k < n && s[k] != ':'; k++)
			;
		if (word < n && word > from + 1 &&
		    testlog_word(words, ARRAY_SIZE(words), s + word, k - word, status)) {
			*test = s + from;
			*test_n = word - 1 - from;
			return i;
		}
		i = from - 2;
	}
	return n;
}

static void on_result(struct reader *r, struct program *p, const char *s, size_t n,
		      const struct testlog_line *line)
{
	auto_free char *id = NULL;
	const char *test, *root = r->in->root, *glued;
	enum test_status status;
	size_t test_n, at = place(s, n, &test, &test_n, &status);

	if (at == n)
		return;
	/* Output without a newline stands in front of the path where that begins at the root. */
	glued = root && *root ? memmem(s, at, root, strlen(root)) : NULL;
	if (glued) {
		at -= (size_t)(glued - s);
		s = glued;
	}
	id = mem_printf("%.*s:%.*s", (int)at, s, (int)test_n, test);
	testlog_merge(r->in, r->out, id, strlen(id), status, line);
	p->tests++;
	p->failures += status == TEST_FAILED;
	p->ignored += status == TEST_SKIPPED;
	r->failed |= status == TEST_FAILED;
}

/* "3 Tests 1 Failures 0 Ignored" */
static bool summary(struct reader *r, struct program *p, const char *s)
{
	static const char *const heads[] = { " Tests ", " Failures ", " Ignored" };
	uint64_t v[3];

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		size_t n = testlog_digits(s, &v[i]);

		if (!n || !str_starts(s + n, heads[i]))
			return false;
		s += n + strlen(heads[i]);
	}
	if (v[0] != p->tests || v[1] != p->failures || v[2] != p->ignored)
		testlog_incomplete(
			r->out, "%llu tests, %llu failures in the summary, %llu and %llu in front",
			(unsigned long long)v[0], (unsigned long long)v[1],
			(unsigned long long)p->tests, (unsigned long long)p->failures);
	*p = (struct program){ 0 };
	r->summaries++;
	r->failed |= v[1] > 0;
	return true;
}

/* ctest's own result, "14/22 Test #14: name ....***Exception: SegFault": the program is over. */
static bool over(struct reader *r, const struct testlog_line *line)
{
	const char *at = strstr(line->s, " Test ");
	uint64_t number;
	struct program *p;

	if (!at || strspn(line->s, " 0123456789/") < (size_t)(at - line->s))
		return false;
	at += strlen(" Test ");
	at += strspn(at, " #");
	if (!testlog_digits(at, &number))
		return false;
	p = program(r, number + 1);
	if (p && p->tests) {
		testlog_incomplete(r->out, "a program ended without a summary: %.100s", at);
		*p = (struct program){ 0 };
	}
	r->failed |= strstr(at, "***") != NULL;
	return true;
}

static void on_line(struct reader *r, const struct testlog_line *line)
{
	const char *s = line->s;
	size_t n = line->n;
	uint64_t number;
	struct program *p;

	if (over(r, line))
		return;
	number = testlog_numbered_ctest(&s, &n);
	if (!memchr(s, ':', n) && !strstr(s, " Tests "))
		return;
	p = program(r, number);
	if (p && !summary(r, p, s))
		on_result(r, p, s, n, line);
}

int testlog_read_unity(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct reader r = { .in = in, .out = out };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	(void)err; /* anything is a log; what is wrong with it is in the note */
	while (testlog_next(&it, &line) && !testlog_full(out))
		on_line(&r, &line);
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].tests)
			testlog_incomplete(out, "a program ended without a summary");
	if (!r.summaries)
		testlog_incomplete(out, "no line \"N Tests N Failures N Ignored\"");
	else if (in->exit_status && !r.failed)
		testlog_incomplete(out, "nothing failed, but the command's status is %d",
				   in->exit_status);
	free(r.v);
	map_done(&r.by_number);
	buf_done(&it.text);
	return 0;
}
