/* Takes away from the gateway what it does not need: files, programs, other processes, privileges. */
#ifndef GATEWAY_CONFINE_H
#define GATEWAY_CONFINE_H

#include "base/err.h"

/* Close every descriptor but the standard three and @keep (@n of them, any order, -1 passed over). To be
 * called first, before anything of our own is opened. */
void confine_close(int *keep, unsigned n);

/* As root become nobody; drop all capabilities, die with the parent, not dumpable, no_new_privs, no new
 * process, Landlock without any path and with scopes, then a seccomp filter that knows sockets, memory,
 * time and descriptors. Irrevocable. @missing (128 bytes): layers the kernel lacks, "" when none.
 * 0 or negative. */
int confine(char missing[128], struct err *err);

#endif
