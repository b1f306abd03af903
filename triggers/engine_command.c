/* Commands and points of the run: what waits for the end of a command, and triggers that are not
 * about files. */
#include "triggers/engine.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/engine_internal.h"

struct command *engine_command(struct engine *e, uint32_t id)
{
	struct command *c = map_get(&e->commands, id);

	if (!c) {
		c = mem_zalloc(1, sizeof(*c));
		c->id = id;
		map_put(&e->commands, id, c);
	}
	return c;
}

static const struct cause no_touch = { .event = NULL };

static size_t interventions(const struct engine *e)
{
	return e->sc ? e->sc->n_interventions : 0;
}

/* A command is asked by its own number: one that began later may be under way. */
static bool ready(const struct engine *e, size_t i, const struct command *c)
{
	struct schedule at = e->schedule;

	if (c && c->number)
		at.commands = c->number;
	if (!rounds_open(&e->rounds, i))
		return false;
	if (e->delayed[i].state != DELAY_NONE)
		return e->delayed[i].state == DELAY_RUNS && at.ns >= e->delayed[i].due;
	return schedule_due(&at, &e->rounds, i);
}

/* Interventions whose point is reached and that do not wait for the end of a command. */
static int fire_due(struct engine *e, struct command *c, struct err *err)
{
	for (size_t i = 0; e->armed && i < interventions(e); i++) {
		struct cause cause = no_touch;
		int r;

		if (c && c->fired)
			return 0;
		if (!ready(e, i, c) || e->sc->interventions[i].timing == TIMING_AFTER_COMMAND)
			continue;
		cause.cmd = c ? c->id : 0;
		r = engine_fire(e, i, &cause, err);
		if (r)
			return r;
	}
	return 0;
}

/* What the command is, by its words. */
static void take_text(const struct engine *e, struct command *c, char *const *argv)
{
	strv_done(&c->argv);
	swetouch_done(&c->events);
	for (size_t i = 0; argv && argv[i]; i++)
		strv_add(&c->argv, argv[i]);
	for (size_t i = 0; i < interventions(e); i++)
		if (e->sc->interventions[i].when.touch == TOUCH_SWE_TOUCH_1) {
			swetouch_command(&c->events, argv);
			break;
		}
}

int engine_command_begin(struct engine *e, uint32_t cmd, char *const *argv, struct err *err)
{
	struct command *c = engine_command(e, cmd);

	e->moment++;
	c->fired = false;
	c->n_queue = 0;
	take_text(e, c, argv);
	c->number = cmd && e->armed ? ++e->schedule.commands : 0;
	return fire_due(e, c, err);
}

void engine_command_text(struct engine *e, uint32_t cmd, char *const *argv)
{
	take_text(e, engine_command(e, cmd), argv);
}

void engine_output(struct engine *e, uint32_t cmd, const char *data, size_t n)
{
	struct command *c = cmd ? map_get(&e->commands, cmd) : NULL;

	for (size_t i = 0; c && c->argv.n && i < interventions(e); i++)
		if (e->sc->interventions[i].when.touch == TOUCH_SWE_TOUCH_1) {
			swetouch_output(&c->events, c->argv.v, data, n);
			return;
		}
}

int engine_exec(struct engine *e, uint32_t cmd, const char *program, char *const *argv,
		struct err *err)
{
	struct command *c = engine_command(e, cmd);

	for (size_t i = 0; e->armed && i < interventions(e) && !c->fired; i++) {
		const struct intervention *iv = &e->sc->interventions[i];
		struct cause cause = { .cmd = cmd };
		size_t k = 0;
		int r;

		if (!rounds_open(&e->rounds, i) || !schedule_exec(&iv->when, program, argv))
			continue;
		if (iv->timing != TIMING_AFTER_COMMAND) {
			r = engine_fire(e, i, &cause, err);
			if (r)
				return r;
			continue;
		}
		while (k < c->n_queue && c->queue[k].i != i)
			k++;
		if (k < c->n_queue)
			continue;
		MEM_GROW(c->queue, c->cap_queue, c->n_queue + 1);
		c->queue[c->n_queue++] = (struct queued){ i, cause };
	}
	return 0;
}

/* A region as the scenario has it: the released rule does not follow its lines over edits. */
static struct region_now as_written(const struct engine *e, uint64_t index)
{
	const struct region *r = &e->sc->regions[index];

	return (struct region_now){ index, { r->start, r->end } };
}

/* Does the command's text touch a region that intervention @i waits for? */
static bool by_text(const struct engine *e, size_t i, const struct command *c, struct cause *cause)
{
	const struct when *w = &e->sc->interventions[i].when;
	enum when_event event = rounds_event(&e->rounds, i);

	for (size_t k = 0; k < c->events.n; k++) {
		const struct swetouch_event *ev = &c->events.v[k];

		for (size_t f = 0; f < e->regions.n_regions; f++) {
			const struct region_file *rf = &e->regions.file[f];

			if (!swetouch_same_path(ev->path, rf->path, e->workdir))
				continue;
			for (size_t r = 0; r < rf->n; r++) {
				struct region_now told = as_written(e, rf->region[r].index);

				if (!match_swetouch(w, event, ev, &told))
					continue;
				*cause = (struct cause){ ev->edit ? "edit" : "read",
							 rf->path,
							 ev->first,
							 ev->last,
							 scenario_touch_name(TOUCH_SWE_TOUCH_1),
							 c->id };
				return true;
			}
		}
	}
	return false;
}

/* Does the command's text edit a file that an intervention wrote, one that @i waits for? */
static bool by_state(const struct engine *e, size_t i, const struct command *c, struct cause *cause)
{
	const struct when *w = &e->sc->interventions[i].when;

	if (w->event != WHEN_REGION_STATE_CHANGED || w->touch != TOUCH_SWE_TOUCH_1)
		return false;
	for (size_t k = 0; k < c->events.n; k++) {
		const struct swetouch_event *ev = &c->events.v[k];

		for (size_t f = 0; ev->edit && f < e->regions.n; f++) {
			const char *path = e->regions.file[f].path;

			if (!swetouch_same_path(ev->path, path, e->workdir) ||
			    !patched_has(&e->patched, w, path))
				continue;
			*cause = (struct cause){ .event = "edit",
						 .path = path,
						 .level = scenario_touch_name(TOUCH_SWE_TOUCH_1),
						 .cmd = c->id };
			return true;
		}
	}
	return false;
}

/* Does intervention @i wait for the end of this command? */
static bool waits(const struct engine *e, size_t i, const struct command *c, struct cause *cause)
{
	if (!rounds_open(&e->rounds, i))
		return false;
	for (size_t k = 0; k < c->n_queue; k++)
		if (c->queue[k].i == i) {
			*cause = c->queue[k].cause;
			return true;
		}
	*cause = no_touch;
	cause->cmd = c->id;
	return ready(e, i, c) || by_text(e, i, c, cause) || by_state(e, i, c, cause);
}

/* Touches of the released rule, for the record: one per region and event of the command. */
static void record_text(struct engine *e, const struct command *c)
{
	for (size_t k = 0; k < c->events.n; k++) {
		const struct swetouch_event *ev = &c->events.v[k];

		for (size_t f = 0; f < e->regions.n_regions; f++) {
			const struct region_file *rf = &e->regions.file[f];

			if (!swetouch_same_path(ev->path, rf->path, e->workdir))
				continue;
			for (size_t r = 0; r < rf->n; r++) {
				uint64_t x = 0, y = 0;

				struct region_now told = as_written(e, rf->region[r].index);

				if (ev->first &&
				    !regions_overlap(&told, ev->first, ev->last, &x, &y))
					continue;
				engine_touch(e, &(struct touch){ .region = rf->region[r].index,
								 .level = TOUCH_SWE_TOUCH_1,
								 .event = ev->edit ? ACCESS_EDIT
										   : ACCESS_READ,
								 .first = x,
								 .last = y,
								 .path = rf->path,
								 .cmd = c->id });
			}
		}
	}
}

static void forget(struct engine *e, struct command *c)
{
	e->moment++;
	c->n_queue = 0;
	c->fired = false;
	swetouch_done(&c->events);
	if (!c->id)
		return;
	(void)map_del(&e->commands, c->id); /* it is @c */
	strv_done(&c->argv);
	free(c->queue);
	free(c);
}

int engine_command_end(struct engine *e, uint32_t cmd, struct err *err)
{
	struct command *c = engine_command(e, cmd);
	int r = 0;

	record_text(e, c);
	for (size_t i = 0; e->armed && i < interventions(e) && !c->fired && r == 0; i++) {
		struct cause cause;

		if (waits(e, i, c, &cause))
			r = engine_fire(e, i, &cause, err);
	}
	forget(e, c);
	return r;
}

bool engine_pending(const struct engine *e, uint32_t cmd)
{
	static const struct command unknown;
	const struct command *c = map_get(&e->commands, cmd);
	struct cause cause;

	if (!e->armed)
		return false;
	/* the agent's own span: its boundary also lets the next intervention in */
	if (c && c->fired)
		return cmd == 0;
	for (size_t i = 0; i < interventions(e); i++)
		if (waits(e, i, c ? c : &unknown, &cause))
			return true;
	return false;
}

void engine_command_drop(struct engine *e, uint32_t cmd)
{
	struct command *c = cmd ? map_get(&e->commands, cmd) : NULL;

	if (c)
		forget(e, c);
}

void engine_arm(struct engine *e, bool armed)
{
	e->armed = armed;
}

void engine_asked(struct engine *e, const char *path, uint64_t first, uint64_t last)
{
	if (e->n_asked == ENGINE_ASKED_MAX || !path[0] || first > last)
		return;
	e->asked[e->n_asked++] =
		(struct asked){ path[0] == '/' ? mem_strdup(path) : path_normal(path), first,
				last };
}

void engine_asked_clear(struct engine *e)
{
	while (e->n_asked)
		free(e->asked[--e->n_asked].path);
}

int engine_tick(struct engine *e, uint64_t run_ns, struct err *err)
{
	e->schedule.ns = run_ns;
	/* From the tick behind the event: late by that much, never early. */
	for (size_t i = 0; i < interventions(e); i++) {
		struct delayed *d = &e->delayed[i];

		if (d->state != DELAY_NEW)
			continue;
		d->state = DELAY_RUNS;
		d->due = run_ns + e->sc->interventions[i].when.delay;
	}
	return fire_due(e, NULL, err);
}

int engine_progress(struct engine *e, double fraction, struct err *err)
{
	if (fraction > e->schedule.progress)
		e->schedule.progress = fraction;
	return fire_due(e, NULL, err);
}

int engine_model_call(struct engine *e, uint64_t call, struct err *err)
{
	if (call > e->schedule.calls)
		e->schedule.calls = call;
	return fire_due(e, NULL, err);
}

int engine_anchor(struct engine *e, const char *anchor, struct err *err)
{
	for (size_t i = 0; i < interventions(e); i++) {
		const struct intervention *iv = &e->sc->interventions[i];
		int r;

		if (iv->when.event != WHEN_ANCHOR || !rounds_open(&e->rounds, i) ||
		    !str_eq(iv->when.anchor, anchor))
			continue;
		/* an anchor is a boundary between commands already, so every timing is now */
		r = engine_fire(e, i, &no_touch, err);
		if (r)
			return r;
	}
	return 0;
}
