/* A scenario: what happens to a run, and what must hold afterwards. */
#ifndef PROFILES_SCENARIO_H
#define PROFILES_SCENARIO_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "profiles/user.h"

enum scenario_mode { MODE_VANILLA, MODE_EDIT_MESSAGE, MODE_EDIT, MODE_MESSAGE, MODE_CO_EDIT };

enum when_event {
	WHEN_OPEN,
	WHEN_READ,
	WHEN_EDIT,
	WHEN_READ_OR_EDIT,
	WHEN_EXEC,
	WHEN_COMMAND_COUNT,
	WHEN_MODEL_CALL,
	WHEN_PROGRESS,
	WHEN_TIME,
	WHEN_AFTER,
	WHEN_ANCHOR,
	WHEN_REGION_STATE_CHANGED, /* the agent edits lines that an earlier intervention wrote */
};

enum touch_level { TOUCH_OPEN, TOUCH_BYTES, TOUCH_ARGV, TOUCH_OUTPUT, TOUCH_SWE_TOUCH_1 };

/* What a WHEN_PROGRESS trigger counts. */
enum when_unit { UNIT_COMMANDS, UNIT_CALLS, UNIT_AUTO };

/* Where the reference length of a WHEN_PROGRESS trigger comes from. */
enum length_from {
	LENGTH_NONE,   /* unknown: at is a fraction of the budget that is nearest to its end */
	LENGTH_FILE,   /* when.n of the scenario file */
	LENGTH_RUN,    /* one reference run */
	LENGTH_MEDIAN, /* median of several */
	LENGTH_BUDGET, /* limits.model_calls */
};

enum timing { TIMING_AT_TOUCH, TIMING_AFTER_READ, TIMING_AFTER_COMMAND };

/* Critical region: 1-based, inclusive. */
struct region {
	char *path; /* relative to the workspace, tame (path_is_tame()) */
	uint64_t start, end;
	char *evidence;
};

enum effect_kind {
	EFFECT_EDIT,
	EFFECT_MESSAGE,
	EFFECT_EXEC,
	EFFECT_MODEL,
	EFFECT_AUTHORITY, /* goal and verifier versions from here on */
	EFFECT_PLACE,     /* put, replace, re-date or remove a file anywhere in the box */
	EFFECT_RUNTIME,   /* processes, ports, locks, space */
	EFFECT_SERVICE,   /* change a side service */
};

struct effect {
	enum effect_kind kind;
	char *diff;            /* EFFECT_EDIT: diff text (a file name in JSON is read at load) */
	char *text, *template; /* EFFECT_MESSAGE: fixed text, or a template by stage when NULL */
	char *claim;           /* EFFECT_MESSAGE: what the user says of the edit, for templates;
				* NULL = nothing */
	struct strv argv;      /* EFFECT_EXEC: run in the box */
	char *raw;             /* JSON text of the kinds from EFFECT_MODEL on */
};

struct when {
	int event;                 /* enum when_event */
	struct json_array regions; /* of uint64_t: indices into scenario.regions; empty = all */
	int touch;                 /* enum touch_level, default TOUCH_BYTES */
	uint64_t min_overlap;      /* lines, default 1 */
	bool count_scans;
	double at;      /* WHEN_PROGRESS: fraction, negative = by round; WHEN_TIME: seconds */
	uint64_t n;     /* WHEN_COMMAND_COUNT, WHEN_MODEL_CALL: the n-th; WHEN_PROGRESS: reference
			 * length in units, 0 = unknown */
	int unit;       /* WHEN_PROGRESS: enum when_unit */
	int from;       /* WHEN_PROGRESS: enum length_from */
	char *program;  /* WHEN_EXEC */
	char *anchor;   /* WHEN_ANCHOR: one of scenario_anchor_names */
	uint64_t after; /* WHEN_AFTER: order of the intervention that must have fired;
			 * WHEN_REGION_STATE_CHANGED: whose lines, 0 = any earlier one's */
	struct json_array all_after; /* of uint64_t: orders that must all have fired before the
				      * event counts */
	uint64_t delay;              /* ns from the event to the firing */
};

struct intervention {
	uint64_t order; /* 1..n, contiguous */
	struct when when;
	int timing;             /* enum timing, default TIMING_AFTER_COMMAND */
	struct effect *effects; /* owned */
	size_t n_effects;
};

struct scenario {
	char *file;
	char *id, *instance_id, *family;
	int mode;            /* enum scenario_mode */
	uint64_t max_rounds; /* K: firings in all; default 3 with one intervention, else one for
				 * each. With fewer interventions the last is repeated, of more only
				 * the first K take part */
	double *progress; /* owned: fraction of round k for progress without "at"; NULL = k/(K+1) */
	size_t n_progress;
	struct region *regions; /* owned */
	size_t n_regions;
	struct intervention *interventions; /* owned */
	size_t n_interventions;
	char *checks, *authority, *actors; /* raw JSON, NULL when absent */
	char *services;                    /* raw JSON, NULL when absent */
	struct user *user;                 /* owned; NULL = nobody reacts */
	char *notes; /* raw JSON object, NULL when absent: for people and tools, no part of a plan */
};

/* Does an effect of @kind take place in @mode? Vanilla: none; "edit": no message; "message": no
 * edit; otherwise all. Effects that do not fit are left out of the run, so that one scenario
 * serves several modes. */
bool scenario_effect_fits(enum scenario_mode mode, enum effect_kind kind);

/* The user that takes part in @s (NULL is fine): none in a mode without messages. Borrowed. */
const struct user *scenario_user(const struct scenario *s);

/* Is @event about files of the workspace (open, read, edit, read_or_edit), so that it needs
 * regions and trace level files? */
bool scenario_event_is_touch(enum when_event event);

/* Fraction of the reference length at which a WHEN_PROGRESS trigger fires in @round (from 1). */
double scenario_fraction(const struct scenario *s, const struct when *w, uint64_t round);

/* The count at which it fires, in units of @w: ceil(fraction * n), at least 1; 0 while n is
 * unknown. */
uint64_t scenario_point(const struct scenario *s, const struct when *w, uint64_t round);

/* Make @s serve another condition: @mode (enum scenario_mode, -1 = its own) and @rounds (K, 0 = its
 * own). Effects that do not fit the mode are left out. 0, -ERR_USAGE for a K that cannot be,
 * -ERR_INPUT when nothing is left that could happen, or when progress names too few fractions. */
int scenario_set_condition(struct scenario *s, int mode, uint64_t rounds, struct err *err);

/* Interventions that take part: at most K, at most one in co-edit mode, none in vanilla. */
size_t scenario_taking_part(const struct scenario *s);

/* K as the condition has it: 0 in vanilla, 1 in co-edit mode, otherwise max_rounds. */
uint64_t scenario_rounds(const struct scenario *s);

/* Names of the modes in their order, ended by NULL: for options and error texts. */
extern const char *const scenario_mode_names[];

/* Names of anchors: "fork", where `proctor fork` leaves a record, and the points that a run passes by itself.
 * Ended by NULL. */
extern const char *const scenario_anchor_names[];

/* Names as in files: "edit+message", "read_or_edit", "bytes", "after-command", "edit". Static. */
const char *scenario_mode_name(enum scenario_mode v);
const char *scenario_event_name(enum when_event v);   /* see scenario_mode_name() */
const char *scenario_touch_name(enum touch_level v);  /* see scenario_mode_name() */
const char *scenario_timing_name(enum timing v);      /* see scenario_mode_name() */
const char *scenario_effect_name(enum effect_kind v); /* see scenario_mode_name() */
const char *scenario_unit_name(enum when_unit v);     /* "commands", "calls", "auto" */
const char *scenario_length_name(
	enum length_from v); /* "none", "file", "run", "median", "budget" */

/* Read a proctor.scenario/1 text of @n bytes that came from @name (used in error texts and kept as
 * scenario->file). @dir: absolute directory that edit files are relative to; NULL: edits must be
 * diff text. Checks as scenario_load(). 0 or -ERR_INPUT with position. Free with
 * scenario_free(). */
int scenario_parse(const char *name, const char *text, size_t n, const char *dir,
		   struct scenario **ret, struct err *err);

/* Read a proctor.scenario/1 file; edit diffs named by file are read from beside it. Checks:
 * regions tame and ordered, region indices in range, orders contiguous from 1, at least one
 * effect that fits the mode. 0 or -ERR_INPUT with position. Free with scenario_free(). */
int scenario_load(const char *path, struct scenario **ret, struct err *err);

/* Free; NULL is fine. Returns NULL. */
struct scenario *scenario_free(struct scenario *s);

#endif
