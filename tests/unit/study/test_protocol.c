/* Figures of runs and histories of one contract, by hand. */
#include "study/protocol.h"

#include "base/str.h"
#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"

/* A made-up run; "passed" holds a letter for each of the probes a to d that passed; e is of
 * PASS_TO_PASS, which no contract is probed by. */
struct made {
	const char *scenario, *digest, *passed, *verdict, *more;
	unsigned repeat;
};

static void put_verdict(struct fakerun *f, const struct made *m)
{
	auto_buf b = BUF_INIT(1u << 16);

	buf_addf(
		&b,
		"{ \"schema\": \"proctor.verdict/1\", \"instance_id\": \"t-1\", \"verdict\": \"%s\", \"reason\": \"r\","
		" \"patch\": { \"exists\": true, \"applied\": true, \"method\": \"exact\", \"dropped\": [] },"
		" \"tamper\": [], \"reader\": \"tap\", \"complete\": true, \"note\": null, \"exit_status\": 0,"
		" \"resources\": { \"wall_ns\": 1, \"cpu_ns\": 1, \"max_mem\": 1 },"
		" \"verifier_digest\": \"%s\", \"digest\": \"00\", \"tests\": [",
		m->verdict, m->digest);
	for (char c = 'a'; c <= 'e'; c++)
		buf_addf(&b,
			 "%s{ \"name\": \"%c\", \"list\": \"%s_TO_PASS\", \"expected\": \"passed\","
			 " \"status\": \"%s\", \"how\": \"exact\" }",
			 c == 'a' ? "" : ",", c, c == 'e' ? "PASS" : "FAIL",
			 strchr(m->passed, c) ? "passed" : "failed");
	buf_adds(&b, "] }");
	fakerun_file(f, "verdict.json", buf_str(&b), b.len);
}

static void add(const struct made *m, struct protocol_runs *out)
{
	struct fakerun f;
	struct err err = { 0 };
	auto_free char *members = mem_printf(
		", \"agent\": \"actor\", \"scenario\": \"%s\", \"repeat\": %u, \"pair_digest\": \"p\","
		" \"task\": { \"instance_id\": \"t-1\" }%s",
		m->scenario, m->repeat, m->more ? m->more : "");

	fakerun_new(&f, members);
	if (m->verdict)
		put_verdict(&f, m);
	tap_ok(protocol_add(f.dir, out, &err) == 0, "%s %u is read %s", m->scenario, m->repeat,
	       err.text);
	fakerun_done(&f);
}

/* clang-format off */
static const struct made histories[] = {
	{ "direct",  "v", "abcde", "resolved",  NULL, 1 },
	{ "revised", "v", "ab",   "unresolved", NULL, 1 },
	{ "revised", "v", "abd",  "unresolved", NULL, 2 },
	{ "direct",  "v", "abce", "unresolved", NULL, 2 },
	{ "direct",  "v", "abcd", "resolved",   NULL, 3 },
	{ "revised", "w", "",     "unresolved", NULL, 3 }, /* another verifier: no pair */
	{ "direct",  "v", "abcd", "resolved",   NULL, 4 },
	{ "revised", "v", "",     "infra",      NULL, 4 }, /* no result: no pair */
	{ "direct",  "v", "abcd", "resolved",   NULL, 5 }, /* alone */
};
/* clang-format on */

/* direct -> revised: 4 + 3 probes realised, of these c, d and c not by the other. */
static void paths(void)
{
	static const char want[] =
		"system,instance_id,history,other,pairs,probes_asked,probes_realised,"
		"probes_realised_other,probes_kept,probes_violated,probes_violation,runs_whole,"
		"runs_violated,runs_violation";
	struct protocol_runs r = { 0 };
	auto_buf out = BUF_INIT(1u << 16);
	const char *why = NULL;
	struct err err = { 0 };
	struct table *t;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(histories); i++)
		add(&histories[i], &r);
	t = protocol_table(&r, "paths", &why, &rc, &err);
	if (tap_ok(t && rc == 0, "paths %s", err.text)) {
		table_print(t, TABLE_CSV, &out);
		tap_ok(str_starts(buf_str(&out), want), "its columns: %s", buf_str(&out));
		tap_ok(strstr(buf_str(&out), "\nactor,t-1,direct,revised,2,8,87.5,62.5,7,3,42.857"),
		       "3 of 7 probes: %s", buf_str(&out));
		tap_ok(strstr(buf_str(&out), ",1,1,100\r\n") != NULL, "1 of 1 runs");
		tap_ok(strstr(buf_str(&out),
			      "\nactor,t-1,revised,direct,2,8,62.5,87.5,5,1,20,0,0,"),
		       "the other way 1 of 5, and no run to begin with");
		buf_clear(&out);
		table_print(t, TABLE_TEXT, &out);
		tap_ok(strstr(buf_str(&out), "1 pairs are left out") != NULL,
		       "another verifier is said");
	}
	table_free(t);
	add(&histories[0], &r);
	t = protocol_table(&r, "paths", &why, &rc, &err);
	tap_ok(!t && rc == -ERR_INPUT && strstr(err.text, "say run --repeat"), "%s", err.text);
	protocol_done(&r);
}

static void figures(void)
{
	static const struct made runs[] = {
		{ "s", "v", "a", "resolved",
		  ", \"user\": { \"messages\": 3, \"corrections\": 1, \"nudges\": 2, \"user_correction\": 1.4 },"
		  " \"model\": { \"name\": \"m\", \"main_calls\": 7 },"
		  " \"services\": [ { \"name\": \"boss\", \"kind\": \"ask\", \"state\": { \"questions\": 4,"
		  " \"ask_precision\": 0.5, \"ask_recall\": 1, \"ask_f1\": 0.6667 } }, { \"name\": \"api\" } ]",
		  1 },
		{ "s", "v", "a", "resolved",
		  ", \"user\": { \"user_correction\": 0.6 }, \"model\": { \"name\": \"m\" }", 2 },
		{ "s", "v", "", NULL, ", \"user\": null, \"model\": { \"name\": \"m\" }", 3 },
	};
	static const char *const want[] = {
		"\nactor/m,s,boss ask_f1,1,0.6667,,0.6667,0.6667\r\n",
		"\nactor/m,s,user correction,2,1,0.565685",
		"\nactor/m,s,model calls,1,7,,7,7\r\n",
		"\nactor/m,s,boss questions,1,4,,4,4\r\n",
	};
	struct protocol_runs r = { 0 };
	auto_buf out = BUF_INIT(1u << 16);
	const char *why = NULL;
	struct err err = { 0 };
	struct table *t;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		add(&runs[i], &r);
	t = protocol_table(&r, "figures", &why, &rc, &err);
	if (t)
		table_print(t, TABLE_CSV, &out);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		tap_ok(strstr(buf_str(&out), want[i]) != NULL, "figures: %s", want[i] + 1);
	if (!strstr(buf_str(&out), want[0]))
		tap_diag("%s", buf_str(&out));
	table_free(t);
	t = protocol_table(&r, "paths", &why, &rc, &err);
	tap_ok(!t && rc == 0 && strstr(why, "differ in their history"), "no histories: %s", why);
	protocol_done(&r);
	why = NULL;
	t = protocol_table(&r, "figures", &why, &rc, &err);
	tap_ok(!t && rc == 0 && why, "no runs: %s", why);
}

/* Figures of strict.json, with one that has nothing to divide by. */
static void strict(void)
{
	static const char text[] =
		"{ \"schema\": \"proctor.strict/1\", \"success\": true, \"milestones\": { \"similarity\": 0.75 },"
		" \"figures\": [ { \"name\": \"localised\", \"count\": 1, \"of\": 2, \"value\": 0.5 },"
		" { \"name\": \"none\", \"count\": 0, \"of\": 0, \"value\": null } ] }";
	struct protocol_runs r = { 0 };
	struct err err = { 0 };
	struct fakerun f;

	fakerun_new(&f, ", \"agent\": \"a\"");
	fakerun_file(&f, "strict.json", text, sizeof(text) - 1);
	tap_ok(protocol_add(f.dir, &r, &err) == 0 && r.n == 1 && r.v[0].n_figures == 3 &&
		       r.v[0].figure[0].value == 1 && r.v[0].figure[1].value == 0.75 &&
		       strcmp(r.v[0].figure[2].name, "localised") == 0 &&
		       r.v[0].figure[2].value == 0.5 && !r.v[0].graded,
	       "strict.json: success, milestones, one figure %s", err.text);
	fakerun_file(&f, "strict.json", "{", 1);
	tap_ok(protocol_add(f.dir, &r, &err) == -ERR_INPUT && r.n == 1, "%s", err.text);
	tap_ok(protocol_add("/nonexistent", &r, &err) == -ERR_INPUT, "%s", err.text);
	protocol_done(&r);
	fakerun_done(&f);
}

int main(void)
{
	paths();
	figures();
	strict();
	return tap_done();
}
