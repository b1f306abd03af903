/* The facade: the supervisor reports accesses, commands and edits; the engine decides when an
 * intervention fires and carries it out through a table of functions it is given. Pure but for
 * that table: unit tests drive it with a fake one. */
#ifndef TRIGGERS_ENGINE_H
#define TRIGGERS_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "profiles/scenario.h"
#include "triggers/access.h"

/* What happened to one firing: a line of interventions.jsonl. Borrowed during the call. */
struct firing {
	uint64_t order, round; /* 1-based */
	enum timing timing;
	enum effect_kind effect;
	bool applied;
	const char *method; /* "exact" ... for an edit, NULL otherwise */
	const char *reason; /* why not applied, NULL when applied */
	const char *edit_sha256, *pre_sha256, *post_sha256; /* NULL when not an edit */
	const char *message, *message_source; /* "text" or "template:STAGE"; NULL without message */
	const char *touch_event;              /* "open", "read", "edit"; NULL for other triggers */
	const char *touch_path;
	uint64_t touch_first, touch_last;
	const char *touch_level;
	uint32_t touch_cmd;
};

/* A touch, counted or not: a `touch` record of the trace. Borrowed during the call. */
struct touch {
	uint64_t region; /* index into scenario.regions */
	enum touch_level level;
	enum access_kind event;
	uint64_t first, last; /* lines of the region that were touched; 0 = unknown: all */
	const char *path;
	const char *scan; /* NULL = counts; otherwise why it is a scan ("program", "files") */
	pid_t pid;
	uint32_t cmd;
};

/* How the engine acts on the world. Every function gets @arg. */
struct engine_ops {
	/* The world is still between hold(true) and hold(false). May be NULL. */
	int (*hold)(void *arg, bool on, struct err *err);
	/* Read workspace file @path. As struct apply_io. */
	int (*read)(void *arg, const char *path, struct buf *out, uint32_t *mode, struct err *err);
	/* Write it in place (mode 0 = remove). 0 or negative. */
	int (*write)(void *arg, const char *path, const void *data, size_t n, uint32_t mode,
		     struct err *err);
	/* Give the agent a user message. 0 or negative. */
	int (*message)(void *arg, const char *text, struct err *err);
	/* Run a command in the box and wait for it. 0 or negative. */
	int (*exec)(void *arg, char *const *argv, struct err *err);
	/* Records. */
	void (*touched)(void *arg, const struct touch *t);
	void (*fired)(void *arg, const struct firing *f);
	/* The image of a region's file changed: @first..@last are lines of the new contents (0,0 when
	 * removed), @by_agent false for our own edit. */
	void (*edited)(void *arg, const char *path, uint64_t first, uint64_t last, bool by_agent,
		       pid_t pid, uint32_t cmd);
	/* Carry out an EFFECT_MODEL or EFFECT_AUTHORITY given as JSON text. NULL = such effects are
	 * refused, with a reason. 0 or negative. */
	int (*other)(void *arg, enum effect_kind kind, const char *json, struct err *err);
};

struct engine;

/* Make an engine for @scenario (borrowed; NULL = vanilla without regions). Parses its diffs and
 * message templates (ERR_INPUT names the intervention) and reads the present contents of every
 * region's file as its first image. 0 or negative. Free with engine_free(). */
int engine_new(const struct scenario *scenario, const struct engine_ops *ops, void *arg,
	       struct engine **ret, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct engine *engine_free(struct engine *e);

/* Distinct files that hold regions: count and workspace-relative path. Borrowed. */
size_t engine_files(const struct engine *e);
const char *engine_file(const struct engine *e, size_t i); /* see engine_files() */

/* Line numbers (1-based) of bytes [off, off + len) of region file @path by the current image;
 * 0,0 when the file is not a region's or the range is empty or past the end. */
void engine_lines(const struct engine *e, const char *path, uint64_t off, uint64_t len,
		  uint64_t *first, uint64_t *last);

/* Where the workspace is in the box: makes the rule swe-touch-1.0 exact for absolute paths. Without
 * it such a path matches by its end. @dir is copied. */
void engine_set_workdir(struct engine *e, const char *dir);

/* About to happen (at a stop before the call goes on): ACCESS_OPEN when the descriptor exists but
 * was not given back yet, ACCESS_READ before the bytes move. Fires at-touch interventions; may
 * write through ops. Returns the number of effects applied, or negative. */
int engine_before(struct engine *e, const struct access *a, struct err *err);

/* Has happened: after-read interventions fire here, after-command ones are queued. The touches of
 * @a are recorded exactly once per access, by this call. Returns as engine_before(). */
int engine_after(struct engine *e, const struct access *a, struct err *err);

/* A region's file may have changed (a writer closed, a rename, an unlink, a truncate): compare with
 * the image, and when the contents differ this is an edit touch of the changed lines with all its
 * consequences (at-touch fires now). 1 changed, 0 not, negative on error. */
int engine_changed(struct engine *e, const char *path, pid_t pid, uint32_t cmd, char *const *argv,
		   struct err *err);

/* A command (one tool call's process tree) begins: id, argv (argv level, swe-touch-1.0 rules and
 * `command_count` triggers). @argv is copied; NULL = unknown. Returns as engine_before(). */
int engine_command_begin(struct engine *e, uint32_t cmd, char *const *argv, struct err *err);

/* A program was executed within command @cmd. For WHEN_EXEC. Returns as engine_before(). */
int engine_exec(struct engine *e, uint32_t cmd, const char *program, char *const *argv,
		struct err *err);

/* The command's tree has exited: queued after-command interventions fire here, at most one.
 * @cmd 0: a boundary of in-process work (the agent itself touched). Returns as engine_before(). */
int engine_command_end(struct engine *e, uint32_t cmd, struct err *err);

/* Nothing fires or counts while the engine is not armed: agents and version control read files before
 * the model has asked for anything. Armed from the start; touches are recorded in either state. */
void engine_arm(struct engine *e, bool armed);

enum { ENGINE_ASKED_MAX = 64 };

/* The model has asked the agent to read lines @first..@last (0,0 = all) of @path (as it wrote it): a
 * read of that file by the agent's own process shows these lines. Holds until engine_asked_clear().
 * At most ENGINE_ASKED_MAX are kept. */
void engine_asked(struct engine *e, const char *path, uint64_t first, uint64_t last);
void engine_asked_clear(struct engine *e); /* see engine_asked() */

/* Command @cmd turned out to be the agent itself (a wrapper started it): it is forgotten and was
 * never counted. */
void engine_command_drop(struct engine *e, uint32_t cmd);

/* What command @cmd printed (any part, in order), for reads that swe-touch-1.0 takes from output.
 * Calling it is optional. */
void engine_output(struct engine *e, uint32_t cmd, const char *data, size_t n);

/* The points of a run that triggers can wait for. With timing after-command an intervention fires
 * at the next engine_command_end(), otherwise here. Each returns the number of effects applied, or
 * negative. */

/* Time passed since the run began, for WHEN_TIME. */
int engine_tick(struct engine *e, uint64_t run_ns, struct err *err);

/* @fraction (0..1) of the run is done, by whatever measure the caller has, for WHEN_PROGRESS. */
int engine_progress(struct engine *e, double fraction, struct err *err);

/* Model call number @call (from 1) was answered, for WHEN_MODEL_CALL. */
int engine_model_call(struct engine *e, uint64_t call, struct err *err);

/* The run passed the named point @anchor, for WHEN_ANCHOR. */
int engine_anchor(struct engine *e, const char *anchor, struct err *err);

/* Is there anything to do at the end of command @cmd? */
bool engine_pending(const struct engine *e, uint32_t cmd);

/* Counts for run.json. */
void engine_counts(const struct engine *e, uint64_t *touches, uint64_t *fired, uint64_t *refused);

#endif
