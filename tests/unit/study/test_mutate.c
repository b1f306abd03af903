/* The operators: what each makes of a small text, that the same seed gives the same, and that the reference's
 * places are left alone. */
#include "study/mutate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "study/coedit.h"
#include "tests/lib/tap.h"

/* Does one of the edits of operator @op hold @want? */
static bool made(const struct mutants *m, const char *op, const char *want)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->v[i].op, op) == 0 && strstr(m->v[i].after, want))
			return true;
	return false;
}

static const char c_text[] = "static int limit(int n, int most)\n"
			     "{\n"
			     "\tif (n < 0)\n"
			     "\t\treturn -1;\n"
			     "\tint half = most / 16;\n"
			     "\n"
			     "\n"
			     "\tif (n >= most - 1 && half == 2)\n"
			     "\t\treturn most;\n"
			     "\treturn scale(n, half);\n"
			     "}\n"
			     "\n"
			     "int all(int n)\n"
			     "{\n"
			     "\tint a = 0;\n"
			     "\n"
			     "\treturn limit(n, a);\n"
			     "}\n";
/* the reference adds a check in the fifth line */
static const char c_after[] = "static int limit(int n, int most)\n"
			      "{\n"
			      "\tif (n < 0)\n"
			      "\t\treturn -1;\n"
			      "\tif (n > 100)\n"
			      "\t\treturn 100;\n"
			      "\tint half = most / 16;\n";

static const char py_text[] = "class A:\n"
			      "    def get(self, key, strict=True):\n"
			      "        '''text'''\n"
			      "        a = 1\n"
			      "        b = 2\n"
			      "        c = 3\n"
			      "        return self.d[key]\n"
			      "\n"
			      "    def put(self, key):\n"
			      "        self.d['one'] = self.d.get('two')\n"
			      "\n"
			      "\n"
			      "    def end(self, key):\n"
			      "        return key\n";
static const char py_after[] = "class A:\n"
			       "    def get(self, key, strict=True):\n"
			       "        '''text'''\n"
			       "        a = 1\n"
			       "        b = 2\n"
			       "        c = 3\n"
			       "        if key is None and strict:\n"
			       "            return 0\n"
			       "        return self.d[key]\n"
			       "\n"
			       "    def more(self, key):\n"
			       "        return key + 1\n"
			       "\n"
			       "    def put(self, key):\n"
			       "        self.d['one'] = self.d.get('two')\n"
			       "\n"
			       "\n"
			       "    def end(self, key):\n"
			       "        return key\n";

static const char js_text[] = "exports.get = function (o, key) {\n"
			      "  var a = true;\n"
			      "\n"
			      "\n"
			      "  return o[key];\n"
			      "};\n"
			      "\n"
			      "function other(x) {\n"
			      "  return get(x, 'a');\n"
			      "}\n";
static const char js_after[] = "exports.get = function (o, key) {\n"
			       "  var a = true;\n"
			       "\n"
			       "\n"
			       "  if (key === 'proto') return null;\n"
			       "  return o[key];\n"
			       "};\n";

static const struct basetree_hunk c_hunks[] = { { 5, 0, 5, 2 } };
static const struct basetree_hunk py_hunks[] = { { 7, 0, 7, 2 }, { 9, 0, 11, 3 } };
static const struct basetree_hunk js_hunks[] = { { 5, 0, 5, 1 } };

#define SOURCE(p, name)                                                                            \
	{                                                                                          \
		.path = p, .text = name##_text, .n = sizeof(name##_text) - 1,                      \
		.after = name##_after, .n_after = sizeof(name##_after) - 1, .hunk = name##_hunks,  \
		.n_hunks = ARRAY_SIZE(name##_hunks)                                                \
	}

static const struct mutate_source c_src = SOURCE("a.c", c), py_src = SOURCE("a.py", py),
				  js_src = SOURCE("a.js", js);

static const struct row {
	const struct mutate_source *src;
	const char *op, *want;
} rows[] = {
	/* clang-format off */
	{ &c_src, "flip-condition",   "if (n >= most - 1 || half == 2)" },
	{ &c_src, "flip-condition",   "if (n < most - 1 && half == 2)" },
	{ &c_src, "off-by-one",       "if (n > most - 1 && half == 2)" },
	{ &c_src, "off-by-one",       "if (n >= most && half == 2)" },
	{ &c_src, "swap-arguments",   "scale(half, n)" },
	{ &c_src, "drop-guard",       "/ 16;\n\n\n\treturn scale" },
	{ &c_src, "redirect-calls",   "static int limit_plain(int n, int most)" },
	{ &c_src, "redirect-calls",   "return limit_plain(n, a);" },
	{ &py_src, "inverted-default", "strict=False" },
	{ &py_src, "wrong-key",        "self.d['two'] = self.d.get('two')" },
	{ &py_src, "filter-input",     "        if key is None and strict:\n            key = 0\n        a = 1" },
	{ &py_src, "early-return",     "        if key is None and strict:\n            return key\n        a = 1" },
	{ &py_src, "restore-state",    "        return self.d[key]\n\n    # as it was\n    def get(self" },
	{ &py_src, "own-version",      "    def more(self, key):\n        return key\n\n    def end" },
	{ &js_src, "filter-input",     "  if (key === 'proto') {\n    key = undefined;\n  }\n  var a" },
	{ &js_src, "early-return",     "    return false;\n  }\n  var a" },
	{ &js_src, "restore-state",    "// as it was\nexports.get = function" },
	{ &js_src, "inverted-default", "var a = false" },
	/* clang-format on */
};

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mutants m = { .v = NULL };

		mutate_file(rows[i].src, 1, &m);
		if (!tap_ok(made(&m, rows[i].op, rows[i].want), "%s: %s", rows[i].src->path,
			    rows[i].op))
			for (size_t k = 0; k < m.n; k++)
				if (strcmp(m.v[k].op, rows[i].op) == 0)
					tap_diag("%s", m.v[k].after);
		mutants_done(&m);
	}
}

/* What holds for all of them. */
static void test_all(const struct mutate_source *src)
{
	struct mutants a = { .v = NULL }, b = { .v = NULL }, c = { .v = NULL };
	unsigned same = 0, other = 0, said = 0, changed = 0;

	mutate_file(src, 5, &a);
	mutate_file(src, 5, &b);
	mutate_file(src, 6, &c);
	mutate_order(&a);
	mutate_order(&b);
	mutate_order(&c);
	for (size_t i = 0; i < a.n && i < b.n; i++) {
		same += strcmp(a.v[i].after, b.v[i].after) == 0;
		other += i < c.n && strcmp(a.v[i].after, c.v[i].after) != 0;
		said += a.v[i].claim[0] && !strchr(a.v[i].claim, '{') && a.v[i].belief[0];
		changed += strcmp(a.v[i].after, src->text) != 0 && a.v[i].start <= a.v[i].end;
	}
	tap_ok(a.n > 3 && a.n == b.n && same == a.n, "%s: %zu edits, the same for the same seed",
	       src->path, a.n);
	tap_ok(other > 0, "%s: another order for another seed", src->path);
	tap_ok(said == a.n && changed == a.n, "%s: each changes something and says so", src->path);
	for (size_t i = 1; i < a.n; i++)
		if (a.v[i].apart >= MUTATE_CLEAR && a.v[i - 1].apart < MUTATE_CLEAR)
			tap_ok(false, "%s: what is clear of the reference comes first", src->path);
	mutants_done(&a);
	mutants_done(&b);
	mutants_done(&c);
}

/* Each edit of the language's files can be told apart from what the reference changes. */
static void test_apart(void)
{
	struct mutants m = { .v = NULL };

	mutate_file(&c_src, 1, &m);
	for (size_t i = 0; i < m.n; i++)
		if (strstr(m.v[i].after, "most / 8")) {
			tap_is_u64(m.v[i].apart, 0,
				   "a constant beside the reference's place is not apart");
			tap_is_u64(m.v[i].line, 5, "and its line is known");
		}
	tap_ok(made(&m, "stale-constant", "most / 8"), "the constant was changed");
	mutants_done(&m);
}

static void test_languages(void)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "a.go",
		  "func F(a int, b int) int {\n\tif a < b {\n\t\treturn g(a, b)\n\t}\n\treturn 8\n}\n" },
		{ "a.rb", "def f(a, b = true)\n  return nil if a == b\n  g(a, b)\nend\n" },
		{ "a.java",
		  "class A {\n  int f(int a) {\n    if (a < 3) {\n      return 0;\n    }\n    return g(a, 9);\n  }\n}\n" },
		{ "a.rs",
		  "fn f(a: u8, b: u8) -> u8 {\n    if a <= b {\n        return g(a, b);\n    }\n    7\n}\n" },
		{ "a.ts",
		  "function f(a: number): boolean {\n  if (a > 3) {\n    return true;\n  }\n  return g(a, 'x');\n}\n" },
	};
	const struct region all = { .start = 1, .end = 9 };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct region r = all;
		struct mutants m = { .v = NULL };
		const struct mutate_source src = { .path = files[i].path,
						   .text = files[i].text,
						   .n = strlen(files[i].text),
						   .region = &r,
						   .n_regions = 1 };

		r.path = (char *)files[i].path;
		mutate_file(&src, 1, &m);
		tap_ok(m.n >= 2, "%s: %zu edits near a region", files[i].path, m.n);
		mutants_done(&m);
	}
}

static void test_coedit(void)
{
	struct basetree_hunk h[] = { { 3, 1, 3, 1 }, { 20, 0, 20, 2 } };
	char before[400] = "", after[400] = "";
	unsigned seen = 0;
	struct basetree_file f = {
		.path = (char *)"a.c", .existed = true, .hunk = h, .n_hunks = 2
	};
	struct basetree_patch p = { .file = &f, .n = 1 };
	struct coedits e = { .v = NULL };

	for (unsigned i = 1; i <= 30; i++) {
		snprintf(before + strlen(before), 8, "l%u\n", i);
		snprintf(after + strlen(after), 16,
			 i == 20  ? "n\nn\nl%u\n"
			 : i == 3 ? "m%u\n"
				  : "l%u\n",
			 i);
	}
	f.before = before;
	f.n_before = strlen(before);
	f.after = after;
	f.n_after = strlen(after);
	coedit_parts(&p, 1, &e);
	tap_ok(e.n == 2 && e.v[0].coverage == 0.5,
	       "two hunks: each is a part, with half of the lines");
	for (size_t i = 0; i < e.n; i++)
		tap_ok(!strstr(e.v[i].file[0].after, "m3") !=
			       !strstr(e.v[i].file[0].after, "n\nn\n"),
		       "part %zu has one of them", i + 1);
	coedits_done(&e);
	coedit_remarks(&c_src, 1, &e);
	for (size_t i = 0; i < e.n; i++)
		seen |= (strstr(e.v[i].file[0].after, "/* Takes n. */\nint all") ? 1u : 0) |
			(strstr(e.v[i].file[0].after, "/* Called by all(). */\nstatic int limit")
				 ? 2u
				 : 0);
	tap_ok(e.n == 2 && seen == 3, "a remark above each function, by its callers or parameters");
	coedits_done(&e);
}

int main(void)
{
	size_t n = 0;

	while (mutate_op_name(n) && mutate_op_doc(n))
		n++;
	tap_ok(n >= 12, "%zu operators", n);
	test_rows();
	test_all(&c_src);
	test_all(&py_src);
	test_all(&js_src);
	test_apart();
	test_languages();
	test_coedit();
	return tap_done();
}
