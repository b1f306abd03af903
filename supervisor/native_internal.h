/* What the protocols (native_*.c) share: the conversation's state and the ways to act on it. */
#ifndef SUPERVISOR_NATIVE_INTERNAL_H
#define SUPERVISOR_NATIVE_INTERNAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "gateway/jedit.h"
#include "supervisor/native.h"

enum {
	NATIVE_ID_MAX = 128,      /* bytes of an identifier of the agent's */
	NATIVE_UUID = 37,         /* as text, with NUL */
	NATIVE_RAW_MAX = 1 << 16, /* bytes of a value that is passed back as it is */
};

enum native_phase {
	NATIVE_BUSY,    /* nothing can be sent: something of the agent's is waited for */
	NATIVE_IDLE,    /* a message begins a turn; without one the agent is done */
	NATIVE_WORKING, /* a message steers the turn that is going on */
	NATIVE_OVER,    /* input is closed */
};

/* A message on its way. Number 0 is the problem statement. */
struct native_msg {
	uint64_t number;
	char *text;             /* owned */
	uint64_t ask;           /* id of the request that carried it, 0 = not sent */
	bool steer;             /* it was sent into a running turn */
	unsigned turns;         /* turns that have ended since it was sent */
	char uuid[NATIVE_UUID]; /* claude: its name */
};

/* One protocol. Functions are called in phases other than NATIVE_OVER, but for line(). */
struct native_proto {
	/* Opening lines; NULL: the prompt is all, and it may be sent at once. */
	void (*begin)(struct native *n);
	/* A line of the agent's, which is a JSON object. In every phase: the last words count. */
	void (*line)(struct native *n, const struct jdoc *d);
	/* Put @m, which waits from now on, into a request and send it; set the phase. */
	void (*message)(struct native *n, struct native_msg *m);
	/* A line that begins like this is never of interest; NULL-terminated list. */
	const char *const *skip;
	/* A line that begins like this and cannot be read, being too long, is the end of a turn; NULL
	 * when there is none. */
	const char *end_mark;
	void (*turn_end)(struct native *n); /* goes with end_mark */
};

struct native {
	const struct native_proto *proto;
	const struct native_ops *ops; /* borrowed */
	void *arg;
	char *workdir; /* owned */
	enum native_phase phase;
	struct buf line; /* the line that is arriving */
	bool passing;    /* it is too long: what still comes of it is dropped */
	/* In the order of sending: first those that wait for the agent's word, then the others. */
	struct native_msg msgs[NATIVE_OPEN_MAX + 1]; /* one more for the problem statement */
	size_t n_msgs;
	uint64_t numbers; /* messages taken so far */
	uint64_t asks;    /* ids given out */
	unsigned replies;
	bool wait; /* a message is on its way: the input must not end yet */
	/* pi */
	uint64_t asked_state; /* id of the last get_state, 0 none */
	bool turn_over;       /* agent_end was seen, or a turn was asked for */
	bool retrying;        /* it will begin another one by itself */
	bool compacted;       /* so it will, when messages are queued in it */
	/* codex */
	uint64_t ask_init, ask_thread; /* ids of the opening requests */
	char thread[NATIVE_ID_MAX + 1], turn[NATIVE_ID_MAX + 1], turn_done[NATIVE_ID_MAX + 1];
	/* claude */
	bool replays; /* it repeats user lines as it takes them */
};

extern const struct native_proto native_pi;
extern const struct native_proto native_codex;
extern const struct native_proto native_claude;

/* A new id for a request, from 1. */
uint64_t native_ask(struct native *n);

/* Send @line and a newline. When that fails the input is over, and with it all messages. */
void native_send(struct native *n, struct buf *line);

/* The same for an answer to a request of the agent's, of which there are at most
 * NATIVE_REPLIES_MAX. */
void native_reply(struct native *n, struct buf *line);

/* Go on: send what waits if the phase has a place for it; in NATIVE_IDLE with nothing left, end. */
void native_step(struct native *n);

/* No more from us: the agent's input ends. */
void native_over(struct native *n);

/* The message that request @ask carried, NULL when there is none. Borrowed until the next call that
 * settles one. */
struct native_msg *native_find(struct native *n, uint64_t ask);

/* Messages that were sent and wait for the agent's word. */
size_t native_waiting(const struct native *n);

/* The agent took @m. */
void native_accept(struct native *n, struct native_msg *m);

/* The agent will not take @m, for @why. The problem statement: the run has no subject, input ends. */
void native_refuse(struct native *n, struct native_msg *m, const char *why);

/* The agent could not take @m now: it is sent again when there is a place. */
void native_again(struct native *n, struct native_msg *m);

/* The agent refused to begin at all, for @why: input ends, and everything on its way is lost. */
void native_give_up(struct native *n, const char *why);

/* Copy the string at @at, cut to @size - 1 bytes; "" when it is none. */
void native_copy(const struct jdoc *d, uint32_t at, char *out, size_t size);

/* Append the value at @at as it stands. 0, or -1 when it is not there or larger than @max. */
int native_raw(const struct jdoc *d, uint32_t at, size_t max, struct buf *out);

#endif
