/* Paired success as bars with their intervals, for a page: by family, by position, over the ladder and over token
 * budgets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/shift_internal.h"
#include "study/stats.h"

#define LEFT    230 /* pixels: where zero is */
#define WIDE    500 /* a hundred per cent */
#define HIGH    18  /* of a row */
#define BAR_MAX 400 /* rows; more say nothing to the eye */

/* A row of the figure, or the name of a system above its rows. */
struct bar {
	char *label; /* owned */
	bool heading;
	uint64_t paired, valid;
};

struct bars {
	struct bar v[BAR_MAX];
	size_t n;
};

static void add(struct bars *b, char *label, const struct shift_figures *f)
{
	if (b->n == BAR_MAX || (f && !f->valid)) {
		free(label);
		return;
	}
	b->v[b->n++] = (struct bar){ .label = label,
				     .heading = !f,
				     .paired = f ? f->paired : 0,
				     .valid = f ? f->valid : 0 };
}

/* What the system was under, where there are several such: prefix, step of the ladder, budget. */
static char *condition_of(const struct shift *s, size_t who)
{
	const struct shift_who *w = &s->who[who];
	bool budget = s->many_budgets || (!s->many_ladders && !s->many_prefixes);
	auto_buf b = BUF_INIT(4096);

	if (s->many_prefixes)
		buf_adds(&b, w->prefix);
	if (s->many_ladders)
		buf_addf(&b, "%s%s", b.len ? ", " : "", w->ladder);
	if (budget)
		buf_addf(&b, "%s%llu tokens", b.len ? ", " : "", (unsigned long long)w->budget);
	return buf_steal(&b, NULL);
}

static char *name_of(const struct shift *s, size_t who)
{
	auto_free char *condition = condition_of(s, who);

	return s->many_ladders || s->many_budgets || s->many_prefixes
		       ? mem_printf("%s, %s", s->who[who].system, condition)
		       : mem_strdup(s->who[who].system);
}

/* Bars of each system for every family, or position. */
static void by_list(const struct shift *s, const struct strv *names, bool family, struct bars *b)
{
	for (size_t w = 0; w < s->n_who; w++) {
		add(b, name_of(s, w), NULL);
		strv_each (i, names) {
			struct shift_pick pick = { w, family ? i : SHIFT_ANY,
						   family ? SHIFT_ANY : i, SHIFT_ANY };
			struct shift_figures f;

			shift_sum(s, &pick, &f);
			add(b, mem_strdup(names->v[i]), &f);
		}
	}
}

/* A bar for each condition of each system. */
static void by_condition(const struct shift *s, struct bars *b)
{
	for (size_t w = 0; w < s->n_who; w++) {
		struct shift_pick pick = { w, SHIFT_ANY, SHIFT_ANY, SHIFT_ANY };
		struct shift_figures f;

		if (!w || strcmp(s->who[w].system, s->who[w - 1].system) != 0)
			add(b, mem_strdup(s->who[w].system), NULL);
		shift_sum(s, &pick, &f);
		add(b, condition_of(s, w), &f);
	}
}

static void put_bar(const struct bar *one, size_t i, struct buf *out)
{
	size_t y = 30 + i * HIGH;
	double low, high, rate;

	if (one->heading) {
		buf_addf(out, "<text x=\"4\" y=\"%zu\" font-weight=\"bold\">", y + 13);
		table_html(out, one->label);
		buf_adds(out, "</text>\n");
		return;
	}
	stats_wilson(one->paired, one->valid, 0.95, &low, &high);
	rate = (double)one->paired / (double)one->valid;
	buf_addf(out, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">", LEFT - 8, y + 13);
	table_html(out, one->label);
	buf_addf(
		out,
		"</text>\n<rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"%d\" fill=\"#d9705e\"/>\n",
		LEFT, y + 3, rate * WIDE, HIGH - 6);
	buf_addf(out,
		 "<line x1=\"%.1f\" y1=\"%zu\" x2=\"%.1f\" y2=\"%zu\" stroke=\"#444\"/>\n"
		 "<text x=\"%d\" y=\"%zu\">%.1f (%llu of %llu)</text>\n",
		 LEFT + low * WIDE, y + HIGH / 2, LEFT + high * WIDE, y + HIGH / 2,
		 LEFT + WIDE + 10, y + 13, 100 * rate, (unsigned long long)one->paired,
		 (unsigned long long)one->valid);
}

static void draw(const struct bars *b, struct buf *out)
{
	size_t high = 40 + b->n * HIGH;

	buf_addf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-size=\"12\" "
		"font-family=\"sans-serif\" role=\"img\">\n<title>PSR in per cent</title>\n",
		LEFT + WIDE + 140, high);
	for (int at = 0; at <= 100; at += 20)
		buf_addf(out,
			 "<line x1=\"%d\" y1=\"24\" x2=\"%d\" y2=\"%zu\" stroke=\"#ddd\"/>\n"
			 "<text x=\"%d\" y=\"16\" text-anchor=\"middle\" fill=\"#666\">%d</text>\n",
			 LEFT + at * WIDE / 100, LEFT + at * WIDE / 100, high - 8,
			 LEFT + at * WIDE / 100, at);
	for (size_t i = 0; i < b->n; i++)
		put_bar(&b->v[i], i, out);
	buf_adds(out, "</svg>\n");
}

void shift_figure(const struct shift *s, const char *which, struct buf *out)
{
	struct bars *b = mem_zalloc(1, sizeof(*b));

	if (strcmp(which, "families") == 0)
		by_list(s, &s->family, true, b);
	else if (strcmp(which, "positions") == 0)
		by_list(s, &s->position, false, b);
	else if (strcmp(which, "ladder") == 0 || strcmp(which, "sweep") == 0)
		by_condition(s, b);
	if (b->n)
		draw(b, out);
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].label);
	free(b);
}
