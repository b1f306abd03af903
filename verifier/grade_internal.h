/* Between grade.c and the part that runs the tests in a box. */
#ifndef VERIFIER_GRADE_INTERNAL_H
#define VERIFIER_GRADE_INTERNAL_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "profiles/limits.h"
#include "verifier/testlog.h"

struct box;
struct grade_channel;
struct grade_request;
struct profile;
struct task;
struct verdict;
struct workspace;

#define GRADE_TIMEOUT_DEFAULT (1800ull * 1000000000) /* ns; for a task that names none */

/* How the test command ended. */
struct grade_end {
	bool stopped; /* killed by us, because of @over */
	enum limit_kind over;
	uint64_t limit;    /* what was allowed of it */
	bool oom;          /* the kernel killed for memory in the box's cgroup */
	struct buf report; /* the runner's report file, when the task names one */
	bool has_report;
	struct buf file[TESTLOG_FILES_MAX]; /* those that the reader's row names */
	bool has_file[TESTLOG_FILES_MAX];
	struct stat place; /* the directory they must be in */
	unsigned
		leftovers; /* processes that outlived the command; only for a reader that names files */
	char *fault;       /* owned: why the report cannot be believed, NULL otherwise */
	struct grade_channel *channel; /* borrowed: see grade_channel_internal.h */
};

/* Add to @dirs what the box must have from its start for a report outside the workdir. */
void grade_report_dirs(const struct task *task, const struct testlog_reader *reader,
		       struct strv *dirs);

/* A report outside the workdir: make its directory, and remove what an image left at its place, in @box whose command
 * waits at its gate. For a reader that names files the place is a new empty directory, noted in end->place. 0 or
 * negative. Nothing is done for other tasks. */
int grade_report_empty(struct box *box, const struct task *task,
		       const struct testlog_reader *reader, struct grade_end *end, struct err *err);

/* Read the report of @task from dead @box into @end: no link is followed, plain files with one name only, which
 * their owner may write, in the directory that was made. What is something else is missing, and end->fault says
 * why. */
void grade_report_take(struct box *box, const struct task *task,
		       const struct testlog_reader *reader, struct grade_end *end);

/* Free the report and what belongs to it. */
void grade_end_done(struct grade_end *end);

/* Run the task's test command in a fresh box on ws->lower and ws->upper and wait for its end: fills
 * log, exit_status and resource use of @v, and @end. Nothing that the tests do makes it wait longer
 * than the task's timeout plus the time to kill the box. Output is bounded by GRADE_LOG_MAX; CPU, memory and disk
 * are looked at every half second, for hosts where the kernel does not bound them. 0, or negative when no box
 * could be built or the command could not be started. @end is freed by the caller with grade_end_done(). */
int grade_box_run(const struct grade_request *req, const struct profile *profile,
		  struct workspace *ws, struct verdict *v, struct grade_end *end, struct err *err);

/* Run req->task's command for itself: no channel, no report, nobody reads results. The task's limits, the
 * agent's when @agent, bound req->profile's. Its output goes to @log, its exit status to *ret_status, -1 when it
 * was stopped: then @ret_why (may be NULL; caller frees) says at what. 0 or negative as grade_box_run(). */
int grade_box_command(const struct grade_request *req, bool agent, struct workspace *ws,
		      struct buf *log, int *ret_status, char **ret_why, struct err *err);

#endif
