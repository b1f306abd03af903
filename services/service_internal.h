/* Kinds of services as rows: shared by service*.c only. */
#ifndef SERVICES_SERVICE_INTERNAL_H
#define SERVICES_SERVICE_INTERNAL_H

#include "services/service.h"

struct service_row {
	const char *kind;
	bool relayed; /* not HTTP: connections go to a server that was started for it */
	/* Read the declaration. */
	int (*open)(const struct json_src *src, const char *where, const cJSON *item, void **ret,
		    struct err *err);
	/* Make what the declaration describes, in the process that serves it. NULL = nothing is to be made. */
	int (*begin)(void *state, struct err *err);
	void (*answer)(void *state, const struct service_request *q, struct service_answer *out);
	int (*change)(void *state, const struct json_src *src, const cJSON *change,
		      struct err *err);
	void (*summary)(const void *state, struct json_w *w);
	void (*free)(void *state);
};

extern const struct service_row service_http, service_ask, service_index, service_sqlite,
	service_postgresql;

/* {"error": TEXT}, with code @code. */
void service_error(struct service_answer *out, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Body of @out from @item. */
void service_put(struct service_answer *out, int code, const cJSON *item);

/* A word that looks like chance and is not: of the service's name and a number. @out: 21 bytes. */
void service_token(const char *name, uint64_t number, char out[21]);

#endif
