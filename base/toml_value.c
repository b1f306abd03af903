#include "base/toml_internal.h"

#include <string.h>

#include "base/mem.h"

/* What may stand in a string as it is: everything but control characters; tab, and in multi-line strings line
 * ends, apart. The text is UTF-8 already. */
static bool is_control(char c)
{
	unsigned char u = (unsigned char)c;

	return (u < 0x20 && u != '\t') || u == 0x7f;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add_utf8(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_addc(b, (char)c);
	} else if (c < 0x800) {
		buf_addc(b, (char)(0xc0 | c >> 6));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addc(b, (char)(0xe0 | c >> 12));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_addc(b, (char)(0xf0 | c >> 18));
		buf_addc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* "\uXXXX" or "\UXXXXXXXX"; p->at is behind the letter. */
static int code_point(struct toml *p, unsigned digits, size_t from)
{
	uint32_t c = 0;

	for (unsigned i = 0; i < digits; i++) {
		int v = p->at < p->n ? hex_value(p->text[p->at]) : -1;

		if (v < 0)
			return toml_fail(p, from, "\\u needs four hex digits, \\U eight");
		c = c << 4 | (uint32_t)v;
		p->at++;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return toml_fail(p, from, "this escape is no Unicode character");
	if (c == 0)
		return toml_fail(p, from, "\\u0000 is not allowed in a string");
	add_utf8(&p->tmp, c);
	return 0;
}

/* A backslash at the end of a line of a multi-line string takes away all white space that follows. 1 when
 * there is one. */
static int line_continues(struct toml *p)
{
	size_t start = p->at;

	p->at++;
	toml_blanks(p);
	if (!toml_newline(p)) {
		p->at = start;
		return 0;
	}
	do
		toml_blanks(p);
	while (toml_newline(p));
	return 1;
}

static int escape(struct toml *p, bool multi)
{
	static const char letters[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
	size_t from = p->at;
	const char *at;
	char c;

	if (multi && line_continues(p))
		return 0;
	if (p->at + 1 >= p->n)
		return toml_fail(p, from, "the string does not end");
	c = p->text[p->at + 1];
	p->at += 2;
	if (c == 'u' || c == 'U')
		return code_point(p, c == 'u' ? 4 : 8, from);
	at = c ? strchr(letters, c) : NULL;
	if (!at)
		return toml_fail(p, from, "unknown escape; \\\\ is a backslash");
	buf_addc(&p->tmp, bytes[at - letters]);
	return 0;
}

/* The closing quotes of a multi-line string, if they stand here: up to two more of them belong to the text. */
static bool multi_end(struct toml *p, char quote)
{
	size_t k = 0;

	while (k < 5 && p->at + k < p->n && p->text[p->at + k] == quote)
		k++;
	if (k < 3)
		return false;
	for (size_t i = 3; i < k; i++)
		buf_addc(&p->tmp, quote);
	p->at += k;
	return true;
}

/* Contents of a string whose opening quotes are behind us. */
static int contents(struct toml *p, char quote, bool multi, size_t from)
{
	while (p->at < p->n) {
		char c = p->text[p->at];

		if (c == quote && (!multi || multi_end(p, quote))) {
			p->at += !multi;
			return 0;
		}
		if (multi && toml_newline(p)) {
			buf_addc(&p->tmp, '\n');
		} else if (c == '\\' && quote == '"') {
			if (escape(p, multi) < 0)
				return -ERR_INPUT;
		} else if (is_control(c)) {
			return toml_fail(p, p->at,
					 c == '\n' ? "the string does not end in its line"
						   : "control character in a string");
		} else {
			buf_addc(&p->tmp, c);
			p->at++;
		}
	}
	return toml_fail(p, from, "the string does not end");
}

int toml_string(struct toml *p)
{
	char quote = p->text[p->at];
	bool multi = toml_here(p, quote == '"' ? "\"\"\"" : "'''");
	size_t from = p->at;

	buf_clear(&p->tmp);
	p->at += multi ? 3 : 1;
	if (multi)
		toml_newline(p);
	return contents(p, quote, multi, from);
}

static bool is_bare(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

int toml_key(struct toml *p)
{
	size_t from = p->at;

	if (toml_here(p, "\"\"\"") || toml_here(p, "'''"))
		return toml_fail(p, from, "a key cannot be a multi-line string");
	if (toml_here(p, "\"") || toml_here(p, "'"))
		return toml_string(p);
	while (p->at < p->n && is_bare(p->text[p->at]))
		p->at++;
	if (p->at == from)
		return toml_fail(p, from, "expected a key: A-Z a-z 0-9 _ -, or a quoted string");
	buf_clear(&p->tmp);
	buf_add(&p->tmp, p->text + from, p->at - from);
	return 0;
}

/* Into the table that a dotted key names before its last part. */
static int dotted(struct toml *p, cJSON **t, const char *key, size_t at)
{
	cJSON *next = toml_find(p, *t, key);

	if (!next) {
		next = toml_new(TOML_TABLE, TOML_DOTTED);
		toml_put(p, *t, key, next);
	}
	if (!cJSON_IsObject(next) || next->type & TOML_CLOSED)
		return toml_fail(p, at, "this key is a value already and cannot be made a table");
	if (!(next->type & TOML_DOTTED))
		return toml_fail(p, at, "this table has a header of its own; add to it there");
	*t = next;
	return 0;
}

int toml_pair(struct toml *p, cJSON *t, unsigned depth)
{
	auto_free char *key = NULL;
	cJSON *item = NULL;
	size_t at;

	for (;;) {
		at = p->at;
		if (toml_key(p) < 0)
			return -ERR_INPUT;
		free(key);
		key = mem_strdup(buf_str(&p->tmp));
		toml_blanks(p);
		if (!toml_here(p, "."))
			break;
		p->at++;
		toml_blanks(p);
		if (++depth > TOML_DEPTH_MAX)
			return toml_fail(p, at, "more than 64 levels of tables and arrays");
		if (dotted(p, &t, key, at) < 0)
			return -ERR_INPUT;
	}
	if (!toml_here(p, "="))
		return toml_fail(p, p->at, "expected \"=\" behind a key");
	p->at++;
	toml_blanks(p);
	if (toml_find(p, t, key))
		return toml_fail(p, at, "this key is there already");
	if (toml_value(p, depth + 1, &item) < 0)
		return -ERR_INPUT;
	toml_put(p, t, key, item);
	return 0;
}

/* Over blanks, line ends and comments inside an array. */
static int array_gap(struct toml *p)
{
	for (;;) {
		toml_blanks(p);
		if (toml_newline(p))
			continue;
		if (!toml_here(p, "#"))
			return 0;
		if (toml_comment(p) < 0)
			return -ERR_INPUT;
	}
}

static int array(struct toml *p, unsigned depth, cJSON *array)
{
	size_t from = p->at++;

	for (;;) {
		cJSON *item = NULL;

		if (array_gap(p) < 0)
			return -ERR_INPUT;
		if (toml_here(p, "]"))
			break;
		if (toml_value(p, depth + 1, &item) < 0)
			return -ERR_INPUT;
		cJSON_AddItemToArray(array, item);
		if (array_gap(p) < 0)
			return -ERR_INPUT;
		if (toml_here(p, "]"))
			break;
		if (p->at >= p->n)
			return toml_fail(p, from, "the array does not end");
		if (!toml_here(p, ","))
			return toml_fail(p, p->at, "expected \",\" or \"]\"");
		p->at++;
	}
	p->at++;
	return 0;
}

/* What was put into an inline table can no longer be added to. */
static void close_all(cJSON *t)
{
	cJSON *e;

	t->type |= TOML_CLOSED;
	cJSON_ArrayForEach (e, t)
		if (cJSON_IsObject(e) && !(e->type & TOML_CLOSED))
			close_all(e);
}

static int inline_table(struct toml *p, unsigned depth, cJSON *t)
{
	size_t from = p->at++;

	toml_blanks(p);
	while (!toml_here(p, "}")) {
		if (toml_pair(p, t, depth) < 0)
			return -ERR_INPUT;
		toml_blanks(p);
		if (toml_here(p, "}"))
			break;
		if (p->at >= p->n)
			return toml_fail(p, from, "the inline table does not end");
		if (!toml_here(p, ","))
			return toml_fail(p, p->at, "expected \",\" or \"}\" in this line");
		p->at++;
		toml_blanks(p);
		if (toml_here(p, "}"))
			return toml_fail(p, p->at, "a comma ends no inline table");
	}
	p->at++;
	close_all(t);
	return 0;
}

static int boolean(struct toml *p, cJSON **ret)
{
	bool yes = toml_here(p, "true");

	p->at += yes ? 4 : 5;
	*ret = cJSON_CreateBool(yes);
	ensure(*ret, "out of memory");
	toml_mark(*ret, TOML_BOOL);
	return 0;
}

static int nested(struct toml *p, unsigned depth, cJSON **ret)
{
	bool list = toml_here(p, "[");
	int rc;

	if (depth > TOML_DEPTH_MAX)
		return toml_fail(p, p->at, "more than 64 levels of tables and arrays");
	*ret = list ? toml_new(TOML_ARRAY, TOML_CLOSED) : toml_new(TOML_TABLE, TOML_DOTTED);
	rc = list ? array(p, depth, *ret) : inline_table(p, depth, *ret);
	if (rc < 0) {
		cJSON_Delete(*ret);
		*ret = NULL;
	}
	return rc;
}

int toml_value(struct toml *p, unsigned depth, cJSON **ret)
{
	if (toml_here(p, "[") || toml_here(p, "{"))
		return nested(p, depth, ret);
	if (toml_here(p, "\"") || toml_here(p, "'")) {
		if (toml_string(p) < 0)
			return -ERR_INPUT;
		*ret = toml_new_string(buf_str(&p->tmp), TOML_STRING);
		return 0;
	}
	if (toml_here(p, "true") || toml_here(p, "false"))
		return boolean(p, ret);
	return toml_scalar(p, ret);
}
