/* Between the parts of the result channel. */
#ifndef VERIFIER_CHANNEL_INTERNAL_H
#define VERIFIER_CHANNEL_INTERNAL_H

#include "verifier/channel.h"

/* Record the first breach of a rule (printf-like). */
void channel_fault(struct channel *ch, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add a tamper row "KIND DETAIL"; control bytes become "?", what is past CHANNEL_TAMPER_MAX is counted. */
void channel_tamper(struct channel *ch, const char *kind, const char *detail);

/* Add a result under @name as the channel's reader would. */
void channel_result(struct channel *ch, const char *name, size_t n, enum test_status s);

#endif
