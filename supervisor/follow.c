#include "supervisor/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/access.h"
#include "supervisor/evidence.h"
#include "supervisor/procfs.h"
#include "supervisor/runanchor.h"

enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };

/* --- what a name leads to ------------------------------------------------------------------- */

/* A name of the box, looked up. */
struct place {
	char *abs;   /* owned: absolute in the box, not yet looked up; NULL = nothing is known */
	char *rel;   /* owned: relative to the workspace; NULL = elsewhere */
	mode_t mode; /* type of what is there, 0 = nothing */
};

static void place_done(struct place *pl)
{
	mem_auto_free(&pl->abs);
	mem_auto_free(&pl->rel);
	*pl = (struct place){ 0 };
}

/* Open @abs as the box sees it: absolute links and ".." stay in its root (openat2(2)). */
static int open_in_box(struct sup *s, const char *abs, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, s->box->root_fd, abs, &how, sizeof(how));
}

/* The part of absolute @path of the box below the workspace; NULL when it is not there. */
static const char *below_workspace(struct sup *s, const char *path)
{
	const char *ws = s->plan->task->workdir;
	size_t n = strlen(ws);

	return path_beneath(path, ws) && path[n] == '/' ? path + n + 1 : NULL;
}

/* Where our descriptor @fd leads, in the box's words. */
static char *where_is(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	return procfs_link(getpid(), name);
}

/* The part of @path behind a directory of proc(5) that is the caller's own; NULL when it is no such path. */
static const char *behind_proc(const char *path)
{
	static const char *const dirs[] = { "/proc/self/", "/proc/thread-self/", "/dev/" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		size_t n = strlen(dirs[i]);

		if (strncmp(path, dirs[i], n) == 0)
			return path + n;
	}
	return NULL;
}

/* Where @path leads when it begins with a link of proc(5) that only the caller can follow (/proc/self/cwd,
 * /proc/self/root, /proc/self/fd/3, /dev/fd/3); NULL when it does not. */
static char *through_proc(struct tracee *t, const char *path)
{
	static const char *const links[] = { "cwd", "root", "fd/" };
	const char *rest = behind_proc(path);
	auto_free char *name = NULL, *base = NULL;
	size_t n = 0;

	for (size_t i = 0; rest && !n && i < ARRAY_SIZE(links); i++)
		n = strncmp(rest, links[i], strlen(links[i])) == 0 ? strlen(links[i]) : 0;
	if (n && rest[n - 1] == '/')
		n += strspn(rest + n, "0123456789");
	if (!n || (rest[n] && rest[n] != '/'))
		return NULL;
	name = mem_printf("%.*s", (int)n, rest);
	base = procfs_link(t->tid, name);
	return base && base[0] == '/' ? mem_printf("%s%s", base, rest + n) : NULL;
}

static char *absolute(struct tracee *t, const char *path, int at)
{
	auto_free char *base = NULL;
	char name[32] = "cwd";
	char *led;

	if (path[0] == '/') {
		led = through_proc(t, path);
		return led ? led : mem_strdup(path);
	}
	if (at != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", at);
	base = procfs_link(t->tid, name);
	return base && base[0] == '/' ? mem_printf("%s/%s", base, path) : NULL;
}

/* The name itself is not there: it is in the directory above. */
static void look_up_parent(struct sup *s, struct place *pl)
{
	auto_free char *dir = NULL, *real = NULL;
	const char *base = path_base(pl->abs), *rel;
	auto_fd int fd = -1;

	if (!base[0] || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return;
	dir = path_dir(pl->abs);
	fd = open_in_box(s, dir, O_PATH | O_DIRECTORY);
	real = fd < 0 ? NULL : where_is(fd);
	if (!real)
		return;
	if (strcmp(real, s->plan->task->workdir) == 0) {
		pl->rel = mem_strdup(base);
		return;
	}
	rel = below_workspace(s, real);
	if (rel)
		pl->rel = path_join(rel, base);
}

/* Where @path leads, the last link of it followed when @last. Free with place_done(). */
static struct place look_up(struct sup *s, struct tracee *t, const char *path, int at, bool last)
{
	struct place pl = { .abs = absolute(t, path, at) };
	auto_free char *real = NULL;
	auto_fd int fd = -1;
	const char *rel;
	struct stat st;
	size_t n;

	if (!pl.abs)
		return pl;
	for (n = strlen(pl.abs); n > 1 && pl.abs[n - 1] == '/'; n--)
		pl.abs[n - 1] = '\0';
	fd = open_in_box(s, pl.abs, O_PATH | (last ? 0 : O_NOFOLLOW));
	if (fd < 0) {
		look_up_parent(s, &pl);
		return pl;
	}
	real = where_is(fd);
	rel = real ? below_workspace(s, real) : NULL;
	if (rel)
		pl.rel = mem_strdup(rel);
	if (fstat(fd, &st) == 0)
		pl.mode = st.st_mode & S_IFMT;
	return pl;
}

bool follow_leads_to_region(struct sup *s, struct tracee *t, const char *path, int at)
{
	auto_free char *abs = absolute(t, path, at);
	auto_fd int fd = abs ? open_in_box(s, abs, O_PATH) : -1;
	int file = fd < 0 ? -1 : watch_fd(&s->watch, getpid(), fd);

	return file >= 0 && !watch_bare(&s->watch, file);
}

/* --- taking files in ------------------------------------------------------------------------ */

/* Is this a file that may be followed at all? */
static bool wanted(struct sup *s, const char *rel)
{
	return path_is_tame(rel) &&
	       (engine_index(s->engine, rel) >= 0 || !wsrules_left_out(s->rules, rel));
}

static bool full(struct sup *s)
{
	struct buf *b;

	if (s->watch.n - s->watch.n_first < FOLLOW_MAX)
		return false;
	if (!s->follow_full) {
		s->follow_full = true;
		b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);
		tracerec_u64(b, "files_followed", FOLLOW_MAX);
		sink_end(s->sink);
	}
	return true;
}

/* Follow file @rel from now on. Its index, or -1. */
static int take_in(struct sup *s, const char *rel, bool absent)
{
	int i;

	watch_sync(&s->watch, s->engine);
	if (!wanted(s, rel))
		return -1;
	i = engine_index(s->engine, rel);
	if (i >= 0)
		return i;
	if (full(s))
		return -1;
	i = engine_follow(s->engine, rel, absent);
	watch_sync(&s->watch, s->engine);
	return i;
}

static bool take_off(uint64_t size, uint64_t *left)
{
	if (size > *left)
		return false;
	*left -= size;
	return true;
}

bool follow_afford(struct sup *s, int file, uint64_t *left)
{
	auto_fd int fd = -1;
	struct stat st;

	if (!watch_bare(&s->watch, file))
		return true;
	fd = fd_open_beneath(s->box->ws_fd, s->watch.file[file].path, O_PATH, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return true; /* it is gone: nothing is read */
	/* Beyond that size nothing of it is read at all. */
	return st.st_size > EVIDENCE_DIGEST_MAX || take_off((uint64_t)st.st_size, left);
}

/* --- opens ---------------------------------------------------------------------------------- */

/* Paths of the system that are only read: they are opened all the time, and no agent keeps its work there. */
static bool of_the_system(struct sup *s, const char *path)
{
	static const char *const dirs[] = { "/usr/", "/lib/",  "/lib32/", "/lib64/", "/libx32/",
					    "/bin/", "/sbin/", "/etc/",   "/sys/",   "/dev/" };

	if (path[0] != '/' || strstr(path, "/..") || below_workspace(s, path))
		return false;
	if (strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/dev/shm/", 9) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (strncmp(path, dirs[i], strlen(dirs[i])) == 0)
			return true;
	}
	return false;
}

static const char *scan_of(struct sup *s, struct tracee *t, const char *path)
{
	struct access a = access_of(t, ACCESS_OPEN, path, 0, 0);

	return engine_scan(s->engine, &a);
}

bool follow_hint(struct sup *s, struct tracee *t, const char *path, int at)
{
	const char *rel;

	if (!s->watch.everything || (t->flags & O_DIRECTORY))
		return false;
	if (t->flags & WRITES)
		return true;
	if ((at == AT_FDCWD || path[0] == '/') && of_the_system(s, path))
		return false;
	rel = path[0] == '/' ? below_workspace(s, path) : path;
	return !scan_of(s, t, rel ? rel : path);
}

void follow_open(struct sup *s, struct tracee *t, const char *path, int at)
{
	bool makes = (t->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	struct place pl;

	if (!s->watch.everything || !(t->flags & WRITES) || (t->flags & O_DIRECTORY))
		return;
	pl = look_up(s, t, path, at, !makes && !(t->flags & O_NOFOLLOW));
	if (pl.rel && pl.mode != S_IFDIR && wanted(s, pl.rel) &&
	    runanchor_before_edit(s, t->proc)) {
		/* what is there now may have been written by us */
		place_done(&pl);
		pl = look_up(s, t, path, at, !makes && !(t->flags & O_NOFOLLOW));
	}
	if (pl.rel && pl.mode == S_IFREG && !makes)
		(void)take_in(s, pl.rel, false); /* -1: it is none to follow */
	t->absent = pl.rel && !pl.mode;
	t->rel = take_ptr(&pl.rel);
	place_done(&pl);
}

/* Name in the workspace of descriptor @fd of @t, when it has one. Caller frees. */
static char *name_of(struct sup *s, struct tracee *t, int fd, struct stat *st)
{
	auto_free char *real = NULL;
	char name[32];
	const char *rel;

	if (procfs_fd_stat(t->tid, fd, st) < 0 || !S_ISREG(st->st_mode) || !st->st_nlink)
		return NULL;
	snprintf(name, sizeof(name), "fd/%d", fd);
	real = procfs_link(t->tid, name);
	rel = real ? below_workspace(s, real) : NULL;
	return rel ? mem_strdup(rel) : NULL;
}

int follow_opened(struct sup *s, struct tracee *t, int fd, int file)
{
	bool reads = (t->flags & O_ACCMODE) == O_RDONLY && !(t->flags & O_TRUNC);
	bool makes = (t->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	auto_free char *rel = NULL;
	struct stat st;
	bool known;

	if (!s->watch.everything || (file >= 0 && !watch_bare(&s->watch, file)) ||
	    (t->flags & O_PATH))
		return file;
	/* The number of a removed file may be another's by now: the name tells. */
	rel = name_of(s, t, fd, &st);
	if (!rel || (reads && scan_of(s, t, rel)))
		return -1;
	t->absent = makes || (t->absent && str_eq(rel, t->rel));
	known = engine_index(s->engine, rel) >= 0;
	file = take_in(s, rel, t->absent);
	if (file < 0)
		return -1;
	if (known && reads && watch_find(&s->watch, st.st_dev, st.st_ino) != file)
		access_changed(s, t->proc, file); /* somebody put another file here unseen */
	watch_identity(&s->watch, file, st.st_dev, st.st_ino);
	return file;
}

/* --- names ---------------------------------------------------------------------------------- */

static int at_of(const struct tracee *t, int i)
{
	return i < 0 ? AT_FDCWD : (int)t->call.arg[i];
}

static struct place first_of(struct sup *s, struct tracee *t)
{
	return t->path ? look_up(s, t, t->path, at_of(t, t->row->dirfd), t->row->op == OP_TRUNCATE)
		       : (struct place){ 0 };
}

static struct place second_of(struct sup *s, struct tracee *t)
{
	return t->path2 ? look_up(s, t, t->path2, at_of(t, t->row->dirfd2), false)
			: (struct place){ 0 };
}

static bool judged(const struct tracee *t)
{
	enum sys_op op = t->row->op;

	return op == OP_RENAME || op == OP_LINK || op == OP_UNLINK || op == OP_TRUNCATE;
}

static bool concerns(struct sup *s, const struct place *pl)
{
	return pl->rel && (pl->mode == S_IFDIR || wanted(s, pl->rel));
}

bool follow_concerns(struct sup *s, struct tracee *t)
{
	struct place a, b;
	bool yes;

	if (!s->watch.everything || !judged(t))
		return false;
	a = first_of(s, t);
	b = second_of(s, t);
	yes = concerns(s, &a) || concerns(s, &b);
	place_done(&a);
	place_done(&b);
	return yes;
}

/* Files of a directory that is renamed from @from to @to (workspace-relative or NULL). */
struct walk {
	struct sup *sup;
	const char *from, *to;
	unsigned left;
	uint64_t bytes; /* left */
};

static void take_both(struct walk *w, const char *below)
{
	if (w->from) {
		auto_free char *rel = path_join(w->from, below);

		(void)take_in(w->sup, rel, false); /* -1: none to follow */
	}
	if (w->to) {
		auto_free char *rel = path_join(w->to, below);

		(void)take_in(w->sup, rel, true); /* -1: none to follow */
	}
}

/* @fd is consumed; @below: the names so far, "" at the top. */
static void walk(struct walk *w, int fd, const char *below, unsigned depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *de;
	struct stat st;

	if (!d) {
		close(fd);
		return;
	}
	while (w->left && (de = readdir(d))) {
		auto_free char *name = mem_printf("%s%s%s", below, below[0] ? "/" : "", de->d_name);
		int sub = -1;

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		w->left--;
		if (de->d_type == DT_REG &&
		    fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    take_off((uint64_t)st.st_size, &w->bytes))
			take_both(w, name);
		if (de->d_type == DT_DIR && depth < FOLLOW_DEPTH_MAX && path_is_tame(name))
			sub = openat(dirfd(d), de->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			walk(w, sub, name, depth + 1);
	}
	closedir(d);
}

/* A new name for a file that need not have one yet (O_TMPFILE). */
static void take_link(struct sup *s, const struct place *to)
{
	if (to->rel && !to->mode)
		(void)take_in(s, to->rel, true); /* -1: none to follow */
}

/* What @from holds is about to be found at @to, or to go. */
static void take_names(struct sup *s, const struct place *from, const struct place *to)
{
	struct walk w = { s, from->rel, to->rel, FOLLOW_TREE_MAX, FOLLOW_BYTES_MAX };
	int fd;

	if (from->mode == S_IFREG && from->rel)
		(void)take_in(s, from->rel, false); /* -1: none to follow */
	if (from->mode == S_IFREG && to->rel && !to->mode)
		(void)take_in(s, to->rel, true); /* -1: none to follow */
	if (from->mode != S_IFDIR || (!from->rel && !to->rel))
		return;
	fd = open_in_box(s, from->abs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (fd >= 0)
		walk(&w, fd, "", 0);
}

/* Is it a file of ours, or is one to be there? Directories alone are no content. */
static bool changes(struct sup *s, const struct place *pl)
{
	return pl->rel && pl->mode != S_IFDIR && wanted(s, pl->rel);
}

void follow_names(struct sup *s, struct tracee *t)
{
	struct place a, b;

	if (!s->watch.everything || !judged(t))
		return;
	a = first_of(s, t);
	b = second_of(s, t);
	if ((changes(s, &a) || changes(s, &b)) && runanchor_before_edit(s, t->proc)) {
		place_done(&a);
		place_done(&b);
		a = first_of(s, t);
		b = second_of(s, t);
	}
	/* A directory moves with what is in it; rmdir(2) takes empty ones only. */
	if (t->row->op == OP_RENAME || a.mode == S_IFREG)
		take_names(s, &a, &b);
	if (t->row->op == OP_LINK)
		take_link(s, &b);
	if (t->row->op == OP_RENAME)
		take_names(s, &b, &a); /* replaced, or exchanged with the first */
	t->rel = take_ptr(&a.rel);
	t->rel2 = take_ptr(&b.rel);
	place_done(&a);
	place_done(&b);
}

static void judge(struct sup *s, struct process *p, int file)
{
	const char *path = s->watch.file[file].path;
	struct err err;

	if (engine_changed(s->engine, path, p->pid, p->cmd, p->argv.v, &err) < 0)
		sup_engine_failed(s, &err);
}

/* Is @path one of the names of the call, or below one? */
static bool renamed(const struct tracee *t, const char *path)
{
	return (t->rel && path_beneath(path, t->rel)) || (t->rel2 && path_beneath(path, t->rel2));
}

void follow_renamed(struct sup *s, struct tracee *t)
{
	uint64_t left = FOLLOW_BYTES_MAX;

	if (!s->watch.everything || (!t->rel && !t->rel2))
		return;
	/* All of them first: one may have become another. */
	for (size_t i = 0; i < s->watch.n; i++) {
		if (renamed(t, s->watch.file[i].path))
			watch_identify(&s->watch, (int)i);
	}
	for (size_t i = 0; i < s->watch.n; i++) {
		if (renamed(t, s->watch.file[i].path) && follow_afford(s, (int)i, &left))
			judge(s, t->proc, (int)i);
	}
	/* Only this one of these calls changes what other names lead to. */
	if (t->row->op == OP_TRUNCATE && t->rel && engine_index(s->engine, t->rel) >= 0)
		follow_others(s, t->proc, engine_index(s->engine, t->rel));
}

void follow_others(struct sup *s, struct process *p, int file)
{
	const struct watch_file f = s->watch.file[file];
	uint64_t left = FOLLOW_BYTES_MAX / 4;

	for (size_t i = 0; s->watch.everything && i < s->watch.n; i++) {
		const struct watch_file *g = &s->watch.file[i];
		bool same = (g->ino == f.ino && g->dev == f.dev) ||
			    (f.real_ino && g->real_ino == f.real_ino && g->real_dev == f.real_dev);

		if ((int)i != file && g->there && same && follow_afford(s, (int)i, &left))
			judge(s, p, (int)i);
	}
}
