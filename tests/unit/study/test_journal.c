/* The journal: transitions, what a changed plan is told, a disk that is full, and 10,000 cells in seconds. */
#include "study/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/report.h"
#include "study/studytable.h"
#include "tests/lib/tap.h"

#define MANY 10000

/* @n cells of two agents, two conditions, and as many repeats as it takes. */
static void make(struct cells *c, size_t n, const char *mark)
{
	static const char *const agents[] = { "one", "two" }, *const conditions[] = { "van",
										      "edit" };

	*c = (struct cells){ .v = mem_zalloc(n, sizeof(*c->v)), .n = n };
	for (size_t i = 0; i < n; i++) {
		struct cell *v = &c->v[i];

		v->task = mem_printf("t%zu", i / 4 % 500);
		v->agent = mem_strdup(agents[i % 2]);
		v->condition = mem_strdup(conditions[i / 2 % 2]);
		v->repeat = i / 2000 + 1;
		v->key = mem_printf("%s,%s,%s,r%llu", v->task, v->agent, v->condition,
				    (unsigned long long)v->repeat);
		v->plan_digest = mem_strdup("d");
		v->spec = mem_printf("{\"key\":\"%s\",\"mark\":\"%s\"}", v->key, mark);
	}
}

static uint32_t *plain_order(size_t n)
{
	uint32_t *v = mem_zalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)(n - 1 - i);
	return v;
}

static char *line_of(const struct journal_cell *c, bool good)
{
	bool van = strcmp(c->condition, "van") == 0;

	return mem_printf("{\"schema\":\"proctor.result/1\",\"instance_id\":\"%s\",\"model\":\"m\","
			  "\"agent\":\"%s\",\"mode\":\"%s\",\"k\":%d,\"repeat\":%llu,\"verdict\":"
			  "\"%s\",\"completed\":true,\"steps\":7}",
			  c->task, c->agent, van ? "vanilla" : "edit", van ? 0 : 1,
			  (unsigned long long)c->repeat, good ? "resolved" : "unresolved");
}

/* Through all transitions; what is read back is what was written. */
static void transitions(const char *dir)
{
	struct journal *j = NULL;
	struct journal_cells v = { 0 };
	struct journal_sums sums;
	struct attempt_figures f = { .steps = 3,
				     .tokens = 100,
				     .has_tokens = true,
				     .micro_dollars = 5,
				     .cost_known = true };
	auto_free uint32_t *order = plain_order(4);
	struct cells cells;
	struct err err = { 0 };
	size_t added = 0;

	make(&cells, 4, "x");
	tap_ok(journal_open(dir, true, &j, &err) == 0 && !journal_settings(j), "a new journal");
	tap_ok(journal_enter(j, "{\"a\":1}", &cells, order, false, &added, &err) == 0 && added == 4,
	       "takes cells");
	tap_ok(journal_cells(j, &v, &err) == 0 && v.n == 4 && v.v[0].turn == 3 &&
		       v.v[0].state == CELL_WAITING,
	       "which wait, in their order");
	tap_ok(journal_starting(j, &v.v[0], "local", &err) == 0 && v.v[0].attempt_n == 1,
	       "one is started");
	snprintf(v.v[0].handle.id, sizeof(v.v[0].handle.id), "77");
	v.v[0].handle.start = 5;
	tap_ok(journal_started(j, &v.v[0], &err) == 0, "its process is known");
	journal_cells_done(&v);
	tap_ok(journal_cells(j, &v, &err) == 0 && v.v[0].state == CELL_RUNNING &&
		       strcmp(v.v[0].handle.id, "77") == 0 && v.v[0].handle.start == 5,
	       "also to another call");
	v.v[0].infra = 1;
	v.v[0].not_before = 99;
	tap_ok(journal_ended(j, &v.v[0], ATTEMPT_INFRA, CELL_INFRA, "no space", &f, &err) == 0,
	       "it ends by a fault of the host");
	tap_ok(journal_starting(j, &v.v[0], "local", &err) == 0 && v.v[0].attempt_n == 2,
	       "it is tried again");
	f = (struct attempt_figures){ .steps = 4,
				      .verdict = mem_strdup("resolved"),
				      .result = line_of(&v.v[0], true) };
	tap_ok(journal_ended(j, &v.v[0], ATTEMPT_DONE, CELL_DONE, NULL, &f, &err) == 0 && !f.result,
	       "and comes to a result");
	journal_cells_done(&v);
	tap_ok(journal_cells(j, &v, &err) == 0 && v.v[0].state == CELL_DONE &&
		       v.v[0].attempts == 2 && v.v[0].infra == 1 &&
		       str_eq(v.v[0].figures.verdict, "resolved") && !v.v[0].figures.has_tokens,
	       "which is read back");
	tap_ok(journal_sums(j, &sums, &err) == 0 && sums.tokens == 100 && sums.micro_dollars == 5 &&
		       sums.started == 1 && sums.attempts[ATTEMPT_INFRA] == 1,
	       "what failed counts among what was used");
	tap_ok(journal_worked(j, 7, &err) == 0 && journal_worked(j, 8, &err) == 0 &&
		       journal_sums(j, &sums, &err) == 0 && sums.work_ns == 15,
	       "time at work adds up");
	journal_cells_done(&v);
	journal_close(j);
	cells_done(&cells);
}

/* A changed plan: the first difference is named. */
static void changed(const char *dir)
{
	struct journal *j = NULL;
	auto_free uint32_t *order = plain_order(6);
	struct cells same, other, more;
	struct err err = { 0 };
	size_t added = 0;

	make(&same, 4, "x");
	make(&other, 4, "y");
	make(&more, 6, "x");
	tap_ok(journal_open(dir, true, &j, &err) == 0, "opened again");
	tap_ok(journal_enter(j, "{\"a\":1}", &same, order, false, &added, &err) == 0 && !added,
	       "the same plan is taken");
	tap_ok(journal_enter(j, "{\"a\":2}", &same, order, false, &added, &err) == -ERR_INPUT &&
		       strstr(err.text, "\"a\":1") && strstr(err.text, "\"a\":2"),
	       "other settings are refused with both");
	tap_ok(journal_enter(j, "{\"a\":1}", &other, order, true, &added, &err) == -ERR_INPUT &&
		       strstr(err.text, "t0,one,van,r1 is another cell"),
	       "another cell is refused in any case");
	tap_ok(journal_enter(j, "{\"a\":1}", &more, order, false, &added, &err) == -ERR_INPUT &&
		       strstr(err.text, "t1,one,van,r1 is in the plan and not in the journal"),
	       "more cells are refused");
	tap_ok(journal_enter(j, "{\"a\":2}", &more, order, true, &added, &err) == 0 && added == 2,
	       "unless it is extended");
	tap_is_str(journal_settings(j), "{\"a\":2}", "settings, too");
	tap_ok(journal_enter(j, "{\"a\":2}", &same, order, true, &added, &err) == -ERR_INPUT &&
		       strstr(err.text, "is in the journal and not in the plan"),
	       "fewer are refused");
	journal_close(j);
	cells_done(&same);
	cells_done(&other);
	cells_done(&more);
}

/* The file may grow no more: the transition fails, says why, and nothing of it is there. */
static void full(const char *dir)
{
	struct rlimit before, small = { .rlim_cur = 48 << 10, .rlim_max = RLIM_INFINITY };
	struct journal *j = NULL;
	struct journal_cells v = { 0 };
	struct err err = { 0 };
	int rc = 0;
	size_t n = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	tap_ok(journal_open(dir, true, &j, &err) == 0 && journal_cells(j, &v, &err) == 0,
	       "a journal on a disk that will be full");
	setrlimit(RLIMIT_FSIZE, &small);
	while (rc == 0 && n++ < 1000)
		rc = journal_event(j, "call",
				   "fills the disk, line by line, until no more is taken", &err);
	tap_ok(rc == -ERR_SYS && strstr(err.text, "is there space left?"),
	       "says what is the matter");
	tap_diag("%zu events, then: %s", n, err.text);
	tap_ok(journal_starting(j, &v.v[1], "local", &err) == -ERR_SYS &&
		       v.v[1].state == CELL_WAITING && !v.v[1].attempts,
	       "no cell is started without a row");
	setrlimit(RLIMIT_FSIZE, &before);
	tap_ok(journal_starting(j, &v.v[1], "local", &err) == 0, "with room it goes on");
	journal_cells_done(&v);
	journal_close(j);
}

/* One transaction for each of 10,000 cells would be a matter of the disk; here they are put in at once. */
static void fill(struct journal *j, struct journal_cells *v)
{
	struct err err = { 0 };

	for (size_t i = 0; i < v->n && i < 200; i++) {
		struct attempt_figures f = { .steps = 7, .wall_ns = CLOCK_SEC };

		f.verdict = mem_strdup(i % 3 ? "resolved" : "unresolved");
		f.result = line_of(&v->v[i], i % 3 != 0);
		if (journal_starting(j, &v->v[i], "local", &err) < 0 ||
		    journal_ended(j, &v->v[i], ATTEMPT_DONE, CELL_DONE, NULL, &f, &err) < 0)
			abort();
	}
	/* The rest as if read back: the table is made of these. */
	for (size_t i = 200; i < v->n; i++) {
		v->v[i].state = CELL_DONE;
		v->v[i].figures = (struct attempt_figures){ .steps = 7, .wall_ns = CLOCK_SEC };
		v->v[i].figures.verdict = mem_strdup(i % 3 ? "resolved" : "unresolved");
		v->v[i].figures.result = line_of(&v->v[i], i % 3 != 0);
	}
}

static void many(const char *dir)
{
	struct report_options ro = { .seed = 1, .draws = 1000 };
	struct journal *j = NULL;
	struct journal_cells v = { 0 };
	struct journal_sums sums;
	struct results results = { 0 };
	struct report *rep = NULL;
	struct table *t, *overview;
	auto_free uint32_t *order = plain_order(MANY);
	auto_buf text = BUF_INIT(16u << 20);
	struct cells cells;
	struct err err = { 0 };
	const char *why = NULL;
	uint64_t began = clock_mono();
	size_t added;

	make(&cells, MANY, "x");
	tap_ok(journal_open(dir, true, &j, &err) == 0 &&
		       journal_enter(j, "{}", &cells, order, false, &added, &err) == 0 &&
		       added == MANY,
	       "10,000 cells are entered");
	tap_ok(journal_cells(j, &v, &err) == 0 && v.n == MANY, "and read");
	fill(j, &v);
	tap_ok(journal_sums(j, &sums, &err) == 0 && sums.attempts[ATTEMPT_DONE] == 200,
	       "summed up");
	overview = studytable_overview(&v, &sums);
	table_print(overview, TABLE_TEXT, &text);
	tap_is_u64(table_rows(overview), 4, "the overview has a row for each agent and condition");
	tap_ok(studytable_results("dir", &v, &results, &err) == 0 && results.n == MANY,
	       "10,000 results");
	tap_ok(report_new(&results, &ro, &rep, &err) == 0, "are paired");
	t = report_table(rep, "runs", NULL, &why);
	tap_ok(t && table_rows(t) == 4, "and make a table (%s)", why ? why : "whole");
	tap_diag("%.1f s", (double)(clock_mono() - began) / 1e9);
	tap_ok(clock_mono() - began < 60 * CLOCK_SEC, "in less than a minute, on a busy machine");
	table_free(t);
	table_free(overview);
	report_free(rep);
	results_done(&results);
	journal_cells_done(&v);
	journal_close(j);
	cells_done(&cells);
}

static void refuses(const char *dir)
{
	auto_free char *path = path_join(dir, JOURNAL_FILE);
	struct journal *j = NULL;
	struct err err = { 0 };
	int a, b;

	tap_ok(journal_open(dir, false, &j, &err) == -ERR_INPUT && strstr(err.text, "is no study"),
	       "a directory without a journal");
	if (fd_replace_file(path, "no database at all, but long enough to be looked at\n", 52,
			    NULL) < 0)
		abort();
	tap_ok(journal_open(dir, false, &j, &err) < 0, "a file that is none");
	a = journal_lock(dir, &err);
	b = journal_lock(dir, &err);
	tap_ok(a >= 0 && b == -ERR_INPUT, "one call at a time");
	close(a);
	b = journal_lock(dir, &err);
	tap_ok(b >= 0, "then the next");
	close(b);
}

int main(void)
{
	char one[] = "/var/tmp/journal-XXXXXX", two[] = "/var/tmp/journal-XXXXXX",
	     three[] = "/var/tmp/journal-XXXXXX";

	if (!mkdtemp(one) || !mkdtemp(two) || !mkdtemp(three))
		return 1;
	transitions(one);
	changed(one);
	full(one);
	many(two);
	refuses(three);
	(void)fd_remove_tree(AT_FDCWD, one);
	(void)fd_remove_tree(AT_FDCWD, two);
	(void)fd_remove_tree(AT_FDCWD, three);
	return tap_done();
}
