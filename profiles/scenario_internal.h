/* A scenario as it stands in the file, before effects are told apart. Between scenario.c (names,
 * rows, checks) and scenario_read.c (file to struct scenario). */
#ifndef PROFILES_SCENARIO_INTERNAL_H
#define PROFILES_SCENARIO_INTERNAL_H

#include "profiles/scenario.h"

/* One entry of "effects"; exactly one key is there. */
struct scenario_effect {
	char *edit;
	char *text, *template, *claim; /* of "message" */
	struct strv exec;
	char *model, *authority, *place, *runtime, *service; /* JSON text */
};

struct scenario_intervention {
	uint64_t order;
	struct when when;
	int timing;
	struct json_array effects; /* of struct scenario_effect */
};

struct scenario_file {
	char *id, *instance_id, *family;
	int mode;
	uint64_t max_rounds;
	struct json_array progress;      /* of double; JSON_CUSTOM */
	struct json_array regions;       /* of struct region */
	struct json_array interventions; /* of struct scenario_intervention */
	/* JSON text; JSON_CUSTOM, so not released by the rows */
	char *checks, *authority, *actors, *services, *user, *notes;
};

/* Keys of the entries of "effects", in the order of enum effect_kind. */
extern const char *const scenario_effect_keys[];

/* Members of "when". */
extern const struct json_field scenario_when_rows[];

/* Does @iv have what its event needs? Defaults are filled in. 0 or -ERR_INPUT at @at. */
int scenario_when_check(const struct json_src *src, const char *at, const struct scenario_file *f,
			const struct scenario_intervention *iv, struct err *err);

/* Check what the rows cannot say and fill in defaults that depend on a key being absent.
 * 0 or -ERR_INPUT. */
int scenario_check(const struct json_src *src, struct scenario_file *f, struct err *err);

#endif
