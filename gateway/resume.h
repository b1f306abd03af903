/* Answers behind a session that the agent has taken up again: its first main request is held against the
 * recorded one before anybody is asked. */
#ifndef GATEWAY_RESUME_H
#define GATEWAY_RESUME_H

#include <stdbool.h>

#include "gateway/source.h"

/* Open a record of @n bytes that came from @name. The first main request must go on with the conversation of
 * its call number @call (canon_continues()), or with @same be that request (canon_diff()); otherwise the
 * first difference is the answer and ends the run. What is asked is asked of @then (moved in, also when
 * this fails). 0, or -ERR_INPUT when there is no such call. Free with source_done(). */
int resume_open(const char *name, const char *text, size_t n, uint64_t call, bool same,
		struct source then, struct source *ret, struct err *err);

#endif
