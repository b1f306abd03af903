/* Side services that a scenario declares: what they are, what they answer, how effects change them. Pure: no
 * sockets, no clock, no chance, so that the same requests get the same answers when a prefix runs again. What
 * comes from the agent is hostile and bounded. */
#ifndef SERVICES_SERVICE_H
#define SERVICES_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define SERVICES_MAX     16u
#define SERVICE_BODY_MAX (1u << 20) /* bytes of a request's or an answer's body */
#define SERVICE_PATH_MAX 1024u

/* A request. Borrowed. */
struct service_request {
	const char *method;  /* "GET" */
	const char *path;    /* without the query, as sent */
	const char *session; /* of "Authorization: Bearer ..." or "X-Session", NULL = none */
	const char *key;     /* of "X-Api-Key", NULL = none */
	const char *accept;  /* of "Accept", NULL = none */
	const char *body;    /* not ended by NUL */
	size_t n;
};

/* The answer, and what the record says of it. */
struct service_answer {
	int code; /* HTTP status */
	struct buf body;
	const char *type;    /* of the body; static, NULL = JSON */
	bool mutating;       /* it changed the service's state */
	char route[128];     /* of the declaration: "/v1/items/{id}" */
	char what[256];      /* in words, "" = nothing to say */
	const char *version; /* that was in force; borrowed until the next change */
};

struct service;

/* Make the service that @item of "services" declares. 0 or -ERR_INPUT with the place and the nearest name. Free
 * with service_free(). */
int service_new(const struct json_src *src, const char *where, const cJSON *item,
		struct service **ret, struct err *err);

/* Make what it serves: to be called once, in the process that answers, before the first request. 0, or -ERR_INPUT when the
 * declaration makes nothing whole (SQL that does not run, a package that is too large). */
int service_begin(struct service *s, struct err *err);

/* Its name, kind ("http", "ask", ...) and port. Borrowed. */
const char *service_name(const struct service *s);
const char *service_kind(const struct service *s); /* see service_name() */
uint16_t service_port(const struct service *s);    /* see service_name() */

/* Is it no HTTP service, but a way to a server that was started for it? And is it down at present? */
bool service_relayed(const struct service *s);
bool service_down(const struct service *s); /* see service_relayed() */

/* Answer @q. @out is empty, its body has room for SERVICE_BODY_MAX bytes. */
void service_answer(struct service *s, const struct service_request *q, struct service_answer *out);

/* Change it as the effect {"service": @change} says. 0 or -ERR_INPUT. */
int service_change(struct service *s, const struct json_src *src, const cJSON *change,
		   struct err *err);

/* Its state at the end: members of the object that @w has open. */
void service_summary(const struct service *s, struct json_w *w);

/* Free; NULL is fine. Returns NULL. */
struct service *service_free(struct service *s);

#endif
