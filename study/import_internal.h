/* A released record as it stands in the file. Between import_record.c (rows, checks) and
 * import_scenario.c (record to scenario). */
#ifndef STUDY_IMPORT_INTERNAL_H
#define STUDY_IMPORT_INTERNAL_H

#include "base/json.h"
#include "study/import_swetouch.h"

enum import_mode { IMPORT_PATCH, IMPORT_TEXT_ONLY };
enum import_delivery { IMPORT_PATCH_AND_MESSAGE, IMPORT_PATCH_ONLY, IMPORT_MESSAGE_ONLY };
enum import_event { IMPORT_READ, IMPORT_EDIT, IMPORT_READ_OR_EDIT };

struct import_region {
	char *path;
	uint64_t start, end;
	char *evidence; /* JSON text */
};

/* One of the three states: what was applied, and what came of it. */
struct import_outcome {
	bool applied, edit_applied, reference_applied;
	int resolved; /* 1, 0, -1 = null: no result */
};

struct import_validation {
	int status;   /* enum import_status */
	bool summary; /* only status and all are there: each round has its own */
	bool passes, all;
	struct import_outcome edit, reference, both;
};

struct import_patch {
	char *id, *diff, *claim, *belief, *plausibility, *failure;
	struct json_array regions; /* of struct import_region */
};

struct import_intervention {
	uint64_t order;
	int delivery; /* enum import_delivery */
	struct {
		int event; /* enum import_event */
		uint64_t max_triggers;
		struct json_array regions; /* of struct import_region */
	} trigger;
	struct import_patch patch; /* id NULL = none */
	struct import_validation validation;
};

struct import_helpful {
	int mode, event; /* 0 = patch, 1 = region_hint; enum import_event */
	uint64_t rounds;
	struct {
		char *id, *diff;
		double coverage;
	} patch;
	struct json_array regions; /* of struct import_region */
	struct {
		char *status;
		int resolved;
	} validation;
};

struct import_raw {
	struct json_src src; /* the record; error texts begin with its file and line */
	int benchmark;
	char *version, *split, *instance;
	struct json_array regions; /* of struct import_region: task_critical_regions */
	struct {
		char *source, *tier;
		struct strv models;
	} evidence;
	struct {
		int mode; /* enum import_mode */
		uint64_t rounds;
		char *prompt, *fallback;
		struct json_array interventions; /* of struct import_intervention */
		struct import_validation validation;
	} counter;
	struct {
		struct import_helpful helpful;
	} controls;
	bool has_helpful;
	size_t distinct; /* different diffs; 0 when text-only */
};

/* Read and check a record. 0 or -ERR_INPUT. Free with import_raw_done(). */
int import_raw_read(const char *name, const char *line, size_t n, struct import_raw *ret,
		    struct err *err);

/* Free; {0} is fine. */
void import_raw_done(struct import_raw *r);

/* Do two rounds do the same thing at the same places (whatever the event)? */
bool import_same_round(const struct import_intervention *a, const struct import_intervention *b);

/* The Counter-Edit as scenario text; @task is the name of its task. */
void import_counter(const struct import_raw *r, const char *task, const struct import_options *o,
		    struct buf *out);

/* The helpful edit as scenario text. Only when it has a patch. */
void import_co_edit(const struct import_raw *r, const char *task, struct buf *out);

#endif
