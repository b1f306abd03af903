/* The TOML reader: every form of value, how tables come together, and each class of error with its place. A
 * differential test against another reader is tests/run/toml.sh. */
#include "base/toml.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* One document and what it becomes as JSON, or "!LINE:COLUMN" of its error. */
struct row {
	const char *name, *text, *want;
};

/* clang-format off */
static const struct row rows[] = {
	{ "nothing", "", "{}" },
	{ "a comment without an end", "# only", "{}" },
	{ "a byte order mark", "\xef\xbb\xbfx = 1", "{\"x\":1}" },
	{ "bare, quoted and dotted keys", "a-b_1 = 1\n\"a b\" = 2\n'c.d' = 3\ne . \"f.g\" . h = 4\n\"\" = 5\n",
	  "{\"a-b_1\":1,\"a b\":2,\"c.d\":3,\"e\":{\"f.g\":{\"h\":4}},\"\":5}" },
	{ "a number is a key", "3.14159 = 'pi'", "{\"3\":{\"14159\":\"pi\"}}" },
	{ "strings", "a = \"t\\tq\\\"b\\\\u\\u00e9\\U0001F600\"\nb = 'C:\\n'\n",
	  "{\"a\":\"t\\tq\\\"b\\\\u\xc3\xa9\xf0\x9f\x98\x80\",\"b\":\"C:\\\\n\"}" },
	{ "multi-line strings", "a = \"\"\"\r\none\r\ntwo \\\n\n   three\"\"\"\nb = '''\n'x'\\\n'''",
	  "{\"a\":\"one\\ntwo three\",\"b\":\"'x'\\\\\\n\"}" },
	{ "quotes at the end of one", "a = \"\"\"two\"\"\"\"\"\nb = '''one''''", "{\"a\":\"two\\\"\\\"\",\"b\":\"one'\"}" },
	{ "whole numbers", "a = +99\nb = -17\nc = 1_000\nd = 0xDEAD_beef\ne = 0o755\nf = 0b101\ng = -0",
	  "{\"a\":99,\"b\":-17,\"c\":1000,\"d\":3735928559,\"e\":493,\"f\":5,\"g\":0}" },
	{ "numbers with a fraction", "a = 1.5\nb = -2e3\nc = 6.5E-1\nd = 1_0.2_5", "{\"a\":1.5,\"b\":-2000,\"c\":0.65,\"d\":10.25}" },
	{ "truth", "a = true\nb = false", "{\"a\":true,\"b\":false}" },
	{ "dates and times", "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 00:32:00.999-07:00\nc = 1979-05-27t07:32:00\n"
	  "d = 2000-02-29\ne = 07:32:00.5",
	  "{\"a\":\"1979-05-27T07:32:00Z\",\"b\":\"1979-05-27T00:32:00.999-07:00\",\"c\":\"1979-05-27T07:32:00\","
	  "\"d\":\"2000-02-29\",\"e\":\"07:32:00.5\"}" },
	{ "arrays", "a = [ 1, # one\n 'x', [], [[2]],\n]", "{\"a\":[1,\"x\",[],[[2]]]}" },
	{ "inline tables", "a = { b = 1, c.d = 2, e = {} }", "{\"a\":{\"b\":1,\"c\":{\"d\":2},\"e\":{}}}" },
	{ "headers", "x = 1\n[ a . b ]\ny = 2\n[a]\nz = 3\n[a.c]", "{\"x\":1,\"a\":{\"b\":{\"y\":2},\"z\":3,\"c\":{}}}" },
	{ "arrays of tables", "[[a]]\nx = 1\n[a.s]\ny = 2\n[[a.t]]\n[[a]]\n[a.s]\nz = 3",
	  "{\"a\":[{\"x\":1,\"s\":{\"y\":2},\"t\":[{}]},{\"s\":{\"z\":3}}]}" },
	{ "a table below one that a dotted key made", "[f]\napple.color = 'red'\n[f.apple.taste]\nsweet = true",
	  "{\"f\":{\"apple\":{\"color\":\"red\",\"taste\":{\"sweet\":true}}}}" },

	{ "a key twice", "a = 1\na = 2", "!2:1" },
	{ "a key twice, once quoted", "a = 1\n\"a\" = 2", "!2:1" },
	{ "a table twice", "[a]\n[a]", "!2:2" },
	{ "a header for what a dotted key made", "a.b = 1\n[a]", "!2:2" },
	{ "a dotted key into a table with a header", "[a.b]\n[a]\nb.c = 1", "!3:1" },
	{ "a value is no table", "a = 1\n[a.b]", "!2:2" },
	{ "an inline table is closed", "a = {b = 1}\n[a.c]", "!2:2" },
	{ "and so is what stands in it", "a = {b.c = 1}\na.b.d = 2", "!2:1" },
	{ "a written array takes no tables", "a = []\n[[a]]", "!2:3" },
	{ "a table is no array of tables", "[a]\n[[a]]", "!2:3" },
	{ "no value", "a =", "!1:4" },
	{ "no key", "= 1", "!1:1" },
	{ "two pairs in a line", "a = 1 b = 2", "!1:7" },
	{ "a bare word", "a = word", "!1:5" },
	{ "a leading zero", "a = 012", "!1:5" },
	{ "underscores outside", "a = 1__0", "!1:5" },
	{ "no digit behind the point", "a = 1.", "!1:5" },
	{ "more than 64 bits", "a = 9223372036854775808", "!1:5" },
	{ "no such day", "a = 2023-02-29", "!1:5" },
	{ "no such hour", "a = 2023-01-01T24:00:00Z", "!1:5" },
	{ "a string without an end", "a = \"x\ny\"", "!1:7" },
	{ "a multi-line one without an end", "a = '''x\ny", "!1:5" },
	{ "an unknown escape", "a = \"\\x41\"", "!1:6" },
	{ "a surrogate", "a = \"\\ud800\"", "!1:6" },
	{ "U+0000", "a = \"\\u0000\"", "!1:6" },
	{ "a control character", "a = \"\x01\"", "!1:6" },
	{ "a carriage return alone", "a = 1\rb = 2", "!1:6" },
	{ "a comma at the end of an inline table", "a = {b = 1,}", "!1:12" },
	{ "an inline table over lines", "a = {b = 1\n}", "!1:11" },
	{ "no UTF-8", "a = '\xff'", "!1:6" },
	{ "an open header", "[a", "!1:3" },
	{ "an empty header", "[]", "!1:2" },
	{ "a multi-line key", "\"\"\"a\"\"\" = 1", "!1:1" },
};
/* clang-format on */

static void try_row(const struct row *r)
{
	struct json_src src = { 0 };
	struct err err = { 0 };
	auto_free char *text = NULL, *want = NULL;

	if (toml_parse("t", r->text, strlen(r->text), &src, &err) == 0) {
		text = cJSON_PrintUnformatted(src.root);
		tap_is_str(text, r->want, r->name);
		json_src_done(&src);
		return;
	}
	want = mem_printf("t:%s: ", r->want + 1);
	tap_ok(*r->want == '!' && err.code == ERR_INPUT &&
		       strncmp(err.text, want, strlen(want)) == 0,
	       "%s: %s", r->name, err.text);
}

static void kinds(void)
{
	static const char text[] =
		"a = 9007199254740993\nb = -9223372036854775808\nc = 1\nd = 1.0\ne = inf\n"
		"f = -inf\ng = nan\nh = 1979-05-27\ni = 07:32:00\nj = 1979-05-27T07:32:00\n"
		"k = 1979-05-27T07:32:00+01:00\nl = 'x'\nm = true\nn = []\no = {}\n";
	static const char *const want[] = {
		"integer",
		"integer",
		"integer",
		"float",
		"float",
		"float",
		"float",
		"local-date",
		"local-time",
		"local-date-time",
		"offset-date-time",
		"string",
		"bool",
		"array",
		"table",
	};
	struct json_src src = { 0 };
	struct err err = { 0 };
	const cJSON *e;
	int64_t v = 0;
	size_t i = 0;

	tap_ok(toml_parse("t", text, sizeof(text) - 1, &src, &err) == 0, "all kinds %s", err.text);
	cJSON_ArrayForEach (e, src.root)
		tap_is_str(toml_kind_name(toml_kind(e)), want[i++], e->string);
	e = src.root->child;
	tap_ok(toml_integer(e, &v) && v == 9007199254740993, "54 bits are exact");
	tap_ok(toml_integer(e->next, &v) && v == INT64_MIN, "and so are 64");
	tap_ok(!toml_integer(e->next->next->next, &v), "1.0 is no integer");
	tap_ok(isinf(e->next->next->next->next->valuedouble), "inf");
	json_src_done(&src);
}

/* @n times @open, a middle, @n times @shut. */
static int nested(const char *open, size_t n, const char *middle, const char *shut)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct json_src src = { 0 };
	struct err err = { 0 };
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_adds(&b, open);
	buf_adds(&b, middle);
	for (size_t i = 0; i < n; i++)
		buf_adds(&b, shut);
	rc = toml_parse("t", buf_str(&b), b.len, &src, &err);
	json_src_done(&src);
	return rc;
}

static void bounds(void)
{
	auto_buf b = BUF_INIT(TOML_FILE_MAX + 10);
	struct json_src src = { 0 };
	struct err err = { 0 };

	tap_ok(nested("a.", 63, "a = 1", "") == 0 && nested("a.", 100, "a = 1", "") < 0,
	       "dotted keys are bounded");
	tap_ok(nested("a = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 1, "",
		      "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]") == 0 &&
		       nested("[", 200, "a", "]") < 0,
	       "arrays are bounded");
	buf_adds(&b, "x = ");
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "[");
	tap_ok(toml_parse("t", buf_str(&b), b.len, &src, &err) < 0, "100,000 brackets: %s",
	       err.text);
	buf_clear(&b);
	buf_addc(&b, '[');
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "a.");
	buf_adds(&b, "a]");
	tap_ok(toml_parse("t", buf_str(&b), b.len, &src, &err) < 0, "a header of 100,000 keys: %s",
	       err.text);
	buf_clear(&b);
	for (int i = 0; i < 200000; i++)
		buf_addf(&b, "k%d = %d\n", i, i);
	tap_ok(toml_parse("t", buf_str(&b), b.len, &src, &err) == 0 &&
		       cJSON_GetArraySize(src.root) == 200000,
	       "200,000 keys of one table");
	json_src_done(&src);
	while (!b.full)
		buf_adds(&b, "# aaaaa\n");
	tap_ok(toml_parse("t", buf_str(&b), b.len, &src, &err) < 0, "too large: %s", err.text);
	tap_ok(toml_load("/nonexistent.toml", &src, &err) < 0, "no such file: %s", err.text);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		try_row(&rows[i]);
	kinds();
	bounds();
	return tap_done();
}
