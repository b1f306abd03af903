#include "supervisor/cmd.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/cells.h"
#include "study/journal.h"
#include "study/progress.h"
#include "study/sched.h"
#include "study/studytable.h"
#include "supervisor/studycell.h"
#include "supervisor/studyshow.h"

#define CELLS_SHOWN 40u /* of --plan, unless --json asks for all */
#define TEXT_MAX    (256u << 20)

static const char *const progress_choices[] = { "auto", "always", "never", NULL };

struct opts {
	const char *out, *cell, *keep_memory, *keep_disk;
	uint64_t jobs;
	int engine, progress;
	bool plan, extend, retry, json, quiet;
};

static const struct opt_row rows[] = {
	{ 'j', "jobs", OPT_U64, offsetof(struct opts, jobs), "N",
	  "so many cells at once, as far as memory and disk allow (default: one for each CPU)" },
	{ 0, "plan", OPT_FLAG, offsetof(struct opts, plan), NULL,
	  "show the cells and what they will use, as far as is known; start nothing" },
	{ 0, "extend", OPT_FLAG, offsetof(struct opts, extend), NULL,
	  "let the plan add cells and change limits, retries and order; what there is stays" },
	{ 0, "retry", OPT_FLAG, offsetof(struct opts, retry), NULL,
	  "try cells again that were given up" },
	{ 'o', "out", OPT_STR, offsetof(struct opts, out), "DIR",
	  "directory of the study (default: as the plan says)" },
	{ 0, "engine", OPT_ENUM, offsetof(struct opts, engine), "ENGINE",
	  "what carries out the cells (default local)", engine_names },
	{ 0, "keep-memory", OPT_STR, offsetof(struct opts, keep_memory), "SIZE",
	  "memory of this machine that is left to others, such as 2G (default 64M)" },
	{ 0, "keep-disk", OPT_STR, offsetof(struct opts, keep_disk), "SIZE",
	  "the same of disk (default 256M)" },
	{ 0, "progress", OPT_ENUM, offsetof(struct opts, progress), "WHEN",
	  "lines that are written over themselves (default: auto, on a terminal)",
	  progress_choices },
	{ 0, "json", OPT_FLAG, offsetof(struct opts, json), NULL,
	  "print an object for each event; with --plan the cells, one a line" },
	{ 'q', "quiet", OPT_FLAG, offsetof(struct opts, quiet), NULL, "print nothing" },
	{ 0, "cell", OPT_STR, offsetof(struct opts, cell), "DIR",
	  "carry out one cell; what engines call in the directory of the study" },
	{ 0 },
};

/* Everything of one call; freed in one place. */
struct call {
	const struct opts *o;
	struct study_plan plan;
	struct cells cells;
	uint32_t *order; /* owned */
	struct journal *journal;
	struct journal_cells known;
	int lock;
};

static void call_done(struct call *c)
{
	journal_cells_done(&c->known);
	journal_close(c->journal);
	mem_close(&c->lock);
	free(c->order);
	cells_done(&c->cells);
	studyplan_done(&c->plan);
}

/* CPUs that this process may use (sched_getaffinity(2)). */
static unsigned cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n > (int)SCHED_JOBS_MAX ? SCHED_JOBS_MAX : (unsigned)n;
}

static unsigned jobs(const struct opts *o)
{
	return o->jobs ? (unsigned)o->jobs : cpus();
}

static int size_of(const char *name, const char *text, uint64_t dflt, uint64_t *ret,
		   struct err *err)
{
	*ret = dflt;
	if (text && str_size(text, ret) < 0)
		return err_set(err, ERR_USAGE, "study: --%s: \"%s\" is no size such as 2G", name,
			       text);
	return 0;
}

static int load(struct call *c, const char *path, struct err *err)
{
	int rc = studyplan_load(path, &c->plan, err);

	if (rc == 0 && c->o->out) {
		auto_free char *cwd = getcwd(NULL, 0);
		auto_free char *joined = cwd ? path_join(cwd, c->o->out) : NULL;

		if (!joined)
			return err_sys(err, "cannot tell the current directory");
		free(c->plan.out);
		c->plan.out = path_normal(joined);
	}
	if (rc == 0)
		rc = cells_make(&c->plan, &c->cells, err);
	if (rc == 0)
		c->order = cells_order(&c->plan, c->cells.n);
	return rc;
}

/* Cells of the plan as the journal would have them, for the estimate. Borrows the texts; free only the array. */
static struct journal_cell *pretend(const struct call *c)
{
	struct journal_cell *v = mem_zalloc(c->cells.n + 1, sizeof(*v));

	for (size_t i = 0; i < c->cells.n; i++) {
		const struct cell *cell = &c->cells.v[i];

		v[i].key = cell->key;
		v[i].agent = cell->agent;
		v[i].condition = cell->condition;
		v[i].max_micro_dollars = cell->max_micro_dollars;
		v[i].max_tokens = cell->max_tokens;
	}
	return v;
}

/* What is known of a study that has begun: states by key, and what cells used. */
static int learn(struct call *c, struct journal_cell *v, struct estimate *e, struct err *err)
{
	struct map at = { 0 };
	int rc;

	if (!journal_is_study(c->plan.out))
		return 0;
	rc = journal_open(c->plan.out, false, &c->journal, err);
	if (rc == 0)
		rc = journal_cells(c->journal, &c->known, err);
	for (size_t i = 0; i < c->cells.n; i++)
		map_put(&at, map_hash(v[i].key, strlen(v[i].key)), &v[i]);
	for (size_t i = 0; rc == 0 && i < c->known.n; i++) {
		const struct journal_cell *k = &c->known.v[i];
		struct journal_cell *mine = map_get(&at, map_hash(k->key, strlen(k->key)));

		if (mine)
			mine->state = k->state;
		if (k->state == CELL_DONE)
			estimate_add(e, k, &k->figures);
	}
	map_done(&at);
	return rc;
}

static void print_estimate(const struct call *c, const struct estimate *e,
			   const struct journal_cell *v)
{
	struct journal_cells cells = { (struct journal_cell *)(uintptr_t)v, c->cells.n };
	struct estimate_left left;
	char text[32], other[32];

	estimate_left(e, &cells, jobs(c->o), &left);
	printf("%zu cells, %llu without a result\n", c->cells.n, (unsigned long long)left.cells);
	if (e->all.n)
		printf("by the %llu that have ended: %s with %u at once, %s tokens, %s, %s of disk\n",
		       (unsigned long long)e->all.n, estimate_time(left.wall_ns, text), jobs(c->o),
		       progress_count(left.tokens, (char[32]){ 0 }),
		       progress_money(left.micro_dollars, other),
		       estimate_size(left.disk, (char[32]){ 0 }));
	else if (left.cells)
		printf("what they use is not known before the first have ended\n");
	if (left.max_tokens)
		printf("at most %s tokens by the limits of their profiles\n",
		       progress_count(left.max_tokens, text));
	if (left.max_micro_dollars)
		printf("at most %s by the limits of their profiles\n",
		       progress_money(left.max_micro_dollars, text));
	printf("directory: %s\n", c->plan.out);
}

static int show_plan(struct call *c, struct err *err)
{
	auto_free struct journal_cell *v = pretend(c);
	struct estimate e = { .all = { 0 } };
	int rc = learn(c, v, &e, err);

	for (size_t i = 0; rc == 0 && i < c->cells.n; i++) {
		size_t cell = c->order[i];

		if (c->o->json)
			printf("%s\n", c->cells.v[cell].spec);
		else if (i < CELLS_SHOWN)
			printf("%s  %s\n", v[cell].key, journal_states[v[cell].state]);
	}
	if (rc == 0 && !c->o->json) {
		if (c->cells.n > CELLS_SHOWN)
			printf("... and %zu more (--json shows all)\n", c->cells.n - CELLS_SHOWN);
		print_estimate(c, &e, v);
	}
	estimate_done(&e);
	return rc;
}

static int keep(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	return fd_replace_file(path, buf_str(text), text->len, err);
}

/* results.jsonl, and pairs.tsv where there are pairs: in the order of the plan, without times. */
static int write_results(const struct call *c, struct err *err)
{
	auto_buf lines = BUF_INIT(TEXT_MAX), counts = BUF_INIT(TEXT_MAX);
	struct results results = { 0 };
	struct shift_pairs pairs = { 0 };
	int rc = studytable_results(c->plan.out, &c->known, &results, err);

	for (size_t i = 0; rc == 0 && i < results.n; i++)
		result_print(&results.v[i], &lines);
	if (rc == 0)
		rc = keep(c->plan.out, "results.jsonl", &lines, err);
	if (rc == 0)
		rc = studytable_pairs(c->plan.out, &c->known, &pairs, err);
	if (rc == 0 && pairs.n) {
		shift_counts(&pairs, &counts);
		rc = keep(c->plan.out, "pairs.tsv", &counts, err);
	}
	shift_pairs_done(&pairs);
	results_done(&results);
	return rc;
}

static int closing(const struct call *c, const struct sched_end *end)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	struct table *t;

	if (c->o->quiet || c->o->json)
		return 0;
	t = studytable_overview(&c->known, &end->sums);
	table_print(t, TABLE_TEXT, &text);
	table_free(t);
	return cmd_print(&text);
}

/* The lock, the journal, and the cells of the plan in it. */
static int open_study(struct call *c, struct err *err)
{
	auto_buf settings = BUF_INIT(1u << 20), text = BUF_INIT(JSON_FILE_MAX);
	auto_free char *added_text = NULL;
	size_t added = 0;
	int rc = fd_mkdirs(c->plan.out, 0755, err);

	if (rc == 0)
		rc = c->lock = journal_lock(c->plan.out, err);
	if (rc < 0)
		return rc;
	rc = journal_open(c->plan.out, true, &c->journal, err);
	studyplan_settings(&c->plan, &settings);
	if (rc == 0)
		rc = journal_enter(c->journal, buf_str(&settings), &c->cells, c->order,
				   c->o->extend, &added, err);
	if (rc == 0)
		rc = fd_read_file(c->plan.file, &text, err);
	if (rc == 0)
		rc = keep(c->plan.out, "plan.json", &text, err);
	added_text = mem_printf("%zu cells, %zu of them new; %u at once; proctor %s", c->cells.n,
				added, jobs(c->o), PROCTOR_VERSION);
	if (rc == 0)
		rc = journal_event(c->journal, "call", added_text, err);
	return rc < 0 ? rc : journal_cells(c->journal, &c->known, err);
}

/* Cells that were given up get as many attempts as the plan says once more. */
static int retry(struct call *c, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < c->known.n; i++) {
		struct journal_cell *cell = &c->known.v[i];

		if (cell->state != CELL_GIVEN_UP)
			continue;
		cell->infra = cell->not_before = 0;
		rc = journal_state(c->journal, cell, CELL_WAITING, NULL, err);
	}
	return rc;
}

static enum studyshow_form form_of(const struct opts *o)
{
	if (o->quiet)
		return STUDYSHOW_QUIET;
	if (o->json)
		return STUDYSHOW_JSON;
	return o->progress == 1 || (o->progress == 0 && isatty(STDOUT_FILENO)) ? STUDYSHOW_TERMINAL
									       : STUDYSHOW_LINES;
}

static int status_of(const struct sched_end *end)
{
	if (end->interrupted)
		return ERR_REFUSED;
	if (end->over_budget)
		return ERR_LIMIT;
	return end->count[CELL_GIVEN_UP] > 0;
}

static int carry_out(struct call *c, struct err *err)
{
	static const char *const command[] = { "/proc/self/exe", "study", "--cell", NULL };
	const struct engine_options eo = { .study = c->plan.out, .command = command };
	struct studyshow show = { .form = form_of(c->o), .limits = c->plan.limits };
	struct sched_options so = { .study = c->plan.out,
				    .journal = c->journal,
				    .ops = engine_all[c->o->engine],
				    .jobs = jobs(c->o),
				    .limits = c->plan.limits,
				    .on_budget = c->plan.on_budget,
				    .retries = c->plan.retries,
				    .tell = studyshow_tell,
				    .arg = &show };
	struct sched_end end = { .interrupted = false };
	int rc = size_of("keep-memory", c->o->keep_memory, 64u << 20, &so.keep_memory, err);

	if (rc == 0)
		rc = size_of("keep-disk", c->o->keep_disk, 256u << 20, &so.keep_disk, err);
	if (rc == 0 && c->o->retry)
		rc = retry(c, err);
	if (rc == 0)
		rc = so.ops->open(&eo, &so.engine, err);
	if (rc == 0)
		rc = sched_run(&so, &c->known, &end, err);
	if (so.engine)
		so.ops->close(so.engine);
	studyshow_clear(&show);
	if (rc == 0)
		rc = write_results(c, err);
	if (rc == 0)
		rc = closing(c, &end) == 0 ? status_of(&end) : -ERR_SYS;
	return rc;
}

static int whole(void *arg, const struct strv *rest, struct err *err)
{
	const struct opts *o = arg;
	struct call c = { .o = o, .lock = -1 };
	int rc;

	if (o->cell)
		return rest->n ? err_set(err, ERR_USAGE, "study: --cell stands alone")
			       : studycell(o->cell, err);
	if (rest->n != 1)
		return err_set(err, ERR_USAGE, "study: give one plan, PLAN.json");
	if (o->jobs > SCHED_JOBS_MAX)
		return err_set(err, ERR_USAGE, "study: --jobs is at most %u", SCHED_JOBS_MAX);
	rc = load(&c, rest->v[0], err);
	if (rc == 0 && o->plan)
		rc = show_plan(&c, err);
	else if (rc == 0 && (rc = open_study(&c, err)) == 0)
		rc = carry_out(&c, err);
	call_done(&c);
	return rc;
}

static int run(const struct opt_cmd *cmd, int argc, char **argv)
{
	struct opts o = { 0 };

	return cmd_main(cmd, argc, argv, &o, whole);
}

const struct opt_cmd cmd_study = {
	.name = "study",
	.summary = "run tasks x agents x conditions x repeats, and go on after any kill",
	.synopsis = "PLAN.json [--jobs N] [--plan] [--extend] [options]",
	.text = "The plan names tasks, agents, conditions and how often each is repeated; every combination is a cell.\n"
		"A cell is run, graded, and judged and labelled where the plan says so, by the other commands of this\n"
		"program, in a process and a directory of its own. What has happened stands in journal.db of the\n"
		"study's directory, an SQLite database, and nowhere else.\n"
		"\n"
		"Killed, interrupted, or after a power failure: the same call goes on. A cell that has a result is not run\n"
		"again, one that was under way is taken over when it still lives, taken in when it has ended meanwhile,\n"
		"and run anew otherwise. A plan that was changed is refused with the first difference; --extend adds\n"
		"what is new.\n"
		"\n"
		"A cell that failed by a fault of the host is tried again, after a pause; nothing else is.\n"
		"Interrupted (Ctrl-C) once, no other cell is started; twice, those that run are asked to end; three\n"
		"times, they are killed. Limits of the plan count all attempts of all calls.\n"
		"\n"
		"proctor report DIR makes the tables, also while the study runs; proctor top DIR watches it.\n"
		"\n"
		"Exit status: 0 every cell has a result, 1 some were given up, 2 usage, 3 a bad plan or one that\n"
		"is not the journal's, 5 a system call failed, 6 a limit of the study is reached, 7 interrupted.\n",
	.rows = rows,
	.run = run,
};
