/* Asking a source again: how long to wait, and the one event of a question, which serves the pause between two
 * tries and the step behind done(). */
#ifndef GATEWAY_TRIES_H
#define GATEWAY_TRIES_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "gateway/source.h"

/* Milliseconds before the next try after @tries of them: doubled each time up to half a minute; @retry_after
 * (seconds, what the endpoint asked for, 0 none) counts when it is longer, up to a minute. */
uint64_t tries_pause_ms(unsigned tries, unsigned retry_after);

/* Make *ev (NULL at first; owned by the caller, who frees it with event_free()) call @fn with @arg. It is not
 * pending. False without memory. */
bool tries_arm(struct event **ev, struct event_base *base, event_callback_fn fn, void *arg);

/* As tries_arm(), and call it in @ms milliseconds. */
bool tries_wait(struct event **ev, struct event_base *base, event_callback_fn fn, void *arg,
		uint64_t ms);

/* In a done(): take over @from's answer into @to, which is freed first, and have @fn work on it in a turn of its
 * own, because done() may be called before ask() has returned. */
void tries_taken(struct reply *to, struct reply *from, struct event **ev, struct event_base *base,
		 event_callback_fn fn, void *arg);

#endif
