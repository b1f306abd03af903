/* Shared between filter.c (rows by name) and filter_args.c (rules that look at arguments or at
 * numbers without a name). */
#ifndef SANDBOX_FILTER_INTERNAL_H
#define SANDBOX_FILTER_INTERNAL_H

#include <linux/filter.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sysdefs.h"
#include "profiles/profile.h"

/* What the hand-made head of filter A decides. */
struct filter_prefix {
	uint64_t denied; /* bit i: the profile denies call SYS_FIRST_UNKNOWN + i */
};

/* The code of an error of libseccomp (negative errno): wrong arguments are ours, everything else comes from memory or
 * the kernel. */
enum err_code filter_code(int rc);

/* Number of a call that this libseccomp may not know yet but that is harmless and allowed; -1 for
 * any other name. */
int filter_new_number(const char *name);

/* Add the argument rules of call @name (a SYS_ARGS row). @nested: namespaces may be made. 0 or
 * negative. */
int filter_add_args(scmp_filter_ctx ctx, const char *name, bool nested, struct err *err);

/* Put the head in front of @body: unknown numbers, and arguments that must be one of few values.
 * *ret is a new program. 0 or negative. */
int filter_prepend(const struct filter_prefix *prefix, const struct profile *profile,
		   const struct sock_fprog *body, struct sock_fprog *ret, struct err *err);

#endif
