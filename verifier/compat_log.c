/* A log as a whole, by the rules of SWE-bench's harness.
 *
 * - "Patch Apply Failed", "Reset Failed", "Tests Errored" or "Tests Timed Out" behind ">>>>> "
 *   anywhere: no results.
 * - Results stand between the first ">>>>> Start Test Output" and what follows first, its second
 *   occurrence or ">>>>> End Test Output". One of the two markers without the other: no results. A
 *   log of version 1 has none of them; its results follow the last ">>>>> Applied Patch (pred)". A
 *   log without any marker is read as a whole, which that harness would refuse: such logs are ours.
 * - Nothing between them: the whole log is read.
 * - Nothing at all, and no summary of a runner with a count above zero: no results.
 * - ">>>>> Test Exit Code: N" with N other than 0, results, and none of them failed or an error: no
 *   results. */
#include "verifier/compat.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_internal.h"

#define MARK        ">>>>> "
#define START       MARK "Start Test Output"
#define END         MARK "End Test Output"
#define EXIT        MARK "Test Exit Code:"
#define OLD_START   MARK "Applied Patch (pred)"
#define CODE_DIGITS 9u /* of an exit status */

static const struct {
	const char *text, *reason;
} bad[] = {
	{ MARK "Patch Apply Failed", "the log says that the patch does not apply" },
	{ MARK "Reset Failed", "the log says that the tree could not be reset" },
	{ MARK "Tests Errored", "the log says that the tests could not be run" },
	{ MARK "Tests Timed Out", "the log says that the tests ran out of time" },
};

/* The first exit code with digits. */
static void find_exit(struct piece log, struct compat_log *ret)
{
	for (const char *at; (at = compat_find_first(log, EXIT));) {
		struct piece p = compat_lstrip(compat_from(log, at + strlen(EXIT)));
		bool minus = compat_eat(&p, "-");
		int value = 0;

		log = compat_from(log, at + 1);
		for (unsigned i = 0; i < CODE_DIGITS && p.n && *p.s >= '0' && *p.s <= '9'; i++) {
			value = value * 10 + (*p.s - '0');
			ret->has_exit = true;
			p = compat_from(p, p.s + 1);
		}
		ret->exit_status = minus ? -value : value;
		if (ret->has_exit)
			return;
	}
}

static void set_part(struct compat_log *ret, struct piece log, const char *from, const char *to)
{
	ret->from = (uint64_t)(from - log.s);
	ret->to = to ? (uint64_t)(to - log.s) : log.n;
}

void compat_markers(const struct testlog_input *in, struct compat_log *ret)
{
	struct piece log = { in->log, in->log_len }, behind;
	const char *start = compat_find_first(log, START), *end = compat_find_first(log, END);
	const char *old = compat_find_last(log, OLD_START), *again;

	*ret = (struct compat_log){ .found = true,
				    .exit_status = in->exit_status,
				    .to = in->log_len };
	find_exit(log, ret);
	for (size_t i = 0; i < ARRAY_SIZE(bad) && ret->found; i++)
		if (compat_has(log, bad[i].text)) {
			ret->found = false;
			ret->reason = bad[i].reason;
		}
	if (start && end) {
		behind = compat_from(log, start + strlen(START));
		again = compat_find_first(behind, START);
		behind = again ? compat_before(behind, again) : behind;
		end = compat_find_first(behind, END);
		set_part(ret, log, behind.s, end ? end : again);
	} else if (start || end) {
		ret->found = false;
		ret->reason = "the log has one of the two markers of the test output, but not the "
			      "other";
	} else if (old) {
		set_part(ret, log, old + strlen(OLD_START), NULL);
	}
}

/* A number other than 0, behind white space if @space. */
static bool count(struct piece p, bool space)
{
	if (space && !compat_space(p))
		return false;
	if (space)
		p = compat_lstrip(p);
	return p.n && *p.s >= '1' && *p.s <= '9';
}

/* Does a number other than 0 end in front of @at? */
static bool count_before(struct piece log, const char *at)
{
	bool any = false;

	while (at > log.s && at[-1] >= '0' && at[-1] <= '9')
		any |= *--at != '0';
	return any;
}

/* "Test Suites: 1 failed, 3 total": the total is not 0. */
static bool suites_total(struct piece p)
{
	if (!compat_space(p))
		return false;
	p = compat_lstrip(p);
	for (;;) {
		bool some = count(p, false);

		if (!compat_eat_digits(&p) || !compat_eat(&p, " "))
			return false;
		if (some && compat_starts(p, "total"))
			return true;
		while (compat_word_char(p))
			p = compat_from(p, p.s + compat_word_char(p));
		if (!compat_eat(&p, ", "))
			return false;
	}
}

static bool total(struct piece p)
{
	if (!count(p, false))
		return false;
	compat_eat_digits(&p);
	return compat_starts(p, " SUCCESS") || compat_starts(p, " FAILED");
}

static bool executed(struct piece p)
{
	if (!count(p, false))
		return false;
	compat_eat_digits(&p);
	return compat_eat(&p, " of ") && compat_eat_digits(&p);
}

static bool tests_count(struct piece p)
{
	return count(p, true);
}

static bool number_behind(struct piece p)
{
	return count(p, false);
}

/* "12 specs, 0 failures" */
static bool specs(struct piece p)
{
	compat_eat(&p, "s");
	return compat_eat(&p, ", ") && compat_eat_digits(&p) && compat_eat(&p, " failure");
}

static bool end_of_line(struct piece p)
{
	return !p.n || *p.s == '\n';
}

static bool anything(struct piece p)
{
	(void)p;
	return true;
}

/* Did a runner say that it ran something? Only counts above zero are evidence. */
static bool suite_ran(struct piece log)
{
	static const struct {
		const char *text;
		bool before; /* a count stands in front of it */
		bool line;   /* it begins its line */
		bool (*behind)(struct piece p);
	} signs[] = {
		{ "Executed ", false, false, executed },
		{ "TOTAL: ", false, false, total },
		{ " passing", true, false, anything },
		{ "Tests:", false, false, tests_count },
		{ "Test Suites:", false, false, suites_total },
		{ "# tests ", false, true, number_behind },
		{ " spec", true, false, specs },
		{ "': ok", false, false, end_of_line },
	};

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		struct piece p = log;

		for (const char *at; (at = compat_find_first(p, signs[i].text));) {
			p = compat_from(p, at + strlen(signs[i].text));
			if ((!signs[i].before || count_before(log, at)) &&
			    (!signs[i].line || at == log.s || at[-1] == '\n') && signs[i].behind(p))
				return true;
		}
	}
	return false;
}

/* A text with "\n" alone at the ends of lines, and where a "\r" in front of one was taken out. */
struct normal {
	struct buf text;
	uint64_t *dropped; /* owned: places in the text */
	size_t n, cap;
};

static void normalise(struct piece p, struct normal *out)
{
	out->text = (struct buf)BUF_INIT(COMPAT_TEXT_MAX);
	while (p.n) {
		const char *cr = memchr(p.s, '\r', p.n);

		buf_add(&out->text, p.s, cr ? (size_t)(cr - p.s) : p.n);
		if (!cr)
			return;
		p = compat_from(p, cr + 1);
		if (compat_starts(p, "\n")) {
			MEM_GROW(out->dropped, out->cap, out->n + 1);
			out->dropped[out->n++] = out->text.len;
		} else {
			buf_addc(&out->text, '\n');
		}
	}
}

/* Place in the log of a place in the text. */
static uint64_t original(const struct normal *t, uint64_t at)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->dropped[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return at + low;
}

static void normal_done(struct normal *t)
{
	buf_done(&t->text);
	free(t->dropped);
}

/* Give a part of the log to the reader. */
static int read_part(const struct testlog_reader *row, const struct testlog_input *in,
		     uint64_t from, uint64_t to, struct test_results *out, struct err *err)
{
	struct normal t = { .n = 0 };
	struct testlog_input part = *in;
	int rc;

	normalise((struct piece){ in->log + from, to - from }, &t);
	part.log = buf_str(&t.text);
	part.log_len = t.text.len;
	rc = row->read(&part, out, err);
	for (size_t i = 0; i < out->n; i++) {
		out->v[i].from = from + original(&t, out->v[i].from);
		out->v[i].to = from + original(&t, out->v[i].to);
	}
	normal_done(&t);
	return rc;
}

void compat_judge(const struct testlog_input *in, const struct test_results *r,
		  struct compat_log *ret)
{
	if (!ret->found)
		return;
	if (!r->n && !suite_ran((struct piece){ in->log, in->log_len })) {
		ret->found = false;
		ret->reason = "there are no results, and no runner says that it ran any test";
	} else if (ret->exit_status && r->n && !testlog_any_failed(r)) {
		ret->found = false;
		ret->reason = "the tests ended with another status than 0, but none of them failed";
	}
}

int compat_read(const struct testlog_reader *row, const struct testlog_input *in,
		const struct compat_log *log, struct test_results *out, struct err *err)
{
	bool part = log->from || log->to < in->log_len;
	int rc = read_part(row, in, log->from, log->to, out, err);

	if (rc < 0 || out->n || !part)
		return rc;
	testlog_done(out);
	return read_part(row, in, 0, in->log_len, out, err);
}
