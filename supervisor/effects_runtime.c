/* {"runtime": ...}: processes, ports, locks and space of the box change under the agent's hands. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <dirent.h>
#include <linux/magic.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/effect.h"
#include "supervisor/effects_internal.h"
#include "supervisor/netproc.h"

enum { KILLED_MAX = 64, WORDS_LOOKED_AT = 4 };

static void note(struct sup *s, const char *what, const char *name, int64_t pid)
{
	struct buf *b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);

	tracerec_str(b, "holder", name, strlen(name));
	tracerec_str(b, "what", what, strlen(what));
	if (pid)
		tracerec_i64(b, "pid", pid);
	sink_end(s->sink);
}

static int told(struct sup *s, const struct effect_runtime *r, int rc)
{
	const struct holder *o = rc < 0 ? NULL : holders_find(&s->holders, r->name);

	if (o)
		note(s, effect_runtime_name(r->kind), r->name, o->pid);
	return rc;
}

static int do_start(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	return told(s, r,
		    holders_start(&s->holders, s->box, r->name, r->argv.v, s->plan->env.v,
				  r->cwd ? r->cwd : s->plan->task->workdir, err));
}

static int do_listen(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	char port[8];

	snprintf(port, sizeof(port), "%u", (unsigned)(r->port & 0xffff));
	return told(s, r,
		    holders_hold(&s->holders, s->box, r->name, "listen", port, r->answer,
				 s->plan->task->workdir, err));
}

static int do_lock(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	return told(s, r,
		    holders_hold(&s->holders, s->box, r->name, r->lock ? r->lock : "flock", r->path,
				 NULL, s->plan->task->workdir, err));
}

static int do_release(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	struct holder *o = holders_find(&s->holders, r->name);
	int rc;

	if (!o)
		return err_set(err, ERR_INPUT, "nothing called \"%s\" is held", r->name);
	rc = holders_signal(o, SIGKILL, err);
	if (rc == 0)
		note(s, "release", r->name, 0);
	return rc;
}

/* --- kill -------------------------------------------------------------------------------------- */

/* Never the agent itself, or what it is reached by. */
static bool spared(const struct sup *s, const struct process *p)
{
	return p->pid == s->root || p->pid == s->lead || p->ended;
}

static bool is_program(const struct process *p, const char *glob)
{
	if (p->exe && fnmatch(glob, p->exe, 0) == 0)
		return true;
	/* A script is what its interpreter was told to run. */
	for (size_t i = 0; i < p->argv.n && i < WORDS_LOOKED_AT; i++) {
		if (fnmatch(glob, path_base(p->argv.v[i]), 0) == 0)
			return true;
	}
	return false;
}

/* The number may be another's by now only if the process has been reaped, which we do ourselves. */
static void send_to(struct sup *s, const struct process *p, int sig, const char *name)
{
	if (kill(p->pid, sig) == 0)
		note(s, "kill", name, p->pid);
}

static unsigned kill_program(struct sup *s, const struct effect_runtime *r, int sig)
{
	unsigned n = 0;

	map_each (slot, &s->ts.by_pid) {
		const struct process *p = slot->val;

		if (n < KILLED_MAX && !spared(s, p) && is_program(p, r->program)) {
			send_to(s, p, sig, r->program);
			n++;
		}
	}
	return n;
}

static int do_kill(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	int sig = effect_signal(r->signal);
	struct holder *o = r->name ? holders_find(&s->holders, r->name) : NULL;
	char name[16];

	if (r->name && !o)
		return err_set(err, ERR_INPUT, "nothing called \"%s\" runs", r->name);
	if (o) {
		note(s, "kill", r->name, o->pid);
		return holders_signal(o, sig, err);
	}
	if (r->port) {
		struct process *p = netproc_find(s, false, (uint16_t)r->port, NULL);

		if (!p || spared(s, p))
			return err_set(err, ERR_INPUT,
				       "no process of the agent's commands has port %u",
				       (unsigned)r->port);
		snprintf(name, sizeof(name), "port %u", (unsigned)(r->port & 0xffff));
		send_to(s, p, sig, name);
		return 0;
	}
	if (!kill_program(s, r, sig))
		return err_set(err, ERR_INPUT, "no process of the agent's commands is \"%s\"",
			       r->program);
	return 0;
}

/* --- space ------------------------------------------------------------------------------------- */

/* Bytes that a file must take so that @leave are free on its file system. Only where that is memory of the
 * box: elsewhere it would be the host's disk. */
static int room_of(int fd, const char *path, uint64_t leave, uint64_t *ret, struct err *err)
{
	struct statvfs st;
	struct statfs type;

	if (fstatfs(fd, &type) < 0 || fstatvfs(fd, &st) < 0)
		return err_sys(err, "cannot tell the room around %s", path);
	if (type.f_type != TMPFS_MAGIC)
		return err_set(err, ERR_INPUT,
			       "%s is not on a tmpfs of the box; give bytes instead of leave",
			       path);
	*ret = (uint64_t)st.f_bavail * st.f_frsize;
	*ret = *ret > leave ? *ret - leave : 0;
	return 0;
}

static int fill_file(struct sup *s, const struct effect_runtime *r, const struct effects_spot *at,
		     struct err *err)
{
	uint64_t limit = s->plan->profile->limits.max[LIMIT_DISK], bytes = r->bytes;
	auto_fd int fd = effects_open(at->dir, at->path, 0644);
	int rc = 0;

	if (fd < 0)
		return err_sys(err, "cannot make %s in the box", r->path);
	if (r->leave)
		rc = room_of(fd, r->path, r->bytes, &bytes, err);
	else if (limit && bytes >= limit)
		rc = err_set(err, ERR_INPUT,
			     "%llu bytes are the run's whole disk limit; its end would be ours",
			     (unsigned long long)bytes);
	if (rc < 0)
		return rc;
	if (bytes > EFFECT_FILL_MAX)
		return err_set(err, ERR_INPUT, "%s: more than 4 GiB would be taken", r->path);
	if (bytes && posix_fallocate(fd, 0, (off_t)bytes) != 0)
		return err_sys(err, "cannot take %llu bytes for %s", (unsigned long long)bytes,
			       r->path);
	return 0;
}

static int empty_dir(const struct effect_runtime *r, const struct effects_spot *at, struct err *err)
{
	int fd = fd_open_beneath(at->dir, at->path, O_RDONLY | O_DIRECTORY, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	auto_strv names = { 0 };
	struct dirent *de;
	int rc = 0;

	if (!d) {
		mem_close(&fd);
		return err_sys(err, "cannot list %s in the box", r->path);
	}
	while ((de = readdir(d))) {
		if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
			strv_add(&names, de->d_name);
	}
	strv_each (i, &names) {
		if (rc == 0 && fd_remove_tree(dirfd(d), names.v[i]) < 0)
			rc = err_sys(err, "cannot remove %s/%s in the box", r->path, names.v[i]);
	}
	closedir(d);
	return rc;
}

static int in_tree(struct sup *s, const struct effect_runtime *r, struct err *err)
{
	struct effects_spot at;
	uint64_t changed;
	int rc;

	effects_spot(s, r->path, &at);
	box_act_as(s->box, true);
	rc = r->kind == RUNTIME_FILL ? fill_file(s, r, &at, err) : empty_dir(r, &at, err);
	box_act_as(s->box, false);
	if (at.ws)
		watch_refresh(&s->watch, &changed);
	free(at.path);
	if (rc == 0)
		note(s, effect_runtime_name(r->kind), r->path, 0);
	return rc;
}

/* By enum runtime_kind. */
static int (*const doers[])(struct sup *s, const struct effect_runtime *r, struct err *err) = {
	[RUNTIME_START] = do_start,     [RUNTIME_KILL] = do_kill, [RUNTIME_LISTEN] = do_listen,
	[RUNTIME_LOCK] = do_lock,       [RUNTIME_FILL] = in_tree, [RUNTIME_EMPTY] = in_tree,
	[RUNTIME_RELEASE] = do_release,
};

int effects_runtime(struct sup *s, const struct json_src *src, cJSON *item, struct err *err)
{
	struct effect_runtime r = { 0 };
	int rc = effect_runtime_read(src, "runtime", item, &r, err);

	if (rc == 0)
		rc = doers[r.kind](s, &r, err);
	effect_runtime_done(&r);
	return rc;
}
