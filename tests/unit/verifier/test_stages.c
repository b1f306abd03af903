/* Three stages: a table of what a test came to and the class and rule that follow; the report. */
#include "verifier/stages.h"

#include <stdlib.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

/* "name:RTF" with a letter per stage: P F S, - for absent. */
static void fill(struct stages_table *t, const char *const *rows)
{
	for (int s = 0; s < STAGES; s++) {
		struct test_results r = { 0 };

		for (size_t i = 0; rows[i]; i++) {
			size_t n = strcspn(rows[i], ":");
			char c = rows[i][n + 1 + (size_t)s];

			if (c != '-')
				testlog_add(&r, rows[i], n,
					    c == 'P'   ? TEST_PASSED
					    : c == 'F' ? TEST_FAILED
					    : c == 'E' ? TEST_ERROR
					    : c == 'X' ? TEST_XFAIL
						       : TEST_SKIPPED,
					    0, 0);
		}
		stages_add(t, s, &r);
		testlog_done(&r);
	}
	stages_sort(t);
}

static void judged(const char *name, const char *const *rows, const char *want)
{
	struct stages_table t = { .v = NULL };
	auto_free char *got = NULL;

	fill(&t, rows);
	got = stages_judge(&t);
	tap_is_str(got, want, name);
	stages_done(&t);
}

static void test_rules(void)
{
	judged("fixed", (const char *const[]){ "a:PFP", "b:PPP", NULL }, NULL);
	judged("newly there", (const char *const[]){ "a:--P", NULL }, NULL);
	judged("skipped before", (const char *const[]){ "a:SSP", NULL }, NULL);
	judged("still fails beside", (const char *const[]){ "a:FFP", "b:FFF", NULL }, NULL);
	judged("nothing at all", (const char *const[]){ NULL }, "no test result with the patch");
	judged("no result in the last stage", (const char *const[]){ "a:PP-", NULL },
	       "no test result with the patch");
	judged("broken", (const char *const[]){ "a:FFP", "b:PPF", NULL },
	       "a test that passed before the patch fails with it: b");
	judged("broken by an error", (const char *const[]){ "a:FFP", "b:PPE", NULL },
	       "a test that passed before the patch fails with it: b");
	judged("nothing fixed", (const char *const[]){ "a:PPP", "b:FFF", NULL },
	       "no test came to pass with the patch");
	judged("anomalous", (const char *const[]){ "a:FFP", "b:P-F", NULL },
	       "a test that passed on the base and did not run with the tests of the task fails with the "
	       "patch: b");
	judged("vanished is no failure", (const char *const[]){ "a:FFP", "b:PP-", NULL }, NULL);
}

static void has(struct jslice v, const char *key, const char *name, const char *want)
{
	auto_buf b = BUF_INIT(1000);
	struct jslice e = jslice_get(jslice_get(v, key), name);

	jslice_raw(&b, e);
	tap_is_str(buf_str(&b), want, key);
}

static void test_report(void)
{
	struct stages_table t = { .v = NULL };
	struct task task = { .workdir = (char *)"/w" };
	auto_buf out = BUF_INIT(1u << 20);
	struct jslice v, list;
	struct err err;
	auto_buf changed = BUF_INIT(1000);

	strv_add(&task.fail_to_pass, "f");
	strv_add(&task.fail_to_pass, "n");
	strv_add(&task.fail_to_pass, "s");
	strv_add(&task.fail_to_pass, "was failing");
	strv_add(&task.test.n2p, "n");
	strv_add(&task.test.s2p, "s");
	strv_add(&task.pass_to_pass, "p");
	fill(&t, (const char *const[]){ "p:PPP", "f:PFP", "s:SSP", "n:--P", "x:XSX",
					"was failing:--P", "q\xff:PPP", NULL });
	stages_report(&task, &t, NULL, &out);
	tap_ok(jslice_parse("r", buf_str(&out), out.len, &v, &err) == 0, "the report is JSON");
	tap_ok(jslice_kind(jslice_get(v, "valid")) == 't', "valid");
	has(v, "p2p_tests", "p", "{\"run\":\"PASS\",\"test\":\"PASS\",\"fix\":\"PASS\"}");
	has(v, "f2p_tests", "f", "{\"run\":\"PASS\",\"test\":\"FAIL\",\"fix\":\"PASS\"}");
	has(v, "s2p_tests", "s", "{\"run\":\"SKIP\",\"test\":\"SKIP\",\"fix\":\"PASS\"}");
	has(v, "n2p_tests", "n", "{\"run\":\"NONE\",\"test\":\"NONE\",\"fix\":\"PASS\"}");
	has(v, "fixed_tests", "f", "{\"run\":\"PASS\",\"test\":\"FAIL\",\"fix\":\"PASS\"}");
	has(v, "fixed_tests", "p", "");
	has(v, "fix_patch_result", "passed_count", "6");
	has(v, "fix_patch_result", "skipped_tests", "[\"x\"]");
	has(v, "run_result", "passed_count", "3");
	list = jslice_get(v, "class_changed");
	jslice_raw(&changed, list);
	tap_is_str(buf_str(&changed), "[\"was failing\"]", "passed from another class");
	buf_clear(&out);
	out.max = 700;
	stages_report(&task, &t, "too bad", &out);
	tap_ok(jslice_parse("r", buf_str(&out), out.len, &v, &err) == 0 &&
		       jslice_kind(jslice_get(v, "truncated")) == 't',
	       "too large: the counts alone");
	has(v, "fix_patch_result", "passed_count", "6");
	strv_done(&task.fail_to_pass);
	strv_done(&task.pass_to_pass);
	strv_done(&task.test.s2p);
	strv_done(&task.test.n2p);
	stages_done(&t);
}

int main(void)
{
	test_rules();
	test_report();
	return tap_done();
}
