/* What became of the lines that a user's edit added: over a chain of contents, line by line. */
#ifndef VERIFIER_LINEFATE_H
#define VERIFIER_LINEFATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_fate { FATE_KEPT, FATE_CHANGED, FATE_REMOVED };

struct linefate_line {
	uint64_t line; /* in the contents right after the edit, from 1 */
	enum line_fate fate;
	bool bare; /* no letter and no digit in it: a brace, an empty line; says little by itself */
	size_t step; /* index into the chain where it was lost; 0 when kept */
	uint64_t at; /* line in the last contents when kept, 0 otherwise */
};

struct linefate {
	struct linefate_line *v; /* owned: every line that the edit added */
	size_t n;
	uint64_t kept, changed, removed;
	uint64_t telling, telling_kept; /* lines that are not bare, and how many of them are kept */
	uint64_t deleted,
		restored; /* lines the edit took out, and how many of them are back in place */
	uint64_t telling_deleted, telling_restored; /* the same without bare ones */
	bool reverted; /* the region's bytes equal those before the edit */
	bool replaced; /* other lines stand at a place of the edit than before or right after it */
};

/* One state of the file. */
struct linefate_image {
	const char *data; /* borrowed; NULL = the file is not there */
	size_t len;
};

/* @before: contents before the edit; @chain[0]: right after it; the others: the states that followed, in
 * order, the last one final (n >= 1). A line that was changed in place (a replaced line in the same change)
 * is FATE_CHANGED, one that went without replacement FATE_REMOVED. Free with linefate_done(). */
void linefate_of(const struct linefate_image *before, const struct linefate_image *chain, size_t n,
		 struct linefate *ret);

/* Where lines @first..@last of @from are in @to (a read of them there shows what became of them); a range that
 * is gone becomes the line behind its place. False when @to is not there or empty. */
bool linefate_follow(const struct linefate_image *from, const struct linefate_image *to,
		     uint64_t first, uint64_t last, uint64_t *ret_first, uint64_t *ret_last);

/* Free; {0} is fine. */
void linefate_done(struct linefate *f);

#endif
