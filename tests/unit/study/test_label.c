/* The seven types of failure by rule, on run directories made of a few lines of text; what people say; and how
 * far both agree. */
#include "study/label_internal.h"

#include <math.h>
#include <stdlib.h>

#include "tests/lib/runscript.h"
#include "tests/lib/tap.h"

#define DONE                                                                                       \
	", \"id\": \"r-1\", \"state\": \"done\", \"agent\": \"ag\", \"task\": { \"instance_id\": \"t-1\" }, \"model\": null"
#define EXITED  DONE ", \"end\": { \"reason\": \"exited\" }"
#define LIMITED DONE ", \"end\": { \"reason\": \"limit:wall\" }"
#define COEDIT  EXITED ", \"condition\": { \"mode\": \"co-edit\", \"k\": 1 }"

/* The base file: one letter a line. The reference changes lines 5 and 8; the user's edit comes behind line 6. */
#define BASE "abcdefghijklmnopqrstuvwxyz0123456789"
#define REF  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyz0123456789"
#define EDIT "U:" BASE ">abcdefXYZghijklmnopqrstuvwxyz0123456789"
#define WITH "abcdefXYZghijklmnopqrstuvwxyz0123456789"

struct row {
	const char *name, *run, *script;
	const char *final; /* "PATH:FROM>TO ..." in letters */
	unsigned f2p, f2p_passed, p2p, p2p_passed;
	bool tampered;
	enum failure want;
	const char *why; /* part of the sentence */
};

/* clang-format off */
static const struct row rows[] = {
	{ "careless: kept, and the fix as the reference has it", EXITED,
	  "R:1-9 " EDIT " A:" WITH ">abcdRfXYZgSijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfXYZgSijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "all 3 lines" },
	{ "did nothing", EXITED, "R:1-9 " EDIT, "f.c:" BASE ">" WITH, 4, 0, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "all 3 lines" },
	{ "two of three lines kept", EXITED,
	  "R:1-9 " EDIT " A:" WITH ">abcdRfXQZgSijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfXQZgSijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "2 of 3 lines" },
	{ "what the user took out is still out", EXITED,
	  "R:1-9 U:" BASE ">abcdefijklmnopqrstuvwxyz0123456789 A:abcdefijklmnopqrstuvwxyz0123456789>abcdRfijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfijklmnopqrstuvwxyz0123456789", 4, 1, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "all 2 lines" },
	{ "an earlier round stands", EXITED,
	  EDIT " O U:" WITH ">abcdefXYZghijkVlmnopqrstuvwxyz0123456789 A:abcdefXYZghijkVlmnopqrstuvwxyz0123456789>abcdRfXYZgSijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfXYZgSijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "3 lines of an earlier round" },

	{ "other code in its place", EXITED,
	  "R:1-9 " EDIT " R:1-9 A:" WITH ">abcdRfPQgSijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfPQgSijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_INCORRECT_REPLACEMENT, "other code stands in its place" },
	{ "other code where lines were taken out", EXITED,
	  "U:" BASE ">abcdefijklmnopqrstuvwxyz0123456789 A:abcdefijklmnopqrstuvwxyz0123456789>abcdRfPQijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfPQijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_INCORRECT_REPLACEMENT, "other code stands in its place" },
	{ "reverted, both places worked on, both wrong", EXITED,
	  "U:" BASE ">abcdefXYZghijklmnopqrstuvwxyz0123456789 A:" WITH ">abcdPfgQijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdPfgQijklmnopqrstuvwxyz0123456789", 4, 0, 3, 3, false,
	  FAILURE_INCORRECT_REPLACEMENT, "other than it should be" },

	{ "reverted, one of two places done", EXITED,
	  EDIT " R:1-9 A:" WITH ">abcdRfghijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfghijklmnopqrstuvwxyz0123456789 g.c:k>kl", 4, 2, 3, 3, false,
	  FAILURE_INCOMPLETE_RECONCILIATION, "2 of 3 places" },
	{ "reverted, both places changed, half of the tests pass, tested", EXITED,
	  EDIT " A:" WITH ">abcdPfgQijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdPfgQijklmnopqrstuvwxyz0123456789 g.c:k>kP", 4, 2, 3, 3, false,
	  FAILURE_INCOMPLETE_RECONCILIATION, "2 of 4 fail-to-pass" },
	{ "one of three lines left, half of the work", EXITED,
	  EDIT " R:1-9 A:" WITH ">abcdRfXghijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfXghijklmnopqrstuvwxyz0123456789", 4, 1, 3, 3, false,
	  FAILURE_INCOMPLETE_RECONCILIATION, "places" },
	{ "no user edit: half of the work", EXITED,
	  "R:1-9 A:" BASE ">abcdRfghijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfghijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_INCOMPLETE_RECONCILIATION, "places" },

	{ "far off in the same file, edit kept", EXITED,
	  EDIT " A:" WITH ">abcdefXYZghijklmnopqrstuvwxyz0123456Q89",
	  "f.c:" BASE ">abcdefXYZghijklmnopqrstuvwxyz0123456Q89", 4, 0, 3, 3, false,
	  FAILURE_OFF_TARGET, "none of the agent's 1 changes" },
	{ "in other files", EXITED, EDIT " A/x.c:a>b A:" WITH ">" BASE,
	  "x.c:a>b y.c:->new", 4, 0, 3, 3, false, FAILURE_OFF_TARGET, "none of the agent's 2 changes" },
	{ "without a user edit", EXITED, "A/x.c:a>b", "x.c:a>b", 4, 1, 3, 3, false,
	  FAILURE_OFF_TARGET, "none of the agent's 1 changes" },

	{ "never came to an end", DONE, EDIT " A:" WITH ">abcdRfXYZgSijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfXYZgSijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "all 3" }, /* without a reason it is no limit */
	{ "stopped by a limit before it acted", LIMITED, EDIT " R:1-9", "f.c:" BASE ">" WITH, 4, 0, 3, 3, false,
	  FAILURE_INSUFFICIENT_EVIDENCE, "limit:wall" },
	{ "stopped by a limit before it did anything", LIMITED, "R:1-9", "", 4, 0, 3, 3, false,
	  FAILURE_INSUFFICIENT_EVIDENCE, "before the agent changed anything" },
	{ "stopped by a limit afterwards: that tells enough", LIMITED,
	  EDIT " A:" WITH ">abcdRfXYZghijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfXYZghijklmnopqrstuvwxyz0123456789", 4, 0, 3, 3, false,
	  FAILURE_RETAINED_CONFLICT, "all 3" },
	{ "state running", ", \"state\": \"running\", \"model\": null", EDIT, "f.c:" BASE ">" WITH, 4, 0, 3, 3, false,
	  FAILURE_INSUFFICIENT_EVIDENCE, "cut" },

	{ "the repair holds, something else broke, not tested", EXITED,
	  EDIT " T0 R:1-9 A:" WITH ">abcdRfgSijklmnopqrstuvwxyQ0123456789",
	  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyQ0123456789", 4, 4, 3, 2, false,
	  FAILURE_VERIFICATION_BREAKDOWN, "no test was run after" },
	{ "the same, the last test failed and was let be", EXITED,
	  EDIT " R:1-9 A:" WITH ">abcdRfgSijklmnopqrstuvwxyQ0123456789 T0 T1",
	  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyQ0123456789", 4, 4, 3, 2, false,
	  FAILURE_VERIFICATION_BREAKDOWN, "the last test run failed" },
	{ "the same, with changed tests", EXITED,
	  EDIT " A:" WITH ">abcdRfgSijklmnopqrstuvwxyQ0123456789 T0",
	  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyQ0123456789 tests/t.c:a>b", 4, 4, 3, 2, true,
	  FAILURE_VERIFICATION_BREAKDOWN, "the tests themselves" },
	{ "all places worked on, three of four pass, not tested", EXITED,
	  EDIT " A:" WITH ">abcdRfgPijklmnopqrstuvwxyz0123456789",
	  "f.c:" BASE ">abcdRfgPijklmnopqrstuvwxyz0123456789 g.c:k>kl", 4, 3, 3, 3, false,
	  FAILURE_VERIFICATION_BREAKDOWN, "no test was run after" },
	{ "the reference's lines are there, yet it fails, not tested", EXITED,
	  EDIT " A:" WITH ">abcdRfgSijklmnopqrstuvwxyz012345678P",
	  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyz012345678P g.c:k>kl", 4, 1, 3, 3, false,
	  FAILURE_VERIFICATION_BREAKDOWN, "3 of 3 places" },

	{ "reverted and nothing else", EXITED, EDIT " A:" WITH ">" BASE " T0", "", 4, 0, 3, 3, false,
	  FAILURE_OTHER, "0 changes" },
	{ "no edit, no work", EXITED, "R:1-9", "", 4, 0, 3, 3, false, FAILURE_OTHER, "0 changes" },
	{ "all is done and tested, and yet a test broke", EXITED,
	  EDIT " A:" WITH ">abcdRfgSijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfgSijklmnopqrstuvwxyz0123456789 g.c:k>kl", 4, 4, 3, 2, false, FAILURE_OTHER, "4 of 4" },
	{ "a co-edit may be kept", COEDIT, EDIT " A:" WITH ">abcdRfXYZghijklmnopqrstuvwxyz0123456789 T0",
	  "f.c:" BASE ">abcdRfXYZghijklmnopqrstuvwxyz0123456789", 4, 2, 3, 3, false,
	  FAILURE_INCOMPLETE_RECONCILIATION, "2 of 4" },
};
/* clang-format on */

/* --- diffs ------------------------------------------------------------------------------------- */

static void put_change(struct buf *b, const char *from, const char *to, size_t i, size_t k,
		       size_t n, size_t m)
{
	buf_addf(b, "@@ -%zu,%zu +%zu,%zu @@\n", n ? i + 1 : i, n, m ? k + 1 : k, m);
	for (size_t x = 0; x < n; x++)
		buf_addf(b, "-%c\n", from[i + x]);
	for (size_t x = 0; x < m; x++)
		buf_addf(b, "+%c\n", to[k + x]);
}

/* Longest common subsequence, as a diff without context. */
static void put_diff(struct buf *b, const char *path, const char *from, const char *to)
{
	static unsigned char t[64][64];
	size_t n = strlen(from), m = strlen(to), i = 0, k = 0;

	memset(t, 0, sizeof(t));
	for (size_t x = n; x-- > 0;)
		for (size_t y = m; y-- > 0;)
			t[x][y] = (unsigned char)(from[x] == to[y]            ? t[x + 1][y + 1] + 1
						  : t[x + 1][y] > t[x][y + 1] ? t[x + 1][y]
									      : t[x][y + 1]);
	buf_addf(b, "diff --git a/%s b/%s\n--- %s%s\n+++ b/%s\n", path, path,
		 n ? "a/" : "/dev/null", n ? path : "", path);
	while (i < n || k < m) {
		size_t i0 = i, k0 = k;

		while ((i < n || k < m) && !(i < n && k < m && from[i] == to[k])) {
			if (k >= m || (i < n && t[i + 1][k] >= t[i][k + 1]))
				i++;
			else
				k++;
		}
		if (i > i0 || k > k0)
			put_change(b, from, to, i0, k0, i - i0, k - k0);
		while (i < n && k < m && from[i] == to[k]) {
			i++;
			k++;
		}
	}
}

static void put_diffs(struct buf *b, const char *list)
{
	auto_free char *copy = mem_strdup(list);
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *colon = strchr(w, ':'), *gt = strchr(w, '>');

		*colon = *gt = '\0';
		put_diff(b, w, strcmp(colon + 1, "-") == 0 ? "" : colon + 1, gt + 1);
	}
}

/* --- rows -------------------------------------------------------------------------------------- */

static void put_list(struct json_w *w, const char *key, unsigned n, unsigned passed)
{
	json_open(w, key, '{');
	for (int half = 0; half < 2; half++) {
		json_open(w, half ? "failure" : "success", '[');
		for (unsigned i = half ? passed : 0; i < (half ? n : passed); i++)
			json_u64(w, NULL, i);
		json_close(w, ']');
	}
	json_close(w, '}');
}

static void put_verdict(struct fakerun *f, const struct row *r)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct json_w w = { .b = &b };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.verdict/1");
	json_str(&w, "verdict", "unresolved");
	put_list(&w, "FAIL_TO_PASS", r->f2p, r->f2p_passed);
	put_list(&w, "PASS_TO_PASS", r->p2p, r->p2p_passed);
	json_open(&w, "tamper", '[');
	if (r->tampered)
		json_str(&w, NULL, "hidden-tests");
	json_close(&w, ']');
	json_close(&w, '}');
	fakerun_file(f, "verdict.json", buf_str(&b), b.len);
}

/* Everything for one row; the label. */
static void label_row(const struct row *r, const char *ref, struct label *ret)
{
	struct task task = { .instance_id = (char *)"t-1" };
	auto_buf patch = BUF_INIT(1u << 20), reference = BUF_INIT(1u << 20),
		 text = BUF_INIT(1u << 20);
	struct runscript s;
	struct rundir rd = { 0 };
	struct behave b = { 0 };
	struct err err = { 0 };

	runscript_make(&s, r->run, r->script);
	put_verdict(&s.run, r);
	put_diffs(&patch, r->final);
	put_diffs(&reference, ref);
	fakerun_file(&s.run, "patch.diff", buf_str(&patch), patch.len);
	task.patch = (char *)(uintptr_t)buf_str(&reference);
	strv_add(&task.test.hidden, "tests/**");
	tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0 &&
		       label_of(&rd, &b, &task, ret, &err) == 0,
	       "%s %s", r->name, err.text);
	label_json(&rd, &b, ret, &text);
	tap_ok(strstr(buf_str(&text), "\"schema\": \"proctor.behaviour/1\"") &&
		       strstr(buf_str(&text), failure_name(ret->failure)),
	       "  prints");
	for (size_t i = 0; i < ret->evidence.n; i++)
		tap_ok(((uint64_t *)ret->evidence.v)[i] >= 1 &&
			       ((uint64_t *)ret->evidence.v)[i] <= rd.last_n,
		       "  evidence is in the trace");
	strv_done(&task.test.hidden);
	behave_done(&b);
	rundir_done(&rd);
	fakerun_done(&s.run);
}

static void run_row(const struct row *r)
{
	/* a third place in another file where the final patch works on one: "g.c" */
	auto_free char *ref = mem_printf("%s%s", REF, strstr(r->final, "g.c") ? " g.c:k>kl" : "");
	struct label l = { 0 };

	label_row(r, ref, &l);
	tap_is_str(failure_name(l.failure), failure_name(r->want), r->name);
	tap_ok(l.why && strstr(l.why, r->why), "  %s", l.why);
	tap_ok(l.confidence > 0 && l.confidence <= 1 && l.human == FAILURE_MAX, "  confidence");
	label_done(&l);
}

static void no_failure(void)
{
	static const char *const verdicts[] = { NULL, "resolved", "infra", "invalid" };

	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct runscript s;
		struct rundir rd = { 0 };
		struct behave b = { 0 };
		struct label l = { 0 };
		struct err err = { 0 };

		runscript_make(&s, EXITED, EDIT);
		if (verdicts[i]) {
			auto_free char *text = mem_printf(
				"{ \"schema\": \"proctor.verdict/1\", \"verdict\": \"%s\" }",
				verdicts[i]);

			fakerun_file(&s.run, "verdict.json", text, strlen(text));
		}
		tap_ok(rundir_load(s.run.dir, &rd, &err) == 0 && behave_of(&rd, &b, &err) == 0 &&
			       label_of(&rd, &b, NULL, &l, &err) == 0 && l.failure == FAILURE_NONE,
		       "%s: %s", verdicts[i] ? verdicts[i] : "no verdict", l.why);
		label_done(&l);
		behave_done(&b);
		rundir_done(&rd);
		fakerun_done(&s.run);
	}
}

/* --- people ------------------------------------------------------------------------------------ */

static void people(void)
{
	static const char text[] =
		"{\"run\":\"r-1\",\"label\":\"off_target\",\"by\":\"A\",\"note\":\"n\\\\xff\"}\n\n"
		"{\"instance_id\":\"t-1\",\"model\":\"ag\",\"label\":\"other_defect\",\"by\":\"B\"}\n"
		"{\"instance_id\":\"t-1\",\"repeat\":2,\"label\":\"none\"}\n"
		"{\"instance_id\":\"t-1\",\"condition\":\"vanilla\",\"label\":\"none\"}\n"
		"{\"run\":\"r-1\",\"rule\":\"x\",\"why\":\"y\",\"label\":null,\"by\":null,\"note\":null}\n";
	struct label_overrides o = { 0 };
	struct runscript s;
	struct rundir rd = { 0 };
	struct label_key key, other = { .run = (char *)"r-1" };
	struct label l = { .human = FAILURE_MAX };
	struct err err = { 0 };
	auto_buf out = BUF_INIT(1u << 20);

	tap_ok(label_overrides_parse("f", text, sizeof(text) - 1, &o, &err) == 0 && o.n == 4,
	       "lines that were filled in %s", err.text);
	runscript_make(&s, COEDIT, "O");
	tap_ok(rundir_load(s.run.dir, &rd, &err) == 0, "a run");
	label_key_of(&rd, &key);
	tap_is_str(key.condition, "co-edit", "its condition");
	tap_ok(key.repeat == 1 && strcmp(key.model, "ag") == 0 && strcmp(key.run, "r-1") == 0,
	       "its name");
	tap_ok(label_override(&o, &key, &l) && l.human == FAILURE_OTHER &&
		       strcmp(l.human_by, "B") == 0 && l.human == FAILURE_OTHER,
	       "the last line that fits");
	tap_ok(label_override(&o, &other, &l) && l.human == FAILURE_OFF_TARGET, "by name alone");
	tap_is_str(l.human_note, "n\xff", "its note");
	label_template(&key, &l, &out);
	label_overrides_done(&o);
	tap_ok(label_overrides_parse("t", buf_str(&out), out.len, &o, &err) == 0 && o.n == 0,
	       "a template reads back, not filled in %s", err.text);
	label_done(&l);
	label_key_done(&key);
	rundir_done(&rd);
	fakerun_done(&s.run);
}

static void bad_lines(void)
{
	static const struct {
		const char *line, *say;
	} bad[] = {
		{ "{\"run\":\"r\",\"label\":\"off_targt\"}", "did you mean \"off_target\"" },
		{ "{\"run\":\"r\",\"label\":7}", "must be a type of failure" },
		{ "{\"label\":\"none\"}", "names no run" },
		{ "{\"run\":\"r\",\"lable\":\"none\"}", "did you mean \"label\"" },
		{ "{\"run\":7}", "must be a string" },
		{ "{\"run\":\"r\"", "f:2" },
		{ "[]", "must be an object" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_free char *text =
			mem_printf("{\"run\":\"a\",\"label\":\"none\"}\n%s\n", bad[i].line);
		struct label_overrides o = { 0 };
		struct err err = { 0 };

		tap_ok(label_overrides_parse("f", text, strlen(text), &o, &err) == -ERR_INPUT &&
			       strstr(err.text, bad[i].say) && strstr(err.text, "f:2") && !o.v,
		       "%s: %s", bad[i].line, err.text);
	}
}

static void agreement(void)
{
	struct label v[] = {
		{ .failure = FAILURE_RETAINED_CONFLICT, .human = FAILURE_RETAINED_CONFLICT },
		{ .failure = FAILURE_RETAINED_CONFLICT, .human = FAILURE_RETAINED_CONFLICT },
		{ .failure = FAILURE_OFF_TARGET, .human = FAILURE_OFF_TARGET },
		{ .failure = FAILURE_OFF_TARGET, .human = FAILURE_RETAINED_CONFLICT },
		{ .failure = FAILURE_OTHER, .human = FAILURE_MAX },
	};
	struct label_agreement a;

	label_agree(v, ARRAY_SIZE(v), &a);
	tap_ok(a.n == 4 && a.same == 3 &&
		       a.table[FAILURE_OFF_TARGET][FAILURE_RETAINED_CONFLICT] == 1,
	       "three of four, one missed");
	/* 3/4 agree; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2 */
	tap_ok(fabs(a.kappa - 0.5) < 1e-12, "kappa %.3f", a.kappa);
	label_agree(v + 4, 1, &a);
	tap_ok(a.n == 0 && isnan(a.kappa), "nobody said anything");
}

static void all_names(void)
{
	for (int i = 0; i < FAILURE_MAX; i++)
		tap_ok(failure_find(failure_name((enum failure)i)) == (enum failure)i, "%s",
		       failure_name((enum failure)i));
	tap_ok(failure_find("nonsense") == FAILURE_MAX, "no such type");
	for (int i = 1; i < FAILURE_MAX; i++) {
		const struct label_rule *r = label_rules;

		while (r->name && (int)r->failure != i)
			r++;
		tap_ok(r->name && r->confidence > 0 && r->doc[0], "a rule gives %s",
		       failure_name((enum failure)i));
	}
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	no_failure();
	people();
	bad_lines();
	agreement();
	all_names();
	return tap_done();
}
