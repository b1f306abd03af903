/* What followed files held: `image` and `edit` records of the trace, and the images behind them. */
#ifndef SUPERVISOR_EVIDENCE_H
#define SUPERVISOR_EVIDENCE_H

#include "base/digest.h"
#include "triggers/engine.h"

/* Bytes of a file of which a digest is still taken; the box waits meanwhile. */
#define EVIDENCE_DIGEST_MAX (64u << 20)

/* Places of a change that an `edit` record lists. */
#define EVIDENCE_HUNKS_MAX 64u

/* Rows of effects_ops (engine_ops.edited, .image, .digest); @arg is the struct sup. */
void evidence_edited(void *arg, const struct edit *ed);
void evidence_image(void *arg, const char *path, const char *sha256, const char *data,
		    size_t len);                                        /* see evidence_edited() */
int evidence_digest(void *arg, const char *path, char out[DIGEST_HEX]); /* see evidence_edited() */

#endif
