/* Shared between the readers of results. */
#ifndef STUDY_RESULT_INTERNAL_H
#define STUDY_RESULT_INTERNAL_H

#include "study/result.h"

/* Fill @ret from run directory @dir: run.json, behaviour.json, and verdict.json where run.json has no
 * verdict. 0 or -ERR_INPUT; then *ret is to be freed all the same. */
int result_of_run(const char *dir, struct result *ret, struct err *err);

/* Free one record and zero it. */
void result_done(struct result *r);

/* Give every string that is still NULL its default: "", and the agent's name as model. */
void result_fill(struct result *r);

/* Check what rows cannot say: names, condition, label, response. @where: JSON path of the record.
 * 0 or -ERR_INPUT. */
int result_check(const struct json_src *src, const char *where, const struct result *r,
		 struct err *err);

/* Names of enum result_verdict, NULL-terminated. */
extern const char *const result_verdicts[];

/* Does run directory @dir hold an arm of a pair ("fork" in its run.json)? False when that cannot be read: then
 * result_of_run() says why. */
bool result_is_arm(const char *dir);

#endif
