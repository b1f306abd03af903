/* What the published figures do not show: ties of two runs, runs without a result, uneven repeats, several
 * agents of one model, what is missing. */
#include "study/report.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* "model task condition verdicts": one run for each letter: r(esolved), u(nresolved), i(nfra), x (invalid), n(one); a
 * dash leaves the repeat out. Conditions: v, 1, 3 (edit+message), e (edit), c (co-edit). */
static void add_runs(struct buf *out, const char *spec)
{
	static const char *const modes[] = { ['v'] = "vanilla\",\"k\":0",
					     ['1'] = "edit+message\",\"k\":1",
					     ['3'] = "edit+message\",\"k\":3",
					     ['e'] = "edit\",\"k\":3",
					     ['c'] = "co-edit\",\"k\":1" };
	static const char *const verdicts[] = { ['r'] = "resolved",
						['u'] = "unresolved",
						['i'] = "infra",
						['x'] = "invalid",
						['n'] = "none" };
	char model[32], task[32], cond, runs[32];

	if (sscanf(spec, "%31s %31s %c %31s", model, task, &cond, runs) != 4)
		return;
	for (unsigned i = 0; runs[i]; i++) {
		if (runs[i] == '-')
			continue;
		buf_addf(out,
			 "{\"schema\":\"proctor.result/1\",\"model\":\"%s\",\"agent\":\"a-%s\","
			 "\"instance_id\":\"%s\",\"mode\":\"%s,\"repeat\":%u,\"verdict\":\"%s\","
			 "\"completed\":true,\"steps\":%u}\n",
			 model, cond == 'c' ? "other" : "one", task, modes[(unsigned char)cond],
			 i + 1, verdicts[(unsigned char)runs[i]], 10 + i);
	}
}

/* Table @which of the runs in @specs (NULL-terminated) in @format, or "none: WHY". Caller frees. */
static char *make(const char *const *specs, const char *which, enum table_format format)
{
	struct report_options o = { .seed = 1, .draws = 100 };
	auto_buf text = BUF_INIT(1u << 20), out = BUF_INIT(1u << 20);
	struct results r = { 0 };
	struct report *rep = NULL;
	const char *why = NULL;
	struct table *t = NULL;
	struct err err = { 0 };

	for (; *specs; specs++)
		add_runs(&text, *specs);
	if (results_parse("r", buf_str(&text), text.len, &r, &err) == 0 &&
	    report_new(&r, &o, &rep, &err) == 0) {
		t = report_table(rep, which, NULL, &why);
		if (t)
			table_print(t, format, &out);
		else
			buf_addf(&out, "none: %s", why);
	} else {
		buf_addf(&out, "error: %s", err.text);
	}
	table_free(t);
	report_free(rep);
	results_done(&r);
	return buf_steal(&out, NULL);
}

/* clang-format off */
static const struct {
	const char *name, *which;
	const char *specs[8];
	const char *want; /* stands in the CSV */
} rows[] = {
	{ "two runs: both is solved, one is a tie, none is not", "10",
	  { "m t1 v rr", "m t1 3 rr", "m t2 v ru", "m t2 3 uu", "m t3 v rr", "m t3 3 ur", "m t4 v uu" },
	  "\r\nm,1,0,0,0,2,1\r\n" },
	{ "a tie is in no retention", "3",
	  { "m t1 v rr", "m t1 3 rr", "m t2 v rr", "m t2 3 ru", "m t3 v rr", "m t3 3 uu" }, ",50,0\r\n" },
	{ "an infra run leaves two of three: one solved is a tie", "10",
	  { "m t1 v rui", "m t1 3 rrr" }, "\r\nm,0,0,0,0,1,0\r\n" },
	{ "runs without a result are in no rate", "3",
	  { "m t1 v rix", "m t2 v unn", "m t1 3 uuu", "m t2 3 rii" }, "\r\nm,50,,1,11,,4," },
	{ "a repeat without any result is no repeat", "3",
	  { "m t1 v ri", "m t1 3 uu" }, "\r\nm,100,,1,10.5,,1,0,0,1,10.5,,0,-100,0,0,0\r\n" },
	{ "sample deviation over repeats of unlike size", "3",
	  { "m t1 v rr", "m t2 v u-", "m t1 3 uu" }, "\r\nm,75,35.35533905932738,1," },
	{ "equal means share the rank", "3",
	  { "m1 t1 v r", "m1 t1 3 r", "m2 t1 v r", "m2 t1 3 u", "m3 t1 v u", "m3 t1 3 r" },
	  "\r\nm1,100,,1,10,,0,100,,1,10,,0,0,0,100,0\r\nm2,100,,1,10,,0,0,,3,10,,0,-100,0,0,-2\r\nm3,0,,3,10,,0,100,,1," },
	{ "who lacks one side is in no rank and no mean", "3",
	  { "m t1 v r", "m t1 3 u", "n t1 v u", "n t1 3 u", "o t1 v r" },
	  "\r\nm,100,,1,10,,0,0,,1,10,,0,-100,0,0,0\r\nn,0,,2,10,,0,0,,1,10,,0,0,0,,1\r\n"
	  "o,100,,,10,,0,,,,,,0,,,,\r\nMean,50,,,10,,,0,,,10,,,-50,0,0,\r\n" },
	{ "nothing to compare with", "3", { "m t1 v r" }, "\r\nm,100,,1,10,,0,,,,,,0,,,,\r\n" },
	{ "vanilla is missing", "3", { "m t1 3 r" }, "\r\nm,,,,,,0,100,,1,10,,0,,,,\r\n" },
	{ "no pair of conditions, no table 10", "10", { "m t1 v r" },
	  "none: no model has runs under vanilla and under another condition" },
	{ "K=3 stands against vanilla when both are as many", "3",
	  { "m t1 v r", "m t1 1 u", "m t1 3 r", "m t1 e u" }, "edit_message_k_3_resolve" },
	{ "the fuller of two K", "3", { "m t1 v rr", "m t1 1 uu", "m t1 3 r-" }, "edit_message_k_1_resolve" },
	{ "without edit+message the other one", "3", { "m t1 v r", "m t1 e u" }, "edit_k_3_resolve" },
	{ "table 5 takes the repeats that all conditions have", "5",
	  { "m t1 v rur", "m t1 e u-u", "m t1 3 r-u" },
	  "condition,m_resolve,m_resolve_sd,m_delta\r\nvanilla,100,0,\r\nedit (K=3),0,0,-100\r\nedit+message (K=3),50,70.71067811865476,-50\r\n" },
	{ "table 5 leaves out who has two conditions", "5",
	  { "m t1 v r", "m t1 e u", "m t1 3 r", "n t1 v r", "n t1 3 u" }, "condition,m_resolve,m_resolve_sd,m_delta\r\n" },
	{ "a model with two agents has two rows", "runs", { "m t1 v r", "m t1 c u" },
	  "\r\n\"m, a-one\",vanilla,1,1,0,0,0,0,0,,,,0,0\r\n\"m, a-other\",co-edit,1,0,1,0,0,0,0,0,0,100,0,0\r\n" },
	{ "pairs of runs that only vanilla solved", "failures",
	  { "m t1 v rru", "m t1 3 uiu", "m t2 v r-r", "m t2 3 uuu" }, "\r\nm,3,0," },
	{ "no failure, no table", "failures", { "m t1 v r", "m t1 3 r" },
	  "none: no run that vanilla solved is unresolved under the condition" },
	{ "one benchmark has no table 4", "4", { "m t1 v r" }, "none: all runs are of one benchmark" },
	{ "nobody says what came after", "behaviour", { "m t1 v r", "m t1 3 r" }, "none: no run says" },
	{ "the same run twice", "3", { "m t1 v r", "m t1 v r" }, "error: r:1 and r:2 are the same run" },
	{ "nothing at all", "3", { NULL }, "error: there is no run to report on" },
};
/* clang-format on */

/* Unlike sets of tasks are told: the easy half of them may turn the sign of a difference. */
static void test_alone(void)
{
	static const char *const same[] = { "m t1 v rr", "m t1 3 ri", "m t1 e ri", NULL };
	static const char *const unlike[] = { "m t1 v rr", "m t1 3 rr", "m t1 e rr",
					      "m t2 v uu", "m t3 3 u-", NULL };
	static const struct {
		const char *which, *want;
	} want[] = { { "3", "3 runs have no run of the same task" },
		     { "5", "5 runs have no run of the same task" } };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		auto_free char *all = make(same, want[i].which, TABLE_TEXT);
		auto_free char *some = make(unlike, want[i].which, TABLE_TEXT);

		tap_ok(!strstr(all, "no run of the same task"), "table %s: all have partners",
		       want[i].which);
		if (!tap_ok(strstr(some, want[i].want) != NULL, "table %s: some have none",
			    want[i].which))
			tap_diag("%s", some);
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = make(rows[i].specs, rows[i].which, TABLE_CSV);

		if (!tap_ok(strstr(got, rows[i].want) != NULL, "%s", rows[i].name))
			tap_diag("got %s\nwant %s", got, rows[i].want);
	}
	test_alone();
	return tap_done();
}
