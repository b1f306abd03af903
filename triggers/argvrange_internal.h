/* Pieces of argvrange*.c. */
#ifndef TRIGGERS_ARGVRANGE_INTERNAL_H
#define TRIGGERS_ARGVRANGE_INTERNAL_H

#include "base/str.h"
#include "triggers/argvrange.h"

/* What a row's function gets: words behind the program's name. */
struct range_args {
	char *const *v; /* NULL-terminated */
	uint64_t lines; /* of the file */
};

/* Add lines [first, last], cut to the file; nothing when they are empty. */
void argvrange_add(struct argvrange *r, uint64_t first, uint64_t last, uint64_t lines);

/* Everything. Returns 1. */
int argvrange_all(struct argvrange *r, uint64_t lines);

/* sed: see argvrange_sed.c. 1 known, 0 not. */
int argvrange_sed(const struct range_args *a, struct argvrange *out);

/* awk: see argvrange_awk.c. 1 known, 0 not. */
int argvrange_awk(const struct range_args *a, struct argvrange *out);

#endif
