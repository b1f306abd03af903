/* Contents of followed files: what is there now, what changed since it was looked at last, and the
 * files that are followed without holding a region. */
#include "triggers/engine.h"

#include <string.h>

#include "base/mem.h"
#include "triggers/engine_internal.h"
#include "triggers/scan.h"

void engine_look(struct engine *e, const char *path, struct look *l)
{
	struct err ignored;
	uint32_t mode;
	int r;

	*l = (struct look){ .b = BUF_INIT(REGIONS_IMAGE_MAX) };
	r = e->ops->read(e->arg, path, &l->b, &mode, &ignored);
	l->opaque = r < 0;
	if (r > 0) {
		l->data = buf_str(&l->b);
		l->len = l->b.len;
	}
	if (l->opaque && (!e->ops->digest || e->ops->digest(e->arg, path, l->sha256) <= 0))
		l->sha256[0] = '\0';
}

void engine_look_done(struct look *l)
{
	buf_done(&l->b);
	l->data = NULL;
}

bool engine_differs(const struct region_file *f, const struct look *l)
{
	char sum[DIGEST_HEX];

	if (!f->opaque && !l->opaque)
		return regions_differs(f, l->data, l->len, false);
	if (!f->present || (!l->opaque && !l->data))
		return true;
	if (!l->opaque)
		digest_bytes(l->data, l->len, sum);
	else
		memcpy(sum, l->sha256, sizeof(sum));
	/* Where nobody can tell, a report of a change is believed. */
	return !f->now[0] || !sum[0] || strcmp(f->now, sum) != 0;
}

/* What an image costs: an agent may write nothing but newlines. */
static uint64_t cost(const char *data, size_t len)
{
	uint64_t lines = 0;

	for (const char *p = data, *end = data + len; p < end; lines++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	return len + lines * sizeof(uint64_t);
}

/* What @f holds in memory at present. */
static uint64_t held(const struct region_file *f)
{
	return f->n || !f->image ? 0 : f->len + f->lines.n * sizeof(uint64_t);
}

/* Is there no room for this image? Regions always have theirs: a scenario names few files. */
static bool too_much(const struct engine *e, const struct region_file *f, const struct look *l)
{
	return !f->n && l->data && e->held - held(f) + cost(l->data, l->len) > ENGINE_HELD_MAX;
}

/* Take @l as the contents of @f; *changes may be NULL at the first time. */
static void take(struct engine *e, struct region_file *f, const struct look *l,
		 struct line_changes *changes)
{
	bool opaque = l->opaque || too_much(e, f, l);

	e->held -= held(f);
	if (opaque && !f->n)
		regions_forget(f);
	if (changes)
		regions_set(f, l->data, l->len, opaque, changes);
	else
		regions_load(f, l->data, l->len, opaque);
	if (l->opaque)
		memcpy(f->now, l->sha256, sizeof(f->now));
	else if (opaque)
		digest_bytes(l->data, l->len, f->now);
	e->held += held(f);
}

void engine_first_image(struct engine *e, struct region_file *f, const struct look *l)
{
	take(e, f, l, NULL);
	if (f->now[0] && e->ops->image)
		e->ops->image(e->arg, f->path, f->now, l->data, l->len);
}

/* The lines of a new image: those that differ, or all of a file that had nothing before. */
static void lines_of_edit(const struct region_file *f, const struct line_changes *changes,
			  struct edit *ed)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct line_change *v = &changes->v[i];

		ed->first = ed->first ? ed->first : v->new_first;
		ed->last = v->new_first + v->new_n - (v->new_n > 0);
	}
	if (ed->last > f->lines.n)
		ed->last = f->lines.n;
	if (ed->first > ed->last)
		ed->first = ed->last;
}

/* A file that held nothing that is known: all that is in it is new. */
static void all_new(const struct region_file *f, struct line_changes *whole)
{
	MEM_GROW(whole->v, whole->cap, 1);
	whole->v[0] = (struct line_change){ 1, 0, 1, f->lines.n };
	whole->n = 1;
}

void engine_new_image(struct engine *e, struct region_file *f, const struct look *l,
		      const struct doer *who, size_t *ret_n)
{
	auto_free struct line_range *was = mem_zalloc(f->n + 1, sizeof(*was));
	const struct when any = { .event = WHEN_REGION_STATE_CHANGED };
	struct line_changes changes, whole = { 0 };
	bool fresh = !f->image && (!f->present || f->empty);
	char pre[DIGEST_HEX], base[DIGEST_HEX];
	struct edit ed = { .path = f->path,
			   .by_agent = who->by_agent,
			   .pid = who->pid,
			   .cmd = who->cmd,
			   .data = l->data,
			   .len = l->len };

	/* Nothing that waits for regions may come back because of files without any. */
	e->moment += f->n > 0 || patched_has(&e->patched, &any, f->path);
	memcpy(pre, f->now, sizeof(pre));
	memcpy(base, f->image_sha256, sizeof(base));
	for (size_t i = 0; i < f->n; i++)
		was[i] = f->region[i].at;
	take(e, f, l, &changes);
	if (fresh && regions_current(f))
		all_new(f, &whole);
	if (who->by_agent)
		patched_edited(&e->patched, f->path, &changes);
	else
		patched_wrote(&e->patched, who->order, f->path, &changes, f->lines.n);
	ed.changes = fresh ? &whole : &changes;
	lines_of_edit(f, ed.changes, &ed);
	ed.pre = pre[0] ? pre : NULL;
	ed.post = f->now[0] ? f->now : NULL;
	ed.base = base[0] && regions_current(f) && strcmp(base, pre) != 0 ? base : NULL;
	ed.unread = f->present && !f->now[0];
	if (e->ops->edited)
		e->ops->edited(e->arg, &ed);
	*ret_n = who->by_agent && !who->quiet ? match_edit(f, was, &changes, e->match) : 0;
	lines_changes_done(&changes);
	lines_changes_done(&whole);
	for (size_t i = 0; i < *ret_n; i++)
		engine_touch_match(e, f, &e->match[i], who->pid, who->cmd);
}

int engine_index(const struct engine *e, const char *path)
{
	const struct region_file *f = regions_file(&e->regions, path);

	return f ? (int)(f - e->regions.file) : -1;
}

int engine_follow(struct engine *e, const char *path, bool absent)
{
	struct look l = { .b = BUF_INIT(REGIONS_IMAGE_MAX) };
	int i = engine_index(e, path);

	if (i >= 0)
		return i;
	if (!absent)
		engine_look(e, path, &l);
	engine_first_image(e, regions_add(&e->regions, path), &l);
	engine_look_done(&l);
	return (int)e->regions.n - 1;
}

void engine_look_all(struct engine *e, const struct doer *who)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->regions.n && sum < ENGINE_SETTLE_MAX; i++) {
		struct region_file *f = &e->regions.file[i];
		struct look l;
		size_t n;

		engine_look(e, f->path, &l);
		sum += l.opaque ? REGIONS_IMAGE_MAX : l.len;
		/* Of what cannot be compared nothing new is known. */
		if (engine_differs(f, &l) && (l.data || !l.opaque || l.sha256[0]))
			engine_new_image(e, f, &l, who, &n);
		engine_look_done(&l);
	}
}

void engine_settle(struct engine *e)
{
	const struct doer who = { .by_agent = true, .quiet = true };

	engine_look_all(e, &who);
}

const char *engine_scan(const struct engine *e, const struct access *a)
{
	struct argvrange asked;

	return engine_asked_of(e, a->path, a, &asked) ? NULL : scan_reason(a);
}

int engine_shown(const struct engine *e, const struct access *a, uint64_t *first, uint64_t *last)
{
	const struct region_file *f = regions_file(&e->regions, a->path);
	struct argvrange shown = { .n = 0 };

	*first = *last = 0;
	if (!f || !regions_current(f))
		return 0;
	if (!engine_asked_of(e, f->path, a, &shown) &&
	    !argvrange_in(a->argv, a->exe, engine_argv_of(e, a->cmd), f->lines.n, &shown))
		return 0;
	for (size_t i = 0; i < shown.n; i++) {
		uint64_t end = a->first ? a->last : f->lines.n;
		uint64_t from = shown.v[i].first > a->first ? shown.v[i].first : a->first;
		uint64_t to = shown.v[i].last < end ? shown.v[i].last : end;

		if (!from || from > to)
			continue;
		*first = *first ? *first : from;
		*last = to;
	}
	return 1;
}
