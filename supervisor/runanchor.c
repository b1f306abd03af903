#include "supervisor/runanchor.h"

#include <sys/wait.h>

static bool passed(const struct sup *s, enum run_anchor which)
{
	return s->passed & (1u << which);
}

/* Every point is passed once, whether something waits for it or not. */
/* Returns the number of effects that were carried out. */
static int pass(struct sup *s, enum run_anchor which)
{
	static const char *const names[] = {
		[RUN_ANCHOR_START] = "start",
		[RUN_ANCHOR_BEFORE_EDIT] = "before-first-edit",
		[RUN_ANCHOR_AFTER_EDIT] = "after-first-edit",
		[RUN_ANCHOR_BEFORE_TEST] = "before-first-test",
		[RUN_ANCHOR_AFTER_PASS] = "after-first-pass",
		[RUN_ANCHOR_BEFORE_SUBMIT] = "before-submit",
	};
	struct err err;
	int n;

	if (passed(s, which) || s->phase >= SUP_KILLED)
		return 0;
	s->passed |= 1u << which;
	n = s->engine ? engine_anchor(s->engine, names[which], &err) : 0;
	if (n < 0)
		sup_engine_failed(s, &err);
	return n;
}

/* Before the model has asked for anything, agents and version control write files of their own. */
static bool begun(struct sup *s)
{
	if (s->plan->agent->api == AGENT_API_NONE)
		runanchor_start(s);
	else if (!s->main_calls)
		return false;
	return passed(s, RUN_ANCHOR_START);
}

/* Builds, tests and installations make files; that is no edit, as for positions of a record. */
static bool may_edit(struct sup *s, uint32_t cmd)
{
	const struct command *c = cmdtrack_get(&s->cmds, cmd);

	return !c || c->cls <= CLASS_EDIT;
}

void runanchor_start(struct sup *s)
{
	(void)pass(s, RUN_ANCHOR_START);
}

bool runanchor_before_edit(struct sup *s, const struct process *p)
{
	return !passed(s, RUN_ANCHOR_BEFORE_EDIT) && begun(s) && may_edit(s, p->cmd) &&
	       pass(s, RUN_ANCHOR_BEFORE_EDIT) > 0;
}

void runanchor_edited(struct sup *s, uint32_t cmd)
{
	if (begun(s) && may_edit(s, cmd))
		s->edited = true;
}

void runanchor_boundary(struct sup *s)
{
	if (s->edited)
		(void)pass(s, RUN_ANCHOR_AFTER_EDIT);
}

void runanchor_program(struct sup *s, const struct command *c)
{
	if (begun(s) && c->cls == CLASS_TEST)
		(void)pass(s, RUN_ANCHOR_BEFORE_TEST);
}

void runanchor_ended(struct sup *s, const struct command *c, int status)
{
	bool test = c->cls == CLASS_TEST && WIFEXITED(status) && WEXITSTATUS(status) == 0;

	/* The edit of this very command does not count: the test may have run before it. */
	if (test && passed(s, RUN_ANCHOR_AFTER_EDIT))
		(void)pass(s, RUN_ANCHOR_AFTER_PASS);
	runanchor_boundary(s);
}

void runanchor_last_answer(struct sup *s)
{
	runanchor_boundary(s);
	(void)pass(s, RUN_ANCHOR_BEFORE_SUBMIT);
}
