/* Where answers come from, behind one table: a live endpoint, a script, a record. */
#ifndef GATEWAY_SOURCE_H
#define GATEWAY_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "gateway/api.h"
#include "gateway/purpose.h"

/* An answer as bytes, before it is checked. */
struct reply {
	int status; /* HTTP; 0 = none came (why is set) */
	bool sse;   /* text/event-stream */
	struct buf body;
	uint64_t t_first; /* clock_mono() of the first byte, 0 none */
	unsigned tries;
	unsigned retry_after; /* seconds, 0 none */
	bool reached;  /* status 0: the question went out all the same, so it may be billed */
	bool recorded; /* out of a record, not of what follows it */
	bool final;    /* asking again is useless (a script's or replay's own refusal) */
	bool end_run;  /* the run cannot go on: a strict replay that differs; @why says it */
	char why[512]; /* what went wrong, "" when nothing did */
};

/* One question put to a source. */
struct ask {
	const struct api_request *q; /* the client's request; borrowed until done() */
	const char *path;            /* request target */
	const char *body;            /* edited bytes to be sent; borrowed until done() */
	size_t n;
	const char *canonical; /* canon_request() of the client's body */
	size_t canonical_n;
	const char *model; /* model to name */
	enum purpose purpose;
	uint64_t call;
	uint64_t deadline; /* clock_mono(); finite */
	/* Headers of the client that an endpoint may see, "name: value", NULL-terminated; NULL = none.
	 * Few names, printable, bounded (gateway/httpparse.h). */
	const char *const *headers;
	/* More bytes came (delivery "stream"); NULL when nobody wants to know. */
	void (*bytes)(void *arg, const struct reply *r, size_t from);
	/* The answer is there or will not come; called exactly once, perhaps before ask() returns. @r
	 * is the source's: take what is to be kept (buf_steal()), the rest is freed behind this. */
	void (*done)(void *arg, struct reply *r);
	void *arg;
};

struct source {
	void *impl; /* owned by ops->free */
	const struct source_ops *ops;
};

struct source_ops {
	const char *name; /* "live", "script", "replay" */
	void (*ask)(void *impl, const struct ask *a);
	/* The client went away and nobody else wants the answer. May be NULL: it is let come. */
	void (*cancel)(void *impl, const struct ask *a);
	/* Expectations on what the agent sends that were not met or never reached, one line each,
	 * appended to @out. Returns how many. NULL: it has none. */
	size_t (*unmet)(void *impl, struct buf *out);
	void (*free)(void *impl);
	/* Name of the source that answers behind this one. NULL: there is none. */
	const char *(*behind)(void *impl);
};

struct event_base;

/* Free what is in @r; it is empty and usable again. */
void reply_done(struct reply *r);

/* Give @a its answer: tells bytes() of the whole body, calls done(), frees what done() left in @r. */
void source_answer(const struct ask *a, struct reply *r);

/* Give @a no answer but the reason @why; @final: asking again is useless. */
void source_refuse(const struct ask *a, bool final, const char *why);

/* Name of the source that gave @r: @src's, or that of what follows its record. Static. */
const char *source_name(const struct source *src, const struct reply *r);

/* Free @src; {0} is fine. It is empty afterwards. */
void source_done(struct source *src);

#endif
