/* A live endpoint, shared by upstream.c, upstream_dns.c, upstream_loop.c and upstream_url.c. */
#ifndef GATEWAY_UPSTREAM_INTERNAL_H
#define GATEWAY_UPSTREAM_INTERNAL_H

#include <curl/curl.h>
#include <sys/queue.h>

#include "gateway/upstream.h"

enum {
	UPSTREAM_HEADER_MAX = 256 << 10, /* bytes of an answer's headers */
	UPSTREAM_HELD_MAX = 256 << 20,   /* bytes of all answers that are arriving */
	UPSTREAM_URL_MAX = 8 << 10,
	UPSTREAM_ADDRS_MAX = 16, /* addresses of a name that are tried */
	UPSTREAM_NAME_MAX = 256,
};

/* An endpoint's URL taken apart. Owns its strings. */
struct upstream_base {
	char *prefix; /* "https://host:port/path", no slash at the end */
	char *host;   /* name or address, without brackets */
	uint16_t port;
	bool tls, address; /* @address: @host needs no resolver */
	bool versioned;    /* the path ends in a version ("/v1"), or stands for it */
};

/* Take @url apart for @api. 0, or -ERR_INPUT: not https, nor http to this machine. */
int upstream_url_read(const char *url, const struct api *api, struct upstream_base *ret,
		      struct err *err);

/* Free; {0} is fine. */
void upstream_url_done(struct upstream_base *b);

/* The URL for a client's request target: its path behind the endpoint's, versions once, and of its
 * query only what is known to be harmless. 0 or -1: a target that no client of @api sends. */
int upstream_url_make(const struct upstream_base *b, const struct api *api, const char *target,
		      struct buf *out);

/* Is @a of this machine's loopback? */
bool upstream_url_loopback(const struct sockaddr *a);

struct transfer;
struct upstream;

/* A name being looked up. Outlives the endpoint until libevent calls back. */
struct lookup {
	struct upstream *u; /* borrowed; NULL = the endpoint is gone */
	struct evdns_getaddrinfo_request *req;
};

/* One question under way. */
struct transfer {
	TAILQ_ENTRY(transfer) link;
	struct upstream *u;
	const struct ask *ask; /* borrowed until done() */
	struct reply reply;
	CURL *easy; /* owned; NULL while the name is looked up */
	struct curl_slist *headers, *resolve;
	char url[UPSTREAM_URL_MAX];
	char error[CURL_ERROR_SIZE];
	size_t header_bytes;
	size_t sent; /* bytes of the question that libcurl took */
	size_t told; /* bytes of the body that ask->bytes() knows of */
	uint64_t start;
	const char *cut; /* why we ended it ourselves; static */
};

struct upstream {
	struct event_base *base;
	struct evdns_base *dns;
	const struct api *api;
	struct upstream_base at;
	bool vendor; /* the API's own endpoint: no other API is spoken there */
	char *key;   /* owned, wiped when freed */
	uint64_t timeout, idle;
	struct curl_blob ca; /* owned data */
	CURLM *multi;
	struct event *timer; /* owned: what libcurl asked for */
	TAILQ_HEAD(, transfer) list;
	size_t held; /* bytes of bodies that arrive */
	/* resolver */
	struct lookup *lookup;               /* NULL = none under way */
	char addrs[UPSTREAM_ADDRS_MAX * 48]; /* "1.2.3.4,[::1]", "" = not known */
	uint64_t addrs_until;                /* clock_mono() */
};

/* Name known: begin, or wait for it. upstream_dns.c calls upstream_start() for all that wait, or
 * upstream_fail(). */
void upstream_resolve(struct upstream *u, struct transfer *t);

/* The endpoint goes away: forget the look-up. */
void upstream_resolve_stop(struct upstream *u);

/* Addresses are known (u->addrs): put @t to work. */
void upstream_start(struct transfer *t);

/* @t ends without an answer. */
void upstream_fail(struct transfer *t, const char *why);

/* libcurl says that the transfer of @easy is over. */
void upstream_over(CURL *easy, CURLcode rc);

/* Make u->multi and tie it to the event loop. 0 or negative. */
int upstream_loop_new(struct upstream *u, struct err *err);

/* Free them. */
void upstream_loop_free(struct upstream *u);

#endif
