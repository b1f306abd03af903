/* jdoc.c and jedit.c: what is JSON and what is not, reading values, and edits that leave all other
 * bytes as they were. */
#include "gateway/jedit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static void refused(void)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "line 1, column 1: value expected" },
		{ "{", "key expected" },
		{ "[1,]", "value expected" },
		{ "{\"a\":1,}", "key expected" },
		{ "{\"a\" 1}", "':' expected" },
		{ "[1 2]", "',' or the end" },
		{ "[1]x", "text behind" },
		{ "\"a", "without end" },
		{ "\"\\x\"", "unknown escape" },
		{ "\"\\u12g4\"", "bad \\u" },
		{ "\"a\nb\"", "control character" },
		{ "01", "text behind" },
		{ "-", "digit expected" },
		{ "1.", "digit expected" },
		{ "1e", "digit expected" },
		{ "tru", "value expected" },
		{ "nul", "value expected" },
		{ "{\n\"a\":\n  tru}", "line 3, column 3" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct jdoc d;
		struct err err = { 0 };
		int rc = jdoc_parse(&d, rows[i].text, strlen(rows[i].text), &err);

		tap_ok(rc == -ERR_INPUT && strstr(err.text, rows[i].why), "refused: %s", err.text);
		jdoc_done(&d);
	}
	struct jdoc d;
	struct err err = { 0 };
	char deep[JDOC_DEPTH_MAX * 2 + 3];

	memset(deep, '[', JDOC_DEPTH_MAX + 1);
	memset(deep + JDOC_DEPTH_MAX + 1, ']', JDOC_DEPTH_MAX + 1);
	tap_ok(jdoc_parse(&d, deep, 2 * JDOC_DEPTH_MAX + 2, &err) == -ERR_INPUT, "too deep");
	tap_ok(jdoc_parse(&d, deep + 1, 2 * JDOC_DEPTH_MAX, &err) == 0, "as deep as may be");
	jdoc_done(&d);
}

#define DOC                                                                                        \
	" {\"a\": [1, \"two\", {\"b\": null}], \"k\\u0065y\": \"\\u0000 \\ud800 \\ud83d\\ude00 "   \
	"\\\"\\n\xff\", \"n\":18446744073709551615, \"t\":true, \"n2\": 4096.00, \"dup\":1, "      \
	"\"dup\":2, \"deep\": {\"x\": {\"y\": -1}}, \"e\": {}, \"big\": 18446744073709551616} "

static void values(void)
{
	struct jdoc d;
	struct err err = { 0 };
	auto_buf b = BUF_INIT(1000);
	auto_free char *s = NULL;
	uint64_t v = 7;
	uint32_t a, n = 0;

	if (!tap_ok(jdoc_parse(&d, DOC, strlen(DOC), &err) == 0, "read %s", err.text))
		return;
	a = jdoc_get(&d, 0, "a");
	tap_ok(jdoc_kind(&d, 0) == J_OBJECT && jdoc_kind(&d, a) == J_ARRAY && d.v[a].n == 3,
	       "kinds");
	jdoc_each (c, &d, a)
		n++;
	tap_is_u64(n, 3, "children");
	tap_ok(jdoc_is(&d, jdoc_next(&d, a, jdoc_first(&d, a)), "two"), "the second");
	s = jdoc_strdup(&d, jdoc_get(&d, 0, "key"));
	tap_is_str(s, "\xef\xbf\xbd \xef\xbf\xbd \xf0\x9f\x98\x80 \"\n\xef\xbf\xbd",
		   "an escaped key; NUL, lone surrogate, bad byte become U+FFFD");
	tap_ok(jdoc_key(&d, jdoc_get(&d, 0, "key"), &b) == 0 && str_eq(buf_str(&b), "key"), "key");
	tap_ok(jdoc_key(&d, 0, &b) < 0 && jdoc_key(&d, jdoc_first(&d, a), &b) < 0, "no key");
	tap_ok(jdoc_u64(&d, jdoc_get(&d, 0, "n"), &v) == 0 && v == UINT64_MAX, "largest number");
	tap_ok(jdoc_u64(&d, jdoc_get(&d, 0, "n2"), &v) == 0 && v == 4096, "4096.00 is whole");
	tap_ok(jdoc_u64(&d, jdoc_get(&d, 0, "big"), &v) < 0 && v == 4096, "too large");
	tap_ok(jdoc_u64(&d, jdoc_path(&d, 0, "deep.x.y"), &v) < 0, "negative");
	tap_ok(jdoc_u64(&d, a, &v) < 0 && jdoc_u64(&d, JNONE, &v) < 0, "no number");
	tap_ok(jdoc_u64(&d, jdoc_get(&d, 0, "dup"), &v) == 0 && v == 2, "the last of two counts");
	tap_ok(jdoc_true(&d, jdoc_get(&d, 0, "t")) && !jdoc_true(&d, a) && !jdoc_true(&d, JNONE),
	       "true");
	tap_ok(jdoc_first(&d, jdoc_get(&d, 0, "e")) == JNONE && jdoc_first(&d, JNONE) == JNONE,
	       "empty has no child");
	tap_ok(jdoc_get(&d, a, "b") == JNONE && jdoc_path(&d, 0, "deep.z.y") == JNONE, "no member");
	tap_ok(!jdoc_strdup(&d, a) && jdoc_str(&d, a, &b) < 0, "no string");
	jdoc_done(&d);
}

enum op { END, REPLACE, REMOVE, INSERT, SET };

struct step {
	enum op op;
	const char *at;   /* path of the container or value, "" = root */
	int child;        /* number of the child, -1 = none */
	const char *text; /* key=json for SET */
};

/* clang-format off */
static const struct {
	const char *doc;
	struct step step[5];
	const char *want;
} edits[] = {
	{ "{\"a\": 1,  \"b\":\t2}", { { REPLACE, "a", 0, "[ ]" } }, "{\"a\": [ ],  \"b\":\t2}" },
	{ "[1, 2 ,3]", { { REMOVE, "", 0, 0 } }, "[2 ,3]" },
	{ "[1, 2 ,3]", { { REMOVE, "", 1, 0 } }, "[1 ,3]" },
	{ "[1, 2 ,3 ]", { { REMOVE, "", 2, 0 } }, "[1, 2 ]" },
	{ "[1, 2 ,3 ]", { { REMOVE, "", 2, 0 }, { REMOVE, "", 1, 0 } }, "[1 ]" },
	{ "[1, 2 ,3 ]", { { REMOVE, "", 0, 0 }, { REMOVE, "", 1, 0 } }, "[3 ]" },
	{ "[1, 2 ,3 ]", { { REMOVE, "", 0, 0 }, { REMOVE, "", 2, 0 } }, "[2 ]" },
	{ "[1,2]", { { REMOVE, "", 0, 0 }, { REMOVE, "", 1, 0 } }, "[]" },
	{ "[1,2]", { { REMOVE, "", 0, 0 }, { REMOVE, "", 0, 0 } }, "[2]" },
	{ "[1,2]", { { REMOVE, "", 0, 0 }, { REMOVE, "", 1, 0 }, { INSERT, "", -1, "8" } }, "[8]" },
	{ "[1,2]", { { REMOVE, "", 0, 0 }, { INSERT, "", 0, "8" } }, "[8,2]" },
	{ "[1,2]", { { REMOVE, "", 1, 0 }, { INSERT, "", 1, "8" }, { INSERT, "", 1, "9" } },
	  "[1,8,9]" },
	{ "[1, 2]", { { INSERT, "", 0, "8" }, { INSERT, "", 0, "9" }, { INSERT, "", -1, "7" } },
	  "[7,1,8,9, 2]" },
	{ "[ ]", { { INSERT, "", -1, "8" }, { INSERT, "", -1, "9" } }, "[8,9 ]" },
	{ "[1,2]", { { REMOVE, "", 0, 0 }, { INSERT, "", -1, "7" } }, "[7,2]" },
	{ "{}", { { SET, "", -1, "a=1" }, { SET, "", -1, "b=2" }, { SET, "", -1, "a=3" } },
	  "{\"b\":2,\"a\":3}" },
	{ "{\"a\":1,\"b\":2}", { { SET, "", -1, "a=5" }, { SET, "", -1, "c=6" } },
	  "{\"a\":5,\"b\":2,\"c\":6}" },
	{ "{\"a\":1,\"b\":2,\"\\u0061\":3}", { { SET, "", -1, "a=5" } }, "{\"b\":2,\"\\u0061\":5}" },
	{ "{\"a\":1}", { { REMOVE, "", 0, 0 }, { SET, "", -1, "b=2" } }, "{\"b\":2}" },
	{ "{\"a\":1}", { { SET, "", -1, "a=5" }, { SET, "", -1, "a=6" } }, "{\"a\":6}" },
	{ "{\"a\":[1,[2,3]]}", { { REMOVE, "a", 0, 0 }, { SET, "", -1, "c=6" } },
	  "{\"a\":[[2,3]],\"c\":6}" },
	{ "{\"a\":[1,2]}", { { REMOVE, "", 0, 0 }, { REMOVE, "a", 0, 0 } }, NULL },
	{ "{\"a\":\"\\u0000\\ud800 1e400\",\"b\":12345678901234567890123}",
	  { { SET, "", -1, "c=1" } },
	  "{\"a\":\"\\u0000\\ud800 1e400\",\"b\":12345678901234567890123,\"c\":1}" },
	{ "[1]", { { SET, "", -1, "c=1" } }, "[1]" },
};
/* clang-format on */

static uint32_t child_of(const struct jdoc *d, uint32_t at, int n)
{
	uint32_t c = n < 0 ? JNONE : jdoc_first(d, at);

	while (n-- > 0)
		c = jdoc_next(d, at, c);
	return c;
}

static void change(struct jedit *e, const struct jdoc *d, const struct step *s)
{
	uint32_t at = *s->at ? jdoc_path(d, 0, s->at) : 0, c = child_of(d, at, s->child);

	if (s->op == REPLACE)
		jedit_replace(e, d, at, s->text);
	else if (s->op == REMOVE)
		jedit_remove(e, d, at, c);
	else if (s->op == INSERT)
		jedit_insert(e, d, at, c, s->text);
	else
		jedit_set(e, d, at, (char[]){ s->text[0], 0 }, s->text + 2);
}

static void editing(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		struct jdoc d, again;
		struct jedit e = { 0 };
		auto_buf out = BUF_INIT(1000);
		int rc;

		tap_ok(jdoc_parse(&d, edits[i].doc, strlen(edits[i].doc), NULL) == 0, "read");
		for (const struct step *s = edits[i].step; s->op != END; s++)
			change(&e, &d, s);
		rc = jedit_apply(&e, &d, &out);
		if (!edits[i].want) {
			tap_ok(rc < 0, "changes that overlap are refused");
		} else {
			tap_ok(rc == 0, "applied");
			tap_is_str(buf_str(&out), edits[i].want, edits[i].doc);
			tap_ok(jdoc_parse(&again, buf_str(&out), out.len, NULL) == 0, "valid");
			jdoc_done(&again);
		}
		jedit_done(&e);
		jdoc_done(&d);
	}
}

int main(void)
{
	auto_buf b = BUF_INIT(100), small = BUF_INIT(4);
	struct jdoc d;
	struct jedit e = { 0 };

	refused();
	values();
	editing();
	jedit_quote(&b, "a\"\\\n\x01\xff\0\xc3\xa9", 9);
	tap_is_str(buf_str(&b), "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\"",
		   "quoted");
	tap_ok(jdoc_parse(&d, "[1,2,3]", 7, NULL) == 0 && jedit_apply(&e, &d, &small) < 0,
	       "a full buffer is told");
	jdoc_done(&d);
	return tap_done();
}
