/* What carries out the cells of a study. The scheduler decides what is started when; an engine starts it somewhere, knows
 * whether it still runs, and ends it. What a cell leaves lies in its directory, which the engine makes sure is complete
 * before it says that the cell has ended. */
#ifndef STUDY_ENGINE_H
#define STUDY_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* By what an engine finds a cell again, also after a restart. Kept in the journal. */
struct engine_handle {
	char id[64];    /* pid, job number, ...; "" = none */
	uint64_t start; /* local: start time of the process in clock ticks since boot */
	char boot[40];  /* local: which boot that was */
};

struct engine_job {
	const char *study; /* absolute directory of the study */
	const char *key;   /* of the cell */
	const char *dir;   /* directory of the attempt, relative to the study; holds job.json */
};

enum engine_state {
	ENGINE_QUEUED,  /* handed over, not yet at work */
	ENGINE_RUNNING, /* or believed to be */
	ENGINE_ENDED,   /* and its directory is complete */
};

struct engine_status {
	enum engine_state state;
	bool has_status; /* it was our child, and ended with: */
	int status;      /* as waitpid(2) gives it */
};

struct engine_options {
	const char *study; /* absolute directory; borrowed */
	const char *const *
		command; /* program and first arguments; the directory of the attempt is put behind.
				     * NULL-terminated, borrowed */
};

/* An engine. Functions return 0 or a negative error; @e is what open() made. */
struct engine_ops {
	const char *name;
	int (*open)(const struct engine_options *o, void **ret, struct err *err);
	/* Make ready: *ret is its handle. It does not begin before release(), and never does when we die
	 * before: so no cell runs that the journal does not know. */
	int (*start)(void *e, const struct engine_job *job, struct engine_handle *ret,
		     struct err *err);
	/* The journal has the handle: begin. */
	int (*release)(void *e, const struct engine_handle *h, struct err *err);
	/* A handle of an earlier call of the study: watch it, if it still lives. *ret_lives says so. */
	int (*adopt)(void *e, const struct engine_handle *h, bool *ret_lives, struct err *err);
	/* How is it? Once it has ended it is forgotten. */
	int (*poll)(void *e, const struct engine_handle *h, struct engine_status *ret,
		    struct err *err);
	/* Bytes of memory that it has at present; 0 = unknown, or elsewhere. */
	uint64_t (*memory)(void *e, const struct engine_handle *h);
	/* End it: asked to, or at once (@hard). */
	int (*cancel)(void *e, const struct engine_handle *h, bool hard, struct err *err);
	/* A descriptor that is readable when poll() would say something new; -1 = ask now and then. */
	int (*fd)(void *e);
	/* Does every cell take its memory and disk from this machine? */
	bool here;
	/* Free; what runs goes on. */
	void (*close)(void *e);
};

/* Processes of this machine, each in a session of its own, so that they live on when the study is killed. */
extern const struct engine_ops engine_local;

/* All engines, NULL-terminated, and their names for options. */
extern const struct engine_ops *const engine_all[];
extern const char *const engine_names[]; /* see engine_all */

#endif
