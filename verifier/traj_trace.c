/* Our own run directories. Edits and reads have the lines of the contents they met; the contents themselves
 * are kept, so that lines are followed back to the base tree exactly. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tracerec.h"
#include "triggers/argvrange.h"
#include "triggers/lines.h"
#include "triggers/scan.h"
#include "verifier/rundir.h"
#include "verifier/traj_internal.h"

#define IMAGE_MAX      (64u << 20)
#define CHANGES_CACHED 512u
#define PROCESSES_MAX  100000u
#define LINES_UNKNOWN  (1ull << 40) /* of a file that was not kept */

/* What changed between two contents, by their digests. */
struct change_set {
	char a[65], b[65];
	bool known;
	struct line_changes c;
};

/* One process: its arguments, and how many files it opened. */
struct proc {
	struct strv argv;
	unsigned files;
};

/* First arguments of a command. */
struct head {
	struct strv argv;
};

struct run {
	struct rundir rd;
	struct traj_rec rec;
	struct change_set *set; /* owned */
	size_t n_sets, cap_sets;
	struct map procs;    /* of owned struct proc, by process number; numbers are used again */
	struct map heads;    /* of owned struct head, by command */
	struct map has_read; /* by hash of the path: its reads have a place in the trace */
	const char *workdir; /* borrowed from rd */
};

bool traj_is_run(const char *path, const char *text, size_t n)
{
	auto_free char *mark = path_join(path, "run.json");

	(void)text;
	return n == 0 && access(mark, F_OK) == 0;
}

static void run_done(struct run *u)
{
	for (size_t i = 0; i < u->n_sets; i++)
		lines_changes_done(&u->set[i].c);
	map_each (s, &u->procs) {
		strv_done(&((struct proc *)s->val)->argv);
		free(s->val);
	}
	map_each (s, &u->heads) {
		strv_done(&((struct head *)s->val)->argv);
		free(s->val);
	}
	map_done(&u->procs);
	map_done(&u->heads);
	map_done(&u->has_read);
	free(u->set);
	rundir_done(&u->rd);
}

/* Contents by digest; "" is a file that is not there, so empty. False: not kept. */
static bool contents(struct run *u, const char *digest, struct buf *out)
{
	struct err ignored;

	return digest && (!*digest || rundir_image(&u->rd, digest, out, &ignored) == 1);
}

/* Changes from contents @a to @b, NULL when one of them was not kept. Borrowed until the next call. */
static const struct line_changes *changes(struct run *u, const char *a, const char *b)
{
	auto_buf one = BUF_INIT(IMAGE_MAX), two = BUF_INIT(IMAGE_MAX);
	struct change_set *s;

	if (!a || !b)
		return NULL;
	for (size_t i = 0; i < u->n_sets; i++)
		if (strcmp(u->set[i].a, a) == 0 && strcmp(u->set[i].b, b) == 0)
			return u->set[i].known ? &u->set[i].c : NULL;
	if (u->n_sets < CHANGES_CACHED)
		MEM_GROW(u->set, u->cap_sets, ++u->n_sets);
	else
		lines_changes_done(&u->set[u->n_sets - 1].c);
	s = &u->set[u->n_sets - 1];
	*s = (struct change_set){ 0 };
	memcpy(s->a, a, strlen(a) + 1);
	memcpy(s->b, b, strlen(b) + 1);
	s->known = contents(u, a, &one) && contents(u, b, &two);
	if (s->known)
		lines_diff(buf_str(&one), one.len, buf_str(&two), two.len, &s->c);
	return s->known ? &s->c : NULL;
}

/* Old number of new @line; of a line that came in, what stood at its place. */
static uint64_t back(const struct line_changes *c, uint64_t line, bool end)
{
	uint64_t r = line;

	for (size_t i = 0; i < c->n && c->v[i].new_first <= line; i++) {
		const struct line_change *v = &c->v[i];

		if (line >= v->new_first + v->new_n) {
			r = line - (v->new_first + v->new_n) + v->old_first + v->old_n;
			continue;
		}
		if (v->old_n)
			return end ? v->old_first + v->old_n - 1 : v->old_first;
		return end || v->old_first == 1 ? v->old_first : v->old_first - 1;
	}
	return r;
}

/* Base lines of lines of @path under contents @digest. Leaves 0,0 when they cannot be told. */
static void to_base(struct run *u, struct traj_event *e, const char *digest, uint64_t first,
		    uint64_t last)
{
	const char *base = rundir_digest_at(&u->rd, e->path, 0);
	const struct line_changes *c;

	e->born = base && !*base;
	if (!first || e->born)
		return;
	if (!base || (digest && strcmp(base, digest) == 0)) {
		/* never edited, or not yet */
		e->base_first = base ? first : 0;
		e->base_last = base ? last : 0;
		return;
	}
	c = changes(u, base, digest);
	if (!c)
		return;
	e->base_first = back(c, first, false);
	e->base_last = back(c, last, true);
	if (e->base_last < e->base_first)
		e->base_last = e->base_first;
}

static void add_reads(struct run *u)
{
	for (size_t i = 0; i < u->rd.n_reads; i++) {
		const struct rundir_read *v = &u->rd.read[i];
		struct traj_event e = {
			.path = v->path,
			.first = v->first,
			.last = v->last,
			.scan = v->scan,
			.step = v->n,
		};

		if (!path_is_tame(v->path))
			continue;
		map_put(&u->has_read, map_hash(v->path, strlen(v->path)), u);
		to_base(u, &e, rundir_digest_at(&u->rd, v->path, v->n), e.first, e.last);
		traj_add(traj_rec_traj(&u->rec), &e);
	}
}

/* One changed place of an edit: new lines, and the old ones, or their neighbours, in the base. */
static void add_change(struct run *u, const struct rundir_edit *v, const struct line_change *c)
{
	struct traj_event e = { .edit = true, .path = v->path, .step = v->n };
	uint64_t first = c->old_first, last = c->old_first + c->old_n - 1;

	e.first = c->new_n || c->new_first == 1 ? c->new_first : c->new_first - 1;
	e.last = c->new_n ? c->new_first + c->new_n - 1 : c->new_first;
	if (!c->old_n) {
		last = first;
		first -= first > 1;
	}
	to_base(u, &e, v->pre, first, last);
	traj_add(traj_rec_traj(&u->rec), &e);
}

static void add_edits(struct run *u)
{
	for (size_t i = 0; i < u->rd.n_edits; i++) {
		const struct rundir_edit *v = &u->rd.edit[i];
		bool told = v->pre[0] || v->post[0];
		const struct line_changes *c = told ? changes(u, v->pre, v->post) : NULL;
		struct traj_event e = {
			.edit = true,
			.path = v->path,
			.first = v->first,
			.last = v->last,
			.step = v->n,
		};

		if (!path_is_tame(v->path))
			continue;
		if (!c)
			traj_add(traj_rec_traj(&u->rec), &e);
		for (size_t k = 0; c && k < c->n; k++) {
			/* to_base() may forget this set when its cache is full */
			struct line_change one = c->v[k];

			add_change(u, v, &one);
			c = changes(u, v->pre, v->post);
		}
	}
}

static void words(const cJSON *rec, struct strv *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(rec, "argv"), *item;

	strv_done(out);
	cJSON_ArrayForEach (item, list)
		if (cJSON_IsString(item)) {
			strv_add(out, item->valuestring);
			json_unescape_bytes(out->v[out->n - 1]);
		}
}

static uint64_t num(const cJSON *rec, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(rec, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 9e15
		       ? (uint64_t)item->valuedouble
		       : 0;
}

static void on_exec(struct run *u, const cJSON *rec)
{
	uint64_t pid = num(rec, "pid"), cmd = num(rec, "cmd");
	struct proc *p = map_get(&u->procs, pid);
	struct head *h;

	if (!p && u->procs.n < PROCESSES_MAX) {
		p = mem_zalloc(1, sizeof(*p));
		map_put(&u->procs, pid, p);
	}
	if (p) {
		words(rec, &p->argv);
		p->files = 0;
	}
	if (cmd && !map_get(&u->heads, cmd) && u->heads.n < PROCESSES_MAX) {
		h = mem_zalloc(1, sizeof(*h));
		words(rec, &h->argv);
		map_put(&u->heads, cmd, h);
	}
}

static void add_open(struct run *u, const cJSON *rec, const char *path)
{
	struct proc *p = map_get(&u->procs, num(rec, "pid"));
	struct head *h = map_get(&u->heads, num(rec, "cmd"));
	char *const none[] = { NULL };
	char *const *argv = p && p->argv.n ? p->argv.v : none;
	const char *name = argv[0] ? path_base(argv[0]) : NULL;
	struct argvrange r = { .n = 0 };
	struct traj_event e = { .path = (char *)path, .step = num(rec, "n") };
	bool known = argv[0] && argvrange_in(argv, name, h && h->argv.n ? h->argv.v : NULL,
					     LINES_UNKNOWN, &r) == 1;

	if (p)
		p->files++;
	e.scan = (argv[0] && scan_program(argv, name)) || (p && p->files > SCAN_FILES_MAX);
	/* a range that reaches the end has no last line that we know: the whole file */
	if (!known || !r.n || r.v[r.n - 1].last > LINES_UNKNOWN / 2) {
		traj_add(traj_rec_traj(&u->rec), &e);
		return;
	}
	for (size_t i = 0; i < r.n; i++) {
		e.first = r.v[i].first;
		e.last = r.v[i].last;
		traj_add(traj_rec_traj(&u->rec), &e);
	}
}

static void on_open(struct run *u, const cJSON *rec)
{
	const char *raw = traj_str(rec, "path");
	const cJSON *ret = cJSON_GetObjectItemCaseSensitive(rec, "ret");
	auto_free char *copy = mem_strdup(raw ? raw : "");
	auto_free char *path = NULL;
	uint64_t flags = num(rec, "flags");

	json_unescape_bytes(copy);
	path = traj_rec_path(&u->rec, copy);
	if (!path || (flags & O_ACCMODE) == O_WRONLY || (flags & (O_DIRECTORY | O_TRUNC)) ||
	    (cJSON_IsNumber(ret) && ret->valuedouble < 0) ||
	    map_get(&u->has_read, map_hash(path, strlen(path))))
		return;
	add_open(u, rec, path);
}

static int each(const cJSON *rec, void *arg)
{
	const char *kind = traj_str(rec, "k");

	if (str_eq(kind, "exec"))
		on_exec(arg, rec);
	else if (str_eq(kind, "open"))
		on_open(arg, rec);
	return 0;
}

/* An edit that was put in makes the agent's edits another story. */
static bool touched(const struct rundir *rd)
{
	for (size_t i = 0; i < rd->n_firings; i++)
		if (rd->firing[i].edit && rd->firing[i].applied)
			return true;
	for (size_t i = 0; i < rd->n_edits; i++)
		if (rd->edit[i].by_user)
			return true;
	return false;
}

static int read_run(struct run *u, const char *path, struct trajs *out, struct err *err)
{
	auto_free char *trace = path_join(path, "trace.jsonl");
	auto_buf patch = BUF_INIT(TRAJ_FILE_MAX);
	const char *reason = rundir_str(&u->rd, "end.reason");
	const char *model = rundir_str(&u->rd, "model.name");
	/* A kill can also take whole records: then the last one, `end`, is missing. */
	bool exited = str_eq(reason, "exited"), cut = u->rd.cut || (exited && !u->rd.ended);
	struct err ignored;
	int rc;

	if (touched(&u->rd))
		return err_set(
			err, ERR_INPUT,
			"%s: a user's edit was put into this run, so that its edits are not the "
			"agent's own; mine vanilla runs",
			path);
	traj_rec_begin(&u->rec, out, path, "run", u->workdir);
	traj_rec_name(&u->rec, rundir_str(&u->rd, "task.instance_id"),
		      model ? model : rundir_str(&u->rd, "agent"));
	traj_rec_traj(&u->rec)->exact = u->rd.n_edits > 0;
	traj_rec_traj(&u->rec)->end = mem_strdup(cut ? "a cut trace" : reason);
	traj_rec_traj(&u->rec)->finished = exited && !cut;
	add_reads(u);
	rc = tracerec_read(trace, each, u, &cut, err);
	add_edits(u);
	u->rec.step = u->rd.last_n + 1;
	/* a run that was cut has none */
	if (rundir_patch(&u->rd, &patch, &ignored) == 0)
		traj_rec_final(&u->rec, buf_str(&patch));
	traj_rec_end(&u->rec);
	return rc < 0 ? rc : 0;
}

int traj_read_run(const char *path, const char *text, size_t n, const char *workdir,
		  struct trajs *out, struct err *err)
{
	struct run u = { .n_sets = 0 };
	int rc = rundir_load(path, &u.rd, err);

	(void)text;
	(void)n;
	if (rc < 0)
		return rc;
	u.workdir = workdir ? workdir : rundir_str(&u.rd, "task.workdir");
	rc = read_run(&u, path, out, err);
	run_done(&u);
	return rc;
}
