/* What the records of a run add up to, once nobody can send any more. */
#include "verifier/channel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/channel_internal.h"

#define HEADER_MAX 4096u /* bytes of a line that names a program */

/* The first reason stays. */
static void incomplete(struct channel *ch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void incomplete(struct channel *ch, const char *fmt, ...)
{
	va_list ap;

	ch->results.incomplete = true;
	if (ch->results.note)
		return;
	va_start(ap, fmt);
	ch->results.note = mem_vprintf(fmt, ap);
	va_end(ap);
}

/* How a test program tells of a pass, at the left margin: the test's name stands behind @prefix and in
 * front of @suffix. */
static const struct {
	const char *prefix, *suffix;
} pass_lines[] = {
	{ "--- PASS: ", " (" }, /* Go */
	{ "test ", " ... ok" }, /* libtest */
};

/* Is @line (of @n bytes) the pass of a test that the program did not list? Then its name in *ret. */
static bool is_unknown(const struct test_results *known, const char *line, size_t n, char **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(pass_lines); i++) {
		size_t p = strlen(pass_lines[i].prefix);
		const char *name = line + p, *end;
		auto_free char *copy = NULL;
		size_t len;

		if (n < p || memcmp(line, pass_lines[i].prefix, p) != 0)
			continue;
		end = memmem(name, n - p, pass_lines[i].suffix, strlen(pass_lines[i].suffix));
		if (!end)
			continue;
		len = (size_t)(end - name);
		/* libtest adds " - should panic" to what it lists. */
		for (size_t k = 0; k + 3 <= len; k++)
			if (memcmp(name + k, " - ", 3) == 0)
				len = k;
		copy = mem_strndup(name, len);
		if (testlog_get(known, copy))
			continue;
		*ret = take_ptr(&copy);
		return true;
	}
	return false;
}

/* Lines in the name of tests that the program says it has not: somebody printed them. */
static void check_known(struct channel *ch, const struct channel_session *s)
{
	const char *at = s->log.data, *end = at ? at + s->log.len : NULL;
	struct test_results known = { 0 }; /* a set that no name can aim at */

	for (size_t i = 0; i < s->known.n; i++)
		testlog_add_worse(&known, s->known.v[i], strlen(s->known.v[i]), TEST_PASSED, 0, 0);
	while (s->known.n && at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((nl ? nl : end) - at);
		auto_free char *name = NULL;

		/* go test -json has each line marked (SYN). */
		if (n && *at == 0x16) {
			at++;
			n--;
		}
		if (is_unknown(&known, at, n, &name))
			channel_tamper(ch, "forged-line", name);
		at += n + 1;
	}
	testlog_done(&known);
}

static void strip_marks(struct buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] != 0x16)
			b->data[to++] = b->data[i];
	b->len = to;
	if (b->data)
		b->data[to] = '\0';
}

/* The program of a session that sends "log" records. */
static const char *program_of(const struct channel_session *s)
{
	const char *blank = strchr(s->who, ' ');

	return blank ? blank + 1 : "";
}

/* A line of the log that names program @name. Two different ones for one program: somebody printed one. */
static void take_header(struct channel *ch, const char *log, const char *name, size_t from,
			size_t n, struct test_results *headers)
{
	struct test_result *t = testlog_get(headers, name);

	if (t && !t->to) {
		t->from = from;
		t->to = from + n;
	} else if (t && (t->to - t->from != n || memcmp(log + t->from, log + from, n) != 0)) {
		channel_tamper(ch, "forged-line", name);
	}
}

/* cargo's lines in front of the outputs of programs, "Running FILE (target/debug/deps/NAME-HASH)": they
 * alone say which target a program is. One pass for all sessions: results named after the programs, whose spans
 * are those of the lines. */
static void find_headers(struct channel *ch, const struct channel_facts *f,
			 struct test_results *headers)
{
	const char *at = f->log, *end = at + f->log_len;

	for (size_t i = 0; i < ch->n; i++) {
		const char *name = program_of(&ch->session[i]);

		if (ch->session[i].logs)
			testlog_add_worse(headers, name, strlen(name), TEST_PASSED, 0, 0);
	}
	while (headers->n && at && at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at)), *slash = NULL;
		size_t n = (size_t)((nl ? nl : end) - at);

		if (n && n <= HEADER_MAX && at[n - 1] == ')' && memmem(at, n, "Running ", 8))
			slash = memrchr(at, '/', n);
		if (slash) {
			auto_free char *name = mem_strndup(slash + 1, (size_t)(at + n - 2 - slash));

			take_header(ch, f->log, name, (size_t)(at - f->log), n, headers);
		}
		at += n + 1;
	}
}

/* What one test program printed, apart from all others, read as the task's log reader reads. */
static void read_log(struct channel *ch, struct channel_session *s, const struct channel_facts *f,
		     const struct test_results *headers)
{
	struct testlog_input in = { .exit_status = s->said_exit < 0 ? 255 : (int)s->said_exit,
				    .root = ch->root };
	auto_buf text = BUF_INIT(CHANNEL_LOG_MAX + HEADER_MAX + 1);
	const struct test_result *line = testlog_get(headers, program_of(s));
	struct test_results r = { 0 };
	struct err err = { 0 };
	uint64_t bad = 0;

	if (s->cut)
		incomplete(
			ch,
			"test programs printed more than %u bytes, or one has more than %u tests",
			CHANNEL_LOG_MAX, CHANNEL_KNOWN_MAX);
	check_known(ch, s);
	strip_marks(&s->log);
	/* Both fit, see CHANNEL_LOG_MAX and HEADER_MAX. */
	if (line && line->to) {
		(void)buf_add(&text, f->log + line->from, line->to - line->from);
		(void)buf_addc(&text, '\n');
	}
	(void)buf_add(&text, buf_str(&s->log), s->log.len);
	in.log = buf_str(&text);
	in.log_len = text.len;
	if (f->reader->read(&in, &r, &err) < 0) {
		incomplete(ch, "%s", err.text);
		testlog_done(&r);
		return;
	}
	for (size_t i = 0; i < r.n; i++) {
		const struct test_result *t = &r.v[i];

		bad += t->status == TEST_FAILED || t->status == TEST_ERROR;
		if (ch->unique)
			testlog_add_worse(&ch->results, t->name, strlen(t->name), t->status, 0, 0);
		else
			testlog_add(&ch->results, t->name, strlen(t->name), t->status, 0, 0);
	}
	s->bad = bad;
	s->tests = r.n;
	if (s->ended && bad && s->said_exit == 0)
		incomplete(ch, "%s reported a failure and ended with status 0", s->who);
	if (s->ended && !bad && s->said_exit > 0)
		incomplete(ch, "%s reported no failure and ended with status %" PRIi64, s->who,
			   s->said_exit);
	testlog_done(&r);
}

static void settle_session(struct channel *ch, struct channel_session *s,
			   const struct channel_facts *f, const struct test_results *headers)
{
	if (!s->ended)
		incomplete(ch, "%s was ended before its report was", s->who);
	if (s->logs && f->reader) {
		read_log(ch, s, f, headers);
		return;
	}
	if (!s->ended)
		return;
	if (s->said_bad > 0 && s->said_exit == 0)
		incomplete(ch, "%s counted %" PRIi64 " failures and ended with status 0", s->who,
			   s->said_bad);
	if (s->said_bad == 0 && s->said_exit > 0)
		incomplete(ch, "%s counted no failure and ended with status %" PRIi64, s->who,
			   s->said_exit);
}

void channel_settle(struct channel *ch, const struct channel_facts *f)
{
	struct test_results headers = { 0 };
	bool bad = false;

	if (ch->lied)
		incomplete(ch, "the test process shows failing tests as passed (see tamper)");
	if (ch->fault)
		incomplete(ch, "the result channel was abused: %s", ch->fault);
	if (f->log)
		find_headers(ch, f, &headers);
	for (size_t i = 0; i < ch->n; i++) {
		struct channel_session *s = &ch->session[i];

		settle_session(ch, s, f, &headers);
		bad = bad || s->bad || s->said_bad > 0;
	}
	testlog_done(&headers);
	if (!ch->n || !f->plain)
		return;
	if (bad && f->exit_status == 0)
		incomplete(ch, "failures were reported, but the command ended with status 0");
	/* Or a build step that speaks like the tests and lets the build fail would be believed. */
	if (!bad && !f->excused && f->exit_status != 0)
		incomplete(ch, "no failure was reported, but the command ended with status %d",
			   f->exit_status);
}
