/* The pure parts of an admission (flaky tests, limits, forged output), attacks as diffs, and a whole admission of
 * a task of shell and of bad variants of it. */
#include "verifier/admit.h"

#include "base/clock.h"
#include "tests/unit/verifier/worlds.h"
#include "verifier/admit_internal.h"
#include "verifier/basetree.h"
#include "verifier/hacks.h"

static void results_of(struct test_results *r, const char *spec)
{
	for (; *spec; spec += 2) {
		enum test_status s = spec[1] == '+'   ? TEST_PASSED
				     : spec[1] == 's' ? TEST_SKIPPED
						      : TEST_FAILED;

		testlog_add(r, spec, 1, s, 0, 0);
	}
}

static struct verdict verdict_of(struct verdict_test *t, const char *listed, bool complete)
{
	struct verdict v = { .kind = VERDICT_RESOLVED, .tests = t, .complete = complete };

	for (; *listed; listed += 2) {
		t[v.n_tests++].status = listed[1] == '+' ? TEST_PASSED : TEST_FAILED;
		if (listed[1] != '+')
			v.kind = VERDICT_UNRESOLVED;
	}
	return v;
}

/* clang-format off */
static const struct {
	const char *name;
	const char *runs[3]; /* of the listed tests: name and + or - */
	const char *all[3];  /* of all tests */
	bool cut[3];         /* the run was not complete */
	const char *flaky, *odd;
	bool explained[3];
} flaky[] = {
	{ "the same", { "a+b+", "a+b+", "a+b+" }, { "a+b+", "a+b+", "a+b+" }, { 0 }, "", "", { 0 } },
	{ "a listed one", { "a+b+", "a-b+", "a+b+" }, { "a+b+", "a-b+", "a+b+" }, { 0 }, "a", "a", { false, true, false } },
	{ "an unlisted one", { "a+", "a+", "a+" }, { "a+x+", "a+x-", "a+x+" }, { 0 }, "", "x", { 0 } },
	{ "absent in one run", { "a+", "a+", "a+" }, { "a+x+", "a+", "a+x+" }, { 0 }, "", "x", { 0 } },
	{ "new in one run", { "a+", "a+", "a+" }, { "a+", "a+y+", "a+" }, { 0 }, "", "y", { 0 } },
	{ "skipped once", { "a+", "a+", "a+" }, { "a+x+", "a+xs", "a+x+" }, { 0 }, "", "x", { 0 } },
	{ "always failing is not flaky", { "a-b+", "a-b+", "a-b+" }, { "a-b+", "a-b+", "a-b+" }, { 0 }, "", "", { 0 } },
	{ "a run that was cut off counts for nothing", { "a+b+", "a-b-", "a+b+" }, { "a+b+", "", "a+b+" }, { false, true, false }, "", "", { 0 } },
	{ "one flaky, one broken", { "a+b-", "a-b-", "a+b-" }, { "a+b-", "a-b-", "a+b-" }, { 0 }, "a", "a", { 0 } },
};
/* clang-format on */

static void test_flaky(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(flaky); i++) {
		struct verdict_test t[3][2] = { { { 0 } } };
		struct admit_seen s = { 0 };
		struct verdict v[3];
		char got[8] = "", odd[8] = "";

		for (size_t k = 0; k < 3; k++) {
			struct test_results all = { 0 };

			v[k] = verdict_of(t[k], flaky[i].runs[k], !flaky[i].cut[k]);
			results_of(&all, flaky[i].all[k]);
			admit_seen_add(&s, &v[k], &all);
			testlog_done(&all);
		}
		for (size_t k = 0; k < s.n; k++)
			if (s.flaky[k])
				got[strlen(got)] = (char)('a' + k);
		for (size_t k = 0; k < s.odd.n && k < 7; k++)
			odd[k] = s.odd.v[k].name[0];
		tap_is_str(got, flaky[i].flaky, flaky[i].name);
		tap_is_str(odd, flaky[i].odd, "all that differ");
		for (size_t k = 0; k < 3; k++)
			tap_ok(admit_explained(&s, &v[k]) == flaky[i].explained[k], "%s: run %zu",
			       flaky[i].name, k + 1);
		admit_seen_done(&s);
	}
}

static void test_limits(void)
{
	struct admit_use use = {
		.wall = 40 * CLOCK_SEC + 1, .cpu = 1, .memory = 1ull << 30, .disk = 3, .tasks = 30
	};
	struct admit_use most = { .wall = 1, .tasks = 40 };
	struct admit_use s = admit_suggest(&use, 5);
	struct admit_result r = { .most = use, .suggest = s };
	struct task task = { .test.timeout = 100 * CLOCK_SEC };
	struct admit_check c = { 0 };

	tap_is_u64(s.wall, 401 * CLOCK_SEC, "wall: ten times, in whole seconds");
	tap_is_u64(s.cpu, 60 * CLOCK_SEC, "CPU: the least");
	tap_is_u64(s.memory, 5ull << 30, "memory: five times");
	tap_is_u64(s.disk, 2ull << 30, "disk: the least");
	tap_is_u64(s.tasks, 150, "processes: five times");
	use.wall = use.memory = UINT64_MAX;
	s = admit_suggest(&use, 1000);
	tap_ok(s.wall >= UINT64_MAX / 4 && s.memory >= UINT64_MAX / 4, "no overflow");
	admit_use_most(&most, &r.most);
	tap_ok(most.wall == 40 * CLOCK_SEC + 1 && most.tasks == 40, "the larger of each");
	admit_calibrate(&task, &r, &c);
	tap_ok(c.state == ADMIT_FAILED, "a timeout below three times the use: %s", c.found);
	free(c.found);
	strv_done(&c.evidence);
	c = (struct admit_check){ 0 };
	task.test.timeout = 200 * CLOCK_SEC;
	task.limits.memory = (1ull << 30) + 5;
	admit_calibrate(&task, &r, &c);
	tap_ok(c.state == ADMIT_NOTED, "a tight memory limit: %s", c.found);
	free(c.found);
	strv_done(&c.evidence);
	c = (struct admit_check){ 0 };
	r.most.wall = 0;
	admit_calibrate(&task, &r, &c);
	tap_ok(c.state == ADMIT_SKIPPED, "no run of the reference");
	free(c.found);
	c = (struct admit_check){ 0 };
	for (unsigned i = 0; i < ADMIT_LINES_MAX + 7; i++)
		admit_line(&c, "%u", i);
	tap_is_u64(c.evidence.n, ADMIT_LINES_MAX + 1, "evidence is bounded");
	tap_is_str(c.evidence.v[ADMIT_LINES_MAX], "7 more", "and counted");
	strv_done(&c.evidence);
}

/* What is forged must be what the reader takes for passes, or the attack would prove nothing. */
static void test_forge(void)
{
	static const struct {
		const char *name, *one, *two;
	} readers[] = {
		{ "pytest", "t/test_a.py::test_one", "t/test_a.py::test_two[a b]" },
		{ "tap", "one", "two: equal" },
		{ "unittest", "test_one (t.A)", "test_two (t.A)" },
		{ "gotest", "example.org/m.TestOne", "example.org/m.TestTwo" },
		{ "libtest", "a::one", "a::two" },
		{ "mocha", "one", "two" },
		{ "minitest", "TestA#test_one", "TestA#test_two" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		struct test_results r = { 0 };
		struct testlog_input in = { .root = "/workspace" };
		auto_buf out = BUF_INIT(1u << 20);
		auto_strv names = { 0 };
		struct err err = { 0 };

		strv_add(&names, readers[i].one);
		strv_add(&names, readers[i].two);
		tap_ok(hacks_forge(readers[i].name, &names, &out), "%s: there is a text",
		       readers[i].name);
		in.log = buf_str(&out);
		in.log_len = out.len;
		tap_ok(testlog_find(readers[i].name)->read(&in, &r, &err) == 0 && !r.incomplete,
		       "%s: complete: %s", readers[i].name, r.note ? r.note : err.text);
		for (size_t k = 0; k < names.n; k++) {
			const struct test_result *one = testlog_get(&r, names.v[k]);

			tap_ok(one && one->status == TEST_PASSED, "%s: %s passes", readers[i].name,
			       names.v[k]);
		}
		testlog_done(&r);
	}
	tap_ok(!hacks_forge("no-such", &(struct strv){ 0 }, &(struct buf)BUF_INIT(1)),
	       "an unknown reader");
}

/* A diff for each attack that fits. */
static void test_diffs(const struct task *t)
{
	static const struct {
		const char *name, *holds;
	} want[] = {
		{ "exit", "+exit 0" },
		{ "forged-lines", "+printf '\\012TAP version 13" },
		{ "forged-end", "+exit 0" },
		{ "tests-deleted", "deleted file mode 100644" },
		{ "tests-linked", "new file mode 120000" },
		{ "git-config", "b/.git/config" },
		{ "makefile", NULL },
		{ "conftest-outcome", NULL },
		{ "report-file", NULL },
	};
	struct basetree *tree = NULL;
	struct hacks *h = NULL;
	struct err err = { 0 };

	if (!tap_ok(basetree_open(t, NULL, &tree, &err) == 0 &&
			    hacks_open(t, tree, t->patch, &h, &err) == 0,
		    "the base is open: %s", err.text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct hack *row = hacks;
		auto_buf diff = BUF_INIT(HACKS_DIFF_MAX);
		const char *why = NULL;
		int rc;

		while (row->name && strcmp(row->name, want[i].name) != 0)
			row++;
		if (!tap_ok(row->name, "%s is a row", want[i].name))
			continue;
		rc = hacks_diff(h, row, &diff, &why, &err);
		if (want[i].holds)
			tap_ok(rc == 1 && strstr(buf_str(&diff), want[i].holds), "%s: %s",
			       row->name, rc == 1 ? "holds what it should" : why);
		else
			tap_ok(rc == 0 && why, "%s does not fit: %s", row->name, why ? why : "");
	}
	hacks_free(h);
	basetree_free(tree);
}

/* States of the checks, one letter each: p, n, s, f. */
static void admit(const char *name, const struct task *t, const struct world *w,
		  const struct profile *agent, const char *want, const char *out)
{
	const struct admit_request req = {
		.task = t, .profile = w->profile, .agent = agent, .repeats = 2
	};
	struct admit_result r = { 0 };
	struct err err = { 0 };
	char got[16] = "";
	int rc = admit_run(&req, &r, &err);

	for (size_t i = 0; i < r.n && i < 15; i++)
		got[i] = r.check[i].state == ADMIT_SKIPPED ? '-'
							   : admit_state_name(r.check[i].state)[0];
	/* Whether the probe's program was built is no matter of this test. */
	if (rc == 0 && r.check[6].state == ADMIT_SKIPPED)
		got[6] = 'p';
	if (!tap_is_str(got, want, name))
		for (size_t i = 0; i < r.n; i++)
			tap_diag("%s: %s", r.check[i].name, r.check[i].found);
	tap_ok(rc == 0 && r.admitted == !strchr(want, 'f'), "%s: %s", name,
	       rc < 0       ? err.text
	       : r.admitted ? "admitted"
			    : "refused");
	tap_is_str(r.take_out.n ? r.take_out.v[0] : NULL, out, "what to take out");
	if (rc == 0) {
		auto_buf json = BUF_INIT(16u << 20);

		admit_json(t, &r, &json);
		tap_ok(strstr(buf_str(&json), "\"proctor.admission/1\"") &&
			       strstr(buf_str(&json), "\"network\""),
		       "admission.json");
	}
	admit_done(&r);
}

static void swap(char **field, const char *text)
{
	free(*field);
	*field = text ? mem_strdup(text) : NULL;
}

static void test_worlds(const struct world *w, struct task *t, const struct profile *agent)
{
	auto_strv wrong = { 0 };
	struct strv right = t->pass_to_pass;

	/* The forged end is a known limit of TAP from a log. */
	admit("a good task", t, w, agent, "pppnppp", NULL);
	swap(&t->patch, WORLD_ONLY("# nothing"));
	admit("a reference that does not solve it", t, w, agent, "fppn-pp", NULL);
	swap(&t->patch, NULL);
	admit("no reference", t, w, agent, "fppp-pp", NULL);
	swap(&t->patch, WORLD_FIX);
	strv_add(&wrong, "small numbers");
	strv_add(&wrong, "no such test");
	t->pass_to_pass = wrong;
	admit("a PASS_TO_PASS that is not there", t, w, agent, "ffpn-pp", "no such test");
	t->pass_to_pass = right;
	swap(&t->test.command, "true");
	swap(&t->test.reader, "exit-code");
	swap(&t->fail_to_pass.v[0], "exit-code");
	t->pass_to_pass = (struct strv){ 0 };
	admit("tests that are always content", t, w, agent, "pfpfppp", "exit-code");
}

int main(int argc, char **argv)
{
	struct profile *agent = NULL;
	struct err err = { 0 };
	struct world w;
	struct task t;

	test_flaky();
	test_limits();
	test_forge();
	if (!world_begin(argc, argv, &w))
		return tap_done();
	if (!tap_ok(profile_load("agent", &agent, &err) == 0, "profile agent %s", err.text))
		return tap_done();
	t = world_task(&w);
	test_diffs(&t);
	test_worlds(&w, &t, agent);
	world_task_done(&t);
	profile_free(agent);
	world_free(&w);
	return tap_done();
}
