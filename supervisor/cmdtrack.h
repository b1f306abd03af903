/* Where one tool call begins and ends: the process tree of each direct child of the agent's root
 * process. It ends when that child has exited; what it leaves in the background goes on under its
 * id without holding it open, and when the last of it exits, that is a second end: what it touched
 * meanwhile is served then. */
#ifndef SUPERVISOR_CMDTRACK_H
#define SUPERVISOR_CMDTRACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "supervisor/classify.h"

struct command {
	uint32_t id;
	bool announced;     /* its argv is known and was told */
	uint64_t started;   /* ns of the run */
	enum cmd_class cls; /* highest of its programs, and of what it did */
	struct strv argv;   /* of its first exec */
	unsigned programs;  /* execs in its tree */
	unsigned live;      /* processes of its tree */
	bool ended;         /* its direct child has exited; what it left behind goes on */
};

/* {0} is empty. */
struct cmdtrack {
	struct map open;  /* id -> struct command (owned) */
	uint32_t last;    /* highest id given out */
	uint32_t dropped; /* of these, not the agent's: its own wrappers */
};

/* A direct child of the root was forked at @now: a command begins. Borrowed until
 * cmdtrack_close(). */
struct command *cmdtrack_fork(struct cmdtrack *c, uint64_t now);

/* The open command @id, NULL when it has ended. Borrowed. */
struct command *cmdtrack_get(struct cmdtrack *c, uint32_t id);

/* A program of command @id was executed. Returns the command when it is its first program: argv is
 * known now; NULL otherwise. */
struct command *cmdtrack_exec(struct cmdtrack *c, uint32_t id, char *const *argv);

/* A followed file was edited by a process of command @id: whatever its programs are, it is an edit now, unless it
 * counts as more (a test run). Unknown ids are passed over. */
void cmdtrack_edited(struct cmdtrack *c, uint32_t id);

/* The direct child of command @id executed a shell with a text of its own: what it did before was a wrapper,
 * and this is the command. Returns it, NULL when @argv is no such shell or the command is not known. */
struct command *cmdtrack_again(struct cmdtrack *c, uint32_t id, char *const *argv);

/* Command @id has ended and was dealt with. */
void cmdtrack_close(struct cmdtrack *c, uint32_t id);

/* Free everything. */
void cmdtrack_done(struct cmdtrack *c);

#endif
