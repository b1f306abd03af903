/* What the agent did last, as its own request to the model tells it: the tool call before this request
 * and what came of it. */
#ifndef GATEWAY_LASTCALL_H
#define GATEWAY_LASTCALL_H

#include <stdbool.h>

#include "base/buf.h"
#include "gateway/api.h"

enum { LASTCALL_MAX = 8 << 10 }; /* bytes that are given of either */

/* Append the last tool call of @q to @command (a shell's command line as it is, any other call as its
 * name and arguments) and its result to @output; each is cut at LASTCALL_MAX bytes and at the
 * buffer's maximum. All of it is the agent's own bytes. False when there is no call and no result. */
bool lastcall_of(const struct api_request *q, struct buf *command, struct buf *output);

#endif
