#include "profiles/plan_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "profiles/input_internal.h"

static int check_source(const struct plan *p, struct err *err)
{
	struct stat st;

	if (input_is_image(p->task->source))
		return err_set(err, ERR_HOST,
			       "source %s: the source cannot lie in an image; copy it out and name "
			       "the directory",
			       p->task->source);
	if (stat(p->task->source, &st) < 0)
		return err_set(err, ERR_INPUT, "%s: source %s: %s; give an existing path",
			       p->task->file ? p->task->file : "task", p->task->source,
			       strerror(errno));
	return 0;
}

static int check_rootfs(const struct plan *p, struct err *err)
{
	const char *dir = p->rootfs + strlen("dir:");
	struct stat st;

	if (strcmp(p->rootfs, "host") == 0)
		return 0;
	if (p->image)
		return 0; /* read already */
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INPUT,
			       "root file system %s: not a directory; give an existing directory",
			       p->rootfs);
	return 0;
}

/* Triggers that only the gateway can see. */
static bool needs_gateway(const struct when *w)
{
	if (w->event == WHEN_PROGRESS)
		return !w->n || w->unit == UNIT_CALLS;
	if (w->event == WHEN_ANCHOR)
		return strcmp(w->anchor, "fork") == 0 || strcmp(w->anchor, "before-submit") == 0;
	return w->event == WHEN_MODEL_CALL;
}

/* Anchors that hang on the first edit. */
static bool sees_edits(const struct when *w)
{
	return w->event == WHEN_ANCHOR &&
	       (strstr(w->anchor, "-edit") || strstr(w->anchor, "-pass"));
}

static int check_effect(const struct plan *p, const struct intervention *iv, const struct effect *e,
			struct err *err)
{
	const struct scenario *s = p->scenario;

	if (!scenario_effect_fits(s->mode, e->kind))
		return 0;
	if (e->kind == EFFECT_MESSAGE && p->agent->via == VIA_GATEWAY &&
	    p->agent->api == AGENT_API_NONE)
		return err_set(
			err, ERR_INPUT,
			"scenario \"%s\" sends a message, and agent \"%s\" takes messages "
			"through the gateway, but its api is none, so there are no requests to "
			"put it in; use message_via stdin, pty, file:PATH or exec:COMMAND",
			s->id, p->agent->name);
	if (e->kind == EFFECT_MODEL)
		return err_set(err, ERR_HOST,
			       "scenario \"%s\", intervention %llu: this version has no effect "
			       "model; use edit, message or exec",
			       s->id, (unsigned long long)iv->order);
	return 0;
}

static int check_intervention(const struct plan *p, const struct intervention *iv, struct err *err)
{
	const uint64_t *max = p->profile->limits.max;
	int event = iv->when.event;

	if (sees_edits(&iv->when) && p->profile->watch != WATCH_WORKSPACE)
		return err_set(
			err, ERR_INPUT,
			"scenario \"%s\", intervention %llu: anchor %s is about edits of any "
			"file, and profile \"%s\" follows those with regions only; use --set "
			"watch=workspace",
			p->scenario->id, (unsigned long long)iv->order, iv->when.anchor,
			p->profile->name);
	if (event == WHEN_ANCHOR && strcmp(iv->when.anchor, "fork") == 0 && !p->profile->steps)
		return err_set(err, ERR_INPUT,
			       "scenario \"%s\", intervention %llu waits for a fork, and a run of "
			       "profile \"%s\" cannot be forked; use --set steps=true",
			       p->scenario->id, (unsigned long long)iv->order, p->profile->name);
	if (needs_gateway(&iv->when) && p->agent->api == AGENT_API_NONE)
		return err_set(err, ERR_INPUT,
			       "scenario \"%s\", intervention %llu: %s %s is about model calls, "
			       "but the api of agent \"%s\" is none; use a touch, command_count or "
			       "time, or for progress unit commands with n or --reference RUN",
			       p->scenario->id, (unsigned long long)iv->order,
			       event == WHEN_ANCHOR ? "anchor" : "event",
			       event == WHEN_ANCHOR ? iv->when.anchor : scenario_event_name(event),
			       p->agent->name);
	if (event == WHEN_PROGRESS && !iv->when.n && !max[LIMIT_TOTAL_TOKENS] && !max[LIMIT_WALL])
		return err_set(err, ERR_INPUT,
			       "scenario \"%s\", intervention %llu: event progress is a part of a "
			       "budget, and profile \"%s\" has none; use --reference RUN, --set "
			       "limits.model_calls=N, limits.total_tokens=N or limits.wall=TIME",
			       p->scenario->id, (unsigned long long)iv->order, p->profile->name);
	if ((scenario_event_is_touch(event) || event == WHEN_REGION_STATE_CHANGED) &&
	    p->profile->trace == TRACE_OFF)
		return err_set(err, ERR_INPUT,
			       "scenario \"%s\" waits for event %s, but profile \"%s\" has trace "
			       "off; use --set trace=files",
			       p->scenario->id, scenario_event_name(event), p->profile->name);
	for (size_t i = 0; i < iv->n_effects; i++) {
		int rc = check_effect(p, iv, iv->effects + i, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Messages without fixed text are written under another prompt than this user's. */
static bool asks_for_texts(const struct scenario *s)
{
	for (size_t i = 0; i < scenario_taking_part(s); i++) {
		const struct intervention *iv = s->interventions + i;

		for (size_t k = 0; k < iv->n_effects; k++) {
			if (iv->effects[k].kind == EFFECT_MESSAGE && !iv->effects[k].text)
				return true;
		}
	}
	return false;
}

static int check_user(const struct plan *p, struct err *err)
{
	const struct scenario *s = p->scenario;
	const struct user *u = scenario_user(s);
	const char *dir = p->task->workdir;

	if (!u)
		return 0;
	if (p->agent->api == AGENT_API_NONE)
		return err_set(
			err, ERR_INPUT,
			"scenario \"%s\" has a user who is asked between two requests to the "
			"model, but the api of agent \"%s\" is none; use an agent with an api, or "
			"--mode edit to leave the user out",
			s->id, p->agent->name);
	if (u->prompt && !p->simulator)
		return err_set(err, ERR_USAGE,
			       "the user of scenario \"%s\" is a model; add --simulator MODEL",
			       s->id);
	if (u->prompt && asks_for_texts(s))
		return err_set(
			err, ERR_INPUT,
			"scenario \"%s\": the model behind the user has a prompt of its own, so "
			"all messages of interventions need a \"text\"",
			s->id);
	if (u->argv.n && u->view && (path_beneath(dir, USER_DIR) || path_beneath(USER_DIR, dir)))
		return err_set(
			err, ERR_INPUT,
			"%s: the workspace is at %s, where the user's program has its files; "
			"choose another workdir, or \"view\": false",
			s->file, dir);
	return 0;
}

static int check_scenario(const struct plan *p, struct err *err)
{
	const struct scenario *s = p->scenario;

	if (!s)
		return 0;
	/* A task made from a directory has a made-up name. */
	if (s->instance_id && p->task->file && strcmp(s->instance_id, p->task->instance_id) != 0)
		return err_set(err, ERR_INPUT,
			       "%s: $.instance_id: \"%s\", but the task is \"%s\" (%s); give the "
			       "task that the scenario was made for",
			       s->file, s->instance_id, p->task->instance_id, p->task->file);
	for (size_t i = 0; i < scenario_taking_part(s); i++) {
		int rc = check_intervention(p, s->interventions + i, err);

		if (rc < 0)
			return rc;
	}
	return check_user(p, err);
}

/* What is kept are steps between requests to a model, and layers that tell what changed. */
static int check_checkpoints(const struct plan *p, struct err *err)
{
	if (p->profile->checkpoints == CHECKPOINTS_NONE)
		return 0;
	if (p->agent->api == AGENT_API_NONE)
		return err_set(
			err, ERR_USAGE,
			"checkpoints are made at requests to the model, but the api of agent "
			"\"%s\" is none; use an agent with an api, or --set checkpoints=none",
			p->agent->name);
	if (!p->profile->steps)
		return err_set(
			err, ERR_USAGE,
			"checkpoints are made where the steps of a run are digested; profile "
			"\"%s\" has steps off: add --set steps=true",
			p->profile->name);
	if (p->profile->workspace != WORKSPACE_OVERLAY)
		return err_set(err, ERR_USAGE,
			       "checkpoints need filesystem.workspace overlay; profile \"%s\" has "
			       "direct",
			       p->profile->name);
	return 0;
}

int plan_check(const struct plan *p, struct err *err)
{
	int rc = check_source(p, err);

	if (rc == 0)
		rc = check_rootfs(p, err);
	if (rc == 0)
		rc = check_scenario(p, err);
	return rc < 0 ? rc : check_checkpoints(p, err);
}
