/* The files in which an agent keeps its session, looked at from outside of its box. */
#ifndef SUPERVISOR_SESSIONFILES_H
#define SUPERVISOR_SESSIONFILES_H

#include <stdint.h>

/* A number that changes when one of the files below directory @dir changes that @pattern means (components with * and
 * ?, as "sessions/?*.jsonl"): inode, size or time. What is there is the agent's: no link is followed, and only so many
 * names are looked at. 0 = there is none. */
uint64_t sessionfiles_sign(const char *dir, const char *pattern);

#endif
