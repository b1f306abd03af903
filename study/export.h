/* What this program knows, in the forms of others: rows of formats, each reading its own kind of input. */
#ifndef STUDY_EXPORT_H
#define STUDY_EXPORT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define EXPORT_TEXT_MAX  (1u << 30) /* bytes of one output file */
#define EXPORT_ITEMS_MAX 100000u    /* tasks or results of one call */

/* One call of `proctor export`. */
struct export_job {
	const struct strv *inputs; /* operands: files and directories */
	const char *out;    /* directory for formats that write several files; NULL otherwise */
	const char *tasks;  /* --tasks FILE|DIR, or NULL */
	const char *model;  /* --model, or NULL: as recorded */
	const char *run_id; /* --run-id, or NULL */
};

struct export_format {
	const char *name; /* as on the command line */
	bool directory;   /* writes files below job->out; otherwise one text */
	/* Read the inputs and write: into @out, or below job->out with one line for people about
	 * each file in @out. 0 or negative with @err; nothing is left half written in a file. */
	int (*run)(const struct export_job *job, struct buf *out, struct err *err);
};

/* Rows, ended by a NULL name. */
extern const struct export_format export_formats[];

/* Row by name; NULL when there is none. */
const struct export_format *export_find(const char *name);

#endif
