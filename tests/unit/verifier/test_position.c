/* Where a position is in a recorded run: fractions, actions, anchors, several tool calls of one answer, a
 * sub-agent's, and texts that are none. And steps.jsonl read back: states put together, differences named. */
#include "verifier/position.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/fakerun.h"
#include "tests/lib/sh.h"
#include "tests/lib/tap.h"
#include "verifier/stepfile.h"

#define RUN_MODEL                                                                                  \
	", \"state\": \"done\", \"task\": { \"workdir\": \"/workspace\" }, \"model\": { \"name\": \"m\", \"calls\": 9 }"

static void answer(struct fakerun *f, unsigned call, const char *purpose)
{
	auto_free char *s =
		mem_printf("\"call\":%u,\"purpose\":\"%s\",\"model\":\"m\",\"status\":200,"
			   "\"finish\":\"tools\"",
			   call, purpose);

	fakerun_rec(f, "model", "%s", s);
}

static void tool(struct fakerun *f, unsigned call, const char *name, const char *does)
{
	auto_free char *s =
		mem_printf("\"call\":%u,\"tool\":\"%s\",\"does\":\"%s\",\"path\":\"a.c\"", call,
			   name, does);

	fakerun_rec(f, "tool", "%s", s);
}

/* Requests 1 to 9: 4 is a side call, 6 a sub-agent's; the last main answer has no tools. Actions: read (1),
 * read and search (2), edit (3), test that fails (5), sub-agent's read (6), edit (7), test that
 * passes (8). */
static struct rundir record(void)
{
	struct rundir rd = { 0 };
	struct err err = { 0 };
	struct fakerun f;

	fakerun_new(&f, RUN_MODEL);
	tool(&f, 1, "read", "read");
	answer(&f, 1, "main");
	tool(&f, 2, "read", "read");
	tool(&f, 2, "grep", "other");
	answer(&f, 2, "main");
	tool(&f, 3, "edit", "edit");
	answer(&f, 3, "main");
	answer(&f, 4, "side");
	tool(&f, 5, "bash", "shell");
	answer(&f, 5, "main");
	fakerun_command(&f, 1, "test", "\"make\",\"test\"", 2);
	tool(&f, 6, "read", "read");
	answer(&f, 6, "subagent");
	tool(&f, 7, "edit", "edit");
	answer(&f, 7, "main");
	tool(&f, 8, "bash", "shell");
	answer(&f, 8, "main");
	fakerun_command(&f, 2, "test", "\"make\",\"test\"", 0);
	answer(&f, 9, "main");
	fakerun_save(&f);
	tap_ok(rundir_load(f.dir, &rd, &err) == 0, "loads %s", err.text);
	fakerun_done(&f);
	return rd;
}

static const struct {
	const char *text;
	uint64_t call, action;
} places[] = {
	{ "0.1", 1, 1 },
	{ "0.2", 2, 3 },
	{ "0.5", 3, 4 },
	{ "0.9", 6, 8 },
	{ "1", 1, 1 },
	{ "3", 2, 3 },
	{ "5", 4, 6 },
	{ "8", 6, 8 },
	{ "start", 0, 0 },
	{ "before-first-edit", 2, 3 },
	{ "after-first-edit", 3, 4 },
	{ "before-first-test", 3, 4 },
	{ "after-first-pass", 6, 8 },
	{ "before-submit", 6, 8 },
};

static void test_places(void)
{
	struct rundir rd = record();

	tap_is_u64(rd.n_calls, 7, "main answers");
	tap_is_u64(rd.n_actions, 8, "actions");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct position p = { 0 };
		struct err err = { 0 };
		int rc = position_find(&rd, places[i].text, &p, &err);

		tap_ok(rc == 0 && p.call == places[i].call && p.action == places[i].action,
		       "%s: call %llu, action %llu %s", places[i].text, (unsigned long long)p.call,
		       (unsigned long long)p.action, err.text);
	}
	rundir_done(&rd);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *says;
		int rc;
	} rows[] = {
		{ "", "is no position", -ERR_USAGE },
		{ "0", "no action 0", -ERR_INPUT },
		{ "9", "the run has 8", -ERR_INPUT },
		{ "1.5", "is no position", -ERR_USAGE },
		{ "nan", "is no position", -ERR_USAGE },
		{ "-1", "is no position", -ERR_USAGE },
		{ "0.5x", "is no position", -ERR_USAGE },
		{ "before-first-edi", "did you mean before-first-edit?", -ERR_USAGE },
	};
	struct rundir rd = record(), none = { 0 };
	struct position p = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = position_find(&rd, rows[i].text, &p, &err);

		tap_ok(rc == rows[i].rc && strstr(err.text, rows[i].says), "\"%s\": %s",
		       rows[i].text, err.text);
	}
	none.dir = mem_strdup("RUN");
	tap_ok(position_find(&none, "0.5", &p, &err) == -ERR_INPUT, "no actions: %s", err.text);
	tap_ok(position_find(&none, "before-first-test", &p, &err) == -ERR_INPUT &&
		       strstr(err.text, "no test"),
	       "no test: %s", err.text);
	tap_ok(position_find(&none, "start", &p, &err) == 0 && p.call == 0, "start is there");
	rundir_done(&none);
	rundir_done(&rd);
}

#define HEX(c)                                                                                     \
	c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c  \
		c c c c c c c c c c c c c c c c c c c
#define STEP(call, request, workspace, changed)                                                    \
	"{\"schema\":\"proctor.steps/1\",\"n\":1,\"call\":" call ",\"request\":\"" request         \
	"\",\"workspace\":\"" workspace "\",\"files\":1,\"changed\":[" changed "]}\n"
#define CHANGE(path, kind, sha)                                                                    \
	"{\"path\":\"" path "\",\"kind\":\"" kind "\",\"sha256\":\"" sha "\"}"

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	tap_ok(f && fputs(text, f) >= 0 && fclose(f) == 0, "written");
}

static void test_steps(void)
{
	static const char a[] = STEP("1", HEX("1"), HEX("a"), "")
		STEP("2", HEX("2"), HEX("b"),
		     CHANGE("x", "f", HEX("c")) "," CHANGE("b\\\\\\\\c", "f", HEX("d")))
			STEP("2", HEX("2"), HEX("e"), CHANGE("late", "f", HEX("c")))
				STEP("3", HEX("3"), HEX("f"),
				     "{\"path\":\"x\",\"kind\":\"=\"}") "{\"cut";
	static const char b[] = STEP("1", HEX("1"), HEX("a"), "")
		STEP("2", HEX("2"), HEX("0"),
		     CHANGE("x", "x", HEX("c")) "," CHANGE("b\\\\\\\\c", "f", HEX("d")))
			STEP("3", HEX("3"), HEX("f"), "");
	struct stepfile f = { 0 }, g = { 0 };
	const struct stepfile_step *s;
	struct err err = { 0 };
	auto_buf what = BUF_INIT(4096);

	put("a.jsonl", a);
	put("b.jsonl", b);
	tap_ok(stepfile_load("a.jsonl", &f, &err) == 0, "read %s", err.text);
	tap_ok(stepfile_load("b.jsonl", &g, &err) == 0, "read %s", err.text);
	tap_is_u64(f.n, 4, "steps; the cut line is left out");
	s = stepfile_find(&f, 2);
	tap_ok(s && s->workspace[0] == 'b' && s->n_changes == 2,
	       "the first of two with one number");
	tap_is_str(s ? s->change[1].path : "", "b\\c", "paths are bytes again");
	tap_ok(!stepfile_find(&f, 4), "no such step");
	tap_ok(stepfile_difference(&f, &g, 1, &what) == 0, "the same at the first");
	tap_ok(stepfile_difference(&f, &g, 2, &what) == 1, "not at the second");
	tap_is_str(buf_str(&what), "x: recorded cccccccccccc, now executable, cccccccccccc",
		   "named");
	buf_clear(&what);
	tap_ok(stepfile_difference(&f, &g, 3, &what) == 1, "nor at the third");
	tap_is_str(buf_str(&what), "late: recorded cccccccccccc, now as in the base", "named");
	stepfile_done(&f);
	stepfile_done(&g);
	put("bad.jsonl", "{\"schema\":\"proctor.steps/1\",\"n\":1}\n");
	tap_ok(stepfile_load("bad.jsonl", &f, &err) == -ERR_INPUT && strstr(err.text, "line 1"),
	       "a bad line: %s", err.text);
}

int main(void)
{
	const char *dir = sh_enter();

	test_places();
	test_refused();
	test_steps();
	sh_leave(dir);
	return tap_done();
}
