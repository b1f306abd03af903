#include "supervisor/access.h"

#include <fcntl.h>
#include <string.h>

#include "supervisor/follow.h"
#include "supervisor/procfs.h"

struct access access_of(const struct tracee *t, enum access_kind kind, const char *path,
			uint64_t off, uint64_t len)
{
	struct process *p = t->proc;

	return (struct access){
		.kind = kind,
		.path = path,
		.off = off,
		.len = len,
		.pid = p->pid,
		.cmd = p->cmd,
		.argv = p->argv.v,
		.exe = p->exe,
		.files_seen = p->n_seen,
		.write_only = kind == ACCESS_OPEN && (t->flags & O_ACCMODE) == O_WRONLY,
	};
}

/* What makes a read more than its bytes. */
static void record_read(struct sup *s, struct tracee *t, const char *path, uint64_t off,
			uint64_t len, struct buf *b)
{
	struct access a = access_of(t, ACCESS_READ, path, off, len);
	const char *scan = engine_scan(s->engine, &a);
	uint64_t first, last;
	bool known;

	engine_lines(s->engine, path, off, len, &a.first, &a.last);
	tracerec_lines(b, a.first, a.last);
	known = engine_shown(s->engine, &a, &first, &last);
	if (known && first)
		buf_addf(b, ",\"shown\":[%llu,%llu]", (unsigned long long)first,
			 (unsigned long long)last);
	/* Read only to get to the lines that were asked for: nobody looks at it. */
	if (known && !first && !scan)
		scan = "none of it was asked for";
	if (scan)
		tracerec_str(b, "scan", scan, strlen(scan));
}

void access_record(struct sup *s, struct tracee *t, enum trace_kind kind, int fd, int file,
		   uint64_t off, uint64_t len)
{
	struct buf *b = sup_record(s, kind, t);
	const char *path = file >= 0 ? s->watch.file[file].path : NULL;

	if (path)
		tracerec_str(b, "path", path, strlen(path));
	tracerec_i64(b, "fd", fd);
	if (path)
		tracerec_u64(b, "off", off);
	tracerec_u64(b, "len", len);
	if (path && s->engine && (kind == TK_READ || kind == TK_MAP))
		record_read(s, t, path, off, len, b);
	sink_end(s->sink);
}

void access_report(struct sup *s, struct tracee *t, enum access_kind kind, int file, uint64_t off,
		   uint64_t len, bool before)
{
	struct access a;
	struct err err;
	int rc;

	if (!s->engine || watch_bare(&s->watch, file))
		return;
	a = access_of(t, kind, s->watch.file[file].path, off, len);
	engine_lines(s->engine, a.path, off, len, &a.first, &a.last);
	rc = before ? engine_before(s->engine, &a, &err) : engine_after(s->engine, &a, &err);
	if (rc < 0)
		sup_engine_failed(s, &err);
}

void access_changed(struct sup *s, struct process *p, int file)
{
	struct err err;
	int rc;

	if (!s->engine)
		return;
	rc = engine_changed(s->engine, s->watch.file[file].path, p->pid, p->cmd, p->argv.v, &err);
	if (rc < 0)
		sup_engine_failed(s, &err);
	follow_others(s, p, file);
}

static bool pass_to(struct process *p, int file)
{
	for (size_t i = 0; i < p->fds->n; i++) {
		struct rfd *r = &p->fds->v[i];

		if (r->file == file && r->write) {
			r->wrote = true;
			return true;
		}
	}
	return false;
}

bool access_pass_on(struct sup *s, struct process *p, int file)
{
	if (pass_to(p, file))
		return true;
	map_each (slot, &s->ts.by_pid) {
		struct process *q = slot->val;

		if (!q->ended && (q->parent == p || p->parent == q) && pass_to(q, file))
			return true;
	}
	return false;
}

void access_recheck(struct sup *s, struct process *p, bool contents)
{
	uint64_t changed;

	if (!s->engine)
		return;
	watch_refresh(&s->watch, &changed);
	/* Only what this call can have changed: another file may be half written by its owner. */
	for (size_t i = 0; i < s->watch.n; i++) {
		if (contents || i >= 64 || (changed & (1ull << i)))
			access_changed(s, p, (int)i);
	}
}

void access_seen(struct process *p, int at, const char *path, size_t n)
{
	uint64_t h = map_hash(path, n) ^ ((uint64_t)(unsigned)at << 32);

	for (unsigned i = 0; i < p->n_seen; i++) {
		if (p->seen[i] == h)
			return;
	}
	if (p->n_seen < SEEN_FILES_MAX)
		p->seen[p->n_seen++] = h;
}

/* A task being looked through for followed descriptors. */
struct search {
	struct sup *sup;
	struct process *proc;
	pid_t tid;
	unsigned found;
};

static bool found_fd(void *arg, int fd)
{
	struct search *look = arg;
	int file = fdtab_get(look->proc->fds, fd) ? -1 : watch_fd(&look->sup->watch, look->tid, fd);

	if (file >= 0) {
		fdtab_put(look->proc->fds, fd, file, true);
		look->found++;
	}
	return true;
}

unsigned access_find_fds(struct sup *s, struct process *p, pid_t tid)
{
	struct search look = { s, p, tid, 0 };

	if (s->watch.n)
		procfs_each_fd(tid, found_fd, &look);
	return look.found;
}
