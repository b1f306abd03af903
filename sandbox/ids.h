/* Who the box is outside: the one host uid and gid that its uid 1000 maps to, and the idmapped
 * mounts that let this id own files which belong to somebody else. */
#ifndef SANDBOX_IDS_H
#define SANDBOX_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define IDS_FIRST 1879048192u /* 0x70000000: above every range that distributions hand out */
#define IDS_COUNT 134217728u

struct ids {
	bool mapped; /* we are root and the box is somebody else outside */
	uid_t uid;   /* outside */
	gid_t gid;
};

/* Choose. As an ordinary user (or a root that can map nobody else) the box is ourselves; as root it
 * is an unprivileged id of its own, so that two boxes share no processes' limits or files. When
 * directory @keep (may be NULL) belongs to an id of a former box, that id is taken again. */
void ids_choose(const char *keep, struct ids *ret);

/* Give @path and everything below to the box: chown without following links; nothing is done when
 * the box is ourselves or the top has the right owner already. 0 or negative. */
int ids_give(const struct ids *ids, const char *path, struct err *err);

/* A detached mount of @path (open_tree(2), Linux 5.2). With @own it is idmapped, so that the owner
 * of
 * @path appears as the box (mount_setattr(2), Linux 5.12; below overlayfs 5.19). *ret_fd is the
 * mount (caller closes). 0, 1 when the kernel or the file system refuses idmapping (no mount then),
 * or negative. */
int ids_mount(const struct ids *ids, const char *path, bool own, bool recursive, int *ret_fd,
	      struct err *err);

/* Can the owner of @path write it inside the box without help, that is: does @path belong to the
 * box outside? */
bool ids_owned(const struct ids *ids, const char *path);

/* Copy the tree @from to the new directory @to, owned by the box: at most @max bytes and entries
 * that together fit in it. Devices and sockets are left out. 0 or negative: ERR_LIMIT when too
 * large. */
int ids_copy(const struct ids *ids, const char *from, const char *to, uint64_t max,
	     struct err *err);

#endif
