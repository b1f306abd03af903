/* A world for conversations by the agents' own protocols: keeps what is sent and what becomes of
 * messages. Not for use outside the tests of supervisor/native*.c. */
#ifndef TESTS_UNIT_SUPERVISOR_NATIVE_WORLD_H
#define TESTS_UNIT_SUPERVISOR_NATIVE_WORLD_H

#include "base/buf.h"
#include "supervisor/native.h"

#include "tests/lib/tap.h"

/* The world: what was sent, and what became of messages. */
struct world {
	struct buf sent, news;
	bool ended, closed;
	unsigned sends;
};

static inline int do_send(void *arg, const char *data, size_t n)
{
	struct world *w = arg;

	if (w->closed)
		return -1;
	w->sends++;
	return buf_add(&w->sent, data, n);
}

static inline void do_end(void *arg)
{
	struct world *w = arg;

	tap_ok(!w->ended, "the input ends once");
	w->ended = true;
}

static inline void do_message(void *arg, uint64_t number, const char *lost)
{
	struct world *w = arg;

	buf_addf(&w->news, "%u:%s;", (unsigned)number, lost ? lost : "ok");
}

static inline void do_refused(void *arg, const char *why)
{
	struct world *w = arg;

	buf_addf(&w->news, "refused:%s;", why);
}

static const struct native_ops ops = { do_send, do_end, do_message, do_refused };

static inline struct native *begin(enum agent_native protocol, struct world *w, const char *prompt)
{
	struct native *n;

	*w = (struct world){ .sent = BUF_INIT(64 << 20), .news = BUF_INIT(1 << 20) };
	n = native_new(protocol, "/testbed", &ops, w);
	native_begin(n, prompt);
	return n;
}

static inline void end(struct native *n, struct world *w)
{
	native_free(n);
	buf_done(&w->sent);
	buf_done(&w->news);
}

/* What was sent since the last call is @want. */
static inline void sent(struct world *w, const char *want, const char *name)
{
	tap_is_str(buf_str(&w->sent), want, name);
	buf_clear(&w->sent);
}

static inline void news(struct world *w, const char *want, const char *name)
{
	tap_is_str(buf_str(&w->news), want, name);
	buf_clear(&w->news);
}

static inline void say(struct native *n, const char *line)
{
	native_output(n, line, strlen(line));
	native_output(n, "\n", 1);
}

static inline void message(struct native *n, const char *text)
{
	struct err err;
	int rc = native_message(n, text, &err);

	tap_ok(rc == 0, "message \"%.20s\" is taken", text);
}

#endif
