/* The shipped agent "actor": asks a model through OpenAI's Chat Completions and carries out its tool
 * calls. Small, static, no configuration: the same answers give the same requests, byte for byte, so that
 * scripted models can play a scenario anywhere. It runs in the box and trusts nothing it is sent. */
#ifndef PROFILES_DATA_ACTOR_ACTOR_H
#define PROFILES_DATA_ACTOR_ACTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/jslice.h"

#define ACTOR_REPLY_MAX  (64u << 20)  /* bytes of an HTTP answer */
#define ACTOR_OUTPUT_MAX (32u << 10)  /* bytes of a tool's result; of more, both ends are kept */
#define ACTOR_FILE_MAX   (64u << 20)  /* bytes of a file that is edited */
#define ACTOR_TALK_MAX   (256u << 20) /* bytes of the conversation */
#define ACTOR_CALLS_MAX  256u         /* tool calls of one answer */
#define ACTOR_WHY_MAX    256

/* Where requests go: "http://HOST[:PORT]/PATH", HOST an IPv4 address or "localhost". */
struct actor_url {
	char host[64], path[256];
	uint16_t port;
};

/* Read @text into @ret; PATH without a slash at its end. 0, or -1 with a reason in @why. */
int actor_url(const char *text, struct actor_url *ret, char why[ACTOR_WHY_MAX]);

/* POST @body as JSON to @url's path followed by @route, with @key (NULL none) as bearer token; a connection
 * of its own each time (RFC 9112). The answer's body goes to @reply. The HTTP status, or -1 with a reason
 * in @why. */
int actor_post(const struct actor_url *url, const char *route, const char *key,
	       const struct buf *body, struct buf *reply, char why[ACTOR_WHY_MAX]);

/* The body of a whole HTTP answer @raw: its status, or -1 when it is no answer, or one that was cut. Bytes of
 * the body are added to @body. */
int actor_answer(const char *raw, size_t n, struct buf *body);

/* One tool call of the model's. Owned texts, never NULL. */
struct actor_call {
	char *id, *name, *args;
};

/* What the model answered. Owned; {0} is nothing. */
struct actor_message {
	char *text; /* NULL = none */
	struct actor_call *calls;
	size_t n_calls;
};

/* Read the first choice's message of Chat Completions answer @reply. What is missing in a tool call gets a
 * form that a request may have; calls past ACTOR_CALLS_MAX are left out. 0, or -1 when there is no message. Free with
 * actor_message_done(). */
int actor_message(const char *reply, size_t n, struct actor_message *ret);

/* Free; {0} is fine. */
void actor_message_done(struct actor_message *m);

/* Append to @talk, the conversation as JSON without the brackets around it: a message of ours, one of the
 * model's with its tool calls, the result of a tool call. */
void actor_add_text(struct buf *talk, const char *role, const char *text);
void actor_add_message(struct buf *talk, const struct actor_message *m); /* see actor_add_text() */
void actor_add_result(struct buf *talk, const char *id,
		      const struct buf *result); /* see actor_add_text() */

/* The next request about @talk into @body. 0, or -1 when it is too long. */
int actor_request(const char *model, const struct buf *talk, struct buf *body);

/* "tools" of a request, as JSON text. Static. */
extern const char actor_tools[];

/* Carry out tool @name with arguments @args (JSON text from the model); what the model is told goes to
 * @out: UTF-8 without NUL bytes, at most ACTOR_OUTPUT_MAX bytes. Mistakes of the model are told there, too. */
void actor_tool(const char *name, const char *args, struct buf *out);

#endif
