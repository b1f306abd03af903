/* Joins a run and the agent's own protocol: the relay carries it, the trace says what became of the
 * messages. */
#ifndef SUPERVISOR_STEER_H
#define SUPERVISOR_STEER_H

#include "supervisor/sup.h"

/* Is the agent driven through its own protocol in this plan? */
bool steer_wanted(const struct plan *p);

/* Make s->native; its relay, which was opened to keep the agent's input, is tapped. Nothing happens
 * when it is not wanted. Ended by steer_done(). */
void steer_open(struct sup *s);

/* The agent runs: send the opening lines. */
void steer_begin(struct sup *s);

/* Give the agent a user message. As native_message(). */
int steer_message(struct sup *s, const char *text, struct err *err);

/* A message is being written (@on), or no more: until then an agent that has nothing to do keeps its
 * input. Nothing happens for other agents. */
void steer_wait(struct sup *s, bool on);

/* The agent is gone and its output was read: what it never took is noted. */
void steer_ended(struct sup *s);

/* Free. Fine in any state. */
void steer_done(struct sup *s);

#endif
