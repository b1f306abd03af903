#include "sandbox/box_internal.h"

#include <sys/resource.h>

#include "base/mem.h"

/* Which limit of a profile becomes which rlimit; @add is put on top. */
static const struct {
	enum limit_kind kind;
	int which;
	uint64_t add;
} rows[] = {
	{ LIMIT_OPEN_FILES, RLIMIT_NOFILE, 0 },
	/* Counted per user namespace since Linux 5.14, so it is the box's own number; PID 1 is one
	 * of them. */
	{ LIMIT_PROCESSES, RLIMIT_NPROC, 1 },
	{ LIMIT_DISK, RLIMIT_FSIZE, 0 },
};

unsigned rlimits_plan(const struct limits *l, struct rlimit_row *row)
{
	unsigned n = 0;

	/* 1, not 0: with 0 a core_pattern that is a pipe is still started (core(5)). */
	row[n++] = (struct rlimit_row){ RLIMIT_CORE, { 1, 1 } };
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t max = l->max[rows[i].kind];
		struct rlimit have;

		if (!max || getrlimit((__rlimit_resource_t)rows[i].which, &have) < 0)
			continue;
		max += rows[i].add;
		/* Never above what we may ask for ourselves. */
		if (have.rlim_max != RLIM_INFINITY && max > have.rlim_max)
			max = have.rlim_max;
		row[n++] = (struct rlimit_row){ rows[i].which, { max, max } };
	}
	return n;
}
