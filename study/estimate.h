/* What the cells of a study use, by what those that have ended used: the room that another one needs, what it costs, how
 * long the rest takes. Nothing is guessed from a model's name: what is not known yet is said to be unknown. */
#ifndef STUDY_ESTIMATE_H
#define STUDY_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "study/journal.h"

/* Room for a cell while none has ended yet. */
#define ESTIMATE_MEMORY (256u << 20)
#define ESTIMATE_DISK   (64u << 20)

/* Means and maxima of the cells of one kind. */
struct estimate_row {
	uint64_t n, with_tokens, with_cost;
	uint64_t wall_ns, tokens, micro_dollars; /* sums */
	uint64_t memory, disk;                   /* largest */
};

struct estimate {
	struct map rows; /* of agent and condition -> struct estimate_row, owned */
	struct estimate_row all;
};

/* Count the figures of a cell that has ended. */
void estimate_add(struct estimate *e, const struct journal_cell *c,
		  const struct attempt_figures *f);

/* Bytes that a cell like @c needs: the largest that one of its agent and condition took, and a quarter more; while there is none, the
 * largest of all, else the defaults. */
uint64_t estimate_memory(const struct estimate *e, const struct journal_cell *c);
uint64_t estimate_disk(const struct estimate *e,
		       const struct journal_cell *c); /* see estimate_memory() */

/* What a cell like @c costs: the mean of its agent and condition, else of all; 0 while nothing is known. */
uint64_t estimate_tokens(const struct estimate *e, const struct journal_cell *c);
uint64_t estimate_dollars(const struct estimate *e,
			  const struct journal_cell *c); /* see estimate_tokens() */
uint64_t estimate_wall(const struct estimate *e,
		       const struct journal_cell *c); /* see estimate_tokens() */

/* What is left of a study. */
struct estimate_left {
	uint64_t cells;   /* without a result that may still get one */
	uint64_t wall_ns; /* until the end with so many at once; 0 = unknown, or nothing left */
	uint64_t tokens, micro_dollars; /* of them; 0 = unknown */
	uint64_t max_tokens,
		max_micro_dollars; /* by the limits of their profiles; 0 = one has none */
	uint64_t disk;
};

/* Sum up what @cells that have no result yet will use with @jobs at once. */
void estimate_left(const struct estimate *e, const struct journal_cells *cells, unsigned jobs,
		   struct estimate_left *ret);

/* Free; {0} is fine. */
void estimate_done(struct estimate *e);

/* "1 h 02 min", "3 min 20 s", "12 s" into @out. Returns @out. */
const char *estimate_time(uint64_t ns, char out[32]);

/* "1.2 GiB", "640 MiB", "12 KiB" into @out. Returns @out. */
const char *estimate_size(uint64_t bytes, char out[32]);

#endif
