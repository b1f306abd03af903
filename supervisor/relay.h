/* Moves the agent's standard streams: ours to its input, its output to ours and to the logs, with a
 * count of bytes. Never blocks the tracer: writes are made only where they cannot wait. */
#ifndef SUPERVISOR_RELAY_H
#define SUPERVISOR_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	RELAY_CHUNK = 65536,
	RELAY_TAPPED_MAX = 16 << 20, /* bytes that wait for an agent which is spoken to */
};

/* One direction. */
struct relay_pipe {
	int from, to, log; /* -1 when absent; to and log are lent unless own_to */
	bool own_to;
	bool to_pollable; /* not a regular file: ask before writing */
	bool to_dead;     /* reader went away: swallow the rest */
	bool eof;
	bool last; /* the writers are dead: now we may wait for our reader */
	char data[RELAY_CHUNK];
	size_t len, done;
	struct buf extra; /* bytes to send besides (messages through stdin) */
};

struct relay {
	int epfd; /* borrowed */
	struct relay_pipe in, out, err;
	int child[3]; /* the box's ends; closed by relay_started() */
	bool tty;     /* a fresh pty carries all three */
	bool keep_in; /* messages will come through stdin: our own end of file does not close it */
	int master;
	struct termios saved; /* our terminal, to be put back */
	bool raw;
	uint64_t bytes; /* output of the agent so far */
	uint64_t max;   /* more than this is swallowed, 0 = no limit */
	int log[2];     /* stdout.log, stderr.log */
	/* Reads the agent's output along; NULL = nobody. */
	void (*tap)(void *arg, const char *data, size_t n);
	void *tap_arg; /* borrowed */
};

/* Which of the tags given to epoll belong here. */
enum {
	RELAY_TAG_IN = 100,
	RELAY_TAG_OUT,
	RELAY_TAG_ERR,
	RELAY_TAG_IN_TO,
	RELAY_TAG_OUT_TO,
	RELAY_TAG_ERR_TO,
	RELAY_TAG_MAX
};

/* Empty: relay_finish() is fine from now on. */
void relay_init(struct relay *r);

/* Make pipes (or a pty when our standard input is a terminal and @want_tty) and the log files below
 * @dir. @quiet: output goes to the logs only. @keep_in: messages will be sent, our own end of file
 * does not close the agent's input. 0 or negative. */
int relay_open(struct relay *r, const char *dir, int epfd, bool want_tty, bool quiet, bool keep_in,
	       uint64_t max_output, struct err *err);

/* The box holds its ends now: close ours, switch our terminal to raw, start polling. */
int relay_started(struct relay *r, struct err *err);

/* Something happened on @tag. */
void relay_event(struct relay *r, int tag);

/* Send @n bytes to the agent's standard input (or terminal) behind what is queued. 0 or -1. */
int relay_send(struct relay *r, const char *text, size_t n);

/* From now on @tap is shown all that comes from the agent's standard output, before it is passed on, and
 * the agent's input is what relay_send() sends (at most RELAY_TAPPED_MAX bytes wait): ours is not read.
 * Between relay_open() with @keep_in and relay_started(). */
void relay_tap(struct relay *r, void (*tap)(void *arg, const char *data, size_t n), void *arg);

/* The agent's input ends behind what is queued. */
void relay_end_input(struct relay *r);

/* Our terminal changed its size: pass it on. */
void relay_winch(struct relay *r);

/* The box is dead: move what is left, put the terminal back, close everything. */
void relay_finish(struct relay *r);

#endif
