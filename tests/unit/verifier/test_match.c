/* Which result a listed name finds, and what its status counts: both modes, and why they differ. */
#include "verifier/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define RESULTS_MAX 8

static const struct strv nothing = { NULL, 0, 0 };
static const struct strv *const no_lists[2] = { &nothing, &nothing };

/* "name=status" to results; the span of the i-th one is i..i + 1. */
static void fill(struct test_results *r, const char *const *v)
{
	for (uint64_t i = 0; v[i]; i++) {
		const char *eq = strrchr(v[i], '=');

		for (int s = 0; s <= TEST_MISSING; s++)
			if (strcmp(eq + 1, test_status_name((enum test_status)s)) == 0)
				testlog_add(r, v[i], (size_t)(eq - v[i]), (enum test_status)s, i,
					    i + 1);
	}
}

/* "passed exact plain" */
static char *said(const struct match *m)
{
	return mem_printf("%s, %s %s %s", m->passed ? "yes" : "no", test_status_name(m->status),
			  match_how_name(m->how), match_rule_name(m->rule));
}

struct row {
	const char *name;
	const char *results[RESULTS_MAX];
	const char *listed;
	bool p2p, fail_only, whole;
	const char *compat;
	const char *exact;
	const char *why; /* beginning of it; NULL = they do not differ */
};

/* clang-format off */
static const struct row rows[] = {
	{ "passed", { "a=passed" }, "a",
	  .compat = "yes, passed exact plain", .exact = "yes, passed exact plain" },
	{ "failed", { "a=failed" }, "a",
	  .compat = "no, failed exact plain", .exact = "no, failed exact plain" },
	{ "absent", { "b=passed" }, "a",
	  .compat = "no, missing absent plain", .exact = "no, missing absent plain" },
	{ "an expected failure where the reference passed", { "a=xfail" }, "a",
	  .compat = "yes, xfail exact xfail-passes", .exact = "no, xfail exact plain", .why = "xfail-passes:" },
	{ "passed against the expectation", { "a=xpass" }, "a",
	  .compat = "no, xpass exact plain", .exact = "yes, xpass exact plain", .why = "status:" },
	{ "skipped where the reference passed, PASS_TO_PASS", { "a=skipped" }, "a", .p2p = true,
	  .compat = "yes, skipped exact skip-maintained", .exact = "no, skipped exact plain", .why = "skip-maintained:" },
	{ "skipped where the reference passed, FAIL_TO_PASS", { "a=skipped" }, "a",
	  .compat = "no, skipped exact plain", .exact = "no, skipped exact plain" },
	{ "a status that is none", { "a=missing" }, "a",
	  .compat = "no, missing exact plain", .exact = "no, missing exact plain" },
	{ "repeated, a later one failed", { "a=passed", "a=failed" }, "a",
	  .compat = "yes, passed exact plain", .exact = "no, failed repetition plain", .why = "repetition:" },
	{ "repeated, a later one was skipped", { "a=passed", "a=skipped" }, "a",
	  .compat = "yes, passed exact plain", .exact = "yes, passed exact plain" },
	{ "the work directory in a name", { "t[ROOT/x]=passed" }, "t[/workspace/x]",
	  .compat = "yes, passed root plain", .exact = "yes, passed root plain" },
	{ "the work directory of that harness in a name", { "t[ROOT/x]=passed" }, "t[/testbed/x]",
	  .compat = "yes, passed root plain", .exact = "no, missing absent plain", .why = "name:" },
	{ "cut, one candidate", { "t[a b]=passed" }, "t[a", .whole = true,
	  .compat = "yes, passed cut plain", .exact = "no, missing absent plain", .why = "cut:" },
	{ "cut, the last candidate counts", { "t[a b]=failed", "t[a c]=passed", "t[ab d]=failed" }, "t[a", .whole = true,
	  .compat = "yes, passed cut plain", .exact = "no, missing absent plain", .why = "cut:" },
	{ "cut, the last candidate failed", { "t[a b]=passed", "t[a c]=failed" }, "t[a", .whole = true,
	  .compat = "no, failed cut plain", .exact = "no, missing absent plain" },
	{ "a name that is there whole is not looked for as cut", { "t[a b]=failed", "t[a=passed" }, "t[a", .whole = true,
	  .compat = "yes, passed exact plain", .exact = "yes, passed exact plain" },
	{ "prefix, all agree", { "t[log(x / y)]=passed", "t[log(x * y)]=passed", "t[log]=failed" }, "t[log(",
	  .compat = "yes, passed prefix plain", .exact = "no, missing absent plain", .why = "cut:" },
	{ "prefix, XFAIL agrees with passed", { "t[a / y]=xfail", "t[a * y]=passed" }, "t[a",
	  .compat = "yes, xfail prefix xfail-passes", .exact = "no, missing absent plain", .why = "xfail-passes:" },
	{ "prefix, they do not agree", { "t[a / y]=passed", "t[a * y]=failed" }, "t[a",
	  .compat = "no, missing ambiguous plain", .exact = "no, missing absent plain" },
	{ "prefix, all failed", { "t[a / y]=error", "t[a * y]=failed" }, "t[a",
	  .compat = "no, error prefix plain", .exact = "no, missing absent plain" },
	{ "prefix, the first one is skipped", { "t[a / y]=skipped", "t[a * y]=failed" }, "t[a", .p2p = true,
	  .compat = "yes, skipped prefix skip-maintained", .exact = "no, missing absent plain", .why = "skip-maintained:" },
	{ "no prefix rule for balanced brackets", { "t[a] more=passed" }, "t[a]",
	  .compat = "no, missing absent plain", .exact = "no, missing absent plain" },
	{ "no prefix rule without brackets", { "test_x y=passed" }, "test_x",
	  .compat = "no, missing absent plain", .exact = "no, missing absent plain" },
	{ "a path in brackets", { "t[ROOT/tests/x.py]=passed" }, "t[/x.py]",
	  .compat = "no, missing absent plain", .exact = "no, missing absent plain" },
	{ "fail_only, absent", { "b=failed" }, "a", .fail_only = true,
	  .compat = "yes, missing absent absent-passes", .exact = "no, missing absent plain", .why = "fail-only:" },
	{ "fail_only, failed", { "a=failed" }, "a", .fail_only = true,
	  .compat = "no, failed exact plain", .exact = "no, failed exact plain" },
	{ "fail_only, an error is not FAILED", { "a=error" }, "a", .fail_only = true,
	  .compat = "yes, error exact not-failed", .exact = "no, error exact plain", .why = "fail-only:" },
	{ "fail_only, no prefixes", { "t[a b]=failed" }, "t[a", .fail_only = true,
	  .compat = "yes, missing absent absent-passes", .exact = "no, missing absent plain", .why = "fail-only:" },
};
/* clang-format on */

static void run_row(const struct row *row)
{
	const struct match_ask ask = { .root = "/workspace",
				       .f2p = !row->p2p,
				       .fail_only = row->fail_only };
	struct test_results r = { 0 };
	struct match_index *x;
	struct match compat, exact;

	fill(&r, row->results);
	x = match_open(&r, row->whole);
	match_compat(x, &ask, row->listed, &compat);
	match_exact(&r, "/workspace", no_lists, row->listed, &exact);
	{
		auto_free char *a = said(&compat), *b = said(&exact);
		const char *why = match_why(x, row->listed, &compat, &exact);

		tap_is_str(a, row->compat, row->name);
		tap_is_str(b, row->exact, row->name);
		if (row->why)
			tap_ok(why && strncmp(why, row->why, strlen(row->why)) == 0, "%s: why %s",
			       row->name, why ? why : "(none)");
		else
			tap_ok(!why, "%s: no difference", row->name);
	}
	match_close(x);
	testlog_done(&r);
}

/* Two readers: why the one sees what the other does not. */
static void across(void)
{
	static const char *const there[] = { "t[/x.py]=passed", "p[a=passed", "[100%]=passed",
					     "q=passed", NULL };
	static const char *const here[] = { "t[ROOT/tests/x.py]=passed", "p[a b]=passed",
					    "q=failed", "unread=passed", NULL };
	static const struct {
		const char *name, *why;
	} want[] = {
		{ "t[/x.py]", "path:" }, { "p[a", "cut:" },       { "[100%]", "name:" },
		{ "q", "status:" },      { "unread", "unread:" },
	};
	const struct match_ask ask = { .root = "/workspace" };
	struct test_results a = { 0 }, b = { 0 };
	struct match_index *x, *y;

	fill(&a, there);
	fill(&b, here);
	x = match_open(&a, false);
	y = match_open(&b, false);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct match compat, exact;
		const char *why;

		match_compat(x, &ask, want[i].name, &compat);
		match_exact(&b, "/workspace", no_lists, want[i].name, &exact);
		why = match_why(y, want[i].name, &compat, &exact);
		tap_ok(why && strncmp(why, want[i].why, strlen(want[i].why)) == 0, "%s: %s",
		       want[i].name, why ? why : "(none)");
	}
	match_close(x);
	match_close(y);
	testlog_done(&a);
	testlog_done(&b);
}

/* A repetition that is listed itself is left to its own entry. */
static void listed_twice(void)
{
	static const char *const results[] = { "a=passed", "a=failed", NULL };
	char *names[] = { (char *)"a #2", NULL };
	const struct strv both = { names, 1, 1 };
	const struct strv *const lists[2] = { &nothing, &both };
	struct test_results r = { 0 };
	struct match m;

	fill(&r, results);
	match_exact(&r, "/workspace", lists, "a", &m);
	tap_ok(m.passed && m.how == MATCH_NAME, "the first of two listed namesakes");
	match_exact(&r, "/workspace", lists, "a #2", &m);
	tap_ok(!m.passed && m.status == TEST_FAILED, "the second of them");
	match_exact(NULL, "/workspace", lists, "a", &m);
	tap_ok(!m.passed && m.how == MATCH_ABSENT, "nothing was run");
	testlog_done(&r);
}

/* Many names with one prefix: the rule stays right where the tree has several levels. */
static void many(void)
{
	const struct match_ask ask = { .root = NULL, .f2p = true };
	struct test_results r = { 0 };
	struct match_index *x;
	struct match m;

	for (unsigned i = 0; i < 1000; i++) {
		auto_free char *name = mem_printf("t%u[a %u]", i % 7, 999 - i);

		testlog_add(&r, name, strlen(name), i == 500 ? TEST_FAILED : TEST_PASSED, i, i + 1);
	}
	x = match_open(&r, false);
	for (unsigned i = 0; i < 7; i++) {
		auto_free char *name = mem_printf("t%u[a", i);

		match_compat(x, &ask, name, &m);
		if (i == 500 % 7)
			tap_ok(m.how == MATCH_AMBIGUOUS && !m.passed, "%s: one of many failed",
			       name);
		else
			tap_ok(m.how == MATCH_PREFIX && m.passed && m.from == i,
			       "%s: the first in the log, %llu", name, (unsigned long long)m.from);
	}
	match_close(x);
	testlog_done(&r);
	x = match_open(&r, true);
	match_compat(x, &ask, "t[", &m);
	tap_ok(m.how == MATCH_ABSENT, "no results at all");
	match_close(x);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	across();
	listed_twice();
	many();
	return tap_done();
}
