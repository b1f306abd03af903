/* What the tests' own run did to the tests: files that must stand as they were laid out, compared afterwards
 * with the tree. The code under test runs beside them and may write wherever they may, so it can put other
 * tests in their place before the runner reads them, and the right ones back. */
#ifndef VERIFIER_RANTREE_H
#define VERIFIER_RANTREE_H

#include <git2/oid.h>

#include "base/err.h"
#include "base/str.h"
#include "verifier/replay.h"

struct gitstore;

#define RANTREE_ROWS_MAX 100u /* of tamper rows; more are counted in one last row */

/* Look at every file of @tree that belongs to the tests by @rules, in the box's upper layer @upper. All its
 * processes are dead. Adds rows to @tamper: "changed-in-run:seen PATH" for a file that decides (of the
 * hidden tests, of listed tests, a visible test's source, a runner's configuration), also when its contents are
 * the same again and it is source; "data-changed-in-run:seen PATH" for other files beside visible tests.
 * *ret_first (caller frees) is the first one that decides, NULL when there is none. 0 or negative. */
int rantree_check(struct gitstore *st, const git_oid *tree, const char *upper,
		  const struct replay_rules *rules, struct strv *tamper, char **ret_first,
		  struct err *err);

#endif
