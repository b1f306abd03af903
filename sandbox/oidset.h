/* A set of object ids that also numbers them: the n-th id added has index n - 1, so that callers
 * keep what they know of an object in arrays beside the set. */
#ifndef SANDBOX_OIDSET_H
#define SANDBOX_OIDSET_H

#include <git2/oid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* {0} is empty. At most 2^31 ids. */
struct oidset {
	git_oid *id; /* owned; in order of addition */
	size_t n, cap;
	uint32_t *slot; /* owned hash table: index + 1, 0 = free */
	size_t slots;   /* power of two */
	uint64_t seed;  /* ids are chosen by whoever wrote the repository; their places are not */
};

/* Index of @id, -1 when it is not in the set. */
ssize_t oidset_find(const struct oidset *s, const git_oid *id);

/* Add @id when it is missing. Returns its index; *ret_new (may be NULL) says whether it is new. */
size_t oidset_add(struct oidset *s, const git_oid *id, bool *ret_new);

/* Free; the set is empty and usable again. */
void oidset_done(struct oidset *s);

#define auto_oidset __attribute__((cleanup(oidset_done))) struct oidset

#endif
