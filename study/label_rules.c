/* The rules, in the order in which they are asked. docs/labels.md says the same in sentences. */
#include <inttypes.h>

#include "base/mem.h"
#include "study/label_internal.h"

/* --- pieces ------------------------------------------------------------------------------------ */

static bool gone(const struct label_facts *f)
{
	return f->landed && !f->mostly_standing && f->response != RESPONSE_KEPT;
}

/* Tests were not run after the last edit, failed and were let be, or were changed. */
static bool bad_tests(const struct label_facts *f)
{
	return !f->tests || f->last_test > 0 || f->tampered;
}

static bool all_f2p(const struct label_facts *f)
{
	return f->f2p && f->f2p_passed == f->f2p;
}

static bool most_f2p(const struct label_facts *f)
{
	return f->f2p_passed && f->f2p_passed * 3 >= f->f2p * 2;
}

static const char *tests_text(const struct label_facts *f)
{
	if (f->tampered)
		return "the tests themselves were changed";
	if (!f->tests)
		return "no test was run after the last edit";
	return "the last test run failed and was let be";
}

static char *f2p_text(const struct label_facts *f)
{
	return mem_printf("%" PRIu64 " of %" PRIu64 " fail-to-pass tests pass", f->f2p_passed,
			  f->f2p);
}

/* --- predicates and sentences ------------------------------------------------------------------ */

static bool is_cut(const struct label_facts *f)
{
	return f->cut;
}

static char *why_cut(const struct label_facts *f)
{
	(void)f;
	return mem_strdup("the files of the run are cut, so that its end is not known");
}

static bool no_images(const struct label_facts *f)
{
	return f->landed && !f->known;
}

static char *why_no_images(const struct label_facts *f)
{
	(void)f;
	return mem_strdup("the contents after the user's edit were not kept");
}

static bool stopped_early(const struct label_facts *f)
{
	return f->limit && !f->acted;
}

static char *why_stopped(const struct label_facts *f)
{
	return mem_printf("the run was ended (%s) before the agent changed anything%s", f->limit,
			  f->landed ? " after the user's edit" : "");
}

static bool is_away(const struct label_facts *f)
{
	return f->has_reference && f->own && !f->own_near && f->f2p_passed * 2 < f->f2p + !f->f2p;
}

static char *why_away(const struct label_facts *f)
{
	return mem_printf("none of the agent's %" PRIu64 " changes is near the reference's places "
			  "or the user's edit",
			  f->own);
}

static bool is_kept(const struct label_facts *f)
{
	return f->landed && f->response == RESPONSE_KEPT;
}

static char *why_kept(const struct label_facts *f)
{
	return mem_printf("all %" PRIu64 " lines of the user's edit stand in the final tree",
			  f->lines);
}

static bool is_mostly_kept(const struct label_facts *f)
{
	return f->landed && f->mostly_standing;
}

static char *why_mostly(const struct label_facts *f)
{
	return mem_printf("%" PRIu64 " of %" PRIu64
			  " lines of the user's edit stand in the final tree",
			  f->lines_standing, f->lines);
}

static bool older_stands(const struct label_facts *f)
{
	return f->landed && f->all_standing > f->lines_standing;
}

static char *why_older(const struct label_facts *f)
{
	return mem_printf("%" PRIu64 " lines of an earlier round stand in the final tree",
			  f->all_standing - f->lines_standing);
}

static bool unchecked_repair(const struct label_facts *f)
{
	return (gone(f) || !f->landed) && all_f2p(f) && bad_tests(f);
}

static char *why_unchecked(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("%s, but other tests broke and %s", f2p, tests_text(f));
}

static bool is_replaced(const struct label_facts *f)
{
	return gone(f) && f->response == RESPONSE_REPLACED && !all_f2p(f);
}

static char *why_replaced(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("the user's edit is gone, other code stands in its place, and %s", f2p);
}

static bool near_repair(const struct label_facts *f)
{
	bool there = f->places && f->places_done == f->places;

	return (gone(f) || !f->landed) && bad_tests(f) &&
	       (there || (most_f2p(f) && f->places_touched == f->places));
}

static char *why_near(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("%" PRIu64 " of %" PRIu64 " places of the reference are done, %s, but %s",
			  f->places_done, f->places, f2p, tests_text(f));
}

static bool is_partial(const struct label_facts *f)
{
	bool some = f->places_touched && f->places_touched < f->places;

	return (gone(f) || !f->landed) && (some || (f->f2p_passed && !all_f2p(f)));
}

static char *why_partial(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("%" PRIu64 " of %" PRIu64
			  " places of the reference were worked on, and %s",
			  f->places_touched, f->places, f2p);
}

static bool is_wrong(const struct label_facts *f)
{
	return gone(f) && f->own_near && f->f2p_passed < f->f2p;
}

static char *why_wrong(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("the user's edit is gone, the code at its place or the reference's is "
			  "other than it should be, and %s",
			  f2p);
}

static bool always(const struct label_facts *f)
{
	(void)f;
	return true;
}

static char *why_other(const struct label_facts *f)
{
	auto_free char *f2p = f2p_text(f);

	return mem_printf("no rule holds: %" PRIu64 " changes by the agent, %s", f->own, f2p);
}

const struct label_rule label_rules[] = {
	/* clang-format off */
	{ "cut", FAILURE_INSUFFICIENT_EVIDENCE, 0.8, is_cut, why_cut, LABEL_SHOW_END,
	  "files of the run are cut, or it never came to an end" },
	{ "no-images", FAILURE_INSUFFICIENT_EVIDENCE, 0.6, no_images, why_no_images, LABEL_SHOW_EDIT,
	  "the contents that decide what became of the edit were not kept" },
	{ "stopped", FAILURE_INSUFFICIENT_EVIDENCE, 0.7, stopped_early, why_stopped,
	  LABEL_SHOW_EDIT | LABEL_SHOW_END,
	  "a limit or an interruption ended the run before the agent edited anything after the user" },
	{ "away", FAILURE_OFF_TARGET, 0.8, is_away, why_away, LABEL_SHOW_EDIT | LABEL_SHOW_OWN,
	  "the agent changed something, nothing of it within 10 lines of the reference or the edit, and "
	  "less than half of the fail-to-pass tests pass" },
	{ "kept", FAILURE_RETAINED_CONFLICT, 0.9, is_kept, why_kept,
	  LABEL_SHOW_EDIT | LABEL_SHOW_NOTICE,
	  "the whole final edit stands" },
	{ "mostly-kept", FAILURE_RETAINED_CONFLICT, 0.6, is_mostly_kept, why_mostly,
	  LABEL_SHOW_EDIT | LABEL_SHOW_NOTICE,
	  "at least half of the final edit's lines stand" },
	{ "older-kept", FAILURE_RETAINED_CONFLICT, 0.5, older_stands, why_older,
	  LABEL_SHOW_EDIT | LABEL_SHOW_NOTICE,
	  "lines of an earlier round stand" },
	{ "unchecked", FAILURE_VERIFICATION_BREAKDOWN, 0.7, unchecked_repair, why_unchecked,
	  LABEL_SHOW_OWN | LABEL_SHOW_TEST,
	  "the edit is gone, all fail-to-pass tests pass, others broke; no test after the last edit, or the "
	  "last one failed, or tests were changed" },
	{ "replaced", FAILURE_INCORRECT_REPLACEMENT, 0.8, is_replaced, why_replaced,
	  LABEL_SHOW_EDIT | LABEL_SHOW_NOTICE | LABEL_SHOW_OWN,
	  "the edit is gone and other code stands in its place" },
	{ "nearly", FAILURE_VERIFICATION_BREAKDOWN, 0.6, near_repair, why_near,
	  LABEL_SHOW_OWN | LABEL_SHOW_TEST,
	  "the edit is gone; the reference's lines are there, or two thirds of the fail-to-pass tests pass "
	  "and all its places were worked on; tests as under unchecked" },
	{ "partial", FAILURE_INCOMPLETE_RECONCILIATION, 0.7, is_partial, why_partial,
	  LABEL_SHOW_NOTICE | LABEL_SHOW_OWN,
	  "the edit is gone; some of the reference's places were worked on and others not, or some of the "
	  "fail-to-pass tests pass" },
	{ "wrong", FAILURE_INCORRECT_REPLACEMENT, 0.5, is_wrong, why_wrong,
	  LABEL_SHOW_NOTICE | LABEL_SHOW_OWN,
	  "the edit is gone; the agent worked near it or the reference, and fail-to-pass tests fail" },
	{ "other", FAILURE_OTHER, 0.3, always, why_other, LABEL_SHOW_OWN | LABEL_SHOW_END,
	  "nothing of this" },
	{ NULL },
	/* clang-format on */
};
