/* What an attempt at a cell left in its directory: cell.json ("proctor.attempt/1"), which its process writes last, and
 * where that is missing the run itself. */
#ifndef STUDY_ATTEMPT_H
#define STUDY_ATTEMPT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "study/journal.h"

#define ATTEMPT_FILE "cell.json"

/* Owns its texts. {0} is nothing. */
struct attempt {
	int end;   /* enum attempt_end */
	char *why; /* for people; NULL = nothing to say */
	struct attempt_figures figures;
};

/* Name of the directory of attempt @n below that of the cell. Caller frees. Hidden, so that who looks through a tree of
 * runs finds what counts and nothing else. */
char *attempt_dir(const char *study, const char *key, uint64_t n);

/* Read DIR/cell.json. 1 read, 0 there is none, -ERR_INPUT when it is broken. Free with attempt_done(). */
int attempt_load(const char *dir, struct attempt *ret, struct err *err);

/* The same from @n bytes called @name in messages. 0 or -ERR_INPUT. */
int attempt_parse(const char *name, const char *text, size_t n, struct attempt *ret,
		  struct err *err);

/* One line of JSON with its newline. */
void attempt_print(const struct attempt *a, struct buf *out);

/* Take verdict, figures and the line of results from what lies in @dir (a run, or a pair when @fork), whatever there
 * is. 0, or -ERR_INPUT when it can be no result; then the figures that could be had are there all the same. */
int attempt_figures(const char *dir, bool fork, struct attempt_figures *ret, struct err *err);

/* Did the run in @dir come to an end of its own, so that only what follows it (grading, labels) is missing? Of a pair (@fork) never: it is
 * made and graded in one. */
bool attempt_has_run(const char *dir, bool fork);

/* Free. */
void attempt_done(struct attempt *a);

#endif
