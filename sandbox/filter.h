/* The two seccomp programs. A: policy; wins over B because ERRNO beats TRACE (seccomp(2)).
 * B: RET_TRACE for what the run observes. Built with libseccomp, exported as BPF, loaded with
 * seccomp(2), so that the same bytes can be tested in an interpreter. */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <linux/filter.h>

#include "base/err.h"
#include "profiles/profile.h"

/* Policy filter. Foreign ABIs and unknown numbers: i386 and x32 killed, numbers beyond libseccomp's
 * table ENOSYS. Free with filter_free(). 0 or negative: -ERR_INPUT for an unknown name in
 * profile->deny. */
int filter_policy(const struct profile *profile, struct sock_fprog *ret, struct err *err);

/* Observing filter for @level; TRACE_OFF gives an empty program (len 0). RET_TRACE carries 0 as
 * data. Free with filter_free(). */
int filter_observe(enum trace_level level, struct sock_fprog *ret, struct err *err);

/* Free a program; {0} is fine. */
void filter_free(struct sock_fprog *prog);

/* Run @prog on one call as the kernel would (classic BPF over struct seccomp_data): for tests and
 * for `explain`. Returns the action word (SECCOMP_RET_*). */
unsigned filter_eval(const struct sock_fprog *prog, unsigned arch, int nr,
		     const unsigned long long args[6]);

#endif
