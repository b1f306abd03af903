#include "triggers/patched.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

static void follow(struct patched *p, const char *path, const struct line_changes *changes)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(p->v[i].path, path))
			p->v[i].at = lines_follow(changes, p->v[i].at);
}

static void add(struct patched *p, uint64_t order, const char *path, struct line_range at)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct patched_place *s = &p->v[i];

		if (s->order == order && s->at.first == at.first && s->at.last == at.last &&
		    str_eq(s->path, path))
			return; /* the same once more */
	}
	if (p->n >= PATCHED_MAX)
		return;
	MEM_GROW(p->v, p->cap, p->n + 1);
	p->v[p->n++] = (struct patched_place){ .order = order, .path = mem_strdup(path), .at = at };
}

void patched_wrote(struct patched *p, uint64_t order, const char *path,
		   const struct line_changes *changes, uint64_t lines)
{
	follow(p, path, changes);
	for (size_t i = 0; i < changes->n; i++) {
		const struct line_change *c = &changes->v[i];

		/* lines that were only deleted leave the gap in front of the next one */
		add(p, order, path,
		    (struct line_range){ c->new_first, c->new_first + c->new_n - 1 });
	}
	if (!changes->n)
		add(p, order, path, (struct line_range){ 1, lines });
}

void patched_edited(struct patched *p, const char *path, const struct line_changes *changes)
{
	for (size_t i = 0; i < p->n; i++) {
		struct patched_place *s = &p->v[i];

		if (!str_eq(s->path, path))
			continue;
		s->first = s->last = 0;
		s->touched = changes->n ? lines_touched(changes, s->at, &s->first, &s->last)
					: UINT64_MAX;
	}
	follow(p, path, changes);
}

static bool wanted(const struct patched_place *s, const struct when *w, const char *path)
{
	return (!w->after || w->after == s->order) && str_eq(s->path, path);
}

bool patched_touched(const struct patched *p, const struct when *w, const char *path,
		     uint64_t *first, uint64_t *last)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct patched_place *s = &p->v[i];

		if (!wanted(s, w, path) || s->touched < (w->min_overlap ? w->min_overlap : 1))
			continue;
		*first = s->first;
		*last = s->last;
		return true;
	}
	return false;
}

bool patched_lines(const struct patched *p, uint64_t order, const char *path, uint64_t *first,
		   uint64_t *last)
{
	bool any = false;

	*first = *last = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct patched_place *s = &p->v[i];

		if (s->order != order || !str_eq(s->path, path) || s->at.last < s->at.first)
			continue;
		*first = any && *first < s->at.first ? *first : s->at.first;
		*last = s->at.last > *last ? s->at.last : *last;
		any = true;
	}
	return any;
}

bool patched_has(const struct patched *p, const struct when *w, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (wanted(&p->v[i], w, path))
			return true;
	return false;
}

void patched_done(struct patched *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].path);
	free(p->v);
	*p = (struct patched){ 0 };
}
