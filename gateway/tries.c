#include "gateway/tries.h"

enum {
	PAUSE_FIRST_MS = 500, /* before the second try; doubled for each further one */
	PAUSE_MAX_MS = 30000,
	RETRY_AFTER_MAX_MS = 60000, /* of what an endpoint may ask for */
};

uint64_t tries_pause_ms(unsigned tries, unsigned retry_after)
{
	uint64_t ms = (uint64_t)PAUSE_FIRST_MS << (tries < 8 ? tries - (tries > 0) : 7);
	uint64_t asked = (uint64_t)retry_after * 1000;

	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	if (asked > ms)
		ms = asked < RETRY_AFTER_MAX_MS ? asked : RETRY_AFTER_MAX_MS;
	return ms;
}

bool tries_arm(struct event **ev, struct event_base *base, event_callback_fn fn, void *arg)
{
	if (*ev)
		return event_assign(*ev, base, -1, 0, fn, arg) == 0;
	*ev = evtimer_new(base, fn, arg);
	return *ev != NULL;
}

bool tries_wait(struct event **ev, struct event_base *base, event_callback_fn fn, void *arg,
		uint64_t ms)
{
	struct timeval tv = { .tv_sec = (time_t)(ms / 1000),
			      .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

	return tries_arm(ev, base, fn, arg) && event_add(*ev, &tv) == 0;
}

void tries_taken(struct reply *to, struct reply *from, struct event **ev, struct event_base *base,
		 event_callback_fn fn, void *arg)
{
	reply_done(to);
	*to = *from;
	from->body = (struct buf)BUF_INIT(from->body.max);
	if (tries_arm(ev, base, fn, arg))
		event_active(*ev, EV_TIMEOUT, 0);
}
