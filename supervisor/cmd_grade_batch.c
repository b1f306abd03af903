#include "supervisor/cmd_grade_batch.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "study/batch.h"
#include "study/pool.h"
#include "supervisor/cmd.h"

#define BAR_CELLS    24
#define MODELS_SHOWN 20u

const char *const cmd_grade_progress[] = { "auto", "always", "never", NULL };

/* What is shown while the batch runs. */
struct show {
	const struct cmd_grade_batch_opts *g;
	bool bar, shown;
};

/* "1 h 02 min", "3 min 20 s", "12 s". */
static const char *time_left(uint64_t ns, char out[32])
{
	uint64_t s = ns / CLOCK_SEC;

	if (s >= 3600)
		snprintf(out, 32, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(out, 32, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(out, 32, "%" PRIu64 " s", s);
	return out;
}

/* One line on standard error, written over itself. */
static void bar(struct show *s, const struct batch_state *st)
{
	size_t full = st->total ? st->done * BAR_CELLS / st->total : BAR_CELLS;
	char cells[BAR_CELLS + 1], left[32];

	memset(cells, '.', BAR_CELLS);
	memset(cells, '#', full);
	cells[BAR_CELLS] = '\0';
	fprintf(stderr, "\r\033[K[%s] %zu/%zu  resolved %zu  unresolved %zu", cells, st->done,
		st->total, st->count[VERDICT_RESOLVED], st->count[VERDICT_UNRESOLVED]);
	if (st->count[VERDICT_INVALID])
		fprintf(stderr, "  invalid %zu", st->count[VERDICT_INVALID]);
	if (st->count[VERDICT_INFRA])
		fprintf(stderr, "  infra %zu", st->count[VERDICT_INFRA]);
	fprintf(stderr, "  running %u", st->running);
	if (st->left_ns && st->done < st->total)
		fprintf(stderr, "  %s left", time_left(st->left_ns, left));
	fflush(stderr);
	s->shown = true;
}

static void clear_bar(struct show *s)
{
	if (s->shown)
		fputs("\r\033[K", stderr);
	s->shown = false;
}

static void line(const struct show *s, const struct graded *g)
{
	auto_free char *reason = cmd_safe(g->reason), *model = cmd_safe(g->model);

	if (s->g->quiet || s->g->json)
		return;
	printf("%s%s%s: %s (%s)\n", g->instance_id, *model ? " by " : "", model,
	       verdict_name(g->verdict), reason);
	fflush(stdout); /* who reads through a pipe wants it now */
}

static void progress(void *arg, const struct batch_state *st, const struct graded *last)
{
	struct show *s = arg;

	if (last) {
		clear_bar(s);
		line(s, last);
	}
	if (s->bar)
		bar(s, st);
}

static void share(const size_t *count)
{
	size_t judged = count[VERDICT_RESOLVED] + count[VERDICT_UNRESOLVED];

	if (judged)
		printf("resolved: %.1f %% of the %zu that have a result\n",
		       100.0 * (double)count[VERDICT_RESOLVED] / (double)judged, judged);
	else
		printf("no result\n");
}

/* Each model, where there are several: one share of all of them would say nothing. */
static bool several(const struct batch_result *r)
{
	size_t n;
	auto_free struct batch_model *m = batch_models(r, &n);

	for (size_t i = 0; n > 1 && i < n && i < MODELS_SHOWN; i++) {
		auto_free char *name = cmd_safe(*m[i].model ? m[i].model : "no model named");

		printf("%s: ", name);
		share(m[i].count);
	}
	if (n > MODELS_SHOWN)
		printf("%zu more models are in summary.json\n", n - MODELS_SHOWN);
	return n > 1;
}

static void totals(const struct batch_result *r)
{
	const struct batch_state *st = &r->state;
	bool apart = several(r);

	printf("%zu predictions: %zu resolved, %zu unresolved, %zu invalid, %zu infra\n", st->total,
	       st->count[VERDICT_RESOLVED], st->count[VERDICT_UNRESOLVED],
	       st->count[VERDICT_INVALID], st->count[VERDICT_INFRA]);
	if (!apart)
		share(st->count);
	if (st->infra_repeats)
		printf("infra: %" PRIu64 " gradings were repeated for a fault of the host\n",
		       st->infra_repeats);
	if (st->empty)
		printf("empty patches: %zu\n", st->empty);
	if (st->tampered)
		printf("with signs of tampering: %zu (see \"tamper\" in verdict.json)\n",
		       st->tampered);
	if (st->reused)
		printf("graded by an earlier call: %zu\n", st->reused);
}

static bool wanted(const struct strv *only, const char *id)
{
	strv_each (i, only)
		if (str_path_glob(only->v[i], id))
			return true;
	return only->n == 0;
}

/* Keep the predictions that --only names. */
static int choose(const struct cmd_grade_batch_opts *g, struct predictions *p, struct err *err)
{
	struct predictions kept = { .form = p->form };

	kept.v = mem_zalloc(p->n + 1, sizeof(*kept.v));
	for (size_t i = 0; i < p->n; i++) {
		if (!wanted(g->only, p->v[i].instance_id))
			continue;
		kept.v[kept.n++] = p->v[i];
		p->v[i] = (struct prediction){ 0 };
	}
	predictions_done(p);
	*p = kept;
	if (!p->n)
		return err_set(err, ERR_INPUT, "%s: no prediction is left to grade%s",
			       g->predictions, g->only->n ? " with these --only" : "");
	return 0;
}

/* CPUs that this process may use (sched_getaffinity(2)). */
static unsigned cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > (int)POOL_JOBS_MAX ? POOL_JOBS_MAX : (unsigned)n;
}

static int grade_all(const struct cmd_grade_batch_opts *g, struct batch_options *o, struct err *err)
{
	struct show show = { .g = g, .bar = g->progress == 1 || (g->progress == 0 && isatty(2)) };
	struct batch_result r = { .n = 0 };
	int rc;

	o->progress = progress;
	o->arg = &show;
	rc = batch_grade(o, &r, err);
	clear_bar(&show);
	if (rc < 0)
		return rc;
	if (g->json) {
		auto_buf text = BUF_INIT(1u << 30);

		batch_summary(&r, o->tasks, &text);
		rc = cmd_print(&text) == 0 ? 0 : -ERR_SYS;
	} else if (!g->quiet) {
		totals(&r);
	}
	if (rc == 0)
		rc = r.state.count[VERDICT_INVALID] + r.state.count[VERDICT_INFRA] > 0;
	batch_done(&r);
	return rc;
}

int cmd_grade_batch(const struct cmd_grade_batch_opts *g, struct err *err)
{
	struct predictions predictions = { .n = 0 };
	struct taskset tasks = { .id = { 0 } };
	struct profile *profile = NULL;
	struct batch_options o = { .predictions = &predictions,
				   .tasks = &tasks,
				   .out = g->out,
				   .jobs = g->jobs ? (unsigned)g->jobs : cpus(),
				   .infra_repeats = (unsigned)g->infra_repeats,
				   .no_cgroup = g->no_cgroup };
	int rc = predictions_load(g->predictions, &predictions, err);

	if (rc == 0)
		rc = choose(g, &predictions, err);
	if (rc == 0)
		rc = taskset_load(g->tasks, &tasks, err);
	if (rc == 0)
		rc = profile_load(g->profile ? g->profile : "verify", &profile, err);
	o.profile = profile;
	if (rc == 0)
		rc = grade_all(g, &o, err);
	profile_free(profile);
	taskset_done(&tasks);
	predictions_done(&predictions);
	return rc;
}
