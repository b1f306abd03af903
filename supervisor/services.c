#include "supervisor/services.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "services/proc.h"
#include "supervisor/netproc.h"
#include "supervisor/pgserver.h"

enum { LOOKUPS_MAX = 2000, BATCH = 32, GOODBYE_MS = 1000 };

struct services {
	struct services_proc *p;
	struct {
		uint64_t requests, mutating, errors, changes;
		char *summary; /* owned: JSON text, NULL = it did not come */
	} of[SERVICES_MAX];
	struct pgserver
		server; /* of the service of kind postgresql; without a box = there is none */
	uint64_t lookups,
		measured; /* measured: clock_mono() of the last look at the server's disk */
	bool reaped, gone;
	int changed; /* of the change under way: -1 none came, 0 done, 1 not */
	char why[512];
};

/* The declaration of the service that needs a server: 1 with @ret, 0 there is none, or negative. */
static int find_server(const char *json, struct postgresql_decl *ret, struct err *err)
{
	struct json_src src = { 0 };
	const cJSON *item;
	int rc = json_parse("the scenario's services", json, strlen(json), &src, err);
	size_t i = 0;

	cJSON_ArrayForEach (item, src.root) {
		auto_free char *where = mem_printf("$.services[%zu]", i++);

		if (rc != 0 ||
		    !str_eq(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "kind")),
			    "postgresql"))
			continue;
		rc = service_postgresql_decl_read(&src, where, item, ret, err);
		rc = rc < 0 ? rc : 1;
	}
	json_src_done(&src);
	return rc;
}

int services_check(const struct plan *plan, struct err *err)
{
	const struct scenario *sc = plan->scenario;
	struct postgresql_decl d = { 0 };
	auto_free char *bin = NULL;
	int rc;

	if (!sc || !sc->services)
		return 0;
	rc = services_proc_check(sc->services, err);
	if (rc == 0)
		rc = find_server(sc->services, &d, err);
	if (rc > 0)
		bin = pgserver_find(err);
	service_postgresql_decl_done(&d);
	return rc > 0 ? (bin ? 0 : -(int)err->code) : rc;
}

int services_start(struct sup *s, const struct workspace *ws, struct janitor *jan, struct err *err)
{
	const struct scenario *sc = s->plan->scenario;
	struct services_place place = { s->box->user_fd, s->box->net_fd, -1, -1 };
	struct postgresql_decl d = { 0 };
	struct services *v;
	int rc;

	if (!sc || !sc->services)
		return 0;
	v = mem_zalloc(1, sizeof(*v));
	v->server = (struct pgserver){ .in = -1, .out = -1, .words = -1 };
	rc = find_server(sc->services, &d, err);
	if (rc > 0)
		rc = pgserver_start(&d, ws, jan, &v->server, err);
	service_postgresql_decl_done(&d);
	if (rc == 0 && v->server.box) {
		place.server_user = v->server.box->user_fd;
		place.server_net = v->server.box->net_fd;
	}
	if (rc == 0)
		rc = services_proc_start(sc->services, &place, &v->p, err);
	if (rc < 0) {
		pgserver_done(&v->server);
		free(v);
		return rc;
	}
	s->services = v;
	return 0;
}

int services_fd(const struct sup *s)
{
	return s->services ? s->services->p->fd : -1;
}

const char *services_used(const struct sup *s, size_t i)
{
	const struct services *v = s->services;

	if (!v || i >= v->p->n)
		return NULL;
	return v->of[i].requests || v->of[i].changes ? service_name(v->p->service[i]) : "";
}

pid_t services_pid(const struct sup *s)
{
	return s->services ? s->services->p->pid : 0;
}

static void put(struct buf *b, const char *key, const char *text)
{
	if (text[0])
		tracerec_str(b, key, text, strlen(text));
}

/* What the agent asked, and what it got. */
static void request(struct sup *s, const struct svc_msg *m)
{
	struct services *v = s->services;
	size_t i = m->v[0];
	struct process *p = ++v->lookups <= LOOKUPS_MAX
				    ? netproc_find(s, false, (uint16_t)m->v[3], NULL)
				    : NULL;
	pid_t pid = p ? p->pid : 0;
	struct buf *b = sink_begin(s->sink, TK_SERVICE, pid, pid, p ? p->cmd : 0, s->epoch);
	struct svc_msg go = { .type = SVC_GO };
	const char *event = services_proc_text(m, SVC_EVENT);

	put(b, "service", service_name(v->p->service[i]));
	put(b, "event", event[0] ? event : "request");
	put(b, "method", services_proc_text(m, SVC_METHOD));
	put(b, "path", services_proc_text(m, SVC_PATH));
	put(b, "route", services_proc_text(m, SVC_ROUTE));
	if (m->v[1])
		tracerec_u64(b, "code", m->v[1]);
	put(b, "session", services_proc_text(m, SVC_SESSION));
	put(b, "version", services_proc_text(m, SVC_VERSION));
	tracerec_u64(b, "mutating", m->v[2] != 0);
	put(b, "what", services_proc_text(m, SVC_WHAT));
	sink_end(s->sink);
	v->of[i].requests += strcmp(event, "error") != 0;
	v->of[i].mutating += m->v[2] != 0;
	v->of[i].errors += m->v[1] >= 400;
	services_proc_send(v->p, &go);
}

static void act(struct sup *s, const struct svc_msg *m)
{
	struct services *v = s->services;

	switch (m->type) {
	case SVC_REQUEST:
		request(s, m);
		break;
	case SVC_CHANGED:
		v->changed = m->v[0] != 0;
		snprintf(v->why, sizeof(v->why), "%.500s", m->text);
		break;
	case SVC_SUMMARY:
		free(v->of[m->v[0]].summary);
		v->of[m->v[0]].summary = mem_strdup(m->text);
		break;
	case SVC_PONG:
		watchdog_answer(s, WATCHDOG_SERVICES);
		break;
	default:
		break;
	}
}

bool services_ping(struct sup *s)
{
	struct svc_msg m = { .type = SVC_PING };

	if (!s->services || s->services->gone)
		return false;
	services_proc_send(s->services->p, &m);
	return true;
}

/* 1 = one was taken. */
static int take(struct sup *s)
{
	struct services *v = s->services;
	struct svc_msg m;
	struct err err;
	int rc = v->gone ? 0 : services_proc_recv(v->p, &m, &err);

	if (rc > 0)
		act(s, &m);
	if (rc < 0)
		v->gone = true;
	if (rc < 0 && s->phase < SUP_KILLED)
		sup_engine_failed(s, &err);
	return rc;
}

void services_event(struct sup *s)
{
	for (int i = 0; s->services && i < BATCH && take(s) > 0; i++)
		;
}

static int find(const struct services *v, const char *name)
{
	for (size_t i = 0; i < v->p->n; i++) {
		if (name && strcmp(service_name(v->p->service[i]), name) == 0)
			return (int)i;
	}
	return -1;
}

/* Until @done says so, at most @ms; requests of the agent are served meanwhile. */
static void wait_until(struct sup *s, bool (*done)(const struct services *v), int ms)
{
	struct services *v = s->services;
	uint64_t end = clock_mono() + (uint64_t)ms * CLOCK_MS;

	while (!v->gone && !done(v)) {
		struct pollfd p = { .fd = v->p->fd, .events = POLLIN };
		uint64_t now = clock_mono();

		if (now >= end)
			break;
		(void)poll(&p, 1,
			   (int)((end - now) / CLOCK_MS) + 1); /* a signal: looked at again */
		while (take(s) > 0)
			;
	}
}

static bool has_changed(const struct services *v)
{
	return v->changed >= 0;
}

/* What the server has to do for a change; requests of the agent are served meanwhile. */
static int change_server(struct sup *s, cJSON *item, struct err *err)
{
	struct services *v = s->services;
	uint64_t end = clock_mono() + PGSERVER_CHANGE_S * CLOCK_SEC;
	struct json_src src = { .name = (char *)"the effect", .root = item };
	struct postgresql_change c = { 0 };
	auto_fd int fd = -1;
	int rc = service_postgresql_change_read(&src, item, &c, err);

	if (rc < 0)
		return rc;
	fd = pgserver_change(&v->server, &c, err);
	service_postgresql_change_done(&c);
	if (fd < 0)
		return fd == -1 ? 0 : fd;
	for (uint64_t now = clock_mono(); now < end; now = clock_mono()) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
				       { .fd = v->gone ? -1 : v->p->fd, .events = POLLIN } };

		(void)poll(p, 2, (int)((end - now) / CLOCK_MS) + 1); /* a signal: looked at again */
		while (take(s) > 0)
			;
		if (p[0].revents)
			break;
	}
	return pgserver_changed(&v->server, fd, err);
}

int services_change(struct sup *s, const struct json_src *src, cJSON *item, struct err *err)
{
	struct services *v = s->services;
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
	auto_free char *text = cJSON_PrintUnformatted(item);
	struct svc_msg m = { .type = SVC_CHANGE };
	struct buf *b;
	int i = v ? find(v, name) : -1;

	(void)src;
	if (i < 0)
		return err_set(err, ERR_INPUT, "no service \"%s\" runs", name ? name : "");
	if (strlen(text) >= SVC_TEXT_MAX)
		return err_set(err, ERR_INPUT, "the change of \"%s\" has more than %d bytes", name,
			       SVC_TEXT_MAX);
	m.v[0] = (uint64_t)i;
	m.n = (uint32_t)strlen(text);
	memcpy(m.text, text, m.n);
	v->changed = -1;
	services_proc_send(v->p, &m);
	wait_until(s, has_changed, SVC_WAIT_MS);
	if (v->changed)
		return err_set(err, ERR_INPUT, "%s: %s", name,
			       v->changed < 0 ? "the change was not made in time" : v->why);
	if (service_relayed(v->p->service[i]) && change_server(s, item, err) < 0)
		return err_wrap(err, "%s", name);
	v->of[i].changes++;
	b = sink_begin(s->sink, TK_SERVICE, 0, 0, 0, s->epoch);
	put(b, "service", name);
	put(b, "event", "change");
	put(b, "what", text);
	sink_end(s->sink);
	return 0;
}

void services_died(struct sup *s)
{
	struct err err;

	s->services->reaped = true;
	services_event(s);
	if (s->services->gone || s->phase >= SUP_KILLED)
		return;
	s->services->gone = true;
	err_set(&err, ERR_CHILD, "the services' process has ended");
	sup_engine_failed(s, &err);
}

static bool has_summaries(const struct services *v)
{
	for (size_t i = 0; i < v->p->n; i++) {
		if (!v->of[i].summary)
			return false;
	}
	return true;
}

void services_goodbye(struct sup *s)
{
	struct svc_msg m = { .type = SVC_BYE };

	if (!s->services || s->services->gone)
		return;
	services_proc_send(s->services->p, &m);
	wait_until(s, has_summaries, GOODBYE_MS);
	s->services->gone = true;
}

void services_summary(const struct sup *s, struct json_w *w)
{
	const struct services *v = s->services;

	if (!v) {
		json_null(w, "services");
		return;
	}
	json_open(w, "services", '[');
	for (size_t i = 0; i < v->p->n; i++) {
		json_open(w, NULL, '{');
		json_str(w, "name", service_name(v->p->service[i]));
		json_str(w, "kind", service_kind(v->p->service[i]));
		json_u64(w, "requests", v->of[i].requests);
		json_u64(w, "mutating", v->of[i].mutating);
		json_u64(w, "errors", v->of[i].errors);
		json_u64(w, "changes", v->of[i].changes);
		if (v->of[i].summary)
			json_raw(w, "state", v->of[i].summary);
		json_close(w, '}');
	}
	json_close(w, ']');
}

pid_t services_server_pid(const struct sup *s)
{
	const struct box *b = s->services ? s->services->server.box : NULL;

	return b && !b->reaped ? b->init_pid : 0;
}

static const char *server_name(const struct services *v)
{
	for (size_t i = 0; i < v->p->n; i++) {
		if (service_relayed(v->p->service[i]))
			return service_name(v->p->service[i]);
	}
	return "";
}

void services_server_reaped(struct sup *s, int status)
{
	struct buf *b;

	box_reaped(s->services->server.box, status);
	if (s->phase >= SUP_KILLED)
		return;
	b = sink_begin(s->sink, TK_SERVICE, 0, 0, 0, s->epoch);
	put(b, "service", server_name(s->services));
	put(b, "event", "end");
	put(b, "what", "the server has ended");
	sink_end(s->sink);
}

void services_tick(struct sup *s)
{
	struct services *v = s->services;
	uint64_t now = clock_mono();

	if (!services_server_pid(s) || now < v->measured + CLOCK_SEC)
		return;
	v->measured = now;
	if (pgserver_full(&v->server))
		box_kill(v->server.box);
}

void services_done(struct sup *s)
{
	struct services *v = s->services;

	if (!v)
		return;
	for (size_t i = 0; i < v->p->n; i++)
		free(v->of[i].summary);
	services_proc_free(v->p, v->reaped);
	pgserver_done(&v->server);
	free(v);
	s->services = NULL;
}
