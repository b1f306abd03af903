/* Cells and attempts of the journal. */
#include "study/journal_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

static const char *const kinds[] = { "run", "fork", NULL };

void attempt_figures_done(struct attempt_figures *f)
{
	free(f->verdict);
	free(f->result);
	*f = (struct attempt_figures){ 0 };
}

void journal_cells_done(struct journal_cells *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct journal_cell *v = &c->v[i];
		char *text[] = { v->key,   v->task,        v->agent, v->condition, v->position,
				 v->after, v->plan_digest, v->spec,  v->why };

		for (size_t k = 0; k < ARRAY_SIZE(text); k++)
			free(text[k]);
		attempt_figures_done(&v->figures);
	}
	free(c->v);
	*c = (struct journal_cells){ 0 };
}

/* The cell's own columns, in the order of the SELECT below. */
static void read_cell(sqlite3_stmt *s, struct journal_cell *c)
{
	auto_free char *kind = journal_text(s, 3), *state = journal_text(s, 12);

	*c = (struct journal_cell){
		.id = sqlite3_column_int64(s, 0),
		.turn = (uint32_t)journal_number(s, 1),
		.key = journal_text(s, 2),
		.kind = journal_index(kind, kinds),
		.task = journal_text(s, 4),
		.agent = journal_text(s, 5),
		.condition = journal_text(s, 6),
		.position = journal_text(s, 7),
		.repeat = journal_number(s, 8),
		.after = journal_text(s, 9),
		.plan_digest = journal_text(s, 10),
		.spec = journal_text(s, 11),
		.state = journal_index(state, journal_states),
		.why = journal_text(s, 13),
		.infra = journal_number(s, 14),
		.not_before = journal_number(s, 15),
		.max_micro_dollars = journal_number(s, 16),
		.max_tokens = journal_number(s, 17),
	};
}

/* The last attempt of a cell: still open, or what it came to. */
static void read_attempt(sqlite3_stmt *s, struct journal_cell *c)
{
	auto_free char *outcome = journal_text(s, 7), *id = journal_text(s, 3);
	const char *boot = (const char *)sqlite3_column_text(s, 5);
	struct attempt_figures *f = &c->figures;

	c->attempts = journal_number(s, 2);
	if (journal_index(outcome, journal_ends) == ATTEMPT_OPEN) {
		c->attempt = sqlite3_column_int64(s, 1);
		c->attempt_n = c->attempts;
		c->began = journal_number(s, 6);
		c->handle.start = journal_number(s, 4);
		snprintf(c->handle.id, sizeof(c->handle.id), "%s", id ? id : "");
		snprintf(c->handle.boot, sizeof(c->handle.boot), "%s", boot ? boot : "");
		return;
	}
	*f = (struct attempt_figures){
		.verdict = journal_text(s, 8),
		.steps = journal_number(s, 9),
		.has_tokens = sqlite3_column_type(s, 10) != SQLITE_NULL,
		.tokens = journal_number(s, 10),
		.cost_known = sqlite3_column_type(s, 11) != SQLITE_NULL,
		.micro_dollars = journal_number(s, 11),
		.wall_ns = journal_number(s, 12),
		.memory = journal_number(s, 13),
		.disk = journal_number(s, 14),
		.result = journal_text(s, 15),
	};
}

static int read_attempts(struct journal *j, struct journal_cells *c, struct err *err)
{
	sqlite3_stmt *s;
	size_t i = 0;
	int rc = journal_prepare(
		j,
		"SELECT cell, id, n, handle, start_time, boot, began, outcome, verdict, steps, "
		"tokens, micro_dollars, wall_ns, memory, disk, result FROM attempt a WHERE n = "
		"(SELECT max(n) FROM attempt b WHERE b.cell = a.cell) ORDER BY cell",
		&s, err);
	int step;

	if (rc < 0)
		return rc;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(s, 0);

		while (i < c->n && c->v[i].id < id)
			i++;
		if (i < c->n && c->v[i].id == id)
			read_attempt(s, &c->v[i]);
	}
	sqlite3_finalize(s);
	return step == SQLITE_DONE ? 0 : journal_complain(j, "read", err);
}

int journal_cells(struct journal *j, struct journal_cells *ret, struct err *err)
{
	struct journal_cells c = { 0 };
	size_t cap = 0;
	sqlite3_stmt *s;
	/* One moment for both questions, although somebody writes meanwhile. */
	int rc = journal_exec(j, "BEGIN", err), step;

	if (rc == 0)
		rc = journal_prepare(j,
				     "SELECT id, turn, key, kind, task, agent, condition, "
				     "position, repeat, after, plan_digest, spec, state, why, "
				     "infra, not_before, max_micro_dollars, max_tokens FROM cell "
				     "ORDER BY id",
				     &s, err);
	if (rc < 0)
		return journal_finish(j, rc, err);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		MEM_GROW(c.v, cap, c.n + 1);
		read_cell(s, &c.v[c.n++]);
	}
	sqlite3_finalize(s);
	rc = step == SQLITE_DONE ? read_attempts(j, &c, err) : journal_complain(j, "read", err);
	rc = journal_finish(j, rc, err);
	if (rc < 0)
		journal_cells_done(&c);
	else
		*ret = c;
	return rc;
}

static int add_cell(struct journal *j, const struct cell *c, uint32_t turn, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(
		j,
		"INSERT INTO cell(turn, key, kind, task, agent, condition, position, repeat, "
		"after, plan_digest, spec, max_micro_dollars, max_tokens, state) "
		"VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting')",
		&s, err);

	if (rc < 0)
		return rc;
	journal_bind(s, 1, turn);
	journal_bind_text(s, 2, c->key);
	journal_bind_text(s, 3, kinds[c->kind]);
	journal_bind_text(s, 4, c->task);
	journal_bind_text(s, 5, c->agent);
	journal_bind_text(s, 6, c->condition);
	journal_bind_text(s, 7, c->position);
	journal_bind(s, 8, c->repeat);
	journal_bind_text(s, 9, c->after);
	journal_bind_text(s, 10, c->plan_digest);
	journal_bind_text(s, 11, c->spec);
	journal_bind(s, 12, c->max_micro_dollars);
	journal_bind(s, 13, c->max_tokens);
	return journal_done(j, s, err);
}

/* The first thing in which the specs of a cell differ, for people. */
static int differs(const struct journal *j, const struct journal_cell *had, const struct cell *now,
		   struct err *err)
{
	size_t at = 0;

	if (!str_eq(had->plan_digest, now->plan_digest) && had->plan_digest && now->plan_digest)
		return err_set(err, ERR_INPUT,
			       "%s: the files of %s are no longer those that the study was begun "
			       "with (plan %.12s, now %.12s); give them back, or begin another "
			       "study",
			       j->path, now->key, had->plan_digest, now->plan_digest);
	while (had->spec[at] && had->spec[at] == now->spec[at])
		at++;
	at = at > 40 ? at - 40 : 0;
	return err_set(err, ERR_INPUT,
		       "%s: %s is another cell than the study was begun with: \"...%.90s\", now "
		       "\"...%.90s\"; take the plan as it was, or begin another study",
		       j->path, now->key, had->spec + at, now->spec + at);
}

/* Every old cell against the plan; *ret_known[i] says that cell i of the plan is old. */
static int compare(struct journal *j, const struct cells *cells, const struct journal_cells *had,
		   bool *known, struct err *err)
{
	struct map keys = { 0 };
	int rc = 0;

	for (size_t i = 0; i < cells->n; i++)
		map_put(&keys, map_hash(cells->v[i].key, strlen(cells->v[i].key)), &cells->v[i]);
	for (size_t i = 0; rc == 0 && i < had->n; i++) {
		const struct journal_cell *h = &had->v[i];
		const struct cell *now = map_get(&keys, map_hash(h->key, strlen(h->key)));

		if (!now)
			rc = err_set(err, ERR_INPUT,
				     "%s: %s is in the journal and not in the plan; take the plan "
				     "as it was, or begin another study",
				     j->path, h->key);
		else if (strcmp(h->spec, now->spec) != 0)
			rc = differs(j, h, now, err);
		else
			known[now - cells->v] = true;
	}
	map_done(&keys);
	return rc;
}

/* What is new needs --extend. */
static int check_new(const struct journal *j, const char *settings, const struct cells *cells,
		     const bool *known, struct err *err)
{
	size_t at = 0;

	for (size_t i = 0; i < cells->n; i++) {
		if (!known[i])
			return err_set(err, ERR_INPUT,
				       "%s: %s is in the plan and not in the journal; say "
				       "--extend to add what is new",
				       j->path, cells->v[i].key);
	}
	if (strcmp(settings, j->settings) == 0)
		return 0;
	while (settings[at] && settings[at] == j->settings[at])
		at++;
	while (at && settings[at] != ',' && settings[at] != '{')
		at--;
	return err_set(
		err, ERR_INPUT,
		"%s: the settings of the study were \"%.60s\" and are \"%.60s\" in the plan; "
		"say --extend to go on with them",
		j->path, j->settings + at + (at > 0), settings + at + (at > 0));
}

static int enter(struct journal *j, const char *settings, const struct cells *cells,
		 const uint32_t *order, const bool *known, size_t first_turn, size_t *ret_added,
		 struct err *err)
{
	int rc = journal_exec(j, "BEGIN IMMEDIATE", err);
	auto_free uint32_t *turn = mem_zalloc(cells->n + 1, sizeof(*turn));

	for (size_t i = 0; i < cells->n; i++)
		turn[order[i]] = (uint32_t)(first_turn + i);
	for (size_t i = 0; rc == 0 && i < cells->n; i++) {
		if (known[i])
			continue;
		rc = add_cell(j, &cells->v[i], turn[i], err);
		*ret_added += 1;
	}
	if (rc == 0)
		rc = journal_put(j, "settings", settings, err);
	return journal_finish(j, rc, err);
}

int journal_enter(struct journal *j, const char *settings, const struct cells *cells,
		  const uint32_t *order, bool extend, size_t *ret_added, struct err *err)
{
	auto_free bool *known = mem_zalloc(cells->n + 1, sizeof(*known));
	struct journal_cells had = { 0 };
	int rc = journal_cells(j, &had, err);

	*ret_added = 0;
	if (rc == 0)
		rc = compare(j, cells, &had, known, err);
	if (rc == 0 && j->settings && !extend)
		rc = check_new(j, settings, cells, known, err);
	if (rc == 0)
		rc = enter(j, settings, cells, order, known, had.n, ret_added, err);
	journal_cells_done(&had);
	if (rc == 0) {
		free(j->settings);
		j->settings = mem_strdup(settings);
	}
	return rc;
}

static int set_state(struct journal *j, const struct journal_cell *c, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(
		j, "UPDATE cell SET state = ?, why = ?, infra = ?, not_before = ? WHERE id = ?", &s,
		err);

	if (rc < 0)
		return rc;
	journal_bind_text(s, 1, journal_states[c->state]);
	journal_bind_text(s, 2, c->why);
	journal_bind(s, 3, c->infra);
	journal_bind(s, 4, c->not_before);
	journal_bind(s, 5, (uint64_t)c->id);
	return journal_done(j, s, err);
}

static int new_attempt(struct journal *j, const struct journal_cell *c, const char *engine,
		       uint64_t began, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(j,
				 "INSERT INTO attempt(cell, n, engine, began, outcome) "
				 "VALUES(?, ?, ?, ?, 'open')",
				 &s, err);

	if (rc < 0)
		return rc;
	journal_bind(s, 1, (uint64_t)c->id);
	journal_bind(s, 2, c->attempts + 1);
	journal_bind_text(s, 3, engine);
	journal_bind(s, 4, began);
	return journal_done(j, s, err);
}

int journal_starting(struct journal *j, struct journal_cell *c, const char *engine, struct err *err)
{
	struct journal_cell next = *c;
	uint64_t now = clock_wall();
	int rc = journal_exec(j, "BEGIN IMMEDIATE", err);

	next.state = CELL_RUNNING;
	next.why = NULL;
	if (rc == 0)
		rc = set_state(j, &next, err);
	if (rc == 0)
		rc = new_attempt(j, c, engine, now, err);
	if (rc == 0)
		next.attempt = sqlite3_last_insert_rowid(j->db);
	rc = journal_finish(j, rc, err);
	if (rc < 0)
		return rc;
	free(c->why);
	*c = next;
	c->attempts++;
	c->attempt_n = c->attempts;
	c->began = now;
	c->handle = (struct engine_handle){ .start = 0 };
	return 0;
}

int journal_started(struct journal *j, const struct journal_cell *c, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(
		j, "UPDATE attempt SET handle = ?, start_time = ?, boot = ? WHERE id = ?", &s, err);

	if (rc < 0)
		return rc;
	journal_bind_text(s, 1, c->handle.id);
	journal_bind(s, 2, c->handle.start);
	journal_bind_text(s, 3, c->handle.boot);
	journal_bind(s, 4, (uint64_t)c->attempt);
	return journal_done(j, s, err);
}

static int end_attempt(struct journal *j, const struct journal_cell *c, enum attempt_end end,
		       const struct attempt_figures *f, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(
		j,
		"UPDATE attempt SET ended = ?, outcome = ?, why = ?, verdict = ?, steps = ?, "
		"tokens = ?, micro_dollars = ?, wall_ns = ?, memory = ?, disk = ?, result = ? "
		"WHERE id = ?",
		&s, err);

	if (rc < 0)
		return rc;
	journal_bind(s, 1, clock_wall());
	journal_bind_text(s, 2, journal_ends[end]);
	journal_bind_text(s, 3, c->why);
	journal_bind_text(s, 4, f->verdict);
	journal_bind(s, 5, f->steps);
	if (f->has_tokens)
		journal_bind(s, 6, f->tokens);
	if (f->cost_known)
		journal_bind(s, 7, f->micro_dollars);
	journal_bind(s, 8, f->wall_ns);
	journal_bind(s, 9, f->memory);
	journal_bind(s, 10, f->disk);
	journal_bind_text(s, 11, f->result);
	journal_bind(s, 12, (uint64_t)c->attempt);
	return journal_done(j, s, err);
}

int journal_ended(struct journal *j, struct journal_cell *c, enum attempt_end end,
		  enum cell_state state, const char *why, struct attempt_figures *figures,
		  struct err *err)
{
	static const struct attempt_figures nothing = { 0 };
	struct journal_cell next = *c;
	int rc = journal_exec(j, "BEGIN IMMEDIATE", err);

	next.state = state;
	next.why = mem_strdup(why);
	if (rc == 0)
		rc = end_attempt(j, &next, end, figures ? figures : &nothing, err);
	if (rc == 0)
		rc = set_state(j, &next, err);
	rc = journal_finish(j, rc, err);
	if (rc < 0) {
		free(next.why);
		return rc;
	}
	free(c->why);
	attempt_figures_done(&c->figures);
	*c = next;
	c->attempt = 0;
	c->figures = figures ? *figures : nothing;
	if (figures)
		*figures = nothing;
	return 0;
}

int journal_state(struct journal *j, struct journal_cell *c, enum cell_state state, const char *why,
		  struct err *err)
{
	struct journal_cell next = *c;
	int rc;

	next.state = state;
	next.why = mem_strdup(why);
	rc = set_state(j, &next, err);
	free(rc < 0 ? next.why : c->why);
	if (rc == 0)
		*c = next;
	return rc;
}

int journal_history(struct journal *j, const char *key,
		    void (*each)(void *arg, uint64_t at, const char *what, const char *text),
		    void *arg, struct err *err)
{
	sqlite3_stmt *s;
	int rc = journal_prepare(
		j,
		key ? "SELECT a.began, a.outcome, 'attempt ' || a.n || ' by ' || a.engine || "
		      "coalesce(' ' || a.handle, '') || coalesce(': ' || a.why, '') FROM attempt a "
		      "JOIN cell c ON c.id = a.cell WHERE c.key = ? ORDER BY a.n"
		    : "SELECT at, what, text FROM event ORDER BY id",
		&s, err);
	int step;

	if (rc < 0)
		return rc;
	if (key)
		journal_bind_text(s, 1, key);
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		auto_free char *what = journal_text(s, 1), *text = journal_text(s, 2);

		each(arg, journal_number(s, 0), what ? what : "", text ? text : "");
	}
	sqlite3_finalize(s);
	return step == SQLITE_DONE ? 0 : journal_complain(j, "read", err);
}
