/* Paired runs: the text of a plan without its condition, its digest, and whether two plans may be a
 * pair. The condition is the scenario as a whole (mode, rounds, interventions, messages, regions),
 * the simulator of messages, the reference lengths and the number of the repetition; two runs of a
 * pair differ in nothing else (SWE-Touch: paired job files differ only in scenario path, mode and
 * simulator model). So a run without a scenario pairs with one that has one. Names of input files
 * do not count either, what they hold does: a plan made from another directory is the same plan. */
#ifndef PROFILES_PLAN_PAIR_H
#define PROFILES_PLAN_PAIR_H

#include <stddef.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

#define PLAN_PAIR_FILE_MAX (64u << 20) /* bytes of a plan.json */

/* The plan @text ("proctor.plan/1") without its condition, as compact JSON with its members in the
 * order of @text, into @out. 0 or -ERR_INPUT when it is no plan. */
int plan_pair_text(const char *text, struct buf *out, struct err *err);

/* SHA-256 of that into @out. As plan_pair_text(). */
int plan_pair_digest(const char *text, char out[DIGEST_HEX], struct err *err);

/* Do two plans differ only in the condition? 0, or -ERR_INPUT naming the first field that differs
 * with both values, or what is no plan. The order of members does not matter. */
int plan_pair_check(const char *text_a, const char *text_b, struct err *err);

/* Read plan.json of run directory @run (at most PLAN_PAIR_FILE_MAX bytes) and check it against
 * @text. 0, -ERR_INPUT as plan_pair_check() or when the run has no plan.json. */
int plan_pair_run(const char *text, const char *run, struct err *err);

#endif
