/* package.json: the runner's keys and, where the command runs scripts, those that the base has. The rest stays
 * byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "verifier/protect_internal.h"

#define EDITS_MAX 4096

/* Bytes [from, to) of the text become @text. */
struct edit {
	size_t from, to;
	char *text; /* owned */
};

struct edits {
	const char *base; /* the text that edits count in */
	struct edit v[EDITS_MAX];
	size_t n;
	bool over;
};

static void edit_add(struct edits *e, const char *from, const char *to, char *text)
{
	if (e->n == EDITS_MAX) {
		e->over = true;
		free(text);
		return;
	}
	e->v[e->n++] = (struct edit){ (size_t)(from - e->base), (size_t)(to - e->base), text };
}

static int by_place(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Remove the member from @key to the end of @value, with one of the commas beside it. */
static void edit_remove(struct edits *e, struct jslice object, struct jslice key,
			struct jslice value)
{
	const char *from = key.s, *to = value.s + value.n, *p = to;

	p += strspn(p, " \t\r\n");
	if (*p == ',') {
		to = p + 1 + strspn(p + 1, " \t\r\n");
	} else {
		p = from;
		while (p > object.s && strchr(" \t\r\n", p[-1]))
			p--;
		if (p > object.s && p[-1] == ',')
			from = p - 1;
	}
	edit_add(e, from, to, mem_strdup(""));
}

/* Put a member in front of all others of @object. */
static void edit_insert(struct edits *e, struct jslice object, struct jslice key,
			struct jslice value)
{
	const char *at = object.s + 1;
	bool empty = at[strspn(at, " \t\r\n")] == '}';

	edit_add(e, at, at,
		 mem_printf("\n  %.*s: %.*s%s", (int)key.n, key.s, (int)value.n, value.s,
			    empty ? "" : ","));
}

static bool same(struct jslice a, struct jslice b)
{
	return a.n == b.n && (!a.n || memcmp(a.s, b.s, a.n) == 0);
}

/* Make what @now has under the key of @key what @base has. */
static void settle(struct edits *e, struct jslice base, struct jslice now, const char *name)
{
	struct jslice want = jslice_get(base, name), have = jslice_get(now, name);
	struct jslice_walk w = jslice_walk(want.n ? base : now);
	struct jslice key, value;

	if (same(want, have))
		return;
	while (jslice_member(&w, &key, &value) && !jslice_is(key, name))
		;
	if (want.n && have.n)
		edit_add(e, have.s, have.s + have.n, mem_strndup(want.s, want.n));
	else if (want.n)
		edit_insert(e, now, key, want);
	else
		edit_remove(e, now, key, have);
}

/* Is @name a script that npm runs by itself: around one that the base has, or at an installation? */
static bool runs_by_itself(struct jslice base, const char *name)
{
	static const char own[] = "preinstall|install|postinstall|prepare|preprepare|postprepare|"
				  "prepublish|prepack|postpack|pretest|posttest";

	if (protect_listed(own, name, strlen(name)))
		return true;
	if (strncmp(name, "pre", 3) == 0)
		return jslice_get(base, name + 3).n > 0;
	return strncmp(name, "post", 4) == 0 && jslice_get(base, name + 4).n > 0;
}

static void settle_scripts(struct edits *e, struct jslice base, struct jslice now)
{
	struct jslice old = jslice_get(base, "scripts"), new = jslice_get(now, "scripts");
	struct jslice_walk w = jslice_walk(old);
	struct jslice key, value;

	if (jslice_kind(old) != '{' || jslice_kind(new) != '{') {
		settle(e, base, now, "scripts");
		return;
	}
	while (jslice_member(&w, &key, &value)) {
		auto_free char *name = jslice_cstr(key);

		if (name)
			settle(e, old, new, name);
	}
	w = jslice_walk(new);
	while (jslice_member(&w, &key, &value)) {
		auto_free char *name = jslice_cstr(key);

		if (!name || (!jslice_get(old, name).n && runs_by_itself(old, name)))
			edit_remove(e, new, key, value);
	}
}

static int write_out(struct edits *e, size_t n, struct buf *out)
{
	size_t at = 0;
	bool good = !e->over;

	qsort(e->v, e->n, sizeof(e->v[0]), by_place);
	for (size_t i = 0; i < e->n; i++) {
		/* Two removals side by side can claim the same comma: then better nothing. */
		good &= e->v[i].from >= at;
		if (good) {
			buf_add(out, e->base + at, e->v[i].from - at);
			buf_adds(out, e->v[i].text);
			at = e->v[i].to;
		}
		free(e->v[i].text);
	}
	if (good)
		buf_add(out, e->base + at, n - at);
	return good;
}

/* Does it say each thing once? What of two counts is the reader's choice. Objects with more keys than are looked
 * at count as unclear. */
static bool is_clear(struct jslice v)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice value;
	size_t keys = 0;

	while (jslice_member(&w, NULL, &value))
		keys++;
	return jslice_kind(v) == '{' && keys < JSLICE_KEYS_MAX && !jslice_twice(v).n;
}

static bool scripts_clear(struct jslice v)
{
	struct jslice s = jslice_get(v, "scripts");

	return !s.n || is_clear(s);
}

int protect_merge_package(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	const char *const *keys = arg, *before = f->before ? f->before : "{}";
	auto_free struct edits *e = mem_zalloc(1, sizeof(*e));
	struct jslice base, now, check;

	if (jslice_parse("base", before, f->before ? f->before_len : 2, &base, NULL) < 0 ||
	    jslice_parse("patched", f->after, f->after_len, &now, NULL) < 0 || !is_clear(base) ||
	    !is_clear(now) || !scripts_clear(base) || !scripts_clear(now))
		return 0;
	e->base = f->after;
	for (; *keys; keys++)
		settle(e, base, now, *keys);
	if (all)
		settle_scripts(e, base, now);
	if (!write_out(e, f->after_len, out))
		return 0;
	/* Edits of text: be sure that it is JSON still. */
	return jslice_parse("merged", buf_str(out), out->len, &check, NULL) == 0;
}
