/* A live endpoint by libcurl: TLS verified, HTTP/2 where offered, finite timeouts, one attempt per
 * ask (whether it pays to ask again is decided in one place for all sources, exchange.c). Names are
 * resolved by libevent, so that no thread is made and the filter stays small. */
#ifndef GATEWAY_UPSTREAM_H
#define GATEWAY_UPSTREAM_H

#include "gateway/api.h"
#include "gateway/source.h"

struct evdns_base;

struct upstream_spec {
	struct event_base *base; /* borrowed */
	struct evdns_base *dns;  /* borrowed; NULL when the host is an address */
	const struct api *api;
	const char *url;     /* base URL; NULL = the API's public one. With or without "/v1" */
	const char *key;     /* copied; NULL = none is sent */
	uint64_t timeout;    /* ns for one attempt, all of it */
	uint64_t idle;       /* ns without a byte; 0 = timeout */
	const char *ca_file; /* NULL = the system's; read before confinement */
};

/* Open; everything that needs files (CA bundle) is read now. 0 or negative. */
int upstream_open(const struct upstream_spec *spec, struct source *ret, struct err *err);

#endif
