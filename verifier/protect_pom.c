/* Maven's pom.xml: what steers the tests is the base's, text for text; the rest (dependencies, versions, names) is
 * the patch's. Expat tells where elements begin and end and expands nothing from outside. */
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/protect_internal.h"

#define ELEMENTS_MAX 512

/* An element that belongs to the runner: a child of the root, or a child of one whose rule has keys. */
struct element {
	const struct protect_section *rule;
	char name[64];
	size_t from, to;
};

struct pom {
	XML_Parser parser;
	const struct protect_section *rules;
	struct element *v; /* owned */
	size_t n;
	unsigned depth;
	const struct protect_section *inside; /* rule of the child of the root that is open */
	bool taking;                          /* the last element of v is open, at take_depth */
	unsigned take_depth;
	size_t root_open; /* where the root's end tag begins */
	bool odd;         /* too much of something, or a document type, which may say anything */
};

static const struct protect_section *find(const struct protect_section *rules, const char *name)
{
	for (; rules->name; rules++)
		if (strcmp(rules->name, name) == 0)
			return rules;
	return NULL;
}

static void take(struct pom *p, const char *name)
{
	struct element *e;

	if (p->n == ELEMENTS_MAX) {
		p->odd = true;
		return;
	}
	e = &p->v[p->n++];
	e->rule = p->inside;
	(void)strncpy(e->name, name, sizeof(e->name) - 1);
	e->from = (size_t)XML_GetCurrentByteIndex(p->parser);
	p->taking = true;
	p->take_depth = p->depth;
}

static void XMLCALL on_start(void *arg, const XML_Char *name, const XML_Char **attrs)
{
	struct pom *p = arg;

	(void)attrs;
	if (p->depth == 1)
		p->inside = find(p->rules, name);
	if (p->depth == 1 && p->inside && !p->inside->keys)
		take(p, name);
	if (p->depth == 2 && !p->taking && p->inside &&
	    protect_listed(p->inside->keys, name, strlen(name)))
		take(p, name);
	p->depth++;
}

static void XMLCALL on_end(void *arg, const XML_Char *name)
{
	struct pom *p = arg;
	size_t at = (size_t)XML_GetCurrentByteIndex(p->parser);

	(void)name;
	p->depth--;
	if (p->taking && p->depth == p->take_depth) {
		p->v[p->n - 1].to = at + (size_t)XML_GetCurrentByteCount(p->parser);
		p->taking = false;
	}
	if (p->depth == 0)
		p->root_open = at;
}

static void XMLCALL on_doctype(void *arg, const XML_Char *name, const XML_Char *sys,
			       const XML_Char *pub, int internal)
{
	struct pom *p = arg;

	(void)name;
	(void)sys;
	(void)pub;
	(void)internal;
	p->odd = true;
}

/* 1, or 0 when the text is no usable XML. */
static int read_pom(const char *text, size_t n, const struct protect_section *rules,
		    struct pom *ret)
{
	bool good;

	*ret = (struct pom){ .parser = XML_ParserCreate(NULL), .rules = rules };
	if (!ret->parser)
		return 0;
	ret->v = mem_zalloc(ELEMENTS_MAX, sizeof(*ret->v));
	XML_SetUserData(ret->parser, ret);
	XML_SetElementHandler(ret->parser, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(ret->parser, on_doctype);
	good = XML_Parse(ret->parser, text, (int)n, 1) == XML_STATUS_OK && !ret->odd;
	for (size_t i = 0; i < ret->n; i++)
		good &= ret->v[i].to > ret->v[i].from && ret->v[i].to <= n;
	XML_ParserFree(ret->parser);
	return good;
}

static void pom_done(struct pom *p)
{
	free(p->v);
}

/* All runner's elements of one rule, as text. */
static void put_rule(const struct pom *p, const char *text, const struct protect_section *rule,
		     struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].rule != rule)
			continue;
		buf_add(out, text + p->v[i].from, p->v[i].to - p->v[i].from);
		buf_addc(out, '\n');
	}
}

static bool same_rule(const struct pom *a, const char *at, const struct pom *b, const char *bt,
		      const struct protect_section *rule)
{
	/* With a line end for each element: nothing of a file is left out. */
	auto_buf x = BUF_INIT(PROTECT_MERGE_MAX + ELEMENTS_MAX),
		 y = BUF_INIT(PROTECT_MERGE_MAX + ELEMENTS_MAX);

	put_rule(a, at, rule, &x);
	put_rule(b, bt, rule, &y);
	return x.len == y.len && memcmp(buf_str(&x), buf_str(&y), x.len) == 0;
}

int protect_merge_pom(const struct protect_file *f, const void *arg, bool all, struct buf *out)
{
	static const char nothing[] = "<project/>";
	const struct protect_section *rules = arg;
	const char *before = f->before ? f->before : nothing;
	__attribute__((cleanup(pom_done))) struct pom base = { 0 }, now = { 0 };
	size_t at = 0;

	(void)all;
	if (!read_pom(before, f->before ? f->before_len : strlen(nothing), rules, &base) ||
	    !read_pom(f->after, f->after_len, rules, &now))
		return 0;
	for (const struct protect_section *r = rules; r->name; r++)
		/* Keys stand inside an element that is the patch's: no place to put them. */
		if (r->keys && !same_rule(&base, before, &now, f->after, r))
			return 0;
	for (size_t i = 0; i < now.n; i++) {
		const struct element *e = &now.v[i];
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= now.v[k].rule != e->rule;
		if (e->rule->keys || same_rule(&base, before, &now, f->after, e->rule))
			continue;
		buf_add(out, f->after + at, e->from - at);
		if (first)
			put_rule(&base, before, e->rule, out);
		at = e->to;
	}
	buf_add(out, f->after + at, now.root_open - at);
	for (const struct protect_section *r = rules; r->name; r++) {
		bool had = false;

		for (size_t i = 0; i < now.n; i++)
			had |= now.v[i].rule == r;
		if (!had && !r->keys)
			put_rule(&base, before, r, out);
	}
	buf_add(out, f->after + now.root_open, f->after_len - now.root_open);
	return 1;
}
