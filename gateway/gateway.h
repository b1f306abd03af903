/* The confined process that is the box's only way out: model API, names, relays. Own seccomp filter,
 * Landlock without any path, no way to trace, no workspace. The supervisor starts it when the box
 * stands at its gate and talks to it through gateway/msg.h. */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include <sys/types.h>

#include "base/err.h"
#include "gateway/msg.h"
#include "profiles/plan.h"

/* Everything the gateway is made from; borrowed during gateway_start(). */
struct gateway_spec {
	const struct plan *plan; /* agent, model, profile (network, model, limits) */
	int net_fd, user_fd;     /* the box's namespaces (struct box) */
	int record_fd;           /* model.jsonl, opened for appending */
	int simulator_fd;        /* simulator.jsonl, opened for appending; -1 without a simulator */
	const char *key; /* of the live endpoint, NULL none; wiped by the caller afterwards */
	const char *simulator_key; /* the same of the simulator's endpoint */
	uint64_t start;            /* clock_mono() that times in records count from */
};

struct gateway {
	pid_t pid; /* our child; dies with us (parent-death signal) */
	struct gw_link link;
	char posture[128]; /* "on", or what is missing ("on: ports 80, 443 and those of rules only:
			      * no nf_tables") */
};

/* Can @plan not be carried out without a gateway: a model API, a simulator, a network mode other than
 * no-network? A
 * run without either still has one where it can be made: it answers names with "no such name" at once
 * and tells who asked for them. */
bool gateway_needed(const struct plan *plan);

/* Make the listeners inside the box's net namespace, start and confine the process, wait until it
 * says GW_READY. 0 or negative: ERR_HOST names what is missing. Free with gateway_free(). */
int gateway_start(const struct gateway_spec *spec, struct gateway **ret, struct err *err);

/* End the process, reap it unless @reaped, free. NULL is fine. Returns NULL. */
struct gateway *gateway_free(struct gateway *g, bool reaped);

#endif
