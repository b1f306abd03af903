/* Inside of the engine: shared by engine*.c only. */
#ifndef TRIGGERS_ENGINE_INTERNAL_H
#define TRIGGERS_ENGINE_INTERNAL_H

#include "base/map.h"
#include "base/str.h"
#include "triggers/apply.h"
#include "triggers/engine.h"
#include "triggers/match.h"
#include "triggers/patched.h"
#include "triggers/regions.h"
#include "triggers/rounds.h"
#include "triggers/schedule.h"
#include "triggers/swetouch.h"

/* Why an intervention fires. A value; path is borrowed from the scenario or static. */
struct cause {
	const char *event; /* "open", "read", "edit"; NULL = no touch */
	const char *path;
	uint64_t first, last;
	const char *level;
	uint32_t cmd;
};

/* An intervention whose event has come and whose delay has not passed. */
struct delayed {
	enum { DELAY_NONE, DELAY_NEW, DELAY_RUNS } state; /* NEW: the next tick says from when on */
	uint64_t due;                                     /* ns of the run */
	struct cause cause;                               /* of the event */
};

/* An intervention that waits for the end of a command. */
struct queued {
	size_t i; /* intervention */
	struct cause cause;
};

/* What is remembered of a command until it ends. */
struct command {
	uint32_t id;
	struct strv argv;
	uint64_t number;      /* from 1 in the order they began, 0 = not counted */
	bool fired;           /* at most one intervention per command */
	struct queued *queue; /* owned, at most one entry per intervention */
	size_t n_queue, cap_queue;
	struct swetouch events; /* of its text, by the released rule */
};

/* Life: engine_new() -> reports -> engine_free(). */
/* Lines that the model asked for. */
struct asked {
	char *path; /* owned, as the model wrote it */
	uint64_t first, last;
};

struct engine {
	const struct scenario *sc; /* borrowed, may be NULL */
	const struct engine_ops *ops;
	void *arg;
	char *workdir;         /* owned, NULL = not known */
	struct patch ***patch; /* owned: [intervention][effect], NULL where there is no edit */
	struct regions regions;
	struct rounds rounds;
	struct schedule schedule;
	struct delayed *delayed; /* owned: per intervention */
	struct patched patched;  /* what our edits wrote */
	struct map commands;     /* of struct command, by id */
	struct match *match;     /* owned scratch: one per region */
	uint64_t touches, fired, refused;
	bool armed;
	uint64_t held; /* bytes of images of files without regions */
	struct asked asked[ENGINE_ASKED_MAX];
	size_t n_asked;
	/* Counts images and command boundaries. What was refused at a moment would be refused again
	 * at the same one: a program that reads a file byte by byte must not stop the world each
	 * time for nothing. */
	uint64_t moment;
	uint64_t *refused_at; /* owned: per intervention, UINT64_MAX = never */
};

/* Command @id, made when it is not known yet. Borrowed. */
struct command *engine_command(struct engine *e, uint32_t id);

/* Carry out intervention @i for @cause in the next round. Returns the number of effects applied (0:
 * refused or nothing to do, the round is given back), negative when the world cannot be held. */
int engine_fire(struct engine *e, size_t i, const struct cause *cause, struct err *err);

/* A file as it is found. */
struct look {
	struct buf b;
	const char *data; /* borrowed from b or from elsewhere; NULL = not there, or opaque */
	size_t len;
	bool opaque;
	char sha256[DIGEST_HEX]; /* of an opaque file, "" = not known */
};

/* Look at file @path. Everything that the agent can put in the way of a file (a link, a directory, a
 * giant) is "no image", never our failure. @l is filled anew; free with engine_look_done(). */
void engine_look(struct engine *e, const char *path, struct look *l);
void engine_look_done(struct look *l); /* see engine_look() */

/* Does @f hold something else than @l? */
bool engine_differs(const struct region_file *f, const struct look *l);

/* First contents of a file that has just been added. */
void engine_first_image(struct engine *e, struct region_file *f, const struct look *l);

/* Who changed a file. */
struct doer {
	bool by_agent;
	uint64_t order; /* of the intervention, when it is not the agent */
	bool quiet;     /* no touches: told when the run was over */
	pid_t pid;
	uint32_t cmd;
};

/* New contents of followed file @f: regions follow, the edit is reported, and when it is the agent's its
 * touches are recorded. *ret_n matches are left in e->match. */
void engine_new_image(struct engine *e, struct region_file *f, const struct look *l,
		      const struct doer *who, size_t *ret_n);

/* Compare all followed files, as far as ENGINE_SETTLE_MAX reaches, and report what differs as @who's. */
void engine_look_all(struct engine *e, const struct doer *who);

/* Record the touch of match @m. */
void engine_touch_match(struct engine *e, const struct region_file *f, const struct match *m,
			pid_t pid, uint32_t cmd);

/* Lines of @path that the model asked the agent's own process for, into @out. NULL when nothing is known
 * of that. */
const struct argvrange *engine_asked_of(const struct engine *e, const char *path,
					const struct access *a, struct argvrange *out);

/* Words of command @cmd, NULL when not known. */
char *const *engine_argv_of(const struct engine *e, uint32_t cmd);

/* Record a touch. */
void engine_touch(struct engine *e, const struct touch *t);

#endif
