/* The facade: what the supervisor reports, turned into matches, and matches into firings now or at
 * the end of the command. Carrying them out is engine_fire.c, commands are engine_command.c. */
#include "triggers/engine.h"

#include <string.h>

#include "base/mem.h"
#include "triggers/engine_internal.h"
#include "triggers/message.h"

/* Interventions by when they act on an access. */
enum phase { PHASE_BEFORE, PHASE_AFTER, PHASE_CHANGED };

enum act { ACT_NOTHING, ACT_FIRE, ACT_QUEUE };

/* clang-format off */
/* What a timing means in a phase. An edit cannot be stopped halfway, so at-touch and after-read are
 * the same for it. */
static const enum act acts[][3] = {
	/*			   BEFORE	AFTER	     CHANGED */
	[TIMING_AT_TOUCH]      = { ACT_FIRE,    ACT_NOTHING, ACT_FIRE },
	[TIMING_AFTER_READ]    = { ACT_NOTHING, ACT_FIRE,    ACT_FIRE },
	[TIMING_AFTER_COMMAND] = { ACT_NOTHING, ACT_QUEUE,   ACT_QUEUE },
};
/* clang-format on */

static const char *const event_names[] = { "open", "read", "edit" };

static int parse_edits(struct engine *e, struct err *err)
{
	const struct scenario *sc = e->sc;

	e->patch = mem_zalloc(sc->n_interventions + 1, sizeof(*e->patch));
	for (size_t i = 0; i < sc->n_interventions; i++) {
		const struct intervention *iv = &sc->interventions[i];

		e->patch[i] = mem_zalloc(iv->n_effects + 1, sizeof(**e->patch));
		for (size_t k = 0; k < iv->n_effects; k++) {
			const struct effect *ef = &iv->effects[k];
			int r = 0;

			if (ef->kind == EFFECT_EDIT)
				r = patch_parse(ef->diff, strlen(ef->diff), &e->patch[i][k], err);
			else if (ef->kind == EFFECT_MESSAGE)
				r = message_check(ef, err);
			if (r < 0)
				return err_wrap(err, "intervention %llu, effect %zu",
						(unsigned long long)iv->order, k + 1);
		}
	}
	return 0;
}

static int load_images(struct engine *e, struct err *err)
{
	for (size_t i = 0; i < e->regions.n; i++) {
		struct region_file *f = &e->regions.file[i];
		struct look l = { .b = BUF_INIT(REGIONS_IMAGE_MAX) };
		uint32_t mode = 0;
		int r = e->ops->read(e->arg, f->path, &l.b, &mode, err);

		if (r < 0) {
			engine_look_done(&l);
			return err_wrap(err, "critical region in %s", f->path);
		}
		l.data = r ? buf_str(&l.b) : NULL;
		l.len = l.b.len;
		engine_first_image(e, f, &l);
		engine_look_done(&l);
	}
	return 0;
}

/* The files of all edits are followed, with a region or without: what becomes of a user's lines is seen, and
 * an intervention may wait for it. */
static void follow_edits(struct engine *e)
{
	const struct scenario *sc = e->sc;

	for (size_t i = 0; i < sc->n_interventions; i++)
		for (size_t k = 0; k < sc->interventions[i].n_effects; k++) {
			const struct patch *p = e->patch[i][k];

			for (size_t f = 0; p && f < patch_files(p); f++)
				(void)engine_follow(e, patch_path(p, f), false); /* its index */
		}
}

int engine_new(const struct scenario *scenario, const struct engine_ops *ops, void *arg,
	       struct engine **ret, struct err *err)
{
	struct engine *e = mem_zalloc(1, sizeof(*e));
	int r = 0;

	e->armed = true;
	e->sc = scenario;
	e->ops = ops;
	e->arg = arg;
	regions_init(&e->regions, scenario);
	rounds_init(&e->rounds, scenario);
	e->refused_at =
		mem_zalloc((scenario ? scenario->n_interventions : 0) + 1, sizeof(*e->refused_at));
	for (size_t i = 0; scenario && i < scenario->n_interventions; i++)
		e->refused_at[i] = UINT64_MAX;
	e->delayed =
		mem_zalloc((scenario ? scenario->n_interventions : 0) + 1, sizeof(*e->delayed));
	e->match = mem_zalloc((scenario ? scenario->n_regions : 0) + 1, sizeof(*e->match));
	if (scenario)
		r = parse_edits(e, err);
	if (r == 0)
		r = load_images(e, err);
	if (r == 0 && scenario)
		follow_edits(e);
	if (r < 0) {
		engine_free(e);
		return r;
	}
	*ret = e;
	return 0;
}

static void command_free(struct command *c)
{
	strv_done(&c->argv);
	free(c->queue);
	swetouch_done(&c->events);
	free(c);
}

struct engine *engine_free(struct engine *e)
{
	if (!e)
		return NULL;
	for (size_t i = 0; e->patch && i < e->sc->n_interventions; i++) {
		for (size_t k = 0; e->patch[i] && k < e->sc->interventions[i].n_effects; k++)
			patch_free(e->patch[i][k]);
		free(e->patch[i]);
	}
	free(e->patch);
	map_each (s, &e->commands)
		command_free(s->val);
	map_done(&e->commands);
	regions_done(&e->regions);
	rounds_done(&e->rounds);
	patched_done(&e->patched);
	free(e->match);
	free(e->refused_at);
	free(e->delayed);
	engine_asked_clear(e);
	free(e->workdir);
	free(e);
	return NULL;
}

size_t engine_files(const struct engine *e)
{
	return e->regions.n;
}

const char *engine_file(const struct engine *e, size_t i)
{
	return e->regions.file[i].path;
}

void engine_lines(const struct engine *e, const char *path, uint64_t off, uint64_t len,
		  uint64_t *first, uint64_t *last)
{
	const struct region_file *f = regions_file(&e->regions, path);

	*first = *last = 0;
	if (f && regions_current(f))
		lines_of_bytes(&f->lines, off, len, first, last);
}

void engine_set_workdir(struct engine *e, const char *dir)
{
	free(e->workdir);
	e->workdir = mem_strdup(dir);
}

void engine_touch(struct engine *e, const struct touch *t)
{
	e->touches += t->scan == NULL;
	if (e->ops->touched)
		e->ops->touched(e->arg, t);
}

void engine_touch_match(struct engine *e, const struct region_file *f, const struct match *m,
			pid_t pid, uint32_t cmd)
{
	engine_touch(e, &(struct touch){ .region = m->region,
					 .level = m->level,
					 .event = m->kind,
					 .first = m->first,
					 .last = m->last,
					 .path = f->path,
					 .scan = m->scan    ? m->scan
						 : e->armed ? NULL
							    : "before the first answer",
					 .unasked = m->kind == ACCESS_READ && !m->argv,
					 .pid = pid,
					 .cmd = cmd });
}

static void enqueue(struct command *c, size_t i, const struct cause *cause)
{
	for (size_t k = 0; k < c->n_queue; k++)
		if (c->queue[k].i == i)
			return; /* the first touch of a command is the one that counts */
	MEM_GROW(c->queue, c->cap_queue, c->n_queue + 1);
	c->queue[c->n_queue++] = (struct queued){ i, *cause };
}

/* What an in-process tool of the agent does has no command text: by the released rule a file call
 * of its own is an event without lines. */
static bool bridged(const struct when *w, enum when_event event, const struct match *m,
		    const struct command *c)
{
	struct swetouch_event ev = { .edit = m->kind == ACCESS_EDIT };
	struct region_now any = { .index = m->region };

	return c->id == 0 && m->kind != ACCESS_OPEN && (!m->scan || w->count_scans) &&
	       match_swetouch(w, event, &ev, &any);
}

/* One intervention against all matches of an access. Effects applied, or negative. */
static int consider(struct engine *e, size_t i, const struct region_file *f, size_t n,
		    enum phase phase, struct command *c, struct err *err)
{
	const struct intervention *iv = &e->sc->interventions[i];
	enum when_event event = rounds_event(&e->rounds, i);

	for (size_t k = 0; k < n; k++) {
		const struct match *m = &e->match[k];
		bool bridge = phase != PHASE_BEFORE && bridged(&iv->when, event, m, c);
		struct cause cause = { .event = event_names[m->kind],
				       .path = f->path,
				       .first = m->first,
				       .last = m->last,
				       .level = scenario_touch_name(m->level),
				       .cmd = c->id };
		enum act act = acts[iv->timing][phase];

		if (bridge) {
			cause.level = scenario_touch_name(TOUCH_SWE_TOUCH_1);
			act = ACT_QUEUE; /* the rule decides when the command is over */
		} else if (!match_when(&iv->when, event, m))
			continue;
		if (act == ACT_QUEUE)
			enqueue(c, i, &cause);
		if (act == ACT_FIRE && e->refused_at[i] != e->moment)
			return engine_fire(e, i, &cause, err);
		return 0;
	}
	return 0;
}

/* An intervention that waits for an edit of lines which our own edits wrote. As consider(). */
static int consider_state(struct engine *e, size_t i, const struct region_file *f,
			  struct command *c, struct err *err)
{
	const struct intervention *iv = &e->sc->interventions[i];
	bool released = iv->when.touch == TOUCH_SWE_TOUCH_1;
	struct cause cause = { .event = event_names[ACCESS_EDIT],
			       .path = f->path,
			       .level = scenario_touch_name(released ? TOUCH_SWE_TOUCH_1
								     : TOUCH_BYTES),
			       .cmd = c->id };
	enum act act = released ? ACT_QUEUE : acts[iv->timing][PHASE_CHANGED];

	/* By the released rule a command's text tells; the agent's own edit has none, and no lines. */
	if (released ? c->id != 0 || !patched_has(&e->patched, &iv->when, f->path)
		     : !patched_touched(&e->patched, &iv->when, f->path, &cause.first, &cause.last))
		return 0;
	if (act == ACT_QUEUE)
		enqueue(c, i, &cause);
	if (act == ACT_FIRE && e->refused_at[i] != e->moment)
		return engine_fire(e, i, &cause, err);
	return 0;
}

/* All interventions in order; the first that fires ends it. */
static int dispatch(struct engine *e, const struct region_file *f, size_t n, enum phase phase,
		    uint32_t cmd, struct err *err)
{
	struct command *c = engine_command(e, cmd);

	/* The agent's own process has no commands to tell apart: each access stands for itself. */
	if (!cmd && phase != PHASE_AFTER)
		c->fired = false;
	if (!e->armed)
		return 0;
	for (size_t i = 0;
	     (n || phase == PHASE_CHANGED) && e->sc && i < e->sc->n_interventions && !c->fired;
	     i++) {
		bool state = e->sc->interventions[i].when.event == WHEN_REGION_STATE_CHANGED;
		int r = 0;

		if (!rounds_open(&e->rounds, i))
			continue;
		if (!state)
			r = consider(e, i, f, n, phase, c, err);
		else if (phase == PHASE_CHANGED)
			r = consider_state(e, i, f, c, err);
		if (r)
			return r;
	}
	return 0;
}

char *const *engine_argv_of(const struct engine *e, uint32_t cmd)
{
	const struct command *c = cmd ? map_get(&e->commands, cmd) : NULL;

	return c ? c->argv.v : NULL;
}

/* Put a range in; ranges stay in rising order and apart. */
static void add_range(struct argvrange *r, uint64_t first, uint64_t last)
{
	size_t at = 0, end;

	while (at < r->n && r->v[at].last < first)
		at++;
	for (end = at; end < r->n && r->v[end].first <= last; end++) {
		first = r->v[end].first < first ? r->v[end].first : first;
		last = r->v[end].last > last ? r->v[end].last : last;
	}
	memmove(&r->v[at + 1], &r->v[end], (r->n - end) * sizeof(r->v[0]));
	r->v[at].first = first;
	r->v[at].last = last;
	r->n = r->n + 1 - (end - at);
}

const struct argvrange *engine_asked_of(const struct engine *e, const char *path,
					const struct access *a, struct argvrange *out)
{
	out->n = 0;
	for (size_t i = 0; a->cmd == 0 && i < e->n_asked; i++) {
		const struct asked *q = &e->asked[i];

		if (swetouch_same_path(q->path, path, e->workdir))
			add_range(out, q->first ? q->first : 1, q->first ? q->last : UINT64_MAX);
	}
	return out->n ? out : NULL;
}

static size_t matches(struct engine *e, const struct region_file *f, const struct access *a)
{
	struct argvrange asked;

	return match_access(f, a, engine_argv_of(e, a->cmd), engine_asked_of(e, f->path, a, &asked),
			    e->match);
}

int engine_before(struct engine *e, const struct access *a, struct err *err)
{
	const struct region_file *f = regions_file(&e->regions, a->path);

	if (!f || !f->n || a->kind == ACCESS_EDIT)
		return 0;
	return dispatch(e, f, matches(e, f, a), PHASE_BEFORE, a->cmd, err);
}

int engine_after(struct engine *e, const struct access *a, struct err *err)
{
	const struct region_file *f = regions_file(&e->regions, a->path);
	size_t n;

	if (!f)
		return 0;
	if (a->kind == ACCESS_EDIT)
		return engine_changed(e, a->path, a->pid, a->cmd, a->argv, err);
	if (!f->n)
		return 0;
	n = matches(e, f, a);
	for (size_t i = 0; i < n; i++)
		engine_touch_match(e, f, &e->match[i], a->pid, a->cmd);
	return dispatch(e, f, n, PHASE_AFTER, a->cmd, err);
}

int engine_changed(struct engine *e, const char *path, pid_t pid, uint32_t cmd, char *const *argv,
		   struct err *err)
{
	struct region_file *f = regions_file(&e->regions, path);
	const struct doer who = { .by_agent = true, .pid = pid, .cmd = cmd };
	const struct when any = { .event = WHEN_REGION_STATE_CHANGED };
	struct look l;
	size_t n = 0;
	bool changed;
	int r = 0;

	(void)argv; /* an edit is found by its outcome, whoever made it */
	if (!f)
		return 0;
	engine_look(e, path, &l);
	changed = engine_differs(f, &l);
	if (changed)
		engine_new_image(e, f, &l, &who, &n);
	engine_look_done(&l);
	/* a file without a region: only where an edit of ours may be what somebody waits for */
	if (changed && (f->n || patched_has(&e->patched, &any, f->path)))
		r = dispatch(e, f, n, PHASE_CHANGED, cmd, err);
	return r < 0 ? r : changed;
}

void engine_counts(const struct engine *e, uint64_t *touches, uint64_t *fired, uint64_t *refused)
{
	*touches = e->touches;
	*fired = e->fired;
	*refused = e->refused;
}
