#include "verifier/readers/testlog_pytest_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/* Headings that end the progress lines, or begin a session; a test run with -s may print others. */
static const struct {
	const char *text;
	enum testlog_pytest_head head;
} heads[] = {
	/* clang-format off */
	{ "test session starts",     TESTLOG_PYTEST_START },
	{ "short test summary info", TESTLOG_PYTEST_SECTION },
	{ "ERRORS",                  TESTLOG_PYTEST_BODY },
	{ "FAILURES",                TESTLOG_PYTEST_BODY },
	{ "PASSES",                  TESTLOG_PYTEST_BODY },
	{ "XPASSES",                 TESTLOG_PYTEST_BODY },
	{ "XFAILURES",               TESTLOG_PYTEST_BODY },
	{ "warnings summary",        TESTLOG_PYTEST_BODY },
	/* clang-format on */
};

/* The text of a line framed by @sign, "==== text ====", NULL when the line is none. */
static const char *framed(const struct testlog_line *line, char sign, size_t *ret_n)
{
	const char *s = line->s, *e = line->s + line->n;

	while (s < e && *s == sign)
		s++;
	while (e > s && e[-1] == sign)
		e--;
	if (s == line->s || e - s < 3 || s[0] != ' ' || e[-1] != ' ')
		return NULL;
	*ret_n = (size_t)(e - s) - 2;
	return s + 1;
}

enum testlog_pytest_head testlog_pytest_heading(const struct testlog_line *line)
{
	size_t n;
	const char *s = framed(line, '=', &n);

	for (size_t i = 0; s && i < ARRAY_SIZE(heads); i++)
		if (strlen(heads[i].text) == n && memcmp(s, heads[i].text, n) == 0)
			return heads[i].head;
	return TESTLOG_PYTEST_NONE;
}

/* One "13 passed" or "3 subtests passed" of the last line; moves *s behind it. */
static bool one_count(const char **s, const char *e, struct testlog_pytest_counts *c)
{
	const struct {
		const char *word;
		uint64_t *to;
	} rows[] = {
		{ "passed", &c->passed },   { "failed", &c->failed }, { "xpassed", &c->xpassed },
		{ "xfailed", &c->xfailed }, { "error", &c->errors },  { "errors", &c->errors },
	};
	const char *p = *s, *w;
	uint64_t v = 0;
	size_t n;

	for (; p < e && isdigit((unsigned char)*p) && p - *s < 10; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == *s || p == e || *p != ' ')
		return false;
	for (w = ++p; p < e && *p != ',' && !(e - p > 4 && memcmp(p, " in ", 4) == 0);)
		p++;
	n = (size_t)(p - w);
	*s = p;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strlen(rows[i].word) == n && memcmp(w, rows[i].word, n) == 0)
			*rows[i].to = v;
	return n && n <= 40;
}

bool testlog_pytest_count(const struct testlog_line *line, struct testlog_pytest_counts *ret)
{
	struct testlog_pytest_counts c = { .seen = true };
	size_t n = line->n;
	const char *s = framed(line, '=', &n), *e;

	s = s ? s : line->s;
	e = s + n;
	if (n > 17 && memcmp(s, "no tests ran in ", 16) == 0) {
		*ret = c;
		return true;
	}
	while (one_count(&s, e, &c)) {
		if (e - s > 2 && memcmp(s, ", ", 2) == 0) {
			s += 2;
			continue;
		}
		/* " in 0.08s", or " in 0.08 seconds" before pytest 5 */
		if (e - s < 6 || memcmp(s, " in ", 4) != 0 || !isdigit((unsigned char)s[4]))
			return false;
		*ret = c;
		return true;
	}
	return false;
}

/* Whether a log falls into sessions one behind the other. */
struct sessions {
	struct testlog_pytest_session *v;
	size_t n;
	unsigned depth; /* sessions that began and did not end */
	bool torn;      /* begins and ends do not pair off */
	bool body;      /* something of a body stood behind the last end */
};

/* Part of a body: "==== PASSES ====", "____ test_x ____", "---- Captured stdout call ----". */
static bool in_body(const struct testlog_line *line)
{
	size_t n;
	const char *s = framed(line, '-', &n);

	return testlog_pytest_heading(line) >= TESTLOG_PYTEST_SECTION ||
	       (s && n > 9 && memcmp(s, "Captured ", 9) == 0) || framed(line, '_', &n);
}

static void on_line(struct sessions *s, const struct testlog_line *line)
{
	struct testlog_pytest_counts c;

	if (testlog_pytest_heading(line) == TESTLOG_PYTEST_START) {
		if (s->depth++ == 0) {
			s->torn |= s->body || s->n == TESTLOG_PYTEST_SESSIONS;
			if (!s->torn)
				s->v[s->n++] =
					(struct testlog_pytest_session){ .from = line->from };
		}
	} else if (line->s[0] == '=' && testlog_pytest_count(line, &c)) {
		if (s->depth == 0)
			s->torn = true;
		else if (--s->depth == 0 && !s->torn)
			s->v[s->n - 1].to = line->to + 1;
		s->body = false;
	} else if (s->depth == 0 && in_body(line)) {
		s->body = true;
	}
}

/* Where the parts of a session are. */
static void survey(const struct testlog_input *in, struct testlog_pytest_session *s)
{
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	s->heading = UINT64_MAX;
	it.at = s->from;
	it.returns = true;
	while (testlog_next(&it, &line) && line.from < s->to) {
		enum testlog_pytest_head head = testlog_pytest_heading(&line);

		if (head == TESTLOG_PYTEST_SECTION) {
			s->has_section = true;
			s->section = line.to;
			s->counts.seen = false;
		} else if (testlog_pytest_count(&line, &s->counts)) {
			s->end = line.from;
		}
		if (s->heading == UINT64_MAX && head >= TESTLOG_PYTEST_SECTION)
			s->heading = line.from;
	}
	buf_done(&it.text);
}

size_t testlog_pytest_survey(const struct testlog_input *in,
			     struct testlog_pytest_session ret[TESTLOG_PYTEST_SESSIONS])
{
	struct sessions s = { .v = ret };
	struct testlog_lines it = TESTLOG_LINES(in->log, in->log_len);
	struct testlog_line line;

	it.returns = true;
	while (testlog_next(&it, &line))
		on_line(&s, &line);
	buf_done(&it.text);
	if (s.torn || s.depth || s.n < 2) {
		ret[0] = (struct testlog_pytest_session){ .to = UINT64_MAX };
		s.n = 1;
	}
	for (size_t i = 0; i < s.n; i++)
		survey(in, &ret[i]);
	return s.n;
}
