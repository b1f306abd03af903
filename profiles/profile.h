/* The policy of a run. Read from JSON; "extends" names another profile (chains allowed, cycles
 * refused); what a file does not say is inherited. */
#ifndef PROFILES_PROFILE_H
#define PROFILES_PROFILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "profiles/limits.h"

enum trace_level { TRACE_OFF, TRACE_FILES, TRACE_FULL };
enum on_limit { ON_LIMIT_FINISH, ON_LIMIT_REFUSE, ON_LIMIT_KILL };
enum net_mode { NET_NONE, NET_ALLOWLIST, NET_PUBLIC };
enum delivery { DELIVERY_BUFFERED, DELIVERY_STREAM };
enum provider_tools { PROVIDER_STRIP, PROVIDER_REFUSE };
enum pin { PIN_REWRITE, PIN_REFUSE, PIN_OFF };
enum home_mode { HOME_EMPTY };
enum workspace_mode { WORKSPACE_OVERLAY, WORKSPACE_DIRECT };
enum watch_mode { WATCH_REGIONS, WATCH_WORKSPACE };
enum checkpoint_mode { CHECKPOINTS_NONE, CHECKPOINTS_REQUESTS };

/* The layers a profile may require and the posture reports. */
enum layer {
	LAYER_USERNS,
	LAYER_MOUNTS, /* mount namespace, pivot_root */
	LAYER_PIDNS,
	LAYER_NETNS,
	LAYER_IPCNS,
	LAYER_UTSNS,
	LAYER_CGROUPNS,
	LAYER_OVERLAY,
	LAYER_SECCOMP,
	LAYER_LANDLOCK,
	LAYER_CAPS,
	LAYER_NO_NEW_PRIVS,
	LAYER_PTRACE,
	LAYER_CGROUP, /* v2 or v1 resource control */
	LAYER_MAX
};

/* "userns", "mounts", ... as in "require" and in run.json's posture. */
const char *layer_name(enum layer l);

struct profile {
	char *file; /* where it was read from */
	char *name;
	/* filesystem */
	char *rootfs;     /* "host" or "dir:PATH" */
	struct strv read; /* host paths bound read-only in addition */
	struct strv
		write; /* host paths bound writable: leaves the overlay, so it is said in posture */
	struct strv hide; /* paths covered by an empty file or directory */
	int home;         /* enum home_mode */
	int workspace;    /* enum workspace_mode */
	/* network */
	int net; /* enum net_mode */
	struct strv hosts;
	/* model */
	int delivery;           /* enum delivery */
	int provider_tools;     /* enum provider_tools: provider-side tools and remote URLs */
	int pin;                /* enum pin: requests for another model than --model names */
	int reattach;           /* 0 never, 1 once: a message whose place compaction took away */
	uint64_t model_timeout; /* ns, for one answer; never 0 */
	uint64_t model_retries; /* attempts after the first */
	char *prices;           /* price file, NULL = the shipped one */
	bool tell_limits;       /* the agent is told its limits with the problem statement */
	/* simulator: values of --simulator (profiles/simulator.h) */
	double sim_temperature;  /* 0 to 2 */
	uint64_t sim_max_tokens; /* of one message, 1 to 1000 */
	uint64_t sim_timeout;    /* ns of one try, never 0; a message may take half as much again */
	uint64_t sim_retries;    /* tries after the first */
	char *sim_prompt;        /* system prompt file, NULL = the shipped one */
	/* syscalls */
	struct strv deny; /* names, in addition to the built-in rows */
	bool nested_userns;
	struct limits limits;
	int on_limit;        /* enum on_limit */
	uint64_t grace;      /* ns */
	int trace;           /* enum trace_level */
	int watch;           /* enum watch_mode: files that are followed closely */
	bool steps;          /* digest the workspace at every request to the model, for fork */
	int checkpoints;     /* enum checkpoint_mode: what is kept for fork --resume native */
	struct strv require; /* layer names: the floor below which a run is refused */
};

/* Find and read a profile: a path when @name holds a slash or ends in ".json", otherwise
 * NAME.json in the user's configuration directory ($XDG_CONFIG_HOME/proctor/profiles), then in
 * the shipped data. Never from the current directory. 0 or -ERR_INPUT (with the nearest name).
 * Free with profile_free(). */
int profile_load(const char *name, struct profile **ret, struct err *err);

/* Read a proctor.profile/1 text of @n bytes that came from @name (used in error texts and kept as
 * profile->file). @dir: absolute directory that paths in it are relative to; NULL: they must be
 * absolute. "extends" is followed as in profile_load(). 0 or -ERR_INPUT with position. Free with
 * profile_free(). */
int profile_parse(const char *name, const char *text, size_t n, const char *dir,
		  struct profile **ret, struct err *err);

/* Every field that task, agent, profile and scenario files accept, for the manual and the test that
 * keeps it complete: one line each, tab separated: kind of file, path ("test.timeout",
 * "regions[].path"), type, "required" or "optional", one line of text. */
void profile_fields_doc(struct buf *out);

/* Names as in files and in run.json ("files", "finish", "no-network", "overlay"). Static. */
const char *profile_trace_name(enum trace_level v);
const char *profile_on_limit_name(enum on_limit v);             /* see profile_trace_name() */
const char *profile_net_name(enum net_mode v);                  /* see profile_trace_name() */
const char *profile_delivery_name(enum delivery v);             /* see profile_trace_name() */
const char *profile_provider_tools_name(enum provider_tools v); /* see profile_trace_name() */
const char *profile_pin_name(enum pin v);                       /* see profile_trace_name() */
const char *profile_reattach_name(int v);                       /* see profile_trace_name() */
const char *profile_home_name(enum home_mode v);                /* see profile_trace_name() */
const char *profile_workspace_name(enum workspace_mode v);      /* see profile_trace_name() */
const char *profile_watch_name(enum watch_mode v);              /* see profile_trace_name() */
const char *profile_checkpoints_name(enum checkpoint_mode v);   /* see profile_trace_name() */

/* Directory of the shipped data: $PROCTOR_DATADIR, else the installed place, else profiles/data
 * beside the program's source when it runs from its build directory. Caller frees. */
char *profile_datadir(void);

/* Path of the shipped program @name that runs in boxes ("witness/exec", "witness/hold"), looked for beside the shipped data, in the build
 * directory that we run from, and where we are installed. NULL when this installation has none: it was built
 * without a static C library. Caller frees. */
char *profile_program(const char *name);

/* Free; NULL is fine. Returns NULL. */
struct profile *profile_free(struct profile *p);

#endif
