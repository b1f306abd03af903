/* A scenario: what happens to a run, and what must hold afterwards. */
#ifndef PROFILES_SCENARIO_H
#define PROFILES_SCENARIO_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

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
};

enum touch_level { TOUCH_OPEN, TOUCH_BYTES, TOUCH_ARGV, TOUCH_OUTPUT, TOUCH_SWE_TOUCH_1 };

enum timing { TIMING_AT_TOUCH, TIMING_AFTER_READ, TIMING_AFTER_COMMAND };

/* Critical region: 1-based, inclusive. */
struct region {
	char *path; /* relative to the workspace, tame (path_is_tame()) */
	uint64_t start, end;
	char *evidence;
};

enum effect_kind { EFFECT_EDIT, EFFECT_MESSAGE, EFFECT_EXEC, EFFECT_MODEL, EFFECT_AUTHORITY };

struct effect {
	enum effect_kind kind;
	char *diff;            /* EFFECT_EDIT: diff text (a file name in JSON is read at load) */
	char *text, *template; /* EFFECT_MESSAGE: fixed text, or a template by stage when NULL */
	struct strv argv;      /* EFFECT_EXEC: run in the box */
	char *raw;             /* EFFECT_MODEL, EFFECT_AUTHORITY: JSON text */
};

struct when {
	int event;                 /* enum when_event */
	struct json_array regions; /* of uint64_t: indices into scenario.regions; empty = all */
	int touch;                 /* enum touch_level, default TOUCH_BYTES */
	uint64_t min_overlap;      /* lines, default 1 */
	bool count_scans;
	double at;      /* WHEN_PROGRESS: fraction; WHEN_TIME: seconds */
	uint64_t n;     /* WHEN_COMMAND_COUNT, WHEN_MODEL_CALL */
	char *program;  /* WHEN_EXEC */
	char *anchor;   /* WHEN_ANCHOR */
	uint64_t after; /* WHEN_AFTER: order of the intervention that must have fired */
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
	int mode;               /* enum scenario_mode */
	uint64_t max_rounds;    /* K: how often one intervention may fire in all, default 3 */
	struct region *regions; /* owned */
	size_t n_regions;
	struct intervention *interventions; /* owned */
	size_t n_interventions;
	char *checks, *authority, *actors; /* raw JSON, NULL when absent */
};

/* Does an effect of @kind take place in @mode? Vanilla: none; "edit": no message; "message": no
 * edit; otherwise all. Effects that do not fit are left out of the run, so that one scenario
 * serves several modes. */
bool scenario_effect_fits(enum scenario_mode mode, enum effect_kind kind);

/* Is @event about files of the workspace (open, read, edit, read_or_edit), so that it needs
 * regions and trace level files? */
bool scenario_event_is_touch(enum when_event event);

/* Names as in files: "edit+message", "read_or_edit", "bytes", "after-command", "edit". Static. */
const char *scenario_mode_name(enum scenario_mode v);
const char *scenario_event_name(enum when_event v);   /* see scenario_mode_name() */
const char *scenario_touch_name(enum touch_level v);  /* see scenario_mode_name() */
const char *scenario_timing_name(enum timing v);      /* see scenario_mode_name() */
const char *scenario_effect_name(enum effect_kind v); /* see scenario_mode_name() */

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
