#include "sandbox/imagecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/imagecache_dir_internal.h"
#include "sandbox/imagecache_internal.h"

/* The image of @id: 1 and a shared lock on it in *ret, 0 when it is not there, or negative. A removal
 * takes the lock alone and then the name, so a lock on a file that has its name is one on an image
 * that stays. */
static int take(const struct imagecache_dir *c, const char *id, int *ret, struct err *err)
{
	auto_free char *name = mem_printf("images/%s/use", id);
	auto_fd int fd = -1;
	struct stat ours, named;

	for (;;) {
		mem_close(&fd);
		fd = fd_open_beneath(c->fd, name, O_RDONLY, 0);
		if (fd < 0 && errno == ENOENT)
			return 0;
		if (fd < 0 || flock(fd, LOCK_SH) < 0 || fstat(fd, &ours) < 0)
			return err_sys(err, "cannot lock %s/%s", c->path, name);
		if (fstatat(c->fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    named.st_ino == ours.st_ino && named.st_dev == ours.st_dev)
			break;
	}
	(void)futimens(fd, NULL); /* when it was used last is for people only */
	*ret = take_fd(&fd);
	return 1;
}

struct build {
	const struct imagecache_dir *c;
	const struct image *im;
	struct imagecache_max left;
	int work; /* work/, owned */
};

/* Take what was made in work/ as complete: it is on the disk before it has its name. */
static int publish(const struct build *b, const char *made, const char *name, struct err *err)
{
	if (syncfs(b->work) < 0 || renameat(b->work, made, b->c->fd, name) < 0)
		return err_sys(err, "cannot put %s into %s", name, b->c->path);
	return 0;
}

static int new_dir(int at, const char *name, int *ret, struct err *err)
{
	if (mkdirat(at, name, 0755) < 0 || fchmodat(at, name, 0755, 0) < 0)
		return err_sys(err, "cannot make %s in the image cache", name);
	*ret = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? err_sys(err, "cannot open %s in the image cache", name) : 0;
}

static int take_layer(void *arg, size_t i, struct image_stream *s, struct err *err)
{
	struct build *b = arg;
	const struct image_layer *l = b->im->layers + i;
	auto_free char *name = mem_printf("layers/%s", l->diff_id);
	auto_fd int to = -1;
	int rc = new_dir(b->work, l->diff_id, &to, err);

	if (rc == 0)
		rc = imagecache_unpack(b->im->path, l, s, to, &b->left, err);
	return rc < 0 ? rc : publish(b, l->diff_id, name, err);
}

/* Unpack those layers that no other image brought. */
static int take_layers(struct build *b, struct err *err)
{
	const struct image_sink sink = { take_layer, b };
	auto_free bool *want = mem_zalloc(b->im->n_layers + 1, sizeof(*want));
	size_t n = 0;

	for (size_t i = 0; i < b->im->n_layers; i++) {
		auto_free char *name = mem_printf("layers/%s", b->im->layers[i].diff_id);

		want[i] = faccessat(b->c->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
		n += want[i];
	}
	log_info("unpacking %zu of the %zu layers of image %s", n, b->im->n_layers, b->im->path);
	return n ? image_layers(b->im, want, &sink, err) : 0;
}

static int write_file(int dir, const char *name, const char *text, struct err *err)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		return err_sys(err, "cannot write %s in the image cache", name);
	return 0;
}

static int put_together(struct build *b, struct err *err)
{
	auto_free char *name = mem_printf("images/%s", b->im->digest);
	auto_fd int dir = -1, root = -1;
	int rc = new_dir(b->work, "image", &dir, err);

	if (rc == 0)
		rc = new_dir(dir, "rootfs", &root, err);
	for (size_t i = 0; rc == 0 && i < b->im->n_layers; i++) {
		auto_free char *layer = mem_printf("layers/%s", b->im->layers[i].diff_id);
		auto_fd int from =
			openat(b->c->fd, layer, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		rc = from < 0 ? err_sys(err, "cannot open %s/%s", b->c->path, layer)
			      : imagecache_lay(b->im->path, from, root, &b->left, err);
	}
	if (rc == 0)
		rc = write_file(dir, "config.json", b->im->config, err);
	if (rc == 0)
		rc = write_file(dir, "use", "", err);
	return rc < 0 ? rc : publish(b, "image", name, err);
}

/* With the cache locked: whatever is in work/ was left by somebody who was killed. */
static int build(const struct imagecache_dir *c, const struct image *im,
		 const struct imagecache_max *max, struct err *err)
{
	struct build b = { .c = c, .im = im, .left = *max, .work = -1 };
	int rc = imagecache_dir_work(c, &b.work, err);

	if (rc == 0)
		rc = take_layers(&b, err);
	if (rc == 0) {
		b.left.entries = max->entries;
		rc = put_together(&b, err);
	}
	mem_close(&b.work);
	if (rc < 0)
		(void)fd_remove_tree(c->fd, "work"); /* the next one tries again */
	return rc;
}

static int find_or_build(const struct imagecache_dir *c, const struct image *im,
			 const struct imagecache_max *max, int *ret, struct err *err)
{
	auto_fd int lock = -1;
	int rc = take(c, im->digest, ret, err);

	if (rc != 0)
		return rc;
	rc = imagecache_dir_lock(c, &lock, err);
	if (rc == 0)
		rc = take(c, im->digest, ret, err);
	if (rc != 0)
		return rc;
	rc = build(c, im, max, err);
	if (rc == 0)
		rc = take(c, im->digest, ret, err);
	return rc == 0 ? err_set(err, ERR_SYS, "image %s vanished from %s", im->digest, c->path)
		       : rc;
}

/* An image that could not be read with its task. */
static int unreadable(const char *rootfs, struct err *err)
{
	struct image *im = NULL;
	int rc = image_read(rootfs, &im, err);

	image_free(im);
	return rc < 0 ? rc
		      : err_set(err, ERR_INPUT,
				"image %s was not there when its task was read; start again",
				rootfs);
}

int imagecache_root(const char *rootfs, const struct image *im, const struct imagecache_max *max,
		    struct imagecache_root *ret, struct err *err)
{
	static const struct imagecache_max usual = { IMAGECACHE_BYTES_MAX, IMAGECACHE_ENTRIES_MAX };
	struct imagecache_dir c = { .fd = -1 };
	int rc;

	*ret = (struct imagecache_root){ .use_fd = -1 };
	if (!im && image_is(rootfs))
		return unreadable(rootfs, err);
	if (!im) {
		ret->rootfs = mem_strdup(rootfs);
		return 0;
	}
	rc = imagecache_dir_open(true, &c, err);
	if (rc == 0)
		rc = find_or_build(&c, im, max ? max : &usual, &ret->use_fd, err);
	if (rc > 0)
		ret->rootfs = mem_printf("dir:%s/images/%s/rootfs", c.path, im->digest);
	imagecache_dir_close(&c);
	return rc < 0 ? rc : 0;
}

void imagecache_done(struct imagecache_root *r)
{
	free(take_ptr(&r->rootfs));
	mem_close(&r->use_fd);
}
