/* Model APIs as rows: what a request asks, where a user message may stand, what an answer used and
 * wants done. One row per API; nothing else in the program knows their shapes. Requests are never
 * printed anew: they are edited by byte spans, so that what we do not touch stays as it was sent
 * (NUL escapes, lone surrogates and long numbers would not survive a parser's printer). */
#ifndef GATEWAY_API_H
#define GATEWAY_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "gateway/jedit.h"
#include "profiles/agent.h"

enum {
	API_BODY_MAX = 64 << 20,  /* bytes of a request or an answer */
	API_ITEMS_MAX = 100000,   /* entries of a conversation */
	API_TOOL_CALLS_MAX = 256, /* tool calls of one answer */
	API_TEXT_MAX = 16 << 20,  /* bytes of an answer's text and of all its arguments */
};

/* What a route is for. */
enum api_route {
	API_ROUTE_NONE,    /* not a route of a model API: 404 */
	API_ROUTE_CHAT,    /* the model is asked */
	API_ROUTE_COUNT,   /* tokens are counted, nothing is generated */
	API_ROUTE_COMPACT, /* Responses: a conversation is compacted */
	API_ROUTE_MODELS,  /* the models are listed */
	API_ROUTE_PROBE,   /* HEAD or GET of "/": is anybody there? */
};

enum item_kind {
	ITEM_SYSTEM, /* system, developer, instructions inside the list */
	ITEM_USER,
	ITEM_ASSISTANT, /* text or reasoning of the model */
	ITEM_CALL,      /* tool call of the model */
	ITEM_RESULT,    /* its result */
	ITEM_OTHER,
};

/* One entry of the conversation, in order. An entry of the client's list that holds several parts
 * (tool results in one Anthropic or Gemini message, calls in one assistant message) gives one item
 * per part, with the same @entry. */
struct item {
	enum item_kind kind;
	uint32_t entry;    /* index in the client's list */
	struct jspan span; /* of the entry in the body */
	char *id;          /* owned: tool call id of ITEM_CALL and ITEM_RESULT; NULL when absent */
	char *name;        /* owned: tool of ITEM_CALL; NULL otherwise */
	char *text;        /* owned: text of ITEM_USER, ITEM_SYSTEM, ITEM_ASSISTANT and ITEM_RESULT,
			     * parts joined by newlines; arguments as JSON text of ITEM_CALL */
};

/* A client's request as understood. Borrows @body. */
struct api_request {
	const struct api *api;
	enum api_route route;
	const char *body;
	size_t n;
	struct jdoc doc;     /* owned: spans of the body */
	bool stream;         /* the client wants server-sent events */
	bool list;           /* Gemini: streamed, but as one JSON array of chunks (no alt=sse) */
	bool wants_usage;    /* Chat: stream_options.include_usage */
	char *model;         /* owned: asked for; from the path with Gemini; NULL when absent */
	uint64_t max_output; /* tokens; 0 = not said */
	uint32_t tools;      /* functions offered */
	bool stateful;       /* the server keeps the history (previous_response_id, conversation) */
	char system[DIGEST_HEX]; /* digest of system text and instructions, volatile parts taken out
				  * (canon_text()) */
	char toolset[DIGEST_HEX]; /* digest of the offered tools' names */
	struct item *items;       /* owned */
	size_t n_items;
};

enum api_finish { FINISH_STOP, FINISH_TOOLS, FINISH_LENGTH, FINISH_FILTER, FINISH_OTHER };

/* Tokens of one answer. Cached tokens are part of input (harness conventions differ: Anthropic
 * counts them apart; here input is all that was read). */
struct api_usage {
	bool known;           /* the answer carried usage */
	uint64_t input;       /* all input tokens, cached ones and cache writes included */
	uint64_t cached;      /* read from cache, part of input */
	uint64_t cache_write; /* written to cache, part of input */
	uint64_t output;      /* all output tokens, reasoning included */
	uint64_t reasoning;   /* part of output */
};

struct api_tool_call {
	char *id;    /* owned */
	char *name;  /* owned */
	char *args;  /* owned: JSON text of the arguments; raw text of a custom tool */
	bool custom; /* Responses: custom_tool_call, args is plain text */
};

/* An answer, read from bytes or made by us. */
struct api_answer {
	bool complete; /* its terminal event or whole body was there */
	bool error;    /* it is an error body or event; @text has the message. An error body and a
			* failed response are complete, an error event in the middle is not */
	enum api_finish finish;
	struct api_usage usage;
	char *text;                  /* owned; visible text, NULL when none */
	char *model;                 /* owned; NULL when not said */
	struct api_tool_call *calls; /* owned */
	size_t n_calls;
	uint64_t web_requests; /* provider-side tool uses that were billed */
	char *why;             /* owned: what is missing when not complete; NULL otherwise */
};

/* Something that was taken out of a request, or would have been. */
struct api_strip {
	char what[96]; /* "tool web_search", "url https://..." (cut) */
};

struct api {
	const char *name; /* as in agent files: "openai-chat" */
	enum agent_api id;
	const char *key_header; /* lower case: "authorization" (Bearer) or "x-api-key", ... */
	bool bearer;            /* "Bearer " stands before the key */
	const char *public_url; /* the vendor's endpoint, without path */
	const char *base_path;  /* what {base_url} ends in for clients: "/v1" or "" */
	const char *key_env;    /* where the real key is looked for in proctor's environment */
	const char *key_shape;  /* the dummy key that clients accept */

	/* Fill @q (api, route, body and doc are set) from the body. 0 or -ERR_INPUT: not a request
	 * of this API; @err says where. */
	int (*read)(struct api_request *q, const char *path, struct err *err);
	/* Queue the edits that put user message @text behind item @after (an index; all results of
	 * the same assistant turn are passed over first). */
	void (*place)(const struct api_request *q, size_t after, const char *text,
		      struct jedit *edits);
	/* Queue the removal of provider-side tools and of remote URLs; up to @max of them are told
	 * in @what. Returns how many there were. @edits NULL: only look. */
	size_t (*strip)(const struct api_request *q, struct jedit *edits, struct api_strip *what,
			size_t max);
	/* Queue "at most @max output tokens". */
	void (*cap_output)(const struct api_request *q, uint64_t max, struct jedit *edits);
	/* Read an answer: @sse says which form. Never fails: what is wrong is in @a. */
	void (*answer)(const char *body, size_t n, bool sse, struct api_answer *a);
	/* Write @a in this API's form, as one JSON body or as events, complete with usage. @model is
	 * the one to name; @serial makes ids that differ within a run and are the same in the next. */
	void (*write)(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		      struct buf *out);
	/* Write an error body for HTTP status @status. */
	void (*error)(int status, const char *message, struct buf *out);
	/* Write the answer to a token count and to a list with the one model @model. */
	void (*count)(uint64_t tokens, struct buf *out);
	void (*models)(const char *model, struct buf *out);
};

/* Row of @id; never AGENT_API_NONE. */
const struct api *api_of(enum agent_api id);

/* Which API and route a request line means. A client speaks one API, but which one is told by the
 * path, not believed from the agent file. @ret_api is NULL for API_ROUTE_NONE and
 * API_ROUTE_PROBE. Query strings and a missing "/v1" are tolerated. */
enum api_route api_route(const char *method, const char *path, const struct api **ret_api);

/* Understand a request. @body stays borrowed by @q. 0 or -ERR_INPUT (bad JSON, wrong shape, too
 * deep, too many entries). Free with api_request_done(). */
int api_request_read(struct api_request *q, const struct api *api, enum api_route route,
		     const char *path, const char *body, size_t n, struct err *err);

/* Free what is in @q. */
void api_request_done(struct api_request *q);

/* Read an answer of @api. Free with api_answer_done(). */
void api_answer_read(struct api_answer *a, const struct api *api, const char *body, size_t n,
		     bool sse);

/* Free what is in @a. */
void api_answer_done(struct api_answer *a);

/* Input tokens of @q by length (bytes / 4, rounded up, at least 1): for reservations only. */
uint64_t api_estimate(const struct api_request *q);

#endif
