/* The named points that a run passes by itself: its start, the first edit, the first test, the first test that
 * passes, the model's last answer. Interventions wait for them (event anchor). What a command is, is told by its
 * programs (supervisor/classify.h), as positions of a record are (verifier/position.h). */
#ifndef SUPERVISOR_RUNANCHOR_H
#define SUPERVISOR_RUNANCHOR_H

#include "supervisor/cmdtrack.h"
#include "supervisor/sup.h"

enum run_anchor {
	RUN_ANCHOR_START,
	RUN_ANCHOR_BEFORE_EDIT,
	RUN_ANCHOR_AFTER_EDIT,
	RUN_ANCHOR_BEFORE_TEST,
	RUN_ANCHOR_AFTER_PASS,
	RUN_ANCHOR_BEFORE_SUBMIT,
};

/* The agent's main conversation asks: "start". An agent without a model API starts with its first command or edit. */
void runanchor_start(struct sup *s);

/* Process @p is about to make a call that may change a file of the workspace, at its entry stop:
 * "before-first-edit", unless it belongs to a build, a test or an installation. True: interventions were carried
 * out, so that files may have changed. */
bool runanchor_before_edit(struct sup *s, const struct process *p);

/* The agent has edited a file, in command @cmd (0 = its own process). */
void runanchor_edited(struct sup *s, uint32_t cmd);

/* Its tool calls are over: "after-first-edit" when one of them edited. */
void runanchor_boundary(struct sup *s);

/* Command @c runs another program: "before-first-test" when it makes a test of it. */
void runanchor_program(struct sup *s, const struct command *c);

/* The direct child of command @c has exited with wait status @status: "after-first-pass" for a test behind the
 * first edit. */
void runanchor_ended(struct sup *s, const struct command *c, int status);

/* The model's answer asks for nothing more, and has not been passed on: "before-submit". */
void runanchor_last_answer(struct sup *s);

#endif
