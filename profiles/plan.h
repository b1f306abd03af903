/* The plan: task, agent, profile, scenario and flags merged, resolved, checked and frozen. It is
 * printed by `run --print-plan`; its digest goes into every output of the run. */
#ifndef PROFILES_PLAN_H
#define PROFILES_PLAN_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "profiles/agent.h"
#include "profiles/image.h"
#include "profiles/install.h"
#include "profiles/model.h"
#include "profiles/netrules.h"
#include "profiles/prices.h"
#include "profiles/profile.h"
#include "profiles/scenario.h"
#include "profiles/simulator.h"
#include "profiles/task.h"

/* A run that a schedule by progress is measured on. */
struct plan_reference {
	char *run;                /* owned: its run.json */
	uint64_t commands, calls; /* of the agent, and of its model (side calls left out) */
};

/* What two runs of a pair may differ in, beside the scenario itself. */
struct plan_condition {
	int mode;                         /* enum scenario_mode; vanilla without a scenario */
	uint64_t k;                       /* rounds: 0 in vanilla, 1 in co-edit mode */
	uint64_t repeat;                  /* from 1 */
	struct plan_reference *reference; /* owned */
	size_t n_references;
};

/* What the command line says. Strings are borrowed. */
struct plan_request {
	const char *task;     /* file, NULL = current directory */
	const char *agent;    /* file or shipped name, NULL with argv */
	char *const *argv;    /* command behind "--", NULL-terminated, NULL when absent */
	const char *profile;  /* name or file; NULL = "agent", or "command" without --task */
	const char *scenario; /* file, NULL = vanilla */
	const char *mode;     /* overrides the scenario's, NULL = as it says */
	uint64_t rounds;      /* K, overrides the scenario's, 0 = as it says */
	uint64_t repeat;      /* which repetition of the condition this is, 0 = the first */
	const char *const *reference; /* run directories, NULL-terminated or NULL */
	const char *model;
	const char *simulator;  /* who writes messages without fixed text, NULL = the templates */
	const char *const *set; /* "limits.wall=10m" overrides of profile fields, NULL-terminated
				   * or NULL */
	const char *cwd;        /* absolute */
};

/* Owns everything below; const after plan_build(). */
struct plan {
	struct task *task;
	struct agent *agent;
	struct profile *profile;
	struct scenario *scenario; /* NULL = vanilla */
	struct plan_condition condition;
	struct model *model; /* where answers come from; NULL when the agent has no API */
	char *model_name;    /* {model}: named by --model, else the agent's default, else "model" */
	struct prices *prices;       /* NULL when the agent has no API */
	struct simulator *simulator; /* part of the condition; NULL = messages are templates */
	struct netrules rules;       /* of profile->hosts */
	char *agent_dir;  /* where the agent is installed on the host when the box's root file
				    * system does not show it; bound at AGENT_DIR; NULL otherwise */
	char *program;    /* {program}: the agent's program in the box, found on the host; NULL
				 * when the agent file names no package */
	char *statement;  /* the problem statement as the agent gets it, with the limits told
			      * when the profile wants that; "" when there is none */
	char *rootfs;     /* effective: the task's unless the profile says more */
	struct strv argv; /* agent command with templates filled in */
	struct strv env;  /* complete environment of the agent, "KEY=value", sorted */
	char *home;       /* HOME in the box */
	struct strv home_files;       /* "path below HOME=template it came from" */
	struct strv home_texts;       /* contents with templates filled in, same order */
	char digest[DIGEST_HEX];      /* SHA-256 of plan_print()'s text */
	char pair_digest[DIGEST_HEX]; /* the same without the condition (profiles/plan_pair.h) */
	/* That rootfs names, owned; NULL = none. */
	struct image *image;
};

/* Load all files, apply --set, fill templates, cross-check (scenario.instance_id matches the
 * task, network mode can be had, message channel exists, ...). 0 or negative: ERR_INPUT for
 * files, ERR_USAGE for flags, ERR_HOST for what this version cannot do. Free with plan_free(). */
int plan_build(const struct plan_request *req, struct plan **ret, struct err *err);

/* Make of @p the plan of a run whose agent takes up @session (agent_session()) instead of beginning: its command line is
 * that of agent.resume, which must be there. 0 or -ERR_INPUT. */
int plan_resume(struct plan *p, const char *session, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct plan *plan_free(struct plan *p);

/* The whole plan as pretty JSON in a stable order ("schema": "proctor.plan/1"); diffs and
 * statements appear by digest and length. Same inputs, same bytes. */
void plan_print(const struct plan *p, struct buf *out);

/* One profile override "path.to.field=value" as --set takes it, through the same rows that read
 * the file. 0 or -ERR_USAGE with the nearest field. */
int plan_set(struct profile *p, const char *assignment, struct err *err);

#endif
