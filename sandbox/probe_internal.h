/* Shared between probe.c (what is tried) and probe_fix.c (what to do about it). */
#ifndef SANDBOX_PROBE_INTERNAL_H
#define SANDBOX_PROBE_INTERNAL_H

#include "profiles/profile.h"

/* What this system's setting is that keeps layer @l off, given the errno @sys of the trial: the
 * exact command or setting. Caller frees, never NULL. */
char *probe_fix(enum layer l, int sys);

#endif
