/* Unpacking one layer. Everything in it is hostile. */
#include "sandbox/imagecache_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

#define CHUNK      (128u << 10)
#define ENTRY_COST 4096u /* bytes that an entry takes beside its contents */

struct unpack {
	const char *image; /* borrowed, for errors */
	const struct image_layer *layer;
	struct imagecache_max *left;
	struct image_stream *from;
	struct archive *raw;       /* owned: takes compression away */
	struct archive *tar;       /* owned: reads what @raw gives */
	struct digest *sum, *diff; /* of what goes into @raw and what comes out; owned */
	uint64_t plain, plain_max; /* bytes that came out */
	bool empty;                /* nothing is behind the compression */
	char *in, *out;            /* chunks; owned */
	int root;                  /* borrowed */
	char *dir;                 /* directory in hand, owned; NULL = none */
	int dir_fd;
	char *path; /* member in hand, borrowed */
};

int imagecache_open_in(int root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int fail(const struct unpack *u, const char *why, struct err *err)
{
	return err_set(err, ERR_INPUT, "image %s: layer %.19s: %s%s%s", u->image, u->layer->diff_id,
		       u->path ? u->path : "", u->path ? ": " : "", why);
}

static int fail_archive(const struct unpack *u, struct archive *a, struct err *err)
{
	const char *why = archive_error_string(a);

	return fail(u, why ? why : "broken archive", err);
}

static int fail_sys(const struct unpack *u, struct err *err)
{
	/* These come from names in the archive; the others from our disk. */
	if (errno == ELOOP || errno == ENAMETOOLONG || errno == ENOTDIR || errno == EXDEV)
		return fail(u, strerror(errno), err);
	return err_sys(err, "cannot unpack %s of image %s", u->path ? u->path : "the top",
		       u->image);
}

static int too_large(const struct unpack *u, struct err *err)
{
	return err_set(err, ERR_INPUT,
		       "image %s unpacks to more than the %llu GiB or %u entries that an image may "
		       "have; use a smaller one",
		       u->image, IMAGECACHE_BYTES_MAX >> 30, IMAGECACHE_ENTRIES_MAX);
}

/* The bytes of the layer as they lie on the disk, for libarchive. */
static la_ssize_t read_packed(struct archive *a, void *arg, const void **ret)
{
	struct unpack *u = arg;
	ssize_t n = u->from->read(u->from, u->in, CHUNK);

	if (n < 0) {
		archive_set_error(a, EIO, "%s", u->from->why);
		return -1;
	}
	digest_add(u->sum, u->in, (size_t)n);
	*ret = u->in;
	return n;
}

/* The tar archive in it. */
static la_ssize_t read_plain(struct archive *a, void *arg, const void **ret)
{
	struct unpack *u = arg;
	la_ssize_t n = u->empty ? 0 : archive_read_data(u->raw, u->out, CHUNK);

	if (n < 0) {
		archive_set_error(a, EIO, "%s", archive_error_string(u->raw));
		return -1;
	}
	u->plain += (uint64_t)n;
	if (u->plain > u->plain_max) {
		archive_set_error(a, EFBIG, "the compressed archive is too large");
		return -1;
	}
	digest_add(u->diff, u->out, (size_t)n);
	*ret = u->out;
	return n;
}

static int open_layer(struct unpack *u, struct err *err)
{
	struct archive_entry *e;
	int rc;

	u->raw = archive_read_new();
	u->tar = archive_read_new();
	ensure(u->raw && u->tar, "libarchive gives a reader");
	/* Only filters that are built in: the others run programs of the host. */
	archive_read_support_filter_gzip(u->raw);
	archive_read_support_filter_bzip2(u->raw);
	archive_read_support_filter_xz(u->raw);
	archive_read_support_filter_zstd(u->raw);
	archive_read_support_format_raw(u->raw);
	archive_read_support_format_empty(u->raw);
	archive_read_support_format_tar(u->tar);
	archive_read_support_format_empty(u->tar);
	if (archive_read_open(u->raw, u, NULL, read_packed, NULL) != ARCHIVE_OK)
		return fail_archive(u, u->raw, err);
	rc = archive_read_next_header(u->raw, &e);
	u->empty = rc == ARCHIVE_EOF;
	if (rc != ARCHIVE_OK && rc != ARCHIVE_EOF)
		return fail_archive(u, u->raw, err);
	if (archive_read_open(u->tar, u, NULL, read_plain, NULL) != ARCHIVE_OK)
		return fail_archive(u, u->tar, err);
	return 0;
}

/* Name of a member or a hard link's target without "./", leading and final "/". NULL when it climbs,
 * or is too long or deep. Absolute names are meant in the image. Caller frees. */
static char *clean(const char *raw)
{
	unsigned depth = 0;
	char *out, *w;

	if (!raw || strlen(raw) >= PATH_MAX)
		return NULL;
	w = out = mem_alloc(strlen(raw) + 1);
	while (*raw) {
		size_t n = strcspn(raw, "/");

		if ((n == 2 && strncmp(raw, "..", 2) == 0) || n > NAME_MAX ||
		    (n && ++depth > IMAGECACHE_DEPTH_MAX)) {
			free(out);
			return NULL;
		}
		if (n && !(n == 1 && *raw == '.')) {
			if (w > out)
				*w++ = '/';
			memcpy(w, raw, n);
			w += n;
		}
		raw += n + (raw[n] == '/');
	}
	*w = '\0';
	return out;
}

static void forget_dir(struct unpack *u)
{
	free(take_ptr(&u->dir));
	mem_close(&u->dir_fd);
}

/* The directory @dir ("." = the top), made when it is not there. Levels are bounded by clean(). -1
 * with errno. */
static int open_dir(struct unpack *u, const char *dir)
{
	int fd = imagecache_open_in(u->root, dir, O_PATH | O_DIRECTORY);
	auto_fd int up = -1;
	auto_free char *above = NULL;

	if (fd >= 0 || errno != ENOENT || strcmp(dir, ".") == 0)
		return fd;
	above = path_dir(dir);
	up = open_dir(u, above);
	/* What is there and cannot be opened is a link to nowhere. */
	if (up < 0 || mkdirat(up, path_base(dir), 0755) < 0) {
		if (errno == EEXIST)
			errno = ELOOP;
		return -1;
	}
	if (fchmodat(up, path_base(dir), 0755, 0) < 0)
		return -1;
	return openat(up, path_base(dir), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The directory above @path, borrowed. Members come in the order of directories, so it is kept; what a
 * member takes away lies below it. */
static int dir_of(struct unpack *u, const char *path)
{
	auto_free char *dir = path_dir(path);

	if (u->dir && strcmp(u->dir, dir) == 0)
		return u->dir_fd;
	forget_dir(u);
	u->dir_fd = open_dir(u, dir);
	if (u->dir_fd >= 0)
		u->dir = take_ptr(&dir);
	return u->dir_fd;
}

/* Make way for a member: a later one of the same name wins. */
static int clear(int at, const char *name)
{
	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? fd_remove_tree(at, name) : -1;
}

static mode_t mode_of(struct archive_entry *e, bool dir)
{
	mode_t m = archive_entry_perm(e);

	return dir ? (m & 01777) | 0700 : (m & 0777) | 0600;
}

static int put_dir(struct archive_entry *e, int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode) &&
	    clear(at, name) < 0)
		return -1;
	if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return fchmodat(at, name, mode_of(e, true), 0);
}

static int make_file(int at, const char *name)
{
	return clear(at, name) < 0
		       ? -1
		       : openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				0600);
}

static int write_at(int fd, const char *p, size_t n, la_int64_t off)
{
	while (n) {
		ssize_t w = pwrite(fd, p, n, off);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -1;
		p += w;
		n -= (size_t)w;
		off += w;
	}
	return 0;
}

/* Contents of a file; holes stay holes. Its size was taken off before. */
static int put_file(struct unpack *u, struct archive_entry *e, int at, const char *name,
		    struct err *err)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT },
				 { .tv_sec = archive_entry_mtime(e),
				   .tv_nsec = archive_entry_mtime_nsec(e) } };
	auto_fd int fd = make_file(at, name);
	la_int64_t size = archive_entry_size(e), off;
	const void *p;
	size_t n;
	int rc;

	if (fd < 0)
		return fail_sys(u, err);
	while ((rc = archive_read_data_block(u->tar, &p, &n, &off)) == ARCHIVE_OK) {
		if (off < 0 || off > size || (la_int64_t)n > size - off)
			return fail(u, "more bytes than its size", err);
		if (write_at(fd, p, n, off) < 0)
			return fail_sys(u, err);
	}
	if (rc != ARCHIVE_EOF)
		return fail_archive(u, u->tar, err);
	if (ftruncate(fd, size) < 0 || fchmod(fd, mode_of(e, false)) < 0)
		return fail_sys(u, err);
	(void)futimens(fd, t); /* a time that the file system cannot hold */
	return 0;
}

static int put_text(int at, const char *name, const char *text)
{
	auto_fd int fd = make_file(at, name);

	return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

/* Is @name of @at the file @st? */
static bool is_same(int at, const char *name, const struct stat *st)
{
	struct stat here;

	return fstatat(at, name, &here, AT_SYMLINK_NOFOLLOW) == 0 && here.st_ino == st->st_ino &&
	       here.st_dev == st->st_dev;
}

static int put_hardlink(struct unpack *u, const char *raw, int at, const char *name,
			struct err *err)
{
	auto_free char *target = clean(raw), *dir = NULL;
	auto_fd int from = -1;
	struct stat st;

	if (!target || !*target)
		return fail(u, "a hard link that leads out of the image", err);
	dir = path_dir(target);
	from = imagecache_open_in(u->root, dir, O_PATH | O_DIRECTORY);
	if (from < 0 || fstatat(from, path_base(target), &st, AT_SYMLINK_NOFOLLOW) < 0) {
		auto_free char *mark = mem_printf(IMAGECACHE_LINK "%s", name);

		if (errno != ENOENT || clear(at, name) < 0 || put_text(at, mark, target) < 0)
			return fail_sys(u, err);
		return 0;
	}
	if (S_ISDIR(st.st_mode))
		return fail(u, "a hard link to a directory", err);
	if (is_same(at, name, &st))
		return 0;
	if (clear(at, name) < 0 || linkat(from, path_base(target), at, name, 0) < 0)
		return fail_sys(u, err);
	return 0;
}

/* It is kept as a name, and does its work when the layer is laid over others. */
static int put_whiteout(struct unpack *u, int at, const char *name, struct err *err)
{
	const char *hidden = name + strlen(IMAGECACHE_HIDDEN);

	if (strcmp(name, IMAGECACHE_OPAQUE) != 0 && str_starts(name, ".wh..wh."))
		return 0; /* bookkeeping of aufs */
	if (strcmp(name, IMAGECACHE_OPAQUE) != 0 &&
	    (!*hidden || strcmp(hidden, ".") == 0 || strcmp(hidden, "..") == 0))
		return fail(u, "a white-out of nothing", err);
	return put_text(at, name, "") < 0 ? fail_sys(u, err) : 0;
}

static int put(struct unpack *u, struct archive_entry *e, struct err *err)
{
	const char *name = path_base(u->path), *hard, *link;
	int at = dir_of(u, u->path);

	if (at < 0)
		return fail_sys(u, err);
	if (str_starts(name, IMAGECACHE_HIDDEN))
		return put_whiteout(u, at, name, err);
	hard = archive_entry_hardlink(e) ? archive_entry_hardlink(e)
					 : archive_entry_hardlink_utf8(e);
	if (hard)
		return put_hardlink(u, hard, at, name, err);
	switch (archive_entry_filetype(e)) {
	case AE_IFDIR:
		if (put_dir(e, at, name) < 0)
			return fail_sys(u, err);
		return 0;
	case AE_IFREG:
		return put_file(u, e, at, name, err);
	case AE_IFLNK:
		link = archive_entry_symlink(e) ? archive_entry_symlink(e)
						: archive_entry_symlink_utf8(e);
		if (!link || !*link || strlen(link) >= PATH_MAX)
			return fail(u, "a symbolic link without a usable target", err);
		if (clear(at, name) < 0 || symlinkat(link, at, name) < 0)
			return fail_sys(u, err);
		return 0;
	default: /* devices, pipes: the box has its own */
		return 0;
	}
}

/* Take what @e will cost off the bounds, before anything is written. */
static int charge(struct unpack *u, struct archive_entry *e, struct err *err)
{
	la_int64_t size = archive_entry_filetype(e) == AE_IFREG ? archive_entry_size(e) : 0;

	if (size < 0)
		return fail(u, "a file without a size", err);
	if (!u->left->entries || (uint64_t)size + ENTRY_COST < ENTRY_COST ||
	    (uint64_t)size + ENTRY_COST > u->left->bytes)
		return too_large(u, err);
	u->left->entries--;
	u->left->bytes -= (uint64_t)size + ENTRY_COST;
	return 0;
}

/* A white-out is a name, never a directory on the way. */
static bool is_tame(const char *path)
{
	const char *base = path_base(path);

	for (const char *s = strstr(path, IMAGECACHE_HIDDEN); s && s < base;
	     s = strstr(s + 1, IMAGECACHE_HIDDEN)) {
		if (s == path || s[-1] == '/')
			return false;
	}
	return true;
}

static int members(struct unpack *u, struct err *err)
{
	struct archive_entry *e;
	int got, rc = 0;

	while (rc == 0 && (got = archive_read_next_header(u->tar, &e)) != ARCHIVE_EOF) {
		auto_free char *path = NULL;
		const char *raw;

		u->path = NULL;
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			return fail_archive(u, u->tar, err);
		raw = archive_entry_pathname(e) ? archive_entry_pathname(e)
						: archive_entry_pathname_utf8(e);
		path = clean(raw);
		if (!path || !is_tame(path))
			return err_set(
				err, ERR_INPUT,
				"image %s: layer %.19s holds a member called \"%.200s\", which "
				"leads out of it or has no usable name",
				u->image, u->layer->diff_id, raw ? raw : "");
		u->path = path;
		rc = charge(u, e, err);
		if (rc == 0 && *path)
			rc = put(u, e, err);
		u->path = NULL;
	}
	return rc;
}

/* Read the rest, which belongs to the digests, and compare. */
static int check(struct unpack *u, struct err *err)
{
	char sum[DIGEST_HEX], diff[DIGEST_HEX];
	const void *p;
	la_ssize_t n;

	while ((n = read_plain(u->tar, u, &p)) > 0)
		;
	if (n < 0)
		return fail_archive(u, u->tar, err);
	while ((n = read_packed(u->raw, u, &p)) > 0)
		;
	if (n < 0)
		return fail_archive(u, u->raw, err);
	digest_end(take_ptr(&u->diff), diff);
	digest_end(take_ptr(&u->sum), sum);
	if (u->layer->sum[0] && strcmp(sum, u->layer->sum) != 0)
		return err_set(err, ERR_INPUT,
			       "image %s: layer %s has digest %s; copy the image again", u->image,
			       u->layer->sum, sum);
	if (strcmp(diff, u->layer->diff_id) != 0)
		return err_set(
			err, ERR_INPUT,
			"image %s: layer with diff_id %s unpacks to %s; copy the image again",
			u->image, u->layer->diff_id, diff);
	return 0;
}

int imagecache_unpack(const char *image, const struct image_layer *layer, struct image_stream *s,
		      int to, struct imagecache_max *left, struct err *err)
{
	struct unpack u = { .image = image,
			    .layer = layer,
			    .left = left,
			    .from = s,
			    .sum = digest_new(),
			    .diff = digest_new(),
			    /* headers and padding of each entry beside its contents */
			    .plain_max = left->bytes + (1u << 20),
			    .in = mem_alloc(CHUNK),
			    .out = mem_alloc(CHUNK),
			    .root = to,
			    .dir_fd = -1 };
	int rc = open_layer(&u, err);

	if (rc == 0)
		rc = members(&u, err);
	if (rc == 0)
		rc = check(&u, err);
	forget_dir(&u);
	archive_read_free(u.tar);
	archive_read_free(u.raw);
	free(u.in);
	free(u.out);
	if (u.sum || u.diff) {
		char unused[DIGEST_HEX];

		digest_end(u.sum, unused);
		digest_end(u.diff, unused);
	}
	return rc;
}
