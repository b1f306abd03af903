/* Pieces of the run directory's reader. Shared by rundir*.c and its tests only. */
#ifndef VERIFIER_RUNDIR_INTERNAL_H
#define VERIFIER_RUNDIR_INTERNAL_H

#include <cjson/cJSON.h>

#include "base/map.h"
#include "verifier/rundir.h"

/* One model answer and what the agent did for it. */
struct rundir_group {
	uint64_t call;
	bool subagent;           /* its tool calls may go on while other answers come */
	size_t n_tools, n_shell; /* tool calls in it; those that run a command */
	size_t n_commands;       /* commands started since */
};

/* What is known of an action only while the trace is read. */
struct rundir_pending {
	size_t group;  /* index into groups */
	int64_t pid;   /* of a command: its first process */
	bool shell;    /* a tool call that runs a command */
	bool other;    /* a tool call of unknown kind */
	bool dropped;  /* turned out to be no action */
	bool executed; /* a program was seen */
};

/* Life: {0} with rd, workdir -> rundir_read_trace() -> rundir_actions_settle() -> rundir_reader_done(). */
struct rundir_reader {
	struct rundir *rd;
	const char *workdir; /* borrowed; NULL = unknown */
	size_t cap_actions, cap_edits, cap_reads, cap_touches, cap_calls, cap_first, cap_told,
		cap_firings, cap_groups, cap_pending;
	struct rundir_pending *pending; /* owned: beside rd->action */
	struct rundir_group *group;     /* owned; the first stands for "before the first answer" */
	size_t n_groups;
	struct map by_pid; /* process -> index of its command's action + 1 */
	struct map by_cmd; /* command -> the same */
};

/* What every record carries. */
struct rundir_head {
	uint64_t n, t;
	int64_t pid;
	uint32_t cmd;
};

/* Read trace file @path into r->rd. 0 or -ERR_INPUT with file and line. */
int rundir_read_trace(struct rundir_reader *r, const char *path, struct err *err);

/* Read the firings of @path; a missing file has none. As rundir_read_trace(). */
int rundir_read_firings(struct rundir_reader *r, const char *path, struct err *err);

/* A process was made: @child_cmd is its command, 0 = the agent's own process. */
void rundir_on_spawn(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec);

/* A program was executed, a process ended, a command ended, the model answered, a tool call stood in the
 * answer. */
void rundir_on_exec(struct rundir_reader *r, const struct rundir_head *h, const cJSON *rec);
void rundir_on_exit(struct rundir_reader *r, const struct rundir_head *h,
		    const cJSON *rec); /* see rundir_on_exec() */
void rundir_on_command(struct rundir_reader *r, const struct rundir_head *h,
		       const cJSON *rec); /* see rundir_on_exec() */
void rundir_on_model(struct rundir_reader *r, const struct rundir_head *h,
		     const cJSON *rec); /* see rundir_on_exec() */
void rundir_on_tool(struct rundir_reader *r, const struct rundir_head *h,
		    const cJSON *rec); /* see rundir_on_exec() */

/* A record of the agent's own process @pid: if that was taken for a command's, the command was a wrapper of
 * the agent and is none. */
void rundir_own_process(struct rundir_reader *r, int64_t pid);

/* The trace has been read: tool calls and commands become actions. */
void rundir_actions_settle(struct rundir_reader *r);

/* Everything has been read: make the orders that rundir_digest_at() searches. */
void rundir_index(struct rundir *rd);

/* Free; leaves r->rd. */
void rundir_reader_done(struct rundir_reader *r);

/* String member as it was before it was escaped, caller frees; NULL when absent. */
char *rundir_string(const cJSON *rec, const char *key);

/* Number member, 0 when absent or no whole number. */
uint64_t rundir_number(const cJSON *rec, const char *key);

/* "lines": [first, last] under @key; 0,0 when absent. */
void rundir_lines(const cJSON *rec, const char *key, uint64_t *first, uint64_t *last);

/* Digest member into @out; "" when absent or no digest. */
void rundir_digest(const cJSON *rec, const char *key, char out[65]);

/* Path member relative to the workspace, caller frees; NULL when absent. */
char *rundir_path(const struct rundir_reader *r, const cJSON *rec, const char *key);

#endif
