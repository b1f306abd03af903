#include "study/label.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "study/label_internal.h"
#include "study/stats.h"

static const char *const names[FAILURE_MAX] = {
	[FAILURE_NONE] = "none",
	[FAILURE_RETAINED_CONFLICT] = "retained_conflict",
	[FAILURE_INCORRECT_REPLACEMENT] = "incorrect_replacement",
	[FAILURE_INCOMPLETE_RECONCILIATION] = "incomplete_reconciliation",
	[FAILURE_OFF_TARGET] = "off_target",
	[FAILURE_INSUFFICIENT_EVIDENCE] = "insufficient_evidence",
	[FAILURE_VERIFICATION_BREAKDOWN] = "verification_breakdown",
	[FAILURE_OTHER] = "other_defect",
};

const char *failure_name(enum failure f)
{
	return f < FAILURE_MAX ? names[f] : "none";
}

enum failure failure_find(const char *name)
{
	for (int i = 0; i < FAILURE_MAX; i++)
		if (str_eq(names[i], name))
			return (enum failure)i;
	return FAILURE_MAX;
}

static void show(struct label *l, uint64_t n)
{
	uint64_t *v = l->evidence.v;

	for (size_t i = 0; i < l->evidence.n; i++)
		if (v[i] == n)
			return;
	if (!n)
		return;
	v = mem_realloc(v, l->evidence.n + 1, sizeof(*v));
	v[l->evidence.n++] = n;
	l->evidence.v = v;
}

static void evidence(struct label *l, unsigned which, const struct label_facts *f,
		     const struct behave *b)
{
	const struct {
		unsigned bit;
		uint64_t n;
	} all[] = {
		{ LABEL_SHOW_EDIT, b->final_n },    { LABEL_SHOW_NOTICE, b->noticed_n },
		{ LABEL_SHOW_OWN, f->last_edit_n }, { LABEL_SHOW_TEST, f->last_test_n },
		{ LABEL_SHOW_END, f->end_n },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (which & all[i].bit)
			show(l, all[i].n);
	if (!l->evidence.n)
		show(l, b->final_n ? b->final_n : f->end_n);
}

int label_of(const struct rundir *rd, const struct behave *b, const struct task *task,
	     struct label *ret, struct err *err)
{
	struct label l = { .human = FAILURE_MAX };
	struct label_facts f = { 0 };
	const struct label_rule *r = label_rules;
	int rc = label_facts_of(rd, b, task, &f, err);

	if (rc < 0)
		return rc;
	if (!f.unresolved) {
		l.confidence = 1;
		l.why = f.graded ? mem_printf("the verdict is %s: no failure to explain", f.verdict)
				 : mem_strdup("the run was not graded");
	} else {
		while (!r->holds(&f))
			r++;
		l.failure = r->failure;
		l.confidence = r->confidence;
		l.why = r->why(&f);
		evidence(&l, r->evidence, &f, b);
	}
	label_facts_done(&f);
	*ret = l;
	return 0;
}

void label_done(struct label *l)
{
	free(l->why);
	free(l->evidence.v);
	free(l->human_by);
	free(l->human_note);
	*l = (struct label){ .human = FAILURE_MAX };
}

static void label_members(const struct label *l, struct json_w *w)
{
	const uint64_t *v = l->evidence.v;

	json_open(w, "label", '{');
	json_str(w, "rule", failure_name(l->failure));
	json_dbl(w, "confidence", l->confidence);
	json_str(w, "why", l->why);
	json_open(w, "evidence", '[');
	for (size_t i = 0; i < l->evidence.n; i++)
		json_u64(w, NULL, v[i]);
	json_close(w, ']');
	json_str(w, "human", l->human < FAILURE_MAX ? failure_name(l->human) : NULL);
	json_str(w, "by", l->human_by);
	json_str(w, "note", l->human_note);
	json_close(w, '}');
}

void label_json(const struct rundir *rd, const struct behave *b, const struct label *l,
		struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.behaviour/1");
	json_str(&w, "run", rundir_str(rd, "id"));
	json_str(&w, "instance_id", rundir_str(rd, "task.instance_id"));
	json_bool(&w, "cut", rd->cut || !rd->ended);
	behave_json(b, &w);
	if (l)
		label_members(l, &w);
	else
		json_null(&w, "label");
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void label_agree(const struct label *v, size_t n, struct label_agreement *ret)
{
	auto_free unsigned *rule = mem_zalloc(n + 1, sizeof(*rule));
	auto_free unsigned *human = mem_zalloc(n + 1, sizeof(*human));
	struct label_agreement a = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (v[i].human >= FAILURE_MAX)
			continue;
		rule[a.n] = v[i].failure;
		human[a.n++] = v[i].human;
		a.same += v[i].failure == v[i].human;
		a.table[v[i].failure][v[i].human]++;
	}
	a.kappa = stats_kappa(rule, human, a.n, FAILURE_MAX);
	*ret = a;
}
