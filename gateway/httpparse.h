/* HTTP/1.1 requests from the box (RFC 9112), byte by byte and bounded: a head, then a body by
 * length or by chunks. What two readers could understand differently is refused. Knows no sockets.
 */
#ifndef GATEWAY_HTTPPARSE_H
#define GATEWAY_HTTPPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	HTTPPARSE_HEAD_MAX = 64 << 10,   /* bytes of request line and headers */
	HTTPPARSE_LINE_MAX = 1 << 10,    /* bytes of a line that tells a chunk's size */
	HTTPPARSE_TRAILER_MAX = 8 << 10, /* bytes behind the last chunk */
	HTTPPARSE_TARGET_MAX = 4 << 10,  /* bytes of a request target */
	HTTPPARSE_KEPT_MAX = 1 << 10,    /* bytes of a header that is kept */
};

/* Bytes that all requests together may hold. */
struct ration {
	size_t used, max;
};

/* Headers of the client that are looked at later; all others are dropped, credentials first. */
enum http_kept { HTTP_ANTHROPIC_VERSION, HTTP_ANTHROPIC_BETA, HTTP_OPENAI_BETA, HTTP_KEPT_MAX };

/* One request. Owns everything; free with httpparse_request_done(). */
struct http_request {
	char *method, *target;
	char *kept[HTTP_KEPT_MAX]; /* "name: value", NULL when absent */
	struct buf body;
	bool old;        /* HTTP/1.0: no chunks in the answer */
	bool keep_alive; /* the connection may go on after it */
	struct ration *ration;
	size_t charged; /* bytes taken from @ration */
};

/* Free and give the bytes back; {0} is fine. */
void httpparse_request_done(struct http_request *r);

/* Take @n bytes more from the ration of @r. 0, or -1 when it does not hold them. */
int httpparse_charge(struct http_request *r, size_t n);

enum httpparse_state {
	HTTPPARSE_HEAD,
	HTTPPARSE_FIXED,
	HTTPPARSE_SIZE,
	HTTPPARSE_DATA,
	HTTPPARSE_DATA_END,
	HTTPPARSE_TRAILER,
	HTTPPARSE_WHOLE, /* the request is there */
	HTTPPARSE_BAD,   /* @status and @why say what to answer; the connection cannot go on */
};

/* One request being read. */
struct httpparse {
	enum httpparse_state state;
	struct http_request r;
	struct buf head; /* the head, then a line of the chunked form */
	size_t line;     /* where the last line of @head begins */
	uint64_t left;   /* bytes of body or chunk to come */
	size_t body_max;
	bool wants_continue; /* "Expect: 100-continue" waits for its interim answer */
	int status;
	const char *why; /* static */
};

/* Begin a request whose body takes from @ration (borrowed) and has at most @body_max bytes. */
void httpparse_init(struct httpparse *p, struct ration *ration, size_t body_max);

/* Read on. Returns how many of the @n bytes were taken: all of them, or up to the end of the
 * request or the fault. Look at @state afterwards. */
size_t httpparse_feed(struct httpparse *p, const char *text, size_t n);

/* Has anything of the request come? */
bool httpparse_begun(const struct httpparse *p);

/* Free what is held. */
void httpparse_done(struct httpparse *p);

#endif
