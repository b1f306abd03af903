#include "study/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "study/estimate.h"
#include "study/table.h"

#define BAR_CELLS 24
#define LINE_MAX  (64u << 10)

const char *progress_count(uint64_t v, char out[32])
{
	if (v >= 1000000)
		snprintf(out, 32, "%.2fM", (double)v / 1e6);
	else if (v >= 1000)
		snprintf(out, 32, "%.1fk", (double)v / 1e3);
	else
		snprintf(out, 32, "%" PRIu64, v);
	return out;
}

const char *progress_money(uint64_t micro, char out[32])
{
	snprintf(out, 32, micro >= 1000000 || !micro ? "$%.2f" : "$%.4f", (double)micro / 1e6);
	return out;
}

void progress_cut(struct buf *out, const char *text, size_t width)
{
	auto_buf safe = BUF_INIT(LINE_MAX);
	auto_free char *s = NULL;
	size_t n;

	table_safe(&safe, text);
	s = mem_strdup(buf_str(&safe));
	n = strlen(s);
	/* Whole characters are taken off until it fits. */
	while (width && n && table_width(s) > width) {
		do {
			n--;
		} while (n && ((unsigned char)s[n] & 0xc0) == 0x80);
		s[n] = '\0';
	}
	buf_adds(out, s);
}

static void add_bar(const struct progress_total *t, size_t all, struct buf *out)
{
	size_t done = t->count[CELL_DONE] + t->count[CELL_GIVEN_UP];
	size_t full = all ? done * BAR_CELLS / all : BAR_CELLS;

	buf_addc(out, '[');
	for (size_t i = 0; i < BAR_CELLS; i++)
		buf_addc(out, i < full ? '#' : '.');
	buf_addf(out, "] %zu/%zu", t->count[CELL_DONE], all);
}

static void add_budgets(const struct progress_total *t, struct buf *out)
{
	const struct study_limits *l = &t->limits;
	char a[32], b[32];

	if (t->micro_dollars || l->dollars)
		buf_addf(out, "  %s%s", t->unknown_cost ? ">=" : "",
			 progress_money(t->micro_dollars, a));
	if (l->dollars)
		buf_addf(out, " of %s", progress_money(l->dollars, b));
	if (t->tokens || l->tokens)
		buf_addf(out, "  %s tokens", progress_count(t->tokens, a));
	if (l->tokens)
		buf_addf(out, " of %s", progress_count(l->tokens, b));
	if (l->wall)
		buf_addf(out, "  %s of %s", estimate_time(t->work_ns, a),
			 estimate_time(l->wall, b));
	if (l->cells)
		buf_addf(out, "  %" PRIu64 " of %" PRIu64 " cells started", t->started, l->cells);
}

void progress_total(const struct progress_total *t, size_t width, struct buf *out)
{
	auto_buf b = BUF_INIT(LINE_MAX);
	size_t all = 0;
	char left[32];

	for (size_t i = 0; i < CELL_STATES; i++)
		all += t->count[i];
	add_bar(t, all, &b);
	buf_addf(&b, "  running %zu  waiting %zu", t->count[CELL_RUNNING], t->count[CELL_WAITING]);
	if (t->count[CELL_INFRA])
		buf_addf(&b, "  infra %zu", t->count[CELL_INFRA]);
	if (t->count[CELL_GIVEN_UP])
		buf_addf(&b, "  given up %zu", t->count[CELL_GIVEN_UP]);
	if (t->left_ns)
		buf_addf(&b, "  about %s left", estimate_time(t->left_ns, left));
	add_budgets(t, &b);
	progress_cut(out, buf_str(&b), width);
}

static void add_place(const struct journal_cell *c, struct buf *out)
{
	buf_addf(out, "%s %s %s%s%s r%" PRIu64, c->task, c->agent, c->condition,
		 c->position ? " " : "", c->position ? c->position : "", c->repeat);
}

void progress_cell(const struct journal_cell *c, const struct live *live, uint64_t now,
		   size_t width, struct buf *out)
{
	auto_buf b = BUF_INIT(LINE_MAX);
	char text[32];

	add_place(c, &b);
	if (live) {
		buf_addf(&b, "  %" PRIu64 " steps", live->steps);
		if (live->tokens)
			buf_addf(&b, "  %s tokens", progress_count(live->tokens, text));
		if (live->micro_dollars)
			buf_addf(&b, "  %s", progress_money(live->micro_dollars, text));
	}
	if (c->began && now > c->began)
		buf_addf(&b, "  %s", estimate_time(now - c->began, text));
	if (live && live->touch[0])
		buf_addf(&b, "  %s", live->touch);
	progress_cut(out, buf_str(&b), width);
}

void progress_end(const struct journal_cell *c, struct buf *out)
{
	const struct attempt_figures *f = &c->figures;
	char text[32];

	if (c->state != CELL_DONE) {
		buf_addf(out, "%s%s%.600s", journal_states[c->state], c->why ? ": " : "",
			 c->why ? c->why : "");
		return;
	}
	buf_addf(out, "%s, %" PRIu64 " steps", f->verdict ? f->verdict : "done", f->steps);
	if (f->has_tokens)
		buf_addf(out, ", %s tokens", progress_count(f->tokens, text));
	if (f->cost_known && f->micro_dollars)
		buf_addf(out, ", %s", progress_money(f->micro_dollars, text));
	buf_addf(out, ", %s", estimate_time(f->wall_ns, text));
}

static uint64_t number(const cJSON *obj, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsNumber(v) && v->valuedouble > 0 ? (uint64_t)v->valuedouble : 0;
}

int progress_settings(const char *settings, struct study_limits *ret, char **name, struct err *err)
{
	struct json_src src = { 0 };
	int rc = settings ? json_parse("settings of the study", settings, strlen(settings), &src,
				       err)
			  : err_set(err, ERR_INPUT, "the study has no cells yet");

	if (rc < 0)
		return rc;
	*ret = (struct study_limits){ .dollars = number(src.root, "micro_dollars"),
				      .tokens = number(src.root, "tokens"),
				      .wall = number(src.root, "wall_ns"),
				      .cells = number(src.root, "cells") };
	*name = mem_strdup(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(src.root, "name")));
	json_src_done(&src);
	return 0;
}
