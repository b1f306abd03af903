/* `trace --touches`: what the released rule and the kernel say of each command of a run, as text, JSON or
 * CSV. */
#ifndef SUPERVISOR_TRACE_TOUCHES_H
#define SUPERVISOR_TRACE_TOUCHES_H

#include "base/buf.h"
#include "base/err.h"

enum touches_format { TOUCHES_TEXT, TOUCHES_JSON, TOUCHES_CSV };

/* Append the comparison of run directory @dir to @out. 0 or -ERR_INPUT. */
int trace_touches(const char *dir, enum touches_format format, struct buf *out, struct err *err);

#endif
