/* grade --log: a log of a test run, or the directory that SWE-bench's harness keeps for one
 * instance (logs/run_evaluation/RUN/MODEL/INSTANCE), from the disk to a verdict. */
#ifndef SUPERVISOR_GRADELOG_H
#define SUPERVISOR_GRADELOG_H

#include "base/err.h"
#include "profiles/task.h"
#include "verifier/grade.h"

/* Decide from @path: a file, "-" for standard input, or a directory with test_output.txt and
 * perhaps report.json. @exit_status: as in grade_log_request. As grade_log(), or negative when a
 * file cannot be read. */
int gradelog_read(const char *path, const struct task *task, int exit_status, struct verdict *ret,
		  struct err *err);

/* Print what stands beside the verdict: exact mode's, and what the report of the directory says. */
void gradelog_print(const struct task *task, const struct verdict *v);

#endif
