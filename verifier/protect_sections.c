/* Files of sections, INI and TOML: the runner's sections are the base's, everything else is the patch's, byte for
 * byte. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/toml.h"
#include "verifier/protect_internal.h"

#define NAME_MAX_BYTES 256 /* of a section; a longer one is nobody's */
#define SECTIONS_MAX   4096

/* A section with its header line, up to the next header. */
struct part {
	const char *p;
	size_t n, head; /* bytes in all, and of the header line */
	char name[NAME_MAX_BYTES];
	const struct protect_section *rule; /* NULL = nothing of it is the runner's */
};

struct parts {
	struct part *v; /* owned; v[0] is what stands before the first header */
	size_t n;
};

/* Where a scan of TOML is: "[" is a header only at the start of a line outside all of these. */
struct scan {
	char quote; /* of a string of several lines, 0 = none */
	unsigned open;
};

/* "[ tool . "pytest" ]" to "tool.pytest". */
static void name_of(const char *line, size_t n, bool toml, char out[NAME_MAX_BYTES])
{
	const char *end = memchr(line, ']', n);
	size_t used = 0;

	out[0] = '\0';
	for (const char *p = line; end && p < end; p++) {
		if (*p == '[' || (toml && strchr(" \t\"'", *p)))
			continue;
		if (used + 1 >= NAME_MAX_BYTES) {
			out[0] = '\0';
			return;
		}
		out[used++] = *p;
		out[used] = '\0';
	}
}

/* Bytes of the string that begins at @p: one line, or (then *ret_multi) its opening only. */
static size_t string_skip(const char *p, size_t n, bool *ret_multi)
{
	char q = *p;
	size_t i = 1;

	*ret_multi = n >= 3 && p[1] == q && p[2] == q;
	if (*ret_multi)
		return 3;
	for (; i < n && p[i] != q && p[i] != '\n'; i++)
		i += q == '"' && p[i] == '\\' && i + 1 < n;
	return i < n && p[i] == q ? i + 1 : i;
}

/* Follow one line of TOML. */
static void scan_line(struct scan *s, const char *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		bool multi;

		if (s->quote) {
			if (p[i] == '\\' && s->quote == '"') {
				i += 2;
			} else if (n - i >= 3 && p[i] == s->quote && p[i + 1] == s->quote &&
				   p[i + 2] == s->quote) {
				i += 3;
				while (i < n && p[i] == s->quote)
					i++; /* up to two quotes may stand before the end */
				s->quote = 0;
			} else {
				i++;
			}
			continue;
		}
		if (p[i] == '#')
			return;
		if (p[i] == '"' || p[i] == '\'') {
			char q = p[i];

			i += string_skip(p + i, n - i, &multi);
			s->quote = multi ? q : 0;
			continue;
		}
		s->open += p[i] == '[' || p[i] == '{';
		s->open -= s->open && (p[i] == ']' || p[i] == '}');
		i++;
	}
}

static const struct protect_section *rule_of(const struct protect_section *rules, const char *name,
					     bool toml)
{
	for (; *name && rules->name; rules++) {
		size_t n = strlen(rules->name);
		bool star = rules->name[n - 1] == '*';

		if (strncmp(name, rules->name, star ? n - 1 : n) == 0 &&
		    (star || !name[n] || (toml && name[n] == '.')))
			return rules;
	}
	return NULL;
}

static bool is_header(const char *p, size_t n, bool toml, const struct scan *s)
{
	size_t blanks = 0;

	if (!toml)
		return n && *p == '[';
	while (blanks < n && (p[blanks] == ' ' || p[blanks] == '\t'))
		blanks++;
	return blanks < n && p[blanks] == '[' && !s->quote && !s->open;
}

/* Cut @n bytes into parts. 0, or -1 when there are too many. */
static int cut(const char *text, size_t n, const struct protect_section *rules, bool toml,
	       struct parts *ret)
{
	struct scan s = { 0 };
	struct part *cur;

	ret->v = mem_zalloc(SECTIONS_MAX + 1, sizeof(*ret->v));
	ret->n = 1;
	cur = ret->v;
	cur->p = text;
	for (size_t at = 0; at < n;) {
		const char *p = text + at, *nl = memchr(p, '\n', n - at);
		size_t len = nl ? (size_t)(nl + 1 - p) : n - at;

		if (is_header(p, len, toml, &s)) {
			if (ret->n > SECTIONS_MAX)
				return -1;
			cur = &ret->v[ret->n++];
			cur->p = p;
			cur->head = len;
			name_of(p, len, toml, cur->name);
			cur->rule = rule_of(rules, cur->name, toml);
		} else if (toml) {
			scan_line(&s, p, len);
		}
		cur->n += len;
		at += len;
	}
	return 0;
}

static void parts_done(struct parts *p)
{
	free(p->v);
}

static void add_line_end(struct buf *out)
{
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addc(out, '\n');
}

/* The key that begins the line, or nothing: "key = value", "key.sub = value". */
static size_t key_of(const char *p, size_t n, const char **key)
{
	size_t i = 0, len;

	while (i < n && strchr(" \t\"'", p[i]))
		i++;
	*key = p + i;
	len = 0;
	while (i + len < n && !strchr("\"'.= \t\n#", p[i + len]))
		len++;
	return len;
}

/* Lines of @part: those whose keys are the runner's (@runner), or the others. A value of several lines goes
 * with its key. */
static void put_lines(const struct part *part, const char *keys, bool runner, struct buf *out)
{
	struct scan s = { 0 };
	bool take = !runner;

	for (size_t at = part->head; at < part->n;) {
		const char *p = part->p + at, *key, *nl = memchr(p, '\n', part->n - at);
		size_t len = nl ? (size_t)(nl + 1 - p) : part->n - at, n;

		if (!s.quote && !s.open) {
			n = key_of(p, len, &key);
			take = (n && protect_listed(keys, key, n)) == runner;
		}
		scan_line(&s, p, len);
		if (take) {
			add_line_end(out);
			buf_add(out, p, len);
		}
		at += len;
	}
}

static bool whole(const struct part *p)
{
	return p->rule && !p->rule->keys;
}

/* All whole sections of the runner in one text, for comparing and for putting in. */
static void put_whole(const struct parts *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!whole(&p->v[i]))
			continue;
		add_line_end(out);
		buf_add(out, p->v[i].p, p->v[i].n);
	}
}

/* The keys of the section called @name that are the runner's. Caller frees. */
static char *keys_of(const struct parts *base, const char *name, const char *keys)
{
	auto_buf list = BUF_INIT(PROTECT_MERGE_MAX);
	struct scan s = { 0 };

	if (!str_eq(keys, PROTECT_OLD_KEYS))
		return mem_strdup(keys);
	for (size_t i = 0; i < base->n; i++) {
		const struct part *part = &base->v[i];

		if (!str_eq(part->name, name))
			continue;
		for (size_t at = part->head; at < part->n;) {
			const char *p = part->p + at, *key, *nl = memchr(p, '\n', part->n - at);
			size_t len = nl ? (size_t)(nl + 1 - p) : part->n - at, n;

			if (!s.quote && !s.open) {
				n = key_of(p, len, &key);
				if (n)
					buf_addf(&list, "%.*s|", (int)n, key);
			}
			scan_line(&s, p, len);
			at += len;
		}
	}
	return buf_steal(&list, NULL);
}

/* All lines with one of @keys in sections called @name. */
static void put_keys(const struct parts *p, const char *name, const char *keys, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].rule && str_eq(p->v[i].name, name))
			put_lines(&p->v[i], keys, true, out);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

/* A section of which only some keys are the runner's. */
static void put_mixed(const struct part *part, const struct parts *base, struct buf *out)
{
	auto_buf old = BUF_INIT(PROTECT_MERGE_MAX), now = BUF_INIT(PROTECT_MERGE_MAX);
	auto_free char *keys = keys_of(base, part->name, part->rule->keys);

	put_keys(base, part->name, keys, &old);
	put_lines(part, keys, true, &now);
	if (same(&old, &now)) {
		buf_add(out, part->p, part->n);
		return;
	}
	buf_add(out, part->p, part->head);
	add_line_end(out);
	buf_add(out, buf_str(&old), old.len);
	put_lines(part, keys, false, out);
}

/* The patch's text with the base's runner sections, put where the patch has its first one. */
static void join(const struct parts *base, const struct parts *now, struct buf *out)
{
	auto_buf old = BUF_INIT(PROTECT_MERGE_MAX), new = BUF_INIT(PROTECT_MERGE_MAX);
	bool done, keep;

	put_whole(base, &old);
	put_whole(now, &new);
	keep = same(&old, &new);
	done = keep;
	for (size_t i = 0; i < now->n; i++) {
		const struct part *p = &now->v[i];

		if (whole(p) && !keep) {
			if (!done) {
				add_line_end(out);
				buf_add(out, buf_str(&old), old.len);
			}
			done = true;
			continue;
		}
		add_line_end(out);
		if (p->rule && p->rule->keys)
			put_mixed(p, base, out);
		else
			buf_add(out, p->p, p->n);
	}
	if (!done && old.len) {
		add_line_end(out);
		buf_add(out, buf_str(&old), old.len);
	}
}

static int merge(const struct protect_file *f, const struct protect_section *rules, bool toml,
		 struct buf *out)
{
	__attribute__((cleanup(parts_done))) struct parts base = { 0 }, now = { 0 };

	if (cut(f->before ? f->before : "", f->before_len, rules, toml, &base) < 0 ||
	    cut(f->after, f->after_len, rules, toml, &now) < 0)
		return 0;
	join(&base, &now, out);
	return !out->full;
}

int protect_merge_ini(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	(void)all;
	return merge(f, arg, false, out);
}

/* The value at dotted @path, NULL when there is none. */
static const cJSON *at_path(const cJSON *root, const char *path)
{
	while (root && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = mem_strndup(path, n);

		root = cJSON_IsObject(root) ? cJSON_GetObjectItemCaseSensitive(root, key) : NULL;
		path += n;
		path += *path == '.';
	}
	return root;
}

static bool equal(const cJSON *a, const cJSON *b)
{
	return (!a && !b) || (a && b && cJSON_Compare(a, b, true));
}

static bool equal_keys(const cJSON *a, const cJSON *b, const char *keys)
{
	const cJSON *item;

	if (str_eq(keys, PROTECT_OLD_KEYS)) {
		cJSON_ArrayForEach (item, a)
			if (!equal(item, cJSON_GetObjectItemCaseSensitive(b, item->string)))
				return false;
		return true;
	}
	while (*keys) {
		size_t n = strcspn(keys, "|");
		auto_free char *key = mem_strndup(keys, n);

		if (!equal(at_path(a, key), at_path(b, key)))
			return false;
		keys += n;
		keys += *keys == '|';
	}
	return true;
}

/* TOML says one thing in many ways (dotted keys, inline tables, quoted keys), so that the outcome is
 * judged by what it means. */
static bool means_same(const struct protect_file *f, const struct protect_section *rules,
		       const struct buf *out)
{
	struct json_src old = { 0 }, new = { 0 };
	bool ok = toml_parse("patched", buf_str(out), out->len, &new, NULL) == 0 &&
		  (!f->before || toml_parse("base", f->before, f->before_len, &old, NULL) == 0);

	for (; ok && rules->name; rules++) {
		const cJSON *a = at_path(old.root, rules->name),
			    *b = at_path(new.root, rules->name);

		ok = rules->keys ? equal_keys(a, b, rules->keys) : equal(a, b);
	}
	json_src_done(&old);
	json_src_done(&new);
	return ok;
}

int protect_merge_toml(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	(void)all;
	return merge(f, arg, true, out) && means_same(f, arg, out);
}
