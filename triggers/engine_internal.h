/* Inside of the engine: shared by engine*.c only. */
#ifndef TRIGGERS_ENGINE_INTERNAL_H
#define TRIGGERS_ENGINE_INTERNAL_H

#include "base/map.h"
#include "base/str.h"
#include "triggers/apply.h"
#include "triggers/engine.h"
#include "triggers/match.h"
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

/* An intervention that waits for the end of a command. */
struct queued {
	size_t i; /* intervention */
	struct cause cause;
};

/* What is remembered of a command until it ends. */
struct command {
	uint32_t id;
	struct strv argv;
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
	struct map commands; /* of struct command, by id */
	struct match *match; /* owned scratch: one per region */
	uint64_t touches, fired, refused;
	bool armed;
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

/* New contents of region file @f (as regions_load()): regions follow, the edit is reported, and
 * when it is the agent's its touches are recorded. *ret_n matches are left in e->match. */
void engine_new_image(struct engine *e, struct region_file *f, const char *data, size_t len,
		      bool opaque, bool by_agent, pid_t pid, uint32_t cmd, size_t *ret_n);

/* Record a touch. */
void engine_touch(struct engine *e, const struct touch *t);

#endif
