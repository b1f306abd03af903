#include "base/toml.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/fd.h"
#include "base/json_internal.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/toml_internal.h"

int toml_fail(struct toml *p, size_t at, const char *what)
{
	return json_at(p->name, p->text, at < p->n ? at : p->n, p->err, what);
}

enum toml_kind toml_kind(const cJSON *item)
{
	return (enum toml_kind)((item->type & TOML_KIND_MASK) >> TOML_KIND_SHIFT);
}

const char *toml_kind_name(enum toml_kind kind)
{
	static const char *const names[] = {
		"table",      "array",      "string",           "bool",
		"integer",    "float",      "offset-date-time", "local-date-time",
		"local-date", "local-time",
	};

	return (size_t)kind < ARRAY_SIZE(names) ? names[kind] : "table";
}

bool toml_integer(const cJSON *item, int64_t *ret)
{
	if (!cJSON_IsNumber(item) || toml_kind(item) != TOML_INTEGER)
		return false;
	/* Beyond 53 bits the digits stand beside the number. */
	*ret = item->valuestring ? strtoll(item->valuestring, NULL, 10)
				 : (int64_t)item->valuedouble;
	return true;
}

cJSON *toml_mark(cJSON *item, enum toml_kind kind)
{
	item->type = (item->type & ~TOML_KIND_MASK) | (int)kind << TOML_KIND_SHIFT;
	return item;
}

/* cJSON says nothing of why it gave NULL; only memory can be the reason here. */
static cJSON *have(cJSON *item)
{
	ensure(item, "out of memory");
	return item;
}

cJSON *toml_new(enum toml_kind kind, int flags)
{
	cJSON *item = have(kind == TOML_TABLE ? cJSON_CreateObject() : cJSON_CreateArray());

	item->type |= flags;
	return toml_mark(item, kind);
}

cJSON *toml_new_string(const char *s, enum toml_kind kind)
{
	return toml_mark(have(cJSON_CreateString(s)), kind);
}

/* FNV-1a over the table's address and the key, from a secret start. */
static uint64_t hash(const struct toml *p, const cJSON *t, const char *key)
{
	uint64_t h = p->seed ^ (uint64_t)(uintptr_t)t * 0x9e3779b97f4a7c15ull;

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3ull;
	return h ? h : 1;
}

cJSON *toml_find(const struct toml *p, const cJSON *t, const char *key)
{
	void *at;

	/* Two under one hash sit at consecutive keys. */
	for (uint64_t h = hash(p, t, key); (at = map_get(&p->index, h)); h++) {
		const struct toml_entry *e = &p->entry[(uintptr_t)at - 1];

		if (e->parent == t && strcmp(e->item->string, key) == 0)
			return e->item;
	}
	return NULL;
}

void toml_put(struct toml *p, cJSON *t, const char *key, cJSON *item)
{
	uint64_t h = hash(p, t, key);
	bool added = cJSON_AddItemToObject(t, key, item);

	ensure(added, "out of memory");
	while (map_get(&p->index, h))
		h++;
	MEM_GROW(p->entry, p->cap, p->n_entries + 1);
	p->entry[p->n_entries++] = (struct toml_entry){ .parent = t, .item = item };
	map_put(&p->index, h,
		(void *)(uintptr_t)p->n_entries); // NOLINT: a position, not an address
}

bool toml_here(const struct toml *p, const char *word)
{
	size_t n = strlen(word);

	return p->n - p->at >= n && memcmp(p->text + p->at, word, n) == 0;
}

void toml_blanks(struct toml *p)
{
	while (p->at < p->n && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
		p->at++;
}

bool toml_newline(struct toml *p)
{
	if (toml_here(p, "\n"))
		p->at++;
	else if (toml_here(p, "\r\n"))
		p->at += 2;
	else
		return false;
	return true;
}

int toml_comment(struct toml *p)
{
	if (!toml_here(p, "#"))
		return 0;
	for (; p->at < p->n && !toml_here(p, "\n") && !toml_here(p, "\r\n"); p->at++) {
		unsigned char c = (unsigned char)p->text[p->at];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return toml_fail(p, p->at, "control character in a comment");
	}
	return 0;
}

/* Behind a header or a pair: a comment and the end of the line. */
static int end_of_line(struct toml *p)
{
	toml_blanks(p);
	if (toml_comment(p) < 0)
		return -ERR_INPUT;
	if (p->at < p->n && !toml_newline(p))
		return toml_fail(p, p->at, "expected the end of the line");
	return 0;
}

static int too_deep(struct toml *p)
{
	return toml_fail(p, p->at, "more than 64 levels of tables and arrays");
}

/* Into table @key of *t for a header "[...KEY.LAST]": an array of tables means its last one. */
static int step(struct toml *p, cJSON **t, unsigned *depth, const char *key, size_t at)
{
	cJSON *next = toml_find(p, *t, key);

	++*depth;
	if (!next) {
		next = toml_new(TOML_TABLE, 0);
		toml_put(p, *t, key, next);
	} else if (toml_kind(next) == TOML_ARRAY && !(next->type & TOML_CLOSED)) {
		/* cJSON keeps the last child as the first one's predecessor. */
		next = next->child->prev;
		++*depth;
	}
	if (!cJSON_IsObject(next) || next->type & TOML_CLOSED)
		return toml_fail(p, at, "this key is a value already and cannot be made a table");
	if (*depth > TOML_DEPTH_MAX)
		return too_deep(p);
	*t = next;
	return 0;
}

/* The table that "[...KEY]" opens. */
static int open_table(struct toml *p, cJSON **t, const char *key, size_t at)
{
	cJSON *old = toml_find(p, *t, key);

	if (old && (!cJSON_IsObject(old) || old->type & TOML_CLOSED))
		return toml_fail(p, at, "this key is a value already and cannot be made a table");
	if (old && old->type & (TOML_DEFINED | TOML_DOTTED))
		return toml_fail(p, at, "this table is defined a second time");
	if (!old) {
		old = toml_new(TOML_TABLE, 0);
		toml_put(p, *t, key, old);
	}
	old->type |= TOML_DEFINED;
	*t = old;
	return 0;
}

/* The new table that "[[...KEY]]" adds. */
static int open_element(struct toml *p, cJSON **t, const char *key, size_t at)
{
	cJSON *array = toml_find(p, *t, key), *element = toml_new(TOML_TABLE, TOML_DEFINED);

	if (array && (toml_kind(array) != TOML_ARRAY || array->type & TOML_CLOSED)) {
		cJSON_Delete(element);
		return toml_fail(p, at,
				 "this key is something else than an array of tables already");
	}
	if (!array) {
		array = toml_new(TOML_ARRAY, 0);
		toml_put(p, *t, key, array);
	}
	cJSON_AddItemToArray(array, element);
	*t = element;
	return 0;
}

/* "[A.B]" or "[[A.B]]": *t becomes the table it opens, *depth its level. */
static int header(struct toml *p, cJSON **t, unsigned *depth)
{
	bool element = toml_here(p, "[[");
	int rc = 0;

	p->at += element ? 2 : 1;
	*t = p->root;
	*depth = 0;
	for (;;) {
		auto_free char *key = NULL;
		size_t at;

		toml_blanks(p);
		at = p->at;
		if (toml_key(p) < 0)
			return -ERR_INPUT;
		key = mem_strdup(buf_str(&p->tmp));
		toml_blanks(p);
		if (toml_here(p, ".")) {
			p->at++;
			rc = step(p, t, depth, key, at);
			if (rc < 0)
				return rc;
			continue;
		}
		if (!toml_here(p, element ? "]]" : "]"))
			return toml_fail(p, p->at, element ? "expected \"]]\"" : "expected \"]\"");
		p->at += element ? 2 : 1;
		*depth += element ? 2 : 1;
		if (*depth > TOML_DEPTH_MAX)
			return too_deep(p);
		rc = element ? open_element(p, t, key, at) : open_table(p, t, key, at);
		return rc < 0 ? rc : end_of_line(p);
	}
}

static int document(struct toml *p)
{
	cJSON *t = p->root;
	unsigned depth = 0;
	int rc = 0;

	while (rc == 0) {
		toml_blanks(p);
		if (toml_newline(p))
			continue;
		if (p->at >= p->n)
			return 0;
		if (toml_here(p, "#"))
			rc = end_of_line(p);
		else if (toml_here(p, "["))
			rc = header(p, &t, &depth);
		else
			rc = toml_pair(p, t, depth) < 0 ? -ERR_INPUT : end_of_line(p);
	}
	return rc;
}

int toml_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err)
{
	struct toml p = { .name = name, .text = text, .n = n, .err = err, .tmp = BUF_INIT(n + 8) };
	size_t bad;
	int rc;

	if (n > TOML_FILE_MAX)
		return err_set(err, ERR_INPUT, "%s: more than %u bytes", name, TOML_FILE_MAX);
	if (!str_utf8(text, n, &bad))
		return toml_fail(&p, bad, "this byte is not UTF-8; save the file as UTF-8");
	if (getrandom(&p.seed, sizeof(p.seed), 0) != sizeof(p.seed))
		p.seed = (uint64_t)(uintptr_t)&p;
	p.root = toml_new(TOML_TABLE, TOML_DEFINED);
	if (toml_here(&p, "\xef\xbb\xbf")) /* byte order mark */
		p.at = 3;
	rc = document(&p);
	map_done(&p.index);
	free(p.entry);
	buf_done(&p.tmp);
	if (rc < 0) {
		cJSON_Delete(p.root);
		return rc;
	}
	ret->name = mem_strdup(name);
	ret->root = p.root;
	return 0;
}

int toml_load(const char *path, struct json_src *ret, struct err *err)
{
	auto_buf b = BUF_INIT(TOML_FILE_MAX);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : toml_parse(path, buf_str(&b), b.len, ret, err);
}
