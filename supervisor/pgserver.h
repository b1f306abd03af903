/* A real PostgreSQL server for a scenario's service: the host's programs in a box of their own, with an own network and a
 * new data directory below the run's scratch. Nobody's network reaches it but that of the services' process. */
#ifndef SUPERVISOR_PGSERVER_H
#define SUPERVISOR_PGSERVER_H

#include "base/err.h"
#include "sandbox/box.h"
#include "sandbox/workspace.h"
#include "services/service_postgresql.h"

struct janitor;

enum { PGSERVER_START_S = 90, PGSERVER_CHANGE_S = 30 };

struct pgserver {
	struct box *box; /* owned */
	char *bin;       /* owned: directory of the server's programs on the host, and in the box */
	char *database, *owner; /* owned */
	char *upper;            /* owned: what it writes */
	uint64_t disk;          /* bytes that it may write */
	int in, out;            /* its standard streams, our ends; -1 = closed */
	int words;              /* of the change under way: what psql says; -1 = none */
};

/* Directory of the newest PostgreSQL server on this host (caller frees), NULL with -ERR_HOST in @err that names what to
 * install. */
char *pgserver_find(struct err *err);

/* Make a database as @d declares, below the scratch of @ws, and start the server; returns when it can be connected to. 0,
 * -ERR_INPUT when its SQL does not run, -ERR_HOST when it does not start. End with pgserver_done(). */
int pgserver_start(const struct postgresql_decl *d, const struct workspace *ws, struct janitor *jan,
		   struct pgserver *ret, struct err *err);

/* Begin to carry out @c. Returns a descriptor (caller closes) that is readable when it is done, -1 when nothing is to be
 * done by the server, or another negative code. */
int pgserver_change(struct pgserver *p, const struct postgresql_change *c, struct err *err);

/* The result of what @fd of pgserver_change() stands for: 0, -ERR_INPUT with the server's words, -ERR_CHILD when it is
 * not done. */
int pgserver_changed(struct pgserver *p, int fd, struct err *err);

/* Has it written more than it may? */
bool pgserver_full(const struct pgserver *p);

/* Kill, reap unless that was said to the box, free. */
void pgserver_done(struct pgserver *p);

#endif
