/* The reference change of a task: its patch, or what its solution command does to the base tree. */
#ifndef VERIFIER_ORACLE_H
#define VERIFIER_ORACLE_H

#include "base/buf.h"
#include "base/err.h"
#include "verifier/grade.h"

/* The reference of @req->task as diff text into @patch. A task with a solution command: that is run on the base tree in a
 * box as the tests have one (no network, the limits of @req->profile and the task), with solution.files put in;
 * what it changed is the patch. What it printed is in @log. 0, -ERR_INPUT when the task has no reference, -ERR_CHILD when the command
 * did not end by itself with status 0, or another negative value. */
int oracle_patch(const struct grade_request *req, struct buf *patch, struct buf *log,
		 struct err *err);

#endif
