/* Inside of the patch code: the parsed form and the pieces that the ladder is made of.
 * Shared by patch*.c and apply*.c only. */
#ifndef TRIGGERS_APPLY_INTERNAL_H
#define TRIGGERS_APPLY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "triggers/apply.h"

/* Hard maxima: a patch or a file may come from the agent. */
#define PATCH_LINES_MAX 2000000u     /* lines of one diff */
#define PATCH_FILES_MAX 50000u       /* files of one diff */
#define APPLY_FILE_MAX  (256u << 20) /* bytes of a file that is patched */
#define APPLY_TOTAL_MAX (1ull << 30) /* bytes of all files before and after together */
#define APPLY_LINES_MAX 8000000u     /* lines of a file that is patched by text hunks */
#define APPLY_WORK_MAX  200000000ull /* line comparisons per apply_patch(): about a second */

/* How a line ends. */
enum line_end { END_NONE, END_LF, END_CRLF };

/* One line of a file or of a hunk, with its end. */
struct text_line {
	const char *p; /* borrowed */
	uint32_t len;  /* with the end */
	uint8_t end;   /* enum line_end */
	char kind;     /* hunk: ' ', '-', '+'; file: 0 */
	uint64_t hash; /* of the bytes without the end */
};

/* A file cut into lines. */
struct text {
	struct text_line *line; /* owned */
	size_t n;
	size_t lf, crlf; /* how many lines end so */
};

struct patch_hunk {
	uint64_t old_start, old_n, new_start, new_n; /* as the header says */
	struct text_line *line;                      /* borrowed from patch->line */
	size_t n;
};

/* New contents of a binary change, or a delta to them, as a zlib stream. */
struct patch_binary {
	char *data; /* owned; NULL = the diff has none */
	size_t len, inflated;
	bool delta;
};

enum patch_op { PATCH_MODIFY, PATCH_ADD, PATCH_DELETE, PATCH_RENAME, PATCH_COPY };

struct patch_file {
	char *old_path, *path; /* owned; equal unless renamed or copied */
	enum patch_op op;
	uint32_t old_mode, mode; /* git modes, 0 = the diff does not say */
	bool binary;
	bool empty_old; /* first hunk starts from nothing: the file may be absent */
	size_t delta;   /* index in libgit2's diff, while it is read */
	struct patch_binary bin;
	char old_name[41], new_name[41]; /* object names of the index line, "" when there is none */
	struct patch_hunk *hunk;         /* owned */
	size_t n_hunks;
	size_t lf, crlf; /* line ends over all hunk lines */
};

/* Life: patch_parse() -> any number of apply_patch() -> patch_free(). Immutable in between. */
struct patch {
	struct patch_file *file; /* owned */
	size_t n_files;
	struct text_line *line; /* owned: lines of all hunks */
	size_t n_lines;
	char *bytes; /* owned: the diff in canonical form, what the lines point into */
	size_t n_bytes;
};

/* Where a line of the canonical text came from: entries in rising order. */
struct patch_origin {
	size_t out, src; /* line numbers from 1 */
};

struct patch_origins {
	struct patch_origin *v; /* owned */
	size_t n, cap;
};

/* Rewrite @text (git or plain unified diff, CRLF headers, no prefixes, timestamps, unquoted
 * blanks) into the form that libgit2 reads: git headers, quoted names, a/ and b/ prefixes. Lines of
 * hunks are kept. @origins maps lines back for error texts (caller frees v). 0 or -ERR_INPUT. */
int patch_text_normal(const char *text, size_t n, struct buf *out, struct patch_origins *origins,
		      struct err *err);

/* Line of the user's text for line @out of the canonical one. */
size_t patch_text_origin(const struct patch_origins *origins, size_t out);

/* Fill end, len and hash of the line at @p of @n bytes. */
void patch_line_set(struct text_line *l, const char *p, size_t n, char kind);

/* Contents of binary file @f after the patch, from @n bytes @before (NULL = not there). 1 with @out
 * filled, 0 when it does not apply (*reason set, owned by the caller). */
int patch_binary_apply(const struct patch_file *f, const char *before, size_t n, struct buf *out,
		       char **reason);

struct git_diff;

/* Copy the binary contents of @diff into the files of @p. 0 or -1 with libgit2's error. */
int patch_binary_take(struct patch *p, struct git_diff *diff);

/* Cut @n bytes into lines. 0, or -1 when there are more than APPLY_LINES_MAX. Free with
 * apply_text_done(). */
int apply_text_split(struct text *t, const char *data, size_t n);

/* Free; {0} is fine. */
void apply_text_done(struct text *t);

/* One replacement in a file: lines [pos, pos + old_n) become @bytes. */
struct apply_edit {
	size_t pos, old_n;
	char *bytes; /* owned: the diff in canonical form, what the lines point into */
	size_t len;
	size_t order; /* hunk number: keeps insertions at one place in order */
};

/* State of one file while its hunks are placed. */
struct apply_job {
	const struct patch_file *file;
	const struct text *text;
	unsigned char *taken;    /* owned: a placed hunk removed this line */
	struct apply_edit *edit; /* owned */
	size_t n_edits;
	int64_t drift;            /* how far the last hunk was from where it should be */
	bool loose;               /* line ends do not count */
	enum apply_method method; /* worst so far */
	enum apply_method most;
	uint64_t *work; /* comparisons left, shared by all files */
	char *reason;   /* owned: why not */
};

/* How lines are compared. */
enum line_match { LINES_STRICT, LINES_LOOSE, LINES_BLANKS };

/* Are two lines the same: bytes, bytes but for the end, or but for white space? */
bool apply_line_eq(const struct text_line *a, const struct text_line *b, enum line_match how);

/* Pay for one comparison, of @bytes bytes when it is not by hash. False when the budget of
 * the whole apply_patch() is spent: then nothing more is found. */
bool apply_work(struct apply_job *j, uint64_t bytes);

/* Do the lines of one side of hunk @h (leaving out lines of kind @skip), without @lead and @trail
 * outer lines, stand at line index @pos? Lines already removed by another hunk never match. */
bool apply_hunk_at(struct apply_job *j, const struct patch_hunk *h, char skip, size_t lead,
		   size_t trail, int64_t pos, enum line_match how);

/* Number of lines of @h that are not of kind @skip. */
size_t apply_hunk_side(const struct patch_hunk *h, char skip);

/* Leading and trailing context lines of @h. */
void apply_hunk_context(const struct patch_hunk *h, size_t *lead, size_t *trail);

/* Put @h at file line @pos where its old lines after @lead context lines start. */
void apply_hunk_put(struct apply_job *j, const struct patch_hunk *h, size_t lead, size_t trail,
		    size_t pos, size_t order, enum apply_method method);

/* Replace lines [pos, pos + old_n) by the lines of @h from @from to @to that are not '-', in the
 * file's style. For the context steps. */
void apply_hunk_replace(struct apply_job *j, const struct patch_hunk *h, size_t from, size_t to,
			size_t pos, size_t old_n, size_t order);

/* Set the reason once. Returns 0. */
int apply_say_no(struct apply_job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Place hunk number @i: exact, already there, offset, fuzz, context. 1 placed (or there), 0 not. */
int apply_hunk_place(struct apply_job *j, size_t i);

/* The last step of the ladder: around what is left of the hunk's surroundings. As
 * apply_hunk_place(). */
int apply_context_place(struct apply_job *j, const struct patch_hunk *h, size_t order);

#endif
