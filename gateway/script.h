/* Canned turns (proctor.script/1): demos and tests need no model. The turn is chosen by the history
 * in the request, not by a counter, so that retries and side calls do not shift it. */
#ifndef GATEWAY_SCRIPT_H
#define GATEWAY_SCRIPT_H

#include "gateway/source.h"
#include "profiles/agent.h"

/* Parse a script of @n bytes that came from @name; tool turns are translated by @agent's tool rows
 * ({abspath} is below @workdir, the workspace's path in the box; both are borrowed for this call).
 * @base (borrowed while the source lives) runs the timers of "delay" and "silence"; NULL when the
 * script has neither. 0 or -ERR_INPUT with position. */
int script_open(const char *name, const char *text, size_t n, const struct agent *agent,
		const char *workdir, struct event_base *base, struct source *ret, struct err *err);

#endif
