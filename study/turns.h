/* What a model said and what the agent's tools answered, out of a recorded exchange (model.jsonl): the four APIs, whole
 * answers and streams of events. Bodies are hostile: what cannot be read is left out. */
#ifndef STUDY_TURNS_H
#define STUDY_TURNS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TURN_CALLS_MAX 256u        /* tool calls of one answer */
#define TURN_TEXT_MAX  (64u << 20) /* bytes of one text */

struct turn_call {
	char *id; /* NULL when the API has none (gemini) */
	char *name;
	struct buf args; /* JSON text, or the text of a custom tool */
	bool custom;
	size_t index; /* of the stream */
	char *result; /* what came back; NULL = not known */
};

struct turn {
	struct buf text, reasoning;
	struct turn_call *call; /* owned */
	size_t n_calls;
};

/* Begin; turn_done() frees. */
void turn_init(struct turn *t);

/* Free. */
void turn_done(struct turn *t);

/* Read the @n bytes of an answer of @api ("openai-chat", "openai-responses", "anthropic", "gemini"); @sse: it is a stream
 * of events. False when nothing of a model's answer is in it. */
bool turn_read(const char *api, bool sse, const char *answer, size_t n, struct turn *t);

/* Give the calls of @t the results that stand in @request (the client's next one). */
void turn_results(const char *api, const cJSON *request, struct turn *t);

/* The texts of the client's first request: what the system and the user said, in order. @say is called for each. */
void turn_opening(const char *api, const cJSON *request,
		  void (*say)(void *arg, bool system, const char *text), void *arg);

/* The text of a content: a string, or a list of parts with "text". Caller frees; NULL when there is none. */
char *turn_text(const cJSON *content);

#endif
