#include "study/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/plan_pair.h"
#include "study/report_internal.h"

struct report *report_free(struct report *rep)
{
	if (!rep)
		return NULL;
	free(rep->item);
	free(rep->cond);
	free(rep->main);
	strv_done(&rep->bench);
	strv_done(&rep->row);
	strv_done(&rep->model);
	free(rep);
	return NULL;
}

/* --- names to numbers --- */

struct name {
	const char *s; /* borrowed */
	size_t at;
	unsigned id;
};

static int by_text(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int rc = strcmp(x->s, y->s);

	return rc ? rc : (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Number the different texts of @v (@n of them, at = their place) by first appearance; afterwards v[i] is
 * the i-th again. Returns how many there are. */
static unsigned number_names(struct name *v, size_t n)
{
	auto_free unsigned *id = mem_zalloc(n, sizeof(*id)); /* by place of first appearance */
	unsigned next = 0;
	size_t first = 0;

	qsort(v, n, sizeof(*v), by_text);
	/* Equal texts stand together, the first appearance in front. */
	for (size_t i = 0; i < n; i++) {
		if (i && strcmp(v[i].s, v[i - 1].s) != 0)
			first = i;
		id[v[i].at] = (unsigned)v[first].at;
	}
	qsort(v, n, sizeof(*v), by_place);
	for (size_t i = 0; i < n; i++)
		v[i].id = id[i] == i ? next++ : v[id[i]].id;
	return next;
}

static const char *bench_of(const struct report *rep, const struct result *r)
{
	return !*r->benchmark && rep->o->benchmarks.n ? rep->o->benchmarks.v[0] : r->benchmark;
}

static size_t place_in(const struct strv *sv, const char *s)
{
	size_t i = 0;

	while (i < sv->n && strcmp(sv->v[i], s) != 0)
		i++;
	return i;
}

/* In the order in which they were asked for, else by first appearance. */
static void number_benches(struct report *rep)
{
	auto_free struct name *v = mem_zalloc(rep->n, sizeof(*v));

	for (size_t i = 0; i < rep->n; i++)
		v[i] = (struct name){ bench_of(rep, rep->item[i].r), i, 0 };
	if (rep->o->benchmarks.n) {
		strv_copy(&rep->bench, &rep->o->benchmarks);
		for (size_t i = 0; i < rep->n; i++)
			rep->item[i].bench = (unsigned)place_in(&rep->bench, v[i].s);
		return;
	}
	number_names(v, rep->n);
	for (size_t i = 0; i < rep->n; i++) {
		rep->item[i].bench = v[i].id;
		if (v[i].id == rep->bench.n)
			strv_add(&rep->bench, v[i].s);
	}
}

static void number_tasks(struct report *rep)
{
	auto_free struct name *v = mem_zalloc(rep->n, sizeof(*v));

	for (size_t i = 0; i < rep->n; i++)
		v[i] = (struct name){ rep->item[i].r->instance_id, i, 0 };
	number_names(v, rep->n);
	for (size_t i = 0; i < rep->n; i++)
		rep->item[i].task = v[i].id;
}

/* A row is a model with an agent; the agent is named where a model has several. */
static void number_rows(struct report *rep)
{
	auto_free struct name *v = mem_zalloc(rep->n, sizeof(*v));
	auto_free struct name *m = mem_zalloc(rep->n, sizeof(*m));
	auto_free unsigned *agents = mem_zalloc(rep->n, sizeof(*agents));
	auto_strv both = { 0 };
	unsigned rows = 0;

	for (size_t i = 0; i < rep->n; i++) {
		const struct result *r = rep->item[i].r;

		strv_take(&both, mem_printf("%s%c%s", r->model, '\x1f', r->agent));
		v[i] = (struct name){ both.v[i], i, 0 };
		m[i] = (struct name){ r->model, i, 0 };
	}
	number_names(v, rep->n);
	number_names(m, rep->n);
	for (size_t i = 0; i < rep->n; i++) {
		if (v[i].id == rows) {
			rows++;
			agents[m[i].id]++;
		}
	}
	for (size_t i = 0; i < rep->n; i++) {
		const struct result *r = rep->item[i].r;

		rep->item[i].row = v[i].id;
		if (v[i].id != rep->row.n)
			continue;
		strv_add(&rep->model, r->model);
		if (agents[m[i].id] > 1)
			strv_take(&rep->row, mem_printf("%s, %s", r->model, r->agent));
		else
			strv_add(&rep->row, r->model);
	}
}

/* --- conditions --- */

static int cond_order(const struct report_cond *x, const struct report_cond *y)
{
	static const int place[] = {
		[MODE_VANILLA] = 0,      [MODE_MESSAGE] = 1, [MODE_EDIT] = 2,
		[MODE_EDIT_MESSAGE] = 3, [MODE_CO_EDIT] = 4,
	};
	int rc = place[x->mode] - place[y->mode];

	return rc ? rc : (x->k > y->k) - (x->k < y->k);
}

static int by_cond(const void *a, const void *b)
{
	return cond_order(a, b);
}

static void number_conds(struct report *rep)
{
	struct report_cond *c = mem_zalloc(rep->n, sizeof(*c));
	size_t kept = 0;

	for (size_t i = 0; i < rep->n; i++) {
		c[i].mode = rep->item[i].r->mode;
		c[i].k = rep->item[i].r->k;
		result_condition(rep->item[i].r, c[i].name);
	}
	qsort(c, rep->n, sizeof(*c), by_cond);
	for (size_t i = 0; i < rep->n; i++) {
		if (!kept || cond_order(c + i, c + kept - 1) != 0)
			c[kept++] = c[i];
	}
	rep->cond = c;
	rep->n_conds = kept;
	for (size_t i = 0; i < rep->n; i++) {
		struct report_cond key = { .mode = rep->item[i].r->mode, .k = rep->item[i].r->k };
		const struct report_cond *found = bsearch(&key, c, kept, sizeof(*c), by_cond);

		rep->item[i].cond = (unsigned)(found - c);
	}
}

/* Which condition stands against vanilla when nobody said: edit+message before the others (K=3 before other
 * K), then the one with most runs. */
static int choose_main(const struct report *rep, size_t bench)
{
	auto_free size_t *runs = mem_zalloc(rep->n_conds, sizeof(*runs));
	int best = -1;

	for (size_t i = 0; i < rep->n; i++) {
		if (rep->item[i].bench == bench)
			runs[rep->item[i].cond]++;
	}
	for (size_t c = 0; c < rep->n_conds; c++) {
		bool both = rep->cond[c].mode == MODE_EDIT_MESSAGE, best_both;

		if (!runs[c] || rep->cond[c].mode == MODE_VANILLA)
			continue;
		best_both = best >= 0 && rep->cond[best].mode == MODE_EDIT_MESSAGE;
		if (best < 0 || both > best_both ||
		    (both == best_both && (runs[c] > runs[best] ||
					   (runs[c] == runs[best] && both && rep->cond[c].k == 3))))
			best = (int)c;
	}
	return best;
}

static int find_main(struct report *rep, struct err *err)
{
	auto_free const char **names = mem_zalloc(rep->n_conds + 1, sizeof(*names));
	const char *want = rep->o->condition, *near;
	int found = -1;

	rep->main = mem_zalloc(rep->bench.n, sizeof(*rep->main));
	for (size_t c = 0; c < rep->n_conds; c++) {
		names[c] = rep->cond[c].name;
		if (want && strcmp(want, names[c]) == 0)
			found = (int)c;
	}
	if (want && found < 0) {
		near = str_nearest(want, names);
		return err_set(err, ERR_INPUT, "no run has the condition \"%s\"%s%s%s", want,
			       near ? "; did you mean \"" : "; one of them is \"",
			       near ? near : names[0], "\"?");
	}
	for (size_t b = 0; b < rep->bench.n; b++)
		rep->main[b] = want ? found : choose_main(rep, b);
	return 0;
}

/* --- order, and what must not be --- */

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_slice(const void *a, const void *b)
{
	const struct report_item *x = a, *y = b;
	int rc = cmp_u64(x->bench, y->bench);

	if (!rc)
		rc = cmp_u64(x->row, y->row);
	if (!rc)
		rc = cmp_u64(x->cond, y->cond);
	if (!rc)
		rc = cmp_u64(x->task, y->task);
	return rc ? rc : cmp_u64(x->r->repeat, y->r->repeat);
}

static int same_pair(const struct report_item *x, const struct report_item *y)
{
	int rc = cmp_u64(x->bench, y->bench);

	if (!rc)
		rc = cmp_u64(x->row, y->row);
	if (!rc)
		rc = cmp_u64(x->task, y->task);
	return rc ? rc : cmp_u64(x->r->repeat, y->r->repeat);
}

static int by_pair(const void *a, const void *b)
{
	const struct report_item *x = a, *y = b;
	int rc = same_pair(x, y);

	return rc ? rc : cmp_u64(x->cond, y->cond);
}

static int check_twice(const struct report *rep, struct err *err)
{
	for (size_t i = 1; i < rep->n; i++) {
		const struct report_item *x = rep->item + i - 1, *y = rep->item + i;

		if (by_slice(x, y) == 0)
			return err_set(
				err, ERR_INPUT,
				"%s and %s are the same run: task %s, %s, condition %s, repeat "
				"%" PRIu64 "; leave one out, or number them (run --repeat)",
				x->r->source, y->r->source, x->r->instance_id, rep->row.v[x->row],
				rep->cond[x->cond].name, x->r->repeat);
	}
	return 0;
}

/* Where two plans differ, when both runs are directories that kept theirs: " (what)", otherwise "". */
static char *difference(const struct result *a, const struct result *b)
{
	auto_free char *file = path_join(a->source, "plan.json");
	auto_buf text = BUF_INIT(PLAN_PAIR_FILE_MAX);
	struct err why = { 0 };

	if (access(file, R_OK) < 0 || fd_read_file(file, &text, &why) < 0 ||
	    plan_pair_run(buf_str(&text), b->source, &why) == 0)
		return mem_strdup("");
	return mem_printf(" (%s)", why.text);
}

static int not_a_pair(const struct result *a, const struct result *b, struct err *err)
{
	auto_free char *where = difference(a, b);

	return err_set(
		err, ERR_INPUT,
		"%s and %s are no pair: their plans differ in more than the condition%s; run one "
		"again, or count them all the same with --force-pairs",
		a->source, b->source, where);
}

static int check_pairs(struct report *rep, struct err *err)
{
	auto_free struct report_item *v = mem_dup(rep->item, rep->n * sizeof(*v));
	const struct report_item *first = NULL;

	qsort(v, rep->n, sizeof(*v), by_pair);
	for (size_t i = 0; i < rep->n; i++) {
		if (!*v[i].r->pair_digest)
			continue;
		if (!first || same_pair(first, v + i) != 0) {
			first = v + i;
			continue;
		}
		if (strcmp(first->r->pair_digest, v[i].r->pair_digest) == 0)
			continue;
		if (!rep->o->force_pairs)
			return not_a_pair(first->r, v[i].r, err);
		rep->forced++;
	}
	return 0;
}

/* Every benchmark that was asked for, once, and with runs. */
static int check_benches(const struct report *rep, const struct results *r, struct err *err)
{
	auto_free const char **names = mem_zalloc(r->n + 1, sizeof(*names));
	auto_free bool *seen = mem_zalloc(rep->bench.n, sizeof(*seen));
	const char *near;

	for (size_t i = 0; i < r->n; i++)
		names[i] = r->v[i].benchmark;
	for (size_t i = 0; i < rep->n; i++)
		seen[rep->item[i].bench] = true;
	strv_each (i, &rep->bench) {
		if (seen[i])
			continue;
		if (place_in(&rep->bench, rep->bench.v[i]) != i)
			return err_set(err, ERR_USAGE, "benchmark \"%s\" is named twice",
				       rep->bench.v[i]);
		near = str_nearest(rep->bench.v[i], names);
		return err_set(err, ERR_INPUT, "no run is of benchmark \"%s\"%s%s%s",
			       rep->bench.v[i], near ? "; did you mean \"" : "", near ? near : "",
			       near ? "\"?" : "");
	}
	return 0;
}

int report_new(const struct results *r, const struct report_options *o, struct report **ret,
	       struct err *err)
{
	struct report *rep = mem_zalloc(1, sizeof(*rep));
	int rc = 0;

	rep->o = o;
	rep->item = mem_zalloc(r->n, sizeof(*rep->item));
	for (size_t i = 0; i < r->n; i++) {
		if (!o->benchmarks.n || strv_has(&o->benchmarks, bench_of(rep, r->v + i)))
			rep->item[rep->n++].r = r->v + i;
	}
	if (!r->n)
		rc = err_set(err, ERR_INPUT, "there is no run to report on");
	if (rc == 0)
		number_benches(rep);
	if (rc == 0)
		rc = check_benches(rep, r, err);
	if (rc == 0) {
		number_rows(rep);
		number_tasks(rep);
		number_conds(rep);
		qsort(rep->item, rep->n, sizeof(*rep->item), by_slice);
		rc = check_twice(rep, err);
	}
	if (rc == 0)
		rc = check_pairs(rep, err);
	if (rc == 0)
		rc = find_main(rep, err);
	if (rc < 0) {
		report_free(rep);
		return rc;
	}
	*ret = rep;
	return 0;
}

/* --- the tables by name --- */

/* clang-format off */
static const struct {
	const char *name;
	struct table *(*make)(const struct report *rep, const char **ret_why); /* NULL: sizes */
} makers[] = {
	{ "runs", report_runs },
	{ "2", NULL },
	{ "3", report_main },
	{ "4", report_horizon },
	{ "5", report_ablation },
	{ "7", report_prices },
	{ "10", report_outcomes },
	{ "tests", report_tests },
	{ "failures", report_failures },
	{ "behaviour", report_behaviour },
	{ "cost", report_costs },
};
/* clang-format on */

const char *const report_tables[] = { "runs", "2",     "3",        "4",         "5",    "7",
				      "10",   "tests", "failures", "behaviour", "cost", NULL };

_Static_assert(ARRAY_SIZE(report_tables) == ARRAY_SIZE(makers) + 1, "one maker for each table");

struct table *report_table(const struct report *rep, const char *which,
			   const struct report_sizes *sizes, const char **ret_why)
{
	size_t i = 0;
	struct table *t;

	while (i < ARRAY_SIZE(makers) && strcmp(makers[i].name, which) != 0)
		i++;
	ensure(i < ARRAY_SIZE(makers), "the table is one of report_tables");
	t = makers[i].make ? makers[i].make(rep, ret_why) : report_size_table(sizes, ret_why);
	if (t && makers[i].make)
		report_foot(rep, t);
	return t;
}
