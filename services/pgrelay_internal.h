/* Connections of the box to a PostgreSQL server that lives elsewhere: bytes go both ways, and what is asked is told before
 * the server sees it. */
#ifndef SERVICES_PGRELAY_INTERNAL_H
#define SERVICES_PGRELAY_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "services/pgwire_internal.h"

struct event_base;
struct pgrelay;

enum { PGRELAY_MAX = 64 }; /* connections; further ones wait in the listener's backlog */

struct pgrelay_ops {
	/* @ev has happened on the connection from @port; the bytes behind it go on when this returns. */
	void (*told)(void *arg, const struct pgwire *w, const struct pgwire_event *ev,
		     uint16_t port);
	void *arg;
};

/* Take connections of @listener (lent) and lead each to 127.0.0.1:@port of our own network. NULL when memory or
 * events are out. */
struct pgrelay *pgrelay_new(struct event_base *base, int listener, uint16_t port,
			    const struct pgrelay_ops *ops);

/* @down: cut all connections and refuse new ones (the listener is shut, so that the kernel refuses them); else listen
 * again. In force at once for new ones, for those under way when the event loop comes round. */
void pgrelay_down(struct pgrelay *r, bool down);

#endif
