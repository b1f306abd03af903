/* Answers from a record. Strict: the n-th request of a purpose must be the recorded one, up to what
 * is volatile; the first difference is named and ends the run. Loose: matched by purpose and order. */
#ifndef GATEWAY_REPLAY_H
#define GATEWAY_REPLAY_H

#include "gateway/source.h"

/* Open a record of @n bytes that came from @name; the first @upto answers are taken, then @then
 * (moved in, also when this fails; ops NULL = an error) is asked. What the gateway said itself is
 * not served. 0 or -ERR_INPUT with the line. */
int replay_open(const char *name, const char *text, size_t n, bool loose, uint64_t upto,
		struct source then, struct source *ret, struct err *err);

#endif
