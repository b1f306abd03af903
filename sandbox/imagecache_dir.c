#include "sandbox/imagecache_dir_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/imagecache_internal.h"

char *imagecache_path(void)
{
	const char *own = getenv("PROCTOR_IMAGES"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");

	if (own && *own)
		return mem_strdup(own);
	if (xdg && *xdg == '/')
		return path_join(xdg, "proctor/images");
	return path_join(home && *home == '/' ? home : "/", ".cache/proctor/images");
}

static int check_owner(const struct imagecache_dir *c, struct err *err)
{
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return err_sys(err, "cannot look at %s", c->path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(
			err, ERR_HOST,
			"image cache %s belongs to somebody else or can be written by others; "
			"set PROCTOR_IMAGES to a directory of your own",
			c->path);
	return 0;
}

int imagecache_dir_open(bool make, struct imagecache_dir *ret, struct err *err)
{
	auto_free char *path = imagecache_path();
	int rc = make ? fd_mkdirs(path, 0700, err) : 0;

	*ret = (struct imagecache_dir){ .path = rc == 0 ? realpath(path, NULL) : NULL, .fd = -1 };
	if (rc < 0)
		return rc;
	if (!ret->path && errno == ENOENT && !make)
		return 0;
	ret->fd = ret->path ? open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (ret->fd < 0)
		return err_set(
			err, ERR_HOST,
			"cannot open image cache %s: %s; set PROCTOR_IMAGES to a directory on a "
			"local disk",
			path, strerror(errno));
	rc = check_owner(ret, err);
	for (int i = 0; rc == 0 && i < 2; i++) {
		const char *name = i ? "layers" : "images";

		if (mkdirat(ret->fd, name, 0700) < 0 && errno != EEXIST)
			rc = err_sys(err, "cannot make %s/%s", ret->path, name);
	}
	return rc;
}

void imagecache_dir_close(struct imagecache_dir *c)
{
	free(take_ptr(&c->path));
	mem_close(&c->fd);
}

int imagecache_dir_lock(const struct imagecache_dir *c, int *ret, struct err *err)
{
	*ret = openat(c->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*ret < 0 || flock(*ret, LOCK_EX) < 0)
		return err_sys(err, "cannot lock image cache %s", c->path);
	return 0;
}

int imagecache_dir_work(const struct imagecache_dir *c, int *ret, struct err *err)
{
	if (fd_remove_tree(c->fd, "work") < 0 || mkdirat(c->fd, "work", 0700) < 0)
		return err_sys(err, "cannot make %s/work new", c->path);
	*ret = openat(c->fd, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? err_sys(err, "cannot open %s/work", c->path) : 0;
}

/* Names of directory @name that are digests. */
static void digests_in(const struct imagecache_dir *c, const char *name, struct strv *ret)
{
	int fd = openat(c->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (strlen(de->d_name) == DIGEST_HEX - 1 &&
		    strspn(de->d_name, "0123456789abcdef") == DIGEST_HEX - 1)
			strv_add(ret, de->d_name);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static int open_use(const struct imagecache_dir *c, const char *id, int64_t *ret_used)
{
	auto_free char *name = mem_printf("images/%s/use", id);
	int fd = fd_open_beneath(c->fd, name, O_RDONLY, 0);
	struct stat st = { 0 };

	if (fd >= 0 && fstat(fd, &st) == 0)
		*ret_used = st.st_mtim.tv_sec;
	return fd;
}

int imagecache_list(void (*each)(void *arg, const struct imagecache_entry *e), void *arg,
		    struct err *err)
{
	struct imagecache_dir c = { .fd = -1 };
	auto_strv ids = { 0 };
	int rc = imagecache_dir_open(false, &c, err);

	if (rc == 0 && c.fd >= 0)
		digests_in(&c, "images", &ids);
	strv_each (i, &ids) {
		struct imagecache_entry e = { .id = ids.v[i] };
		auto_free char *root = mem_printf("images/%s/rootfs", ids.v[i]);
		auto_fd int use = open_use(&c, ids.v[i], &e.used);

		if (use < 0)
			continue;
		e.busy = flock(use, LOCK_EX | LOCK_NB) < 0;
		e.bytes = fd_tree_bytes(c.fd, root, IMAGECACHE_ENTRIES_MAX);
		each(arg, &e);
	}
	imagecache_dir_close(&c);
	return rc;
}

/* diff_ids of an image that stays. */
static void keep_layers(const struct imagecache_dir *c, const char *id, struct strv *keep)
{
	auto_free char *name = mem_printf("images/%s/config.json", id);
	auto_fd int fd = fd_open_beneath(c->fd, name, O_RDONLY, 0);
	auto_buf text = BUF_INIT(IMAGE_JSON_MAX);
	struct json_src src = { 0 };
	const cJSON *v;

	if (fd < 0 || fd_read_all(fd, &text) < 0 ||
	    json_parse(name, buf_str(&text), text.len, &src, NULL) < 0)
		return;
	v = cJSON_GetObjectItemCaseSensitive(src.root, "rootfs");
	v = v ? cJSON_GetObjectItemCaseSensitive(v, "diff_ids") : NULL;
	for (v = v ? v->child : NULL; v; v = v->next) {
		if (cJSON_IsString(v) && str_starts(v->valuestring, "sha256:"))
			strv_add(keep, v->valuestring + strlen("sha256:"));
	}
	json_src_done(&src);
}

/* Move it away, then remove it: what has its name is whole. */
static int drop(const struct imagecache_dir *c, int work, const char *kind, const char *id,
		struct err *err)
{
	auto_free char *name = mem_printf("%s/%s", kind, id);

	if (renameat(c->fd, name, work, id) < 0 || fd_remove_tree(work, id) < 0)
		return err_sys(err, "cannot remove %s/%s", c->path, name);
	return 0;
}

static int prune(const struct imagecache_dir *c, int work, uint64_t age,
		 void (*each)(void *arg, const struct imagecache_entry *e), void *arg,
		 struct err *err)
{
	auto_strv ids = { 0 }, layers = { 0 }, keep = { 0 };
	int64_t now = (int64_t)time(NULL);
	int rc = 0;

	digests_in(c, "images", &ids);
	for (size_t i = 0; rc == 0 && i < ids.n; i++) {
		struct imagecache_entry e = { .id = ids.v[i] };
		auto_fd int use = open_use(c, ids.v[i], &e.used);

		if (e.used > now || (uint64_t)(now - e.used) < age ||
		    (use >= 0 && flock(use, LOCK_EX | LOCK_NB) < 0)) {
			keep_layers(c, ids.v[i], &keep);
			continue;
		}
		rc = drop(c, work, "images", ids.v[i], err);
		if (rc == 0)
			each(arg, &e);
	}
	digests_in(c, "layers", &layers);
	for (size_t i = 0; rc == 0 && i < layers.n; i++) {
		if (!strv_has(&keep, layers.v[i]))
			rc = drop(c, work, "layers", layers.v[i], err);
	}
	return rc;
}

int imagecache_prune(uint64_t age, void (*each)(void *arg, const struct imagecache_entry *e),
		     void *arg, struct err *err)
{
	struct imagecache_dir c = { .fd = -1 };
	auto_fd int lock = -1, work = -1;
	int rc = imagecache_dir_open(false, &c, err);

	if (rc == 0 && c.fd >= 0) {
		rc = imagecache_dir_lock(&c, &lock, err);
		if (rc == 0)
			rc = imagecache_dir_work(&c, &work, err);
		if (rc == 0)
			rc = prune(&c, work, age, each, arg, err);
	}
	imagecache_dir_close(&c);
	return rc;
}
