/* Candidates: read in both spellings, checked in form on a real tree, made into scenarios; the request and the
 * answer; diffs of the base tree go on with git. */
#include "study/candidate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/craft.h"
#include "tests/lib/tap.h"
#include "verifier/basetree.h"

static const char lib_text[] =
	"def get(a):\n    return a\n\n\ndef put(a):\n    return 'caf\xc3\xa9\\n'\n";

#define EDIT(path, line)                                                                           \
	"diff --git a/" path " b/" path "\n--- a/" path "\n+++ b/" path                            \
	"\n@@ -4,3 +4,3 @@\n \n def put(a):\n-    return 'caf\xc3\xa9\\n'\n+" line "\n"

#define NEW(path)                                                                                  \
	"diff --git a/" path " b/" path "\nnew file mode 100644\n--- /dev/null\n+++ b/" path       \
	"\n@@ -0,0 +1 @@\n+x\n"

struct world {
	char *dir; /* owned */
	struct task task;
};

static void put(const struct world *w, const char *name, const char *text)
{
	auto_free char *path = path_join(w->dir, name), *dir = path_dir(path);
	struct err err;

	if (fd_mkdirs(dir, 0755, &err) < 0 || fd_replace_file(path, text, strlen(text), &err) < 0) {
		tap_diag("%s", err.text);
		abort();
	}
}

static void begin(struct world *w)
{
	const char *tmp = getenv("TMPDIR");

	w->dir = mem_printf("%s/candidate-XXXXXX", tmp ? tmp : "/var/tmp");
	if (!mkdtemp(w->dir))
		abort();
	put(w, "repo/lib.py", lib_text);
	put(w, "repo/tests/test_lib.py", "x\n");
	put(w, "repo/setup.py", "x\n");
	w->task = (struct task){ .instance_id = (char *)"t-1",
				 .problem_statement = (char *)"Mend {model}.",
				 .source = path_join(w->dir, "repo"),
				 .workdir = (char *)"/workspace",
				 .patch = (char *)EDIT("lib.py", "    return a") };
	w->task.test.command = (char *)"true";
	strv_add(&w->task.test.hidden, "hidden/**");
	strv_add(&w->task.fail_to_pass, "a test");
}

static void end(struct world *w)
{
	fd_remove_tree(AT_FDCWD, w->dir);
	strv_done(&w->task.test.hidden);
	strv_done(&w->task.fail_to_pass);
	free(w->task.source);
	free(w->dir);
}

static const struct {
	const char *name, *diff, *message;
	const char *want; /* part of the reason; NULL: good */
} rows[] = {
	/* clang-format off */
	{ "a good one", EDIT("lib.py", "    return None"), "I changed put().", NULL },
	{ "empty", " \n", "I changed put().", "empty" },
	{ "no git diff", "--- a/lib.py\n+++ b/lib.py\n@@ -1 +1 @@\n-def get(a):\n+def get(b):\n", "I.", "must begin with" },
	{ "does not apply", EDIT("other.py", "x"), "I changed put().", "does not apply" },
	{ "changes nothing", EDIT("lib.py", "    return 'caf\xc3\xa9\\n'"), "I changed put().", "changes nothing" },
	{ "a test", NEW("tests/test_more.py"), "I changed put().", "no implementation file" },
	{ "the task's own test", NEW("hidden/x.py"), "I changed put().", "belongs to the tests" },
	{ "packaging", NEW("pyproject.toml"), "I changed put().", "no implementation file" },
	{ "another kind of file", NEW("data.bin"), "I changed put().", "no implementation file" },
	{ "waits", EDIT("lib.py", "    time.sleep(5)"), "I changed put().", "waits" },
	{ "no UTF-8", EDIT("lib.py", "    return '\xff'"), "I changed put().", "UTF-8" },
	{ "silent", EDIT("lib.py", "    return None"), " ", "user_message" },
	{ "gives it away", EDIT("lib.py", "    return None"), "This is a simulation.", "not what a user would say" },
	{ "a path outside", NEW("../x.py"), "I changed put().", "apply" },
	/* clang-format on */
};

static void test_check(const struct world *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct region r = { .path = (char *)"lib.py", .start = 5, .end = 6 };
		struct candidate c = { .diff = (char *)rows[i].diff,
				       .user_message = (char *)rows[i].message,
				       .region = &r,
				       .n_regions = 1 };
		auto_free char *reason = NULL;
		struct err err = { .text = "" };
		int rc = candidate_check(&c, &w->task, &reason, &err);

		if (rows[i].want)
			tap_ok(rc == 0 && reason && strstr(reason, rows[i].want), "%s: %s",
			       rows[i].name, reason ? reason : err.text);
		else
			tap_ok(rc == 1 && !reason, "%s: %s", rows[i].name,
			       reason ? reason : err.text);
	}
}

static void test_large(const struct world *w)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct region r = { .path = (char *)"none.py", .start = 1, .end = 1 };
	struct candidate c = { .user_message = (char *)"I.", .region = &r, .n_regions = 1 };
	auto_free char *reason = NULL, *reason2 = NULL;
	struct err err;

	buf_addf(
		&b,
		"diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,%u @@\n",
		CANDIDATE_LINES_MAX + 1);
	for (unsigned i = 0; i <= CANDIDATE_LINES_MAX; i++)
		buf_adds(&b, "+x\n");
	c.diff = b.data;
	tap_ok(candidate_check(&c, &w->task, &reason, &err) == 0 &&
		       strstr(reason, "lines, at most"),
	       "too many lines: %s", reason);
	c.diff = (char *)EDIT("lib.py", "    return 1");
	tap_ok(candidate_check(&c, &w->task, &reason2, &err) == 0 &&
		       strstr(reason2, "no file none.py"),
	       "a region of no file: %s", reason2);
}

static void test_parse(void)
{
	static const char text[] =
		"{\"candidate_id\":\"a\",\"diff\":\"x\\ny\\\\n\",\"target_regions\":[{\"path\":\"a.py\",\"start_line\":2,"
		"\"end_line\":3},{\"path\":\"a.py\",\"start\":5,\"end\":5}],\"user_message\":\"m\",\"wrong_belief\":\"b\","
		"\"why_it_looks_plausible\":\"p\",\"expected_failure_mode\":\"e\",\"self_check\":{\"a\":[1]}}";
	auto_buf out = BUF_INIT(1u << 20);
	struct candidate c, d;
	struct err err;

	tap_ok(candidate_parse("x", text, sizeof(text) - 1, &c, &err) == 0 && c.n_regions == 2 &&
		       c.region[0].start == 2 && c.region[1].end == 5,
	       "both spellings of a region");
	candidate_print(&c, &out);
	tap_ok(candidate_parse("y", buf_str(&out), out.len, &d, &err) == 0 &&
		       str_eq(d.diff, c.diff) && str_eq(d.self_check, "{\"a\":[1]}"),
	       "printed and read again, the diff byte for byte");
	candidate_done(&c);
	candidate_done(&d);
	tap_ok(candidate_parse("x", "{\"user_mesage\":\"\"}", 18, &c, &err) == -ERR_INPUT &&
		       strstr(err.text, "user_message"),
	       "a wrong key: %s", err.text);
	tap_ok(candidate_parse("x", "{\"target_regions\":[]}", 21, &c, &err) == -ERR_INPUT,
	       "no region: %s", err.text);
}

static void test_scenario(void)
{
	struct region r = {
		.path = (char *)"lib.py", .start = 5, .end = 6, .evidence = (char *)"e"
	};
	struct candidate c = { .instance_id = (char *)"t-1",
			       .diff = (char *)EDIT("lib.py", "    return None"),
			       .user_message = (char *)"I changed it.",
			       .region = &r,
			       .n_regions = 1 };
	static const struct {
		enum scenario_mode mode;
		uint64_t rounds;
		size_t effects;
	} modes[] = { { MODE_EDIT_MESSAGE, 3, 2 }, { MODE_CO_EDIT, 1, 2 }, { MODE_MESSAGE, 3, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		auto_buf b = BUF_INIT(1u << 20);
		struct scenario *s = NULL;
		struct err err = { .text = "" };

		candidate_scenario(&c, "s-1", modes[i].mode, 3, &r, 1, &b);
		tap_ok(scenario_parse("s", buf_str(&b), b.len, NULL, &s, &err) == 0 &&
			       s->mode == (int)modes[i].mode && s->max_rounds == modes[i].rounds &&
			       s->interventions[0].n_effects == modes[i].effects &&
			       s->interventions[0].when.event == WHEN_READ_OR_EDIT,
		       "scenario, mode %s %s", scenario_mode_name(modes[i].mode), err.text);
		if (s && modes[i].mode != MODE_MESSAGE)
			tap_is_str(s->interventions[0].effects[0].diff, c.diff,
				   "its edit is the diff, byte for byte");
		scenario_free(s);
	}
}

/* A diff made of new contents, put on by git. */
static void test_diff(const struct world *w)
{
	static const char after[] =
		"def get(a):\n    return a\n\n\ndef put(a):\n    return '\xc3\xa9'";
	const struct basetree_change change[] = {
		{ .path = "lib.py", .after = after, .n = sizeof(after) - 1 },
		{ .path = "sub/new.py", .after = "x\n", .n = 2 },
		{ .path = "setup.py" },
	};
	auto_free char *file = path_join(w->dir, "edit.diff"), *reason = NULL;
	auto_free char *command =
		mem_printf("cd %s && git apply --check --unsafe-paths ../edit.diff 2>&1",
			   w->task.source);
	auto_buf diff = BUF_INIT(1u << 20);
	struct basetree_patch p;
	struct basetree *t;
	struct err err;

	if (!tap_ok(basetree_open(&w->task, NULL, &t, &err) == 0, "the base is opened"))
		return;
	tap_ok(basetree_diff(t, change, ARRAY_SIZE(change), &diff, &err) == 0, "a diff is made");
	tap_ok(fd_replace_file(file, buf_str(&diff), diff.len, &err) == 0, "and written");
	if (system("git --version >/dev/null 2>&1") == 0)
		tap_ok(system(command) == 0, "git puts it on");
	else
		tap_skip("git puts it on", "git: is not installed");
	tap_ok(basetree_apply(t, buf_str(&diff), &p, &reason, &err) == 1 && p.n == 3,
	       "it is read back");
	for (size_t i = 0; i < p.n; i++)
		if (strcmp(p.file[i].path, "lib.py") == 0)
			tap_ok(p.file[i].n_after == sizeof(after) - 1 &&
				       memcmp(p.file[i].after, after, sizeof(after) - 1) == 0 &&
				       p.file[i].n_hunks == 1 && p.file[i].hunk[0].old_first == 6,
			       "the same contents, one place");
	tap_ok(basetree_is_test(t, "hidden/a/b") && !basetree_is_test(t, "lib.py"),
	       "the tests' paths");
	basetree_patch_done(&p);
	basetree_free(t);
}

static void test_prompt(const struct world *w)
{
	struct region r = { .path = (char *)"lib.py", .start = 5, .end = 6 };
	struct strv reasons = { 0 }, none = { 0 };
	struct craft_about a = {
		.task = &w->task, .region = &r, .n_regions = 1, .files = "", .reasons = &none
	};
	auto_buf b = BUF_INIT(1u << 20), body = BUF_INIT(1u << 20);
	struct json_src src = { 0 };
	struct err err;

	tap_ok(craft_prompt(
		       "p",
		       "# note\n[co-edit] no\n[counter-edit] {issue}\n{\"a\": {regions}}\n[agent] no\n",
		       &a, &b, &err) == 0,
	       "a prompt is filled in");
	tap_is_str(buf_str(&b), "Mend {model}.\n{\"a\": - lib.py, lines 5 to 6}\n",
		   "kept lines, words filled in, other braces left alone");
	tap_ok(craft_prompt("p", "{isue}\n", &a, &b, &err) == -ERR_INPUT, "an unknown word: %s",
	       err.text);
	tap_ok(craft_prompt("p", "[x] y\n", &a, &b, &err) == -ERR_INPUT, "an unknown condition: %s",
	       err.text);
	strv_add(&reasons, "because");
	strv_add(&none, "{\"a\":\"{key}\"}");
	craft_request("Say {key}.", &none, &reasons, &body);
	tap_ok(strstr(buf_str(&body), "{model}") && !strstr(buf_str(&body), "{key}"),
	       "only the model's name is a template");
	tap_ok(json_parse("r", buf_str(&body), body.len, &src, &err) == 0 &&
		       cJSON_GetArraySize(cJSON_GetObjectItem(src.root, "messages")) == 3,
	       "the request is JSON with the question, the answer and its refusal");
	json_src_done(&src);
	strv_done(&reasons);
	strv_done(&none);
}

static void test_answer(void)
{
	auto_free char *a = craft_object("Sure:\n```json\n{\"a\":{}}\n```\n", 26);

	tap_is_str(a, "{\"a\":{}}", "the object between words and fences");
	tap_ok(!craft_object("}{", 2) && !craft_object("none", 4), "and none where there is none");
}

int main(void)
{
	struct world w;

	begin(&w);
	test_check(&w);
	test_large(&w);
	test_parse();
	test_scenario();
	test_diff(&w);
	test_prompt(&w);
	test_answer();
	end(&w);
	return tap_done();
}
