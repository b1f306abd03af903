/* What was said already: a bounded set of texts, so that a program that tries a refused thing a million
 * times leaves one record and not a million. */
#ifndef GATEWAY_ONCE_INTERNAL_H
#define GATEWAY_ONCE_INTERNAL_H

#include <stdbool.h>

enum { ONCE_MAX = 1024, ONCE_TEXT_MAX = 400 };

struct once {
	void *root; /* tsearch(3) of owned strings */
	unsigned n;
};

/* Is this the first time for the printf text (cut at ONCE_TEXT_MAX)? False also when ONCE_MAX texts are
 * known: what comes then is not said at all. */
bool once_first(struct once *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Free; {0} is fine. */
void once_done(struct once *o);

#endif
