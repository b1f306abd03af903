/* The changes of a diff as lines: where in the old and the new file, and their text. For comparing a final
 * patch with a reference: lenient, nothing is applied, and what cannot be read is left out. */
#ifndef VERIFIER_DIFFLINES_H
#define VERIFIER_DIFFLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hard maximum: lines taken and removed in one diff; the rest is left out. */
#define DIFFLINES_MAX 1000000u

/* One line without its end. Borrowed from the text. */
struct diffline {
	const char *p;
	size_t n;
};

struct diffline_file {
	char *path;      /* owned: new name, the old one when the file goes */
	bool born, gone; /* not there before, not there after */
	bool binary;     /* no lines are known */
};

/* Lines in a row that go, come or both. A count of 0: in front of line first. */
struct diffline_change {
	size_t file; /* index into difflines.file */
	uint64_t old_first, old_n, new_first, new_n;
	size_t lines; /* index into difflines.line: the removed ones, then the added ones */
};

struct difflines {
	struct diffline_file *file; /* owned */
	size_t n_files, cap_files;
	struct diffline_change *v; /* owned, in order of the diff */
	size_t n, cap;
	struct diffline *line; /* owned */
	size_t n_lines, cap_lines;
};

/* Where a hunk stands. A side without lines stands in front of its line. */
struct difflines_place {
	uint64_t old_first, old_n, new_first, new_n;
};

/* Read a hunk's first line, "@@ -1,2 +3 @@ ...", of @n bytes. False when it is none. */
bool difflines_hunk(const char *line, size_t n, struct difflines_place *ret);

/* Read @n bytes of git or plain unified diff, which must stay as long as the result. Free with
 * difflines_done(). */
void difflines_read(const char *text, size_t n, struct difflines *ret);

/* Free; {0} is fine. */
void difflines_done(struct difflines *d);

/* Removed line @i of change @c, or added line @i. Borrowed. */
const struct diffline *difflines_removed(const struct difflines *d, const struct diffline_change *c,
					 uint64_t i);
const struct diffline *difflines_added(const struct difflines *d, const struct diffline_change *c,
				       uint64_t i); /* see difflines_removed() */

/* Does the line hold a letter, a digit or a byte beyond ASCII? A brace or an empty line says little. */
bool diffline_telling(const struct diffline *l);

/* The same text but for blanks at both ends and how many stand in a row (none is not one)? */
bool diffline_same(const struct diffline *a, const struct diffline *b);

#endif
