/* Reading the entries of an existing pack as they are (gitformat-pack(5)), for passing them on.
 * Contents are read through libgit2; this is only about where an object's bytes are. */
#ifndef SANDBOX_PACKSRC_H
#define SANDBOX_PACKSRC_H

#include <git2/oid.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum packsrc_type { PACKSRC_OFS_DELTA = 6, PACKSRC_REF_DELTA = 7 };

struct packsrc {
	int fd;                           /* the pack */
	uint64_t end;                     /* offset of the trailer */
	uint8_t *idx;                     /* owned; the whole index, version 2 */
	uint32_t n;                       /* objects */
	const uint8_t *ids, *off, *off64; /* borrowed from idx */
	size_t n64;
	uint32_t *order; /* owned; positions in the index by offset */
	uint8_t *win;    /* owned; bytes read last */
	uint64_t win_at;
	size_t win_len;
};

/* One entry: its head, and where it lies. */
struct packsrc_entry {
	uint64_t at, end; /* bytes [at, end) of the pack */
	uint8_t head[10]; /* type and size as they stand there */
	size_t type_len;  /* bytes of those */
	size_t head_len;  /* those and the reference to the base */
	unsigned type;    /* git_object_t, or enum packsrc_type */
	uint64_t base_at; /* PACKSRC_OFS_DELTA */
	git_oid base;     /* PACKSRC_REF_DELTA */
};

/* Open the pack whose index is @idx_path. 0, or -1 when it cannot be used this way (damaged, index
 * version 1): then libgit2 may still read it. Free with packsrc_free(). */
int packsrc_open(const char *idx_path, struct packsrc **ret);

/* Position of @id, -1 when it is not there. */
ssize_t packsrc_find(const struct packsrc *s, const git_oid *id);

/* Id and offset of the object at position @pos. */
void packsrc_id(const struct packsrc *s, uint32_t pos, git_oid *ret);
uint64_t packsrc_offset(const struct packsrc *s, uint32_t pos); /* see packsrc_id() */

/* Position of the entry that begins at offset @at, -1 when none does. */
ssize_t packsrc_at(const struct packsrc *s, uint64_t at);

/* Read the head of the entry at position @pos. 0, or -1 when it is malformed. */
int packsrc_entry(struct packsrc *s, uint32_t pos, struct packsrc_entry *ret);

/* At least one and at most @want bytes from offset @at: *ret_n of them, borrowed until the next
 * call. NULL at the end of the pack or with errno. */
const uint8_t *packsrc_bytes(struct packsrc *s, uint64_t at, size_t want, size_t *ret_n);

/* Close; NULL is fine. Returns NULL. */
struct packsrc *packsrc_free(struct packsrc *s);

#endif
