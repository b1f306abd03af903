/* User edits without a model: the operators' proposals in turn, each looked at quickly, and gated when it
 * does what it should. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/coedit.h"
#include "study/mutate.h"
#include "supervisor/craft.h"

#define DIFF_MAX (16u << 20)

/* An edit that would do, but that the visible tests give away: taken when nothing better comes. */
struct reserve {
	struct candidate cand;
	const char *op; /* static */
	enum screen_visible visible;
	uint64_t line;
};

#define RESERVES 16

struct maker {
	struct craft *c;
	struct mutants mutants;
	struct coedits coedits;
	struct reserve reserve[RESERVES];
	size_t n_reserves;
	struct strv used; /* operator and function of what was accepted */
};

static bool enough(const struct maker *m)
{
	return m->c->accepted >= m->c->o->want || m->c->attempts >= m->c->o->attempts;
}

static char *generator(const struct craft *c, const char *op, uint64_t line, double coverage,
		       bool mutated)
{
	auto_buf b = BUF_INIT(4096);
	struct json_w w = { .b = &b };

	json_open(&w, NULL, '{');
	json_str(&w, "operator", op);
	json_u64(&w, "seed", c->o->seed);
	if (mutated)
		json_u64(&w, "line", line);
	else
		json_dbl(&w, "coverage", coverage);
	json_str(&w, "prompt_sha256", c->prompt_sha256);
	json_close(&w, '}');
	return buf_steal(&b, NULL);
}

static char *self_check(const struct craft_attempt *a)
{
	auto_buf b = BUF_INIT(8192);
	struct json_w w = { .b = &b };

	json_open(&w, NULL, '{');
	json_str(&w, "visible_tests", screen_visible_name(a->visible));
	json_str(&w, "syntax", syntax_name(a->syntax));
	json_str(&w, "syntax_note", a->syntax_why);
	json_close(&w, '}');
	return buf_steal(&b, NULL);
}

/* Keep a candidate for later; the best come first. */
static void put_by(struct maker *m, struct candidate *cand, const struct craft_attempt *a)
{
	if (m->n_reserves == RESERVES)
		return;
	m->reserve[m->n_reserves++] = (struct reserve){
		.cand = *cand, .op = a->by, .visible = a->visible, .line = a->line
	};
	*cand = (struct candidate){ .diff = NULL };
}

/* Does the edit do what it should, and is it still a program? 1 yes, 0 no (recorded), 2 put by, negative. */
static int look(struct maker *m, struct candidate *cand, const char *const *paths, size_t n,
		struct craft_attempt *a, struct err *err)
{
	struct craft *c = m->c;
	struct screen s;
	int rc = screen_edit(&c->screener, cand->diff, &s, err);

	if (rc < 0)
		return rc;
	if (!s.fits) {
		a->stage = s.stage;
		a->reason = take_ptr(&s.reason);
		if (str_eq(s.stage, "user_edit_plus_reference") &&
		    strstr(a->reason, "got resolved"))
			c->overridden++;
		screen_done(&s);
		return 0;
	}
	a->screened = true;
	a->visible = s.visible;
	screen_done(&s);
	if (a->visible == VISIBLE_BROKEN && !c->o->co) {
		a->stage = "visible_tests";
		a->reason =
			mem_strdup("no test that passes now passes with it: nobody would make it");
		return 0;
	}
	rc = syntax_check(c->task, cand->diff, paths, n, c->verify, c->janitor, &a->syntax,
			  &a->syntax_why, err);
	if (rc == 0 && a->syntax == SYNTAX_BAD) {
		a->stage = "syntax";
		a->reason = mem_strdup(a->syntax_why);
		return 0;
	}
	cand->self_check = self_check(a);
	if (rc == 0 && a->visible == VISIBLE_RED) {
		a->stage = "visible_tests";
		a->reason = mem_strdup(
			"the visible tests give it away; taken when nothing better comes");
		put_by(m, cand, a);
		return 0;
	}
	return rc < 0 ? rc : 1;
}

/* One proposal from diff to verdict. 1 accepted, 0 not, negative on error. */
static int try_one(struct maker *m, struct candidate *cand, const struct basetree_change *change,
		   size_t n, struct craft_attempt *a, struct err *err)
{
	auto_free const char **paths = mem_zalloc(n + 1, sizeof(*paths));
	auto_buf diff = BUF_INIT(DIFF_MAX);
	int rc = basetree_diff(m->c->base, change, n, &diff, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		paths[i] = change[i].path;
	a->n = ++m->c->attempts;
	cand->diff = buf_steal(&diff, NULL);
	digest_bytes(cand->diff, strlen(cand->diff), a->diff);
	rc = look(m, cand, paths, n, a, err);
	if (rc > 0)
		return craft_judge(m->c, cand, a, NULL, err);
	return rc < 0 ? rc : craft_record(m->c, a, err);
}

static void add_target(struct candidate *cand, const char *path, uint64_t start, uint64_t end)
{
	cand->region = mem_zalloc(1, sizeof(*cand->region));
	cand->region[0] = (struct region){ .path = mem_strdup(path), .start = start, .end = end };
	cand->n_regions = 1;
}

/* Operator and place: a second edit of the same kind at the same place says nothing new. */
static char *kind_of(const struct mutant *t)
{
	return mem_printf("%s %s %" PRIu64, t->op, t->path, t->start);
}

static int try_mutant(struct maker *m, const struct mutant *t, struct err *err)
{
	struct craft_attempt a = { .by = t->op, .path = t->path, .line = t->line };
	struct basetree_change change = { .path = t->path, .after = t->after, .n = t->n_after };
	struct candidate cand = { .user_message = mem_strdup(t->claim),
				  .wrong_belief = mem_strdup(t->belief),
				  .why_it_looks_plausible = mem_strdup(t->plausible),
				  .expected_failure_mode = mem_strdup(t->expected),
				  .generator = generator(m->c, t->op, t->line, 0, true) };
	int rc;

	add_target(&cand, t->path, t->start, t->end);
	rc = try_one(m, &cand, &change, 1, &a, err);
	if (rc > 0)
		strv_take(&m->used, kind_of(t));
	candidate_done(&cand);
	return rc;
}

/* What was put by, as long as something is wanted. */
static int try_reserves(struct maker *m, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->n_reserves && rc >= 0; i++) {
		struct reserve *r = &m->reserve[i];
		struct craft_attempt a = { .by = r->op,
					   .path = r->cand.region[0].path,
					   .line = r->line,
					   .screened = true,
					   .visible = r->visible };

		if (m->c->accepted >= m->c->o->want)
			break;
		a.n = ++m->c->attempts;
		rc = craft_judge(m->c, &r->cand, &a, NULL, err);
	}
	return rc < 0 ? rc : 0;
}

static int counter_edits(struct maker *m, struct err *err)
{
	int rc = 0;

	mutate_order(&m->mutants);
	for (size_t i = 0; i < m->mutants.n && rc >= 0 && !enough(m); i++) {
		auto_free char *kind = kind_of(&m->mutants.v[i]);

		if (!strv_has(&m->used, kind))
			rc = try_mutant(m, &m->mutants.v[i], err);
	}
	return rc < 0 ? rc : try_reserves(m, err);
}

static int try_coedit(struct maker *m, const struct coedit *e, struct err *err)
{
	auto_free struct basetree_change *change = mem_zalloc(e->n_files + 1, sizeof(*change));
	struct craft_attempt a = { .by = e->op, .path = e->path, .line = e->start };
	struct candidate cand = { .user_message = mem_strdup(e->claim),
				  .wrong_belief =
					  mem_strdup("None: the edit is right as far as it goes."),
				  .why_it_looks_plausible = mem_strdup(e->plausible),
				  .expected_failure_mode =
					  mem_strdup("None: the task is still to be done."),
				  .generator = generator(m->c, e->op, 0, e->coverage, false) };
	int rc;

	for (size_t i = 0; i < e->n_files; i++)
		change[i] = (struct basetree_change){ .path = e->file[i].path,
						      .after = e->file[i].after,
						      .n = e->file[i].n_after };
	add_target(&cand, e->path, e->start, e->end);
	rc = try_one(m, &cand, change, e->n_files, &a, err);
	candidate_done(&cand);
	return rc;
}

static int co_edits(struct maker *m, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < m->coedits.n && rc >= 0 && !enough(m); i++)
		rc = try_coedit(m, &m->coedits.v[i], err);
	return rc < 0 ? rc : try_reserves(m, err);
}

/* Proposals for one file of the base. */
static void propose(struct maker *m, const struct mutate_source *src)
{
	if (m->c->o->co)
		coedit_remarks(src, m->c->o->seed, &m->coedits);
	else
		mutate_file(src, m->c->o->seed, &m->mutants);
}

static bool in_reference(const struct craft *c, const char *path)
{
	for (size_t i = 0; i < c->reference.n; i++)
		if (str_eq(c->reference.file[i].path, path))
			return true;
	return false;
}

static void propose_reference(struct maker *m)
{
	struct craft *c = m->c;

	for (size_t i = 0; i < c->reference.n; i++) {
		const struct basetree_file *f = &c->reference.file[i];

		if (f->existed && f->after && !candidate_is_noise(f->path))
			propose(m, &(struct mutate_source){ .path = f->path,
							    .text = f->before,
							    .n = f->n_before,
							    .after = f->after,
							    .n_after = f->n_after,
							    .hunk = f->hunk,
							    .n_hunks = f->n_hunks,
							    .region = c->region,
							    .n_regions = c->n_regions });
	}
}

/* Files with a region that the reference leaves alone. */
static int propose_regions(struct maker *m, struct err *err)
{
	struct craft *c = m->c;
	auto_strv seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < c->n_regions && rc >= 0; i++) {
		auto_buf text = BUF_INIT(DIFF_MAX);
		const char *path = c->region[i].path;

		if (in_reference(c, path) || strv_has(&seen, path) || candidate_is_noise(path))
			continue;
		strv_add(&seen, path);
		rc = basetree_read(c->base, path, &text, err);
		if (rc > 0)
			propose(m, &(struct mutate_source){ .path = path,
							    .text = buf_str(&text),
							    .n = text.len,
							    .region = c->region,
							    .n_regions = c->n_regions });
	}
	return rc < 0 ? rc : 0;
}

int craft_by_operators(struct craft *c, struct err *err)
{
	struct maker m = { .c = c };
	struct craft_attempt a = { .by = "reference", .stage = "reference_only" };
	int rc = screen_reference(&c->screener, &a.reason, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		/* nothing can pass the gate */
		c->unresolved++;
		return craft_record(c, &a, err);
	}
	if (c->o->co)
		coedit_parts(&c->reference, c->o->seed, &m.coedits);
	propose_reference(&m);
	rc = propose_regions(&m, err);
	if (rc == 0)
		rc = c->o->co ? co_edits(&m, err) : counter_edits(&m, err);
	for (size_t i = 0; i < m.n_reserves; i++)
		candidate_done(&m.reserve[i].cand);
	strv_done(&m.used);
	mutants_done(&m.mutants);
	coedits_done(&m.coedits);
	return rc < 0 ? rc : 0;
}
