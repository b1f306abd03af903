/* An HTTP API with versions: between its declaration, access and effects (service_http.c) and its resources
 * (service_http_data.c). */
#ifndef SERVICES_SERVICE_HTTP_INTERNAL_H
#define SERVICES_SERVICE_HTTP_INTERNAL_H

#include "base/str.h"
#include "services/service_internal.h"

/* TAKEN_MAX: bytes of bodies that changed something, in all; the values in memory are some forty times as large. */
enum { VERSIONS_MAX = 8, SESSIONS_MAX = 1000, RECORDS_MAX = 10000, FIELDS_MAX = 1000 };
enum { TAKEN_MAX = 8 << 20 };

struct version {
	char *name, *prefix;
	cJSON *fields; /* owned: object of collections: object of inner name: outer name; NULL = as inside */
};

struct session {
	char token[21];
	uint64_t left; /* requests that it is good for, 0 = any number */
	bool expired;
};

struct http {
	char *name;
	struct version *v; /* owned */
	size_t n, now;
	bool by_session, by_key;
	struct strv keys;        /* good ones */
	struct session *session; /* owned */
	size_t n_sessions;
	uint64_t ttl, tokens, last_id;
	uint64_t taken; /* bytes, see TAKEN_MAX */
	cJSON *data;    /* owned: object of collections: array of objects with "id" */
};

/* What the version in force calls the inner field @name of @collection. Borrowed. */
const char *service_http_outer(const struct http *h, const char *collection, const char *name);

/* Index of the resource @id in @list, -1 when it is not there. */
int service_http_find(const cJSON *list, const char *id);

/* Answer a request for @rest, what follows the prefix of the version in force. */
void service_http_resources(struct http *h, const struct service_request *q, const char *rest,
			    struct service_answer *out);

#endif
