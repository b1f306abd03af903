/* Server and exchanges, shared by server.c, exchange.c, finish.c, forward.c and release.c. */
#ifndef GATEWAY_SERVER_INTERNAL_H
#define GATEWAY_SERVER_INTERNAL_H

#include <sys/queue.h>

#include "gateway/hold.h"
#include "gateway/http.h"
#include "gateway/meter.h"
#include "gateway/repeats.h"
#include "gateway/server.h"

enum {
	EXCHANGES_MAX = 256, /* at once, those whose client went away included */
	ROUTES_MAX = 64,     /* unknown routes that are told of */
	STRIPS_MAX = 32,     /* of one request that are told of */
};

enum exchange_state {
	EXCHANGE_GO,     /* waits for server_go() */
	EXCHANGE_QUEUED, /* waits for a budget that other calls hold */
	EXCHANGE_ASKED,  /* the source works on it */
	EXCHANGE_PAUSE,  /* will be asked again */
	EXCHANGE_JOINED, /* waits for the same request that came before */
	EXCHANGE_ACK,    /* recorded, waits for server_ack() */
};

/* What was put together for the client. */
struct outcome {
	int status;
	bool sse, model; /* @model: a model's own answer, worth keeping */
	unsigned retry_after;
	const char *source;     /* as in struct exchange_record */
	struct http_blob *blob; /* owned reference */
	char why[512];          /* for the record; "" when all went well */
};

/* One request of a client until its answer is given. */
struct exchange {
	TAILQ_ENTRY(exchange) link; /* in the order of arrival */
	struct server *server;
	enum exchange_state state;
	uint64_t call, retry_of;
	struct http_conn *conn; /* borrowed; NULL once the client is gone */
	struct http_request request;
	const struct api *api;
	enum api_route route;
	struct api_request q;
	enum purpose purpose;
	char key[DIGEST_HEX];
	struct exchange *leader; /* EXCHANGE_JOINED: whose answer it gets */
	struct buf canonical;
	/* what is sent */
	bool edited; /* messages, strips and model are among @edits */
	struct jedit edits;
	char *path;  /* NULL = as asked */
	char *model; /* to name */
	struct buf body;
	uint64_t cap; /* output tokens, 0 = as asked */
	bool add_usage;
	struct placed placed[ANCHORS_MAX];
	size_t n_placed;
	struct api_strip stripped[STRIPS_MAX];
	size_t n_stripped;
	const char *headers[HTTP_KEPT_MAX + 1];
	/* asking */
	struct hold_tokens hold;
	struct ask ask;
	struct reply reply;
	struct event *timer; /* owned: a pause, or the step behind done() */
	unsigned tries, round;
	bool failed; /* the same question was given up before: one try */
	/* delivery as it comes */
	struct hold held;
	bool streaming; /* the head of the answer is out */
	size_t sent;    /* bytes of reply.body that were passed on */
	/* what came of it */
	uint64_t t0, t_first, t1;
	struct api_answer answer;
	struct api_usage usage; /* of all tries that were billed, estimates where none was told */
	uint64_t micro;
	unsigned billed; /* tries that may have been billed */
	bool replied;    /* @reply is that of the try under way, to be worked on */
	bool unknown_usage;
	struct outcome out;
	/* For the record: with the usage that the client is not given. Empty = as given. */
	struct buf full;
};

struct server {
	struct server_spec spec;
	struct http *http;
	struct http_ops http_ops;
	TAILQ_HEAD(, exchange) list;
	unsigned n_list;
	uint64_t calls, serial;
	struct meter meter;
	uint64_t dense; /* most input tokens that 1024 bytes of a request were */
	struct anchors anchors;
	struct purposes purposes;
	struct repeats repeats;
	size_t answers;       /* bytes of blobs that live */
	size_t refused_bytes; /* requests that were recorded without being asked */
	unsigned rounds;      /* of exchange_wake() */
	uint64_t routes[ROUTES_MAX];
	size_t n_routes;
	bool ending, finish; /* server_ending() */
	enum limit_kind ending_why;
	bool broken; /* the record cannot be written, or the replay differs */
	bool closing;
};

/* server.c: a new request of a known route; takes what is in @r. */
void exchange_begin(struct server *s, struct http_conn *c, struct http_request *r,
		    const struct api *api, enum api_route route);

/* The supervisor let the request go. */
void exchange_go(struct exchange *x);

/* The run is ending: give the closing answer to one that was not asked yet. */
void exchange_close(struct exchange *x);

/* The box is dead: a call under way, or one that was to be asked again, is over. */
void exchange_bye(struct exchange *x);

/* The client went away. */
void exchange_gone(struct exchange *x);

/* Free; a reservation is given back. */
void exchange_free(struct exchange *x);

/* x->out is filled: record it, tell of it, wait for the supervisor. Gives @x away. */
void finish_exchange(struct exchange *x);

/* The same with an error of our own as the answer. Gives @x away. */
void finish_error(struct exchange *x, int status, const char *message);

/* The same with what call @call was answered before: bytes, not a new call. Takes over the
 * reference @blob. Gives @x away. */
void finish_repeat(struct exchange *x, uint64_t call, int status, bool sse, bool model,
		   enum api_finish how, struct http_blob *blob);

/* The supervisor knows the answer: release it to the client and to those that asked the same. */
void finish_ack(struct exchange *x);

/* One that waits for the answer of @x, NULL when there is none. */
struct exchange *finish_follower(const struct exchange *x);

/* Do profile and plan refuse this request? True with the reason in @why; what it was is told. */
bool forward_refused(struct exchange *x, char why[256]);

/* Put body, path and model to be sent together; the first time messages are placed and forbidden
 * things taken out. 0, or -1 when the request cannot be edited. */
int forward_edit(struct exchange *x);

/* The model that @x is asked of, as far as it is known before the edit. */
const char *forward_model(const struct exchange *x);

/* Fill x->out with the closing answer (@finish) or the refusal for budget @why (LIMIT_MAX: the run
 * ends for another reason). */
void release_closing(struct exchange *x, enum limit_kind why, bool finish);

/* Fill x->out with an error of our own in the API's form. */
void release_error(struct exchange *x, int status, const char *message);

/* Fill x->out with what the source gave, or, when that is no answer, with an error. */
void release_reply(struct exchange *x, bool usable);

/* More bytes of the reply are there: pass on what may go. */
void release_bytes(struct exchange *x, const struct reply *r);

/* Give x->out to the client, if it is still there. */
void release_answer(struct exchange *x);

/* An error of our own without an exchange, in the form of @api (NULL: none is known). */
void release_plain(struct http_conn *c, const struct api *api, const struct http_head *head,
		   const char *message);

#endif
