#include "supervisor/craft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/janitor.h"
#include "study/craft.h"
#include "study/regionfile.h"
#include "verifier/difflines.h"

#define AROUND        3u  /* lines around a change of the reference that belong to its region */
#define PLACES_MAX    32u /* regions in all */
#define EVIDENCE_EDIT ((char *)"user edit")

void craft_done(struct craft *c)
{
	basetree_patch_done(&c->reference);
	basetree_free(c->base);
	for (size_t i = 0; i < c->n_regions; i++) {
		free(c->region[i].path);
		free(c->region[i].evidence);
	}
	free(c->region);
	free(c->prompt);
	free(c->prompt_name);
	secret_done(&c->key);
	profile_free(c->verify);
	task_free(c->task);
	if (c->janitor)
		janitor_finish(c->janitor);
	mem_close(&c->log);
	free(c->dir);
	*c = (struct craft){ .log = -1 };
}

static void add_region(struct craft *c, const char *path, uint64_t start, uint64_t end,
		       const char *evidence)
{
	c->region[c->n_regions++] = (struct region){ .path = mem_strdup(path),
						     .start = start,
						     .end = end,
						     .evidence = mem_strdup(evidence) };
}

/* Without mined regions: where the reference changes implementation files. */
static void regions_of_reference(struct craft *c)
{
	for (size_t i = 0; i < c->reference.n; i++) {
		const struct basetree_file *f = &c->reference.file[i];

		if (candidate_is_noise(f->path) || !f->existed)
			continue;
		for (size_t k = 0; k < f->n_hunks; k++) {
			const struct basetree_hunk *h = &f->hunk[k];
			struct region *last = c->n_regions ? &c->region[c->n_regions - 1] : NULL;
			uint64_t start = h->old_first > AROUND ? h->old_first - AROUND : 1;
			uint64_t end = h->old_first + h->old_n + AROUND - 1;

			if (last && str_eq(last->path, f->path) && start <= last->end + 1)
				last->end = end;
			else if (c->n_regions < REGIONFILE_MAX)
				add_region(c, f->path, start, end, "reference_patch_fallback");
		}
	}
}

static int load_regions(struct craft *c, struct err *err)
{
	struct regionfile rf = { .file = NULL };
	int rc;

	c->region = mem_zalloc(REGIONFILE_MAX, sizeof(*c->region));
	if (!c->o->regions) {
		regions_of_reference(c);
		return 0;
	}
	rc = regionfile_load(c->o->regions, &rf, err);
	if (rc == 0 && rf.instance_id && !str_eq(rf.instance_id, c->task->instance_id))
		rc = err_set(err, ERR_INPUT, "%s: its regions are those of task %s, not of %s",
			     c->o->regions, rf.instance_id, c->task->instance_id);
	for (size_t i = 0; rc == 0 && i < rf.n && c->n_regions < REGIONFILE_MAX; i++)
		add_region(c, rf.region[i].path, rf.region[i].start, rf.region[i].end,
			   rf.region[i].kind ? rf.region[i].kind : rf.tier);
	regionfile_done(&rf);
	return rc;
}

static int load_prompt(struct craft *c, struct err *err)
{
	auto_free char *data = profile_datadir();
	auto_buf b = BUF_INIT(1u << 20);
	int rc;

	c->prompt_name = mem_printf("%s/prompts/craft.txt", data);
	rc = fd_read_file(c->prompt_name, &b, err);
	if (rc < 0)
		return rc;
	digest_bytes(buf_str(&b), b.len, c->prompt_sha256);
	c->prompt = buf_steal(&b, NULL);
	return 0;
}

static int load_task(struct craft *c, struct err *err)
{
	auto_free char *reason = NULL;
	int rc = task_load(c->o->task, &c->task, err);

	if (rc < 0)
		return rc;
	if (!c->task->patch)
		return err_set(err, ERR_INPUT,
			       "task %s has no reference \"patch\": an edit is judged by it",
			       c->task->instance_id);
	rc = basetree_open(c->task, c->janitor, &c->base, err);
	if (rc == 0) {
		rc = basetree_apply(c->base, c->task->patch, &c->reference, &reason, err);
		if (rc == 0)
			rc = err_set(err, ERR_INPUT, "task %s: its reference does not apply: %s",
				     c->task->instance_id, reason);
	}
	return rc < 0 ? rc : 0;
}

static int make_dir(struct craft *c, struct err *err)
{
	auto_free char *cwd = getcwd(NULL, 0), *path = NULL;
	struct stat st;
	int rc;

	if (!cwd)
		return err_sys(err, "cannot tell the current directory");
	c->dir = path_join(cwd, c->o->out);
	rc = fd_mkdirs(c->dir, 0755, err);
	if (rc < 0)
		return rc;
	path = path_join(c->dir, "attempts.jsonl");
	c->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (c->log < 0 || fstat(c->log, &st) < 0)
		return err_sys(err, "cannot make %s", path);
	/* An empty one is of a call that came to no attempt: a wrong name, say. */
	return st.st_size ? err_set(err, ERR_USAGE,
				    "%s holds attempts already; choose another --out", c->dir)
			  : 0;
}

int craft_begin(struct craft *c, const struct craft_options *o, struct err *err)
{
	int rc;

	*c = (struct craft){ .o = o, .log = -1 };
	rc = profile_load(o->profile ? o->profile : "verify", &c->verify, err);
	if (rc == 0)
		rc = janitor_start(&c->janitor, NULL, err);
	if (rc == 0)
		rc = load_task(c, err);
	if (rc == 0)
		rc = load_regions(c, err);
	if (rc == 0)
		rc = load_prompt(c, err);
	if (rc == 0)
		rc = make_dir(c, err);
	c->screener = (struct screener){
		.task = c->task, .profile = c->verify, .janitor = c->janitor, .co = o->co
	};
	return rc;
}

static int write_file(struct craft *c, const char *id, const char *end, const struct buf *b,
		      struct err *err)
{
	auto_free char *path = mem_printf("%s/%s.%s", c->dir, id, end);

	return fd_replace_file(path, buf_str(b), b->len, err);
}

static int write_out(struct craft *c, const struct candidate *cand, const char *id,
		     const struct scenario *sc, const struct buf *scenario,
		     const struct gate_result *gate, struct err *err)
{
	auto_buf candidate = BUF_INIT(64u << 20), verdict = BUF_INIT(1u << 20);
	int rc;

	candidate_print(cand, &candidate);
	gate_json(sc, gate, &verdict);
	rc = write_file(c, id, "candidate.json", &candidate, err);
	if (rc == 0)
		rc = write_file(c, id, "gate.json", &verdict, err);
	if (rc == 0)
		rc = write_file(c, id, "scenario.json", scenario, err);
	return rc;
}

/* What the refusal says of the task, for the reason of a fallback. */
static void count(struct craft *c, const struct gate_result *g)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->check[i].expected == (g->check[i].got == VERDICT_RESOLVED))
			continue;
		if (str_eq(g->check[i].name, "reference_only"))
			c->unresolved++;
		else if (str_eq(g->check[i].name, "user_edit_plus_reference") && !c->o->co)
			c->overridden++;
	}
}

/* Regions of the scenario. All borrowed but for the array. */
struct places {
	struct region *v; /* owned */
	size_t n;
};

static bool covered(const struct places *p, const struct region *r)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(p->v[i].path, r->path) && p->v[i].start <= r->start &&
		    p->v[i].end >= r->end)
			return true;
	return false;
}

/* Where the edit itself goes, with the lines it is put between: an agent that takes it back touches a region then, and
 * there is another round; and files with regions are followed, so that what becomes of the edit is seen. */
static void places_of_edit(struct places *p, const struct difflines *d)
{
	for (size_t i = 0; i < d->n && p->n < PLACES_MAX; i++) {
		const struct diffline_change *v = &d->v[i];
		const struct diffline_file *f = &d->file[v->file];
		struct region r = { .path = f->path, .evidence = EVIDENCE_EDIT };

		r.end = v->old_n ? v->old_first + v->old_n - 1 : v->old_first;
		r.start = v->old_n || v->old_first < 2 ? v->old_first : v->old_first - 1;
		if (!f->born && r.start && !covered(p, &r))
			p->v[p->n++] = r;
	}
}

static void scenario_text(const struct craft *c, const struct candidate *cand, const char *id,
			  struct buf *text)
{
	const struct region *mined = c->n_regions ? c->region : cand->region;
	size_t n = c->n_regions ? c->n_regions : cand->n_regions;
	enum scenario_mode mode = c->o->co ? MODE_CO_EDIT : MODE_EDIT_MESSAGE;
	struct places p = { .v = mem_zalloc(n + PLACES_MAX, sizeof(*p.v)), .n = n };
	struct difflines d = { .file = NULL };

	for (size_t i = 0; i < n; i++)
		p.v[i] = mined[i];
	difflines_read(cand->diff, strlen(cand->diff), &d);
	places_of_edit(&p, &d);
	candidate_scenario(cand, id, mode, CRAFT_ROUNDS, p.v, p.n, text);
	difflines_done(&d);
	free(p.v);
}

static int gate(struct craft *c, struct candidate *cand, struct craft_attempt *a, struct err *err)
{
	auto_free char *id = mem_printf("%s-%s-%llu", c->task->instance_id,
					c->o->co ? "co-edit" : "counter-edit",
					(unsigned long long)c->accepted + 1);
	auto_buf text = BUF_INIT(64u << 20);
	struct scenario *sc = NULL;
	struct gate_result g = { .verdict = GATE_INFRA };
	int rc;

	scenario_text(c, cand, id, &text);
	rc = scenario_parse(id, buf_str(&text), text.len, NULL, &sc, err);
	if (rc == 0)
		rc = gate_run(&(struct gate_request){ .task = c->task,
						      .scenario = sc,
						      .profile = c->verify,
						      .repeats = (unsigned)c->o->repeats,
						      .janitor = c->janitor,
						      .most = GATE_MOST },
			      &g, err);
	if (rc == 0) {
		a->gate = gate_verdict_name(g.verdict);
		count(c, &g);
		if (g.verdict == GATE_VALID) {
			rc = write_out(c, cand, id, sc, &text, &g, err);
			a->id = take_ptr(&id);
			c->accepted++;
		} else {
			a->reason = take_ptr(&g.reason);
		}
	}
	gate_done(&g);
	scenario_free(sc);
	return rc;
}

int craft_judge(struct craft *c, struct candidate *cand, struct craft_attempt *a,
		struct strv *reasons, struct err *err)
{
	bool accepted;
	int rc;

	free(cand->instance_id);
	cand->instance_id = mem_strdup(c->task->instance_id);
	if (!cand->candidate_id)
		cand->candidate_id = mem_printf("%s-%llu", a->by, (unsigned long long)a->n);
	if (cand->diff)
		digest_bytes(cand->diff, strlen(cand->diff), a->diff);
	rc = candidate_check(cand, c->task, &a->form, err);
	if (rc == 0)
		a->reason = mem_printf("form: %s", a->form);
	if (rc > 0)
		rc = gate(c, cand, a, err);
	accepted = a->id != NULL;
	if (reasons && a->reason)
		strv_add(reasons, a->reason);
	if (rc >= 0)
		rc = craft_record(c, a, err);
	return rc < 0 ? rc : accepted;
}

int craft_record(struct craft *c, struct craft_attempt *a, struct err *err)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct json_w w = { .b = &b };
	int rc = 0;

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.attempt/1");
	json_u64(&w, "attempt", a->n);
	json_str(&w, "by", a->by);
	json_str(&w, "path", a->path);
	json_u64(&w, "line", a->line);
	json_str(&w, "form", a->form ? a->form : a->gate ? "good" : NULL);
	json_str(&w, "syntax", a->syntax_why ? syntax_name(a->syntax) : NULL);
	json_str(&w, "syntax_note", a->syntax_why);
	json_str(&w, "visible_tests", a->screened ? screen_visible_name(a->visible) : NULL);
	json_str(&w, "refused_by", a->stage);
	json_str(&w, "gate", a->gate);
	json_str(&w, "reason", a->reason);
	json_str(&w, "diff_sha256", *a->diff ? a->diff : NULL);
	json_str(&w, "prompt_sha256", c->prompt_sha256);
	json_u64(&w, "seed", c->o->seed);
	json_str(&w, "run", a->run);
	json_str(&w, "scenario", a->id);
	json_close(&w, '}');
	buf_addc(&b, '\n');
	if (fd_write_all(c->log, buf_str(&b), b.len) < 0)
		rc = err_sys(err, "cannot write attempts.jsonl in %s", c->dir);
	if (rc == 0 && c->said)
		c->said(c->arg, a);
	free(a->form);
	free(a->syntax_why);
	free(a->reason);
	free(a->id);
	free(a->run);
	*a = (struct craft_attempt){ .by = a->by };
	return rc;
}

int craft_fallback(struct craft *c, const char **ret_reason, struct err *err)
{
	auto_free char *id = mem_printf("%s-message-only", c->task->instance_id);
	struct candidate none = { .instance_id = c->task->instance_id };
	auto_buf text = BUF_INIT(1u << 20), b = BUF_INIT(1u << 20);
	struct json_w w = { .b = &b };
	int rc;

	*ret_reason = c->unresolved   ? "reference_repair_failed"
		      : c->overridden ? "reference_repair_overrides_edit"
				      : "invalid_counter_edit";
	buf_addf(&text, "// Messages only: no edit was accepted (%s).\n", *ret_reason);
	candidate_scenario(&none, id, MODE_MESSAGE, CRAFT_ROUNDS, c->region, c->n_regions, &text);
	rc = write_file(c, id, "scenario.json", &text, err);
	if (rc < 0)
		return rc;
	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.attempt/1");
	json_str(&w, "fallback_reason", *ret_reason);
	json_str(&w, "prompt_sha256", c->prompt_sha256);
	json_str(&w, "scenario", id);
	json_close(&w, '}');
	buf_addc(&b, '\n');
	if (fd_write_all(c->log, buf_str(&b), b.len) < 0)
		return err_sys(err, "cannot write attempts.jsonl in %s", c->dir);
	return 0;
}
