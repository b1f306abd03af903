/* The plan of a study ("proctor.study/1"): tasks x agents x conditions x repeats, with the bounds of the whole. What it
 * comes to, cell by cell, is study/cells.h. The file is the user's; its names become file names. */
#ifndef STUDY_STUDYPLAN_H
#define STUDY_STUDYPLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define STUDYPLAN_ROWS_MAX    1000u /* agents, conditions */
#define STUDYPLAN_REPEATS_MAX 10000u
#define STUDYPLAN_CELLS_MAX   200000u

/* What is run. */
struct study_agent {
	char *name;        /* in keys and tables; default: of the agent's file, and its model */
	char *agent;       /* file or shipped agent; "{task_dir}" is filled in */
	char *model;       /* as run --model takes it, NULL = none; "{task_dir}" is filled in */
	struct strv tasks; /* globs of instance ids, empty = all */
};

/* What happens to it: a run by itself, or continuations of another condition's run. */
struct study_condition {
	char *name;
	char *scenario, *mode, *simulator, *profile, *ladder; /* NULL = as run has it */
	uint64_t rounds, budget;                              /* 0 = as run has it */
	struct strv set; /* profile fields, "limits.wall=10m" */
	char *pair;      /* condition whose run of the same task, agent and repeat is the partner */
	char *fork;      /* condition whose runs are continued */
	struct strv at;  /* with fork: positions, each a cell */
	char *model, *clean_model, *shifted_model; /* with fork: who answers behind it */
	struct strv tasks, agents; /* globs of instance ids, of names of agents; empty = all */
};

/* Of the whole study; 0 = no limit. */
struct study_limits {
	uint64_t dollars; /* micro-dollars */
	uint64_t tokens;  /* input and output */
	uint64_t wall;    /* ns, of the calls of the study added up */
	uint64_t cells;   /* that are started */
};

enum study_order { STUDY_SHUFFLED, STUDY_AS_WRITTEN };
enum study_on_budget { STUDY_FINISH, STUDY_KILL };

/* After a fault of the host. */
struct study_retries {
	uint64_t infra;                /* so often more */
	uint64_t backoff, backoff_max; /* ns; the pause doubles from the first to the second */
};

struct study_plan {
	char *file;                   /* as given */
	char *dir;                    /* absolute: what paths in it are relative to */
	char *name;                   /* of the study */
	struct strv tasks;            /* files, directories, globs */
	struct json_array agents;     /* struct study_agent */
	struct json_array conditions; /* struct study_condition */
	uint64_t repeats, seed;
	int order; /* enum study_order */
	struct study_limits limits;
	int on_budget; /* enum study_on_budget */
	struct study_retries retries;
	bool grade, judge, label;
	char *grade_profile;
	char *out; /* directory of the study, absolute */
};

/* Names in their order, ended by NULL. */
extern const char *const study_orders[];     /* "shuffled", "as-written" */
extern const char *const study_on_budgets[]; /* "finish", "kill" */

/* Read the text of a plan of @n bytes called @name in messages, whose paths are relative to @dir (absolute). Checked are
 * names, what refers to what, and bounds; no file is looked at. 0 or -ERR_INPUT with the place and the nearest valid
 * choice. Free with studyplan_done(). */
int studyplan_parse(const char *name, const char *text, size_t n, const char *dir,
		    struct study_plan *ret, struct err *err);

/* The same from a file. */
int studyplan_load(const char *path, struct study_plan *ret, struct err *err);

/* What the journal keeps of the plan beside its cells: name, seed, order, limits, retries, ... as one line of JSON that
 * is the same for the same settings. */
void studyplan_settings(const struct study_plan *p, struct buf *out);

/* Fields as "study PATH TYPE NEEDED DOC" lines, for the manual and its test (as profile_fields_doc()). */
extern const struct json_field studyplan_rows[];

/* Is @s a name that may be part of a file name: A-Z a-z 0-9 . _ + = @ -, not beginning with a dot or a dash, 1 to 100
 * bytes? */
bool studyplan_is_name(const char *s);

/* Agent or condition number @i. */
const struct study_agent *studyplan_agent(const struct study_plan *p, size_t i);
const struct study_condition *studyplan_condition(const struct study_plan *p,
						  size_t i); /* see studyplan_agent() */

/* Free; {0} is fine. */
void studyplan_done(struct study_plan *p);

#endif
