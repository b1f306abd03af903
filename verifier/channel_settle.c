/* What the records of a run add up to, once nobody can send any more. */
#include "verifier/channel.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/channel_internal.h"

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
static bool is_unknown(const struct map *known, const char *line, size_t n, char **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(pass_lines); i++) {
		size_t p = strlen(pass_lines[i].prefix);
		const char *name = line + p, *end;
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
		if (map_get(known, map_hash(name, len)))
			continue;
		*ret = mem_strndup(name, len);
		return true;
	}
	return false;
}

/* Lines in the name of tests that the program says it has not: somebody printed them. */
static void check_known(struct channel *ch, const struct channel_session *s)
{
	const char *at = s->log.data, *end = at ? at + s->log.len : NULL;
	struct map known = { 0 };

	for (size_t i = 0; i < s->known.n; i++)
		map_put(&known, map_hash(s->known.v[i], strlen(s->known.v[i])), s->known.v[i]);
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
	map_done(&known);
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

/* cargo's line in front of a program's output, "Running FILE (target/debug/deps/NAME-HASH)": it alone says
 * which target that is. Two different ones for one program: somebody printed one. */
static void add_header(struct channel *ch, const struct channel_session *s,
		       const struct channel_facts *f, struct buf *out)
{
	const char *program = strchr(s->who, ' '), *at = f->log, *end = at + f->log_len,
		   *found = NULL;
	auto_free char *tail = mem_printf("/%s)", program ? program + 1 : "");
	size_t tail_len = strlen(tail), found_len = 0;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((nl ? nl : end) - at);

		if (n > tail_len && memcmp(at + n - tail_len, tail, tail_len) == 0 &&
		    memmem(at, n, "Running ", 8)) {
			if (found && (found_len != n || memcmp(found, at, n) != 0))
				channel_tamper(ch, "forged-line", program + 1);
			found = found ? found : at;
			found_len = found == at ? n : found_len;
		}
		at += n + 1;
	}
	if (found) {
		(void)buf_add(out, found, found_len); /* one line of the log: it fits */
		(void)buf_addc(out, '\n');
	}
}

/* What one test program printed, apart from all others, read as the task's log reader reads. */
static void read_log(struct channel *ch, struct channel_session *s, const struct channel_facts *f)
{
	struct testlog_input in = { .exit_status = s->said_exit < 0 ? 255 : (int)s->said_exit,
				    .root = ch->root };
	auto_buf text = BUF_INIT(CHANNEL_LOG_MAX + 65536);
	struct test_results r = { 0 };
	struct err err = { 0 };
	uint64_t bad = 0;

	if (s->cut)
		incomplete(ch, "a test program printed more than %u bytes", CHANNEL_LOG_MAX);
	check_known(ch, s);
	strip_marks(&s->log);
	if (f->log)
		add_header(ch, s, f, &text);
	(void)buf_add(&text, buf_str(&s->log), s->log.len); /* fits, see CHANNEL_LOG_MAX */
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
			   const struct channel_facts *f)
{
	if (!s->ended)
		incomplete(ch, "%s was ended before its report was", s->who);
	if (s->logs && f->reader) {
		read_log(ch, s, f);
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
	bool bad = false;

	if (ch->lied)
		incomplete(ch, "the test process shows failing tests as passed (see tamper)");
	if (ch->fault)
		incomplete(ch, "the result channel was abused: %s", ch->fault);
	for (size_t i = 0; i < ch->n; i++) {
		struct channel_session *s = &ch->session[i];

		settle_session(ch, s, f);
		bad = bad || s->bad || s->said_bad > 0;
	}
	if (!ch->n || !f->plain)
		return;
	if (bad && f->exit_status == 0)
		incomplete(ch, "failures were reported, but the command ended with status 0");
	/* Or a build step that speaks like the tests and lets the build fail would be believed. */
	if (!bad && !f->excused && f->exit_status != 0)
		incomplete(ch, "no failure was reported, but the command ended with status %d",
			   f->exit_status);
}
