/* The child's half of sandbox/ops: nothing here may allocate or use stdio. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sysdefs.h"
#include "sandbox/ops.h"

#define PATH_LEN 4096
#define COPY_MAX (8u << 20) /* bytes of one copied file of /etc */

/* Resolve @path inside the new root only. */
static int in_root(const struct ops_run *run, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	while (*path == '/')
		path++;
	return (int)syscall(__NR_openat2, run->root, *path ? path : ".", &how, sizeof(how));
}

/* Directory that holds @path (made when missing), last component into @name. */
static int parent_of(const struct ops_run *run, const char *path, mode_t mode, char name[256])
{
	char prefix[PATH_LEN];
	size_t n = strlen(path);
	int at = dup(run->root);

	if (at < 0)
		return -1;
	while (n && path[n - 1] == '/')
		n--;
	if (!n || n >= sizeof(prefix)) {
		close(at);
		errno = n ? ENAMETOOLONG : EINVAL;
		return -1;
	}
	for (size_t i = 0; i < n;) {
		size_t start, len;
		int next;

		while (i < n && path[i] == '/')
			i++;
		start = i;
		while (i < n && path[i] != '/')
			i++;
		len = i - start;
		if (len >= 256) {
			close(at);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path + start, len);
		name[len] = '\0';
		if (i == n)
			return at;
		memcpy(prefix, path, i);
		prefix[i] = '\0';
		next = in_root(run, prefix, O_PATH | O_DIRECTORY, 0);
		if (next < 0 && errno == ENOENT && mkdirat(at, name, mode) == 0)
			next = in_root(run, prefix, O_PATH | O_DIRECTORY, 0);
		close(at);
		if (next < 0)
			return -1;
		at = next;
	}
	return at;
}

/* The kernel's own words about a failed mount: the last line of the context's log. */
static void keep_log(struct ops_run *run, int fs)
{
	int keep = errno;
	ssize_t n = read(fs, run->detail, sizeof(run->detail) - 1);

	run->detail[n > 0 ? n : 0] = '\0';
	errno = keep;
}

static int set_options(int fs, const char *options)
{
	char one[PATH_LEN];

	while (options && *options) {
		const char *end = strchr(options, '\n');
		size_t n = end ? (size_t)(end - options) : strlen(options);
		char *eq;
		int rc;

		if (n >= sizeof(one)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(one, options, n);
		one[n] = '\0';
		eq = strchr(one, '=');
		if (eq)
			*eq++ = '\0';
		rc = fsconfig(fs, eq ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, one, eq, 0);
		if (rc < 0)
			return -1;
		options += n + (end ? 1 : 0);
	}
	return 0;
}

/* A new file system as a detached mount. Returns its descriptor or -1. */
static int make_fs(struct ops_run *run, const char *type, const char *options, uint64_t attr)
{
	int fs = fsopen(type, FSOPEN_CLOEXEC), mnt = -1;

	if (fs < 0)
		return -1;
	if (set_options(fs, options) < 0 || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		keep_log(run, fs);
	else
		mnt = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)attr);
	close(fs);
	return mnt;
}

static int attach(int mnt, int at, const char *name)
{
	return move_mount(mnt, "", at, name,
			  MOVE_MOUNT_F_EMPTY_PATH | (*name ? 0 : MOVE_MOUNT_T_EMPTY_PATH));
}

static int open_sources(struct ops *o, struct ops_run *run)
{
	for (size_t i = 0; i < o->n_source; i++) {
		struct ops_source *s = &o->source[i];
		struct mount_attr attr = { .attr_set = s->attr, .propagation = MS_PRIVATE };
		unsigned rec = s->recursive ? AT_RECURSIVE : 0;

		run->at_source = (int)i;
		if (s->fd < 0)
			s->fd = open_tree(AT_FDCWD, s->path,
					  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | rec);
		if (s->fd < 0 && s->optional)
			continue;
		if (s->fd < 0 ||
		    mount_setattr(s->fd, "", AT_EMPTY_PATH | rec, &attr, sizeof(attr)) < 0)
			return -1;
	}
	run->at_source = -1;
	return 0;
}

/* A tmpfs of our own over a directory that every host has; the old root goes away with it. */
static int make_stage(struct ops_run *run)
{
	static const char *const places[] = { "/tmp", "/run", "/var/tmp", "/mnt" };
	int mnt = make_fs(run, "tmpfs", "mode=0755", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);

	if (mnt < 0)
		return -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (move_mount(mnt, "", AT_FDCWD, places[i], MOVE_MOUNT_F_EMPTY_PATH) < 0)
			continue;
		run->stage = mnt;
		return fchdir(mnt) < 0 || mkdir("root", 0755) < 0 || mkdir(OPS_SKELETON, 0755) < 0
			       ? -1
			       : 0;
	}
	close(mnt);
	return -1;
}

static int take_root(struct ops_run *run, int mnt)
{
	if (attach(mnt, run->stage, "root") < 0)
		return -1;
	close(run->root);
	run->root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return run->root < 0 ? -1 : 0;
}

static int do_layer(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	if (mkdir(r->dst, 0755) < 0)
		return -1;
	return attach(o->source[r->source].fd, run->stage, r->dst);
}

static int attach_in_root(struct ops_run *run, int mnt, const char *dst)
{
	int at = in_root(run, dst, O_PATH, 0);
	int rc;

	if (at < 0)
		return -1;
	rc = attach(mnt, at, "");
	close(at);
	return rc;
}

static int do_overlay(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	int mnt = make_fs(run, "overlay", r->text, r->attr);
	int rc;

	(void)o; /* layers were attached before */
	if (mnt < 0)
		return -1;
	rc = r->dst ? attach_in_root(run, mnt, r->dst) : take_root(run, mnt);
	close(mnt);
	return rc;
}

static int do_bind(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	return attach_in_root(run, o->source[r->source].fd, r->dst);
}

static int do_self(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	struct mount_attr attr = { .attr_set = r->attr };
	int at = in_root(run, r->dst, O_PATH, 0);
	int mnt, rc = -1;

	(void)o; /* needs no source */
	if (at < 0)
		return -1;
	mnt = open_tree(at, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (mnt >= 0) {
		if (mount_setattr(mnt, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) == 0)
			rc = attach(mnt, at, "");
		close(mnt);
	}
	close(at);
	return rc;
}

static int do_fs(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	int mnt = make_fs(run, r->extra, r->text, r->attr);
	int rc;

	(void)o; /* needs no source */
	if (mnt < 0)
		return -1;
	rc = attach_in_root(run, mnt, r->dst);
	close(mnt);
	return rc;
}

static int do_dir(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	char name[256];
	int at, rc;

	(void)o; /* needs no source */
	at = in_root(run, r->dst, O_PATH | O_DIRECTORY | (r->real ? O_NOFOLLOW : 0), 0);
	if (at >= 0) {
		close(at);
		return 0;
	}
	at = parent_of(run, r->dst, 0755, name);
	if (at < 0)
		return -1;
	if (r->real)
		(void)unlinkat(at, name, 0); /* ENOENT mostly; what stays shows in mkdir */
	rc = mkdirat(at, name, r->mode);     /* whole mode: the umask is 0 meanwhile */
	close(at);
	return rc;
}

static int do_symlink(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	char name[256];
	int at = parent_of(run, r->dst, 0755, name);
	int rc;

	(void)o; /* needs no source */
	if (at < 0)
		return -1;
	rc = symlinkat(r->text, at, name);
	if (rc < 0 && errno == EEXIST)
		rc = 0;
	close(at);
	return rc;
}

/* Open @r's destination for writing. A symlink that stands there is replaced, never followed. */
static int create(const struct ops_row *r, struct ops_run *run)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	char name[256];
	int at = parent_of(run, r->dst, 0755, name);
	int fd;

	if (at < 0)
		return -1;
	fd = openat(at, name, flags, r->mode);
	if (fd < 0 && errno == ELOOP && unlinkat(at, name, 0) == 0)
		fd = openat(at, name, flags, r->mode);
	close(at);
	return fd;
}

static int do_file(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	int fd, rc = 0;

	(void)o; /* needs no source */
	/* The mount point of a bound file: whatever file stands there serves. */
	if (r->source >= 0) {
		fd = in_root(run, r->dst, O_PATH, 0);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
	}
	fd = create(r, run);
	if (fd < 0)
		return -1;
	if (r->text)
		rc = fd_write_all(fd, r->text, strlen(r->text));
	close(fd);
	return rc;
}

static int copy_bytes(int in, int out)
{
	char buf[65536];
	size_t total = 0;
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0) {
		total += (size_t)n;
		if (total > COPY_MAX) {
			errno = EFBIG;
			return -1;
		}
		if (fd_write_all(out, buf, (size_t)n) < 0)
			return -1;
	}
	return n < 0 ? -1 : 0;
}

static int do_copy(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	int in = open(r->text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), out, rc = -1;
	struct stat st;

	(void)o; /* reads the host by path: the old root is still there */
	if (in < 0)
		return -1;
	out = fstat(in, &st) == 0 && S_ISREG(st.st_mode) ? create(r, run) : -1;
	if (out >= 0) {
		rc = copy_bytes(in, out);
		close(out);
	}
	close(in);
	return rc;
}

static int do_hide(struct ops *o, const struct ops_row *r, struct ops_run *run)
{
	uint64_t ro = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	int at = in_root(run, r->dst, O_PATH, 0);
	int mnt, rc = -1;
	struct stat st;

	(void)o; /* needs no source */
	if (at < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(at, &st) == 0 && S_ISDIR(st.st_mode)) {
		mnt = make_fs(run, "tmpfs", "mode=0555", ro);
	} else {
		int null = in_root(run, "/dev/null", O_PATH, 0);

		mnt = null < 0 ? -1
			       : open_tree(null, "",
					   AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		if (null >= 0)
			close(null);
	}
	if (mnt >= 0) {
		rc = attach(mnt, at, "");
		close(mnt);
	}
	close(at);
	return rc;
}

/* clang-format off */
static int (*const handlers[OPS_MAX])(struct ops *o, const struct ops_row *r,
				      struct ops_run *run) = {
	[OPS_LAYER]   = do_layer,
	[OPS_OVERLAY] = do_overlay,
	[OPS_BIND]    = do_bind,
	[OPS_SELF]    = do_self,
	[OPS_FS]      = do_fs,
	[OPS_DIR]     = do_dir,
	[OPS_SYMLINK] = do_symlink,
	[OPS_FILE]    = do_file,
	[OPS_COPY]    = do_copy,
	[OPS_HIDE]    = do_hide,
};
/* clang-format on */

static int pass(struct ops *o, struct ops_run *run, bool early)
{
	for (run->at = 0; run->at < o->n; run->at++) {
		const struct ops_row *r = &o->row[run->at];

		if (r->early != early || (r->source >= 0 && o->source[r->source].fd < 0))
			continue;
		if (handlers[r->kind](o, r, run) < 0 && !r->optional)
			return -1;
		run->detail[0] = '\0';
	}
	return 0;
}

int ops_run(struct ops *o, struct ops_run *run)
{
	run->stage = run->root = run->at_source = -1;
	run->at = SIZE_MAX; /* no row yet */
	run->detail[0] = '\0';
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	if (open_sources(o, run) < 0 || make_stage(run) < 0)
		return -1;
	run->root = open(OPS_SKELETON, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (run->root < 0 || pass(o, run, true) < 0 || pass(o, run, false) < 0)
		return -1;
	/* pivot_root(".", "."): the old root lies over the new one until it is detached
	 * (pivot_root(2), NOTES). */
	if (fchdir(run->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return -1;
	close(run->stage);
	return 0;
}
