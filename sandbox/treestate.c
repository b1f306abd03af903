#include "sandbox/treestate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "sandbox/overlaymark.h"

enum { DEPTH_MAX = 256 };

/* Digest of a file's contents, good while inode, size and change time stand. */
struct known {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec ctime;
	char sha256[DIGEST_HEX];
};

struct treestate {
	char *upper, *lower; /* owned */
	bool (*left_out)(void *arg, const char *path);
	void *arg;
	struct map known;            /* inode of either layer -> struct known, owned */
	struct treestate_file *last; /* owned: the state at the last look, sorted by path */
	size_t n_last;
};

/* The walk of one look. */
struct walk {
	struct treestate *ts;
	struct buf path;
	struct treestate_file *v; /* owned */
	size_t n, cap;
	uint64_t entries, bytes;
	const char *why;
};

/* clang-format off */
/* Whole path components. */
static const char *const cache_dirs[] = { "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
	".hypothesis", ".tox", ".nox", ".cache", ".nyc_output", ".eslintcache", ".gradle", NULL };
static const char *const cache_ends[] = { ".pyc", ".pyo", ".swp", "~", NULL };
/* clang-format on */

bool treestate_cache(const char *path)
{
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		for (size_t i = 0; cache_dirs[i]; i++) {
			if (n == strlen(cache_dirs[i]) && strncmp(p, cache_dirs[i], n) == 0)
				return true;
		}
		p += n + (p[n] == '/');
	}
	for (size_t i = 0; cache_ends[i]; i++) {
		if (str_ends(path, cache_ends[i]))
			return true;
	}
	return false;
}

struct treestate *treestate_new(const char *upper, const char *lower,
				bool (*left_out)(void *arg, const char *path), void *arg)
{
	struct treestate *ts = mem_zalloc(1, sizeof(*ts));

	ts->upper = mem_strdup(upper);
	ts->lower = mem_strdup(lower);
	ts->left_out = left_out;
	ts->arg = arg;
	return ts;
}

static void free_files(struct treestate_file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].path);
	free(v);
}

struct treestate *treestate_free(struct treestate *ts)
{
	if (!ts)
		return NULL;
	map_each (s, &ts->known)
		free(s->val);
	map_done(&ts->known);
	free_files(ts->last, ts->n_last);
	free(ts->upper);
	free(ts->lower);
	free(ts);
	return NULL;
}

void treestate_look_done(struct treestate_look *l)
{
	free_files(l->change, l->n_changes);
	*l = (struct treestate_look){ 0 };
}

/* --- contents ---------------------------------------------------------------------------------- */

static uint64_t key_of(const struct stat *st)
{
	return (uint64_t)st->st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)st->st_dev;
}

static bool still(const struct known *k, const struct stat *st)
{
	return k->dev == st->st_dev && k->ino == st->st_ino && k->size == st->st_size &&
	       k->ctime.tv_sec == st->st_ctim.tv_sec && k->ctime.tv_nsec == st->st_ctim.tv_nsec;
}

static void remember(struct treestate *ts, const struct stat *st, const char *sha256)
{
	struct known *k = map_get(&ts->known, key_of(st));

	if (!k) {
		k = mem_zalloc(1, sizeof(*k));
		map_put(&ts->known, key_of(st), k);
	}
	k->dev = st->st_dev;
	k->ino = st->st_ino;
	k->size = st->st_size;
	k->ctime = st->st_ctim;
	memcpy(k->sha256, sha256, DIGEST_HEX);
}

/* A file that its owner may not read belongs to the agent all the same: its mode is put back. */
static int open_file(int dir, const char *name, const struct stat *st, bool unlock)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 || errno != EACCES || !unlock)
		return fd;
	if (fchmodat(dir, name, (st->st_mode & 07777) | 0400, 0) < 0)
		return -1;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fchmodat(dir, name, st->st_mode & 07777, 0) < 0)
		mem_close(&fd);
	return fd;
}

static bool digest_file(struct walk *w, int dir, const char *name, const struct stat *st,
			bool unlock, char out[DIGEST_HEX])
{
	const struct known *k = map_get(&w->ts->known, key_of(st));
	auto_fd int fd = -1;

	if (k && still(k, st)) {
		memcpy(out, k->sha256, DIGEST_HEX);
		return true;
	}
	if ((uint64_t)st->st_size > TREESTATE_BYTES_MAX - w->bytes) {
		w->why = "the changed files have too many bytes";
		return false;
	}
	w->bytes += (uint64_t)st->st_size;
	fd = open_file(dir, name, st, unlock);
	if (fd < 0 || digest_fd(fd, (uint64_t)st->st_size + 1, out) < 0) {
		w->why = "a changed file cannot be read";
		return false;
	}
	remember(w->ts, st, out);
	return true;
}

/* Fill kind and digest of @name in directory @dir. False: the walk is over. */
static bool describe(struct walk *w, int dir, const char *name, const struct stat *st, bool unlock,
		     struct treestate_file *f)
{
	char target[PATH_MAX];
	ssize_t n;

	if (S_ISREG(st->st_mode)) {
		f->kind = st->st_mode & S_IXUSR ? 'x' : 'f';
		return digest_file(w, dir, name, st, unlock, f->sha256);
	}
	if (!S_ISLNK(st->st_mode)) {
		f->kind = 'o';
		return true;
	}
	f->kind = 'l';
	n = readlinkat(dir, name, target, sizeof(target));
	if (n < 0)
		w->why = "a link cannot be read";
	else
		digest_bytes(target, (size_t)n, f->sha256);
	return n >= 0;
}

/* --- the walk ---------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_path(const void *a, const void *b)
{
	const struct treestate_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static bool list(struct walk *w, int dir, struct strv *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		mem_close(&fd);
		w->why = "a directory cannot be read";
		return false;
	}
	while ((de = readdir(d))) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		if (w->entries++ >= TREESTATE_FILES_MAX) {
			w->why = "too many files were changed";
			break;
		}
		strv_add(ret, de->d_name);
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return !w->why;
}

static bool counts(const struct walk *w)
{
	const char *path = buf_str(&w->path);

	return !treestate_cache(path) && !(w->ts->left_out && w->ts->left_out(w->ts->arg, path));
}

static void add(struct walk *w, const struct treestate_file *f)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->v = mem_realloc(w->v, w->cap, sizeof(*w->v));
	}
	w->v[w->n] = *f;
	w->v[w->n++].path = mem_strdup(buf_str(&w->path));
}

/* Directories of both layers at the walk's place. */
struct place {
	int upper, lower; /* lower -1 = none */
	bool fresh;       /* an opaque directory is at or above: what only lower has is gone */
	unsigned depth;
};

static bool walk_dir(struct walk *w, const struct place *p);

/* Append @name to the path. */
static bool push(struct walk *w, const char *name)
{
	if ((!w->path.len || buf_addc(&w->path, '/') == 0) && buf_adds(&w->path, name) == 0)
		return true;
	w->why = "a path is too long";
	return false;
}

static void pop(struct walk *w, size_t len)
{
	w->path.len = len;
	w->path.data[len] = '\0';
}

static bool walk_gone(struct walk *w, int dir, unsigned depth);

/* What directory @dir of lower has under @name is gone. The path names it already. */
static bool gone(struct walk *w, int dir, const char *name, unsigned depth)
{
	struct treestate_file f = { .kind = '-' };
	auto_fd int sub = -1;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	if (S_ISDIR(st.st_mode)) {
		sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return sub < 0 || walk_gone(w, sub, depth + 1);
	}
	if (counts(w))
		add(w, &f);
	return true;
}

/* All files of lower directory @dir are gone. */
static bool walk_gone(struct walk *w, int dir, unsigned depth)
{
	auto_strv names = { 0 };

	if (depth > DEPTH_MAX) {
		w->why = "directories are too deep";
		return false;
	}
	if (!list(w, dir, &names))
		return false;
	strv_each (i, &names) {
		size_t len = w->path.len;
		bool ok = push(w, names.v[i]) && gone(w, dir, names.v[i], depth);

		pop(w, len);
		if (!ok)
			return false;
	}
	return true;
}

static bool same(const struct treestate_file *a, const struct treestate_file *b)
{
	return a->kind == b->kind && strcmp(a->sha256, b->sha256) == 0;
}

/* A name that is no directory in upper. */
static bool take_file(struct walk *w, const struct place *p, const char *name,
		      const struct stat *st)
{
	struct treestate_file now = { .kind = '-' }, was = { .kind = '-' };
	struct stat low;
	bool under = p->lower >= 0 && fstatat(p->lower, name, &low, AT_SYMLINK_NOFOLLOW) == 0;

	if (under && S_ISDIR(low.st_mode)) {
		if (!gone(w, p->lower, name, p->depth))
			return false;
		under = false;
	}
	if (!counts(w))
		return true;
	if (!overlaymark_whiteout(p->upper, name, st) &&
	    !describe(w, p->upper, name, st, true, &now))
		return false;
	if (under && !describe(w, p->lower, name, &low, false, &was))
		return false;
	if (!same(&now, &was))
		add(w, &now);
	return true;
}

static bool take_dir(struct walk *w, const struct place *p, const char *name)
{
	struct place sub = { .lower = -1, .depth = p->depth + 1 };
	auto_fd int upper = openat(p->upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	auto_fd int lower = -1;
	struct stat low;

	if (upper < 0 || sub.depth > DEPTH_MAX) {
		w->why = upper < 0 ? "a directory cannot be read" : "directories are too deep";
		return false;
	}
	if (p->lower >= 0 && fstatat(p->lower, name, &low, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISDIR(low.st_mode))
			lower = openat(p->lower, name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		else if (counts(w))
			add(w, &(struct treestate_file){ .kind = '-' });
	}
	sub.upper = upper;
	sub.lower = lower;
	sub.fresh = p->fresh || overlaymark_opaque(upper);
	return walk_dir(w, &sub);
}

/* What is hidden by an opaque directory and not there again. */
static bool walk_hidden(struct walk *w, const struct place *p, const struct strv *upper)
{
	auto_strv names = { 0 };

	if (!list(w, p->lower, &names))
		return false;
	strv_each (i, &names) {
		size_t len = w->path.len;
		bool ok = true;

		if (upper->n &&
		    bsearch(&names.v[i], upper->v, upper->n, sizeof(*upper->v), by_name))
			continue;
		ok = push(w, names.v[i]) && gone(w, p->lower, names.v[i], p->depth);
		pop(w, len);
		if (!ok)
			return false;
	}
	return true;
}

static bool walk_dir(struct walk *w, const struct place *p)
{
	auto_strv names = { 0 };

	if (!list(w, p->upper, &names))
		return false;
	strv_each (i, &names) {
		size_t len = w->path.len;
		struct stat st;
		bool ok;

		if ((!len && str_eq(names.v[i], ".git")) ||
		    fstatat(p->upper, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		ok = push(w, names.v[i]);
		if (ok && S_ISDIR(st.st_mode))
			ok = treestate_cache(buf_str(&w->path)) || take_dir(w, p, names.v[i]);
		else if (ok)
			ok = take_file(w, p, names.v[i], &st);
		pop(w, len);
		if (!ok)
			return false;
	}
	return !p->fresh || p->lower < 0 || walk_hidden(w, p, &names);
}

/* --- the look ---------------------------------------------------------------------------------- */

static void digest_state(const struct walk *w, char out[DIGEST_HEX])
{
	struct digest *d = digest_new();

	for (size_t i = 0; i < w->n; i++) {
		digest_add(d, w->v[i].path, strlen(w->v[i].path) + 1);
		digest_add(d, &w->v[i].kind, 1);
		digest_add(d, w->v[i].sha256, strlen(w->v[i].sha256) + 1);
	}
	digest_end(d, out);
}

static void note(struct treestate_look *l, const struct treestate_file *f, char kind)
{
	struct treestate_file *c;

	l->change = mem_realloc(l->change, l->n_changes + 1, sizeof(*l->change));
	c = &l->change[l->n_changes++];
	*c = *f;
	c->path = mem_strdup(f->path);
	if (kind) {
		c->kind = kind;
		c->sha256[0] = '\0';
	}
}

/* What differs between the last state and this one. */
static void compare(const struct treestate *ts, const struct walk *w, struct treestate_look *l)
{
	size_t i = 0, k = 0;

	while (i < ts->n_last || k < w->n) {
		int c = i == ts->n_last ? 1
			: k == w->n     ? -1
					: strcmp(ts->last[i].path, w->v[k].path);

		if (c < 0)
			note(l, &ts->last[i++], '=');
		else if (c > 0)
			note(l, &w->v[k++], 0);
		else {
			if (!same(&ts->last[i], &w->v[k]))
				note(l, &w->v[k], 0);
			i++;
			k++;
		}
	}
}

int treestate_look(struct treestate *ts, struct treestate_look *ret, struct err *err)
{
	struct walk w = { .ts = ts, .path = BUF_INIT(PATH_MAX) };
	auto_fd int upper = open(ts->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int lower = open(ts->lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct place top = { .upper = upper, .lower = lower };

	*ret = (struct treestate_look){ 0 };
	if (upper < 0)
		return err_sys(err, "cannot open %s", ts->upper);
	(void)walk_dir(&w, &top); /* what is wrong stands in w.why */
	buf_done(&w.path);
	if (w.n)
		qsort(w.v, w.n, sizeof(*w.v), by_path);
	ret->files = w.n;
	ret->why = w.why;
	if (!w.why)
		digest_state(&w, ret->sha256);
	compare(ts, &w, ret);
	free_files(ts->last, ts->n_last);
	ts->last = w.v;
	ts->n_last = w.n;
	return 0;
}
