/* One supervised run while it is going on: the state that the event handlers share. */
#ifndef SUPERVISOR_SUP_H
#define SUPERVISOR_SUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/systab.h"
#include "gateway/gateway.h"
#include "profiles/plan.h"
#include "sandbox/box.h"
#include "supervisor/budget.h"
#include "supervisor/cmdtrack.h"
#include "supervisor/helpers.h"
#include "supervisor/holders.h"
#include "supervisor/images.h"
#include "supervisor/relay.h"
#include "supervisor/sink.h"
#include "supervisor/tracee.h"
#include "supervisor/watch.h"
#include "supervisor/watchdog.h"
#include "triggers/engine.h"
#include "verifier/wsrules.h"

/* Life of the event loop. */
enum sup_phase {
	SUP_RUNNING,
	SUP_STOPPING, /* a limit or signal asked the agent to end; grace runs */
	SUP_DRAINING, /* the agent has exited; its children have a moment */
	SUP_KILLED,   /* the box was killed; collecting what is left */
	SUP_DONE,
};

enum end_reason {
	END_NONE,
	END_EXITED,
	END_SIGNAL,
	END_LIMIT,
	END_POLICY,
	END_INTERRUPTED,
	END_ERROR
};

/* What was refused, counted by what and rule. */
struct denied {
	char *what, *rule; /* owned */
	uint64_t count;
};

struct lastwords;

struct sup {
	const struct plan *plan;   /* borrowed */
	struct box *box;           /* borrowed */
	struct sink *sink;         /* borrowed */
	struct engine *engine;     /* borrowed; NULL = nothing is followed, nothing to fire */
	struct relay *relay;       /* borrowed */
	struct native *native;     /* owned by steer.h; NULL unless message_via is native */
	struct gwsim *sim;         /* owned by gwsim.h; NULL without --simulator */
	struct services *services; /* owned by services.h; NULL without any */
	struct userproc *user;     /* owned by userproc.h; NULL = nobody reacts */
	struct steps *steps;       /* owned by the run; NULL = no model, or no overlay */
	struct forkpoint *fork;    /* borrowed; NULL = this run continues no other */
	uint64_t fork_ns;          /* sup_now() at the fork: the wall limit counts from here */
	const char *upper; /* overlay's upper directory, for the disk limit; NULL = direct */
	struct systab tab;
	struct watch watch;
	struct wsrules *rules; /* owned by the run: what of the workspace is followed; NULL = all */
	bool follow_full;      /* there are more files than are followed, and that was said */
	struct images images;
	struct tracees ts;
	struct cmdtrack cmds;
	struct budget budget;
	/* owned by checkpoint.h; NULL = none are made */
	struct checkpoints *checkpoints;
	struct helpers helpers;
	struct holders holders;
	char *goal, *verifier; /* owned: versions in force; NULL = "initial" */
	char base_commit[41];  /* that the agent's HEAD began at, "" = none */
	enum trace_level level;
	enum sup_phase phase;
	uint32_t epoch;                  /* interventions applied */
	uint64_t last_order, last_round; /* of the last applied firing */
	bool exit_events;                /* PTRACE_O_TRACEEXIT is on */
	unsigned zoom_all;               /* region descriptors under way in UNIX sockets */
	bool passed_unread; /* such a one may be under way in a message whose words changed */
	bool holding;       /* the world is stopped for an edit */
	pid_t alone;        /* everybody but this task is held until its call is over; 0 nobody */
	uint32_t boundary_cmd; /* command that ended and whose queue is being served */
	pid_t root;            /* the agent's root process */
	int root_status;       /* its wait status */
	bool root_gone;
	unsigned passed; /* bits of enum run_anchor: points that the run has passed */
	bool edited;     /* the agent has changed a file of the workspace */
	enum end_reason end;
	int end_signal;
	char *end_detail;        /* owned text for END_ERROR */
	enum err_code end_code;  /* and its kind */
	uint64_t deadline;       /* clock_mono() when the present phase ends, 0 none */
	uint64_t cpu_exited;     /* ns of CPU of the processes that have exited */
	uint64_t next_disk;      /* clock_mono() of the next disk measurement */
	uint64_t touches, stops; /* counts for run.json */
	struct denied *denied;   /* owned */
	size_t n_denied, cap_denied;
	/* the gateway and what came through it */
	struct gateway *gw;      /* borrowed; NULL = there is none */
	bool gw_over, gw_reaped; /* nothing comes from it any more; its process was reaped */
	pid_t lead; /* the process that asks the model, the root before it is known: its
				  * children are the commands */
	uint64_t gw_messages, messages_placed, messages_lost; /* user messages */
	uint64_t main_calls, cached_tokens, unknown_costs, unknown_usage;
	struct strv unmet; /* expectations of a script */
	uint64_t net_allowed, net_denied, net_in, net_out, net_relays;
	const char *dir;      /* borrowed: run directory */
	struct lastwords *lw; /* borrowed */
	struct watchdog dog;
	bool tidy;  /* ending without a signal: the agent has a last answer to read */
	bool crowd; /* several tasks stop in turn */
	int timer_fd, signal_fd, epfd;
};

/* Count a refusal. */
void sup_denied(struct sup *s, const char *what, const char *rule);

/* Begin the end: asks the agent to stop (SIGTERM, grace) or kills at once by the profile and the
 * reason. The first reason stands. */
void sup_end(struct sup *s, enum end_reason why, bool at_once);

/* A limit was reached (budget.hit): end as the profile says. @at_once: whatever it says, kill. With a
 * model the agent is not signalled first: it has half of the grace to take the closing answer. */
void sup_end_limit(struct sup *s, bool at_once);

/* Write the `budget` record of @kind, once: when 80 % of its limit are used, or now because it was
 * @reached. */
void sup_warn(struct sup *s, enum limit_kind kind, bool reached);

/* Kill the box now. */
void sup_kill(struct sup *s);

/* ns since the run began. */
uint64_t sup_now(const struct sup *s);

/* Restart a stopped task in the mode its process needs, delivering @sig. */
void sup_resume(struct sup *s, struct tracee *t, int sig);

/* Is this process watched call by call at present? */
bool sup_zoomed(const struct sup *s, const struct process *p);

/* Begin a trace record for a task. */
struct buf *sup_record(struct sup *s, enum trace_kind kind, const struct tracee *t);

/* Report an engine failure once: ends the run as an error. */
void sup_engine_failed(struct sup *s, const struct err *err);

#endif
