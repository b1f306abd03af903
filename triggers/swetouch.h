/* The released trigger rule "swe-touch-1.0": a command's text, read by a best-effort shell parser,
 * becomes read and edit events. Kept as it is published, with its blind spots:
 *   - an edit never has lines, so any edit of a file with a critical region touches it;
 *   - a name without a dot in its last component (Makefile, LICENSE) is never an edit;
 *   - sed -n reads only by plain "a,bp" addresses; sed without -n and -i is nothing;
 *   - what a program computes (variables, globs, xargs, find -exec, scripts) is not seen. */
#ifndef TRIGGERS_SWETOUCH_H
#define TRIGGERS_SWETOUCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWETOUCH_EVENTS_MAX 1024u

struct swetouch_event {
	bool edit;            /* otherwise a read */
	char *path;           /* owned, normalised: "./a//b" is "a/b"; may be absolute */
	uint64_t first, last; /* 0,0 = no range */
};

struct swetouch {
	struct swetouch_event *v; /* owned */
	size_t n, cap;
};

/* Events of a command, in the order of its text. @argv is NULL-terminated; "sh -c TEXT" is read as
 * TEXT, anything else as one command. Add to *out ({0} at first); free with swetouch_done(). */
void swetouch_command(struct swetouch *out, char *const *argv);

/* Events of shell text, as swetouch_command(). */
void swetouch_text(struct swetouch *out, const char *text);

/* Reads seen in what a command printed: "path:line:" as of grep, and the numbers of cat -n or nl
 * when the command @argv names exactly one such file. As swetouch_command(). */
void swetouch_output(struct swetouch *out, char *const *argv, const char *data, size_t n);

/* Free; {0} is fine. */
void swetouch_done(struct swetouch *t);

/* Does @path of an event name workspace file @file? @workdir is where the workspace is in the box,
 * NULL = unknown: then an absolute path matches by its end. */
bool swetouch_same_path(const char *path, const char *file, const char *workdir);

#endif
