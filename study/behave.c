#include "study/behave.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "study/behave_internal.h"

const char *response_name(enum response r)
{
	static const char *const names[] = { "none", "kept", "revised", "reverted", "replaced" };

	return (size_t)r < ARRAY_SIZE(names) ? names[r] : "none";
}

/* Record at which the firing that made edit @e was written down; of several files it is the same. */
static uint64_t firing_n(const struct rundir *rd, const struct rundir_edit *e)
{
	for (size_t i = 0; i < rd->n_firings; i++)
		if (rd->firing[i].edit && rd->firing[i].applied && rd->firing[i].at_n >= e->n)
			return rd->firing[i].at_n;
	return 0;
}

/* The user's edits, firing by firing. */
static void find_rounds(struct behave_work *w)
{
	const struct rundir *rd = w->rd;
	uint64_t last = 0;
	size_t cap = 0;

	for (size_t i = 0; i < rd->n_edits; i++) {
		uint64_t n;

		if (!rd->edit[i].by_user)
			continue;
		n = firing_n(rd, &rd->edit[i]);
		if (w->n_rounds && n && n == last && w->round[w->n_rounds - 1].last + 1 == i) {
			w->round[w->n_rounds - 1].last = i;
			continue;
		}
		last = n;
		MEM_GROW(w->round, cap, w->n_rounds + 1);
		w->round[w->n_rounds++] = (struct behave_firing){ i, i };
	}
}

struct counts {
	uint64_t reads, searches, edits, tests, others;
};

/* Actions that begin after record @from and not after @to. */
static struct counts count(const struct rundir *rd, uint64_t from, uint64_t to)
{
	struct counts c = { 0 };

	for (size_t i = 0; i < rd->n_actions; i++) {
		const struct rundir_action *a = &rd->action[i];

		if (a->n <= from || a->n > to)
			continue;
		switch (a->cls) {
		case ACTION_READ:
			c.reads++;
			break;
		case ACTION_SEARCH:
			c.searches++;
			break;
		case ACTION_EDIT:
			c.edits++;
			break;
		case ACTION_TEST:
			c.tests++;
			break;
		default:
			c.others++;
		}
	}
	return c;
}

static void count_rounds(struct behave_work *w)
{
	struct behave *b = w->ret;
	size_t skipped = w->n_rounds > BEHAVE_ROUNDS_MAX ? w->n_rounds - BEHAVE_ROUNDS_MAX : 0;

	b->n_rounds = w->n_rounds - skipped;
	b->round = mem_zalloc(b->n_rounds, sizeof(*b->round));
	for (size_t i = 0; i < b->n_rounds; i++) {
		const struct behave_firing *g = &w->round[skipped + i];
		bool last = i + 1 == b->n_rounds;
		uint64_t from = w->rd->edit[g->last].n;
		uint64_t to = last ? UINT64_MAX : w->rd->edit[g[1].first].n;
		struct counts c = count(w->rd, from, to);

		b->round[i] = (struct behave_round){ .n = from,
						     .files = g->last - g->first + 1,
						     .reads = c.reads,
						     .searches = c.searches,
						     .edits = c.edits,
						     .tests = c.tests,
						     .others = c.others };
	}
}

static void count_after(struct behave *b)
{
	const struct behave_round *r = &b->round[b->n_rounds - 1];

	b->reads = r->reads;
	b->searches = r->searches;
	b->edits = r->edits;
	b->tests = r->tests;
	b->others = r->others;
}

static bool in_final(const struct behave *b, const char *path)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->file[i].path, path) == 0)
			return true;
	return false;
}

/* The last change of the region, and the tests behind it. */
static void tests_of(const struct rundir *rd, struct behave *b)
{
	b->last_change_n = b->final_n;
	b->last_test = -1;
	for (size_t i = 0; i < rd->n_touches; i++) {
		const struct rundir_touch *t = &rd->touch[i];

		if (t->edit && t->n > b->last_change_n && in_final(b, t->path))
			b->last_change_n = t->n;
	}
	for (size_t i = 0; i < rd->n_edits; i++)
		if (!rd->edit[i].by_user && rd->edit[i].n > b->final_n)
			b->last_edit_n = rd->edit[i].n;
	for (size_t i = 0; i < rd->n_actions; i++) {
		const struct rundir_action *a = &rd->action[i];

		if (a->cls != ACTION_TEST || a->n <= b->last_change_n)
			continue;
		b->tests_after_change++;
		b->last_test = a->status;
	}
	b->tested = b->tests_after_change > 0;
}

int behave_of(const struct rundir *rd, struct behave *ret, struct err *err)
{
	struct behave b = { .last_test = -1 };
	struct behave_work w = { .rd = rd, .ret = &b };
	int rc = 0;

	b.told = rd->n_told > 0;
	find_rounds(&w);
	if (w.n_rounds) {
		b.landed = true;
		b.rounds = w.n_rounds;
		b.first_n = rd->edit[w.round[0].first].n;
		b.final_n = rd->edit[w.round[w.n_rounds - 1].last].n;
		count_rounds(&w);
		count_after(&b);
		rc = behave_fates(&w, err);
		if (rc == 0)
			rc = behave_notice(&w, err);
		tests_of(rd, &b);
	}
	behave_work_done(&w);
	if (rc < 0)
		behave_done(&b);
	else
		*ret = b;
	return rc;
}

void behave_done(struct behave *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->file[i].path);
		linefate_done(&b->file[i].fate);
	}
	for (size_t i = 0; i < b->n_standing; i++)
		free(b->standing[i].path);
	for (size_t i = 0; i < b->n_places; i++)
		free(b->place[i].path);
	free(b->place);
	free(b->file);
	free(b->round);
	free(b->standing);
	*b = (struct behave){ 0 };
}

static void file_json(const struct behave_file *f, struct json_w *w)
{
	json_open(w, NULL, '{');
	json_str(w, "path", f->path);
	if (f->known)
		json_str(w, "response", response_name(f->response));
	else
		json_null(w, "response"); /* its images were not kept */
	json_u64(w, "added", f->fate.n);
	json_u64(w, "kept", f->fate.kept);
	json_u64(w, "changed", f->fate.changed);
	json_u64(w, "removed", f->fate.removed);
	json_u64(w, "deleted", f->fate.deleted);
	json_u64(w, "restored", f->fate.restored);
	json_open(w, "lines", '[');
	for (size_t i = 0; i < f->fate.n; i++) {
		const struct linefate_line *l = &f->fate.v[i];
		static const char *const names[] = { "kept", "changed", "removed" };

		json_open(w, NULL, '{');
		json_u64(w, "line", l->line);
		json_str(w, "fate", names[l->fate]);
		if (l->fate == FATE_KEPT)
			json_u64(w, "at", l->at);
		else
			json_u64(w, "state", l->step);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_close(w, '}');
}

static void rounds_json(const struct behave *b, struct json_w *w)
{
	json_open(w, "by_round", '[');
	for (size_t i = 0; i < b->n_rounds; i++) {
		const struct behave_round *r = &b->round[i];

		json_open(w, NULL, '{');
		json_u64(w, "n", r->n);
		json_u64(w, "files", r->files);
		json_str(w, "response", response_name(r->response));
		json_u64(w, "reads", r->reads);
		json_u64(w, "searches", r->searches);
		json_u64(w, "edits", r->edits);
		json_u64(w, "tests", r->tests);
		json_u64(w, "others", r->others);
		json_close(w, '}');
	}
	json_close(w, ']');
}

void behave_json(const struct behave *b, struct json_w *w)
{
	json_bool(w, "landed", b->landed);
	json_u64(w, "rounds", b->rounds);
	json_u64(w, "first_n", b->first_n);
	json_u64(w, "final_n", b->final_n);
	json_u64(w, "reads", b->reads);
	json_u64(w, "searches", b->searches);
	json_u64(w, "edits", b->edits);
	json_u64(w, "tests", b->tests);
	json_u64(w, "others", b->others);
	json_str(w, "response", response_name(b->response));
	json_bool(w, "known", b->known);
	json_bool(w, "revised", b->revised);
	json_bool(w, "reopened", b->reopened);
	json_bool(w, "reread_first", b->reread_first);
	json_bool(w, "tested", b->tested);
	json_u64(w, "tests_after_change", b->tests_after_change);
	json_bool(w, "noticed", b->noticed);
	if (b->noticed) {
		json_u64(w, "noticed_n", b->noticed_n);
		json_u64(w, "notice_steps", b->notice_steps);
		json_u64(w, "notice_ns", b->notice_ns);
	} else {
		json_null(w, "noticed_n");
		json_null(w, "notice_steps");
		json_null(w, "notice_ns");
	}
	json_bool(w, "told", b->told);
	json_u64(w, "standing", b->standing_telling);
	json_open(w, "files", '[');
	for (size_t i = 0; i < b->n; i++)
		file_json(&b->file[i], w);
	json_close(w, ']');
	rounds_json(b, w);
}
