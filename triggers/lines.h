/* Lines of a file image: from bytes to line numbers, from two images to the lines that changed,
 * and where a range of lines is after a change. Line numbers are 1-based. */
#ifndef TRIGGERS_LINES_H
#define TRIGGERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond so many differing lines a diff is not searched any more: everything between the common
 * beginning and the common end counts as changed. */
#define LINES_DIFF_MAX 20000u

/* Steps after which a diff gives up on the part it is looking at, likewise. Below half a second. */
#define LINES_WORK_MAX 150000000ull

/* Where the lines of an image begin. {0} is the empty image. */
struct lines {
	uint64_t *
		at; /* owned: n offsets and the length of the image behind them; NULL when n is 0 */
	size_t n;
};

/* Index @len bytes. Free with lines_done(). */
void lines_index(struct lines *l, const char *data, size_t len);

/* Free; {0} is fine. */
void lines_done(struct lines *l);

/* Lines that bytes [off, off + len) belong to. 0,0 when the range is empty or past the end. */
void lines_of_bytes(const struct lines *l, uint64_t off, uint64_t len, uint64_t *first,
		    uint64_t *last);

/* One changed place: old lines [old_first, old_first + old_n) became new lines
 * [new_first, new_first + new_n). With old_n 0 the new ones stand in front of line old_first. */
struct line_change {
	uint64_t old_first, old_n, new_first, new_n;
};

struct line_changes {
	struct line_change *v; /* owned, in rising order, never adjacent */
	size_t n, cap;
};

/* Differences of two images by Myers' algorithm (An O(ND) Difference Algorithm, 1986) in linear
 * space, bounded by LINES_DIFF_MAX and LINES_WORK_MAX. Free with lines_changes_done(). */
void lines_diff(const char *a, size_t a_len, const char *b, size_t b_len, struct line_changes *out);

/* Free; {0} is fine. */
void lines_changes_done(struct line_changes *c);

/* A range of lines that follows its file. Collapsed (all its lines are gone) when last < first:
 * then it is the gap in front of line first. */
struct line_range {
	uint64_t first, last;
};

/* How many lines of @r the changes touch: old lines that are gone or new lines in its middle,
 * whichever are more. For a collapsed range: the lines of a change at its place. *first,*last are
 * the touched lines in old numbers (0,0 when nothing is touched). */
uint64_t lines_touched(const struct line_changes *c, struct line_range r, uint64_t *first,
		       uint64_t *last);

/* Where @r is after the changes: it keeps lines added in its middle, shrinks by what was deleted,
 * collapses when nothing is left, and takes up what is put at the place of a collapsed one. */
struct line_range lines_follow(const struct line_changes *c, struct line_range r);

#endif
