/* Writing one pack file with its index (gitformat-pack(5)). New objects are stored, not deflated:
 * a base tree of 20,000 files becomes two files in the time it takes to read it. Entries of other
 * packs can be passed through as they are, so that a long history is copied without being
 * compressed again. */
#ifndef SANDBOX_GITPACK_H
#define SANDBOX_GITPACK_H

#include <git2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Life: gitpack_new() -> gitpack_add() or gitpack_entry() per object -> gitpack_finish() ->
 * gitpack_free(). A pack that is not finished leaves no file behind. */
struct gitpack;

/* Begin a pack in directory @dir ("objects/pack" of a repository). 0 or negative. Free with
 * gitpack_free(). */
int gitpack_new(const char *dir, struct gitpack **ret, struct err *err);

/* Add an object from memory; one that is in this pack already is not written again. *ret_id (may
 * be NULL) is its id. 0 or negative. */
int gitpack_add(struct gitpack *p, git_object_t type, const void *data, size_t n, git_oid *ret_id,
		struct err *err);

/* The id that gitpack_add() would give, without adding. */
void gitpack_id(git_object_t type, const void *data, size_t n, git_oid *ret_id);

/* Offset of @id in this pack, 0 when it is not there. */
uint64_t gitpack_offset(const struct gitpack *p, const git_oid *id);

/* Offset at which the next entry will begin. */
uint64_t gitpack_tell(const struct gitpack *p);

/* Begin the raw entry of object @id (not in this pack yet); its bytes, header first, follow through
 * gitpack_put(). */
void gitpack_entry(struct gitpack *p, const git_oid *id);

/* Bytes of the entry begun last. 0 or negative. */
int gitpack_put(struct gitpack *p, const void *data, size_t n, struct err *err);

/* Write index and trailer and give the files their names; *ret_n (may be NULL) is the number of
 * objects. A pack without objects leaves no file. 0 or negative. */
int gitpack_finish(struct gitpack *p, uint64_t *ret_n, struct err *err);

/* Free, and remove the file when it was not finished; NULL is fine. Returns NULL. */
struct gitpack *gitpack_free(struct gitpack *p);

static inline void gitpack_auto(struct gitpack **p)
{
	gitpack_free(*p);
}

#define auto_gitpack __attribute__((cleanup(gitpack_auto))) struct gitpack

#endif
