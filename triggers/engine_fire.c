/* One firing: reserve the round, see whether the edits would apply, carry out the effects in order,
 * keep or give back the round. Nothing is said and nothing is counted for an edit that did not
 * happen. */
#include "triggers/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "triggers/engine_internal.h"
#include "triggers/message.h"

/* An edit effect that would apply: the new contents of its files. */
struct planned {
	size_t effect;
	bool there; /* @result is filled */
	struct apply_result result;
};

struct shot {
	struct engine *e;
	size_t i;
	const struct intervention *iv;
	const struct cause *cause;
	uint64_t round;
	bool held;
	bool stale;           /* the world ran since the edits were planned */
	struct planned *plan; /* owned, one per effect */
	const char *at_path;  /* what a message is about */
	uint64_t at_first, at_last;
	int applied, failed; /* effects */
};

/* Begin a record with what all effects of a firing share. */
static struct firing record(const struct shot *s, enum effect_kind kind)
{
	const struct cause *c = s->cause;

	return (struct firing){ .order = s->iv->order,
				.round = s->round,
				.timing = (enum timing)s->iv->timing,
				.effect = kind,
				.touch_event = c->event,
				.touch_path = c->path,
				.touch_first = c->first,
				.touch_last = c->last,
				.touch_level = c->level,
				.touch_cmd = c->cmd };
}

static void report(struct shot *s, const struct firing *f)
{
	s->applied += f->applied;
	s->failed += !f->applied;
	if (s->e->ops->fired)
		s->e->ops->fired(s->e->arg, f);
}

static int hold(struct shot *s, bool on, struct err *err)
{
	int r = 0;

	if (s->held == on)
		return 0;
	if (s->e->ops->hold)
		r = s->e->ops->hold(s->e->arg, on, err);
	if (r < 0)
		return err_wrap(err, on ? "holding the box still" : "letting the box go on");
	s->held = on;
	s->stale |= !on;
	return 0;
}

/* Reads for the plan: earlier edits of the same firing are seen as if they were written. */
static int read_planned(void *arg, const char *path, struct buf *out, uint32_t *mode,
			struct err *err)
{
	const struct shot *s = arg;

	for (size_t k = s->stale ? 0 : s->iv->n_effects; k-- > 0;) {
		const struct planned *p = &s->plan[k];

		for (size_t f = 0; p->there && f < p->result.n; f++) {
			const struct apply_file *file = &p->result.file[f];

			if (!str_eq(file->path, path))
				continue;
			*mode = file->mode;
			buf_add(out, file->after, file->after_len);
			return file->mode ? 1 : 0;
		}
	}
	return s->e->ops->read(s->e->arg, path, out, mode, err);
}

static bool fits(const struct shot *s, size_t k)
{
	return scenario_effect_fits((enum scenario_mode)s->e->sc->mode, s->iv->effects[k].kind);
}

/* Work out edit effect @k. 1, or 0 with *why (owned by the caller). */
static int plan_edit(struct shot *s, size_t k, char **why)
{
	struct apply_io io = { read_planned, s };
	struct apply_options opt = { APPLY_CONTEXT };
	struct planned *p = &s->plan[k];
	struct err err = { ERR_NONE, 0, "" };
	int r;

	p->there = false;
	apply_result_done(&p->result);
	r = apply_patch(s->e->patch[s->i][k], &io, &opt, &p->result, &err);
	if (r < 0)
		*why = mem_strdup(err.text);
	else if (r == 0)
		*why = take_ptr(&p->result.reason);
	else if (!p->result.changed)
		*why = mem_strdup("it is there already: nothing would change");
	else
		p->there = true;
	if (!p->there)
		apply_result_done(&p->result);
	return p->there;
}

/* An edit of the firing cannot be made: say so. */
static void refuse(struct shot *s, size_t k, const char *why)
{
	struct firing f = record(s, s->iv->effects[k].kind);
	char sum[DIGEST_HEX];

	f.reason = why;
	if (f.effect == EFFECT_EDIT)
		f.edit_sha256 =
			digest_bytes(s->iv->effects[k].diff, strlen(s->iv->effects[k].diff), sum);
	report(s, &f);
}

static bool same(const struct apply_file *f)
{
	return (f->existed ? f->old_mode : 0) == f->mode && f->before_len == f->after_len &&
	       (!f->after_len || memcmp(f->before, f->after, f->after_len) == 0);
}

/* Put back what was written before a write failed. Best effort: the failure is reported anyway. */
static void undo(const struct shot *s, const struct apply_result *r, size_t n)
{
	struct err ignored;

	while (n-- > 0)
		if (!same(&r->file[n]))
			(void)s->e->ops->write(s->e->arg, r->file[n].path, r->file[n].before,
					       r->file[n].before_len,
					       r->file[n].existed ? r->file[n].old_mode : 0,
					       &ignored);
}

/* No bytes are not no file. */
static const char *text(const char *s)
{
	return s ? s : "";
}

/* Images of followed files after our edit. What the agent had written and not yet closed is its edit:
 * it is taken first, or the comparison at its close would blame us for both. */
static void follow(struct shot *s, const struct apply_result *r)
{
	const struct doer agent = { .by_agent = true, .cmd = s->cause->cmd };
	const struct doer user = { .order = s->iv->order, .cmd = s->cause->cmd };
	struct engine *e = s->e;
	size_t n;

	for (size_t i = 0; i < r->n; i++) {
		const struct apply_file *f = &r->file[i];
		struct look before = { .data = f->existed ? text(f->before) : NULL,
				       .len = f->before_len };
		struct look after = { .data = f->mode ? text(f->after) : NULL,
				      .len = f->after_len,
				      .opaque = f->after_len > REGIONS_IMAGE_MAX };
		struct region_file *rf = same(f) ? NULL : regions_file(&e->regions, f->path);

		if (!rf)
			continue;
		if (engine_differs(rf, &before))
			engine_new_image(e, rf, &before, &agent, &n);
		if (after.opaque)
			digest_bytes(f->after, f->after_len, after.sha256);
		engine_new_image(e, rf, &after, &user, &n);
	}
}

/* The first region that the intervention is about, in the lines of now. */
static void about_region(struct shot *s)
{
	const struct scenario *sc = s->e->sc;
	const uint64_t *v = s->iv->when.regions.v;
	uint64_t index = s->iv->when.regions.n ? v[0] : 0;
	const struct region_file *f =
		sc->n_regions ? regions_file(&s->e->regions, sc->regions[index].path) : NULL;

	for (size_t i = 0; f && i < f->n; i++) {
		const struct line_range *at = &f->region[i].at;

		if (f->region[i].index != index)
			continue;
		s->at_path = sc->regions[index].path;
		s->at_first = at->last < at->first ? 0 : at->first;
		s->at_last = at->last < at->first ? 0 : at->last;
	}
}

/* What a message is about: the touched lines, else what the edit wrote, else the region. */
static void about(struct shot *s, const struct apply_result *r)
{
	if (s->at_path)
		return;
	s->at_path = s->cause->path;
	s->at_first = s->cause->first;
	s->at_last = s->cause->last;
	if (!s->at_path && r && r->n) {
		s->at_path = r->file[0].path;
		(void)patched_lines(&s->e->patched, s->iv->order, s->at_path, &s->at_first,
				    &s->at_last); /* none: the file alone is named */
	}
	if (!s->at_path)
		about_region(s);
}

static int do_edit(struct shot *s, size_t k, struct err *err)
{
	const struct effect *ef = &s->iv->effects[k];
	struct planned *p = &s->plan[k];
	struct firing f = record(s, EFFECT_EDIT);
	char sum[DIGEST_HEX], pre[DIGEST_HEX], post[DIGEST_HEX];
	struct err why = { ERR_NONE, 0, "" };
	auto_free char *no = NULL;
	size_t i = 0;
	int r;

	if (s->stale) {
		r = hold(s, true, err);
		if (r < 0)
			return r;
		if (!plan_edit(s, k, &no)) {
			refuse(s, k, no);
			return 0;
		}
	}
	for (r = 0; i < p->result.n && r >= 0; i++) {
		const struct apply_file *w = &p->result.file[i];

		if (same(w))
			continue;
		r = s->e->ops->write(s->e->arg, w->path, w->after, w->after_len, w->mode, &why);
		if (r < 0)
			break;
		if (!f.edit_sha256) {
			f.edit_sha256 = digest_bytes(ef->diff, strlen(ef->diff), sum);
			f.pre_sha256 =
				w->existed ? digest_bytes(w->before, w->before_len, pre) : NULL;
			f.post_sha256 = w->mode ? digest_bytes(w->after, w->after_len, post) : NULL;
		}
	}
	if (r < 0) {
		undo(s, &p->result, i + 1);
		refuse(s, k, why.text);
		return 0;
	}
	follow(s, &p->result);
	about(s, &p->result);
	f.applied = true;
	f.method = apply_method_name(p->result.method);
	report(s, &f);
	return 0;
}

static int do_message(struct shot *s, size_t k, struct err *err)
{
	struct firing f = record(s, EFFECT_MESSAGE);
	auto_free char *text = NULL;
	auto_free char *source = NULL;
	struct err why = { ERR_NONE, 0, "" };
	struct message_about what;
	auto_buf budget = BUF_INIT(MESSAGE_MAX);
	const char *template;
	char sum[DIGEST_HEX];

	(void)err; /* a channel that fails is the run's business, not the engine's end */
	about(s, NULL);
	if (s->e->ops->budget)
		s->e->ops->budget(s->e->arg, &budget);
	what = (struct message_about){ .stage = s->round,
				       .claim = s->iv->effects[k].claim,
				       .path = s->at_path,
				       .first = s->at_first,
				       .last = s->at_last,
				       .budget = buf_str(&budget) };
	text = message_text(&s->iv->effects[k], &what, &source);
	template = message_template(&s->iv->effects[k], &what);
	f.message = text;
	f.message_source = source;
	f.template_sha256 = template ? digest_bytes(template, strlen(template), sum) : NULL;
	if (!s->iv->effects[k].text && s->e->ops->later && s->e->ops->later(s->e->arg, &f, &what)) {
		s->applied++;
		return 0;
	}
	f.applied = s->e->ops->message && s->e->ops->message(s->e->arg, text, &why) >= 0;
	if (!f.applied)
		f.reason = s->e->ops->message ? why.text : "there is no way to send a message";
	report(s, &f);
	return 0;
}

static int do_exec(struct shot *s, size_t k, struct err *err)
{
	struct firing f = record(s, EFFECT_EXEC);
	struct err why = { ERR_NONE, 0, "" };

	(void)err; /* as do_message() */
	f.applied =
		s->e->ops->exec && s->e->ops->exec(s->e->arg, s->iv->effects[k].argv.v, &why) >= 0;
	if (!f.applied)
		f.reason = s->e->ops->exec ? why.text : "no command can be run in this box";
	report(s, &f);
	return 0;
}

static int do_other(struct shot *s, size_t k, struct err *err)
{
	const struct effect *ef = &s->iv->effects[k];
	const struct doer agent = { .by_agent = true, .cmd = s->cause->cmd };
	const struct doer user = { .order = s->iv->order, .cmd = s->cause->cmd };
	struct firing f = record(s, ef->kind);
	struct err why = { ERR_NONE, 0, "" };
	int r;

	/* As follow(): what the agent had written is its edit, what comes now is not. */
	if (ef->kind == EFFECT_PLACE) {
		r = hold(s, true, err);
		if (r < 0)
			return r;
		engine_look_all(s->e, &agent);
	}
	f.applied = s->e->ops->other && s->e->ops->other(s->e->arg, ef->kind, ef->raw, &why) >= 0;
	if (ef->kind == EFFECT_PLACE)
		engine_look_all(s->e, &user);
	if (!f.applied)
		f.reason = s->e->ops->other ? why.text
					    : "this run cannot change the service or the goal";
	report(s, &f);
	return 0;
}

static int (*const doers[])(struct shot *, size_t, struct err *) = {
	[EFFECT_EDIT] = do_edit,     [EFFECT_MESSAGE] = do_message, [EFFECT_EXEC] = do_exec,
	[EFFECT_MODEL] = do_other,   [EFFECT_AUTHORITY] = do_other, [EFFECT_PLACE] = do_other,
	[EFFECT_RUNTIME] = do_other, [EFFECT_SERVICE] = do_other,
};

/* See whether all edits would apply. 1, 0 (reported), or negative. */
static int plan(struct shot *s, struct err *err)
{
	bool any = false;

	for (size_t k = 0; k < s->iv->n_effects; k++) {
		auto_free char *why = NULL;
		int r;

		if (!fits(s, k))
			continue;
		any = true;
		if (s->iv->effects[k].kind != EFFECT_EDIT)
			continue;
		/* held from the first read to the last write: what is read is what is replaced */
		r = hold(s, true, err);
		if (r < 0)
			return r;
		if (!plan_edit(s, k, &why)) {
			r = hold(s, false, err);
			refuse(s, k, why);
			return r;
		}
	}
	s->stale = false;
	return any;
}

static int carry_out(struct shot *s, struct err *err)
{
	int r = 0;

	for (size_t k = 0; k < s->iv->n_effects && r >= 0; k++) {
		enum effect_kind kind = s->iv->effects[k].kind;

		if (!fits(s, k))
			continue;
		/* what is not an edit needs a world that runs */
		if (kind != EFFECT_EDIT)
			r = hold(s, false, err);
		if (r >= 0)
			r = doers[kind](s, k, err);
		/* an edit that failed: what belongs to it must not be said */
		if (r >= 0 && kind == EFFECT_EDIT && !s->applied)
			break;
	}
	return r;
}

/* Must it wait for its delay? True: its event is kept, and a tick will come back to it. What has waited
 * fires for the event that it waited from: *cause. */
static bool wait_for(struct engine *e, size_t i, const struct cause **cause)
{
	struct delayed *d = &e->delayed[i];

	if (!e->sc->interventions[i].when.delay)
		return false;
	if (d->state == DELAY_NONE) {
		*d = (struct delayed){ .state = DELAY_NEW, .cause = **cause };
		return true;
	}
	if (d->state == DELAY_NEW || e->schedule.ns < d->due)
		return true;
	d->state = DELAY_NONE;
	d->cause.cmd = (*cause)->cmd;
	*cause = &d->cause;
	return false;
}

int engine_fire(struct engine *e, size_t i, const struct cause *cause, struct err *err)
{
	struct shot s = { .e = e,
			  .i = i,
			  .iv = &e->sc->interventions[i],
			  .cause = cause,
			  .round = rounds_next(&e->rounds, i) };
	struct err late = { ERR_NONE, 0, "" };
	int r, q;

	if (wait_for(e, i, &s.cause))
		return 0;
	cause = s.cause;
	rounds_step(&e->rounds, i, ROUND_RESERVE);
	s.plan = mem_zalloc(s.iv->n_effects + 1, sizeof(*s.plan));
	r = plan(&s, err);
	if (r > 0)
		r = carry_out(&s, err);
	q = hold(&s, false, &late);
	if (q < 0 && r >= 0) {
		r = q;
		if (err)
			*err = late;
	}
	rounds_step(&e->rounds, i, s.applied ? ROUND_COMMIT : ROUND_CANCEL);
	if (s.applied) {
		engine_command(e, cause->cmd)->fired = true;
		e->fired++;
	} else if (s.failed) {
		e->refused++;
		e->refused_at[i] = e->moment;
	}
	for (size_t k = 0; k < s.iv->n_effects; k++)
		apply_result_done(&s.plan[k].result);
	free(s.plan);
	return r < 0 ? r : s.applied;
}
