/* A trace record as a line for people. */
#ifndef SUPERVISOR_TRACETEXT_H
#define SUPERVISOR_TRACETEXT_H

#include <cjson/cJSON.h>

#include "base/buf.h"

/* Kind of a record, NULL for the header line. Borrowed from @rec. */
const char *tracetext_kind(const cJSON *rec);

/* Append "seconds process command kind field=value..." and a newline; nothing for the header line. Strings are
 * printed escaped, so that no terminal obeys them. */
void tracetext_add(struct buf *out, const cJSON *rec);

#endif
