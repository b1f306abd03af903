/* The JSON writer: valid JSON for any bytes, and the same bytes back. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static void escapes(void)
{
	static const char *const table[][2] = {
		{ "plain", "plain" },
		{ "\"", "\\\"" },
		{ "\\", "\\\\\\\\" },
		{ "\n\t", "\\n\\t" },
		{ "\r", "\\u000d" },
		{ "\x7f", "\\u007f" },
		{ "\x1b[31m", "\\u001b[31m" },
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "\xff", "\\\\xff" },
		{ "a\xc3", "a\\\\xc3" },
		{ "\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80" },
		{ "\\xff", "\\\\\\\\xff" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		auto_buf b = BUF_INIT(100);

		json_escape(&b, table[i][0], strlen(table[i][0]));
		tap_is_str(buf_str(&b), table[i][1], "escaped form");
	}
}

/* Write @s, parse it with cJSON, undo our layer: the same bytes? */
static bool round_trip(const char *s, size_t n)
{
	auto_buf b = BUF_INIT(1u << 20);
	struct json_w w = { .b = &b };
	cJSON *root;
	bool same = false;
	char *v;

	json_open(&w, NULL, '{');
	json_strn(&w, "k", s, n);
	json_close(&w, '}');
	if (!str_utf8(buf_str(&b), b.len, NULL))
		return false;
	root = cJSON_Parse(buf_str(&b));
	v = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "k"));
	if (v)
		same = json_unescape_bytes(v) == n && memcmp(v, s, n) == 0;
	cJSON_Delete(root);
	return same;
}

static void random_bytes(void)
{
	static const char spice[] = "\\\\x\"u0/ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0";
	unsigned bad = 0, bad_text = 0;
	char s[200];

	srand(7);
	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rand() % sizeof(s);

		for (size_t k = 0; k < n; k++)
			s[k] = (char)(rand() % 256);
		bad += !round_trip(s, n);
		for (size_t k = 0; k < n; k++)
			s[k] = spice[(size_t)rand() % (sizeof(spice) - 1)];
		bad_text += !round_trip(s, n);
	}
	tap_is_u64(bad, 0, "20000 random byte strings come back");
	tap_is_u64(bad_text, 0, "20000 strings of escapes and pieces of UTF-8 come back");
	for (int c = 0; c < 256; c++) {
		s[0] = (char)c;
		if (!round_trip(s, 1))
			tap_ok(false, "byte %02x comes back", (unsigned)c);
	}
	tap_ok(round_trip("", 0), "the empty string comes back");
}

static void unescape(void)
{
	static const char *const table[][2] = {
		{ "\\\\", "\\" },         { "\\xff", "\xff" }, { "\\x4", "\\x4" },
		{ "\\xFF", "\\xFF" },     { "\\", "\\" },      { "\\q", "\\q" },
		{ "a\\\\xff", "a\\xff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		auto_free char *s = mem_strdup(table[i][0]);

		json_unescape_bytes(s);
		tap_is_str(s, table[i][1], "unescaped form");
	}
}

static void write_all(struct json_w *w)
{
	char *list[] = { (char[]){ "a" }, (char[]){ "\n" } };

	json_open(w, NULL, '{');
	json_str(w, "s", "x");
	json_str(w, "none", NULL);
	json_u64(w, "u", UINT64_MAX);
	json_i64(w, "i", INT64_MIN);
	json_bool(w, "t", true);
	json_null(w, "n");
	json_dbl(w, "d", 0.1);
	json_raw(w, "r", "[1]");
	json_strings(w, "l", list, 2);
	json_open(w, "o", '{');
	json_close(w, '}');
	json_open(w, "a", '[');
	json_u64(w, NULL, 1);
	json_open(w, NULL, '[');
	json_close(w, ']');
	json_close(w, ']');
	json_close(w, '}');
}

static void forms(void)
{
	auto_buf flat = BUF_INIT(4096), pretty = BUF_INIT(4096);
	struct json_w wf = { .b = &flat }, wp = { .b = &pretty, .pretty = true };
	cJSON *a, *b;

	write_all(&wf);
	write_all(&wp);
	tap_is_str(
		buf_str(&flat),
		"{\"s\":\"x\",\"none\":null,\"u\":18446744073709551615,\"i\":-9223372036854775808,"
		"\"t\":true,\"n\":null,\"d\":0.1,\"r\":[1],\"l\":[\"a\",\"\\n\"],\"o\":{},"
		"\"a\":[1,[]]}",
		"the flat form");
	tap_ok(strstr(buf_str(&pretty), "{\n  \"s\": \"x\",\n  \"none\": null,"),
	       "the pretty form");
	a = cJSON_Parse(buf_str(&flat));
	b = cJSON_Parse(buf_str(&pretty));
	tap_ok(a && b && cJSON_Compare(a, b, true), "both forms say the same");
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void doubles(void)
{
	static const double v[] = { 0, 1, -1, 0.1, 1.0 / 3, 1e300, 5e-324, 123456789.125, -0.25 };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		auto_buf b = BUF_INIT(100);
		struct json_w w = { .b = &b };

		json_dbl(&w, NULL, v[i]);
		tap_ok(memcmp(&v[i], &(double){ strtod(buf_str(&b), NULL) }, sizeof(double)) == 0,
		       "%s reads back", buf_str(&b));
	}
	for (int i = 0; i < 2; i++) {
		auto_buf b = BUF_INIT(100);
		struct json_w w = { .b = &b };

		json_dbl(&w, NULL, i ? NAN : INFINITY);
		tap_is_str(buf_str(&b), "null", "what JSON cannot say is null");
	}
}

int main(void)
{
	escapes();
	random_bytes();
	unescape();
	forms();
	doubles();
	return tap_done();
}
