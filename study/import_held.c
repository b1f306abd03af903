/* The fields of a row that a task holds: how they are read, and how they come back. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"

const struct family *family_find(const char *name)
{
	static const struct family *const all[] = { &family_swebench, &family_multi };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

const struct held *held_of(const struct family *f, struct jslice key)
{
	for (const struct held *h = f->held; h->keys[0]; h++)
		if (jslice_is(key, h->keys[0]) || (h->keys[1] && jslice_is(key, h->keys[1])))
			return h;
	return NULL;
}

static char **text_of(const struct held *h, const struct task *task)
{
	return (char **)((char *)(uintptr_t)task + h->off);
}

static struct strv *list_of(const struct held *h, const struct task *task)
{
	return (struct strv *)((char *)(uintptr_t)task + h->off);
}

void held_clear(const struct held *h, struct task *task)
{
	if (h->list) {
		strv_done(list_of(h, task));
	} else {
		free(*text_of(h, task));
		*text_of(h, task) = NULL;
	}
}

static int take_strings(struct jslice v, struct strv *out)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice e;

	while (jslice_member(&w, NULL, &e)) {
		char *s = jslice_cstr(e);

		if (!s)
			return -1;
		strv_take(out, s);
	}
	return 0;
}

static int take_list(struct jslice v, struct strv *out)
{
	auto_free char *text = NULL;
	struct jslice inner;

	if (jslice_kind(v) == 'n')
		return 0;
	if (jslice_kind(v) == '[')
		return take_strings(v, out);
	text = jslice_cstr(v);
	if (!text)
		return -1;
	if (!text[strspn(text, " \t\r\n")])
		return 0;
	if (jslice_parse("", text, strlen(text), &inner, NULL) == 0 && jslice_kind(inner) == '[')
		return take_strings(inner, out);
	return pylist_parse(text, out);
}

int held_take(const struct held *h, struct jslice v, struct task *task, const char **why)
{
	char kind = jslice_kind(v), *s = NULL;

	held_clear(h, task);
	if (h->list) {
		*why = "a list of strings, or a string that holds one";
		if (take_list(v, list_of(h, task)) == 0)
			return 0;
		held_clear(h, task);
		return -1;
	}
	*why = "a string without NUL bytes";
	if (kind == '"')
		s = jslice_cstr(v);
	else if (kind == '0')
		s = mem_strndup(v.s, v.n);
	*text_of(h, task) = s;
	/* As a task file is read: a commit's name has small letters. */
	for (char *p = s; p && h->off == offsetof(struct task, base_commit) && *p; p++)
		*p |= *p >= 'A' && *p <= 'F' ? 0x20 : 0;
	return s || kind == 'n' ? 0 : -1;
}

int row_take_held(const struct family *f, struct row *row, struct err *err)
{
	struct jslice_walk w = jslice_walk(row->v);
	struct jslice key, value;
	const char *why = NULL;

	for (unsigned n = 0; jslice_member(&w, &key, &value); n++) {
		const struct held *h = held_of(f, key);

		if (n == JSLICE_KEYS_MAX)
			return row_complain(row, err, "more than %u keys", JSLICE_KEYS_MAX);
		if (h && held_take(h, value, &row->task, &why) < 0)
			return row_complain(row, err, "\"%s\": expected %s", h->keys[0], why);
	}
	return 0;
}

static void put_list(const struct strv *list, const char *comma, struct buf *out)
{
	buf_addc(out, '[');
	strv_each (i, list) {
		if (i)
			buf_adds(out, comma);
		jslice_put(out, list->v[i], strlen(list->v[i]));
	}
	buf_addc(out, ']');
}

/* What json.dumps() of Python writes: everything that is not ASCII as \uXXXX. */
static void put_dumps(const struct strv *list, struct buf *out)
{
	auto_buf plain = BUF_INIT(ROWS_TASK_MAX);

	put_list(list, ", ", &plain);
	for (const char *p = buf_str(&plain); *p;) {
		unsigned char c = (unsigned char)*p;
		unsigned n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		unsigned code = n == 1 ? c : c & (0x7fu >> n);

		for (unsigned i = 1; i < n; i++)
			code = code << 6 | ((unsigned char)p[i] & 0x3f);
		p += n;
		if (n == 1)
			buf_addc(out, (char)c);
		else if (code >= 0x10000)
			buf_addf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
				 0xdc00 + ((code - 0x10000) & 0x3ff));
		else
			buf_addf(out, "\\u%04x", code);
	}
}

void held_put(const struct held *h, const struct task *task, bool as_string, struct buf *out)
{
	auto_buf dumps = BUF_INIT(ROWS_TASK_MAX);
	const char *text;

	if (h->list && !as_string) {
		put_list(list_of(h, task), ", ", out);
	} else if (h->list) {
		put_dumps(list_of(h, task), &dumps);
		jslice_put(out, buf_str(&dumps), dumps.len);
	} else {
		text = *text_of(h, task) ? *text_of(h, task) : "";
		jslice_put(out, text, strlen(text));
	}
}

bool held_same(const struct held *h, const struct task *a, const struct task *b)
{
	const struct strv *x = list_of(h, a), *y = list_of(h, b);
	const char *s, *t;

	if (!h->list) {
		s = *text_of(h, a);
		t = *text_of(h, b);
		return strcmp(s ? s : "", t ? t : "") == 0;
	}
	if (x->n != y->n)
		return false;
	strv_each (i, x)
		if (strcmp(x->v[i], y->v[i]) != 0)
			return false;
	return true;
}

char *held_digest(const struct held *h, const struct task *task, char out[DIGEST_HEX])
{
	auto_buf b = BUF_INIT(ROWS_TASK_MAX);

	held_put(h, task, false, &b);
	return digest_bytes(buf_str(&b), b.len, out);
}
