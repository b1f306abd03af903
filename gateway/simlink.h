/* The simulated user's part of the conversation with the supervisor: contexts come in parts, texts go
 * back in parts; and what the agent did last, told before each of its requests. */
#ifndef GATEWAY_SIMLINK_H
#define GATEWAY_SIMLINK_H

#include "gateway/msg.h"
#include "gateway/simulate.h"

/* Borrowed while it lives, but for source, which is moved in. */
struct simlink_spec {
	struct event_base *base;
	const struct simulator *sim;
	struct source source; /* see struct simulate_spec */
	int record_fd;
	uint64_t start;
	/* Send one message to the supervisor. */
	void (*tell)(void *arg, struct gw_msg *m);
	/* The gateway cannot go on. */
	void (*failed)(void *arg, const char *why);
	void *arg;
};

struct simlink;

/* Begin. Never fails. Free with simlink_free(). */
struct simlink *simlink_new(const struct simlink_spec *spec);

/* A GW_SIMULATE came. Parts that do not fit together are dropped. */
void simlink_take(struct simlink *l, const struct gw_msg *m);

/* Tell GW_LAST of request @q, which is main call @call. */
void simlink_last(struct simlink *l, uint64_t call, const struct api_request *q);

/* As simulate_bye(). */
void simlink_bye(struct simlink *l);

/* Free; NULL is fine. Returns NULL. */
struct simlink *simlink_free(struct simlink *l);

#endif
