#include "supervisor/native.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "supervisor/native_internal.h"

enum { KEEP_MAX = 1 << 20 }; /* memory of the line that is kept between lines */

/* In the order of enum agent_native. */
static const struct native_proto *const protos[] = {
	[NATIVE_PI_RPC] = &native_pi,
	[NATIVE_CODEX_APP_SERVER] = &native_codex,
	[NATIVE_CLAUDE_STREAM_JSON] = &native_claude,
};

struct native *native_new(enum agent_native protocol, const char *workdir,
			  const struct native_ops *ops, void *arg)
{
	struct native *n = mem_zalloc(1, sizeof(*n));

	ensure(protocol > NATIVE_NONE && (size_t)protocol < ARRAY_SIZE(protos),
	       "a protocol of the table");
	n->proto = protos[protocol];
	n->ops = ops;
	n->arg = arg;
	n->workdir = mem_strdup(workdir);
	n->line.max = NATIVE_LINE_MAX;
	return n;
}

struct native *native_free(struct native *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; i < n->n_msgs; i++)
		free(n->msgs[i].text);
	buf_done(&n->line);
	free(n->workdir);
	free(n);
	return NULL;
}

uint64_t native_ask(struct native *n)
{
	return ++n->asks;
}

/* Take message @i out of the list. Its text is the caller's. */
static struct native_msg take(struct native *n, size_t i)
{
	struct native_msg m = n->msgs[i];

	n->n_msgs--;
	memmove(n->msgs + i, n->msgs + i + 1, (n->n_msgs - i) * sizeof(*n->msgs));
	return m;
}

static void add(struct native *n, uint64_t number, const char *text)
{
	n->msgs[n->n_msgs++] = (struct native_msg){ .number = number, .text = mem_strdup(text) };
}

static void lose_all(struct native *n, const char *why)
{
	while (n->n_msgs) {
		struct native_msg m = take(n, 0);

		if (m.number)
			n->ops->message(n->arg, m.number, why);
		else
			n->ops->refused(n->arg, why);
		free(m.text);
	}
}

void native_over(struct native *n)
{
	if (n->phase == NATIVE_OVER)
		return;
	n->phase = NATIVE_OVER;
	n->ops->end(n->arg);
}

void native_send(struct native *n, struct buf *line)
{
	if (n->phase == NATIVE_OVER)
		return;
	if (buf_addc(line, '\n') == 0 && !line->full &&
	    n->ops->send(n->arg, buf_str(line), line->len) == 0)
		return;
	native_over(n);
	lose_all(n, "the agent's input is closed or full");
}

void native_reply(struct native *n, struct buf *line)
{
	if (n->replies >= NATIVE_REPLIES_MAX)
		return;
	n->replies++;
	native_send(n, line);
}

size_t native_waiting(const struct native *n)
{
	size_t i = 0;

	while (i < n->n_msgs && n->msgs[i].ask)
		i++;
	return i;
}

struct native_msg *native_find(struct native *n, uint64_t ask)
{
	for (size_t i = 0; ask && i < n->n_msgs; i++) {
		if (n->msgs[i].ask == ask)
			return n->msgs + i;
	}
	return NULL;
}

void native_step(struct native *n)
{
	size_t i;

	while ((n->phase == NATIVE_IDLE || n->phase == NATIVE_WORKING) &&
	       (i = native_waiting(n)) < n->n_msgs) {
		struct native_msg *m = n->msgs + i;

		m->ask = native_ask(n);
		m->steer = n->phase == NATIVE_WORKING;
		m->turns = 0;
		n->proto->message(n, m);
	}
	if (n->phase == NATIVE_IDLE && !n->n_msgs && !n->wait)
		native_over(n);
}

void native_accept(struct native *n, struct native_msg *m)
{
	struct native_msg took = take(n, (size_t)(m - n->msgs));

	if (took.number)
		n->ops->message(n->arg, took.number, NULL);
	free(took.text);
}

void native_give_up(struct native *n, const char *why)
{
	native_over(n);
	lose_all(n, why);
}

void native_refuse(struct native *n, struct native_msg *m, const char *why)
{
	struct native_msg took = take(n, (size_t)(m - n->msgs));

	free(took.text);
	if (took.number) {
		n->ops->message(n->arg, took.number, why);
		return;
	}
	n->ops->refused(n->arg, why);
	native_give_up(n, why);
}

void native_again(struct native *n, struct native_msg *m)
{
	struct native_msg took = take(n, (size_t)(m - n->msgs));
	size_t i = native_waiting(n);

	/* The order is the user's, whichever answer came first. */
	while (i < n->n_msgs && n->msgs[i].number < took.number)
		i++;
	took.ask = 0;
	memmove(n->msgs + i + 1, n->msgs + i, (n->n_msgs - i) * sizeof(*n->msgs));
	n->msgs[i] = took;
	n->n_msgs++;
}

void native_copy(const struct jdoc *d, uint32_t at, char *out, size_t size)
{
	auto_free char *s = jdoc_strdup(d, at);
	size_t len = s ? strlen(s) : 0, bad;

	if (len > size - 1)
		len = size - 1;
	/* Not through the middle of a character. */
	if (s && !str_utf8(s, len, &bad))
		len = bad;
	if (s)
		memcpy(out, s, len);
	out[len] = '\0';
}

int native_raw(const struct jdoc *d, uint32_t at, size_t max, struct buf *out)
{
	const struct jnode *v;

	if (jdoc_kind(d, at) == J_NONE)
		return -1;
	v = d->v + at;
	if (v->end - v->start > max)
		return -1;
	return buf_add(out, d->text + v->start, v->end - v->start);
}

void native_begin(struct native *n, const char *prompt)
{
	add(n, 0, prompt);
	n->phase = n->proto->begin ? NATIVE_BUSY : NATIVE_IDLE;
	if (n->proto->begin)
		n->proto->begin(n);
	native_step(n);
}

static bool of_interest(const struct native_proto *p, const char *line, size_t len)
{
	for (const char *const *s = p->skip; s && *s; s++) {
		if (len >= strlen(*s) && memcmp(line, *s, strlen(*s)) == 0)
			return false;
	}
	return len > 0;
}

static void one_line(struct native *n, const char *line, size_t len, bool whole)
{
	const struct native_proto *p = n->proto;
	struct jdoc d = { 0 };

	if (!of_interest(p, line, len))
		return;
	if (whole && jdoc_parse(&d, line, len, NULL) == 0) {
		if (jdoc_kind(&d, 0) == J_OBJECT)
			p->line(n, &d);
	} else if (p->end_mark && len >= strlen(p->end_mark) &&
		   memcmp(line, p->end_mark, strlen(p->end_mark)) == 0 && n->phase != NATIVE_OVER) {
		/* pi repeats the whole conversation there: it may be as long as it likes. */
		p->turn_end(n);
	}
	jdoc_done(&d);
	if (n->phase != NATIVE_OVER)
		native_step(n);
}

/* The line is complete but for @data, its last part. */
static void end_line(struct native *n, const char *data, size_t len)
{
	if (!n->line.len && !n->passing) {
		one_line(n, data, len, len <= NATIVE_LINE_MAX);
		return;
	}
	if (!n->passing && buf_add(&n->line, data, len) < 0)
		n->passing = true;
	one_line(n, buf_str(&n->line), n->line.len, !n->passing);
	n->passing = false;
	if (n->line.cap > KEEP_MAX)
		buf_done(&n->line);
	buf_clear(&n->line);
}

void native_output(struct native *n, const char *data, size_t len)
{
	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t part = nl ? (size_t)(nl - data) : len;

		if (nl)
			end_line(n, data, part);
		else if (!n->passing && buf_add(&n->line, data, part) < 0)
			n->passing = true;
		part += nl != NULL;
		data += part;
		len -= part;
	}
}

int native_message(struct native *n, const char *text, struct err *err)
{
	size_t len = strlen(text);

	if (n->phase == NATIVE_OVER)
		return err_set(err, ERR_CHILD,
			       "the agent's input is closed: it has finished its work, or does not "
			       "read; use an earlier trigger");
	if (len > NATIVE_TEXT_MAX)
		return err_set(err, ERR_LIMIT,
			       "a message of %zu bytes is longer than the %d that an agent is sent",
			       len, NATIVE_TEXT_MAX);
	if (n->n_msgs >= NATIVE_OPEN_MAX)
		return err_set(err, ERR_LIMIT,
			       "%d messages wait for the agent already, which does not take them",
			       NATIVE_OPEN_MAX);
	add(n, ++n->numbers, text);
	native_step(n);
	if (n->phase == NATIVE_OVER)
		return err_set(
			err, ERR_CHILD,
			"the agent's input is closed or full, so the message was not sent; use "
			"another message_via for this agent");
	return 0;
}

void native_wait(struct native *n, bool on)
{
	if (n->wait == on)
		return;
	n->wait = on;
	if (!on)
		native_step(n);
}

void native_ended(struct native *n)
{
	n->phase = NATIVE_OVER;
	lose_all(n, "the agent ended before it took it");
}
