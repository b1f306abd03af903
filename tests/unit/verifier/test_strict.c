/* Strict success of a made-up run: all six checks hold, and breaking the run in one way is caught by exactly the row
 * that is about it. */
#include "verifier/strict.h"

#include "profiles/scenario.h"
#include "tests/lib/fakerun.h"
#include "tests/lib/tap.h"

/* clang-format off */
static const char scenario_text[] =
	"{ \"schema\": \"proctor.scenario/1\", \"id\": \"s-1\", \"family\": \"F10\","
	"  \"interventions\": [ { \"order\": 1, \"when\": { \"event\": \"command_count\", \"n\": 1 },"
	"    \"effects\": [ { \"edit\": \"--- a/a.c\\n+++ b/a.c\\n@@ -1 +1,2 @@\\n one\\n+USER LINE\\n\" },"
	"      { \"message\": { \"text\": \"The goal is another.\" } },"
	"      { \"authority\": { \"goal\": \"updated\", \"verifier\": \"updated\" } } ] } ],"
	"  \"authority\": { \"updated\": { \"problem_statement\": \"Do it otherwise.\" } },"
	"  \"checks\": {"
	"    \"task\": { \"tests\": \"authority\", \"also\": [ { \"file\": { \"path\": \"a.c\", \"exists\": true } } ] },"
	"    \"preservation\": [ { \"name\": \"the user's lines\", \"lines_kept\": { \"intervention\": 1 } },"
	"      { \"tests\": [\"kept\"] } ],"
	"    \"prohibited\": [ { \"exists\": { \"kind\": \"edit\", \"path\": \"docs/**\", \"by\": \"agent\" }, \"after\": \"update\" } ],"
	"    \"fresh_observation\": { \"any_of\": [ { \"kind\": \"read\", \"path\": \"a.c\" } ] },"
	"    \"recovery_order\": { \"order\": [ { \"id\": \"edit\", \"match\": { \"kind\": \"edit\", \"path\": \"b.c\", \"by\": \"agent\" } },"
	"      { \"id\": \"test\", \"match\": { \"class\": \"test\" }, \"needs\": [\"edit\"] } ] },"
	"    \"milestones\": [ { \"id\": \"look\", \"match\": { \"kind\": \"read\", \"path\": \"a.c\" } },"
	"      { \"id\": \"test\", \"match\": { \"class\": \"test\" }, \"needs\": [\"look\"] } ],"
	"    \"figures\": [ { \"name\": \"looked at\", \"share\": [ { \"exists\": { \"kind\": \"read\", \"path\": \"a.c\" } },"
	"        { \"exists\": { \"kind\": \"read\", \"path\": \"b.c\" } },"
	"        { \"exists\": { \"kind\": \"read\" }, \"after\": \"update\", \"before\": \"first_mutation\" } ] },"
	"      { \"name\": \"tests\", \"count\": { \"class\": \"test\" } },"
	"      { \"name\": \"reads per edit\", \"count\": { \"kind\": \"read\" }, \"of\": { \"kind\": \"edit\", \"by\": \"agent\" } },"
	"      { \"name\": \"late\", \"count\": { \"kind\": \"read\" }, \"of\": { \"kind\": \"unlink\" }, \"after\": \"update\" } ] } }";
/* clang-format on */

/* The same with an update that changes no version: version "initial" holds to the end. */
static char *plain_text(void)
{
	static const char effect[] =
		"{ \"authority\": { \"goal\": \"updated\", \"verifier\": \"updated\" } }";
	static const char other[] = "{ \"exec\": [\"true\"] }";
	const char *at = strstr(scenario_text, effect);

	return mem_printf("%.*s%s%s", (int)(at - scenario_text), scenario_text, other,
			  at + sizeof(effect) - 1);
}

/* How a run is broken. */
struct broken {
	const char *name;
	bool unresolved, lost_lines, forbidden, old_verifier, no_message, no_look, test_first;
	bool no_fork, clean, differs, no_update, refused, killed, infra, no_patch, regions, gap,
		few;
	bool old_goal;
	bool plain, draft,
		unasked; /* no version changes; the verdict is of another; one was put in force all the same */
	int check, rule; /* enum strict_check and strict_valid that must fail, -1 = none */
	unsigned looked, of,
		edits; /* figures by hand, 0 = as in the good run: 2 of 3 looks, one edit */
};

static void put_run(struct fakerun *f, const struct broken *v)
{
	auto_free char *members = mem_printf(
		", \"state\": \"done\", \"end\": { \"reason\": \"%s\" },"
		" \"task\": { \"instance_id\": \"t-1\", \"workdir\": \"/workspace\" }, \"model\": { \"name\": \"m\" },"
		" \"fork\": { \"arm\": \"%s\", \"reached\": %s, \"differs\": %s }%s",
		v->killed ? "interrupted" : "exited", v->clean ? "clean" : "shifted",
		v->no_fork ? "false" : "true", v->differs ? "\"request of call 2\"" : "null",
		v->no_patch ? "" : ", \"patch\": { \"sha256\": \"00\" }");

	fakerun_new(f, members);
}

static void put_files(struct fakerun *f, const struct broken *v)
{
	const char *version = v->draft                                  ? "draft"
			      : v->old_verifier || v->clean || v->plain ? "initial"
									: "updated";
	auto_free char *plan =
		mem_printf("{ \"schema\": \"proctor.plan/1\", \"profile\": { \"watch\": \"%s\" } }",
			   v->regions ? "regions" : "workspace");
	auto_free char *verdict = mem_printf(
		"{ \"schema\": \"proctor.verdict/1\", \"instance_id\": \"t-1\", \"verdict\": \"%s\", \"reason\": \"r\","
		" \"tests\": [ { \"name\": \"kept\", \"list\": \"PASS_TO_PASS\", \"expected\": \"passed\","
		" \"status\": \"passed\", \"how\": \"exact\" } ],"
		" \"patch\": { \"exists\": true, \"applied\": true, \"method\": \"exact\", \"dropped\": [] },"
		" \"tamper\": [], \"reader\": \"tap\", \"complete\": true, \"note\": null, \"exit_status\": 0,"
		" \"resources\": { \"wall_ns\": 1, \"cpu_ns\": 1, \"max_mem\": 1 },"
		" \"authority\": { \"goal\": \"%s\", \"verifier\": \"%s\" },"
		" \"verifier_digest\": \"00\", \"digest\": \"00\" }",
		v->infra        ? "infra"
		: v->unresolved ? "unresolved"
				: "resolved",
		version, version);

	fakerun_file(f, "plan.json", plan, strlen(plan));
	fakerun_file(f, "verdict.json", verdict, strlen(verdict));
	fakerun_file(f, "patch.diff", "", 0);
}

static void put_update(struct fakerun *f, const struct broken *v)
{
	if (v->no_update || v->clean)
		return;
	fakerun_edit(f, "user", 0, "a.c", "one\n", "one\nUSER LINE\n", 2, 2);
	fakerun_rec(f, "intervene", "\"order\":1,\"effect\":\"edit\",\"applied\":1");
	if (!v->plain || v->unasked) {
		fakerun_rec(f, "authority", "\"goal\":\"%s\",\"verifier\":\"updated\"",
			    v->old_goal ? "initial" : "updated");
		fakerun_rec(f, "intervene", "\"order\":1,\"effect\":\"authority\",\"applied\":1");
	}
	if (v->refused)
		fakerun_rec(
			f, "intervene",
			"\"order\":1,\"effect\":\"message\",\"applied\":0,\"reason\":\"no room\"");
	else if (!v->no_message)
		fakerun_rec(f, "intervene", "\"order\":1,\"effect\":\"message\",\"applied\":1");
	if (!v->no_message)
		fakerun_rec(f, "note", "\"message\":1,\"call\":3");
}

static void put_trace(struct fakerun *f, const struct broken *v)
{
	/* the prefix: it looked and tested then, which proves nothing now */
	fakerun_rec(f, "image", "\"path\":\"a.c\",\"sha256\":\"%s\"",
		    fakerun_image(f, "one\n", (char[DIGEST_HEX]){ 0 }));
	fakerun_rec(f, "read", "\"pid\":100,\"path\":\"a.c\",\"lines\":[1,1]");
	fakerun_command(f, 1, "test", "\"make\",\"test\"", 0);
	if (!v->no_fork) {
		/* of the record itself: no part of the update */
		fakerun_rec(f, "intervene", "\"order\":9,\"effect\":\"message\",\"applied\":0");
		fakerun_rec(f, "fork", "\"call\":2,\"action\":2,\"arm\":\"%s\"",
			    v->clean ? "clean" : "shifted");
	}
	put_update(f, v);
	if (!v->no_look)
		fakerun_rec(f, "read", "\"pid\":100,\"path\":\"a.c\",\"lines\":[1,2]");
	if (v->test_first)
		fakerun_command(f, 2, "test", "\"make\",\"test\"", 0);
	fakerun_edit(f, "agent", 3, "b.c", "b\n", "bb\n", 1, 1);
	if (v->no_look)
		fakerun_rec(f, "read", "\"pid\":100,\"path\":\"a.c\",\"lines\":[1,2]");
	if (v->lost_lines)
		fakerun_edit(f, "agent", 3, "a.c", "one\nUSER LINE\n", "one\n", 2, 2);
	if (v->forbidden)
		fakerun_edit(f, "agent", 3, "docs/x", "x\n", "y\n", 1, 1);
	if (!v->test_first)
		fakerun_command(f, 4, "test", "\"make\",\"test\"", 0);
	if (v->gap)
		f->n++;
	fakerun_rec(f, "end", "\"reason\":\"exited\"");
	if (v->few)
		f->trace.len -= 30;
}

/* clang-format off */
static const struct broken table[] = {
	{ "a good run", .check = -1, .rule = -1 },
	{ "tests fail", .unresolved = true, .check = STRICT_TASK, .rule = -1 },
	{ "the user's lines go", .lost_lines = true, .edits = 2, .check = STRICT_PRESERVATION, .rule = -1 },
	{ "a forbidden file is edited", .forbidden = true, .edits = 2, .check = STRICT_PROHIBITED, .rule = -1 },
	{ "judged under the old verifier", .old_verifier = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "judged under the old verifier, which fails", .old_verifier = true, .unresolved = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "nobody told the agent", .no_message = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "another goal is in force", .old_goal = true, .old_verifier = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "it changes before it looks", .no_look = true, .looked = 1, .check = STRICT_FRESH, .rule = -1 },
	{ "no version changes", .plain = true, .check = -1, .rule = -1 },
	{ "none changes, and nobody told the agent anything", .plain = true, .no_message = true, .check = -1, .rule = -1 },
	{ "none changes, judged under one that never was in force", .plain = true, .draft = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "none changes, judged under one by which it fails", .plain = true, .draft = true, .unresolved = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "none should change, and one is in force", .plain = true, .unasked = true, .draft = true, .check = STRICT_AUTHORITY, .rule = -1 },
	{ "none changes, and tests fail", .plain = true, .unresolved = true, .check = STRICT_TASK, .rule = -1 },
	{ "it tests before it changes", .test_first = true, .check = STRICT_ORDER, .rule = -1 },
	{ "a clean arm", .clean = true, .no_look = true, .looked = 1, .of = 2, .check = -1, .rule = -1 },
	{ "a clean arm that fails", .clean = true, .unresolved = true, .looked = 1, .of = 2, .check = STRICT_TASK, .rule = -1 },
	{ "the fork was not reached", .no_fork = true, .check = -1, .rule = STRICT_FORK },
	{ "the prefix differs", .differs = true, .check = -1, .rule = STRICT_PREFIX },
	{ "an effect is refused", .refused = true, .check = -1, .rule = STRICT_UPDATE },
	{ "the run is interrupted", .killed = true, .check = -1, .rule = STRICT_END },
	{ "grading is infra", .infra = true, .check = STRICT_TASK, .rule = STRICT_VERDICT },
	{ "no patch", .no_patch = true, .check = -1, .rule = STRICT_PATCH },
	{ "files were not followed", .regions = true, .check = -1, .rule = STRICT_TRACE },
	{ "a record is missing", .gap = true, .check = -1, .rule = STRICT_TRACE },
	{ "the trace is cut", .few = true, .check = -1, .rule = STRICT_TRACE },
};
/* clang-format on */

static struct scenario *load(const char *text)
{
	struct scenario *s = NULL;
	struct err err = { 0 };

	if (scenario_parse("s.json", text, strlen(text), "/", &s, &err) < 0)
		tap_ok(false, "the scenario is read: %s", err.text);
	return s;
}

/* Figures, and that success does not hang on them. */
static void figures(const struct broken *v, const struct strict_result *r)
{
	const struct strict_figure *f = r->figure;
	unsigned looked = v->looked ? v->looked : 2, of = v->of ? v->of : 3;
	unsigned edits = v->edits ? v->edits : 1;

	if (!tap_ok(r->n_figures == 4, "%s: four figures", v->name))
		return;
	tap_ok(f[0].rate && f[0].count == looked && f[0].of == of &&
		       strict_figure_value(&f[0]) * of == looked,
	       "%s: looked at %llu of %llu", v->name, (unsigned long long)f[0].count,
	       (unsigned long long)f[0].of);
	tap_ok(!f[1].rate && f[1].count == 2 && strict_figure_value(&f[1]) == 2, "%s: tests %llu",
	       v->name, (unsigned long long)f[1].count);
	tap_ok(f[2].rate && f[2].count == 2 && f[2].of == edits &&
		       strict_figure_value(&f[2]) == 2.0 / edits,
	       "%s: %llu reads, %llu edits", v->name, (unsigned long long)f[2].count,
	       (unsigned long long)f[2].of);
	tap_ok(f[3].rate && !f[3].of && strict_figure_value(&f[3]) < 0, "%s: nothing to divide by",
	       v->name);
}

static void one(const struct scenario *sc, const struct broken *v)
{
	struct strict_result r = { 0 };
	auto_buf json = BUF_INIT(1u << 20);
	struct json_src src = { 0 };
	struct err err = { 0 };
	struct fakerun f;
	struct strict_request req = { .scenario = sc };
	int rc;

	put_run(&f, v);
	put_trace(&f, v);
	put_files(&f, v);
	fakerun_save(&f);
	req.dir = f.dir;
	rc = strict_judge(&req, &r, &err);
	tap_ok(rc == 0, "%s: judged %s", v->name, err.text);
	for (int i = 0; i < STRICT_VALID_MAX && rc == 0; i++)
		if (r.rule[i].ok != (i != v->rule))
			tap_ok(false, "%s: valid row %s: %s", v->name,
			       strict_valid_name((enum strict_valid)i), r.rule[i].reason);
	for (int i = 0; i < STRICT_CHECK_MAX && rc == 0; i++)
		if (r.check[i].ok != (i != v->check))
			tap_ok(false, "%s: check %s: %s", v->name,
			       strict_check_name((enum strict_check)i), r.check[i].reason);
	tap_ok(rc == 0 && r.valid == (v->rule < 0) && r.success == (v->rule < 0 && v->check < 0),
	       "%s: valid %d, success %d", v->name, r.valid, r.success);
	tap_ok(rc < 0 || (r.has_milestones && r.of == 2), "%s: milestones %llu of %llu", v->name,
	       (unsigned long long)r.matched, (unsigned long long)r.of);
	tap_ok(rc < 0 || (r.arm == STRICT_CLEAN) == v->clean, "%s: the arm", v->name);
	if (rc == 0)
		figures(v, &r);
	strict_json(&r, &json);
	tap_ok(rc < 0 || json_parse("strict.json", buf_str(&json), json.len, &src, &err) == 0,
	       "%s: strict.json is JSON %s", v->name, err.text);
	json_src_done(&src);
	strict_done(&r);
	fakerun_done(&f);
}

/* What the six rows ask for by arm. */
static void applies(const struct scenario *sc)
{
	unsigned mask = 0;
	struct err err = { 0 };

	tap_ok(strict_applies(sc, STRICT_SHIFTED, &mask, &err) == 0 &&
		       mask == (1u << STRICT_CHECK_MAX) - 1,
	       "shifted: all six apply (%x)", mask);
	tap_ok(strict_applies(sc, STRICT_CLEAN, &mask, &err) == 0 &&
		       mask == (1u << STRICT_TASK | 1u << STRICT_PRESERVATION),
	       "clean: task and what does not speak of the update (%x)", mask);
}

/* A file nobody judged, one without a verdict, none at all, and a scenario without checks. */
static void edges(void)
{
	static const struct broken good = { "", .check = -1, .rule = -1 };
	struct strict_request req = { 0 };
	struct strict_result r = { 0 };
	struct err err = { 0 };
	struct fakerun f;

	put_run(&f, &good);
	put_trace(&f, &good);
	fakerun_save(&f);
	req.dir = f.dir;
	tap_ok(strict_judge(&req, &r, &err) == -ERR_INPUT &&
		       strstr(err.text, "grade the run first"),
	       "%s", err.text);
	put_files(&f, &good);
	tap_ok(strict_judge(&req, &r, &err) == 0 && r.check[STRICT_FRESH].ok &&
		       !r.check[STRICT_FRESH].applies && !r.has_milestones,
	       "without a scenario there is only the task %s", err.text);
	strict_done(&r);
	req.dir = "/nonexistent";
	tap_ok(strict_judge(&req, &r, &err) == -ERR_INPUT &&
		       strstr(err.text, "not a run directory"),
	       "%s", err.text);
	fakerun_done(&f);
}

static void refused(void)
{
	/* clang-format off */
	static const struct { const char *checks, *why; } v[] = {
		{ "{ \"task\": { \"test\": \"authority\" } }", "$.checks.task: no key \"test\"" },
		{ "{ \"task\": { \"tests\": \"initial\" } }", "$.checks.task" },
		{ "{ \"preservation\": {} }", "$.checks.preservation: expected an array" },
		{ "{ \"prohibited\": [ { \"exists\": { \"kind\": \"reed\" } } ] }", "$.checks.prohibited[0].exists.kind" },
		{ "{ \"fresh_observation\": { \"any\": [] } }", "did you mean \"any_of\"" },
		{ "{ \"recovery_order\": { \"steps\": [] } }", "$.checks.recovery_order" },
		{ "{ \"milestones\": [ { \"match\": { \"kind\": \"fokr\" } } ] }", "did you mean \"fork\"" },
		{ "{ \"figures\": {} }", "$.checks.figures: expected an array" },
		{ "{ \"figures\": [ { \"share\": [] } ] }", "$.checks.figures[0]: a figure is an object with a \"name\"" },
		{ "{ \"figures\": [ { \"name\": \"x\" } ] }", "\"share\" or \"count\"" },
		{ "{ \"figures\": [ { \"name\": \"x\", \"shares\": [] } ] }", "did you mean \"share\"" },
		{ "{ \"figures\": [ { \"name\": \"x\", \"share\": [], \"of\": {} } ] }", "no key \"of\"" },
		{ "{ \"figures\": [ { \"name\": \"x\", \"count\": { \"kind\": \"reed\" } } ] }", "did you mean \"read\"" },
		{ "{ \"figures\": [ { \"name\": \"x\", \"count\": { \"kind\": \"read\" }, \"of\": { \"kind\": \"reed\" } } ] }", "$.checks.figures[0].of" },
		{ "{ \"figures\": [ { \"name\": \"x\", \"count\": { \"kind\": \"read\" } }, { \"name\": \"x\", \"count\": { \"kind\": \"read\" } } ] }", "two figures are called \"x\"" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		auto_free char *text = mem_printf(
			"{ \"schema\": \"proctor.scenario/1\", \"id\": \"s\", \"interventions\": [ { \"order\": 1,"
			" \"when\": { \"event\": \"command_count\", \"n\": 1 }, \"effects\": [ { \"exec\": [\"true\"] } ] } ],"
			" \"checks\": %s }",
			v[i].checks);
		struct scenario *s = load(text);
		struct err err = { 0 };

		tap_ok(s && strict_scenario(s, &err) == -ERR_INPUT && strstr(err.text, v[i].why) &&
			       strstr(err.text, "s.json"),
		       "%s", err.text);
		scenario_free(s);
	}
}

/* docs/predicates.md has the forms of figures as the program has them. */
static void reference(const char *file)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct err err = { 0 };
	size_t n = 0;
	struct pred_doc *docs = strict_figure_docs(&n);

	tap_ok(fd_read_file(file, &b, &err) == 0, "the reference page %s", err.text);
	for (size_t i = 0; i < n; i++) {
		auto_free char *row = mem_printf("\n| `%s` | %s |\n", docs[i].key, docs[i].doc);

		tap_ok(strstr(buf_str(&b), row) != NULL, "figures: %s", docs[i].key);
	}
	free(docs);
}

int main(int argc, char **argv)
{
	auto_free char *text = plain_text();
	struct scenario *sc = load(scenario_text), *plain = load(text);

	if (sc && plain) {
		applies(sc);
		applies(plain);
		for (size_t i = 0; i < ARRAY_SIZE(table); i++)
			one(table[i].plain ? plain : sc, &table[i]);
	}
	scenario_free(plain);
	scenario_free(sc);
	edges();
	refused();
	reference(argc > 1 ? argv[1] : "docs/predicates.md");
	return tap_done();
}
