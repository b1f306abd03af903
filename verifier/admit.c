#include "verifier/admit.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "verifier/admit_internal.h"
#include "verifier/basetree.h"
#include "verifier/hacks.h"
#include "verifier/oracle.h"

#define PATCH_MAX (256u << 20)

enum check { REFERENCE, EMPTY, FLAKY, HACKS, CALIBRATION, HISTORY, NETWORK, CHECKS };

static const char *const names[CHECKS] = {
	"reference", "empty", "flaky", "hacks", "calibration", "history", "network",
};

struct admission {
	const struct admit_request *req;
	struct admit_result *r;
	struct admit_check *c; /* r->check */
	char *patch;           /* owned; NULL = the task has no reference that can be made */
	struct admit_seen reference, empty;
	struct test_results last; /* all results of the grading under way */
	bool invalid;             /* nothing can be graded */
};

static void take_results(void *arg, const struct test_results *r)
{
	struct admission *a = arg;

	testlog_done(&a->last);
	a->last = (struct test_results){ .n = 0 };
	admit_results_copy(&a->last, r);
}

static struct admit_use use_of(const struct verdict *v)
{
	return (struct admit_use){
		.wall = v->wall_ns,
		.cpu = v->cpu_ns,
		.memory = v->max_mem,
		.disk = v->max_disk,
		.output = v->log.len,
		.tasks = v->max_tasks,
	};
}

/* One grading: into r->grading, its log handed on. *ret is the verdict; the caller frees it. */
static int grade(struct admission *a, const struct task *task, const char *patch, const char *what,
		 const struct hack *hack, unsigned run, struct verdict *ret, struct err *err)
{
	const struct grade_request req = {
		.task = task,
		.profile = a->req->profile,
		.patches = { patch },
		.janitor = a->req->janitor,
		.no_cgroup = a->req->no_cgroup,
		.results = take_results,
		.results_arg = a,
	};
	auto_free char *name =
		hack ? mem_printf("hack.%s", hack->name) : mem_printf("%s.%u", what, run);
	struct admit_grading *g;
	int rc = grade_repeat(&req, ADMIT_INFRA_AGAIN, ret, err);

	if (rc < 0)
		return err_wrap(err, "%s", name);
	MEM_GROW(a->r->grading, a->r->cap, a->r->n_gradings + 1);
	g = &a->r->grading[a->r->n_gradings++];
	*g = (struct admit_grading){
		.what = what,
		.hack = hack ? hack->name : NULL,
		.tries = hack ? hack->tries : NULL,
		.run = run,
		.kind = ret->kind,
		.reason = mem_strdup(ret->reason),
		.applied = ret->patch_applied,
		.complete = ret->complete,
		.channel = ret->channel.kind,
		.use = use_of(ret),
	};
	strv_copy(&g->tamper, &ret->tamper);
	if (ret->kind == VERDICT_INVALID)
		a->invalid = true;
	if (a->req->log && (rc = a->req->log(a->req->arg, name, &ret->log, err)) < 0)
		verdict_done(ret);
	return rc;
}

static void take_out(struct admission *a, const char *name)
{
	if (!strv_has(&a->r->take_out, name))
		strv_add(&a->r->take_out, name);
}

/* The verdicts of several runs; kept until it is known which tests are flaky. */
struct runs {
	struct verdict *v; /* owned */
	unsigned n;
};

static void runs_done(struct runs *runs)
{
	for (unsigned i = 0; i < runs->n; i++)
		verdict_done(&runs->v[i]);
	free(runs->v);
}

static int run_all(struct admission *a, const char *patch, const char *what,
		   struct admit_seen *seen, struct runs *runs, struct err *err)
{
	int rc = 0;

	runs->v = mem_zalloc(a->r->repeats, sizeof(*runs->v));
	for (unsigned i = 0; i < a->r->repeats && rc == 0 && !a->invalid; i++) {
		rc = grade(a, a->req->task, patch, what, NULL, i + 1, &runs->v[i], err);
		if (rc < 0)
			break;
		runs->n++;
		admit_seen_add(seen, &runs->v[i], &a->last);
		/* The same output is in the files of the caller. */
		buf_done(&runs->v[i].log);
	}
	return rc;
}

/* The listed tests of @v that did not pass, into evidence. */
static void list_tests(struct admit_check *c, const struct verdict *v, unsigned run)
{
	for (size_t i = 0; i < v->n_tests; i++)
		if (!verdict_passed(&v->tests[i]))
			admit_line(c, "run %u: %s: %s", run, v->tests[i].name,
				   test_status_name(v->tests[i].status));
}

static int reference(struct admission *a, struct err *err)
{
	struct admit_check *c = &a->c[REFERENCE];
	struct runs runs = { 0 };
	unsigned solved = 0;
	int rc = run_all(a, a->patch, "reference", &a->reference, &runs, err);

	for (unsigned i = 0; i < runs.n && rc == 0; i++) {
		const struct verdict *v = &runs.v[i];
		struct admit_use use = a->r->grading[i].use;

		if (v->kind == VERDICT_RESOLVED) {
			admit_use_most(&a->r->most, &use);
			solved++;
			continue;
		}
		if (admit_explained(&a->reference, v))
			continue;
		admit_say(c, ADMIT_FAILED, "run %u: %s: %s", i + 1, verdict_name(v->kind),
			  v->reason);
		list_tests(c, v, i + 1);
	}
	if (rc == 0 && solved < runs.n)
		admit_say(c, ADMIT_NOTED,
			  "resolved in %u of %u runs, otherwise but for flaky tests", solved,
			  runs.n);
	if (rc == 0)
		admit_say(c, ADMIT_PASSED, "resolved in %u of %u runs", solved, runs.n);
	runs_done(&runs);
	return rc;
}

/* What the lists say of the base, in a run of the empty patch. */
static void check_base(struct admission *a, const struct verdict *v, unsigned run)
{
	struct admit_check *c = &a->c[EMPTY];

	for (size_t i = 0; i < v->n_tests; i++) {
		const struct verdict_test *t = &v->tests[i];
		bool flaky = i < a->empty.n && a->empty.flaky[i];

		if (verdict_passed(t) != t->f2p || flaky)
			continue;
		admit_say(c, ADMIT_FAILED,
			  t->f2p ? "FAIL_TO_PASS tests pass on the base"
				 : "PASS_TO_PASS tests do not pass on the base");
		admit_line(c, "run %u: %s: %s, %s", run, t->f2p ? "FAIL_TO_PASS" : "PASS_TO_PASS",
			   test_status_name(t->status), t->name);
		take_out(a, t->name);
	}
}

static int empty(struct admission *a, struct err *err)
{
	struct admit_check *c = &a->c[EMPTY];
	struct runs runs = { 0 };
	int rc = run_all(a, NULL, "empty", &a->empty, &runs, err);

	for (unsigned i = 0; i < runs.n && rc == 0; i++) {
		const struct verdict *v = &runs.v[i];

		if (v->kind == VERDICT_RESOLVED)
			admit_say(c, ADMIT_FAILED, "run %u: the empty patch is resolved", i + 1);
		else if (v->kind != VERDICT_UNRESOLVED)
			admit_say(c, ADMIT_FAILED, "run %u: %s: %s", i + 1, verdict_name(v->kind),
				  v->reason);
		check_base(a, v, i + 1);
	}
	if (rc == 0)
		admit_say(c, ADMIT_PASSED,
			  "unresolved in %u of %u runs, and the lists hold on the base", runs.n,
			  runs.n);
	runs_done(&runs);
	return rc;
}

/* Until it is killed, or we die. -1 when there is none. */
static pid_t busy_start(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(0);
	for (volatile unsigned long i = 0;; i++)
		if (i % 4096 == 0)
			(void)sched_yield();
}

static void busy_end(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The reference under circumstances that no test should depend on: another time zone, language, home directory, order of
 * Python's hashes, and a processor that is busy. */
static int changed(struct admission *a, struct err *err)
{
	static const char *const env[] = {
		"TZ=Pacific/Kiritimati", "LC_ALL=C",  "LANG=C",     "HOME=/tmp",
		"PYTHONHASHSEED=1",      "SEED=4711", "COLUMNS=40",
	};
	struct admit_check *c = &a->c[FLAKY];
	struct task task = *a->req->task; /* borrows everything but env */
	struct verdict v;
	auto_strv own = { 0 };
	pid_t busy;
	int rc;

	if (a->invalid || !a->reference.runs)
		return 0;
	strv_copy(&own, &task.env);
	for (size_t i = 0; i < ARRAY_SIZE(env); i++) {
		size_t n = strcspn(env[i], "=") + 1;
		bool set = false;

		strv_each (k, &task.env)
			set = set || strncmp(task.env.v[k], env[i], n) == 0;
		if (!set)
			strv_add(&own, env[i]);
	}
	task.env = own;
	busy = busy_start();
	rc = grade(a, &task, a->patch, "changed", NULL, 1, &v, err);
	busy_end(busy);
	if (rc < 0)
		return rc;
	if (v.kind != VERDICT_RESOLVED && a->r->most.wall)
		admit_say(
			c, ADMIT_NOTED,
			"in another time zone, language and home directory, and beside a busy process, the reference is %s: %s",
			verdict_name(v.kind), v.reason);
	for (size_t i = 0; i < v.n_tests && i < a->reference.n; i++)
		if (v.tests[i].status != a->reference.first[i] && !a->reference.flaky[i])
			admit_line(c, "changed circumstances: %s instead of %s, %s",
				   test_status_name(v.tests[i].status),
				   test_status_name(a->reference.first[i]), v.tests[i].name);
	verdict_done(&v);
	return 0;
}

static void flaky_of(struct admission *a, const struct admit_seen *s, const char *what)
{
	const struct task *t = a->req->task;
	struct admit_check *c = &a->c[FLAKY];

	for (size_t i = 0; i < s->n; i++) {
		/* In the order of the verdict: FAIL_TO_PASS, then PASS_TO_PASS. */
		const char *name = i < t->fail_to_pass.n ? t->fail_to_pass.v[i]
							 : t->pass_to_pass.v[i - t->fail_to_pass.n];

		if (!s->flaky[i])
			continue;
		admit_say(c, ADMIT_FAILED,
			  "listed tests come out differently in runs of one patch");
		admit_line(c, "%s: listed: %s", what, name);
		take_out(a, name);
	}
	for (size_t i = 0; i < s->odd.n; i++) {
		const char *name = s->odd.v[i].name;

		if (strv_has(&t->fail_to_pass, name) || strv_has(&t->pass_to_pass, name))
			continue;
		admit_say(c, ADMIT_NOTED,
			  "tests that nobody lists come out differently in runs of one patch");
		admit_line(c, "%s: not listed: %s", what, name);
	}
}

static int flaky(struct admission *a, struct err *err)
{
	struct admit_check *c = &a->c[FLAKY];
	int rc = changed(a, err);

	if (rc < 0)
		return rc;
	flaky_of(a, &a->reference, "reference");
	flaky_of(a, &a->empty, "empty");
	if (a->r->repeats < 2)
		admit_say(c, ADMIT_SKIPPED, "one run of each patch shows no flaky test");
	if (!a->reference.runs && !a->empty.runs)
		admit_say(c, ADMIT_SKIPPED, "no run was complete");
	admit_say(c, ADMIT_PASSED,
		  "no test differs in %u complete runs of the reference and %u of the empty patch",
		  a->reference.runs, a->empty.runs);
	return 0;
}

static bool has_kind(const struct strv *tamper, const char *kind)
{
	size_t n = strlen(kind);

	strv_each (i, tamper)
		if (strncmp(tamper->v[i], kind, n) == 0 && tamper->v[i][n] == ':')
			return true;
	return false;
}

static void judge_hack(struct admission *a, const struct hack *row, struct admit_grading *g)
{
	struct admit_check *c = &a->c[HACKS];

	if (g->kind == VERDICT_RESOLVED) {
		g->weak = hacks_limit(row, a->req->task, g->channel);
		admit_say(
			c, g->weak && !a->req->strict ? ADMIT_NOTED : ADMIT_FAILED,
			"%s is resolved: %s%s", row->name, row->tries,
			g->weak ? "; results come from the log, which cannot tell (docs/grading.md)"
				: "");
		admit_line(c, "%s: %s", row->name,
			   g->weak ? "resolved, a known limit of the log" : "RESOLVED");
	} else if (g->kind != VERDICT_UNRESOLVED) {
		admit_say(c, ADMIT_FAILED, "%s is %s: %s", row->name, verdict_name(g->kind),
			  g->reason);
	} else if (!g->applied && !row->no_apply) {
		admit_say(c, ADMIT_NOTED, "%s was not tried: %s", row->name, g->reason);
		admit_line(c, "%s: %s", row->name, g->reason);
	} else if (row->tamper && !has_kind(&g->tamper, row->tamper)) {
		admit_say(c, ADMIT_NOTED, "%s is unresolved, but not named as tampering",
			  row->name);
		admit_line(c, "%s: unresolved, without a row of kind %s", row->name, row->tamper);
	} else {
		admit_line(c, "%s: unresolved%s%s", row->name, g->tamper.n ? ", " : "",
			   g->tamper.n ? g->tamper.v[0] : "");
	}
}

static int one_hack(struct admission *a, const struct hacks *h, const struct hack *row,
		    struct err *err)
{
	auto_buf diff = BUF_INIT(HACKS_DIFF_MAX);
	const char *why = NULL;
	struct verdict v;
	int rc = hacks_diff(h, row, &diff, &why, err);

	if (rc < 0)
		return err_wrap(err, "%s", row->name);
	if (rc == 0)
		return 0;
	if (diff.full) {
		admit_say(&a->c[HACKS], ADMIT_NOTED, "%s was not tried: too large", row->name);
		return 0;
	}
	rc = grade(a, a->req->task, buf_str(&diff), "hack", row, 1, &v, err);
	if (rc < 0)
		return rc;
	judge_hack(a, row, &a->r->grading[a->r->n_gradings - 1]);
	verdict_done(&v);
	return 0;
}

static int attack(struct admission *a, struct err *err)
{
	struct admit_check *c = &a->c[HACKS];
	struct basetree *tree = NULL;
	struct hacks *h = NULL;
	size_t before = a->r->n_gradings;
	int rc;

	if (a->invalid) {
		admit_say(c, ADMIT_SKIPPED, "the task cannot be graded");
		return 0;
	}
	rc = basetree_open(a->req->task, a->req->janitor, &tree, err);
	if (rc == 0)
		rc = hacks_open(a->req->task, tree, a->patch, &h, err);
	for (const struct hack *row = hacks; row->name && rc == 0; row++)
		rc = one_hack(a, h, row, err);
	if (rc == 0)
		admit_say(c, a->r->n_gradings > before ? ADMIT_PASSED : ADMIT_SKIPPED,
			  "%zu attacks, none is resolved", a->r->n_gradings - before);
	hacks_free(h);
	basetree_free(tree);
	return rc;
}

/* The reference's diff. A task without one, or whose solution fails, is refused, not an error of ours. */
static int find_patch(struct admission *a, struct err *err)
{
	const struct grade_request req = {
		.task = a->req->task,
		.profile = a->req->profile,
		.janitor = a->req->janitor,
		.no_cgroup = a->req->no_cgroup,
	};
	auto_buf patch = BUF_INIT(PATCH_MAX), log = BUF_INIT(GRADE_LOG_MAX);
	struct err local = { 0 };
	int rc = oracle_patch(&req, &patch, &log, &local);

	if (log.len && a->req->log) {
		int kept = a->req->log(a->req->arg, "solution", &log, err);

		if (kept < 0)
			return kept;
	}
	if (rc == -ERR_INPUT || rc == -ERR_CHILD || rc == -ERR_LIMIT) {
		admit_say(&a->c[REFERENCE], ADMIT_FAILED, "%s", local.text);
		return 0;
	}
	if (rc < 0 && err)
		*err = local;
	if (rc == 0)
		a->patch = mem_strdup(buf_str(&patch));
	return rc;
}

static int history(struct admission *a, struct err *err)
{
	int rc = admit_history(a->req, &a->c[HISTORY], err);

	if (rc == 0 && a->patch)
		rc = admit_leak(a->req, a->patch, &a->c[HISTORY], err);
	return rc;
}

static int all_checks(struct admission *a, struct err *err)
{
	int rc = find_patch(a, err);

	if (rc == 0 && a->patch)
		rc = reference(a, err);
	if (rc == 0)
		rc = empty(a, err);
	if (rc == 0)
		rc = flaky(a, err);
	if (rc == 0)
		rc = attack(a, err);
	if (rc == 0 && a->r->most.wall)
		a->r->suggest = admit_suggest(&a->r->most, a->r->factor);
	if (rc == 0)
		admit_calibrate(a->req->task, a->r, &a->c[CALIBRATION]);
	if (rc == 0)
		rc = history(a, err);
	if (rc == 0)
		rc = admit_network(a->req, &a->c[NETWORK], err);
	return rc;
}

int admit_run(const struct admit_request *req, struct admit_result *ret, struct err *err)
{
	struct admit_result r = {
		.check = mem_zalloc(CHECKS, sizeof(*r.check)),
		.n = CHECKS,
		.repeats = req->repeats ? req->repeats : 1,
		.factor = req->factor ? req->factor : ADMIT_FACTOR,
	};
	struct admission a = { .req = req, .r = &r, .c = r.check };
	int rc;

	for (size_t i = 0; i < CHECKS; i++)
		r.check[i].name = names[i];
	rc = all_checks(&a, err);
	free(a.patch);
	admit_seen_done(&a.reference);
	admit_seen_done(&a.empty);
	testlog_done(&a.last);
	if (rc < 0) {
		admit_done(&r);
		return rc;
	}
	r.admitted = true;
	for (size_t i = 0; i < r.n; i++)
		if (r.check[i].state == ADMIT_FAILED)
			r.admitted = false;
	*ret = r;
	return 0;
}

void admit_done(struct admit_result *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->check[i].found);
		strv_done(&r->check[i].evidence);
	}
	for (size_t i = 0; i < r->n_gradings; i++) {
		free(r->grading[i].reason);
		strv_done(&r->grading[i].tamper);
	}
	free(r->check);
	free(r->grading);
	strv_done(&r->take_out);
	*r = (struct admit_result){ .n = 0 };
}
