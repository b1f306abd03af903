/* What the formats share: results gathered from directories, one function per format. */
#ifndef STUDY_EXPORT_INTERNAL_H
#define STUDY_EXPORT_INTERNAL_H

#include "study/export.h"
#include "verifier/verdict_read.h"

/* A graded prediction or run. */
struct export_item {
	char *dir;             /* owned */
	char *model;           /* owned; "" = none recorded */
	char *patch;           /* owned: patch.diff, NULL = none there; only on request */
	bool graded;           /* false: a run directory that nobody graded; v has only the name */
	struct verdict_file v; /* from verdict.json; from graded.json alone it has no tests */
};

struct export_items {
	struct export_item *v; /* owned, sorted by model, then instance */
	size_t n, cap;
};

/* Gather what the operands hold: a directory with verdict.json, graded.json or run.json is one result (what
 * `proctor grade` or a run left), any other is searched three levels deep. Two results of one model for one
 * instance are an error that names both. @patches: read patch.diff, too. 0 or -ERR_INPUT. Free with
 * export_items_done(). */
int export_gather(const struct export_job *job, bool patches, struct export_items *ret,
		  struct err *err);

/* Free; {0} is fine. */
void export_items_done(struct export_items *items);

/* How a result counts in SWE-bench's summary; the first that fits. */
enum export_class {
	EXPORT_EMPTY, /* no patch, or an empty one */
	EXPORT_RESOLVED,
	EXPORT_UNRESOLVED,
	EXPORT_INFRA,   /* no result: our own failure */
	EXPORT_INVALID, /* no result: the task is at fault */
	EXPORT_UNGRADED /* no result: nobody graded it */
};

#define EXPORT_BIT(class) (1u << (class)) /* sets of them */

/* See enum export_class. */
enum export_class export_class_of(const struct export_item *item);

/* Write @n bytes to job->out/@name, making directories, and a line about it into @log. 0 or negative. */
int export_write(const struct export_job *job, const char *name, const char *text, size_t n,
		 struct buf *log, struct err *err);

/* As export_write() for a text made in @text, which is refused when it has become too large (-ERR_LIMIT). */
int export_write_buf(const struct export_job *job, const char *name, const struct buf *text,
		     struct buf *log, struct err *err);

/* Call @one for each task file of the operands, in order of their paths in each operand. 0, or what @one returns
 * when that is negative. */
int export_tasks(const struct export_job *job,
		 int (*one)(const void *arg, const char *path, struct buf *out, struct err *err),
		 const void *arg, struct buf *out, struct err *err);

/* @model as one component of a path, as SWE-bench's harness does: "/" becomes "__"; a name that would
 * be none ("", ".", "..") becomes "none". Caller frees. */
char *export_dir_name(const char *model);

/* Append "key": "text" as JSON with a comma in front unless it is the first of @out's object; NULL is null. */
void export_field(struct buf *out, const char *key, const char *text);

/* "swe-bench": rows, one a line, of task files (and INSTANCE.extra.json beside them). */
int export_swebench(const struct export_job *job, struct buf *out, struct err *err);

/* "multi-swe-bench": as export_swebench(), Multi-SWE-bench's rows. */
int export_multi(const struct export_job *job, struct buf *out, struct err *err);

/* "swe-bench-predictions": JSON Lines of patches. */
int export_predictions(const struct export_job *job, struct buf *out, struct err *err);

/* "swe-bench-report": OUT/MODEL/INSTANCE/{report.json,test_output.txt,patch.diff}. */
int export_sb_report(const struct export_job *job, struct buf *out, struct err *err);

/* "swe-bench-summary": schema_version 2. */
int export_sb_summary(const struct export_job *job, struct buf *out, struct err *err);

/* "multi-swe-bench-report": OUT/ORG/REPO/evals/pr-N/report.json and OUT/final_report.json. */
int export_multi_report(const struct export_job *job, struct buf *out, struct err *err);

/* "ctrf": Common Test Report Format, JSON. */
int export_ctrf(const struct export_job *job, struct buf *out, struct err *err);

/* "junit": JUnit XML. */
int export_junit(const struct export_job *job, struct buf *out, struct err *err);

/* "csv": one line per result. */
int export_csv(const struct export_job *job, struct buf *out, struct err *err);

/* "harbor-task": OUT/INSTANCE/, the directory that the task was imported from. */
int export_harbor_task(const struct export_job *job, struct buf *out, struct err *err);

/* "harbor": OUT/config.json, OUT/result.json, OUT/TRIAL/{config.json,result.json,agent/,verifier/}. */
int export_harbor(const struct export_job *job, struct buf *out, struct err *err);

/* "inspect": OUT/MODEL.json and OUT/MODEL.eval. */
int export_inspect(const struct export_job *job, struct buf *out, struct err *err);

/* "atif": OUT/RUN.trajectory.json. */
int export_atif(const struct export_job *job, struct buf *out, struct err *err);

#endif
