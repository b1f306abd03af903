/* Reading a run directory's run.json back. */
#ifndef SUPERVISOR_RUNFILE_H
#define SUPERVISOR_RUNFILE_H

#include "base/err.h"
#include "base/json.h"

struct runfile {
	struct json_src src; /* the whole of run.json */
	char *task_file;     /* owned; NULL when the run had none */
	char *plan_digest;   /* owned */
};

/* Read DIR/run.json. 0 or -ERR_INPUT. Free with runfile_done(). */
int runfile_load(const char *dir, struct runfile *ret, struct err *err);

/* Put "verdict" into DIR/run.json, atomically. 0 or negative. */
int runfile_set_verdict(const char *dir, const char *verdict, struct err *err);

/* Free; {0} is fine. */
void runfile_done(struct runfile *rf);

#endif
