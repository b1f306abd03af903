#include "triggers/regions.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void regions_init(struct regions *rs, const struct scenario *sc)
{
	*rs = (struct regions){ 0 };
	for (size_t i = 0; sc && i < sc->n_regions; i++) {
		const struct region *r = &sc->regions[i];
		struct region_file *f = regions_file(rs, r->path);

		if (!f) {
			f = regions_add(rs, r->path);
			f->region = mem_zalloc(sc->n_regions, sizeof(*f->region));
		}
		f->region[f->n++] = (struct region_now){ i, { r->start, r->end } };
	}
	rs->n_regions = rs->n;
}

struct region_file *regions_add(struct regions *rs, const char *path)
{
	struct region_file *f;

	MEM_GROW(rs->file, rs->cap, rs->n + 1);
	f = &rs->file[rs->n++];
	*f = (struct region_file){ .path = mem_strdup(path) };
	map_put(&rs->by_path, map_hash(path, strlen(path)), (void *)(uintptr_t)rs->n);
	return f;
}

void regions_forget(struct region_file *f)
{
	free(f->image);
	f->image = NULL;
	f->len = 0;
	f->image_sha256[0] = '\0';
	lines_done(&f->lines);
}

/* Remember where the regions are in the present image. */
static void remember(struct region_file *f)
{
	struct regions_snapshot *s;

	if (!f->snapshot)
		f->snapshot = mem_zalloc(REGIONS_SNAPSHOTS, sizeof(*f->snapshot));
	s = &f->snapshot[f->n_snapshots++ % REGIONS_SNAPSHOTS];
	memcpy(s->digest, f->image_sha256, sizeof(s->digest));
	if (!s->at)
		s->at = mem_zalloc(f->n, sizeof(*s->at));
	for (size_t i = 0; i < f->n; i++)
		s->at[i] = f->region[i].at;
}

/* Put the regions where they were when the file last held these bytes. False when it never did. */
static bool recall(struct region_file *f)
{
	size_t n = f->n_snapshots < REGIONS_SNAPSHOTS ? f->n_snapshots : REGIONS_SNAPSHOTS;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(f->snapshot[i].digest, f->image_sha256) != 0)
			continue;
		for (size_t k = 0; k < f->n; k++)
			f->region[k].at = f->snapshot[i].at[k];
		return true;
	}
	return false;
}

void regions_done(struct regions *rs)
{
	for (size_t i = 0; i < rs->n; i++) {
		regions_forget(&rs->file[i]);
		for (size_t k = 0; rs->file[i].snapshot && k < REGIONS_SNAPSHOTS; k++)
			free(rs->file[i].snapshot[k].at);
		free(rs->file[i].snapshot);
		free(rs->file[i].region);
		free(rs->file[i].path);
	}
	free(rs->file);
	map_done(&rs->by_path);
	*rs = (struct regions){ 0 };
}

struct region_file *regions_file(const struct regions *rs, const char *path)
{
	size_t at = (uintptr_t)map_get(&rs->by_path, map_hash(path, strlen(path)));

	if (!at)
		return NULL;
	if (str_eq(rs->file[at - 1].path, path))
		return &rs->file[at - 1];
	/* Two names of one hash: the map knows the later one. */
	for (size_t i = 0; i < rs->n; i++)
		if (str_eq(rs->file[i].path, path))
			return &rs->file[i];
	return NULL;
}

void regions_load(struct region_file *f, const char *data, size_t len, bool opaque)
{
	f->present = data || opaque;
	f->opaque = opaque;
	f->empty = data && !opaque && !len;
	f->now[0] = '\0';
	if (!data || opaque)
		return;
	digest_bytes(data, len, f->now);
	if (!len)
		return;
	regions_forget(f);
	f->image = mem_dup(data, len);
	f->len = len;
	memcpy(f->image_sha256, f->now, sizeof(f->now));
	lines_index(&f->lines, f->image, len);
	if (f->n && !recall(f))
		remember(f);
}

bool regions_current(const struct region_file *f)
{
	return f->present && !f->opaque && !f->empty && f->image;
}

bool regions_differs(const struct region_file *f, const char *data, size_t len, bool opaque)
{
	/* of a file without an image nothing is known, so a report of a change is believed */
	if (opaque || f->opaque)
		return true;
	if (f->present != (data != NULL) || f->empty != (data && !len))
		return true;
	return regions_current(f) && (f->len != len || memcmp(f->image, data, len) != 0);
}

void regions_set(struct region_file *f, const char *data, size_t len, bool opaque,
		 struct line_changes *ret_changes)
{
	*ret_changes = (struct line_changes){ 0 };
	if (f->image && data && len && !opaque) {
		lines_diff(f->image, f->len, data, len, ret_changes);
		for (size_t i = 0; i < f->n; i++)
			f->region[i].at = lines_follow(ret_changes, f->region[i].at);
	}
	regions_load(f, data, len, opaque);
}

uint64_t regions_overlap(const struct region_now *r, uint64_t first, uint64_t last,
			 uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t a = first > r->at.first ? first : r->at.first;
	uint64_t b = last < r->at.last ? last : r->at.last;

	*ret_first = *ret_last = 0;
	if (!first || b < a)
		return 0;
	*ret_first = a;
	*ret_last = b;
	return b - a + 1;
}
