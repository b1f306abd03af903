#include "study/estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

static uint64_t kind_of(const struct journal_cell *c)
{
	auto_free char *name = mem_printf("%s,%s", c->agent, c->condition);

	return map_hash(name, strlen(name));
}

static void count(struct estimate_row *r, const struct attempt_figures *f)
{
	r->n++;
	r->wall_ns += f->wall_ns;
	r->with_tokens += f->has_tokens;
	r->tokens += f->has_tokens ? f->tokens : 0;
	r->with_cost += f->cost_known;
	r->micro_dollars += f->cost_known ? f->micro_dollars : 0;
	if (f->memory > r->memory)
		r->memory = f->memory;
	if (f->disk > r->disk)
		r->disk = f->disk;
}

void estimate_add(struct estimate *e, const struct journal_cell *c, const struct attempt_figures *f)
{
	uint64_t kind = kind_of(c);
	struct estimate_row *r = map_get(&e->rows, kind);

	if (!r) {
		r = mem_zalloc(1, sizeof(*r));
		map_put(&e->rows, kind, r);
	}
	count(r, f);
	count(&e->all, f);
}

void estimate_done(struct estimate *e)
{
	map_each (s, &e->rows)
		free(s->val);
	map_done(&e->rows);
	*e = (struct estimate){ .all = { 0 } };
}

/* The row that tells most about @c. */
static const struct estimate_row *row_of(const struct estimate *e, const struct journal_cell *c)
{
	const struct estimate_row *r = map_get(&e->rows, kind_of(c));

	return r ? r : &e->all;
}

/* With a quarter more: the next one need not be like those before. */
static uint64_t roomy(uint64_t v, uint64_t none)
{
	return v ? v + v / 4 : none;
}

uint64_t estimate_memory(const struct estimate *e, const struct journal_cell *c)
{
	return roomy(row_of(e, c)->memory, ESTIMATE_MEMORY);
}

uint64_t estimate_disk(const struct estimate *e, const struct journal_cell *c)
{
	return roomy(row_of(e, c)->disk, ESTIMATE_DISK);
}

uint64_t estimate_tokens(const struct estimate *e, const struct journal_cell *c)
{
	const struct estimate_row *r = row_of(e, c);

	return r->with_tokens ? r->tokens / r->with_tokens : 0;
}

uint64_t estimate_dollars(const struct estimate *e, const struct journal_cell *c)
{
	const struct estimate_row *r = row_of(e, c);

	return r->with_cost ? r->micro_dollars / r->with_cost : 0;
}

uint64_t estimate_wall(const struct estimate *e, const struct journal_cell *c)
{
	const struct estimate_row *r = row_of(e, c);

	return r->n ? r->wall_ns / r->n : 0;
}

void estimate_left(const struct estimate *e, const struct journal_cells *cells, unsigned jobs,
		   struct estimate_left *ret)
{
	bool tokens_bound = true, dollars_bound = true;
	uint64_t now = clock_wall();

	*ret = (struct estimate_left){ 0 };
	for (size_t i = 0; i < cells->n; i++) {
		const struct journal_cell *c = &cells->v[i];
		uint64_t wall, ran = c->began && now > c->began ? now - c->began : 0;

		if (c->state == CELL_DONE || c->state == CELL_GIVEN_UP)
			continue;
		wall = estimate_wall(e, c);
		/* What a running one has behind it is not ahead of us. */
		if (c->state == CELL_RUNNING)
			wall = wall > ran ? wall - ran : 0;
		ret->cells++;
		ret->wall_ns += wall;
		ret->tokens += estimate_tokens(e, c);
		ret->micro_dollars += estimate_dollars(e, c);
		ret->disk += estimate_disk(e, c);
		tokens_bound &= c->max_tokens > 0;
		dollars_bound &= c->max_micro_dollars > 0;
		ret->max_tokens += c->max_tokens;
		ret->max_micro_dollars += c->max_micro_dollars;
	}
	if (jobs > ret->cells && ret->cells)
		jobs = (unsigned)ret->cells;
	ret->wall_ns /= jobs ? jobs : 1;
	if (!tokens_bound)
		ret->max_tokens = 0;
	if (!dollars_bound)
		ret->max_micro_dollars = 0;
}

const char *estimate_time(uint64_t ns, char out[32])
{
	uint64_t s = ns / CLOCK_SEC;

	if (s >= 48 * 3600)
		snprintf(out, 32, "%" PRIu64 " d %02" PRIu64 " h", s / 86400, s / 3600 % 24);
	else if (s >= 3600)
		snprintf(out, 32, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(out, 32, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(out, 32, "%" PRIu64 " s", s);
	return out;
}

const char *estimate_size(uint64_t bytes, char out[32])
{
	double v = (double)bytes;

	if (bytes >= 1u << 30)
		snprintf(out, 32, "%.1f GiB", v / (1u << 30));
	else if (bytes >= 1u << 20)
		snprintf(out, 32, "%.0f MiB", v / (1u << 20));
	else
		snprintf(out, 32, "%.0f KiB", v / 1024);
	return out;
}
