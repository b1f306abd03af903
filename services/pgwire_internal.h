/* What goes over a connection to a PostgreSQL server (protocol 3.0, chapter "Frontend/Backend Protocol" of its manual), as far
 * as the record needs it. Bytes are passed on as they are; messages are only looked at. Both sides are hostile. */
#ifndef SERVICES_PGWIRE_INTERNAL_H
#define SERVICES_PGWIRE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PGWIRE_HEAD = 4096,            /* bytes of a message that are looked at */
	PGWIRE_STARTUP_MAX = 10000,    /* MAX_STARTUP_PACKET_LENGTH of the server */
	PGWIRE_MESSAGE_MAX = 16 << 20, /* bytes of a message */
	PGWIRE_TEXT = 256,
	PGWIRE_NAME = 64,
	PGWIRE_KEPT = 32, /* prepared statements, and portals, that are remembered */
};

enum pgwire_does {
	PGWIRE_MORE, /* nothing before more bytes have come */
	PGWIRE_PASS, /* *take bytes may be passed on */
	PGWIRE_TELL, /* @ev has happened; then *take bytes may be passed on, 0 is fine */
	PGWIRE_DENY, /* encryption was asked for: *take bytes are dropped, the answer is 'N' */
	PGWIRE_BAD,  /* no such protocol: the connection ends */
};

struct pgwire_event {
	const char *name;       /* "connect", "query", "error"; static */
	char method[16];        /* of a query: its first word */
	char text[PGWIRE_TEXT]; /* the statement, or SQLSTATE and message, in one line */
	bool mutating;          /* by the statement's words */
};

/* A statement under a name of the client's. */
struct pgwire_kept {
	char name[PGWIRE_NAME];
	struct pgwire_event ev;
	bool used;
};

struct pgwire {
	bool started, cancel;
	uint64_t front_skip, back_skip; /* bytes of a message that still pass */
	char role[PGWIRE_NAME], database[PGWIRE_NAME];
	struct pgwire_kept statement[PGWIRE_KEPT], portal[PGWIRE_KEPT];
	unsigned next_statement, next_portal;
};

/* Look at @n bytes from the client. */
enum pgwire_does pgwire_front(struct pgwire *w, const uint8_t *p, size_t n, size_t *take,
			      struct pgwire_event *ev);

/* The same from the server. */
enum pgwire_does pgwire_back(struct pgwire *w, const uint8_t *p, size_t n, size_t *take,
			     struct pgwire_event *ev);

/* Describe the statement of @n bytes: first word, one line of it, whether its words change something (an approximation:
 * what a function does is not seen). */
void pgwire_statement(const char *sql, size_t n, struct pgwire_event *ev);

#endif
