#include "sandbox/snapshot.h"

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
#include "base/path.h"
#include "base/str.h"
#include "sandbox/overlaymark.h"
#include "sandbox/snapshot_internal.h"

enum { DEPTH_MAX = 256 };

/* A file is as it was while these stand. */
struct sign {
	dev_t dev;
	ino_t ino;
	off_t size;
	mode_t mode;
	struct timespec ctime;
};

/* An entry with what it is known by. */
struct held {
	struct snapshot_entry e;
	struct sign sign;
	bool given; /* not made by the box: passed over */
	bool lost;  /* was given and is there no more */
};

struct layer {
	char *upper;    /* owned; NULL = none */
	struct held *v; /* owned: at the last look, sorted by path */
	size_t n;
};

struct snapshot {
	int store; /* owned */
	uint64_t stored;
	struct layer layer[SNAPSHOT_AREAS];
};

/* The walk of one layer. */
struct walk {
	struct snapshot *s;
	const struct layer *was;
	struct buf path;
	struct held *v; /* owned */
	size_t n, cap;
	bool given; /* nothing is kept: what is there belongs to the box's making */
	uint64_t stored;
	const char *why;
	char *where; /* owned */
};

const char *snapshot_area_name(enum snapshot_area area)
{
	static const char *const names[] = { "workspace", "box" };

	return names[area];
}

void snapshot_entry_done(struct snapshot_entry *e)
{
	free(e->path);
	free(e->link);
	*e = (struct snapshot_entry){ 0 };
}

void snapshot_look_done(struct snapshot_look *l)
{
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		for (size_t i = 0; i < l->n[a]; i++)
			snapshot_entry_done(&l->v[a][i]);
		free(l->v[a]);
	}
	free(l->where);
	*l = (struct snapshot_look){ 0 };
}

static void free_held(struct held *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		snapshot_entry_done(&v[i].e);
	free(v);
}

struct snapshot *snapshot_free(struct snapshot *s)
{
	if (!s)
		return NULL;
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		free_held(s->layer[a].v, s->layer[a].n);
		free(s->layer[a].upper);
	}
	mem_close(&s->store);
	free(s);
	return NULL;
}

int snapshot_new(const char *store, struct snapshot **ret, struct err *err)
{
	struct snapshot *s = mem_zalloc(1, sizeof(*s));

	s->store = -1;
	if (mkdir(store, 0755) == 0)
		s->store = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->store < 0) {
		snapshot_free(s);
		return err_sys(err, "cannot make %s", store);
	}
	*ret = s;
	return 0;
}

/* --- the walk ------------------------------------------------------------------------------------ */

static bool stop(struct walk *w, const char *why)
{
	if (!w->why) {
		w->why = why;
		w->where = mem_strdup(buf_str(&w->path));
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_path(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return strcmp(x->e.path, y->e.path);
}

static const struct held *find(const struct layer *l, const char *path)
{
	struct held key = { .e.path = (char *)path };

	return l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), by_path) : NULL;
}

static bool list(struct walk *w, int dir, struct strv *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;

	if (!d) {
		mem_close(&fd);
		return stop(w, "a directory cannot be read");
	}
	while ((de = readdir(d)) && !w->why) {
		if (str_eq(de->d_name, ".") || str_eq(de->d_name, ".."))
			continue;
		if (w->n + ret->n >= SNAPSHOT_ENTRIES_MAX)
			(void)stop(w, "too many files were changed"); /* the loop ends by it */
		strv_add(ret, de->d_name);
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return !w->why;
}

static bool same_sign(const struct sign *a, const struct sign *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mode == b->mode &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

/* Contents and digest of the file @name of directory @dir. */
static bool keep_file(struct walk *w, int dir, const char *name, struct snapshot_entry *e)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint64_t left = SNAPSHOT_STORE_MAX - w->s->stored - w->stored, stored;

	if (e->size > SNAPSHOT_FILE_MAX)
		return stop(w, "a changed file has more than 1 GiB");
	if (fd < 0 || digest_fd(fd, e->size + 1, e->sha256) < 0)
		return stop(w, "a changed file cannot be read");
	switch (snapshot_store(w->s->store, fd, e, left, &stored)) {
	case 0:
		w->stored += stored;
		return true;
	case 1:
		return stop(w, "the kept contents would be more than 4 GiB");
	default:
		return stop(w, "a changed file cannot be copied into the run's directory");
	}
}

/* Fill @h from what is there. False: the walk is over; *ret_skip: nothing that is kept. */
static bool describe(struct walk *w, int dir, const char *name, const struct stat *st,
		     struct held *h, bool *ret_skip)
{
	const struct held *was = find(w->was, buf_str(&w->path));
	struct snapshot_entry *e = &h->e;
	char target[PATH_MAX];
	ssize_t n;

	h->sign = (struct sign){ st->st_dev, st->st_ino, st->st_size, st->st_mode, st->st_ctim };
	h->given = w->given || (was && was->given && same_sign(&was->sign, &h->sign));
	e->mode = st->st_mode & 01777;
	*ret_skip = false;
	if (overlaymark_whiteout(dir, name, st)) {
		e->kind = '-';
		e->mode = 0;
	} else if (S_ISREG(st->st_mode)) {
		e->kind = 'f';
		e->size = (uint64_t)st->st_size;
		e->mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
		if (h->given)
			return true;
		if (!was || was->given || was->e.kind != 'f' || !same_sign(&was->sign, &h->sign))
			return keep_file(w, dir, name, e);
		memcpy(e->sha256, was->e.sha256, DIGEST_HEX);
	} else if (S_ISLNK(st->st_mode)) {
		e->kind = 'l';
		n = readlinkat(dir, name, target, sizeof(target));
		if (n < 0 || n == (ssize_t)sizeof(target))
			return stop(w, "a link cannot be read");
		e->link = mem_strndup(target, (size_t)n);
	} else if (S_ISFIFO(st->st_mode)) {
		e->kind = 'p';
	} else {
		*ret_skip = !S_ISDIR(st->st_mode);
		e->kind = 'd';
	}
	return true;
}

static bool walk_dir(struct walk *w, int dir, unsigned depth);

static bool take(struct walk *w, int dir, const char *name, unsigned depth)
{
	struct held h = { 0 };
	auto_fd int sub = -1;
	bool skip;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return true;
	if (!describe(w, dir, name, &st, &h, &skip) || skip) {
		snapshot_entry_done(&h.e);
		return skip;
	}
	if (h.e.kind == 'd') {
		sub = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0 || depth >= DEPTH_MAX)
			return stop(w, sub < 0 ? "a directory cannot be read"
					       : "directories are too deep");
		h.e.opaque = overlaymark_opaque(sub);
	}
	h.e.path = mem_strdup(buf_str(&w->path));
	MEM_GROW(w->v, w->cap, w->n + 1);
	w->v[w->n++] = h;
	return sub < 0 || walk_dir(w, sub, depth + 1);
}

static bool walk_dir(struct walk *w, int dir, unsigned depth)
{
	auto_strv names = { 0 };

	if (!list(w, dir, &names))
		return false;
	strv_each (i, &names) {
		size_t len = w->path.len;
		bool ok = (!len || buf_addc(&w->path, '/') == 0) &&
			  buf_adds(&w->path, names.v[i]) == 0;

		ok = ok ? take(w, dir, names.v[i], depth) : stop(w, "a path is too long");
		w->path.len = len;
		w->path.data[len] = '\0';
		if (!ok)
			return false;
	}
	return true;
}

static int walk_layer(struct snapshot *s, struct layer *l, bool given, struct walk *w,
		      struct err *err)
{
	auto_fd int dir = open(l->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*w = (struct walk){ .s = s, .was = l, .path = BUF_INIT(PATH_MAX), .given = given };
	if (dir < 0)
		return err_sys(err, "cannot open %s", l->upper);
	buf_adds(&w->path, "");
	(void)walk_dir(w, dir, 0); /* what is wrong stands in w->why */
	buf_done(&w->path);
	if (w->n)
		qsort(w->v, w->n, sizeof(*w->v), by_path);
	return 0;
}

int snapshot_add(struct snapshot *s, enum snapshot_area area, const char *upper, struct err *err)
{
	struct layer *l = &s->layer[area];
	struct walk w;
	int rc;

	free(l->upper);
	l->upper = mem_strdup(upper);
	rc = walk_layer(s, l, true, &w, err);
	if (rc < 0)
		return rc;
	if (w.why)
		rc = err_set(err, ERR_HOST, "cannot tell what is in %s: %s", upper, w.why);
	free(w.where);
	free_held(l->v, l->n);
	l->v = w.v;
	l->n = w.n;
	return rc;
}

/* --- differences --------------------------------------------------------------------------------- */

static void note(struct snapshot_look *l, int area, const struct snapshot_entry *e, char kind)
{
	struct snapshot_entry *c;

	MEM_GROW(l->v[area], l->cap[area], l->n[area] + 1);
	c = &l->v[area][l->n[area]++];
	if (kind)
		*c = (struct snapshot_entry){ .kind = kind };
	else
		*c = *e;
	c->path = mem_strdup(e->path);
	c->link = kind ? NULL : mem_strdup(e->link);
}

static bool same(const struct held *a, const struct held *b)
{
	const struct snapshot_entry *x = &a->e, *y = &b->e;

	return a->given == b->given && x->kind == y->kind && x->opaque == y->opaque &&
	       x->mode == y->mode && x->mtime == y->mtime && strcmp(x->sha256, y->sha256) == 0 &&
	       str_eq(x->link, y->link);
}

/* What was given and is there no more was removed by the box, and no mark in the layer tells of it. */
static void vanished(struct snapshot_look *l, int area, struct held *h, struct walk *w)
{
	struct held gone = { .e = { .kind = '-' }, .lost = true };

	if (!h->given && !h->lost) {
		note(l, area, &h->e, '=');
		return;
	}
	gone.e.path = mem_strdup(h->e.path);
	if (h->given)
		note(l, area, &gone.e, 0);
	MEM_GROW(w->v, w->cap, w->n + 1);
	w->v[w->n++] = gone;
}

static void compare(struct layer *was, struct walk *w, int area, struct snapshot_look *l)
{
	size_t i = 0, k = 0, now = w->n;

	while (i < was->n || k < now) {
		int c = i == was->n ? 1 : k == now ? -1 : strcmp(was->v[i].e.path, w->v[k].e.path);

		if (c < 0) {
			vanished(l, area, &was->v[i++], w);
			continue;
		}
		if (c > 0 ? !w->v[k].given : !same(&was->v[i], &w->v[k]))
			note(l, area, &w->v[k].e, 0);
		i += c == 0;
		k++;
	}
	if (w->n > now)
		qsort(w->v, w->n, sizeof(*w->v), by_path);
}

int snapshot_take(struct snapshot *s, struct snapshot_look *ret, struct err *err)
{
	struct walk w[SNAPSHOT_AREAS] = { 0 };
	int rc = 0;

	*ret = (struct snapshot_look){ 0 };
	for (int a = 0; rc == 0 && a < SNAPSHOT_AREAS; a++) {
		if (!s->layer[a].upper)
			continue;
		rc = walk_layer(s, &s->layer[a], false, &w[a], err);
		s->stored += w[a].stored;
		ret->stored += w[a].stored;
		if (w[a].why && !ret->why) {
			ret->why = w[a].why;
			ret->where = take_ptr(&w[a].where);
		}
	}
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		struct layer *l = &s->layer[a];

		if (rc == 0 && !ret->why && l->upper) {
			compare(l, &w[a], a, ret);
			free_held(l->v, l->n);
			l->v = take_ptr(&w[a].v);
			l->n = w[a].n;
			w[a].n = 0;
		}
		free_held(w[a].v, w[a].n);
		free(w[a].where);
	}
	return rc;
}
