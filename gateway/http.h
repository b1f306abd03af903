/* HTTP server for the box on one listening socket: connections, one request at a time on each,
 * answers whole or in pieces. Not for what the requests mean. libevent's own evhttp is not used: it
 * takes requests with two lengths, and can bound neither connections nor the sum of their bodies.
 */
#ifndef GATEWAY_HTTP_H
#define GATEWAY_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "gateway/httpparse.h"

enum {
	HTTP_CONNS_MAX = 256,         /* connections at once */
	HTTP_BODIES_MAX = 128 << 20,  /* bytes of all requests under way */
	HTTP_ANSWERS_MAX = 256 << 20, /* bytes of all answers that are kept or not yet sent */
};

/* Bytes of an answer that several clients may be given; counted in @total (borrowed, may be NULL)
 * while they live. */
struct http_blob {
	unsigned refs;
	size_t n;
	char *data; /* owned */
	size_t *total;
};

/* Make one from the contents of @b, which is empty afterwards. Has one reference. */
struct http_blob *http_blob(struct buf *b, size_t *total);

/* One more reference. Returns @b. */
struct http_blob *http_blob_ref(struct http_blob *b);

/* One less; NULL is fine. Returns NULL. */
struct http_blob *http_blob_unref(struct http_blob *b);

struct event_base;
struct http;
struct http_conn;

/* What the server tells its owner. */
struct http_ops {
	/* A whole request. What is in @r may be taken (zero it then); it is freed afterwards
	 * otherwise. It must be answered, now or later. */
	void (*request)(void *arg, struct http_conn *c, struct http_request *r);
	/* The client went away before its answer was complete. @user is what http_set_user() gave;
	 * not called when that is NULL. @c must not be used any more. */
	void (*gone)(void *arg, void *user);
	void *arg;
};

/* An answer's head. */
struct http_head {
	int status;
	const char *type;     /* content type, NULL = no body */
	unsigned retry_after; /* seconds, 0 = not said */
	const char *allow;    /* methods, NULL = not said */
};

/* Serve @listen_fd (borrowed, listening, made non-blocking) with @ops (borrowed). 0 or negative.
 * Free with http_free(). */
int http_new(struct event_base *base, int listen_fd, const struct http_ops *ops, struct http **ret,
	     struct err *err);

/* Cut all connections without telling anybody, free. NULL is fine. Returns NULL. */
struct http *http_free(struct http *h);

/* Serve an accepted connection @fd (taken over); for tests and fuzzing beside the listener. NULL
 * when memory or connections are short (then @fd is closed). */
struct http_conn *http_serve(struct http *h, int fd);

/* Remember who waits for the answer on @c. */
void http_set_user(struct http_conn *c, void *user);

/* Port of the client's end, 0 when it is none of TCP. */
uint16_t http_port(const struct http_conn *c);

/* The whole answer; the body may be NULL. @c must not be used any more. */
void http_answer(struct http_conn *c, const struct http_head *head, struct http_blob *body);

/* As http_answer() with @n bytes that are copied. */
void http_answer_text(struct http_conn *c, const struct http_head *head, const char *text,
		      size_t n);

/* Begin an answer in pieces. */
void http_begin(struct http_conn *c, const struct http_head *head);

/* A piece. */
void http_send(struct http_conn *c, const char *text, size_t n);

/* The end of the pieces. @c must not be used any more. */
void http_end(struct http_conn *c);

/* Cut the connection in the middle of an answer, so that the client sees that it is not complete.
 * @c must not be used any more. */
void http_abort(struct http_conn *c);

/* Bytes of requests that are held now; requests charge their parsed form here, too. */
struct ration *http_ration(struct http *h);

#endif
