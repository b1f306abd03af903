/* Limits and budgets: one array, one taxonomy. The names are the ones in profiles, in run.json
 * and in end reasons ("limit:memory"). */
#ifndef PROFILES_LIMITS_H
#define PROFILES_LIMITS_H

#include <stdint.h>

#include "base/json.h"

enum limit_kind {
	LIMIT_WALL,       /* ns */
	LIMIT_CPU,        /* ns, user + system of the whole box */
	LIMIT_MEMORY,     /* bytes */
	LIMIT_PROCESSES,  /* tasks alive at once */
	LIMIT_OPEN_FILES, /* descriptors per process */
	LIMIT_DISK,       /* bytes written to the overlays */
	LIMIT_OUTPUT,     /* bytes on stdout and stderr together */
	LIMIT_MODEL_CALLS,
	LIMIT_INPUT_TOKENS,
	LIMIT_OUTPUT_TOKENS,
	LIMIT_TOTAL_TOKENS,
	LIMIT_DOLLARS, /* micro-dollars */
	LIMIT_MAX
};

/* Maximum per kind; 0 = no limit. */
struct limits {
	uint64_t max[LIMIT_MAX];
};

/* Name as in profiles ("wall"). */
const char *limits_name(enum limit_kind kind);

/* Rows for reading "limits" of a profile into struct limits; ends with a NULL name. */
extern const struct json_field limits_rows[];

/* Human text of an amount of @kind ("1h", "4G", "512", "3.00") into @out. Returns @out. */
const char *limits_text(enum limit_kind kind, uint64_t v, char out[40]);

#endif
