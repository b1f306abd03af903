/* What the four model APIs share: filling a request, finding the place of a user message, taking
 * provider-side tools and remote URLs out, collecting an answer. Only for gateway/api*.c and
 * anchor.c. */
#ifndef GATEWAY_API_INTERNAL_H
#define GATEWAY_API_INTERNAL_H

#include "base/buf.h"
#include "base/str.h"
#include "gateway/api.h"

extern const struct api api_chat_row;
extern const struct api api_responses_row;
extern const struct api api_anthropic_row;
extern const struct api api_gemini_row;

/* Unix time that made-up answers name; the serial number is added. */
#define API_TIME_ZERO 1767225600u

#define API_REMOVED_TEXT "[removed: remote URL]"

/* A request while it is read. */
struct reading {
	struct api_request *q;
	const struct jdoc *d; /* &q->doc */
	struct err *err;
	size_t cap;        /* of q->items */
	struct buf system; /* system text so far */
	struct strv tools; /* names of offered tools */
	bool later;        /* an entry that is no system text was seen */
};

/* Begin to read @q: nothing seen yet. */
void api_request_begin(struct reading *r, struct api_request *q, struct err *err);

/* Set the digests of @q from what was seen, and free the rest of @r. */
void api_request_end(struct reading *r);

/* An item of @kind for value @at of the list, number @entry; texts are still to be set. */
struct item api_request_part(const struct reading *r, enum item_kind kind, uint32_t entry,
			     uint32_t at);

/* Add an item; takes over its strings. System text in front of everything else counts for q->system.
 * 0 or -ERR_INPUT when there are too many. */
int api_request_item(struct reading *r, const struct item *it);

/* Add system text that does not stand in the list (a string or parts; JNONE is fine). */
void api_request_system(struct reading *r, uint32_t at);

/* Count a function that is offered. @name is where its name stands. */
void api_request_tool(struct reading *r, uint32_t name);

/* Read the max of the whole numbers at @a and @b (JNONE is fine) into q->max_output. */
void api_request_max(struct reading *r, uint32_t a, uint32_t b);

/* The list @key of @parent; JNONE with *rc set to -ERR_INPUT when it is missing or no array in a
 * request that asks the model. */
uint32_t api_request_list(struct reading *r, uint32_t parent, const char *key, int *rc);

/* Text of a string, a part or an array of parts joined by newlines; a part without text stands as
 * "[type]". Caller frees; never NULL. */
char *api_request_text(const struct jdoc *d, uint32_t at);

/* The JSON text of value @at, "" for JNONE. Caller frees. */
char *api_request_raw(const struct jdoc *d, uint32_t at);

/* Index of the item behind which a message may stand that should stand behind item @after: all parts
 * of one entry, all results, and whatever lies between a call and its result are passed over.
 * SIZE_MAX when there are no items. */
size_t api_request_slot(const struct api_request *q, size_t after);

/* Value number @entry of list @list, JNONE past its end. */
uint32_t api_request_entry(const struct jdoc *d, uint32_t list, uint32_t entry);

/* {"PRE": "TEXT", ...}: @head, @text quoted, @tail. Caller frees. */
char *api_request_quoted(const char *head, const char *text, const char *tail);

/* Queue "@key of @parent is at most @max": lowered when there and higher; added when @add. */
void api_request_cap(const struct jdoc *d, uint32_t parent, const char *key, uint64_t max, bool add,
		     struct jedit *edits);

/* What is taken out of a request. */
struct strip {
	const struct jdoc *d;
	struct jedit *edits;     /* borrowed; NULL: only look */
	struct api_strip *what;  /* borrowed */
	size_t max, n;           /* room in @what; how many there were */
	const char *const *deny; /* types of provider-side tools: loose, "*" at the end is a
				  * prefix; NULL-terminated */
	const char *const *only; /* when not NULL: every other type is denied */
	/* More reasons to deny a tool; NULL = none. */
	bool (*denied)(const struct jdoc *d, uint32_t tool);
	const char *const *with;  /* members that go when no tool is left, loose */
	const char *const *media; /* members of a part that may hold or name media, loose */
	const char *const *inner; /* members of such a member that may be an address, loose */
	const char *removed;      /* the part that stands for one that was taken out, JSON */
};

/* Do @s and @pattern agree but for case, "_" and "-"? A "*" at the end of @pattern takes any rest.
 * Servers read keys and types as generously as this (protobuf takes both spellings of a key, some
 * decoders ignore case), and what they would take must be seen. */
bool api_strip_like(const char *s, const char *pattern);

/* api_strip_like() for the key of member @at. */
bool api_strip_key(const struct jdoc *d, uint32_t at, const char *pattern);

/* Take the provider-side tools out of the lists "tools" of object @owner, and the tool choice that
 * names one of them. A list that would be empty goes with the members s->with. */
void api_strip_tools(struct strip *s, uint32_t owner);

/* Take members out of object @owner whose keys are like one of @keys (NULL-terminated); null and
 * false stay. */
void api_strip_members(struct strip *s, uint32_t owner, const char *const *keys);

/* Take members out of object @owner whose keys are like one of @keys and that ask for more than one
 * answer: all are billed, the client acts on one, and no maximum of tokens bounds their sum. */
void api_strip_several(struct strip *s, uint32_t owner, const char *const *keys);

/* Take members out of object @owner whose key is like @key and whose value is like one of @values: what
 * makes a call dearer than the price file knows. */
void api_strip_values(struct strip *s, uint32_t owner, const char *key, const char *const *values);

/* Is the string at @at an address that somebody else would have to fetch? data: URLs and bare base64
 * are not. */
bool api_strip_remote(const struct jdoc *d, uint32_t at);

/* Replace @part when it names a remote URL. Returns whether it did (or would, without edits). */
bool api_strip_part(struct strip *s, uint32_t part);

/* Replace the parts of @content (an array of parts, or one part) that name a remote URL. */
void api_strip_parts(struct strip *s, uint32_t content);

/* One found: tell and count it. */
void api_strip_tell(struct strip *s, const char *kind, const char *text);

/* An answer while it is collected. */
struct answering {
	struct api_answer *a;
	struct buf text;
	struct buf spare; /* Responses: text as it came bit by bit, for want of a finished item */
	struct {
		uint64_t index; /* the API's own number of the call */
		struct buf args;
	} * part; /* owned: one per a->calls */
	size_t cap_calls, cap_parts, bytes;
	uint64_t apart; /* tokens that the API counts beside another kind */
	bool terminal;  /* the event that ends an answer came */
	bool over;      /* more than API_TEXT_MAX or API_TOOL_CALLS_MAX */
	bool broken;    /* an event that is not JSON came */
};

/* How an API's answer is taken apart. */
struct answer_ops {
	/* One event of a stream; @type is its SSE type. */
	void (*event)(struct answering *w, const struct jdoc *d, const char *type);
	/* A whole body. */
	void (*body)(struct answering *w, const struct jdoc *d);
	const char *missing; /* what an answer without a terminal event lacks */
};

/* Read an answer by @ops: splits events, parses, checks the end. @sse is believed only as far as the
 * bytes agree: a server may answer a stream with a JSON error body. */
void api_answer_run(const struct answer_ops *ops, const char *body, size_t n, bool sse,
		    struct api_answer *a);

/* Append the string at @at to the visible text; anything else is passed over. */
void api_answer_text(struct answering *w, uint32_t at, const struct jdoc *d);

/* A new tool call with number @index. Returns its position, SIZE_MAX when there are too many. */
size_t api_answer_call(struct answering *w, uint64_t index);

/* Position of the latest call with number @index, SIZE_MAX. */
size_t api_answer_find(const struct answering *w, uint64_t index);

/* Set id and name of call @i from strings, unless it has them already. */
void api_answer_name(struct answering *w, size_t i, const struct jdoc *d, uint32_t id,
		     uint32_t name);

/* Append to the arguments of call @i: a string's contents, any other value's JSON text. */
void api_answer_args(struct answering *w, size_t i, const struct jdoc *d, uint32_t at);

/* Forget text and calls: a complete list follows. */
void api_answer_reset(struct answering *w);

/* It is an error: the message at @error.message, or @error itself when a string. */
void api_answer_error(struct answering *w, const struct jdoc *d, uint32_t error);

/* *v = the larger of it and the whole number at @at; true when there was one. Usage is repeated
 * cumulatively by many servers: the largest counts, not the sum. */
bool api_answer_max(uint64_t *v, const struct jdoc *d, uint32_t at);

/* Position in @names (NULL-terminated) of the string at @at; -1 when not among them. */
int api_answer_word(const struct jdoc *d, uint32_t at, const char *const *names);

/* Id of call @i of a made-up answer as a JSON string: its own, else one made of @prefix and
 * numbers. */
void api_answer_id(const struct api_answer *a, size_t i, const char *prefix, uint64_t serial,
		   struct buf *out);

/* Arguments of call @i as a JSON object: "{}" when they are none. */
void api_answer_object(const struct api_answer *a, size_t i, struct buf *out);

/* Why a made-up answer ends: calls it holds have to be done. */
enum api_finish api_answer_finish(const struct api_answer *a);

/* Append @s (NULL = "") as a JSON string. */
void api_answer_quote(struct buf *out, const char *s);

/* @a - @b, 0 when that is negative. */
uint64_t api_answer_minus(uint64_t a, uint64_t b);

/* The model a made-up answer names. */
const char *api_answer_model(const struct api_answer *a, const struct api_request *q);

/* OpenAI's error body, and the list with one model that OpenAI's and Anthropic's clients both
 * read: GET /v1/models is the same route in both. */
void api_answer_openai_error(int status, const char *message, struct buf *out);
void api_answer_models(const char *model, struct buf *out); /* as said above */

/* Name in @rows for HTTP status @status: exact, else the row of its class (400, 500). */
struct api_status {
	int status;
	const char *name;
};
const char *api_answer_status(const struct api_status *rows, size_t n, int status); /* as above */

#endif
