/* The two overlays of a box: the workspace, and a "dir:" root file system. */
#include "sandbox/box_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

#define COPY_MAX  (4ull << 30)   /* bytes of a tree that is copied because it cannot be mapped */
#define COPY_SOME (512ull << 20) /* when it could also be used as it is, with less */
#define RW_ATTR   (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* One layer as a source: through a mount made by us as root, by path otherwise. */
static int layer(const struct ids *ids, const char *path, bool own, struct ops *ops, int *ret,
		 struct err *err)
{
	int fd = -1, rc;

	if (!ids->mapped) {
		*ret = ops_source(ops, path, false, false, 0);
		return 0;
	}
	rc = ids_mount(ids, path, own, false, &fd, err);
	if (rc == 0)
		*ret = ops_source_fd(ops, path, fd, 0);
	return rc;
}

/* The lower layer. A tree that the box could not own is copied into @dir/@name: as root when
 * idmapped mounts are refused, as a user when the top belongs to somebody else (overlayfs refuses
 * to copy up what has no id in the box: EOVERFLOW). */
static int lower_layer(const struct ids *ids, const char *lower, const char *dir, const char *name,
		       struct ops *ops, int *ret, struct err *err)
{
	auto_free char *copy = mem_printf("%s/%s", dir, name);
	int rc;

	if (!ids->mapped && !ids_owned(ids, lower)) {
		struct err why = { 0 };

		/* Too large or partly unreadable: it stays usable, only not writable everywhere. */
		if (ids_copy(ids, lower, copy, COPY_SOME, &why) == 0)
			return layer(ids, copy, false, ops, ret, err);
		(void)fd_remove_tree(AT_FDCWD, copy); /* box_free() comes by again */
	}
	rc = layer(ids, lower, true, ops, ret, err);
	if (rc != 1)
		return rc;
	rc = ids_copy(ids, lower, copy, COPY_MAX, err);
	return rc < 0 ? rc : layer(ids, copy, false, ops, ret, err);
}

static void add_layer(struct ops *ops, int source, const char *stage)
{
	ops_add(ops, OPS_LAYER, stage, NULL)->source = source;
}

/* Longest directory that holds both @a and @b. Caller frees. */
static char *common_dir(const char *a, const char *b)
{
	auto_free char *dir = path_dir(a);

	while (!path_beneath(b, dir) && strcmp(dir, "/") != 0) {
		char *up = path_dir(dir);

		free(dir);
		dir = up;
	}
	return take_ptr(&dir);
}

/* Upper and work directory as option values. They must lie on one mount, so the directory above
 * both is the layer. As root that directory may be closed to the box (a scratch directory is 0700):
 * then the two are named by descriptors which we opened through the mount that the child attaches,
 * and no walk through it is needed. */
static int upper_layer(const struct ids *ids, const char *upper, const char *work,
		       const char *stage, struct ops *ops, char *ret[2], struct err *err)
{
	auto_free char *top = common_dir(upper, work);
	const char *path[2] = { upper, work };
	int src = -1, rc;

	rc = layer(ids, top, false, ops, &src, err);
	if (rc < 0)
		return rc;
	add_layer(ops, src, stage);
	for (int i = 0; i < 2; i++) {
		const char *rel = path[i] + strlen(top);
		int fd;

		while (*rel == '/')
			rel++;
		if (!ids->mapped) {
			ret[i] = mem_printf("%s/%s", stage, rel);
			continue;
		}
		fd = openat(ops->source[src].fd, rel,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return err_sys(err, "cannot open %s", path[i]);
		ops_hold(ops, fd);
		ret[i] = mem_printf("/proc/self/fd/%d", fd);
	}
	return 0;
}

/* Append the overlay of layer @lower and @upper, @work at @dst (NULL = the new root). userxattr:
 * the only form that a user namespace may mount (overlayfs, Linux 5.11); it turns redirect_dir off.
 * volatile (Linux 5.10): the layers die with the run, and without it every unmount writes the whole
 * file system below to disk. */
static int add_overlay(const struct ids *ids, const char *lower, const char *upper,
		       const char *work, const char *dst, struct ops *ops, struct err *err)
{
	auto_free char *stage = mem_printf("%s-up", lower);
	auto_free char *used = mem_printf("%s/work", work);
	auto_free char *opts = NULL;
	char *dir[2] = { NULL, NULL };
	int rc;

	/* What a former mount left there, among it the mark that refuses a second volatile one. */
	(void)fd_remove_tree(AT_FDCWD, used); /* what stays shows at the mount */
	rc = ids_give(ids, upper, err);
	if (rc == 0)
		rc = ids_give(ids, work, err);
	if (rc < 0)
		return rc;
	rc = upper_layer(ids, upper, work, stage, ops, dir, err);
	if (rc == 0) {
		opts = mem_printf("lowerdir=%s\nupperdir=%s\nworkdir=%s\nuserxattr\nindex=off\n"
				  "metacopy=off\nvolatile",
				  lower, dir[0], dir[1]);
		ops_add(ops, OPS_OVERLAY, dst, opts)->attr = RW_ATTR;
	}
	free(dir[0]);
	free(dir[1]);
	return rc;
}

int overlay_workspace(const struct box_spec *spec, const char *dir, const struct ids *ids,
		      struct ops *ops, struct err *err)
{
	auto_free char *upper = NULL;
	auto_free char *work = NULL;
	int lower_src = -1, rc;

	if (!spec->ws_upper) {
		rc = layer(ids, spec->ws_lower, true, ops, &lower_src, err);
		if (rc == 1)
			return err_set(err, ERR_HOST,
				       "the workspace %s cannot be used in place: this kernel or "
				       "file system has no idmapped mounts; use the overlay "
				       "(filesystem.workspace) or run as the owner",
				       spec->ws_lower);
		if (rc < 0)
			return rc;
		ops->source[lower_src].attr = RW_ATTR;
		ops_bind(ops, lower_src, spec->workdir, false);
		return 0;
	}
	upper = path_normal(spec->ws_upper);
	work = path_normal(spec->ws_work);
	rc = lower_layer(ids, spec->ws_lower, dir, "ws-lower", ops, &lower_src, err);
	if (rc < 0)
		return rc;
	add_layer(ops, lower_src, "ws");
	ops_dir(ops, spec->workdir, 0755);
	return add_overlay(ids, "ws", upper, work, spec->workdir, ops, err);
}

/* Layers of the root overlay in @dir. 0 or negative. */
static int root_layers(const char *dir, const char *lower, const struct ids *ids, struct ops *ops,
		       struct err *err)
{
	auto_free char *upper = mem_printf("%s/upper", dir);
	auto_free char *work = mem_printf("%s/work", dir);

	if (mkdir(upper, 0755) < 0 || mkdir(work, 0755) < 0)
		return err_sys(err, "cannot make the layers in %s", dir);
	return add_overlay(ids, lower, upper, work, NULL, ops, err);
}

int overlay_skeleton(const char *dir, const struct ids *ids, struct ops *ops, struct err *err)
{
	return root_layers(dir, OPS_SKELETON, ids, ops, err);
}

int overlay_root(const char *lower, const char *dir, const struct ids *ids, struct ops *ops,
		 struct err *err)
{
	int lower_src = -1, rc;
	struct stat st;

	if (stat(lower, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INPUT, "root file system %s is not a directory", lower);
	rc = lower_layer(ids, lower, dir, "root-lower", ops, &lower_src, err);
	if (rc < 0)
		return rc;
	add_layer(ops, lower_src, "root-lo");
	return root_layers(dir, "root-lo", ids, ops, err);
}
