#include "supervisor/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/snapshot.h"
#include "sandbox/workspace.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/services.h"
#include "supervisor/sessionfiles.h"

#define LINE_MAX_BYTES (64u << 20)

#define STILL_NS (300 * CLOCK_MS) /* session files that have stood still for it are written */
#define WAIT_NS  (5 * CLOCK_SEC)  /* a request waits no longer for them */
/* Some agents run short commands of their own beside a request: what lives longer is a background process. */
#define COMMANDS_NS (2 * CLOCK_SEC)

enum {
	WAITING_MAX = 8,
	NAME_BYTES = 200, /* of a process's command line */
};

struct checkpoints {
	int fd; /* owned: checkpoints.jsonl */
	struct snapshot *snap;
	char *root;     /* owned: layer of the box's root, as we see it */
	char *sessions; /* owned: pattern of the session files below it; NULL = none known */
	/* requests that wait */
	struct gw_msg waiting[WAITING_MAX];
	size_t n_waiting;
	uint64_t began, since, sign;
	bool settled; /* of the last that waited */
	/* counts */
	uint64_t last_call, taken, incomplete, stored;
};

int checkpoint_open(struct sup *s, const char *dir, const struct workspace *ws, struct err *err)
{
	auto_free char *path = path_join(dir, "checkpoints.jsonl");
	auto_free char *store = path_join(dir, "checkpoints");
	struct checkpoints *c = mem_zalloc(1, sizeof(*c));
	const char *session = s->plan->agent->resume_session;
	int rc;

	s->checkpoints = c;
	c->root = path_join(s->box->dir, "upper");
	c->settled = true;
	c->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (c->fd < 0)
		return err_sys(err, "cannot make %s", path);
	if (session)
		c->sessions = mem_printf("%s%s", s->plan->home + 1, session + 1);
	rc = snapshot_new(store, &c->snap, err);
	if (rc == 0)
		rc = snapshot_add(c->snap, SNAPSHOT_WORKSPACE, ws->upper, err);
	return rc < 0 ? rc : snapshot_add(c->snap, SNAPSHOT_BOX, c->root, err);
}

void checkpoint_done(struct sup *s)
{
	struct checkpoints *c = s->checkpoints;

	if (!c)
		return;
	mem_close(&c->fd);
	snapshot_free(c->snap);
	free(c->root);
	free(c->sessions);
	free(c);
	s->checkpoints = NULL;
}

/* --- session files are written beside the request ------------------------------------------------- */

static uint64_t sign_of(const struct checkpoints *c)
{
	return sessionfiles_sign(c->root, c->sessions);
}

bool checkpoint_wait(struct sup *s, const struct gw_msg *m)
{
	struct checkpoints *c = s->checkpoints;

	if (!c || !c->sessions || s->main_calls + 1 == c->last_call || c->n_waiting == WAITING_MAX)
		return false;
	if (!c->n_waiting) {
		c->began = c->since = clock_mono();
		c->sign = sign_of(c);
	}
	c->waiting[c->n_waiting++] = *m;
	return true;
}

static bool is_left(const struct process *p)
{
	return p->cmd && p->threads && !p->ended;
}

static bool alive(const struct sup *s)
{
	map_each (slot, &s->ts.by_pid) {
		if (is_left(slot->val))
			return true;
	}
	return false;
}

void checkpoint_tick(struct sup *s)
{
	struct checkpoints *c = s->checkpoints;
	struct gw_msg all[WAITING_MAX];
	uint64_t now = clock_mono(), sign;
	size_t n;

	/* Not while somebody is alone: the world cannot be held then. */
	if (!c || !c->n_waiting || s->alone)
		return;
	sign = sign_of(c);
	if (sign != c->sign) {
		c->sign = sign;
		c->since = now;
	}
	c->settled = now - c->since >= STILL_NS;
	if (s->phase < SUP_KILLED && now - c->began < (c->settled ? COMMANDS_NS : WAIT_NS) &&
	    (!c->settled || alive(s)))
		return;
	n = c->n_waiting;
	memcpy(all, c->waiting, n * sizeof(*all));
	c->n_waiting = 0;
	for (size_t i = 0; i < n; i++)
		gwmodel_main(s, &all[i]);
}

/* --- what is no file ------------------------------------------------------------------------------ */

static void put_processes(const struct sup *s, struct json_w *w)
{
	uint64_t n = 0;

	json_open(w, "processes", '[');
	map_each (slot, &s->ts.by_pid) {
		const struct process *p = slot->val;
		auto_buf line = BUF_INIT(NAME_BYTES);

		if (!is_left(p) || n++ >= CHECKPOINT_NAMES_MAX)
			continue;
		strv_each (i, &p->argv)
			buf_addf(&line, "%s%.80s", i ? " " : "", p->argv.v[i]);
		json_str(w, NULL, line.len ? buf_str(&line) : "a process without a command line");
	}
	json_close(w, ']');
}

static void put_held(const struct sup *s, struct json_w *w)
{
	json_open(w, "held", '[');
	for (size_t i = 0; i < HOLDERS_MAX; i++) {
		if (s->holders.v[i].name && s->holders.v[i].fd >= 0)
			json_str(w, NULL, s->holders.v[i].name);
	}
	for (size_t i = 0; i < HELPERS_MAX; i++) {
		if (s->helpers.v[i].fd >= 0)
			json_str(w, NULL, s->helpers.v[i].program);
	}
	json_close(w, ']');
	json_open(w, "services", '[');
	for (size_t i = 0; services_used(s, i); i++) {
		if (services_used(s, i)[0])
			json_str(w, NULL, services_used(s, i));
	}
	json_close(w, ']');
	json_bool(w, "user", s->user != NULL);
	json_u64(w, "messages", s->messages_placed);
}

/* --- keeping -------------------------------------------------------------------------------------- */

static void put_entry(struct json_w *w, int area, const struct snapshot_entry *e)
{
	const char kind[2] = { e->kind, '\0' };
	int64_t t = e->mtime < 0 ? 0 : e->mtime;

	json_open(w, NULL, '{');
	json_str(w, "area", snapshot_area_name(area));
	json_str(w, "path", e->path);
	json_str(w, "kind", kind);
	if (e->opaque)
		json_bool(w, "opaque", true);
	if (e->kind == 'd' || e->kind == 'f' || e->kind == 'p')
		json_u64(w, "mode", e->mode);
	if (e->kind == 'f') {
		json_u64(w, "size", e->size);
		json_u64(w, "mtime", (uint64_t)t / 1000000000);
		json_u64(w, "ns", (uint64_t)t % 1000000000);
		json_str(w, "sha256", e->sha256);
	}
	if (e->link)
		json_str(w, "link", e->link);
	json_close(w, '}');
}

static void write_line(struct sup *s, uint64_t call, const struct snapshot_look *l)
{
	struct checkpoints *c = s->checkpoints;
	auto_buf line = BUF_INIT(LINE_MAX_BYTES);
	struct json_w w = { .b = &line };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.checkpoints/1");
	json_u64(&w, "n", s->sink->n);
	json_u64(&w, "call", call);
	json_bool(&w, "settled", c->settled);
	json_u64(&w, "stored", l->stored);
	if (l->why) {
		json_str(&w, "why", l->why);
		json_str(&w, "where", l->where);
	}
	put_processes(s, &w);
	put_held(s, &w);
	json_open(&w, "changed", '[');
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		for (size_t i = 0; i < l->n[a]; i++)
			put_entry(&w, a, &l->v[a][i]);
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(&line, '\n');
	if (line.full)
		errno = EFBIG;
	if ((line.full || fd_write_all(c->fd, buf_str(&line), line.len) < 0) && !s->sink->error)
		s->sink->error = errno;
}

int checkpoint_take(struct sup *s, uint64_t call, struct err *err)
{
	struct checkpoints *c = s->checkpoints;
	struct snapshot_look l = { 0 };
	int rc;

	/* A request that is sent again is the same moment. */
	if (!c || call == c->last_call)
		return 0;
	rc = snapshot_take(c->snap, &l, err);
	if (rc < 0)
		return rc;
	c->last_call = call;
	c->taken++;
	c->incomplete += l.why != NULL;
	c->stored += l.stored;
	write_line(s, call, &l);
	snapshot_look_done(&l);
	return 0;
}

void checkpoint_summary(const struct sup *s, struct json_w *w)
{
	const struct checkpoints *c = s->checkpoints;

	if (!c) {
		json_null(w, "checkpoints");
		return;
	}
	json_open(w, "checkpoints", '{');
	json_u64(w, "taken", c->taken);
	json_u64(w, "incomplete", c->incomplete);
	json_u64(w, "bytes", c->stored);
	json_close(w, '}');
}
