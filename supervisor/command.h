/* Commands as the run sees them: begins and ends of tool calls, told to the engine and the trace. */
#ifndef SUPERVISOR_COMMAND_H
#define SUPERVISOR_COMMAND_H

#include "supervisor/sup.h"

/* @p was forked; by the agent's root (@by_root) it begins a command, else it belongs to its
 * parent's. */
void command_fork(struct sup *s, struct process *p, bool by_root);

/* @p executed a program. */
void command_exec(struct sup *s, struct process *p);

/* @p runs no more user code and ends with wait status @status; when its command ends with it, what is queued for the end of the
 * command is carried out before the agent can learn of the exit. */
void command_exit(struct sup *s, struct process *p, int status);

/* @p asks the model, so it is the agent: it and the wrappers above it are no command, its children are.
 * What else their command has goes on under its number. */
void command_lead(struct sup *s, struct process *p);

/* The agent asks the model again: its tool calls are over, and what waited for their end is done now, also
 * for those that left something running. */
void command_boundary(struct sup *s);

#endif
