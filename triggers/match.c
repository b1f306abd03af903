#include "triggers/match.h"

#include "triggers/scan.h"

/* A read: lines by bytes, then by what the program was asked to show. False when no line of the
 * region is in it. */
static bool match_read(const struct region_now *r, uint64_t first, uint64_t last,
		       const struct argvrange *shown, bool known, struct match *m)
{
	uint64_t a = 0, b = 0, x, y;

	m->level = TOUCH_BYTES;
	m->bytes = regions_overlap(r, first, last, &m->first, &m->last);
	if (!m->bytes)
		return false;
	if (!known) {
		m->argv = m->bytes;
		return true;
	}
	for (size_t i = 0; i < shown->n; i++) {
		uint64_t from = shown->v[i].first > first ? shown->v[i].first : first;
		uint64_t to = shown->v[i].last < last ? shown->v[i].last : last;
		uint64_t n = from <= to ? regions_overlap(r, from, to, &x, &y) : 0;

		if (!n)
			continue;
		m->argv += n;
		a = a ? a : x;
		b = y;
	}
	if (m->argv) {
		m->level = TOUCH_ARGV;
		m->first = a;
		m->last = b;
	}
	return true;
}

static bool match_open(const struct region_now *r, struct match *m)
{
	bool gone = r->at.last < r->at.first;

	m->level = TOUCH_OPEN;
	m->first = gone ? 0 : r->at.first;
	m->last = gone ? 0 : r->at.last;
	m->bytes = m->argv = MATCH_ALL;
	return true;
}

size_t match_access(const struct region_file *f, const struct access *a, char *const *cmd_argv,
		    const struct argvrange *asked, struct match *out)
{
	struct argvrange shown = { .n = 0 };
	/* What the model asked for is no scan, however many files its process has opened. */
	const char *scan = asked ? NULL : scan_reason(a);
	uint64_t first = 1, last = f->lines.n;
	size_t n = 0;
	int known = 0;

	if (a->kind == ACCESS_READ && f->empty)
		return 0;
	if (a->kind == ACCESS_READ && regions_current(f)) {
		if (a->off || a->len)
			lines_of_bytes(&f->lines, a->off, a->len, &first, &last);
		if (!first)
			return 0;
		known = asked ? 1 : argvrange_in(a->argv, a->exe, cmd_argv, f->lines.n, &shown);
		if (asked)
			shown = *asked;
	}
	for (size_t i = 0; i < f->n; i++) {
		struct match m = { .region = f->region[i].index,
				   .kind = a->kind,
				   .write_only = a->write_only,
				   .scan = scan };
		bool hit = true;

		if (a->kind == ACCESS_OPEN)
			hit = match_open(&f->region[i], &m);
		else if (regions_current(f))
			hit = match_read(&f->region[i], first, last, &shown, known, &m);
		else {
			/* no image: the read may be of anything in the file */
			m.level = TOUCH_BYTES;
			m.bytes = m.argv = MATCH_ALL;
		}
		if (hit)
			out[n++] = m;
	}
	return n;
}

size_t match_edit(const struct region_file *f, const struct line_range *was,
		  const struct line_changes *changes, struct match *out)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct match m = { .region = f->region[i].index,
				   .kind = ACCESS_EDIT,
				   .level = TOUCH_BYTES,
				   .bytes = MATCH_ALL };

		if (changes->n)
			m.bytes = lines_touched(changes, was[i], &m.first, &m.last);
		m.argv = m.bytes;
		if (m.bytes)
			out[n++] = m;
	}
	return n;
}

bool match_region(const struct when *w, uint64_t region)
{
	const uint64_t *v = w->regions.v;

	for (size_t i = 0; i < w->regions.n; i++)
		if (v[i] == region)
			return true;
	return w->regions.n == 0;
}

static uint64_t enough(const struct when *w)
{
	return w->min_overlap ? w->min_overlap : 1;
}

bool match_when(const struct when *w, enum when_event event, const struct match *m)
{
	bool reads = event == WHEN_READ || event == WHEN_READ_OR_EDIT;
	bool edits = event == WHEN_EDIT || event == WHEN_READ_OR_EDIT;

	if (w->touch == TOUCH_SWE_TOUCH_1 || !match_region(w, m->region))
		return false;
	if (m->scan && !w->count_scans)
		return false;
	switch (m->kind) {
	case ACCESS_OPEN:
		return event == WHEN_OPEN || (reads && w->touch == TOUCH_OPEN && !m->write_only);
	case ACCESS_READ:
		return reads && w->touch != TOUCH_OPEN &&
		       (w->touch == TOUCH_ARGV ? m->argv : m->bytes) >= enough(w);
	case ACCESS_EDIT:
		return edits && m->bytes >= enough(w);
	}
	return false;
}

bool match_swetouch(const struct when *w, enum when_event event, const struct swetouch_event *ev,
		    const struct region_now *r)
{
	uint64_t x, y;

	if (w->touch != TOUCH_SWE_TOUCH_1 || !match_region(w, r->index))
		return false;
	if (ev->edit ? event != WHEN_EDIT && event != WHEN_READ_OR_EDIT
		     : event != WHEN_READ && event != WHEN_READ_OR_EDIT)
		return false;
	return !ev->first || regions_overlap(r, ev->first, ev->last, &x, &y) >= enough(w);
}
