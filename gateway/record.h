/* model.jsonl: one line per exchange, written and synced before the answer is released. The lines
 * carry enough to replay a run and to bill it; never a key. */
#ifndef GATEWAY_RECORD_H
#define GATEWAY_RECORD_H

#include "base/buf.h"
#include "base/err.h"
#include "gateway/anchor.h"
#include "gateway/api.h"
#include "gateway/purpose.h"

/* One exchange. Borrowed while it is written. */
struct exchange_record {
	uint64_t call;   /* from 1, in the order of arrival */
	const char *api; /* "openai-chat" */
	const char *path;
	enum purpose purpose;
	const char *source;       /* "live", "script", "replay", "gateway" (made by us) */
	uint64_t t0, t_first, t1; /* ns since the run began: request read, first byte of the answer,
				   * answer complete */
	const char *request;      /* client's body, as sent */
	size_t request_n;
	const char *canonical; /* canon_request() */
	size_t canonical_n;
	const char *model;           /* asked of the source */
	const struct placed *placed; /* messages that were put in */
	size_t n_placed;
	const struct anchors *anchors;
	const struct api_strip *stripped;
	size_t n_stripped;
	int status; /* HTTP status of the answer */
	bool sse;
	const char *answer; /* bytes given to the client */
	size_t answer_n;
	const struct api_answer *parsed; /* NULL when it was no answer of a model */
	uint64_t micro;                  /* cost, UINT64_MAX unknown */
	const char *price_row;           /* NULL when unknown */
	unsigned tries;                  /* attempts upstream */
	uint64_t retry_of;               /* call that this repeats, 0 none */
	const char *note;                /* why it went wrong, NULL */
};

/* Append one line to @fd and fdatasync(2) it. Bodies that are UTF-8 stand as strings, other bytes by
 * the escapes of docs/formats. 0 or negative. */
int record_write(int fd, const struct exchange_record *r, struct err *err);

/* A line read back. Owns everything. */
struct recorded {
	uint64_t call, t0, t1;
	enum purpose purpose;
	char *api, *path, *canonical, *answer, *model;
	size_t canonical_n, answer_n;
	int status;
	bool sse, from_gateway;
	bool usage;                    /* the answer said what it used */
	uint64_t input, output, micro; /* tokens, cached ones included; UINT64_MAX = cost unknown */
};

struct recorded_list {
	struct recorded *v; /* owned */
	size_t n;
};

/* Read a record of @n bytes that came from @name. An incomplete last line (a kill) is left out.
 * 0 or -ERR_INPUT with the line. Free with recorded_done(). */
int record_read(const char *name, const char *text, size_t n, struct recorded_list *ret,
		struct err *err);

/* Free; {0} is fine. */
void recorded_done(struct recorded_list *l);

#endif
