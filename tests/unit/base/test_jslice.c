/* JSON of other programs: what is refused with its place, what comes back byte for byte. */
#include "base/jslice.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void refused(const char *text, const char *want)
{
	struct jslice v;
	struct err err = { 0 };

	tap_ok(jslice_parse("f", text, strlen(text), &v, &err) == -ERR_INPUT, "refused: %s", text);
	tap_is_str(err.text, want, "where and why");
}

static void test_refusals(void)
{
	char deep[300];

	refused("", "f:1:1: no JSON value in this text");
	refused(" \n", "f:2:1: no JSON value in this text");
	refused("{\"a\":1,}", "f:1:8: expected a key in double quotes");
	refused("{\"a\" 1}", "f:1:6: expected \":\" behind the key");
	refused("[1 2]", "f:1:4: expected \",\" or \"]\"");
	refused("[1,]", "f:1:4: not valid JSON from here on");
	refused("[1", "f:1:3: expected \",\" or \"]\"");
	refused("\n\"ab", "f:2:1: this string does not end: the text is cut off");
	refused("\"a\nb\"", "f:1:3: a control byte in a string must be written as an escape");
	refused("\"\\x41\"", "f:1:2: an escape that JSON does not have");
	refused("\"\\u12g4\"", "f:1:2: \\u needs four hexadecimal digits");
	refused("01", "f:1:1: not a number");
	refused("1.", "f:1:1: not a number");
	refused("-", "f:1:1: not a number");
	refused("1e", "f:1:1: not a number");
	refused("{} x", "f:1:4: expected nothing behind the value");
	refused("[tru]", "f:1:2: not valid JSON from here on");
	memset(deep, '[', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	refused(deep, "f:1:129: nested deeper than 128 levels");
}

static void text_is(const char *json, const char *want, size_t n)
{
	struct jslice v;
	struct err err = { 0 };
	size_t got = 0;
	auto_free char *text = NULL;

	tap_ok(jslice_parse("f", json, strlen(json), &v, &err) == 0, "a string: %s", json);
	text = jslice_text(v, &got);
	tap_ok(text && got == n && memcmp(text, want, n) == 0, "its bytes");
}

static void test_texts(void)
{
	struct jslice v;
	struct err err;

	text_is("\"\"", "", 0);
	text_is("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\b\f\n\r\tz", 10);
	text_is("\"\\u00e9\\ud83d\\ude00\"", "\xc3\xa9\xf0\x9f\x98\x80", 6);
	text_is("\"\\udcff\\udc80x\"", "\xff\x80x", 3);
	text_is("\"\xff\"", "\xff", 1);
	text_is("\"\\ud83d\\udc80\"", "\xf0\x9f\x92\x80", 4);
	text_is("\"\\ud83dx\"", "\xed\xa0\xbdx", 4);
	text_is("\"\\u0000a\"", "\0a", 2);
	tap_ok(jslice_parse("f", "\"\\u0000\"", 8, &v, &err) == 0 && !jslice_cstr(v),
	       "a NUL byte is no C string");
	tap_ok(jslice_parse("f", "12", 2, &v, &err) == 0 && !jslice_text(v, NULL),
	       "a number is no text");
}

static void put_is(const char *s, size_t n, const char *want)
{
	auto_buf out = BUF_INIT(1000);

	tap_ok(jslice_put(&out, s, n) == 0, "put");
	tap_is_str(buf_str(&out), want, "as JSON");
}

static void test_put(void)
{
	auto_buf small = BUF_INIT(4);

	put_is("a\\b\"c\n\t\r", 8, "\"a\\\\b\\\"c\\n\\t\\r\"");
	put_is("\xc3\xa9\xff\x01\x7f", 5, "\"\xc3\xa9\\udcff\\u0001\\u007f\"");
	put_is("\0", 1, "\"\\u0000\"");
	put_is("\xed\xa0\x80", 3, "\"\\udced\\udca0\\udc80\"");
	tap_ok(jslice_put(&small, "abcdef", 6) < 0, "a full buffer is told");
}

static void test_walk(void)
{
	static const char text[] = "{\"a\": 1.10, \"b\\u0063\" :[ true,\n{} ,\"x]\"], \"a\":null}";
	struct jslice v, key, value;
	struct jslice_walk w;
	struct err err;
	auto_buf raw = BUF_INIT(1000);

	tap_ok(jslice_parse("f", text, strlen(text), &v, &err) == 0, "an object");
	value = jslice_get(v, "a");
	tap_ok(value.n == 4 && memcmp(value.s, "1.10", 4) == 0, "a number keeps its digits");
	value = jslice_get(v, "bc");
	tap_ok(jslice_kind(value) == '[', "a key with an escape");
	jslice_raw(&raw, value);
	tap_is_str(buf_str(&raw), "[ true, {} ,\"x]\"]", "raw, in one line");
	w = jslice_walk(value);
	tap_ok(jslice_member(&w, &key, &value) && !key.n && jslice_kind(value) == 't', "true");
	tap_ok(jslice_member(&w, &key, &value) && jslice_kind(value) == '{' && value.n == 2, "{}");
	tap_ok(jslice_member(&w, &key, &value) && jslice_is(value, "x]"), "a string");
	tap_ok(!jslice_member(&w, &key, &value) && !jslice_member(&w, &key, &value), "the end");
	value = jslice_twice(v);
	tap_ok(value.n == 3 && memcmp(value.s, "\"a\"", 3) == 0, "a key given twice");
	tap_ok(!jslice_get(v, "none").n && !jslice_kind(jslice_get(v, "none")), "no such key");
	w = jslice_walk(jslice_get(v, "a"));
	tap_ok(!jslice_member(&w, NULL, &value), "a number has no members");
}

static void test_stream(void)
{
	static const char text[] = "\xef\xbb\xbf{}\r\n\n[1]\n";
	struct jslice v;
	size_t at = 0;
	struct err err;

	tap_ok(jslice_next("f", text, strlen(text), &at, &v, &err) == 1 && v.n == 2,
	       "behind a byte order mark");
	tap_ok(jslice_next("f", text, strlen(text), &at, &v, &err) == 1 && v.n == 3,
	       "the second value");
	tap_is_u64(jslice_line(text, (size_t)(v.s - text)), 3, "its line");
	tap_ok(jslice_next("f", text, strlen(text), &at, &v, &err) == 0, "no third");
}

int main(void)
{
	test_refusals();
	test_texts();
	test_put();
	test_walk();
	test_stream();
	return tap_done();
}
