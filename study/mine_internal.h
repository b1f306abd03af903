/* Sets of lines for the miner, and the function around a line. For study/mine*.c only. */
#ifndef STUDY_MINE_INTERNAL_H
#define STUDY_MINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind any line number that is believed. */
#define SPANS_END     1000000000ull
#define SPANS_MAX     100000u /* spans of one file and model */
#define ENCLOSING_MAX 400u    /* lines that a region grows to */

struct span {
	uint64_t first, last;
};

/* Lines of one file, by one model: known ones, and whether an event had no lines at all. */
struct spans {
	struct span *v; /* owned; after mine_spans_settle() in rising order, not touching */
	size_t n, cap;
	bool whole;
};

/* Add lines; first 0 means the whole file. */
void mine_spans_add(struct spans *s, uint64_t first, uint64_t last);

/* Sort, and merge what overlaps or touches. */
void mine_spans_settle(struct spans *s);

/* How many of @n sets hold a line, as runs of equal count in rising order: only runs with at least @least. A
 * whole set holds every line. Into *out (spans that do not overlap, not merged); counts[i] belongs to
 * out->v[i] (caller frees). out->whole: so many sets are whole that every line is held, and no known
 * line limits it. */
void mine_spans_count(const struct spans *const *set, size_t n, size_t least, struct spans *out,
		      uint64_t **counts);

/* Does a set hold one of lines first to last? */
bool mine_spans_hit(const struct spans *s, uint64_t first, uint64_t last);

/* Free; {0} is fine. */
void mine_spans_done(struct spans *s);

/* The function around line *first == *last of @n bytes @text of file @path: by indentation, or by braces.
 * False when there is none, or it is longer than ENCLOSING_MAX. */
bool mine_enclosing(const char *path, const char *text, size_t n, uint64_t *first, uint64_t *last);

#endif
