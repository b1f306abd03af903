/* The facade: the supervisor reports accesses, commands and edits; the engine decides when an
 * intervention fires and carries it out through a table of functions it is given. Pure but for
 * that table: unit tests drive it with a fake one. */
#ifndef TRIGGERS_ENGINE_H
#define TRIGGERS_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"
#include "profiles/scenario.h"
#include "triggers/access.h"

struct message_about;

/* How the simulated user came to a message. Borrowed during the call. */
struct firing_simulator {
	const char *model, *prompt_sha256;
	const char *context_sha256; /* NULL = it was never asked */
	const char *raw_sha256;     /* of what the model wrote, NULL = nothing */
	uint64_t ns;                /* from the question to its answer */
};

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
	const char *template_sha256; /* of the template that was filled in; NULL for a fixed text */
	const char *touch_event;     /* "open", "read", "edit"; NULL for other triggers */
	const char *touch_path;
	uint64_t touch_first, touch_last;
	const char *touch_level;
	uint32_t touch_cmd;
	const struct firing_simulator *simulator; /* NULL = nobody was asked for the message */
	bool late; /* an effect that was promised (engine_ops.later) and is made now: the firing
		    * was counted then */
};

/* A touch, counted or not: a `touch` record of the trace. Borrowed during the call. */
struct touch {
	uint64_t region; /* index into scenario.regions */
	enum touch_level level;
	enum access_kind event;
	uint64_t first, last; /* lines of the region that were touched; 0 = unknown: all */
	const char *path;
	const char *scan; /* NULL = counts; otherwise why it is a scan ("program", "files") */
	bool unasked; /* a read by a known tool that was asked for other lines: none at level argv */
	pid_t pid;
	uint32_t cmd;
};

struct line_changes;

/* New contents of a followed file: an `edit` record of the trace. Borrowed during the call. */
struct edit {
	const char *path;
	uint64_t first, last; /* lines of the new contents; 0,0 when removed, emptied or unknown */
	bool by_agent;        /* false for our own edit */
	pid_t pid;            /* 0 = not known */
	uint32_t cmd;
	const char *pre,
		*post;    /* SHA-256 of all of the contents before and after; NULL = there was or
				 * is no file, or nobody told */
	const char *base; /* SHA-256 of the contents that the lines were told from; NULL = pre.
				 * A file that went away or was emptied and comes back is compared
				 * with what it last held. */
	const struct line_changes *changes; /* empty when nothing can be said about lines */
	const char *data; /* the new contents of @len bytes; NULL = no file, or too large */
	size_t len;
	bool unread; /* the file is there, and too large for a digest */
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
	/* A message without fixed text: will somebody else write it and report it later, with what
	 * @f says of the firing? Its message and message_source are what is said when they do not.
	 * True: it is promised and counts as applied. NULL = never. */
	bool (*later)(void *arg, const struct firing *f, const struct message_about *about);
	/* What of its limits the agent has used, in words, for messages that say it. May be NULL. */
	void (*budget)(void *arg, struct buf *out);
	/* Run a command in the box and wait for it. 0 or negative. */
	int (*exec)(void *arg, char *const *argv, struct err *err);
	/* Records. */
	void (*touched)(void *arg, const struct touch *t);
	void (*fired)(void *arg, const struct firing *f);
	/* A followed file changed. May be NULL. */
	void (*edited)(void *arg, const struct edit *ed);
	/* A file is followed from now on: its first contents of @len bytes (NULL = too large to be
	 * kept) and their SHA-256. Not called for a file that is not there. May be NULL. */
	void (*image)(void *arg, const char *path, const char *sha256, const char *data,
		      size_t len);
	/* SHA-256 of file @path that read() found too large. 1, or 0 when it cannot be told. May be
	 * NULL. */
	int (*digest)(void *arg, const char *path, char out[DIGEST_HEX]);
	/* Carry out an effect of the kinds from EFFECT_MODEL on, given as JSON text. NULL = such effects are
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

/* Distinct files that are followed: count and workspace-relative path. Borrowed. Those that hold regions
 * come first, then those that the scenario's edits change; others are added by engine_follow(). */
size_t engine_files(const struct engine *e);
const char *engine_file(const struct engine *e, size_t i); /* see engine_files() */

/* Index of followed file @path, -1 when it is none. */
int engine_index(const struct engine *e, const char *path);

/* Follow file @path (tame, copied) too, although it holds no region: its edits are reported, its lines
 * are known, and nothing is ever touched or fires by it. @absent: it is not there yet, whatever can be
 * read now. Returns its index. */
int engine_follow(struct engine *e, const char *path, bool absent);

/* Bytes of images of files without regions that are kept in memory, indexes included; beyond that their
 * lines are not known, their digests still are. */
#define ENGINE_HELD_MAX (256u << 20)

/* Bytes that engine_settle() reads. */
#define ENGINE_SETTLE_MAX (1u << 30)

/* All followed files, as far as ENGINE_SETTLE_MAX reaches, are compared once more and what had not been
 * reported is: for the end of the run, when nobody writes any more. No touches, and nothing fires. */
void engine_settle(struct engine *e);

/* Why @a is a scan, NULL when it is none: what the model asked for never is. Static. */
const char *engine_scan(const struct engine *e, const struct access *a);

/* Of the lines that @a reads (a->first and last; 0,0 = all of its followed file) those that were to be
 * shown, by what the model asked for or the program's arguments say: 1, with *first,*last 0,0 when none
 * of them was; 0: not known. Several ranges are told as one that covers them. */
int engine_shown(const struct engine *e, const struct access *a, uint64_t *first, uint64_t *last);

/* Line numbers (1-based) of bytes [off, off + len) of followed file @path by the current image;
 * 0,0 when the file is not followed or the range is empty or past the end. */
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

/* The first process of command @cmd executed a shell with another text: it was a wrapper, and @argv (copied) is
 * the command. Nothing fires. */
void engine_command_text(struct engine *e, uint32_t cmd, char *const *argv);

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
