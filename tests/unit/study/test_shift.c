/* Figures of pairs: the published row from counts, both averages, what is in no rate, order and grouping, systems on
 * the same cells, and texts that are no tables. */
#include "study/shift.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

#define HEAD "scenario\tfamily\tposition\tagent\tvalid\tclean\tshifted\tpaired\tpairs\n"

static bool near(double a, double b)
{
	return fabs(a - b) < 0.005;
}

static int read_text(const char *text, struct shift_pairs *ret, struct err *err)
{
	return shift_parse("t", text, strlen(text), ret, err);
}

/* Table @which of the table of counts @text in @format, "none: WHY" or "error: TEXT". Caller frees. */
static char *make(const char *text, const char *which, enum table_format format)
{
	struct shift_options o = { .seed = 1, .draws = 200 };
	auto_buf out = BUF_INIT(1u << 20);
	struct shift_pairs p = { 0 };
	struct shift *s = NULL;
	struct err err = { 0 };
	const char *why = NULL;
	struct table *t = NULL;

	if (read_text(text, &p, &err) == 0 && shift_new(&p, &o, &s, &err) == 0) {
		t = shift_table(s, which, &why);
		if (t)
			table_print(t, format, &out);
		else
			buf_addf(&out, "none: %s", why);
	} else {
		buf_addf(&out, "error: %s", err.text);
	}
	table_free(t);
	shift_free(s);
	shift_pairs_done(&p);
	return buf_steal(&out, NULL);
}

/* --- published figures ------------------------------------------------------------------------- */

static void figures_of(const char *text, struct shift_figures *ret)
{
	struct shift_pairs p = { 0 };
	struct err err = { 0 };

	*ret = (struct shift_figures){ 0 };
	tap_ok(read_text(text, &p, &err) == 0, "counts are read: %s", err.text);
	shift_figures(&p, ret);
	shift_pairs_done(&p);
}

/* Table 2 of the paper: clean, shifted, PSR, CRR. */
static const struct {
	const char *name;
	double clean, shifted, psr, crr;
} published[] = {
	{ "first", 67.35, 24.79, 20.34, 30.20 }, { "second", 62.01, 18.33, 16.88, 26.02 },
	{ "third", 53.76, 16.09, 14.78, 26.54 }, { "fourth", 46.22, 12.56, 11.30, 23.94 },
	{ "fifth", 31.41, 12.09, 8.20, 25.12 },  { "sixth", 29.37, 10.29, 8.83, 29.15 },
};

/* The only whole numbers up to 1,080 pairs (120 scenarios, nine positions) that give the first row. */
static void test_first_row(void)
{
	struct shift_figures f;

	figures_of(HEAD "all\tF\t0.5\ta\t585\t394\t145\t119\t585\n", &f);
	tap_ok(near(f.clean_rate, published[0].clean), "clean 394 of 585: %.4f", f.clean_rate);
	tap_ok(near(f.shifted_rate, published[0].shifted), "shifted 145 of 585: %.4f",
	       f.shifted_rate);
	tap_ok(near(f.psr, published[0].psr), "PSR 119 of 585: %.4f", f.psr);
	tap_ok(near(f.crr, published[0].crr), "CRR micro 119 of 394: %.4f", f.crr);
	tap_ok(near(f.crr_macro, published[0].crr), "one scenario: both averages are one");
}

/* Of ten thousand pairs every printed rate is a count. The quotient is the printed CRR in the first row and
 * above it in the other five. */
static void test_six_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(published); i++) {
		auto_free char *text =
			mem_printf(HEAD "all\tF\t0.5\ta\t10000\t%.0f\t%.0f\t%.0f\t10000\n",
				   published[i].clean * 100, published[i].shifted * 100,
				   published[i].psr * 100);
		struct shift_figures f;
		double more;

		figures_of(text, &f);
		more = f.crr - published[i].crr;
		tap_ok(i ? more > 0.5 && more < 1.25 : fabs(more) < 0.01,
		       "%s row: PSR/Clean %.2f, printed %.2f, %+.2f", published[i].name, f.crr,
		       published[i].crr, more);
	}
}

/* A mean over scenarios can lie below the quotient of the same counts: the easy scenario has more clean successes. */
static void test_averages(void)
{
	struct shift_figures f;

	figures_of(HEAD "easy\tF1\t0.5\ta\t9\t9\t4\t4\t9\n"
			"hard\tF1\t0.5\ta\t9\t3\t1\t0\t9\n"
			"none\tF2\t0.5\ta\t9\t0\t2\t0\t9\n",
		   &f);
	tap_ok(near(f.psr, 400.0 / 27), "PSR micro 4 of 27: %.3f", f.psr);
	tap_ok(near(f.crr, 400.0 / 12), "CRR micro 4 of 12: %.3f", f.crr);
	tap_ok(near(f.crr_macro, (400.0 / 9 + 0) / 2), "CRR macro over two scenarios: %.3f",
	       f.crr_macro);
	tap_is_u64(f.clean_scenarios, 2, "a scenario without a clean success is in no macro CRR");
	tap_is_u64(f.scenarios, 3, "it is in the macro PSR");
	tap_ok(near(f.psr_macro, 400.0 / 9 / 3), "PSR macro: %.3f", f.psr_macro);
	tap_ok(near(f.clean_macro, (100 + 100.0 / 3) / 3), "clean macro: %.3f", f.clean_macro);
}

static void test_none(void)
{
	struct shift_figures f;

	figures_of(HEAD "s\tF1\t0.5\ta\t0\t0\t0\t0\t3\n", &f);
	tap_ok(isnan(f.psr) && isnan(f.crr) && isnan(f.crr_macro) && isnan(f.psr_macro),
	       "no valid pair, no rate");
	tap_is_u64(f.invalid, 3, "they are counted as invalid");
	figures_of(HEAD "s\tF1\t0.5\ta\t3\t0\t1\t0\t3\n", &f);
	tap_ok(f.psr == 0 && isnan(f.crr), "no clean success: PSR is zero, CRR is none");
}

/* --- tables ------------------------------------------------------------------------------------ */

#define ONE                                                                                        \
	"scenario\tfamily\tposition\tagent\tmodel\tladder\tbudget\tvalid\tclean\tshifted\tstate\treason\trepeat\n"

/* clang-format off */
static const struct {
	const char *name, *which, *text, *want; /* stands in the CSV */
} rows[] = {
	{ "an invalid pair is in no rate", "pairs",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t\ns\tF01\t0.2\ta\t\tA0\t10\t0\t1\t1\tinvalid\tprefix\t\n",
	  "\r\na,2,1,1,100,1,100,1,100," },
	{ "one arm only and ungraded ones are no pairs", "pairs",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.2\ta\t\tA0\t10\t0\t1\t\tpartial\t\t\ns\tF01\t0.3\ta\t\tA0\t10\t0\t\t\tungraded\t\t\n",
	  "\r\na,3,1,1,100,0,0,0,0," },
	{ "systems stand by clean success, with their model", "pairs",
	  ONE "s\tF01\t0.1\ta\tm\tA0\t10\t1\t0\t0\t\t\t\ns\tF01\t0.1\tb\t\tA0\t10\t1\t1\t0\t\t\t\n",
	  "\r\nb,1,1,1,100,0,0,0,0,0,79.3" },
	{ "the other one comes behind", "pairs",
	  ONE "s\tF01\t0.1\ta\tm\tA0\t10\t1\t0\t0\t\t\t\ns\tF01\t0.1\tb\t\tA0\t10\t1\t1\t0\t\t\t\n",
	  "\r\na/m,1,1,0,0," },
	{ "families in order", "families",
	  ONE "t\tF02\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t\ns\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n",
	  "\r\na,F01,1,1,1,100,0,0,0,0," },
	{ "positions: fractions, anchors, numbers", "grid",
	  ONE "s\tF01\t12\ta\t\tA0\t10\t1\t1\t1\t\t\t\ns\tF01\t3\ta\t\tA0\t10\t1\t1\t1\t\t\t\ns\tF01\tbefore-submit\ta\t\tA0\t10\t1\t1\t0\t\t\t\n"
	  "s\tF01\tstart\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.9\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t\n",
	  "psr_at_0_1,psr_at_0_9,psr_at_start,psr_at_before_submit,psr_at_3,psr_at_12\r\na,F01,100,0,0,0,100,100\r\n" },
	{ "a ladder of one system", "ladder",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.1\ta\t\tA3\t10\t1\t1\t1\t\t\t\n",
	  ",1,100,1\r\n" },
	{ "prefixes are never added up", "pairs",
	  "scenario\tfamily\tposition\tagent\tprefix\tvalid\tclean\tshifted\n"
	  "s\tF01\t0.1\ta\t\t1\t1\t1\ns\tF01\t0.1\ta\tresumed\t1\t1\t0\n",
	  "\r\na,replayed,1,1,1,100,1,100,1,100," },
	{ "they have rows of their own", "pairs",
	  "scenario\tfamily\tposition\tagent\tprefix\tvalid\tclean\tshifted\n"
	  "s\tF01\t0.1\ta\t\t1\t1\t1\ns\tF01\t0.1\ta\tresumed\t1\t1\t0\n",
	  "\r\na,resumed,1,1,1,100,0,0,0,0," },
	{ "a ladder step of another prefix is no base", "ladder",
	  "scenario\tfamily\tposition\tagent\tprefix\tladder\tbudget\tvalid\tclean\tshifted\n"
	  "s\tF01\t0.1\ta\t\tA0\t9\t1\t1\t1\ns\tF01\t0.1\ta\tresumed\tA3\t9\t1\t1\t0\n",
	  "none: no system has pairs at two steps" },
	{ "no ladder", "ladder", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: all pairs are of one step" },
	{ "a sweep is compared with B", "sweep",
	  ONE "s\tF01\t0.1\ta\t\tA0\t500000\t1\t1\t0\t\t\t\ns\tF01\t0.1\ta\t\tA0\t1000000\t1\t1\t1\t\t\t\ns\tF01\t0.1\ta\t\tA0\t8000000\t1\t1\t1\t\t\t\n",
	  "\r\na,500000,1,1,1,100,0,0,0,0,0,79.3" },
	{ "without B with the smallest", "sweep",
	  ONE "s\tF01\t0.1\ta\t\tA0\t5\t1\t1\t0\t\t\t\ns\tF01\t0.1\ta\t\tA0\t9\t1\t1\t1\t\t\t\n", ",1,100,1\r\n" },
	{ "no sweep", "sweep", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: all pairs are of one token budget" },
	{ "two systems on the cells that both have", "versus",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t\ns\tF01\t0.2\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.3\ta\t\tA0\t10\t1\t1\t1\t\t\t\n"
	  "s\tF01\t0.1\tb\t\tA0\t10\t1\t0\t1\t\t\t\ns\tF01\t0.2\tb\t\tA0\t10\t1\t0\t0\t\t\t\ns\tF01\t0.3\tb\t\tA0\t10\t0\t0\t0\t\tinfra\t\n",
	  "\r\na,b,2,0,1,0,1,50," },
	{ "invalid ones by reason", "invalid",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t0\t\t\t\tupdate\t\ns\tF01\t0.2\ta\t\tA0\t10\t0\t\t\t\tprefix\t\ns\tF01\t0.3\ta\t\tA0\t10\t0\t\t\t\tupdate\t\n",
	  "\r\na,prefix,1,t:3,\r\na,update,2,t:2,\r\n" },
	{ "none invalid", "invalid", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: all pairs are valid" },
	{ "missing cells are named", "missing",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\nt\tF01\t0.2\ta\t\tA0\t10\t1\t1\t0\t\t\t\nt\tF01\t0.1\ta\t\tA0\t10\t0\t\t\t\tinfra\t\n",
	  "\r\na,s,1,0.2\r\na,t,1,0.1\r\n" },
	{ "nothing is missing", "missing", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: every system" },
	{ "counts say nothing of checks", "checks", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: no valid pair has a strict.json" },
	{ "counts say nothing of tokens", "after", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: no valid pair says" },
	{ "cells", "cells", HEAD "s\tF01\t0.1\ta\t8\t4\t3\t2\t9\n", "\r\na,F01,0.1,9,8,4,50,3,37.5,2,25," },
	{ "the same pair twice", "pairs",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\ns\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "error: t:2 and t:3 are the same pair" },
	{ "repeats are told apart", "pairs",
	  ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t1\ns\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t2\n", "\r\na,2,2,2,100,1,50,1,50," },
	{ "no such table", "5", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t0\t\t\t\n", "none: there is no such table" },
	/* texts */
	{ "a column with a slip", "pairs", "scenario\tpositions\tagent\n", "error: t:1: no column \"positions\" is known, did you mean \"position\"?" },
	{ "a column twice", "pairs", "scenario\tagent\tagent\n", "error: t:1: column \"agent\" is there twice" },
	{ "a needed one", "pairs", "scenario\tagent\tvalid\nx\ty\t1\n", "error: t:2: column \"position\": is missing" },
	{ "more fields than columns", "pairs", "scenario\tagent\nx\ty\t1\n", "error: t:2: more fields than" },
	{ "no number", "pairs", HEAD "s\tF\t0.1\ta\t1\t-1\t0\t0\t1\n", "error: t:2: column \"clean\": must be a whole number" },
	{ "a huge number", "pairs", HEAD "s\tF\t0.1\ta\t1\t1\t1\t1\t99999999999\n", "error: t:2: column \"pairs\": must be a whole number" },
	{ "more valid than pairs", "pairs", HEAD "s\tF\t0.1\ta\t2\t1\t1\t1\t1\n", "error: t:2: column \"valid\"" },
	{ "more successes than valid ones", "pairs", HEAD "s\tF\t0.1\ta\t2\t3\t1\t1\t2\n", "error: t:2: column \"clean, shifted\"" },
	{ "more paired than an arm", "pairs", HEAD "s\tF\t0.1\ta\t2\t2\t1\t2\t2\n", "error: t:2: column \"paired\"" },
	{ "fewer paired than must be", "pairs", HEAD "s\tF\t0.1\ta\t2\t2\t2\t1\t2\n", "error: t:2: column \"paired\"" },
	{ "paired is needed for several", "pairs", HEAD "s\tF\t0.1\ta\t2\t2\t2\t\t2\n", "error: t:2: column \"paired\": is needed" },
	{ "no state", "pairs", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\tfine\t\t\n", "error: t:2: column \"state\"" },
	{ "repeat from one", "pairs", ONE "s\tF01\t0.1\ta\t\tA0\t10\t1\t1\t1\t\t\t0\n", "error: t:2: column \"repeat\"" },
	{ "a head alone", "pairs", HEAD, "error: there is no pair" },
	{ "JSON", "pairs",
	  "{\"schema\":\"proctor.paircounts/1\",\"rows\":[{\"scenario\":\"s\",\"position\":\"0.1\",\"agent\":\"a\",\"valid\":true,\"clean\":true,\"shifted\":false}]}",
	  "\r\na,1,1,1,100,0,0,0,0," },
	{ "JSON with a slip", "pairs",
	  "{\"schema\":\"proctor.paircounts/1\",\"rows\":[{\"scenari\":\"s\"}]}", "error: t: row 1: no column \"scenari\" is known, did you mean \"scenario\"?" },
	{ "another schema", "pairs", "{\"schema\":\"proctor.run/1\"}", "error: t:" },
	{ "no position", "pairs", "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"valid\":true}", "error: t: $.position.text: must be a string" },
	{ "no arms", "pairs", "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"valid\":true,\"position\":{\"text\":\"0.1\"}}", "error: t: $.arms:" },
	{ "a pair", "pairs",
	  "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"scenario\":\"s\",\"valid\":true,\"position\":{\"text\":\"0.1\"},"
	  "\"arms\":{\"clean\":{\"verdict\":\"resolved\",\"success\":true},\"shifted\":{\"verdict\":\"resolved\",\"success\":true}}}",
	  "\r\na,1,1,1,100,1,100,1,100," },
	{ "a pair that says paired, and an arm that did not succeed", "pairs",
	  "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"scenario\":\"s\",\"valid\":true,\"paired\":true,\"position\":{\"text\":\"0.1\"},"
	  "\"arms\":{\"clean\":{\"verdict\":\"resolved\",\"success\":true},\"shifted\":{\"verdict\":\"unresolved\",\"success\":false}}}",
	  "\r\na,1,1,1,100,0,0,0,0," },
	{ "an arm without a verdict", "pairs",
	  "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"scenario\":\"s\",\"valid\":true,\"position\":{\"text\":\"0.1\"},"
	  "\"arms\":{\"clean\":{\"verdict\":null,\"success\":true},\"shifted\":{\"verdict\":\"resolved\",\"success\":true}}}",
	  "\r\na,1,0,0,,0,,0,," },
	{ "one arm", "pairs",
	  "{\"schema\":\"proctor.pair/1\",\"agent\":\"a\",\"scenario\":\"s\",\"valid\":true,\"position\":{\"text\":\"0.1\"},"
	  "\"arms\":{\"clean\":{\"verdict\":\"resolved\",\"success\":true},\"shifted\":null}}",
	  "\r\na,1,0,0,,0,,0,," },
};
/* clang-format on */

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = make(rows[i].text, rows[i].which, TABLE_CSV);

		if (!tap_ok(strstr(got, rows[i].want), "%s", rows[i].name))
			tap_diag("got: %s", got);
	}
}

/* Every name makes a table or says why not. */
static void test_names(void)
{
	for (size_t i = 0; shift_tables[i]; i++) {
		auto_free char *got = make(rows[0].text, shift_tables[i], TABLE_TEXT);

		tap_ok(!strstr(got, "no such table"), "table %s", shift_tables[i]);
	}
	tap_ok(shift_in_all("pairs") && !shift_in_all("cells"),
	       "long tables are made by name only");
}

/* What was read is written so that it is read again, whatever bytes are in the names. */
static void test_again(void)
{
	struct shift_pairs a = { 0 }, b = { 0 };
	auto_buf first = BUF_INIT(1u << 16), second = BUF_INIT(1u << 16);
	struct err err = { 0 };
	int rc = read_text(ONE "a\\x09b\\\\x\tF01\t0.1\ta\tm\tA2\t10\t1\t1\t0\t\t\t3\n"
			       "s\t\tstart\ta\t\t\t\t0\t\t\t\tprefix\t\n",
			   &a, &err);

	tap_ok(rc == 0, "read: %s", err.text);
	shift_counts(&a, &first);
	rc = read_text(buf_str(&first), &b, &err);
	tap_ok(rc == 0, "read again: %s", err.text);
	shift_counts(&b, &second);
	tap_is_str(buf_str(&second), buf_str(&first), "written twice, the same bytes");
	tap_is_str(a.v ? a.v[0].scenario : NULL, "a\tb\\x", "bytes of a name");
	tap_ok(shift_is(buf_str(&first)) && !shift_is("{\"schema\":\"proctor.result/1\"}\n") &&
		       !shift_is("scenario clean\n"),
	       "told from results");
	shift_pairs_done(&a);
	shift_pairs_done(&b);
}

int main(void)
{
	test_first_row();
	test_six_rows();
	test_averages();
	test_none();
	test_rows();
	test_names();
	test_again();
	return tap_done();
}
