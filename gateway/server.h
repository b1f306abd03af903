/* The model API as the box sees it: HTTP in, one exchange per request, an answer out when the
 * supervisor has let it go. */
#ifndef GATEWAY_SERVER_H
#define GATEWAY_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gateway/anchor.h"
#include "gateway/api.h"
#include "gateway/purpose.h"
#include "gateway/source.h"
#include "gateway/tooluse.h"
#include "profiles/plan.h"

struct event_base;
struct server;

/* One answer as the supervisor is told of it. */
struct server_answer {
	uint64_t call;
	enum purpose purpose;
	int status;
	struct api_usage usage;
	uint64_t micro; /* UINT64_MAX unknown */
	enum api_finish finish;
	unsigned tries;
	unsigned billed;  /* tries that may have been billed, usable or not */
	bool model;       /* a model, script or record answered: not made by the gateway */
	bool repeat;      /* given again from the record */
	const char *name; /* model */
	const char *text; /* what it says, NULL = nothing; borrowed */
};

/* A request that came. Borrowed. */
struct server_request {
	uint64_t call;
	enum purpose purpose;
	size_t items, bytes;
	uint16_t source_port; /* of the client's socket */
	const char *sha256;   /* of canon_request() */
};

/* What the server tells its owner; @arg everywhere. */
struct server_ops {
	/* Main request @q of @call has come and request() is about to be called; borrowed. NULL =
	 * nobody wants to know. */
	void (*last)(void *arg, uint64_t call, const struct api_request *q);
	/* A request came; it waits for server_go(). */
	void (*request)(void *arg, const struct server_request *r);
	/* A user message stands in the request of @call. */
	void (*placed)(void *arg, uint64_t call, const struct placed *p);
	/* Something was taken out (or, @refused, the request was refused for it). */
	void (*stripped)(void *arg, uint64_t call, const char *what, bool refused);
	/* What the answer of @call is about to do. @name: the tool. */
	void (*tool)(void *arg, uint64_t call, const char *name, const struct tooluse *u);
	/* An answer was recorded; it waits for server_ack(). */
	void (*answer)(void *arg, const struct server_answer *a);
	/* A budget refused call @call. */
	void (*spent)(void *arg, uint64_t call, enum limit_kind kind, uint64_t used,
		      uint64_t limit);
	/* A request to no model route. */
	void (*route)(void *arg, const char *method, const char *path);
	/* A strict replay differs: the run is over. */
	void (*mismatch)(void *arg, const char *difference);
	/* The server cannot go on (the record cannot be written). */
	void (*failed)(void *arg, const char *why);
	/* The script's expectation was not met. */
	void (*unmet)(void *arg, const char *text);
	void *arg;
};

/* What the server is made from; borrowed while it lives, but for source, which is moved in. */
struct server_spec {
	struct event_base *base;
	int listen_fd;
	const struct plan *plan;
	struct source source;
	const struct server_ops *ops;
	int record_fd;
	uint64_t start; /* clock_mono() that record times count from */
};

/* Begin to serve. 0 or negative. Free with server_free(). */
int server_new(const struct server_spec *spec, struct server **ret, struct err *err);

/* Forward the request of @call: user messages given before this stand in it. Unknown calls (the client
 * went away) are passed over. */
void server_go(struct server *s, uint64_t call);

/* Release the answer of @call. */
void server_ack(struct server *s, uint64_t call);

/* A user message for the main conversation. 0 or -ERR_LIMIT. */
int server_message(struct server *s, const char *text, size_t n, struct err *err);

/* The run is ending: every further request and those that wait get the closing answer (@finish) or the
 * refusal. Answers of a model that are under way are still recorded and metered, and released. */
void server_ending(struct server *s, enum limit_kind why, bool finish);

/* The box is dead: calls that are still under way are ended, and recorded and told of as calls without an
 * answer, since they may be billed. */
void server_bye(struct server *s);

/* Free; connections are cut. NULL is fine. Returns NULL. */
struct server *server_free(struct server *s);

#endif
