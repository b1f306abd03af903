/* One pass over the trace: which records each match hits, and what everybody asks for: the fork, the update, the
 * agent's first change, states of files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "sandbox/treestate.h"
#include "verifier/pred_internal.h"

enum { CMDS_MAX = 1000000, FIRINGS_MAX = 100000, WHY_BYTES = 400 };

#define K(k) PRED_KIND(TK_##k)

static uint64_t path_key(const char *path)
{
	return map_hash(path, strlen(path));
}

static void *number(uint64_t n)
{
	return (void *)(uintptr_t)n;
}

/* What is known of command @id; NULL when there are too many. */
static struct pred_cmd *cmd_of(struct pred_set *set, uint64_t id)
{
	uintptr_t at = (uintptr_t)map_get(&set->cmd_at, id);

	if (at)
		return &set->cmd[at - 1];
	if (set->n_cmds >= CMDS_MAX) {
		set->facts.cut = true;
		return NULL;
	}
	MEM_GROW(set->cmd, set->cap_cmds, set->n_cmds + 1);
	set->cmd[set->n_cmds++] = (struct pred_cmd){ .status = -1 };
	map_put(&set->cmd_at, id, number(set->n_cmds));
	return &set->cmd[set->n_cmds - 1];
}

static void on_spawn(struct pred_set *set, struct pred_rec *r)
{
	uint64_t id = pred_rec_number(r, PM_CHILD_CMD);
	struct pred_cmd *c = id ? cmd_of(set, id) : NULL;

	if (!c || c->begin)
		return;
	c->begin = r->n;
	c->answer = set->answer;
	c->pid = pred_rec_number(r, PM_CHILD);
}

/* The model answered the agent's main conversation or a sub-agent's. */
static void on_model(struct pred_set *set, struct pred_rec *r)
{
	const char *purpose = pred_rec_text(r, PM_PURPOSE);
	uint64_t call = pred_rec_number(r, PM_CALL);
	uint64_t most = set->n_calls ? set->call[set->n_calls - 1].most : 0;

	if (call > most && set->n_calls < CMDS_MAX) {
		MEM_GROW(set->call, set->cap_calls, set->n_calls + 1);
		set->call[set->n_calls++] = (struct pred_call){ r->n, call };
	}
	if (!pred_rec_has(r, PM_BY) && pred_rec_number(r, PM_STATUS) < 400 &&
	    (strcmp(purpose, "main") == 0 || strcmp(purpose, "subagent") == 0))
		set->answer = r->n;
}

/* The agent changed something behind the update. It could only know what it had seen when it asked for that; what an
 * earlier command does is no answer to the update. */
static void add_change(struct pred_set *set, uint64_t n, uint64_t cmd, bool fresh)
{
	uintptr_t at = cmd ? (uintptr_t)map_get(&set->cmd_at, cmd) : 0;
	const struct pred_cmd *c = at ? &set->cmd[at - 1] : NULL;
	uint64_t began = c && c->begin ? c->begin : 0;
	uint64_t asked = began ? c->answer : set->answer;

	if (!set->facts.update || set->sure)
		return;
	asked = asked ? asked : began ? began : n;
	if (asked < set->facts.update)
		return;
	/* Only a new file that a command made may turn out to be a by-product. */
	set->sure = !fresh || !cmd || set->n_changes >= PRED_CHANGES_MAX;
	MEM_GROW(set->change, set->cap_changes, set->n_changes + 1);
	set->change[set->n_changes++] = (struct pred_change){ n, cmd, asked, fresh };
}

/* The command's first process has ended: what waited for its status is decided. */
static void settle(struct pred_set *set, uint64_t id, int64_t status)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n_waits; i++) {
		const struct pred_wait *w = &set->wait[i];

		if (w->cmd != id)
			set->wait[n++] = *w;
		else if (pred_alt_status(w->alt, status)) {
			pred_bits_set(&w->match->hits, w->n);
			if (w->match == set->mutation)
				add_change(set, w->n, id, false);
		}
	}
	set->n_waits = n;
}

static void on_exited(struct pred_set *set, struct pred_rec *r)
{
	struct pred_cmd *c = r->cmd ? cmd_of(set, r->cmd) : NULL;

	if (!c || !r->pid || c->pid != r->pid || c->status >= 0)
		return;
	c->status = pred_rec_has(r, PM_SIGNAL) ? 256 + (int64_t)pred_rec_number(r, PM_SIGNAL)
					       : (int64_t)pred_rec_number(r, PM_STATUS);
	settle(set, r->cmd, c->status);
}

static void on_command(struct pred_set *set, struct pred_rec *r)
{
	struct pred_cmd *c = r->cmd ? cmd_of(set, r->cmd) : NULL;
	const char *cls;

	if (!c)
		return;
	cls = pred_rec_text(r, PM_CLASS);
	c->derives = strcmp(cls, "test") == 0 || strcmp(cls, "build") == 0;
	c->record = r->n;
	if (c->begin)
		map_put(&set->begin, r->n, number(c->begin));
}

static void drop_refusal(struct pred_set *set, size_t i)
{
	free(set->refusal[i].why);
	set->refusal[i] = set->refusal[--set->n_refusals];
}

/* The recorded prefix ends here: what happened in it is no update and no change. */
static void on_fork(struct pred_set *set, struct pred_rec *r)
{
	struct pred_facts *f = &set->facts;
	const char *arm = pred_rec_text(r, PM_ARM);

	f->forks++;
	f->fork = r->n;
	f->fork_call = pred_rec_number(r, PM_CALL);
	f->fork_arm_ok = strcmp(arm, "clean") == 0 || strcmp(arm, "shifted") == 0;
	f->fork_arm = arm[0] == 's' ? PRED_SHIFTED : PRED_CLEAN;
	f->update = f->applied = f->message = f->told = 0;
	while (set->n_refusals)
		drop_refusal(set, 0);
	set->n_changes = 0;
	set->sure = false;
}

/* The same effect may be tried again later. */
static void refused(struct pred_set *set, struct pred_rec *r, uint64_t order, uint64_t effect)
{
	if (set->n_refusals >= PRED_REFUSALS_MAX)
		return;
	MEM_GROW(set->refusal, set->cap_refusals, set->n_refusals + 1);
	set->refusal[set->n_refusals++] =
		(struct pred_refusal){ r->n, order, effect,
				       mem_strndup(pred_rec_text(r, PM_REASON), WHY_BYTES) };
}

static void on_intervene(struct pred_set *set, struct pred_rec *r)
{
	struct pred_facts *f = &set->facts;
	const char *kind = pred_rec_text(r, PM_EFFECT);
	uint64_t effect = path_key(kind), order = pred_rec_number(r, PM_ORDER);
	bool message = strcmp(kind, "message") == 0;

	if (!pred_rec_number(r, PM_APPLIED)) {
		refused(set, r, order, effect);
		return;
	}
	for (size_t i = set->n_refusals; i-- > 0;)
		if (set->refusal[i].order == order && set->refusal[i].effect == effect)
			drop_refusal(set, i);
	f->applied++;
	if (!f->update)
		f->update = r->n;
	if (message && !f->message)
		f->message = r->n;
	if (message && !set->run->model && !f->told)
		f->told = r->n;
	if (set->n_firings >= FIRINGS_MAX)
		return;
	MEM_GROW(set->firing, set->cap_firings, set->n_firings + 1);
	set->firing[set->n_firings++] = (struct pred_firing){ r->n, order };
}

static void on_note(struct pred_set *set, struct pred_rec *r)
{
	struct pred_facts *f = &set->facts;

	if (f->update && !f->told && pred_rec_number(r, PM_MESSAGE) && !pred_rec_has(r, PM_LOST))
		f->told = r->n;
}

static void on_authority(struct pred_set *set, struct pred_rec *r)
{
	struct pred_facts *f = &set->facts;

	f->authority = r->n;
	if (pred_rec_has(r, PM_GOAL)) {
		free(f->goal);
		f->goal = mem_strdup(pred_rec_text(r, PM_GOAL));
	}
	if (pred_rec_has(r, PM_VERIFIER)) {
		free(f->verifier);
		f->verifier = mem_strdup(pred_rec_text(r, PM_VERIFIER));
	}
}

static void on_end(struct pred_set *set, struct pred_rec *r)
{
	(void)r;
	set->facts.ended = true;
}

/* Keep a state of a file that is asked for. */
static void add_state(struct pred_set *set, struct pred_rec *r, const char *path, bool by_user)
{
	uintptr_t at = (uintptr_t)map_get(&set->path_at, path_key(path));
	struct pred_state *s;

	if (!at || set->n_states >= PRED_STATES_MAX)
		return;
	MEM_GROW(set->state, set->cap_states, set->n_states + 1);
	s = &set->state[set->n_states++];
	*s = (struct pred_state){
		.n = r->n, .path = at - 1, .first = r->kind == TK_IMAGE, .by_user = by_user
	};
	if (s->first) {
		pred_rec_digest(r, PM_SHA256, s->post);
		s->says = true;
		return;
	}
	pred_rec_digest(r, PM_PRE, s->pre);
	pred_rec_digest(r, PM_POST, s->post);
	s->says = s->pre[0] || s->post[0];
}

/* The first that is heard of a file says whether the base has it. */
static void first_seen(struct pred_set *set, const char *path, bool there)
{
	uint64_t key = path_key(path);

	if (map_get(&set->known, key))
		return;
	map_put(&set->known, key, number(1));
	if (!there)
		map_put(&set->new_file, key, number(1));
}

static void on_image(struct pred_set *set, struct pred_rec *r)
{
	const char *path = pred_rec_path(r, PM_PATH);

	if (!path[0])
		return;
	first_seen(set, path, pred_rec_has(r, PM_SHA256));
	add_state(set, r, path, false);
}

static void on_edit(struct pred_set *set, struct pred_rec *r)
{
	bool user = strcmp(pred_rec_text(r, PM_BY), "user") == 0;
	const char *path = pred_rec_path(r, PM_PATH);

	if (!path[0])
		return;
	/* Neither digest: the record says nothing of contents. */
	first_seen(set, path, pred_rec_has(r, PM_PRE) || !pred_rec_has(r, PM_POST));
	if (user && set->user_paths)
		pred_watch(set, path);
	add_state(set, r, path, user);
	if (!user && !set->mutation && path[0] != '/' && !treestate_cache(path))
		add_change(set, r->n, r->cmd, map_get(&set->new_file, path_key(path)) != NULL);
}

static void on_service(struct pred_set *set, struct pred_rec *r)
{
	if (!set->mutation && strcmp(pred_rec_text(r, PM_EVENT), "change") != 0 &&
	    pred_rec_number(r, PM_MUTATING))
		add_change(set, r->n, r->cmd, false);
}

static const struct kind_row {
	enum trace_kind kind;
	void (*fn)(struct pred_set *set, struct pred_rec *r);
} kind_rows[] = {
	/* clang-format off */
	{ TK_SPAWN,     on_spawn },
	{ TK_EXIT,      on_exited },
	{ TK_COMMAND,   on_command },
	{ TK_FORK,      on_fork },
	{ TK_INTERVENE, on_intervene },
	{ TK_NOTE,      on_note },
	{ TK_AUTHORITY, on_authority },
	{ TK_IMAGE,     on_image },
	{ TK_EDIT,      on_edit },
	{ TK_MODEL,     on_model },
	{ TK_SERVICE,   on_service },
	{ TK_END,       on_end },
	/* clang-format on */
};

static void wait_for(struct pred_set *set, const struct pred_rec *r, struct pred_match *m,
		     const struct pred_alt *a)
{
	MEM_GROW(set->wait, set->cap_waits, set->n_waits + 1);
	set->wait[set->n_waits++] = (struct pred_wait){ r->cmd, r->n, m, a };
}

static void try_match(struct pred_set *set, struct pred_rec *r, struct pred_match *m)
{
	const struct pred_cmd *c = r->kind == TK_COMMAND ? cmd_of(set, r->cmd) : NULL;
	int64_t status = c ? c->status : -1;

	for (size_t i = 0; i < m->n; i++) {
		enum pred_answer a = pred_alt_test(&m->alt[i], r, status);

		if (a == PRED_LATER)
			wait_for(set, r, m, &m->alt[i]);
		if (a != PRED_YES)
			continue;
		pred_bits_set(&m->hits, r->n);
		if (m == set->mutation)
			add_change(set, r->n, r->cmd, false);
		return;
	}
}

/* Milliseconds are enough for what a person or a test waits for. A clock that goes back stands still here. */
static void note_time(struct pred_set *set, uint64_t n, uint64_t ns)
{
	uint64_t ms = ns / 1000000;
	uint32_t last = set->n_ms ? set->ms[set->n_ms - 1] : 0;

	MEM_GROW(set->ms, set->cap_ms, n + 1);
	while (set->n_ms < n)
		set->ms[set->n_ms++] = last;
	set->ms[set->n_ms++] = ms > UINT32_MAX ? UINT32_MAX : ms < last ? last : (uint32_t)ms;
}

static void each_record(struct pred_set *set, struct pred_rec *r)
{
	struct pred_facts *f = &set->facts;

	if (r->n >= PRED_RECORDS_MAX) {
		f->cut = true;
		return;
	}
	if (r->n != f->last_n + 1)
		f->gap = true;
	if (r->n <= f->last_n)
		return; /* a number that was there before proves nothing */
	f->last_n = r->n;
	f->ended = false; /* unless this is the end */
	if (set->timed)
		note_time(set, r->n, pred_rec_number(r, PM_T));
	if (r->kind >= TK_MAX)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kind_rows); i++)
		if (kind_rows[i].kind == r->kind)
			kind_rows[i].fn(set, r);
	for (size_t i = 0; i < set->n_by_kind[r->kind]; i++)
		try_match(set, r, set->by_kind[r->kind][i]);
}

/* Which kinds of records are looked into, and which matches each of them meets. */
static void prepare(struct pred_set *set)
{
	set->kinds = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kind_rows); i++)
		set->kinds |= PRED_KIND(kind_rows[i].kind);
	for (size_t k = 0; k < TK_MAX; k++) {
		set->by_kind[k] = mem_zalloc(set->n_matches + 1, sizeof(struct pred_match *));
		for (size_t i = 0; i < set->n_matches; i++) {
			uint64_t kinds = 0;

			for (size_t a = 0; a < set->match[i]->n; a++)
				kinds |= set->match[i]->alt[a].kinds;
			if (kinds & PRED_KIND(k))
				set->by_kind[k][set->n_by_kind[k]++] = set->match[i];
			set->kinds |= kinds;
		}
	}
}

/* By-products of tests and builds are no changes: new files that such a command made. */
static void find_mutation(struct pred_set *set)
{
	for (size_t i = 0; i < set->n_changes && !set->facts.mutation; i++) {
		const struct pred_change *c = &set->change[i];
		uintptr_t at = c->cmd ? (uintptr_t)map_get(&set->cmd_at, c->cmd) : 0;

		if (c->fresh && at && set->cmd[at - 1].derives)
			continue;
		set->facts.mutation = c->n;
		set->facts.mutation_asked = c->asked;
	}
}

static int scan_file(struct pred_set *set, FILE *f, const char *path, struct err *err)
{
	auto_free char *line = NULL;
	size_t cap = 0, no = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, f)) > 0) {
		bool whole = line[n - 1] == '\n';
		struct err bad = { 0 };
		int rc = pred_rec_read(&set->rec, &set->members, line, (size_t)n - whole,
				       set->kinds, &bad);

		no++;
		if (rc < 0 && whole)
			return err_set(err, ERR_INPUT, "%s:%zu: not a trace record", path, no);
		if (rc < 0)
			set->facts.cut = true;
		else if (rc > 0)
			each_record(set, &set->rec);
	}
	return 0;
}

int pred_scan(struct pred_set *set, const struct pred_run *run, struct err *err)
{
	auto_free char *path =
		run->trace ? mem_strdup(run->trace) : path_join(run->dir, "trace.jsonl");
	FILE *f = fopen(path, "re");
	int rc;

	ensure(!set->scanned, "a set reads one trace");
	if (!f)
		return err_set(err, ERR_INPUT, "cannot read %s: %s; give a run directory", path,
			       strerror(errno));
	set->run = run;
	set->rec.workdir = run->workdir;
	prepare(set);
	rc = scan_file(set, f, path, err);
	fclose(f);
	if (rc < 0)
		return rc;
	find_mutation(set);
	if (set->n_refusals) {
		set->facts.refused = set->refusal[0].n;
		set->facts.refused_why = mem_strdup(set->refusal[0].why);
	}
	set->scanned = true;
	return 0;
}

const char *pred_state_at(const struct pred_set *set, const char *path, uint64_t n)
{
	uintptr_t at = (uintptr_t)map_get(&set->path_at, path_key(path));
	const struct pred_state *before = NULL, *after = NULL, *first = NULL;

	for (size_t i = 0; at && i < set->n_states; i++) {
		const struct pred_state *s = &set->state[i];

		if (s->path != at - 1)
			continue;
		if (s->first)
			first = first ? first : s;
		else if (s->n < n)
			before = s;
		else if (!after)
			after = s;
	}
	if (before)
		return before->says ? before->post : after && after->says ? after->pre : NULL;
	if (first)
		return first->post;
	return after && after->says ? after->pre : NULL;
}
