#include "supervisor/steer.h"

#include <string.h>

#include "supervisor/native.h"

static int do_send(void *arg, const char *data, size_t n)
{
	struct sup *s = arg;

	return relay_send(s->relay, data, n);
}

static void do_end(void *arg)
{
	struct sup *s = arg;

	relay_end_input(s->relay);
}

static struct buf *note(struct sup *s)
{
	const char *via = agent_native_name((enum agent_native)s->plan->agent->native);
	struct buf *b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);

	tracerec_str(b, "via", via, strlen(via));
	return b;
}

static void do_message(void *arg, uint64_t number, const char *lost)
{
	struct sup *s = arg;
	struct buf *b = note(s);

	tracerec_u64(b, "message", number);
	if (lost)
		tracerec_str(b, "lost", lost, strlen(lost));
	sink_end(s->sink);
	if (lost)
		s->messages_lost++;
	else
		s->messages_placed++;
}

static void do_refused(void *arg, const char *why)
{
	struct sup *s = arg;
	struct buf *b = note(s);

	tracerec_str(b, "refused", why, strlen(why));
	sink_end(s->sink);
}

static const struct native_ops ops = {
	.send = do_send,
	.end = do_end,
	.message = do_message,
	.refused = do_refused,
};

static void on_output(void *arg, const char *data, size_t n)
{
	native_output(arg, data, n);
}

bool steer_wanted(const struct plan *p)
{
	return p->agent->via == VIA_NATIVE;
}

void steer_open(struct sup *s)
{
	const struct plan *p = s->plan;

	if (!steer_wanted(p))
		return;
	s->native = native_new((enum agent_native)p->agent->native, p->task->workdir, &ops, s);
	relay_tap(s->relay, on_output, s->native);
}

void steer_begin(struct sup *s)
{
	if (s->native)
		native_begin(s->native, s->plan->statement);
}

int steer_message(struct sup *s, const char *text, struct err *err)
{
	if (!s->native)
		return err_set(err, ERR_CHILD, "the agent has no channel of its own for messages");
	return native_message(s->native, text, err);
}

void steer_wait(struct sup *s, bool on)
{
	if (s->native)
		native_wait(s->native, on);
}

void steer_ended(struct sup *s)
{
	if (s->native)
		native_ended(s->native);
}

void steer_done(struct sup *s)
{
	s->native = native_free(s->native);
}
