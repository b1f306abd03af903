/* Layers of a living box kept as they are at some moments, so that a fresh box can be given the same files:
 * what the box changed in its workspace, its HOME and everywhere else. Contents are kept once each, by their
 * digest; what stands as it stood is not read again.
 *
 * What is read is the agent's: everything is bounded, no link is followed. Kept are files, directories,
 * symbolic links and FIFOs with their modes, and the times of files. Owners, hard links between files,
 * attributes, sockets and devices are not. */
#ifndef SANDBOX_SNAPSHOT_H
#define SANDBOX_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"

struct box;

#define SNAPSHOT_ENTRIES_MAX 100000u      /* of a layer */
#define SNAPSHOT_FILE_MAX    (1ull << 30) /* bytes of one file */
#define SNAPSHOT_STORE_MAX   (4ull << 30) /* bytes of all contents that one run keeps */

enum snapshot_area {
	SNAPSHOT_WORKSPACE, /* overlay's upper layer of the workspace */
	SNAPSHOT_BOX,       /* that of the root: HOME, /tmp and everything else */
	SNAPSHOT_AREAS
};

/* "workspace", "box". Static. */
const char *snapshot_area_name(enum snapshot_area area);

/* A name in a layer. */
struct snapshot_entry {
	char *path; /* owned, relative to the workspace or to / */
	char kind; /* 'f' file, 'd' directory, 'l' link, 'p' FIFO, '-' removed, '=' no longer changed */
	bool opaque; /* 'd': what the pristine tree has in it is gone */
	uint32_t mode;
	int64_t mtime;           /* ns, of 'f' */
	uint64_t size;           /* of 'f' */
	char sha256[DIGEST_HEX]; /* of 'f' */
	char *link;              /* owned: target of 'l' */
};

/* What differs from the moment before. {0} is nothing. */
struct snapshot_look {
	struct snapshot_entry *v[SNAPSHOT_AREAS]; /* owned, parents before what is in them */
	size_t n[SNAPSHOT_AREAS], cap[SNAPSHOT_AREAS];
	uint64_t stored; /* bytes of contents that were new */
	const char *why; /* static: the moment could not be kept whole, NULL = it was */
	char *where;     /* owned: the path that @why is about, NULL = none */
};

struct snapshot;

/* Keep contents in the new directory @store. 0 or negative. Free with snapshot_free(). */
int snapshot_new(const char *store, struct snapshot **ret, struct err *err);

/* @upper (path, copied) is the layer of @area. What is in it now was not made by the box and is passed over while it
 * stays so. 0 or negative. */
int snapshot_add(struct snapshot *s, enum snapshot_area area, const char *upper, struct err *err);

/* Keep the layers as they are; nobody may write them meanwhile. *ret is filled anew (free with
 * snapshot_look_done()); when ret->why is set the next look tells the differences again. 0, or -ERR_SYS when a layer or
 * the store cannot be used at all. */
int snapshot_take(struct snapshot *s, struct snapshot_look *ret, struct err *err);

/* Free; {0} is fine. */
void snapshot_look_done(struct snapshot_look *l);

/* Free what @e owns. */
void snapshot_entry_done(struct snapshot_entry *e);

/* Free; NULL is fine. Returns NULL. */
struct snapshot *snapshot_free(struct snapshot *s);

/* Give @box, whose command has not been released, the @n entries @v of @area, in their order, with contents
 * from directory @store, which may be anybody's: contents are held against their digests, nothing is written
 * outside of the area. 0 or negative: ERR_INPUT names the file whose contents are missing or are not those that
 * were kept. */
int snapshot_restore(struct box *box, enum snapshot_area area, const char *store,
		     const struct snapshot_entry *v, size_t n, struct err *err);

#endif
