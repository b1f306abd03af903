/* grade --log: a log of a test run, or the directory that SWE-bench's harness keeps for one
 * instance (logs/run_evaluation/RUN/MODEL/INSTANCE), from the disk to a verdict. */
#ifndef SUPERVISOR_CMD_GRADE_LOG_H
#define SUPERVISOR_CMD_GRADE_LOG_H

#include "base/err.h"
#include "profiles/task.h"
#include "verifier/grade.h"

/* Decide from @path: a file, "-" for standard input, or a directory with test_output.txt and
 * perhaps report.json. @exit_status: as in grade_log_request. As grade_log(), or negative when a
 * file cannot be read. */
int cmd_grade_log_read(const char *path, const struct task *task, int exit_status,
		       struct verdict *ret, struct err *err);

/* Print what stands beside the verdict: exact mode's, and what the report of the directory says. */
void cmd_grade_log_print(const struct task *task, const struct verdict *v);

#endif
