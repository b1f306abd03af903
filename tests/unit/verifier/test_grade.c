/* Grading for real: patches on a small project, each in a box of its own. With "--user", as an
 * ordinary user. */
#include "verifier/verdict_internal.h"

#include "base/clock.h"
#include "tests/unit/verifier/worlds.h"

#define BINARY                                                                                       \
	"diff --git a/blob.bin b/blob.bin\n"                                                         \
	"new file mode 100644\n"                                                                     \
	"index 0000000000000000000000000000000000000000..6e00ea9fc724c42d75f0328dea463cdf4bb0e4e1\n" \
	"GIT binary patch\n"                                                                         \
	"literal 8\n"                                                                                \
	"PcmZ={aAIU){{IgE2Cf2!\n"                                                                    \
	"\n"                                                                                         \
	"literal 0\n"                                                                                \
	"HcmV?d00001\n"                                                                              \
	"\n"

#define FORGED_RUN                                                                                 \
	"diff --git a/tests/run.sh b/tests/run.sh\n"                                               \
	"--- a/tests/run.sh\n"                                                                     \
	"+++ b/tests/run.sh\n"                                                                     \
	"@@ -4,5 +4,5 @@ is() {\n"                                                                 \
	" \tn=$((n + 1))\n"                                                                        \
	"-\tif [ \"$2\" = \"$3\" ]; then echo \"ok $n - $1\"; else echo \"not ok $n - $1\"; fi\n"  \
	"+\techo \"ok $n - $1\"\n"                                                                 \
	" }\n"                                                                                     \
	" is \"small numbers\" \"$(add 1 2)\" 3\n"                                                 \
	" echo \"1..$n\"\n"

#define DELETED_RUN                                                                                \
	"diff --git a/tests/run.sh b/tests/run.sh\n"                                               \
	"deleted file mode 100644\n"                                                               \
	"--- a/tests/run.sh\n"                                                                     \
	"+++ /dev/null\n"                                                                          \
	"@@ -1,8 +0,0 @@\n"                                                                        \
	"-. ./src/add.sh\n"                                                                        \
	"-n=0\n"                                                                                   \
	"-is() {\n"                                                                                \
	"-\tn=$((n + 1))\n"                                                                        \
	"-\tif [ \"$2\" = \"$3\" ]; then echo \"ok $n - $1\"; else echo \"not ok $n - $1\"; fi\n"  \
	"-}\n"                                                                                     \
	"-is \"small numbers\" \"$(add 1 2)\" 3\n"                                                 \
	"-echo \"1..$n\"\n"

struct row {
	const char *name, *patch;
	enum verdict_kind kind;
	const char *reason; /* begins with */
	const char *tamper; /* the only row, NULL = none */
	bool applied;
	unsigned dropped;
};

/* clang-format off */
static const struct row rows[] = {
	{ "reference", WORLD_FIX, VERDICT_RESOLVED, "all 2 listed tests passed", NULL, true, 0 },
	{ "empty patch", NULL, VERDICT_UNRESOLVED,
	  "1 of 1 FAIL_TO_PASS and 0 of 1 PASS_TO_PASS tests did not pass, first: big numbers (failed)", NULL, true, 0 },
	{ "blank patch", "\n\n", VERDICT_UNRESOLVED, "1 of 1 FAIL_TO_PASS", NULL, true, 0 },
	{ "context that is not there", "--- a/src/add.sh\n+++ b/src/add.sh\n@@ -1,2 +1,2 @@\n add() {\n-\tnope\n+\tyes\n",
	  VERDICT_UNRESOLVED, "patch does not apply: ", NULL, false, 0 },
	{ "no diff at all", "I fixed it, trust me.\n", VERDICT_UNRESOLVED, "patch does not apply: ", NULL, false, 0 },
	{ "path that climbs out", WORLD_NEW("../../etc/cron.d/x", "x"), VERDICT_UNRESOLVED, "patch does not apply: ", NULL, false, 0 },
	{ "path into .git", WORLD_NEW(".git/hooks/post-checkout", "x"), VERDICT_UNRESOLVED, "patch does not apply: ", NULL, false, 0 },
	{ "a process that stays and holds the output open", WORLD_FIX_AND("sleep 1000 &"), VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "a daemon in a session of its own", WORLD_FIX_AND("(setsid sleep 1000 &) &"), VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "a link out of the tree", WORLD_FIX WORLD_LINK("src/out", "/etc/passwd"), VERDICT_RESOLVED, "all 2", "symlink:quarantined src/out", true, 1 },
	{ "a link inside", WORLD_FIX WORLD_LINK("src/in", "../src/add.sh"), VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "binary file", WORLD_FIX_AND("[ $(wc -c <blob.bin) = 8 ] || exit 1") BINARY, VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "hidden tests changed, bug left", FORGED_RUN, VERDICT_UNRESOLVED, "1 of 1 FAIL_TO_PASS", "hidden-tests:restored tests/run.sh", true, 1 },
	{ "hidden tests changed, bug fixed", WORLD_FIX FORGED_RUN, VERDICT_RESOLVED, "all 2", "hidden-tests:restored tests/run.sh", true, 1 },
	{ "hidden tests deleted", WORLD_FIX DELETED_RUN, VERDICT_RESOLVED, "all 2", "hidden-tests:restored tests/run.sh", true, 1 },
	{ "a file among the hidden tests", WORLD_FIX WORLD_NEW("tests/more/x.sh", "x"), VERDICT_RESOLVED, "all 2", "hidden-tests:quarantined tests/more/x.sh", true, 1 },
	{ "a file below a hidden test", WORLD_FIX WORLD_NEW("tests/run.sh/x", "x"), VERDICT_RESOLVED, "all 2", "hidden-tests:quarantined tests/run.sh/x", true, 1 },
	{ "a link in place of the tests' directory", WORLD_FIX WORLD_LINK("tests", "src"), VERDICT_RESOLVED, "all 2", "hidden-tests:quarantined tests", true, 1 },
	{ "compiled Python", WORLD_FIX WORLD_NEW("src/x.pyc", "x"), VERDICT_RESOLVED, "all 2", "bytecode:quarantined src/x.pyc", true, 1 },
	{ "a cache directory", WORLD_FIX WORLD_NEW("src/__pycache__/x.bin", "x"), VERDICT_RESOLVED, "all 2", "bytecode:quarantined src/__pycache__/x.bin", true, 1 },
	{ "test configuration is named and left out", WORLD_FIX_AND("[ ! -f conftest.py ] || exit 1") WORLD_NEW("conftest.py", "x"),
	  VERDICT_RESOLVED, "all 2", "runner-config:quarantined conftest.py", true, 1 },
	{ "a build script is named and kept", WORLD_FIX_AND("[ -f setup.py ] || exit 1") WORLD_NEW("setup.py", "x"),
	  VERDICT_RESOLVED, "all 2", "build-script:kept setup.py", true, 0 },
	{ "the hidden tests' name in a product", WORLD_FIX_AND("# see run.sh and tests/run.sh"), VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "hidden tests changed while they run", WORLD_FIX_AND("echo >>tests/run.sh"), VERDICT_UNRESOLVED,
	  "the tests were changed while they ran: tests/run.sh", "changed-in-run:seen tests/run.sh", true, 0 },
	{ "and changed back", WORLD_FIX_AND("cp tests/run.sh a; echo >>tests/run.sh; cp a tests/run.sh"), VERDICT_UNRESOLVED,
	  "the tests were changed while they ran: tests/run.sh", "changed-in-run:seen tests/run.sh", true, 0 },
	{ "the tests' directory moved while they run", WORLD_FIX_AND("cp -r tests t2 && rm -r tests && mv t2 tests"), VERDICT_UNRESOLVED,
	  "the tests were changed while they ran: tests/run.sh", "changed-in-run:seen tests/run.sh", true, 0 },
	{ "files beside the tests may come", WORLD_FIX_AND("mkdir -p tests/out; echo >tests/out/x; touch src/add.sh"), VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "an empty file and more", "diff --git a/a/__init__.py b/a/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n" WORLD_FIX,
	  VERDICT_RESOLVED, "all 2", NULL, true, 0 },
	{ "forged line, true one follows", WORLD_ONLY("echo \"ok 2 - big numbers\""), VERDICT_UNRESOLVED,
	  "1 of 1 FAIL_TO_PASS and 0 of 1 PASS_TO_PASS tests did not pass, first: big numbers (failed)", NULL, true, 0 },
	{ "forged line and exit 0", WORLD_ONLY("echo \"ok 1 - big numbers\"; echo \"ok 2 - small numbers\"; exit 0"), VERDICT_UNRESOLVED,
	  "the listed tests passed, but the results are incomplete: no plan", NULL, true, 0 },
	{ "killed by a signal", WORLD_FIX_AND("kill -9 $$"), VERDICT_UNRESOLVED,
	  "1 of 1 FAIL_TO_PASS and 1 of 1 PASS_TO_PASS tests did not pass, first: big numbers (missing)", NULL, true, 0 },
	{ "syntax error", WORLD_FIX_AND("if"), VERDICT_UNRESOLVED, "1 of 1 FAIL_TO_PASS and 1 of 1", NULL, true, 0 },
};
/* clang-format on */

/* Grade, and release what @v held before. On an error the reason is its text and the kind none. */
static int grade(const struct world *w, const struct task *t, const char *patch, struct verdict *v)
{
	struct grade_request req = { .task = t, .profile = w->profile, .patches = { patch } };
	struct err err = { 0 };
	int rc;

	verdict_done(v);
	rc = grade_run(&req, v, &err);
	if (rc < 0) {
		tap_diag("%s", err.text);
		v->reason = mem_strdup(err.text);
		v->kind = (enum verdict_kind) - 1;
		verdict_fill(v, t, NULL);
	}
	return rc;
}

static void run_rows(const struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		struct task t = world_task(w);
		struct verdict v = { 0 };
		uint64_t start = clock_mono();

		tap_ok(grade(w, &t, r->patch, &v) == 0, "%s: graded", r->name);
		tap_ok(v.kind == r->kind && strncmp(v.reason, r->reason, strlen(r->reason)) == 0,
		       "%s: %s: %s", r->name, verdict_name(v.kind), v.reason);
		tap_ok(v.patch_applied == r->applied && v.dropped.n == r->dropped,
		       "%s: applied, dropped %zu", r->name, v.dropped.n);
		tap_ok(r->tamper ? v.tamper.n == 1 && strcmp(v.tamper.v[0], r->tamper) == 0
				 : v.tamper.n == 0,
		       "%s: tamper %s", r->name, v.tamper.n ? v.tamper.v[0] : "none");
		if (v.kind != r->kind)
			tap_diag("log: %.600s", buf_str(&v.log));
		tap_diag("%llu ms", (unsigned long long)((clock_mono() - start) / CLOCK_MS));
		verdict_done(&v);
		world_task_done(&t);
	}
}

static void test_timeout(const struct world *w)
{
	struct task t = world_task(w);
	struct verdict v = { 0 };
	uint64_t start = clock_mono(), ms;

	t.test.timeout = 2 * CLOCK_SEC;
	tap_ok(grade(w, &t,
		     WORLD_FIX_AND(
			     "trap '' TERM INT; echo started; (trap '' TERM; sleep 1000) | sleep 1000"),
		     &v) == 0,
	       "timeout: graded");
	ms = (clock_mono() - start) / CLOCK_MS;
	tap_ok(v.kind == VERDICT_UNRESOLVED &&
		       strcmp(v.reason, "timeout: the tests ran longer than 2s") == 0,
	       "timeout: %s", v.reason);
	tap_ok(ms >= 2000 && ms < 20000, "timeout: after %llu ms", (unsigned long long)ms);
	tap_ok(strstr(buf_str(&v.log), "started"), "timeout: the output so far is kept");
	tap_ok(!v.complete && v.tests[0].status == TEST_MISSING, "timeout: tests are missing");
	verdict_done(&v);
	world_task_done(&t);
}

static void test_flood(const struct world *w)
{
	struct task t = world_task(w);
	struct verdict v = { 0 };

	tap_ok(grade(w, &t, WORLD_FIX_AND("yes $(printf %0512d 7)"), &v) == 0, "flood: graded");
	tap_ok(v.kind == VERDICT_UNRESOLVED &&
		       strcmp(v.reason, "output: the tests needed more than 64M (limits.output)") ==
			       0,
	       "flood: %s", v.reason);
	tap_ok(v.log.len <= GRADE_LOG_MAX, "flood: %zu bytes kept", v.log.len);
	verdict_done(&v);
	world_task_done(&t);
}

/* Limits of the profile, and what cannot be had. */
static void test_limits(const struct world *w)
{
	struct grade_request req = { .profile = w->profile,
				     .patches = { WORLD_FIX },
				     .no_cgroup = true };
	struct profile *p = w->profile;
	const struct limits saved = p->limits;
	struct task t = world_task(w);
	struct verdict v = { 0 };
	struct err err = { 0 };
	int rc;

	t.test.timeout = 60 * CLOCK_SEC;
	p->limits.max[LIMIT_CPU] = CLOCK_SEC;
	grade(w, &t, WORLD_FIX_AND("while :; do :; done"), &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED && strncmp(v.reason, "cpu: ", 5) == 0, "limit: %s",
	       v.reason);
	p->limits = saved;
	p->limits.max[LIMIT_MEMORY] = 64u << 20;
	grade(w, &t, WORLD_FIX_AND("head -c 4G /dev/zero | tail >/dev/null; sleep 1; exit 0"), &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED && strncmp(v.reason, "memory: ", 8) == 0, "limit: %s",
	       v.reason);
	p->limits = saved;
	p->limits.max[LIMIT_DISK] = 8u << 20;
	grade(w, &t, WORLD_FIX_AND("head -c 32M /dev/zero >big; sleep 100"), &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED && strncmp(v.reason, "disk: ", 6) == 0, "limit: %s",
	       v.reason);
	p->limits = saved;
	req.task = &t;
	verdict_done(&v);
	rc = grade_run(&req, &v, &err);
	tap_ok(rc == 0 && v.kind == VERDICT_RESOLVED, "without a cgroup: %s",
	       rc < 0 ? err.text : v.reason);
	verdict_done(&v);
	world_set(&t.rootfs, "dir:/nonexistent/root");
	rc = grade_run(&req, &v, &err);
	tap_ok(rc < 0 || v.kind == VERDICT_INFRA, "no such root: %s", rc < 0 ? err.text : v.reason);
	verdict_done(&v);
	world_task_done(&t);
}

/* What the tests see: the fixed path, a made environment, no network but lo, no files of ours. */
static void test_surroundings(const struct world *w)
{
	struct task t = world_task(w);
	struct verdict v = { 0 };
	const char *log;

	setenv("PROCTOR_TEST_SECRET", "sesame", 1);
	strv_add(&t.env, "OWN=yes");
	strv_add(&t.env, "LANG=C");
	world_set(&t.test.command,
		  "echo \"pwd=$(pwd) own=$OWN lang=$LANG uid=$(id -u) home=$HOME\"; env; "
		  "echo devs=$(sed -n 's/^ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev | tr '\\n' ,); "
		  "[ -e .git ] && echo has-git; ls -l src/add.sh; cat missing-file; "
		  "touch /workspace/new && echo wrote; sh tests/run.sh");
	tap_ok(grade(w, &t, WORLD_FIX, &v) == 0, "surroundings: graded");
	log = buf_str(&v.log);
	tap_ok(v.kind == VERDICT_RESOLVED, "surroundings: %s", v.reason);
	tap_ok(strstr(log, "pwd=/workspace own=yes lang=C uid=1000 home=/home/agent"),
	       "path, environment, uid");
	tap_ok(!strstr(log, "sesame") && !strstr(log, "PROCTOR"), "nothing of our environment");
	tap_ok(strstr(log, "devs=lo,\n"), "only lo");
	tap_ok(!strstr(log, "has-git"), "no .git, because the source had none");
	tap_ok(strstr(log, "wrote"), "the workspace can be written");
	tap_ok(strstr(log, "missing-file"), "stderr is in the log");
	tap_ok(v.wall_ns > 0 && v.exit_status == 0, "wall %llu ms, cpu %llu ms, memory %llu KiB",
	       (unsigned long long)(v.wall_ns / CLOCK_MS),
	       (unsigned long long)(v.cpu_ns / CLOCK_MS), (unsigned long long)(v.max_mem / 1024));
	tap_ok(v.cpu_ns > 0, "CPU time is known");
	if (v.kind != VERDICT_RESOLVED)
		tap_diag("log: %.2000s", log);
	verdict_done(&v);
	world_task_done(&t);
	unsetenv("PROCTOR_TEST_SECRET");
}

static void test_git_source(const struct world *w)
{
	struct task t = world_task(w);
	struct verdict v = { 0 };
	auto_free char *repo = mem_printf("%s/repo", w->dir), *make = NULL;

	make = mem_printf(
		"cp -r %s %s && cd %s && git init -q && git add . && "
		"git -c user.name=n -c user.email=e commit -qm base && echo later >later && git add . && "
		"git -c user.name=n -c user.email=e commit -qm later && git reset -q --hard HEAD~1",
		w->project, repo, repo);
	if (system("git --version >/dev/null 2>&1") != 0 || system(make) != 0) {
		tap_skip("git source", "git: not installed");
		world_task_done(&t);
		return;
	}
	world_set(&t.source, repo);
	world_set(&t.test.command,
		  "[ -d .git ] && echo has-git; git log --oneline --all 2>&1; sh tests/run.sh");
	tap_ok(grade(w, &t, WORLD_FIX, &v) == 0, "git source: graded");
	tap_ok(v.kind == VERDICT_RESOLVED, "git source: %s", v.reason);
	tap_ok(strstr(buf_str(&v.log), "has-git") && !strstr(buf_str(&v.log), "later"),
	       "git source: .git is there, without what came later");
	verdict_done(&v);
	world_task_done(&t);
}

/* The report file is the runner's: one that the patch brings is not read. */
static void test_report(const struct world *w)
{
	static const char forged[] = WORLD_NEW(
		"out.xml",
		"<testsuite><testcase name=\"big numbers\"/><testcase name=\"small numbers\"/></testsuite>");
	struct task t = world_task(w);
	struct verdict v = { 0 };

	world_set(&t.test.reader, "junit-xml");
	world_set(&t.test.report, "out.xml");
	world_set(&t.test.command, "true");
	tap_ok(grade(w, &t, forged, &v) == 0, "report: graded");
	tap_ok(v.kind == VERDICT_UNRESOLVED && strstr(v.reason, "the report file is missing"),
	       "report: forged: %s", v.reason);
	tap_ok(v.tamper.n == 1 && strcmp(v.tamper.v[0], "report:quarantined out.xml") == 0,
	       "report: named");
	world_set(&t.test.command, "printf '<testsuite><testcase name=\"big numbers\"/><testcase "
				   "name=\"small numbers\"/></testsuite>' >out.xml");
	grade(w, &t, WORLD_FIX, &v);
	tap_ok(v.kind == VERDICT_RESOLVED, "report: read: %s", v.reason);
	world_set(&t.test.command, "ln -s /etc/passwd out.xml");
	grade(w, &t, WORLD_FIX, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED, "report: a link: %s", v.reason);
	world_set(&t.test.command, "mkfifo out.xml");
	grade(w, &t, WORLD_FIX, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED, "report: a pipe: %s", v.reason);
	verdict_done(&v);
	world_task_done(&t);
}

static void test_tasks_at_fault(const struct world *w)
{
	struct grade_request req = { 0 };
	struct task t = world_task(w);
	struct err err = { 0 };
	struct verdict v = { 0 };
	int rc;

	strv_done(&t.fail_to_pass);
	grade(w, &t, WORLD_FIX, &v);
	tap_ok(v.kind == VERDICT_INVALID, "no FAIL_TO_PASS: %s", v.reason);
	strv_add(&t.fail_to_pass, "big numbers");
	world_set(&t.test_patch, "--- a/nope\n+++ b/nope\n@@ -1 +1 @@\n-a\n+b\n");
	grade(w, &t, WORLD_FIX, &v);
	tap_ok(v.kind == VERDICT_INVALID, "bad test patch: %s", v.reason);
	world_set(&t.test.reader, "pytes");
	verdict_done(&v);
	req.task = &t;
	rc = grade_run(&req, &v, &err);
	tap_ok(rc == -ERR_INPUT && strstr(err.text, "did you mean \"pytest\""),
	       "unknown reader: %s", err.text);
	world_task_done(&t);
	t = world_task(w);
	world_set(&t.source, "/nonexistent/source");
	req.task = &t;
	err = (struct err){ 0 };
	rc = grade_run(&req, &v, &err);
	tap_ok(rc == -ERR_INPUT, "no source: %s", err.text);
	world_task_done(&t);
}

/* Names that no file system takes are the patch's fault, not the host's. */
static void test_names(const struct world *w)
{
	auto_free char *name = mem_zalloc(301, 1), *deep = mem_zalloc(8001, 1), *one = NULL,
		       *two = NULL;
	struct task t = world_task(w);
	struct verdict v = { 0 };

	memset(name, 'n', 300);
	for (size_t i = 0; i < 8000; i++)
		deep[i] = i % 100 == 99 ? '/' : 'd';
	deep[7999] = 'd';
	one = mem_printf(
		"diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n",
		name, name, name);
	two = mem_printf(
		"diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n",
		deep, deep, deep);
	grade(w, &t, one, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED, "a name of 300 bytes: %.200s", v.reason);
	grade(w, &t, two, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED || v.kind == VERDICT_RESOLVED,
	       "a path of 8000 bytes: %.200s", v.reason);
	verdict_done(&v);
	world_task_done(&t);
}

/* A real pytest project through the whole way; parameters with blanks, an xfail that the patch adds. */
static void test_pytest(const struct world *w)
{
	static const char hidden[] = WORLD_NEW(
		"tests/test_h.py",
		"from calc import add") "diff --git a/tests/test_i.py b/tests/test_i.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_i.py\n"
					"@@ -0,0 +1,4 @@\n+import pytest\n+from calc import add\n+@pytest.mark.parametrize('x', ['a - b', 'c]d'])\n"
					"+def test_p(x): assert add(x, 'z') == x + 'z'\n";
	static const char fix[] = WORLD_NEW("calc.py", "def add(a, b): return a + b");
	static const char leave[] = WORLD_NEW("calc.py", "import os; os._exit(0)");
	static const char cheat[] = WORLD_NEW("conftest.py", "import os; os._exit(0)");
	auto_free char *both = mem_printf("%s%s", fix, cheat);
	struct task t = world_task(w);
	struct verdict v = { 0 };

	if (system("/usr/bin/python3 -c 'import pytest' 2>/dev/null") != 0) {
		tap_skip("pytest in a box", "pytest: not installed");
		world_task_done(&t);
		return;
	}
	strv_done(&t.fail_to_pass);
	strv_done(&t.pass_to_pass);
	strv_add(&t.fail_to_pass, "tests/test_i.py::test_p[a - b]");
	strv_add(&t.fail_to_pass, "tests/test_i.py::test_p[c]d]");
	world_set(&t.test_patch, hidden);
	world_set(&t.test.reader, "pytest");
	world_set(&t.test.command,
		  "PYTHONPATH=. /usr/bin/python3 -m pytest -rA -p no:cacheprovider tests");
	grade(w, &t, fix, &v);
	tap_ok(v.kind == VERDICT_RESOLVED, "pytest: %s", v.reason);
	if (v.kind != VERDICT_RESOLVED)
		tap_diag("log: %.3000s", buf_str(&v.log));
	grade(w, &t, NULL, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED && strstr(v.reason, "pytest ended with status 2"),
	       "pytest: %s", v.reason);
	grade(w, &t, leave, &v);
	tap_ok(v.kind == VERDICT_UNRESOLVED && v.exit_status == 0, "pytest: os._exit(0): %s",
	       v.reason);
	grade(w, &t, both, &v);
	tap_ok(v.kind == VERDICT_RESOLVED && v.tamper.n == 1,
	       "pytest: os._exit(0) in a conftest that is left out: %s", v.reason);
	verdict_done(&v);
	world_task_done(&t);
}

static void test_repeatable(const struct world *w)
{
	struct task t = world_task(w);
	struct verdict a = { 0 }, b = { 0 };

	tap_ok(grade(w, &t, WORLD_FIX, &a) == 0 && grade(w, &t, WORLD_FIX, &b) == 0, "twice");
	tap_is_str(a.digest, b.digest, "the digest is the same");
	verdict_done(&a);
	verdict_done(&b);
	world_task_done(&t);
}

int main(int argc, char **argv)
{
	struct world w;

	if (!world_begin(argc, argv, &w))
		return tap_done();
	run_rows(&w);
	test_timeout(&w);
	test_flood(&w);
	test_limits(&w);
	test_surroundings(&w);
	test_git_source(&w);
	test_report(&w);
	test_tasks_at_fault(&w);
	test_names(&w);
	test_pytest(&w);
	test_repeatable(&w);
	world_free(&w);
	return tap_done();
}
