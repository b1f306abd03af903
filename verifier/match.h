/* From the name of a listed test and the results of a run to "did it pass": two modes (task field
 * test.match).
 *
 * exact: the name is looked for as the reader writes it. Passed and xpass pass; what is missing,
 * skipped or an expected failure (xfail) has not passed, since the reference run passed it. A name
 * that was reported more than once must not have failed under a repetition that is listed nowhere.
 *
 * swebench-compat: as SWE-bench's harness (version 5) counts. The published lists hold ids that its
 * parsers cut at the first blank; an id with more "[" than "]" that is not there takes its status
 * from all names that begin with it, if they agree on passed or not. XFAIL passes, a skipped
 * PASS_TO_PASS test passes, a skipped FAIL_TO_PASS test does not. With eval_type fail_only a test
 * fails only when it is there as FAILED.
 *
 * docs/compat-swe-bench.md has the rules and what was measured. */
#ifndef VERIFIER_MATCH_H
#define VERIFIER_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "verifier/testlog.h"

#define MATCH_TESTBED "/testbed" /* where that harness has the work directory */

/* How a listed name was found. */
enum match_how {
	MATCH_ABSENT,    /* it was not */
	MATCH_NAME,      /* as it stands */
	MATCH_ROOT,      /* with the work directory in it replaced by the root token */
	MATCH_REPEATED,  /* a repetition ("name #2") decided */
	MATCH_CUT,       /* a result's name is this one up to its first blank */
	MATCH_PREFIX,    /* all results that begin with it agree */
	MATCH_AMBIGUOUS, /* results that begin with it do not agree */
};

/* Why the status counts as it does. */
enum match_rule {
	MATCH_PLAIN,
	MATCH_XFAIL_PASSES,  /* an expected failure counts as passed */
	MATCH_SKIP_KEPT,     /* a skipped PASS_TO_PASS test counts as passed */
	MATCH_ABSENT_PASSES, /* fail_only: what is not there passes */
	MATCH_NOT_FAILED,    /* fail_only: what is not FAILED passes */
};

struct match {
	enum test_status status; /* TEST_MISSING when it was not found */
	enum match_how how;
	enum match_rule rule;
	bool passed;
	uint64_t from, to; /* byte span in the log */
};

/* Does exact mode count @s as passed? */
bool match_good(enum test_status s);

/* "exact", "root", "absent", ... as verdict.json has it. */
const char *match_how_name(enum match_how how);

/* "plain", "xfail-passes", ... as verdict.json has it. */
const char *match_rule_name(enum match_rule rule);

/* What exact mode says of @name: @r may be NULL (nothing was run). @root is the work directory.
 * @lists: the task's two lists, so that a repetition that is listed itself is left to its own
 * entry. */
void match_exact(const struct test_results *r, const char *root, const struct strv *const lists[2],
		 const char *name, struct match *ret);

/* Results, ready to be asked by prefixes. */
struct match_index;

/* Make it over @r, which stays as it is until match_close(). @whole: names of @r are whole ids, so
 * a listed name may be one of them up to its first blank (the results come from a reader of
 * testlog.h). */
struct match_index *match_open(const struct test_results *r, bool whole);

/* Free; NULL is fine. */
void match_close(struct match_index *x);

/* How a listed test is counted. */
struct match_ask {
	const char *root;
	bool f2p;       /* FAIL_TO_PASS, otherwise PASS_TO_PASS */
	bool fail_only; /* eval_type */
};

/* What swebench-compat mode says of @name. Logarithmic in the number of results. */
void match_compat(const struct match_index *x, const struct match_ask *ask, const char *name,
		  struct match *ret);

/* Why the two modes differ on @name: a static text, or NULL when both say passed or both say not.
 * @exact_names: the results that exact mode looked at. */
const char *match_why(const struct match_index *exact_names, const char *name,
		      const struct match *compat, const struct match *exact);

#endif
