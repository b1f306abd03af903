#include "gateway/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "gateway/script.h"
#include "gateway/server_internal.h"

/* Routes and the owner's calls; what happens to a request is in exchange.c. */

enum { UNMET_MAX = 64 << 10 };

/* Methods of a route; anything else gets 405. */
struct method_row {
	enum api_route route;
	const char *methods;
};

/* clang-format off */
static const struct method_row method_rows[] = {
	{ API_ROUTE_CHAT,    "POST" },
	{ API_ROUTE_COUNT,   "POST" },
	{ API_ROUTE_COMPACT, "POST" },
	{ API_ROUTE_MODELS,  "GET" },
	{ API_ROUTE_PROBE,   "HEAD, GET" },
};
/* clang-format on */

static const char *methods_of(enum api_route route)
{
	for (size_t i = 0; i < ARRAY_SIZE(method_rows); i++) {
		if (method_rows[i].route == route)
			return method_rows[i].methods;
	}
	return "";
}

/* Each unknown route is told of once; a program that tries out many is cut off. */
static void tell_route(struct server *s, const struct http_request *r)
{
	size_t n = strcspn(r->target, "?");
	auto_free char *path = mem_strndup(r->target, n);
	auto_free char *both = mem_printf("%s %s", r->method, path);
	uint64_t hash = map_hash(both, strlen(both));

	for (size_t i = 0; i < s->n_routes; i++) {
		if (s->routes[i] == hash)
			return;
	}
	if (s->n_routes == ROUTES_MAX)
		return;
	s->routes[s->n_routes++] = hash;
	s->spec.ops->route(s->spec.ops->arg, r->method, path);
}

static void no_route(struct server *s, struct http_conn *c, const struct http_request *r)
{
	/* A known path with another method is no route to tell of: the client is only wrong. */
	struct http_head head = { .status = 404 };
	const struct api *api;
	const char *const tries[] = { "POST", "GET" };

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		enum api_route other = api_route(tries[i], r->target, &api);

		if (other == API_ROUTE_NONE)
			continue;
		head.status = 405;
		head.allow = methods_of(other);
		release_plain(c, api, &head, "this route has another method");
		return;
	}
	tell_route(s, r);
	release_plain(c, NULL, &head, "only the routes of model APIs are served here");
}

static void models_here(struct server *s, struct http_conn *c, const struct api *api)
{
	auto_buf b = BUF_INIT(64 << 10);
	struct http_head head = { .status = 200, .type = "application/json" };

	api->models(s->spec.plan->model_name, &b);
	http_answer_text(c, &head, buf_str(&b), b.len);
}

static void on_request(void *arg, struct http_conn *c, struct http_request *r)
{
	struct server *s = arg;
	struct http_head ok = { .status = 200, .type = "text/plain" };
	const struct api *api = NULL;
	enum api_route route = api_route(r->method, r->target, &api);

	if (route == API_ROUTE_NONE)
		no_route(s, c, r);
	else if (route == API_ROUTE_PROBE)
		http_answer_text(c, &ok, "ok\n", 3);
	else if (route == API_ROUTE_MODELS &&
		 (s->ending || s->broken || !str_eq(s->spec.source.ops->name, "live")))
		models_here(s, c, api);
	else
		exchange_begin(s, c, r, api, route);
}

static void on_gone(void *arg, void *user)
{
	(void)arg;
	exchange_gone(user);
}

int server_new(const struct server_spec *spec, struct server **ret, struct err *err)
{
	struct server *s = mem_zalloc(1, sizeof(*s));
	const struct profile *p = spec->plan->profile;
	int rc;

	s->spec = *spec;
	s->ending_why = LIMIT_MAX;
	s->http_ops = (struct http_ops){ .request = on_request, .gone = on_gone, .arg = s };
	s->anchors.reattach = p->reattach ? REATTACH_ONCE : REATTACH_NEVER;
	TAILQ_INIT(&s->list);
	meter_init(&s->meter, &p->limits, spec->plan->prices);
	rc = http_new(spec->base, spec->listen_fd, &s->http_ops, &s->http, err);
	if (rc < 0) {
		server_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

static struct exchange *find(struct server *s, uint64_t call)
{
	struct exchange *x;

	TAILQ_FOREACH(x, &s->list, link)
	{
		if (x->call == call)
			return x;
	}
	return NULL;
}

void server_go(struct server *s, uint64_t call)
{
	struct exchange *x = find(s, call);

	if (x)
		exchange_go(x);
}

void server_ack(struct server *s, uint64_t call)
{
	struct exchange *x = find(s, call);

	if (x)
		finish_ack(x);
}

int server_message(struct server *s, const char *text, size_t n, struct err *err)
{
	return anchors_add(&s->anchors, text, n, err);
}

/* Call @end for every exchange that is here now; each call may end others. */
static void end_each(struct server *s, void (*end)(struct exchange *x))
{
	unsigned round = ++s->rounds;
	struct exchange *x;

	do {
		TAILQ_FOREACH(x, &s->list, link)
		{
			if (x->round != round)
				break;
		}
		if (x) {
			x->round = round;
			end(x);
		}
	} while (x);
}

void server_ending(struct server *s, enum limit_kind why, bool finish)
{
	s->ending = true;
	s->ending_why = why;
	s->finish = finish;
	end_each(s, exchange_close);
}

/* What the source expected and did not see. */
static void tell_unmet(struct server *s)
{
	const struct server_ops *ops = s->spec.ops;
	const struct source *src = &s->spec.source;
	auto_buf b = BUF_INIT(UNMET_MAX);

	if (!src->ops->unmet || !src->ops->unmet(src->impl, &b))
		return;
	for (char *line = b.data, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		ops->unmet(ops->arg, line);
	}
}

void server_bye(struct server *s)
{
	s->ending = true;
	end_each(s, exchange_bye);
	tell_unmet(s);
}

struct server *server_free(struct server *s)
{
	struct exchange *x;

	if (!s)
		return NULL;
	s->closing = true;
	source_done(&s->spec.source);
	/* Exchanges give bytes back to the connections' ration; the connections call nobody. */
	while ((x = TAILQ_FIRST(&s->list)))
		exchange_free(x);
	s->http = http_free(s->http);
	repeats_done(&s->repeats);
	anchors_done(&s->anchors);
	free(s);
	return NULL;
}
