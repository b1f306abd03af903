/* The model key: taken out of the environment before anything is forked, kept in memory that no child
 * inherits. */
#ifndef SUPERVISOR_SECRET_H
#define SUPERVISOR_SECRET_H

#include <stddef.h>

#include "base/err.h"

struct secret {
	char *text; /* NUL-terminated; NULL = there is none */
	size_t map; /* bytes of its mapping */
};

/* Take the first of the variables @names (NULL-terminated) that is set, into a mapping with
 * MADV_DONTFORK and MADV_DONTDUMP (madvise(2), Linux 2.6.16, 3.4), locked where that is allowed.
 * Every one of @names is wiped from the environment, its bytes included. 0 or negative: ERR_INPUT when
 * it is too long. Release with secret_done(). */
int secret_take(const char *const *names, struct secret *ret, struct err *err);

/* Wipe and release. {0} is fine. */
void secret_done(struct secret *s);

#endif
