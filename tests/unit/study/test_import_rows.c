/* Rows as tasks: fields and spellings that come back, what is refused, commands from scripts and specs, lists in
 * Python's spelling, YAML. argv[1] is the directory with invented rows, which the fuzz target also begins with. */
#include "study/import_rows.h"

#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/import_rows_internal.h"
#include "tests/fuzz/rows_same.h"
#include "tests/lib/tap.h"

static int back_again(void *arg, const struct family *f, const struct row *row, struct err *err)
{
	auto_buf extra = BUF_INIT(1u << 24), back = BUF_INIT(1u << 24);
	struct jslice x, b;

	extra_text(f, row, &extra);
	if (!tap_ok(jslice_parse("extra", buf_str(&extra), extra.len, &x, err) == 0, "extra.json"))
		return -ERR_INPUT;
	rows_back(f, &row->task, x, &back);
	if (!tap_ok(jslice_parse("back", buf_str(&back), back.len, &b, err) == 0, "the row"))
		return -ERR_INPUT;
	tap_ok(rows_same(row->v, b), "%s comes back", row->where);
	++*(size_t *)arg;
	return 0;
}

static void test_files(const char *dir)
{
	static const struct {
		const char *name;
		size_t rows;
	} files[] = { { "classic.jsonl", 2 }, { "pro.json", 1 },      { "v5map.json", 1 },
		      { "smith.jsonl", 1 },   { "rebench.jsonl", 1 }, { "own.jsonl", 1 },
		      { "multi.jsonl", 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = path_join(dir, files[i].name);
		auto_buf b = BUF_INIT(1u << 24);
		struct err err = { 0 };
		size_t n = 0;
		int rc = fd_read_file(path, &b, &err);

		if (rc == 0)
			rc = rows_look(buf_str(&b)[0] == 'm' ? &family_multi : &family_swebench,
				       files[i].name, buf_str(&b) + 1, b.len - 1, back_again, &n,
				       &err);
		tap_ok(rc == 0, "%s %s", files[i].name, err.text);
		tap_is_u64(n, files[i].rows, "rows");
	}
}

/* What the only row of a text became, as one text. */
static int describe(void *arg, const struct family *f, const struct row *row, struct err *err)
{
	struct buf *b = arg;
	const struct task *t = &row->task;

	(void)f;
	(void)err;
	buf_addf(b, "id %s\nrepo %s\ncommit %s\n", t->instance_id, t->repo,
		 t->base_commit ? t->base_commit : "-");
	buf_addf(b, "command %s\nreader %s\n", t->test.command ? t->test.command : "-",
		 t->test.reader ? t->test.reader : "-");
	buf_addf(b, "patch %s\nworkdir %s\n", t->patch ? "yes" : "-", t->workdir);
	buf_addf(b, "match %s\n", t->test.match == TASK_MATCH_SWEBENCH ? "compat" : "exact");
	strv_each (i, &t->fail_to_pass)
		buf_addf(b, "f2p %s\n", t->fail_to_pass.v[i]);
	strv_each (i, &t->pass_to_pass)
		buf_addf(b, "p2p %s\n", t->pass_to_pass.v[i]);
	strv_each (i, &row->reasons)
		buf_addf(b, "but %s\n", row->reasons.v[i]);
	return 0;
}

static void row_is(const char *text, const char *const *want)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct err err = { 0 };

	tap_ok(rows_look(&family_swebench, "f", text, strlen(text), describe, &b, &err) == 0,
	       "a row %s", err.text);
	for (; *want; want++) {
		auto_free char *line = mem_printf("%s\n", *want);

		if (!tap_ok(strstr(buf_str(&b), line) != NULL, "%s", *want))
			tap_diag("%s", buf_str(&b));
	}
}

static void refused(const struct family *f, const char *text, const char *want)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct err err = { 0 };

	tap_ok(rows_look(f, "f", text, strlen(text), describe, &b, &err) == -ERR_INPUT,
	       "refused: %.60s", text);
	tap_is_str(err.text, want, "where and why");
}

#define ROW(rest) "{\"instance_id\":\"a-1\",\"repo\":\"a/b\"" rest "}"

static void test_rows(void)
{
	row_is(ROW(",\"FAIL_TO_PASS\":\"[\\\"x\\\", \\\"y\\\"]\",\"PASS_TO_PASS\":[\"z\"]"),
	       (const char *const[]){ "id a-1", "repo a/b", "f2p x", "f2p y", "p2p z",
				      "but no problem statement", "but no test patch",
				      "but no repository: give --sources DIR", "workdir /testbed",
				      "match compat", NULL });
	row_is(ROW(",\"fail_to_pass\":\"['it\\\\'s', \\\"b\\\"]\",\"before_repo_set_cmd\":\"x\""),
	       (const char *const[]){ "f2p it's", "f2p b", "workdir /app", "match exact",
				      "but no run_script.sh and parser.py: give --scripts DIR",
				      NULL });
	row_is(ROW(",\"patch\":\"../../etc/passwd\",\"base_commit\":\"ABCDEF0123ABCDEF0123ABCDEF0123ABCDEF0123\""),
	       (const char *const[]){ "patch -", "but patch is no diff",
				      "commit abcdef0123abcdef0123abcdef0123abcdef0123", NULL });
	row_is(ROW(",\"base_commit\":\"main\",\"test_cmd\":\"make test\",\"log_parser\":\"tap\""),
	       (const char *const[]){ "commit -",
				      "but base_commit \"main\" is not 40 hexadecimal digits",
				      "command make test", "reader tap", "match exact", NULL });
	row_is(ROW(",\"install_config\":{\"test_cmd\":\"pytest -rA\",\"log_parser\":\"pytest\"},"
		   "\"test_patch\":\"diff --git a/t/x y.py b/t/x y.py\\ndiff --git a/d.json b/d.json\\n\""),
	       (const char *const[]){ "command pytest -rA 't/x y.py'", "reader swebench/pytest",
				      NULL });
	row_is(ROW(",\"FAIL_TO_PASS\":[\"\",\"a\xff\"]"),
	       (const char *const[]){ "f2p a\xef\xbf\xbd",
				      "but FAIL_TO_PASS holds 1 empty names, which are left out",
				      "but FAIL_TO_PASS is not UTF-8", NULL });
	row_is("{\"a-1\":" ROW("") "}", (const char *const[]){ "id a-1", NULL });
	row_is("[" ROW("") "]", (const char *const[]){ "id a-1", NULL });
}

/* One word of a command line holds 128K. */
static void test_long_command(void)
{
	auto_free char *blanks = mem_printf("%140000s", "");
	auto_free char *text =
		mem_printf(ROW(",\"test_cmd\":\"make%stest\",\"log_parser\":\"tap\""), blanks);

	row_is(text,
	       (const char *const[]){ "but the test command is larger than 131071 bytes, and no "
				      "shell can be given it",
				      NULL });
}

static void test_refusals(void)
{
	refused(&family_swebench, "[7]", "f: entry 1: expected an object: a row");
	refused(&family_swebench, ROW("") "\n\n" ROW(",\"patch\":{}"),
		"f:3: \"patch\": expected a string without NUL bytes");
	refused(&family_swebench, ROW(",\"FAIL_TO_PASS\":\"x\""),
		"f:1: \"FAIL_TO_PASS\": expected a list of strings, or a string that holds one");
	refused(&family_swebench, ROW(",\"repo\":\"c/d\""), "f:1: key \"repo\" given twice");
	refused(&family_swebench, "{\"repo\":\"a/b\"}", "f:1: \"instance_id\" is missing");
	refused(&family_swebench, "{\"instance_id\":\"../a\",\"repo\":\"a/b\"}",
		"f:1: instance_id \"../a\" is not a name: use 1 to 180 of A-Z a-z 0-9 . _ -, no dot in "
		"front");
	refused(&family_swebench, "{\"instance_id\":\"a\",\"repo\":\"../b\"}",
		"f:1: repo \"../b\" is not of the form owner/name");
	refused(&family_swebench, "{\"b\":" ROW("") "}",
		"f: entry 1: \"a-1\" stands under the key \"b\"");
	refused(&family_swebench, ROW("") "{", "f:1:36: expected a key in double quotes");
	refused(&family_multi, "{\"org\":\"a\",\"repo\":\"b\"}",
		"f:1: expected \"org\" and \"repo\", strings, and \"number\", a number");
}

static void list_is(const char *text, const char *const *want)
{
	auto_strv list = { 0 };
	size_t n = 0;

	tap_ok(pylist_parse(text, &list) == 0, "a list: %s", text);
	for (; want[n]; n++)
		tap_is_str(n < list.n ? list.v[n] : NULL, want[n], "its entry");
	tap_is_u64(list.n, n, "entries");
}

static void test_pylist(void)
{
	static const char *const bad[] = { "",          "x",         "[",       "['a'",
					   "['a' 'b']", "['a]",      "[a]",     "['a'] x",
					   "['\\x4']",  "['\\u12']", "['\\0']", "['\\U00110000']" };

	list_is("[]", (const char *const[]){ NULL });
	list_is(" ['a', \"b'c\", ] ", (const char *const[]){ "a", "b'c", NULL });
	list_is("('a',)", (const char *const[]){ "a", NULL });
	list_is("['\\n\\'\\\\ \\x41 \\xe9 \\u00e9 \\U0001f600 \\101 \\d']",
		(const char *const[]){ "\n'\\ A \xc3\xa9 \xc3\xa9 \xf0\x9f\x98\x80 A \\d", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_strv list = { 0 };

		tap_ok(pylist_parse(bad[i], &list) < 0, "no list: %s", bad[i]);
	}
}

static void yaml_is(const char *text, const char *want)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };

	tap_ok(yaml_json("f", text, strlen(text), &out, &err) == 0, "YAML: %s", err.text);
	tap_is_str(buf_str(&out), want, "as JSON");
}

static void yaml_bad(const char *text, const char *want)
{
	auto_buf out = BUF_INIT(1u << 20);
	struct err err = { 0 };

	tap_ok(yaml_json("f", text, strlen(text), &out, &err) == -ERR_INPUT, "refused YAML");
	tap_is_str(err.text, want, "where and why");
}

static void test_yaml(void)
{
	yaml_is("a: 1\nb: '1'\nc: 1.10\nd: 1.2.3\ne: 007\nf:\ng: ~\nh: yes\ni: \"yes\"\nj: 2026-01-03\n",
		"{\"a\": 1, \"b\": \"1\", \"c\": 1.10, \"d\": \"1.2.3\", \"e\": \"007\", \"f\": null, \"g\": null, "
		"\"h\": true, \"i\": \"yes\", \"j\": \"2026-01-03\"}");
	yaml_is("l:\n- a/b\n- [1, {x: y}]\nt: |-\n  two\n  lines\nyes: 1\n",
		"{\"l\": [\"a/b\", [1, {\"x\": \"y\"}]], \"t\": \"two\\nlines\", \"yes\": 1}");
	yaml_bad("a: &x 1\nb: *x\n", "f:2:4: aliases are not read");
	yaml_bad("a: !!str 1\n", "f:1:4: tags are not read");
	yaml_bad("a: 1\n---\nb: 2\n", "f:2:1: expected one document");
	yaml_bad("? [a]\n: b\n", "f:1:3: a key must be a plain text");
	yaml_bad("a: [1\n", "f:2:1: did not find expected ',' or ']'");
	yaml_bad("", "f: no YAML document in it");
}

static void test_script(void)
{
	static const char script[] =
		"#!/bin/bash\nset -uxo pipefail\nsource act\ncd /testbed\ngit status\n"
		"git checkout 1a b.py\ngit apply -v - <<'EOF_1'\n: '>>>>> Start Test Output'\nEOF_1\n"
		"cat <<X >f\ngit status\nX\nread v <<<word\n: '>>>>> Start Test Output'\n"
		"pytest -rA 'a b'\n"
		": '>>>>> End Test Output'\ngit checkout 1a b.py\n";
	auto_free char *got = row_eval_command(script), *none = row_eval_command("pytest\n");

	tap_is_str(
		got,
		"exec bash -c 'set -uo pipefail\nsource act\ncd /testbed\ncat <<X >f\ngit status\nX\n"
		"read v <<<word\npytest -rA '\\''a b'\\''\n'",
		"set-up and test command are kept, the patch and the markers are not");
	tap_ok(!none, "no markers, no command");
}

static void test_words(void)
{
	static const char patch[] =
		"diff --git a/tests/a/t.py b/tests/a/t.py\n+diff --git a/no b/no\n"
		"diff --git a/tests/x.json b/tests/x.json\ndiff --git a/-o b/-o\r\n";
	auto_free char *paths = row_files(patch, TESTSPEC_PATHS);
	auto_free char *modules = row_files(patch, TESTSPEC_DJANGO);
	auto_free char *none = row_files(patch, TESTSPEC_NONE);

	tap_is_str(paths, "tests/a/t.py '-o'", "paths of the test patch, without data");
	tap_is_str(modules, "a.t '-o'", "Django's modules");
	tap_is_str(none, "", "none");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		test_files(argv[1]);
	test_rows();
	test_long_command();
	test_refusals();
	test_pylist();
	test_yaml();
	test_script();
	test_words();
	return tap_done();
}
