/* Tells the agent's main conversation from side calls: titles, classifiers, token counts,
 * compaction, sub-agents. User messages go into the main one only; all are counted. */
#ifndef GATEWAY_PURPOSE_H
#define GATEWAY_PURPOSE_H

#include "gateway/api.h"

enum purpose {
	PURPOSE_MAIN,
	PURPOSE_SIDE,
	PURPOSE_COUNT,
	PURPOSE_COMPACT,
	PURPOSE_SUBAGENT,
	PURPOSE_SIMULATOR, /* not the agent's: a message of the simulated user is written */
	PURPOSE_MAX
};

/* What is known of the conversations so far; {0} before the first request. */
struct purposes {
	bool known; /* a main conversation was seen */
	char system[DIGEST_HEX], toolset[DIGEST_HEX], first_user[DIGEST_HEX];
};

/* Purpose of @q, and remember it. The main conversation is that of the first request that offers
 * tools; a request with its system text and tools is main also when compaction replaced its
 * beginning. Without tools: side. */
enum purpose purpose_of(struct purposes *p, const struct api_request *q);

/* "main", "side", ... as in model.jsonl. Static. */
const char *purpose_name(enum purpose p);

/* The purpose of that name, PURPOSE_MAX when there is none. */
enum purpose purpose_named(const char *name);

#endif
