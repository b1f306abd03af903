#include "supervisor/access.h"

#include <fcntl.h>

void access_report(struct sup *s, struct tracee *t, enum access_kind kind, int file, uint64_t off,
		   uint64_t len, bool before)
{
	struct process *p = t->proc;
	struct access a = {
		.kind = kind,
		.path = s->watch.file[file].path,
		.off = off,
		.len = len,
		.pid = p->pid,
		.cmd = p->cmd,
		.argv = p->argv.v,
		.exe = p->exe,
		.files_seen = p->n_seen,
		.write_only = kind == ACCESS_OPEN && (t->flags & O_ACCMODE) == O_WRONLY,
	};
	struct err err;
	int rc;

	if (!s->engine)
		return;
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
