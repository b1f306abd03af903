/* Tokens: all of the text, in order, without gaps; kinds by a table; functions by their shape. */
#include "study/lex.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/code.h"
#include "tests/lib/tap.h"

#define PER_PLACE 300u /* files that are read of one place */

/* Is the text put together of the tokens again, each on its line? */
static bool whole(const struct lex *l)
{
	uint64_t line = 1;
	size_t at = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].at != at || !l->v[i].n || l->v[i].line != line)
			return false;
		for (size_t k = 0; k < l->v[i].n; k++)
			line += l->text[at + k] == '\n';
		at += l->v[i].n;
	}
	return at == l->n_text;
}

/* Kinds of the tokens that are no blanks, a letter each. */
static char *kinds(const struct lex *l)
{
	auto_buf b = BUF_INIT(4096);

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].kind != LEX_SPACE && l->v[i].kind != LEX_NEWLINE)
			buf_addc(&b, "  cs0nko#?"[l->v[i].kind]);
	return buf_steal(&b, NULL);
}

static const struct {
	const char *path, *text;
	const char *
		want; /* c comment, s string, 0 number, n name, k keyword, o operator, # directive */
} rows[] = {
	/* clang-format off */
	{ "a.c", "#if A \\\n B\nx /* a\n*/ 'y' // b \\\n c\nz", "#ncscn" },
	{ "a.c", "return a->b >= L\"x\\\"y\" ? 1e-5f : 0x1f;", "knonoso0o0o" },
	{ "a.c", "a /b/ c", "nonon" },
	{ "a.c", "/* no end", "c" },
	{ "a.c", "\"no end\nx", "sn" },
	{ "a.py", "f('''a\n'b' ''', rb'\\'')  # c", "nososoc" },
	{ "a.py", "x = \"a#b\" if y else z", "nosknkn" },
	{ "a.js", "x = a / b / c", "nononon" },
	{ "a.js", "x = /[/]/g", "nos" },
	{ "a.js", "return /x/ // y", "ksc" },
	{ "a.js", "f(`a${ `b` }c`)", "noso" },
	{ "a.ts", "let $a = 1_000", "kno0" },
	{ "a.go", "s := `\\` + 'x'", "nosos" },
	{ "a.rb", "=begin\nx\n=end\n@a = %w[a b] # c", "cnosc" },
	{ "a.rb", "x =~ /a#b/", "nos" },
	{ "a.java", "\"\"\"\na \" b\n\"\"\" + 'c'", "sos" },
	{ "a.rs", "r#\"a\"b\"# /* /* */ */ 'c' &'a x", "scsoonn" },
	/* clang-format on */
};

static void test_kinds(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = NULL, *name = mem_printf("%s, row %zu", rows[i].path, i);
		struct lex l;

		lex_run(lex_lang_of(rows[i].path), rows[i].text, strlen(rows[i].text), &l);
		got = kinds(&l);
		tap_is_str(got, rows[i].want, name);
		tap_ok(whole(&l), "%s: the tokens are the text", name);
		lex_done(&l);
	}
	tap_ok(!lex_lang_of("a.txt") && !lex_lang_of("py") && !lex_lang_of(".c"),
	       "other names have no row");
}

static void test_large(void)
{
	auto_free char *big = mem_zalloc(LEX_TEXT_MAX + 1u, 1);
	struct lex l;

	memset(big, '(', LEX_TEXT_MAX + 1u);
	lex_run(lex_lang_of("a.c"), big, LEX_TEXT_MAX + 1u, &l);
	tap_ok(l.cut && !l.n, "a text beyond the maximum has no tokens");
	lex_done(&l);
	lex_run(lex_lang_of("a.c"), big, LEX_TEXT_MAX, &l);
	tap_ok(!l.cut && l.n <= LEX_TOKENS_MAX && whole(&l), "one of %u brackets has %zu",
	       LEX_TEXT_MAX, l.n);
	lex_done(&l);
}

/* Every file of @dir with a row, and of what lies below it. Returns how many were read. */
static unsigned read_place(const char *dir, unsigned left, unsigned depth, unsigned *bad)
{
	DIR *d = opendir(dir);
	unsigned n = 0;
	struct dirent *de;

	while (d && n < left && (de = readdir(d))) {
		auto_free char *path = path_join(dir, de->d_name);
		auto_buf b = BUF_INIT(64u << 20);
		struct code c;
		struct err err;

		if (de->d_name[0] == '.')
			continue;
		if (de->d_type == DT_DIR && depth)
			n += read_place(path, left - n, depth - 1, bad);
		if (de->d_type != DT_REG || !lex_lang_of(path) || fd_read_file(path, &b, &err) < 0)
			continue;
		code_read(lex_lang_of(path), buf_str(&b), b.len, &c);
		n++;
		if (!c.lex.cut && !whole(&c.lex)) {
			++*bad;
			tap_diag("%s", path);
		}
		code_done(&c);
	}
	if (d)
		closedir(d);
	return n;
}

static void test_places(void)
{
	static const char *const places[] = { "base",
					      "supervisor",
					      "tests",
					      "/usr/lib/python3",
					      "/usr/share/nodejs",
					      "/usr/include",
					      "/usr/lib/ruby",
					      "/usr/lib/go",
					      "/usr/share/go-1.19" };
	const char *top = getenv("PROCTOR_TOP");

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		auto_free char *dir = places[i][0] == '/' ? mem_strdup(places[i])
							  : path_join(top ? top : ".", places[i]);
		unsigned bad = 0, n = read_place(dir, PER_PLACE, 6, &bad);

		if (n || places[i][0] != '/')
			tap_ok(n && !bad, "%s: %u files, the tokens are the text", places[i], n);
		else
			tap_diag("%s: nothing there", places[i]);
	}
}

/* "name first-last(params)" of each function. */
static char *functions(const char *path, const char *text)
{
	auto_buf b = BUF_INIT(4096);
	struct code c;

	code_read(lex_lang_of(path), text, strlen(text), &c);
	for (size_t i = 0; i < c.n_fn; i++) {
		auto_free char *name = code_text(&c, c.fn[i].name);

		buf_addf(&b, "%s%s%s %" PRIu64 "-%" PRIu64 "(", i ? " " : "", name,
			 c.fn[i].again ? "*" : "", c.fn[i].head, c.fn[i].last);
		for (size_t k = 0; k < c.fn[i].n_params; k++) {
			auto_free char *p = code_text(&c, c.fn[i].param[k]);

			buf_addf(&b, "%s%s", k ? "," : "", p);
		}
		buf_addc(&b, ')');
	}
	code_done(&c);
	return buf_steal(&b, NULL);
}

static const struct {
	const char *path, *text, *want; /* a star: a second definition may follow */
} shapes[] = {
	/* clang-format off */
	{ "a.c", "static int\nf(const char *a, int b[2])\n{\n\tif (g(a)) {\n\t}\n}\n#define M(x) {\nint h(void) { return 1; }\n",
	  "f 1-6(a,b) h 8-8()" },
	{ "a.c", "int f(int x);\nint f(int x)\n{\n\tEACH(x) {\n\t}\n}\n", "f 2-6(x)" },
	{ "a.py", "@d\ndef f(self, a, b=1, *c, **d):\n    '''x\ny'''\n    if a:\n\n        return g(\nb)\n\ndef h(): pass\n",
	  "f* 1-8(a,b,c,d)" },
	{ "a.py", "class A:\n    def f(self):\n        def g(x):\n            return x\n        return g\n    x = 1\n",
	  "f* 2-5() g* 3-4(x)" },
	{ "a.js", "var f = function (a) {\n  if (x) { }\n};\nx.y = function n(b) {\n}\nconst g = (c) => {\n}\nfunction h() {\n}\n",
	  "f* 1-3(a) y* 4-5(b) g 6-7(c) h* 8-9()" },
	{ "a.js", "class A {\n  m(a) {\n    return o.f(a) ? {} : 1\n  }\n}\n", "m 2-4(a)" },
	{ "a.go", "func (r *T) F(a int, b string) (int, error) {\n\tif g(a) {\n\t}\n}\n", "F 1-4(a,b)" },
	{ "a.rb", "def self.f(a, b = 1)\n  if a\n  end\nend\ndef g\nend\n", "f* 1-4(a,b) g* 5-6()" },
	{ "a.java", "class A {\n  int f(int a, String b) throws E {\n    return new T(a) { };\n  }\n}\n", "f 2-4(a,b)" },
	{ "a.rs", "pub fn f(a: &str, b: u8) -> Option<u8> {\n  match g(a) {\n  }\n}\n", "f 1-4(a,b)" },
	/* clang-format on */
};

int main(void)
{
	test_kinds();
	test_large();
	test_places();
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		auto_free char *got = functions(shapes[i].path, shapes[i].text);
		auto_free char *name = mem_printf("functions, %s, row %zu", shapes[i].path, i);

		tap_is_str(got, shapes[i].want, name);
	}
	return tap_done();
}
