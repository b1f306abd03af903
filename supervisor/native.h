/* The agent's own protocol on its standard streams, for message_via native: the problem statement is
 * its first prompt, user messages steer it, and its input ends when it has nothing left to do. Knows no
 * descriptors: what it reads and sends goes through its caller. */
#ifndef SUPERVISOR_NATIVE_H
#define SUPERVISOR_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "profiles/agent.h"

enum {
	NATIVE_LINE_MAX =
		16 << 20,          /* bytes of a line of the agent's; longer ones are passed over */
	NATIVE_TEXT_MAX = 1 << 20, /* bytes of a message */
	NATIVE_OPEN_MAX = 64,      /* messages that the agent has not accepted yet */
	NATIVE_REPLIES_MAX = 4096, /* answers to the agent's own requests; further ones get none */
	NATIVE_WHY_MAX = 256,      /* bytes of a reason */
};

/* How it acts on the world. Every function gets @arg. */
struct native_ops {
	/* Queue @n bytes, whole lines, for the agent's input. 0, or -1 when it is closed or full. */
	int (*send)(void *arg, const char *data, size_t n);
	/* End of the agent's input, behind what is queued. Called once. */
	void (*end)(void *arg);
	/* Message @number (from 1) was accepted by the agent (@lost NULL), or will never be. */
	void (*message)(void *arg, uint64_t number, const char *lost);
	/* The agent refused to begin: @why is its own words, cut to NATIVE_WHY_MAX. */
	void (*refused)(void *arg, const char *why);
};

struct native;

/* A conversation by @protocol (not NATIVE_NONE) about @workdir (copied), the workspace's place in the
 * box. @ops is borrowed. Never NULL. Free with native_free(). */
struct native *native_new(enum agent_native protocol, const char *workdir,
			  const struct native_ops *ops, void *arg);

/* The agent is about to run: send the opening lines; @prompt is copied. Once. */
void native_begin(struct native *n, const char *prompt);

/* The agent wrote @len bytes to its standard output: any part, in order. */
void native_output(struct native *n, const char *data, size_t len);

/* Give the agent a user message: at once when the protocol has a place for it, else as soon as it has.
 * 0, -ERR_CHILD when the agent's input is closed, -ERR_LIMIT when it is too long or too many wait. */
int native_message(struct native *n, const char *text, struct err *err);

/* A message is on its way (@on), or no more: until then the agent's input stays open when it has nothing
 * to do. */
void native_wait(struct native *n, bool on);

/* The agent has exited: messages that it never accepted are reported as lost. */
void native_ended(struct native *n);

/* Free; NULL is fine. Returns NULL. */
struct native *native_free(struct native *n);

#endif
