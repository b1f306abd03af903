/* Records of other tools: what is read of invented ones of each format. */
#include "verifier/traj.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"
#include "verifier/traj_diff.h"

static char dir[] = "/tmp/test_traj-XXXXXX";

/* The events of one trajectory as text: "r a.py 3-9 [base 3-9] ..." */
static char *text_of(const struct traj *t)
{
	auto_buf b = BUF_INIT(1u << 20);

	for (size_t i = 0; i < t->n; i++) {
		const struct traj_event *e = &t->v[i];

		buf_addf(&b, "%s%s%s%s %s %llu-%llu", b.len ? "; " : "", e->edit ? "e" : "r",
			 e->scan ? "s" : "", e->final ? "f" : "", e->path,
			 (unsigned long long)e->first, (unsigned long long)e->last);
		if (e->born)
			buf_adds(&b, " born");
		else if (e->base_first != e->first || e->base_last != e->last)
			buf_addf(&b, " base %llu-%llu", (unsigned long long)e->base_first,
				 (unsigned long long)e->base_last);
	}
	return buf_steal(&b, NULL);
}

static char *put(const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", dir, name);
	struct err err;

	if (fd_replace_file(path, text, strlen(text), &err) < 0)
		tap_ok(false, "%s: %s", path, err.text);
	return path;
}

static bool load(const char *name, const char *text, const char *workdir, struct trajs *t)
{
	auto_free char *path = put(name, text);
	struct err err;
	int rc;

	memset(t, 0, sizeof(*t));
	rc = trajs_load(path, NULL, workdir, t, &err);
	return tap_ok(rc == 0, "%s: %s", name, rc < 0 ? err.text : "is read");
}

#define DIFF                                                                                       \
	"diff --git a/src/clock.py b/src/clock.py\\n--- a/src/clock.py\\n+++ b/src/clock.py\\n"    \
	"@@ -8,7 +8,9 @@ def parse(text):\\n a\\n b\\n c\\n-d\\n+d1\\n+d2\\n+d3\\n e\\n f\\n g\\n"

static void expect(const char *name, const char *json, const char *workdir, const char *model,
		   const char *id, bool finished, const char *events)
{
	struct trajs t;
	auto_free char *got = NULL;

	if (!load(name, json, workdir, &t))
		return;
	tap_is_u64(t.n, 1, "one trajectory");
	got = text_of(&t.v[0]);
	tap_is_str(got, events, "events");
	tap_is_str(t.v[0].model, model, "model");
	tap_is_str(t.v[0].instance_id, id, "task");
	tap_ok(t.v[0].finished == finished, "finished: %d", finished);
	trajs_done(&t);
}

/* mini-swe-agent 2: calls are answered by id; the answer to the second one comes first. */
static void test_mini_calls(void)
{
	expect("acme__clock-7.traj.json",
	       "{\"info\":{\"exit_status\":\"Submitted\",\"submission\":\"" DIFF
	       "\",\"config\":{\"model\":"
	       "{\"model_name\":\"alpha/one\"},\"environment\":{\"cwd\":\"/testbed\"}}},\"messages\":["
	       "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\","
	       "\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\": \\\"cd /testbed && sed -n "
	       "'5,20p' src/clock.py\\\"}\"}},{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"bash\","
	       "\"arguments\":\"{\\\"command\\\": \\\"grep -rn hours src\\\"}\"}}]},"
	       "{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":\"src/clock.py:8:hours\\n\"},"
	       "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"x\"},"
	       "{\"role\":\"assistant\",\"extra\":{\"actions\":[{\"command\":\"cat -n src/clock.py | sed -n "
	       "8,14p; sed -i 1d src/clock.py /etc/hosts.txt\"}]}}],"
	       "\"trajectory_format\":\"mini-swe-agent-1.1\"}",
	       NULL, "alpha/one", "acme__clock-7", true,
	       "rs src 0-0; r src/clock.py 8-8; r src/clock.py 5-20; r src/clock.py 8-14; "
	       "e src/clock.py 0-0; ef src/clock.py 11-13 base 11-11");
}

static void test_mini_other(void)
{
	expect("list.json",
	       "[{\"role\":\"assistant\",\"content\":\"T\\n```bash\\nhead -n 12 src/clock.py\\n```\"},"
	       "{\"role\":\"user\",\"content\":\"<output>\\n</output>\"},{\"role\":\"assistant\",\"content\":"
	       "\"```bash\\necho DONE && git diff --cached\\n```\"},{\"role\":\"user\",\"content\":\"" DIFF
	       "\"}]",
	       NULL, "mini-swe-agent", NULL, true,
	       "r src/clock.py 1-12; e src/clock.py 11-13 base 11-11; ef src/clock.py 11-13 base 11-11");
	expect("items.json",
	       "{\"messages\":[{\"object\":\"response\",\"role\":\"x\",\"output\":[{\"type\":\"function_call\","
	       "\"call_id\":\"k\",\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\\\"awk 'NR>=3 && NR<=5' "
	       "a.py\\\"}\"}]},{\"type\":\"function_call_output\",\"call_id\":\"k\",\"output\":\"x\"},"
	       "{\"role\":\"assistant\",\"content\":\"\"}],\"info\":{\"exit_status\":\"LimitsExceeded\","
	       "\"submission\":\"\"}}",
	       NULL, "mini-swe-agent", NULL, false, "r a.py 3-5");
	/* what Python writes and JSON has not */
	expect("odd.json",
	       "{\"messages\":[{\"role\":\"assistant\",\"content\":\"```bash\\ncat a.py; echo \\u0000 \\ud800 \\ud83d\\ude00\\n"
	       "```\",\"cost\":NaN,\"low\":-Infinity}],\"info\":{\"exit_status\":\"Submitted\","
	       "\"submission\":\"--- \\\"a/t\\\\303\\\\244.c\\\"\\n+++ /dev/null\\n@@ -1,2 +0,0 @@\\n-a\\n-b\\n\"}}",
	       NULL, "mini-swe-agent", NULL, true, "r a.py 0-0; ef t\xc3\xa4.c 0-0 base 1-2");
}

#define WINDOW(action, observation, open, where)                                                   \
	"{\"action\":\"" action "\",\"observation\":\"" observation                                \
	"\",\"state\":\"{\\\"open_file\\\": \\\"" open                                             \
	"\\\", \\\"working_dir\\\": \\\"/acme__clock" where "\\\"}\"}"

static void test_sweagent_windows(void)
{
	expect("acme__clock-7.traj",
	       "{\"trajectory\":[" WINDOW(
		       "open src/clock.py 11\\n",
		       "[File: /acme__clock/src/clock.py (14 lines total)]\\n(9 more lines above)\\n10:j\\n11:k\\n"
		       "12:l\\n(2 more lines below)\\n",
		       "n/a",
		       "") "," WINDOW("edit 11:11\\nbad(\\nend_of_edit\\n",
				      "Your proposed edit has introduced new syntax error(s).",
				      "/acme__clock/src/clock.py",
				      "") "," WINDOW("edit 11:11\\nk1\\nk2\\nend_of_edit\\n",
						     "[File: /acme__clock/src/clock.py (15 lines total)]\\n10:j\\n11:k1\\n12:k2\\n13:l\\n",
						     "/acme__clock/src/clock.py",
						     "") "," WINDOW("grep -n hours clock.py\\n",
								    "8:hours\\n",
								    "/acme__clock/src/clock.py",
								    "/src") "," WINDOW("submit\\n",
										       "x",
										       "/acme__clock/src/clock.py",
										       "/src") "],"
											       "\"info\":{\"exit_status\":\"submitted\",\"submission\":\"\\r\\n--- a/src/clock.py\\r\\n+++ "
											       "b/src/clock.py\\r\\n@@ -10,3 +10,4 @@\\r\\n j\\r\\n-k\\r\\n+k1\\r\\n+k2\\r\\n l\\r\\n\"}}",
	       NULL, "swe-agent", "acme__clock-7", true,
	       "r src/clock.py 10-12; e src/clock.py 11-11; r src/clock.py 10-13 base 10-12; "
	       "r src/clock.py 0-0; ef src/clock.py 11-12 base 11-11");
}

static void test_sweagent_editor(void)
{
	expect("x.json",
	       "{\"trajectory\":[{\"action\":\"str_replace_editor view /testbed/src/c.py --view_range 3 6\","
	       "\"observation\":\"Here:\\n     3\\tline 3\\n     4\\tline 4\\n     5\\tline 5\\n     6\\tline 6\\n\","
	       "\"state\":{\"working_dir\":\"/testbed\"}},"
	       "{\"action\":\"str_replace_editor str_replace /testbed/src/c.py --old_str 'line 4\\nline 5' --new_str "
	       "'line 4\\nmore\\nline 5'\",\"observation\":\"edited\",\"state\":{\"working_dir\":\"/testbed\"}},"
	       "{\"action\":\"str_replace_editor view /testbed/src/c.py --view_range 7 7\",\"observation\":"
	       "\"     7\\tline 6\\n\",\"state\":{\"working_dir\":\"/testbed\"}},"
	       "{\"action\":\"str_replace_editor str_replace /testbed/src/c.py --old_str 'gone' --new_str "
	       "'x'\",\"observation\":\"No replacement was performed, gone is not there\",\"state\":{}},"
	       "{\"action\":\"str_replace_editor create /testbed/n.py --file_text 'x'\",\"observation\":\"\","
	       "\"state\":{}}],\"info\":{\"exit_status\":\"submitted (exit_cost)\",\"submission\":null},"
	       "\"replay_config\":\"{\\\"agent\\\":{\\\"model\\\":{\\\"name\\\":\\\"beta\\\"}},\\\"env\\\":{\\\"repo\\\":"
	       "{\\\"repo_name\\\":\\\"testbed\\\"}},\\\"problem_statement\\\":{\\\"id\\\":\\\"acme__clock-7\\\"}}\"}",
	       NULL, "beta", "acme__clock-7", false,
	       "r src/c.py 3-6; e src/c.py 4-5; r src/c.py 7-7 base 6-6; e n.py 0-0");
}

static void test_atif(void)
{
	expect("a.json",
	       "{\"schema_version\":\"ATIF-v1.7\",\"agent\":{\"name\":\"client\",\"model_name\":\"gamma\"},\"steps\":["
	       "{\"source\":\"user\",\"message\":\"m\"},"
	       "{\"source\":\"agent\",\"tool_calls\":[{\"tool_call_id\":\"a\",\"function_name\":\"Read\",\"arguments\":"
	       "{\"file_path\":\"/testbed/src/c.py\",\"offset\":3,\"limit\":4}}],\"observation\":{\"results\":["
	       "{\"source_call_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"     3\u2192one\\n     4\u2192two\\n"
	       "     5\u2192three\"}]}]}},"
	       "{\"source\":\"agent\",\"tool_calls\":[{\"tool_call_id\":\"b\",\"function_name\":\"Edit\",\"arguments\":"
	       "{\"file_path\":\"/testbed/src/c.py\",\"old_string\":\"one\\ntwo\",\"new_string\":\"one\\nTWO\"}},"
	       "{\"tool_call_id\":\"c\",\"function_name\":\"mcp__fs__read_file\",\"arguments\":{\"path\":\"x.js\","
	       "\"offset\":9,\"limit\":10}},{\"tool_call_id\":\"d\",\"function_name\":\"dance\",\"arguments\":{}}]},"
	       "{\"source\":\"agent\",\"tool_calls\":[{\"tool_call_id\":\"e\",\"function_name\":\"exec_command\","
	       "\"arguments\":{\"cmd\":[\"bash\",\"-lc\",\"sed -n 1,3p src/u.py\"]}}],\"observation\":{\"results\":["
	       "{\"content\":\"Output:\\na\\nb\\nc\\n\"}]}},"
	       "{\"source\":\"agent\",\"tool_calls\":[{\"tool_call_id\":\"f\",\"function_name\":\"apply_patch\","
	       "\"arguments\":{\"value\":\"*** Begin Patch\\n*** Update File: src/u.py\\n@@\\n a\\n-b\\n+B\\n c\\n"
	       "*** Add File: new.py\\n+x\\n*** End Patch\"}}]},"
	       "{\"source\":\"agent\",\"message\":\"Done.\"}]}",
	       NULL, "gamma", NULL, true,
	       "r src/c.py 3-5; e src/c.py 4-4; r x.js 10-19; r src/u.py 1-3; e src/u.py 2-2; e new.py 0-0");
	expect("b.json",
	       "{\"schema_version\":\"ATIF-v1.5\",\"agent\":{\"name\":\"client\"},\"steps\":[{\"source\":\"agent\","
	       "\"tool_calls\":[{\"function_name\":\"swe_agent_action\",\"arguments\":{\"raw_action\":\"open a.py\"}}],"
	       "\"observation\":{\"results\":[{\"content\":\"[File: a.py (2 lines total)]\\n1:x\\n2:y\\n\"}]}},"
	       "{\"source\":\"agent\",\"tool_calls\":[{\"function_name\":\"str_replace_editor\",\"arguments\":"
	       "{\"command\":\"insert\",\"path\":\"/srv/repo/a.py\",\"insert_line\":2,\"new_str\":\"z\"}}]}],"
	       "\"extra\":{\"instance_id\":\"acme__clock-7\"},\"continued_trajectory_ref\":\"more\"}",
	       "/srv/repo", "client", "acme__clock-7", false, "r a.py 1-2; e a.py 2-3");
}

static void test_normalised(void)
{
	struct trajs t;
	auto_free char *a = NULL, *b = NULL;

	if (!load("n.json",
		  "{\"instance_id\":\"acme__clock-7\",\"trajectories\":[{\"model\":\"m1\",\"edits\":[{\"path\":\"a.py\","
		  "\"lines\":[11,12,13,20]}],\"reads\":[{\"path\":\"a.py\",\"lines\":[[1,9]]}]},{\"edits\":["
		  "{\"path\":\"b.py\",\"lines\":[0,4]},{\"path\":\"c.py\",\"lines\":[]}],\"finished\":false}]}",
		  NULL, &t))
		return;
	tap_is_u64(t.n, 2, "two models");
	a = text_of(&t.v[0]);
	b = text_of(&t.v[1]);
	tap_is_str(a, "e a.py 11-13; e a.py 20-20; r a.py 1-9", "lines and pairs");
	tap_is_str(b, "e b.py 4-4; e c.py 0-0", "a line below 1 is passed over, no lines are all");
	tap_is_str(t.v[1].model, "unknown", "a model without a name");
	tap_ok(t.v[0].finished && !t.v[1].finished, "finished unless it says no");
	trajs_done(&t);
	if (!load("n.jsonl",
		  "{\"instance_id\":\"t\",\"trajectories\":[{\"model\":\"a\",\"edits\":[]}]}\n"
		  "{\"instance_id\":\"t\",\"trajectories\":[{\"model\":\"b\",\"edits\":[]}]}\n",
		  NULL, &t))
		return;
	tap_is_u64(t.n, 2, "one task a line");
	trajs_done(&t);
}

static void refuse(const char *name, const char *text, const char *format, const char *want)
{
	auto_free char *path = put(name, text);
	struct trajs t = { 0 };
	struct err err = { 0 };
	int rc = trajs_load(path, format, NULL, &t, &err);

	tap_ok(rc == -ERR_INPUT && strstr(err.text, want), "%s: %s", name, rc ? err.text : "read");
	trajs_done(&t);
}

static void test_errors(void)
{
	refuse("nothing.json", "{\"a\":1}", NULL,
	       "run, atif, normalised, swe-agent, mini-swe-agent");
	refuse("cut.json", "{\"trajectories\": [\n{\"model\": ", NULL, "cut.json:2:");
	refuse("wrong.json", "{\"trajectories\": 3}", NULL, "$: \"trajectories\" must be an array");
	refuse("climb.json",
	       "{\"trajectories\": [{\"edits\": [{\"path\": \"../x\", \"lines\": [1]}]}]}", NULL,
	       "$.trajectories[0].edits[0]");
	refuse("half.json",
	       "{\"trajectories\": [{\"edits\": [{\"path\": \"x\", \"lines\": [1.5]}]}]}", NULL,
	       "no line number");
	refuse("x.json", "{}", "atiff", "did you mean \"atif\"?");
	refuse("y.json", "{}", "swe-agent", "$.trajectory: expected an array of steps");
	refuse("z.jsonl", "{\"trajectories\": []}\n{\"trajectories\": 1}\n", NULL, "z.jsonl:2: $");
}

static void change(const char *diff, size_t i, const char *want)
{
	struct traj_diff d = { 0 };
	uint64_t a = 0, b = 0, c = 0, e = 0;
	auto_free char *got = NULL;

	traj_diff_read(&d, diff, strlen(diff));
	if (i < d.n) {
		traj_diff_old(&d, &d.v[i], &a, &b);
		traj_diff_new(&d, &d.v[i], &c, &e);
		got = mem_printf("%s %llu-%llu %llu-%llu hunk %llu-%llu", d.file[d.v[i].file].path,
				 (unsigned long long)a, (unsigned long long)b,
				 (unsigned long long)c, (unsigned long long)e,
				 (unsigned long long)d.v[i].hunk_first,
				 (unsigned long long)d.v[i].hunk_last);
	}
	tap_is_str(got, want, want ? want : "no such change");
	traj_diff_done(&d);
}

static void test_diff(void)
{
	static const char two[] =
		"text\n--- a/f.c\t2020\n+++ b/f.c\n@@ -3,5 +3,6 @@ x\n a\n-b\n+B\n c\n+n\n"
		" d\n e\n@@ -20 +21,0 @@\n-gone\nnoise\n--- /dev/null\n+++ b/new.c\n"
		"@@ -0,0 +1,2 @@\n+x\n+y\n";
	static const char ends[] = "--- f\n+++ f\n@@ -0,0 +1 @@\n+top\n@@ -9,0 +11 @@\n+in\n";
	struct traj_diff d = { 0 };
	uint64_t a = 8, b = 9;

	change(two, 0, "f.c 4-4 4-4 hunk 3-8");
	change(two, 1, "f.c 5-6 6-6 hunk 3-8");
	change(two, 2, "f.c 20-20 21-21 hunk 0-0");
	change(two, 3, "new.c 0-0 1-2 hunk 1-2");
	change(two, 4, NULL);
	change(ends, 0, "f 1-1 1-1 hunk 1-1");
	change(ends, 1, "f 9-9 11-11 hunk 11-11");
	/* a hunk that is cut, and a context line whose blank was lost */
	change("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n\n-a\n+b\n", 0, "x 2-2 2-2 hunk 1-9");
	traj_diff_read(&d, two, strlen(two));
	tap_ok(traj_diff_back(&d, "f.c", &a, &b) && a == 7 && b == 8, "lines behind what came in");
	a = 6;
	b = 6;
	tap_ok(traj_diff_back(&d, "f.c", &a, &b) && a == 5 && b == 6, "a line that came in");
	tap_ok(!traj_diff_back(&d, "new.c", &a, &b), "a new file has no old lines");
	traj_diff_done(&d);
}

int main(void)
{
	if (!mkdtemp(dir)) {
		tap_ok(false, "mkdtemp");
		return tap_done();
	}
	test_mini_calls();
	test_mini_other();
	test_sweagent_windows();
	test_sweagent_editor();
	test_atif();
	test_normalised();
	test_errors();
	test_diff();
	tap_ok(fd_remove_tree(-100, dir) == 0, "cleaned up");
	return tap_done();
}
