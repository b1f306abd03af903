/* Between grade.c and the part that runs the tests in a box. */
#ifndef VERIFIER_GRADE_INTERNAL_H
#define VERIFIER_GRADE_INTERNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/limits.h"

struct grade_request;
struct profile;
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
};

/* The limits that are watched here: wall time is the task's timeout, output at most GRADE_LOG_MAX; CPU,
 * memory and disk by looking every half second, for hosts where the kernel does not bound them. */

/* Run the task's test command in a fresh box on ws->lower and ws->upper and wait for its end: fills
 * log, exit_status and resource use of @v, and @end. Nothing that the tests do makes it wait longer
 * than the task's timeout plus the time to kill the box. 0, or negative when no box could be built
 * or the command could not be started. end->report is freed by the caller. */
int grade_box_run(const struct grade_request *req, const struct profile *profile,
		  struct workspace *ws, struct verdict *v, struct grade_end *end, struct err *err);

#endif
