/* Which version of the goal and of the verifier holds. A task is version "initial"; a scenario may
 * declare more ("authority": name to what differs from the task), and an effect {"authority":
 * {"goal": V, "verifier": V}} puts one in force while the run goes on. */
#ifndef VERIFIER_AUTHORITY_H
#define VERIFIER_AUTHORITY_H

#include "base/err.h"
#include "base/json.h"
#include "profiles/scenario.h"
#include "profiles/task.h"

#define AUTHORITY_INITIAL "initial" /* the version that the task itself is */
#define AUTHORITY_MAX     64u       /* versions of a scenario beside that */

/* The versions in force. Owns both names; {0} is none. */
struct authority {
	char *goal, *verifier;
};

/* Read every version that @sc declares, and look that each effect of it names one of them. Files
 * named in them (a test_patch) are read from beside the scenario. 0 or -ERR_INPUT with the file and
 * the place, and the nearest version for a name that is none. */
int authority_check(const struct scenario *sc, struct err *err);

/* The task of versions @goal (problem statement) and @verifier (test_patch, FAIL_TO_PASS, PASS_TO_PASS
 * and test command); NULL stands for "initial". What a version does not say is as in @task, whose
 * file is read again, so that a task must have one for anything but "initial". @sc may be NULL for
 * "initial". 0 with *ret, a task of its own (free with task_free()), or -ERR_INPUT. */
int authority_task(const struct task *task, const struct scenario *sc, const char *goal,
		   const char *verifier, struct task **ret, struct err *err);

/* The versions that are in force once all interventions of @sc have fired in their order: what the last
 * authority effects say, "initial" where there is none. 0 or -ERR_INPUT. Free with authority_done(). */
int authority_final(const struct scenario *sc, struct authority *ret, struct err *err);

/* The versions that were in force at the end of the run in @dir, by the last `authority` record of its
 * trace.jsonl; "initial" when there is none. Names from the trace are bounded and looked at by nobody
 * here: authority_task() knows whether they exist. 0 or -ERR_INPUT. Free with authority_done(). */
int authority_of_run(const char *dir, struct authority *ret, struct err *err);

/* Are both "initial"? */
bool authority_is_initial(const struct authority *a);

/* Write "authority": {"goal": ..., "verifier": ...} as a member called @key. */
void authority_json(struct json_w *w, const char *key, const struct authority *a);

/* Free; {0} is fine. */
void authority_done(struct authority *a);

#endif
