/* When an intervention fires, as a file says it: names, rows and what an event needs. */
#include "profiles/scenario.h"

#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "profiles/scenario_internal.h"

#define DELAY_MAX   (24 * 3600 * CLOCK_SEC)
#define SECONDS_MAX 1e9 /* 31 years; far from where ns leave 64 bits */

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
/* Each in the order of its enum. */
static const char *const touch_names[] = { "open", "bytes", "argv", "output", "swe-touch-1.0", NULL };
static const char *const event_names[] = { "open", "read", "edit", "read_or_edit", "exec", "command_count",
	"model_call", "progress", "time", "after", "anchor", "region_state_changed", NULL };
static const char *const unit_names[] = { "commands", "calls", "auto", NULL };
static const char *const unit_choices[] = { "commands", "calls", NULL };
const char *const scenario_anchor_names[] = { "fork", "start", "before-first-edit", "after-first-edit",
	"before-first-test", "after-first-pass", "before-submit", NULL };
static const char *const length_names[] = { "none", "file", "run", "median", "budget", NULL };

const struct json_field scenario_when_rows[] = {
	{ "event", JSON_ENUM, OFF(when, event), true, .choices = event_names, .doc = "what sets it off" },
	{ "regions", JSON_U64V, OFF(when, regions), .doc = "indices into regions, from 0; none = all" },
	{ "touch", JSON_ENUM, OFF(when, touch), .choices = touch_names, .doc = "evidence a touch needs, default bytes" },
	{ "min_overlap", JSON_U64, OFF(when, min_overlap), .doc = "lines of the region that must be touched, default 1" },
	{ "count_scans", JSON_BOOL, OFF(when, count_scans), .doc = "searches and indexers count as touches, default false" },
	{ "at", JSON_DOUBLE, OFF(when, at), .doc = "event progress: fraction of the run, default by round; event time: seconds" },
	{ "n", JSON_U64, OFF(when, n), .doc = "events command_count and model_call: the n-th, from 1; event progress: length of the run that the fraction is of" },
	{ "unit", JSON_ENUM, OFF(when, unit), .choices = unit_choices, .doc = "event progress: what is counted, commands or calls (of the model)" },
	{ "program", JSON_STR, OFF(when, program), .doc = "event exec: name of the program" },
	{ "anchor", JSON_STR, OFF(when, anchor), .doc = "event anchor: fork, start, before-first-edit, after-first-edit, before-first-test, after-first-pass or before-submit" },
	{ "after", JSON_U64, OFF(when, after), .doc = "event after: order of the intervention that must have fired; event region_state_changed: the one whose lines are edited, none = any earlier one" },
	{ "all_after", JSON_U64V, OFF(when, all_after), .doc = "orders of earlier interventions; the event counts only when all of them have fired. Event after may have it instead of after" },
	{ "delay", JSON_DURATION, OFF(when, delay), .doc = "time from the event to the firing, default none" },
	{ NULL },
};
/* clang-format on */

const char *scenario_event_name(enum when_event v)
{
	return event_names[v];
}

const char *scenario_touch_name(enum touch_level v)
{
	return touch_names[v];
}

const char *scenario_unit_name(enum when_unit v)
{
	return unit_names[v];
}

const char *scenario_length_name(enum length_from v)
{
	return length_names[v];
}

static bool exec_ok(const struct when *w, uint64_t order)
{
	(void)order;
	return w->program && w->program[0];
}

static bool count_ok(const struct when *w, uint64_t order)
{
	(void)order;
	return w->n >= 1;
}

static bool progress_ok(const struct when *w, uint64_t order)
{
	(void)order;
	return w->at >= 0 && w->at <= 1;
}

static bool time_ok(const struct when *w, uint64_t order)
{
	(void)order;
	return w->at >= 0 && w->at <= SECONDS_MAX;
}

static bool anchor_ok(const struct when *w, uint64_t order)
{
	(void)order;
	return w->anchor && w->anchor[0];
}

static int check_anchor(const struct json_src *src, const char *at, const struct when *w,
			struct err *err)
{
	const char *near;

	for (size_t i = 0; w->anchor && scenario_anchor_names[i]; i++) {
		if (str_eq(w->anchor, scenario_anchor_names[i]))
			return 0;
	}
	if (!w->anchor)
		return 0;
	near = str_nearest(w->anchor, scenario_anchor_names);
	return json_complain(src, at, err,
			     "no anchor \"%s\"; there are fork, start, before-first-edit, "
			     "after-first-edit, before-first-test, after-first-pass and "
			     "before-submit%s%s%s",
			     w->anchor, near ? "; did you mean " : "", near ? near : "",
			     near ? "?" : "");
}

/* With or without "after"; but somebody must have edited before. */
static bool changed_ok(const struct when *w, uint64_t order)
{
	return order > 1 && w->after < order;
}

/* Only an earlier one, so that no two wait for each other. */
static bool after_ok(const struct when *w, uint64_t order)
{
	return w->after < order && (w->after || w->all_after.n);
}

/* clang-format off */
/* What an event needs beside its name; events that are touches need regions. */
static const struct {
	enum when_event event;
	bool (*ok)(const struct when *w, uint64_t order);
	const char *need;
} event_rows[] = {
	{ WHEN_EXEC,	      exec_ok,	   "\"program\"" },
	{ WHEN_COMMAND_COUNT, count_ok,	   "\"n\", 1 or more" },
	{ WHEN_MODEL_CALL,    count_ok,	   "\"n\", 1 or more" },
	{ WHEN_PROGRESS,      progress_ok, "\"at\" from 0 to 1" },
	{ WHEN_TIME,	      time_ok,	   "\"at\" in seconds, 0 to 1000000000" },
	{ WHEN_ANCHOR,	      anchor_ok,   "\"anchor\"" },
	{ WHEN_AFTER,	      after_ok,	   "\"after\" or \"all_after\", orders of earlier interventions" },
	{ WHEN_REGION_STATE_CHANGED, changed_ok, "an earlier intervention, whose order is \"after\" or which is any" },
};
/* clang-format on */

/* Orders of earlier ones only, so that no two wait for each other. */
static int check_all_after(const struct json_src *src, const char *at,
			   const struct scenario_intervention *iv, struct err *err)
{
	const uint64_t *v = iv->when.all_after.v;

	for (size_t i = 0; i < iv->when.all_after.n; i++) {
		if (v[i] < 1 || v[i] >= iv->order)
			return json_complain(src, at, err,
					     "all_after[%zu] is %llu; intervention %llu can wait "
					     "for those of order 1 to %llu only",
					     i, (unsigned long long)v[i],
					     (unsigned long long)iv->order,
					     (unsigned long long)iv->order - 1);
	}
	if (iv->when.delay > DELAY_MAX)
		return json_complain(src, at, err, "delay is more than a day");
	return 0;
}

int scenario_when_check(const struct json_src *src, const char *at, const struct scenario_file *f,
			const struct scenario_intervention *iv, struct err *err)
{
	const struct when *w = &iv->when;
	const uint64_t *idx = w->regions.v;
	const char *need = NULL;

	for (size_t i = 0; i < w->regions.n; i++) {
		if (idx[i] >= f->regions.n)
			return json_complain(src, at, err,
					     "regions[%zu] is %llu, but there are %zu regions, "
					     "counted from 0",
					     i, (unsigned long long)idx[i], f->regions.n);
	}
	if (scenario_event_is_touch(w->event) && f->regions.n == 0)
		need = "\"regions\" of the scenario";
	for (size_t i = 0; i < ARRAY_SIZE(event_rows); i++) {
		if ((int)event_rows[i].event == w->event && !event_rows[i].ok(w, iv->order))
			need = event_rows[i].need;
	}
	if (!isfinite(w->at))
		need = "\"at\" to be finite";
	if (need)
		return json_complain(src, at, err, "event %s needs %s", event_names[w->event],
				     need);
	if (check_anchor(src, at, w, err) < 0)
		return -ERR_INPUT;
	return check_all_after(src, at, iv, err);
}
