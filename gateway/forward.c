#include "gateway/server_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What is changed in a request before it goes out, and what is refused. Not for when it goes. */

const char *forward_model(const struct exchange *x)
{
	const struct plan *p = x->server->spec.plan;

	return p->profile->pin == PIN_OFF && x->q.model ? x->q.model : p->model_name;
}

static void tell_stripped(struct exchange *x, bool refused)
{
	const struct server_ops *ops = x->server->spec.ops;

	for (size_t i = 0; i < x->n_stripped; i++)
		ops->stripped(ops->arg, x->call, x->stripped[i].what, refused);
}

/* @n things were found, of which the first STRIPS_MAX are told. */
static void found(struct exchange *x, size_t n)
{
	x->n_stripped = n < STRIPS_MAX ? n : STRIPS_MAX;
}

bool forward_refused(struct exchange *x, char why[256])
{
	const struct plan *p = x->server->spec.plan;

	if (p->profile->pin == PIN_REFUSE && x->q.model && !str_eq(x->q.model, p->model_name)) {
		snprintf(why, 256, "this run uses the model %.80s; %.80s is not served",
			 p->model_name, x->q.model);
		return true;
	}
	if (p->profile->provider_tools != PROVIDER_REFUSE)
		return false;
	found(x, x->api->strip(&x->q, NULL, x->stripped, STRIPS_MAX));
	if (!x->n_stripped)
		return false;
	tell_stripped(x, true);
	snprintf(why, 256, "this run does not allow %.150s", x->stripped[0].what);
	return true;
}

/* Gemini names the model in the path: what stands between "/models/" and ":" is replaced. */
static char *path_with(const char *path, const char *model)
{
	const char *from = strstr(path, "/models/"), *to;

	if (!from)
		return NULL;
	from += strlen("/models/");
	to = from + strcspn(from, ":?/");
	return mem_printf("%.*s%s%s", (int)(from - path), path, model, to);
}

static void pin(struct exchange *x)
{
	const char *model = x->model;
	auto_buf quoted = BUF_INIT(4096);

	if (str_eq(x->q.model, model))
		return;
	if (x->api->id == AGENT_API_GEMINI) {
		x->path = path_with(x->request.target, model);
		return;
	}
	jedit_quote(&quoted, model, strlen(model));
	jedit_set(&x->edits, &x->q.doc, 0, "model", buf_str(&quoted));
}

/* Usage of a stream comes in Chat Completions only when it is asked for; without it nothing could
 * be metered. The event is taken out again on the way back. */
static void want_usage(struct exchange *x)
{
	const struct jdoc *d = &x->q.doc;
	uint32_t options = jdoc_get(d, 0, "stream_options");

	if (x->api->id != AGENT_API_CHAT || !x->q.stream || x->q.wants_usage ||
	    x->route != API_ROUTE_CHAT)
		return;
	x->add_usage = x->q.wants_usage = true; /* a script writes what @q wants */
	if (jdoc_kind(d, options) == J_OBJECT)
		jedit_set(&x->edits, d, options, "include_usage", "true");
	else
		jedit_set(&x->edits, d, 0, "stream_options", "{\"include_usage\":true}");
}

static void place(struct exchange *x)
{
	const struct server_ops *ops = x->server->spec.ops;

	(void)anchors_place(&x->server->anchors, &x->q, x->call, &x->edits, x->placed,
			    &x->n_placed); /* how many: @placed says it */
	for (size_t i = 0; i < x->n_placed; i++)
		ops->placed(ops->arg, x->call, &x->placed[i]);
}

/* Everything that stays the same however often the source is asked. */
static void edit_once(struct exchange *x)
{
	x->edited = true;
	x->model = mem_strdup(forward_model(x));
	if (x->purpose == PURPOSE_MAIN && x->route == API_ROUTE_CHAT)
		place(x);
	found(x, x->api->strip(&x->q, &x->edits, x->stripped, STRIPS_MAX));
	if (x->route != API_ROUTE_COUNT)
		tell_stripped(x, false);
	pin(x);
	want_usage(x);
}

int forward_edit(struct exchange *x)
{
	if (!x->edited)
		edit_once(x);
	/* Another try may have another cap: the one set last counts. */
	if (x->cap)
		x->api->cap_output(&x->q, x->cap, &x->edits);
	buf_clear(&x->body);
	return jedit_apply(&x->edits, &x->q.doc, &x->body);
}
