/* Is there room for another cell: in memory, on disk, in the budgets of the study? */
#include "study/sched_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "study/hostroom.h"

/* Scratch trees of boxes lie there ($PROCTOR_SCRATCH, $TMPDIR, or this). */
#define SCRATCH "/var/tmp"

uint64_t sched_dollars(const struct sched *s)
{
	uint64_t sum = s->sums.micro_dollars;

	for (size_t i = 0; i < s->n_run; i++)
		sum += s->run[i].live.micro_dollars;
	return sum;
}

uint64_t sched_tokens(const struct sched *s)
{
	uint64_t sum = s->sums.tokens;

	for (size_t i = 0; i < s->n_run; i++)
		sum += s->run[i].live.tokens;
	return sum;
}

uint64_t sched_work(const struct sched *s)
{
	return s->sums.work_ns + (clock_mono() - s->began);
}

bool sched_spent(const struct sched *s, const char **ret_which)
{
	const struct study_limits *l = &s->o->limits;

	if (l->dollars && sched_dollars(s) >= l->dollars)
		*ret_which = "dollars";
	else if (l->tokens && sched_tokens(s) >= l->tokens)
		*ret_which = "tokens";
	else if (l->wall && sched_work(s) >= l->wall)
		*ret_which = "wall";
	else
		return false;
	return true;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a running cell will have used in the end: what is expected of it, or more when it has used more already. */
static uint64_t run_dollars(const struct sched *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_run; i++)
		sum += larger(estimate_dollars(&s->estimate, s->run[i].cell),
			      s->run[i].live.micro_dollars);
	return sum;
}

static uint64_t run_tokens(const struct sched *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_run; i++)
		sum += larger(estimate_tokens(&s->estimate, s->run[i].cell), s->run[i].live.tokens);
	return sum;
}

/* Would @c pass a limit of the study, as far as can be told? While nothing is known of it, it would not. */
static const char *would_pass(const struct sched *s, const struct journal_cell *c)
{
	const struct study_limits *l = &s->o->limits;
	const struct estimate *e = &s->estimate;
	const char *spent;

	if (sched_spent(s, &spent))
		return spent;
	if (l->dollars &&
	    s->sums.micro_dollars + run_dollars(s) + estimate_dollars(e, c) > l->dollars)
		return "dollars";
	if (l->tokens && s->sums.tokens + run_tokens(s) + estimate_tokens(e, c) > l->tokens)
		return "tokens";
	if (l->wall && sched_work(s) + estimate_wall(e, c) > l->wall)
		return "wall";
	return NULL;
}

/* Is @need there beside @keep, and beside @promised, which running cells have not taken yet? */
static bool fits(struct sched *s, const char *what, uint64_t have, uint64_t need, uint64_t promised,
		 uint64_t keep)
{
	char h[32], n[32], p[32], k[32];

	if (have == UINT64_MAX || (have >= keep && have - keep >= need + promised))
		return true;
	snprintf(s->waits, sizeof(s->waits),
		 "%s: another cell needs about %s, and %s is free, of which running cells may "
		 "still take %s and %s is kept for others",
		 what, estimate_size(need, n), estimate_size(have, h), estimate_size(promised, p),
		 estimate_size(keep, k));
	return false;
}

static bool memory_fits(struct sched *s, const struct journal_cell *c)
{
	uint64_t promised = 0;

	for (size_t i = 0; i < s->n_run; i++) {
		const struct sched_running *r = &s->run[i];
		uint64_t need = estimate_memory(&s->estimate, r->cell);
		uint64_t has = s->o->ops->memory(s->o->engine, &r->cell->handle);

		promised += need > has ? need - has : 0;
	}
	return fits(s, "memory", hostroom_memory(), estimate_memory(&s->estimate, c), promised,
		    s->o->keep_memory);
}

static bool disk_fits(struct sched *s, const struct journal_cell *c)
{
	const char *given = getenv("PROCTOR_SCRATCH"), *tmp = given ? given : getenv("TMPDIR");
	uint64_t study = hostroom_disk(s->o->study);
	uint64_t scratch = hostroom_disk(tmp && *tmp == '/' ? tmp : SCRATCH);
	uint64_t promised = 0;

	/* What they have written already is counted twice here: on the safe side. */
	for (size_t i = 0; i < s->n_run; i++)
		promised += estimate_disk(&s->estimate, s->run[i].cell);
	return fits(s, "disk", study < scratch ? study : scratch, estimate_disk(&s->estimate, c),
		    promised, s->o->keep_disk);
}

bool sched_room(struct sched *s, const struct journal_cell *c, bool *ret_never)
{
	const char *limit = would_pass(s, c);

	*ret_never = false;
	s->waits[0] = '\0';
	if (limit) {
		snprintf(s->waits, sizeof(s->waits),
			 "limit %s of the study: another cell would pass it", limit);
		/* Running cells may use less than is expected of them. */
		*ret_never = s->n_run == 0;
		return false;
	}
	return !s->o->ops->here || (memory_fits(s, c) && disk_fits(s, c));
}
