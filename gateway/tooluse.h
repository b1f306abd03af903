/* What a model's tool call is about to do to files: path and lines, from its arguments. The agent
 * file's tool rows say exactly; names that many agents use serve for the rest. */
#ifndef GATEWAY_TOOLUSE_H
#define GATEWAY_TOOLUSE_H

#include "gateway/api.h"
#include "profiles/agent.h"

/* Lines beyond this are not said by any sane call; as last line it means the end of the file. */
enum { TOOLUSE_LINE_MAX = 1 << 30 };

enum tooluse_kind { TOOLUSE_NONE, TOOLUSE_READ, TOOLUSE_EDIT, TOOLUSE_SHELL };

struct tooluse {
	enum tooluse_kind kind;
	char path[1024];      /* as the model wrote it; "" when none */
	uint64_t first, last; /* 1-based, inclusive; 0,0 = not said: the whole file;
			       * last TOOLUSE_LINE_MAX: to its end */
};

/* Read @call. Returns u->kind. @agent may be NULL. Argument values are hostile: numbers out of range
 * and paths that are too long give TOOLUSE_NONE. */
enum tooluse_kind tooluse_of(const struct agent *agent, const struct api_tool_call *call,
			     struct tooluse *u);

#endif
