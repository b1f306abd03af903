/* A run directory read back after the run: what happened, in order, from the files alone. Everything
 * in it may stem from the agent (paths, arguments), so it is data and never a name to open outside the
 * run directory. Files cut by a kill are read as far as they go. */
#ifndef VERIFIER_RUNDIR_H
#define VERIFIER_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/* Hard maxima of what is kept of one run; past them rundir.cut is set. */
#define RUNDIR_ACTIONS_MAX 1000000u
#define RUNDIR_EDITS_MAX   1000000u

/* What an action does: the command classes of the trace, by name ("read", "search", "edit", "test",
 * "build", "vcs", "network", "package", "other"). */
enum action_class {
	ACTION_READ,
	ACTION_SEARCH,
	ACTION_EDIT,
	ACTION_TEST,
	ACTION_BUILD,
	ACTION_VCS,
	ACTION_NETWORK,
	ACTION_PACKAGE,
	ACTION_OTHER
};

/* One action of the agent: a command (a tool call's process tree), or a tool call that the agent carried
 * out in its own process. A shell tool call and the command it started are one action (the command);
 * processes that an in-process tool starts for itself belong to the tool call. */
struct rundir_action {
	uint64_t n;     /* trace record at which it begins: orders it among edits and firings */
	uint64_t end_n; /* record at which it ended; 0 = it never did */
	uint64_t t;     /* ns of the run at @n */
	uint32_t cmd;   /* command id, 0 = in the agent's own process */
	uint64_t call;  /* model call that asked for it, 0 = unknown */
	enum action_class cls;
	struct strv argv;     /* of a command; empty for a tool call */
	char *tool;           /* name of the tool, NULL for a command */
	char *path;           /* file the tool call names, workspace-relative; NULL = none */
	uint64_t first, last; /* its lines, 0,0 = none or all */
	int status;           /* wait status of the command's first process, -1 = unknown or none */
};

/* A file of a region (or, with "watch" workspace, any workspace file) changed. */
struct rundir_edit {
	uint64_t n;
	char *path;
	uint64_t first, last; /* of the new contents, 0,0 = removed or emptied */
	bool by_user;         /* an intervention's edit; otherwise the agent's */
	uint32_t cmd;
	char pre[65], post[65]; /* SHA-256 of the contents; "" = the file was not there / is gone,
				 * or (both empty) the record does not say */
	uint64_t t;             /* ns of the run at @n */
	int64_t pid;            /* process that made it, 0 = proctor or unknown */
};

/* A read that the trace recorded with a place. */
struct rundir_read {
	uint64_t n;
	char *path;
	uint64_t first, last; /* lines of the contents at that time, 0,0 = unknown: all */
	uint32_t cmd;
	bool scan;   /* by a search or indexer */
	bool shown;  /* @first..@last are what a known tool was asked to show, not what it read */
	uint64_t t;  /* ns of the run at @n */
	int64_t pid; /* process that read */
};

/* A read or an edit overlapped region number @region of the scenario. */
struct rundir_touch {
	uint64_t n;
	char *path;
	uint64_t region;
	uint64_t first, last; /* lines of the region, by the contents at that time; 0,0 = all */
	uint32_t cmd;
	bool edit;    /* otherwise a read */
	bool scan;    /* by a search, compiler or indexer: does not count */
	bool argv;    /* a read whose lines a known tool was asked for */
	bool unasked; /* a read by a known tool that was asked for other lines */
	int64_t pid;
};

/* A model answered a main request: one step. */
struct rundir_call {
	uint64_t n, t, call;
};

/* First contents of a watched file. */
struct rundir_first {
	char *path;
	char sha256[65]; /* "" = it was not there */
};

/* One effect of a firing, as interventions.jsonl has it. */
struct rundir_firing {
	uint64_t order, round, at_n;
	bool applied, edit; /* edit: an edit effect; otherwise a message or another effect */
	char *effect, *reason, *message, *message_source, *path;
	char pre[65], post[65]; /* digests as interventions.jsonl has them; "" = none */
};

/* A message reached the model (or the agent's own channel): record and model call. For an agent without a
 * model: it was written to the agent's channel; call 0. */
struct rundir_told {
	uint64_t n, message, call;
};

struct rundir {
	char *dir;           /* owned */
	struct json_src run; /* run.json */
	struct rundir_action *action;
	size_t n_actions;
	struct rundir_edit *edit;
	size_t n_edits;
	struct rundir_read *read;
	size_t n_reads;
	struct rundir_firing *firing;
	size_t n_firings;
	struct rundir_told *told;
	size_t n_told;
	struct rundir_touch *touch;
	size_t n_touches;
	struct rundir_call *call;
	size_t n_calls;
	struct rundir_first *first;
	size_t n_first;
	size_t *edit_at,
		*first_at; /* owned: indices of edits and of first contents, by path and order */
	uint64_t calls; /* steps: main requests that a model answered (no side calls, no repeats) */
	uint64_t last_n;
	uint64_t fork_n; /* `fork` record of a continuation, 0 = none */
	bool model;      /* the agent has a model API */
	bool ended;      /* the trace has its `end` record */
	bool cut;        /* a file was cut by a kill, or a maximum was passed */
};

/* Read run directory @dir. 0 or -ERR_INPUT with file and line. Free with rundir_done(). */
int rundir_load(const char *dir, struct rundir *ret, struct err *err);

/* Free; {0} is fine. */
void rundir_done(struct rundir *rd);

/* Contents with SHA-256 @sha256 from the run's images/. 1 found (checked against the digest), 0 not
 * kept, negative on error. */
int rundir_image(const struct rundir *rd, const char *sha256, struct buf *out, struct err *err);

/* Digest of the contents of @path just before record @n (0 = at the beginning of the run), as far as edits
 * and images say: NULL = unknown, "" = not there. Borrowed. */
const char *rundir_digest_at(const struct rundir *rd, const char *path, uint64_t n);

/* patch.diff of the run into @out. 0, or -ERR_INPUT when there is none. */
int rundir_patch(const struct rundir *rd, struct buf *out, struct err *err);

/* String at a path of run.json ("task.instance_id"), NULL when absent. Borrowed. */
const char *rundir_str(const struct rundir *rd, const char *path);

/* Number there, @dflt when absent or null. */
double rundir_num(const struct rundir *rd, const char *path, double dflt);

#endif
