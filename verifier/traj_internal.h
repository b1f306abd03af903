/* What the readers of trajectories share: one record under way, paths inside the repository, commands
 * and what they printed. For verifier/traj*.c only. */
#ifndef VERIFIER_TRAJ_INTERNAL_H
#define VERIFIER_TRAJ_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "verifier/traj.h"
#include "verifier/traj_diff.h"

struct traj_seen;

/* One record that is being read. Life: traj_rec_begin() -> traj_command(), traj_tool(), ... ->
 * traj_rec_end(). */
struct traj_rec {
	struct trajs *out;      /* borrowed: where the trajectory goes */
	size_t at;              /* its index there */
	char *root;             /* owned: where the repository is for that agent, NULL = guessed */
	char *cwd;              /* owned: where commands run, NULL = in the root */
	uint64_t step;          /* from 1 */
	struct traj_diff final; /* the final diff; no file = there is none */
	bool ended;             /* traj_rec_final() was given a diff */
	char *open_file;        /* owned: file in SWE-agent's window, NULL = none */
	struct traj_seen *seen; /* owned: what the agent has been shown of files, by line */
};

/* A trajectory of @format from @file begins. @root may be NULL. */
void traj_rec_begin(struct traj_rec *r, struct trajs *out, const char *file, const char *format,
		    const char *root);

/* The trajectory under way. */
struct traj *traj_rec_traj(const struct traj_rec *r);

/* Give the trajectory its names; NULL leaves what is there. @model falls back to the format. */
void traj_rec_name(struct traj_rec *r, const char *instance_id, const char *model);

/* The instance id in a file name such as "owner__project-12.traj.json". Caller frees; NULL when
 * the name does not look like that. */
char *traj_rec_stem(const char *file);

/* The final diff: its changes become final edits. Text without a diff changes nothing. */
void traj_rec_final(struct traj_rec *r, const char *diff);

/* End of the record: lines of the base tree are worked out, everything but the trajectory is freed. */
void traj_rec_end(struct traj_rec *r);

/* @path as an agent wrote it, below the repository: relative and tame. NULL when it is elsewhere or no
 * plain name. Caller frees. */
char *traj_rec_path(const struct traj_rec *r, const char *path);

/* An event on @path as the agent wrote it; places outside the repository are left out. */
void traj_rec_add(struct traj_rec *r, bool edit, const char *path, uint64_t first, uint64_t last);

/* Shell text that was run and what it printed (@output may be NULL): reads and edits by the released
 * rule, ranges of known tools, diffs and numbered lines in the output. */
void traj_command(struct traj_rec *r, const char *text, const char *output);

/* A client's own tool with arguments @args (an object, or a string of custom tools) and what came back. True
 * when @name is known. */
bool traj_tool(struct traj_rec *r, const char *name, const cJSON *args, const char *output);

/* One action of SWE-agent (a command of its windowed or editing tools, or shell text) and its observation. */
void traj_action(struct traj_rec *r, const char *action, const char *observation);

/* An edit in the text of codex's apply_patch ("*** Begin Patch"). True when @text holds one. */
bool traj_patch_text(struct traj_rec *r, const char *text);

/* Is @name a tool by which a client says that it is done? */
bool traj_tool_ends(const char *name);

/* A numbered listing of @path: the lines "  12<tab>text" or "12:text" of @output. True when there were
 * any: they are a read. */
bool traj_listing(struct traj_rec *r, const char *path, const char *output);

/* Replace @old by @new in @path: where the lines are is told by what the agent was shown before. Adds
 * the edit. */
void traj_replace(struct traj_rec *r, const char *path, const char *old, const char *new);

/* Text of a message: a string, or an array of parts with "text". "" when there is none. Caller frees. */
char *traj_text(const cJSON *item);

/* String member @key of @obj, NULL when absent. Borrowed. */
const char *traj_str(const cJSON *obj, const char *key);

/* Member at a path of keys "a.b.c", NULL when absent. Borrowed. */
const cJSON *traj_member(const cJSON *obj, const char *path);

/* Parse a record: as json_parse(), but "\u0000", lone surrogates, NaN and bytes that are not UTF-8, which other
 * tools write, are put up with. 0 or -ERR_INPUT. */
int traj_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err);

/* What has been shown. traj_seen_free() frees; NULL is fine. */
struct traj_seen *traj_seen_new(void);
void traj_seen_free(struct traj_seen *s); /* see traj_seen_new() */

/* Line @line of @path was shown as @n bytes of @text. */
void traj_seen_put(struct traj_seen *s, const char *path, uint64_t line, const char *text,
		   size_t n);

/* Where @old stands in what was shown of @path: its lines now. False when it was not shown or stands there
 * more than once. */
bool traj_seen_find(struct traj_seen *s, const char *path, const char *old, uint64_t *first,
		    uint64_t *last);

/* Lines *first to *last of @path now, as they were at the beginning, as far as located edits tell.
 * False when the file's edits were not all located. */
bool traj_seen_back(const struct traj_seen *s, const char *path, uint64_t *first, uint64_t *last);

/* Lines [first, first + old_n) of @path were replaced by @text; first 0: somewhere. */
void traj_seen_edit(struct traj_seen *s, const char *path, uint64_t first, uint64_t old_n,
		    const char *text);

/* The formats' rows, see traj_format. */
bool traj_is_run(const char *path, const char *text, size_t n);
int traj_read_run(const char *path, const char *text, size_t n, const char *workdir,
		  struct trajs *out, struct err *err);           /* see traj_is_run() */
bool traj_is_mini(const char *path, const char *text, size_t n); /* see traj_is_run() */
int traj_read_mini(const char *path, const char *text, size_t n, const char *workdir,
		   struct trajs *out, struct err *err);              /* see traj_is_run() */
bool traj_is_sweagent(const char *path, const char *text, size_t n); /* see traj_is_run() */
int traj_read_sweagent(const char *path, const char *text, size_t n, const char *workdir,
		       struct trajs *out, struct err *err);      /* see traj_is_run() */
bool traj_is_atif(const char *path, const char *text, size_t n); /* see traj_is_run() */
int traj_read_atif(const char *path, const char *text, size_t n, const char *workdir,
		   struct trajs *out, struct err *err);                /* see traj_is_run() */
bool traj_is_normalised(const char *path, const char *text, size_t n); /* see traj_is_run() */
int traj_read_normalised(const char *path, const char *text, size_t n, const char *workdir,
			 struct trajs *out, struct err *err); /* see traj_is_run() */

#endif
