#include "supervisor/on_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "base/path.h"
#include "supervisor/access.h"
#include "supervisor/calls_internal.h"
#include "supervisor/follow.h"
#include "supervisor/hold.h"
#include "supervisor/procfs.h"

/* Copy the path in argument @i, once. Length, or -1: the kernel will fail with EFAULT too. */
static ssize_t read_path(struct tracee *t, int i, char buf[PATH_MAX])
{
	if (i < 0)
		return -1;
	return pt_read_str(t->tid, (struct remote){ t->call.arg[i] }, buf, PATH_MAX);
}

/* The working directory as the box names it, remembered until chdir. */
static const char *cwd_of(struct process *p)
{
	if (!p->cwd)
		p->cwd = procfs_link(p->pid, "cwd");
	return p->cwd;
}

/* Path for the trace: absolute where that costs nothing. @at is the directory argument. */
static void record_path(struct buf *b, struct process *p, const char *key, const char *path,
			size_t n, int at)
{
	if (path[0] != '/' && at == AT_FDCWD) {
		const char *cwd = cwd_of(p);

		if (cwd) {
			auto_free char *whole = path_join(cwd, path);
			auto_free char *tidy = path_normal(whole);

			tracerec_str(b, key, tidy, strlen(tidy));
			return;
		}
	}
	tracerec_str(b, key, path, n);
	if (path[0] != '/' && at != AT_FDCWD)
		tracerec_i64(b, "at", at);
}

static int dir_arg(const struct tracee *t, int i)
{
	return i < 0 ? AT_FDCWD : (int)t->call.arg[i];
}

static uint64_t open_flags(struct tracee *t)
{
	struct open_how how = { 0 };

	if (t->row->flags < 0)
		return O_CREAT | O_WRONLY | O_TRUNC; /* creat(2) */
	if (t->call.nr != SYS_openat2)
		return t->call.arg[t->row->flags];
	if (pt_read(t->tid, (struct remote){ t->call.arg[2] }, &how, sizeof(how)) < 8)
		return 0;
	return how.flags;
}

void calls_denied(struct sup *s, struct tracee *t, const char *what, int64_t ret)
{
	const char *rule = ret == -EROFS    ? "filesystem: mounted read-only"
			   : ret == -EACCES ? "filesystem: permission or Landlock"
			   : ret == -EPERM  ? "syscalls: policy filter or permission"
			   : ret == -EDQUOT || ret == -ENOSPC ? "limits.disk"
							      : NULL;
	struct buf *b;

	if (!rule)
		return;
	sup_denied(s, what, rule);
	b = sup_record(s, TK_DENY, t);
	tracerec_str(b, "what", what, strlen(what));
	tracerec_str(b, "rule", rule, strlen(rule));
	tracerec_i64(b, "ret", ret);
	sink_end(s->sink);
}

/* Does the path count as a file of the workspace for the scan filter? */
static bool in_workspace(struct sup *s, struct process *p, const char *path, int at)
{
	const char *ws = s->plan->task->workdir, *cwd;

	if (path[0] == '/')
		return path_beneath(path, ws);
	if (at != AT_FDCWD)
		return true;
	cwd = cwd_of(p);
	return cwd && path_beneath(cwd, ws);
}

/* Can somebody change the @n bytes of argument @i between our look and the kernel's? */
static bool may_change(struct tracee *t, int i, size_t n)
{
	return t->proc->threads > 1 || tracee_vm_shared(t->proc) ||
	       !procfs_private(t->tid, t->call.arg[i], n);
}

/* What we cannot read the kernel may: memory of its own in the task, or a name that is complete only a
 * moment later. What was opened is told by the descriptor. */
static void open_unread(struct tracee *t)
{
	t->flags = open_flags(t);
	t->unread = t->racy = t->hint = t->want_exit = true;
}

/* Others may guess the number of the new descriptor and use it before we hear of it: from here on they are
 * stopped at every call. */
static void watch_sharers(struct sup *s, struct tracee *t, const char *path, int at)
{
	struct process *p = t->proc;

	if (p->threads < 2 && p->fds->refs < 2)
		return;
	if (!(t->flags & O_CREAT) && !follow_leads_to_region(s, t, path, at))
		return;
	tracee_opening(t);
	on_syscall_zoom(s, p, t->tid);
}

void calls_open_entry(struct sup *s, struct tracee *t)
{
	enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
	char path[PATH_MAX];
	ssize_t n = read_path(t, t->row->path, path);
	int at = dir_arg(t, t->row->dirfd);
	struct buf *b;

	if (n < 0) {
		open_unread(t);
		return;
	}
	t->flags = open_flags(t);
	t->hint = watch_hint(&s->watch, path, (size_t)n);
	if (s->watch.n_first && t->hint)
		watch_sharers(s, t, path, at);
	t->hint |= follow_hint(s, t, path, at);
	if (watch_on(&s->watch) && !(t->flags & O_DIRECTORY) && in_workspace(s, t->proc, path, at))
		access_seen(t->proc, at, path, (size_t)n);
	t->racy = s->watch.n_first && !t->opening && may_change(t, t->row->path, (size_t)n + 1);
	if (t->racy || t->hint || (t->flags & WRITES))
		t->want_exit = true;
	if (t->want_exit) {
		t->path = mem_dup(path, (size_t)n);
		follow_open(s, t, path, at);
		return;
	}
	b = sup_record(s, TK_OPEN, t);
	record_path(b, t->proc, "path", path, (size_t)n, at);
	tracerec_u64(b, "flags", t->flags);
	sink_end(s->sink);
}

/* It was opened by a name that did not lead there when we looked: whoever shares the descriptor may have read it
 * before we heard of it, which is taken for certain. */
static void opened_unseen(struct sup *s, struct tracee *t, int file)
{
	const struct process *p = t->proc;

	if (t->racy && (p->threads > 1 || p->fds->refs > 1))
		access_report(s, t, ACCESS_READ, file, 0, UINT64_MAX, false);
}

static void region_opened(struct sup *s, struct tracee *t, int fd, int file)
{
	struct process *p = t->proc;
	struct rfd *r;
	unsigned mode;

	/* The flags of openat2(2) lie in memory, like the path. */
	if (t->call.nr == SYS_openat2)
		(void)procfs_fd_flags(t->tid, fd, &t->flags); /* unknown: as we read them */
	mode = t->flags & O_ACCMODE;
	if (t->flags & O_PATH) /* carries no data; a re-open through /proc is seen by itself */
		return;
	/* O_TRUNC empties the file whatever the mode; a file made here is new even when it stays
	 * empty. */
	r = fdtab_put(p->fds, fd, file, mode != O_RDONLY);
	r->wrote = (t->flags & O_TRUNC) || t->absent;
	on_syscall_zoom(s, p, t->tid);
	opened_unseen(s, t, file);
	access_report(s, t, ACCESS_OPEN, file, 0, 0, true);
	access_report(s, t, ACCESS_OPEN, file, 0, 0, false);
}

/* The followed file that descriptor @fd was opened for, -1 = none. */
static int file_opened(struct sup *s, struct tracee *t, int fd)
{
	uint64_t changed;
	int file;

	if (!t->hint && !t->racy)
		return -1;
	file = watch_fd(&s->watch, t->tid, fd);
	if (s->watch.everything)
		return follow_opened(s, t, fd, file);
	if (file < 0 && (t->flags & O_CREAT)) {
		/* A new inode under a region's name, as git checkout makes it. */
		watch_refresh(&s->watch, &changed);
		file = watch_fd(&s->watch, t->tid, fd);
	}
	return file;
}

/* The name of what was opened by a path that could not be read. */
static void name_opened(struct tracee *t, int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	t->path = procfs_link(t->tid, name);
	if (!t->path)
		t->path = mem_strdup(""); /* closed already by another thread */
}

void calls_open_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	int at = dir_arg(t, t->row->dirfd), file = -1;
	struct buf *b;
	size_t n;

	if (t->unread && ret >= 0)
		name_opened(t, (int)ret);
	if (!t->path)
		return;
	n = strlen(t->path);
	if (ret >= 0)
		file = file_opened(s, t, (int)ret);
	b = sup_record(s, TK_OPEN, t);
	record_path(b, t->proc, "path", t->path, n, at);
	tracerec_u64(b, "flags", t->flags);
	if (file >= 0) {
		tracerec_u64(b, "dev", s->watch.file[file].dev);
		tracerec_u64(b, "ino", s->watch.file[file].ino);
	}
	if (ret >= 0)
		tracerec_i64(b, "fd", ret);
	tracerec_i64(b, "ret", ret);
	sink_end(s->sink);
	if (ret < 0) {
		auto_free char *what = mem_printf("open %s", t->path);

		calls_denied(s, t, what, ret);
	}
	if (file >= 0)
		region_opened(s, t, (int)ret, file);
}

void calls_exec_entry(struct sup *s, struct tracee *t)
{
	char path[PATH_MAX];
	ssize_t n = read_path(t, t->row->path, path);

	(void)s; /* one signature for all handlers */
	if (n >= 0)
		t->path = mem_dup(path, (size_t)n);
}

void calls_exec_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct buf *b;

	if (ret >= 0 || !t->path) /* success was recorded at the exec event */
		return;
	b = sup_record(s, TK_EXEC, t);
	record_path(b, t->proc, "path", t->path, strlen(t->path), dir_arg(t, t->row->dirfd));
	tracerec_i64(b, "ret", ret);
	sink_end(s->sink);
}

/* Copy one name of the call, in argument @i. One that we cannot read the kernel may: it can be any. */
static char *read_name(struct sup *s, struct tracee *t, int i)
{
	char path[PATH_MAX];
	ssize_t n = read_path(t, i, path);

	if (i < 0)
		return NULL;
	t->hint |= n < 0 || watch_hint(&s->watch, path, (size_t)n);
	t->unread |= n < 0;
	t->racy |= s->watch.n_first && (n < 0 || may_change(t, i, (size_t)n + 1));
	return n < 0 ? mem_strdup("") : mem_dup(path, (size_t)n);
}

/* Copy the names of the call. */
static void read_names(struct sup *s, struct tracee *t)
{
	free(t->path);
	free(t->path2);
	t->hint = t->unread = t->racy = false;
	t->path = read_name(s, t, t->row->path);
	t->path2 = read_name(s, t, t->row->path2);
}

/* Calls whose names tell what else may lead to a region's file, or what is written, from then on. */
static bool names_count(enum sys_op op)
{
	return op == OP_RENAME || op == OP_LINK || op == OP_SYMLINK || op == OP_TRUNCATE;
}

void calls_names_entry(struct sup *s, struct tracee *t)
{
	enum sys_op op = t->row->op;
	bool concerns, alone;

	t->want_exit = true;
	read_names(s, t);
	concerns = follow_concerns(s, t);
	/* Nobody else may write or judge the file between this change and our look at it, or the
	 * edit would be taken for somebody else's. */
	alone = (t->hint || concerns) && op != OP_MKDIR && op != OP_CHMOD;
	alone |= t->racy && names_count(op);
	if (!alone)
		return;
	hold_alone(s, t->tid);
	/* Another thread may have changed the names until it stopped. */
	read_names(s, t);
	if (!concerns)
		return;
	t->hint = true;
	follow_names(s, t);
}

static const enum trace_kind kind_of[OP_MAX] = {
	[OP_RENAME] = TK_RENAME, [OP_LINK] = TK_LINK,         [OP_SYMLINK] = TK_LINK,
	[OP_UNLINK] = TK_UNLINK, [OP_TRUNCATE] = TK_TRUNCATE, [OP_MKDIR] = TK_MKDIR,
	[OP_CHMOD] = TK_CHMOD,
};

static void names_done(struct sup *s, struct tracee *t, int64_t ret)
{
	enum sys_op op = t->row->op;
	struct buf *b;

	/* An empty name is an error: where one could not be read nothing need have been there. */
	if (!t->path || (t->unread && ret < 0))
		return;
	b = sup_record(s, kind_of[op], t);
	record_path(b, t->proc, "path", t->path, strlen(t->path), dir_arg(t, t->row->dirfd));
	if (t->path2)
		record_path(b, t->proc, "to", t->path2, strlen(t->path2),
			    dir_arg(t, t->row->dirfd2));
	tracerec_i64(b, "ret", ret);
	sink_end(s->sink);
	if (ret < 0) {
		auto_free char *what = mem_printf("%s %s", t->row->name, t->path);

		calls_denied(s, t, what, ret);
		return;
	}
	if (t->path2)
		watch_name(&s->watch, t->path2);
	if (t->unread)
		s->watch.all = true; /* a name that we do not know */
	if (s->watch.everything)
		follow_renamed(s, t);
	/* A rename without a hint may still move a directory above a region's file. */
	else if ((t->hint && op != OP_MKDIR && op != OP_CHMOD) ||
		 ((op == OP_RENAME || t->racy) && s->watch.n))
		access_recheck(s, t->proc, op == OP_TRUNCATE && t->hint);
}

void calls_names_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	names_done(s, t, ret);
	hold_together(s, t->tid);
}

void calls_chdir_entry(struct sup *s, struct tracee *t)
{
	(void)s; /* one signature for all handlers */
	free(t->proc->cwd);
	t->proc->cwd = NULL;
}

void calls_misc_entry(struct sup *s, struct tracee *t)
{
	char path[PATH_MAX];
	ssize_t n = read_path(t, t->row->path, path);

	(void)s; /* one signature for all handlers */
	if (n >= 0)
		t->path = mem_dup(path, (size_t)n);
}

void calls_misc_exit(struct sup *s, struct tracee *t, int64_t ret)
{
	struct buf *b;

	if (s->level != TRACE_FULL || !(t->row->cls & SYS_FULL))
		return;
	b = sup_record(s, TK_SYSCALL, t);
	tracerec_str(b, "name", t->row->name, strlen(t->row->name));
	if (t->path)
		record_path(b, t->proc, "path", t->path, strlen(t->path),
			    dir_arg(t, t->row->dirfd));
	buf_addf(b, ",\"args\":[%llu,%llu,%llu]", (unsigned long long)t->call.arg[0],
		 (unsigned long long)t->call.arg[1], (unsigned long long)t->call.arg[2]);
	tracerec_i64(b, "ret", ret);
	sink_end(s->sink);
}
