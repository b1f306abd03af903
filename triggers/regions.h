/* The critical regions of a scenario in their files as they are now: present contents, line index,
 * and the present lines of every region, kept right over all edits. Files without a region can be
 * followed in the same way. */
#ifndef TRIGGERS_REGIONS_H
#define TRIGGERS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/map.h"
#include "profiles/scenario.h"
#include "triggers/lines.h"

/* Bytes of a region's file that are kept as its image. A larger file has no image: then every
 * change of it counts for all its regions, and a read cannot be told apart by lines. */
#define REGIONS_IMAGE_MAX (16u << 20)

/* Contents remembered per file. */
#define REGIONS_SNAPSHOTS 64u

struct regions_snapshot {
	char digest[DIGEST_HEX];
	struct line_range *at; /* owned, one per region of the file */
};

/* One region where it is now. */
struct region_now {
	uint64_t index;       /* in scenario.regions */
	struct line_range at; /* collapsed when all its lines are gone */
};

/* A file that holds regions, or is followed without any. */
struct region_file {
	char *path;   /* owned */
	bool present; /* the file is there */
	bool opaque;  /* there, but too large for an image */
	bool empty;   /* there, with no byte in it */
	/* SHA-256 of what is there; "" = nothing is there, or it is opaque and nobody told. */
	char now[DIGEST_HEX];
	/* The last contents that were there. They outlive removal and truncation: git, editors and
	 * shells remove or empty a file and write it again, and its regions are then found by what
	 * it held before. */
	char *image; /* owned; NULL while there was none yet */
	size_t len;
	char image_sha256[DIGEST_HEX]; /* of image, "" without */
	struct lines lines;            /* of image */
	struct region_now *region;     /* owned; NULL when the file is only followed */
	size_t n;
	/* Where the regions were under contents seen before, by digest: bytes that come back (git
	 * checkout, an undo) bring the regions back to where they belong in them. */
	struct regions_snapshot *snapshot; /* owned ring of REGIONS_SNAPSHOTS */
	size_t n_snapshots;
};

/* Life: regions_init() -> regions_load() per file -> queries and regions_set() after each edit ->
 * regions_done(). */
struct regions {
	struct region_file *file; /* owned, one per distinct path; moves when a file is added */
	size_t n, cap;
	size_t n_regions;   /* files that hold regions: they come first */
	struct map by_path; /* hash of the path -> index + 1 */
};

/* Group the scenario's regions by file; no file has an image yet. @sc is borrowed. */
void regions_init(struct regions *rs, const struct scenario *sc);

/* Free; {0} is fine. */
void regions_done(struct regions *rs);

/* Follow file @path too, without a region; it has no image yet. @path (copied) must not be there.
 * Borrowed, until the next one is added. */
struct region_file *regions_add(struct regions *rs, const char *path);

/* File @path, NULL when it is not followed. Borrowed, until the next one is added. */
struct region_file *regions_file(const struct regions *rs, const char *path);

/* First image of @f, without moving its regions. @data is copied; NULL = the file is not there;
 * @opaque = it is there but too large. */
void regions_load(struct region_file *f, const char *data, size_t len, bool opaque);

/* Give the image back: the next one is compared with nothing. */
void regions_forget(struct region_file *f);

/* Is the image of @f other than this? Arguments as regions_load(). */
bool regions_differs(const struct region_file *f, const char *data, size_t len, bool opaque);

/* Is image what the file holds now? */
bool regions_current(const struct region_file *f);

/* Give @f a new image and let its regions follow. *ret_changes are the differences (the caller
 * frees them with lines_changes_done()); empty when nothing can be said about lines: the file went
 * away, became empty or too large, or had no image. The regions stay where they were then.
 * Arguments as regions_load(). */
void regions_set(struct region_file *f, const char *data, size_t len, bool opaque,
		 struct line_changes *ret_changes);

/* How many lines of @r are in [first, last] (1-based), and which. A collapsed region has none. */
uint64_t regions_overlap(const struct region_now *r, uint64_t first, uint64_t last,
			 uint64_t *ret_first, uint64_t *ret_last);

#endif
