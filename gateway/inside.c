#include "gateway/inside_internal.h"

#include <curl/curl.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "gateway/confine.h"
#include "gateway/replay.h"
#include "gateway/resume.h"
#include "gateway/script.h"
#include "gateway/server.h"
#include "gateway/simlink.h"
#include "gateway/turnlink.h"
#include "gateway/upstream.h"

enum { LAST_WORDS_MS = 5000 }; /* without the supervisor taking one of them */

/* The confined process. */
struct inside {
	const struct gateway_spec *spec;
	struct gw_link link;
	struct net_listeners listeners;
	struct event_base *base;
	struct evdns_base *dns;
	struct event *on_read, *on_write;
	struct server *server;
	struct simlink *simlink;
	struct net *net;
	struct map waiting; /* seq of a question to the supervisor -> call */
	char *text;         /* owned: user message that is arriving */
	uint64_t text_id, text_total, text_got;
	char keys[2 * KEY_MAX]; /* the model's and the simulator's, each with its NUL */
	uint64_t untold;        /* reports that were dropped */
	bool failed;
};

/* --- to the supervisor ------------------------------------------------------------------------ */

static void give_up(struct inside *in, enum err_code code, const char *why)
{
	struct gw_msg m = { .type = GW_FAILED, .v = { code } };

	if (in->failed)
		return;
	in->failed = true;
	gw_text(&m, why, strlen(why));
	(void)gw_send(&in->link, &m); /* nobody there: the loop ends all the same */
	if (in->base)
		event_base_loopexit(in->base, NULL);
}

static void tell(struct inside *in, struct gw_msg *m)
{
	(void)gw_send(&in->link, m); /* see report() for what a full queue drops */
	if (in->link.n_queue)
		event_add(in->on_write, NULL);
}

/* What the box can cause any number of, and nobody waits for. Half of the queue is kept from it: there
 * must be room for what the run hangs on, or a flood of connections would end it. */
static void report(struct inside *in, struct gw_msg *m)
{
	if (in->link.n_queue < GW_QUEUE_MAX / 2)
		tell(in, m);
	else
		in->untold++;
}

/* A message that is answered. Losing it would hang the agent. */
static void ask(struct inside *in, struct gw_msg *m, uint64_t call)
{
	uint32_t seq = gw_send(&in->link, m);

	if (!seq) {
		give_up(in, ERR_BUG, "the supervisor does not take messages any more");
		return;
	}
	map_put(&in->waiting, seq, (void *)(uintptr_t)(call + 1));
	if (in->link.n_queue)
		event_add(in->on_write, NULL);
}

/* Strings one after the other, each with its NUL. */
static void add_text(struct gw_msg *m, const char *s)
{
	size_t n = strlen(s), room = GW_TEXT_MAX - m->n;

	if (!room)
		return;
	if (n >= room)
		n = room - 1;
	memcpy(m->text + m->n, s, n);
	m->text[m->n + n] = '\0';
	m->n += (uint32_t)n + 1;
}

static void on_request(void *arg, const struct server_request *r)
{
	struct gw_msg m = { .type = GW_REQUEST,
			    .v = { r->call, r->purpose, r->items, r->bytes, r->source_port } };

	add_text(&m, r->sha256);
	ask(arg, &m, r->call);
}

static void tell_any(void *arg, struct gw_msg *m)
{
	tell(arg, m);
}

static void on_last(void *arg, uint64_t call, const struct api_request *q)
{
	const struct inside *in = arg;

	if (in->simlink)
		simlink_last(in->simlink, call, q);
	if (scenario_user(in->spec->plan->scenario))
		turnlink_request(tell_any, arg, call, q);
}

static void on_placed(void *arg, uint64_t call, const struct placed *p)
{
	struct gw_msg m = { .type = GW_PLACED, .v = { call, p->index, p->first, p->lost_now } };

	tell(arg, &m);
}

static void on_stripped(void *arg, uint64_t call, const char *what, bool refused)
{
	struct gw_msg m = { .type = GW_STRIPPED, .v = { call, refused } };

	add_text(&m, what);
	tell(arg, &m);
}

static void on_tool(void *arg, uint64_t call, const char *name, const struct tooluse *u)
{
	struct gw_msg m = { .type = GW_TOOL, .v = { call, u->kind, u->first, u->last } };

	add_text(&m, name);
	add_text(&m, u->path);
	tell(arg, &m);
}

static void on_answer(void *arg, const struct server_answer *a)
{
	const struct inside *in = arg;
	struct gw_msg m = { .type = GW_ANSWER };

	/* The last words of a turn, for who may have something to say to them. */
	if (a->model && !a->repeat && a->purpose == PURPOSE_MAIN && a->finish == FINISH_STOP &&
	    scenario_user(in->spec->plan->scenario))
		turnlink_answer(tell_any, arg, a->call, a->text);

	m.v[GWA_CALL] = a->call;
	m.v[GWA_PURPOSE] = a->purpose;
	m.v[GWA_STATUS] = (uint64_t)a->status;
	m.v[GWA_INPUT] = a->usage.input;
	m.v[GWA_CACHED] = a->usage.cached;
	m.v[GWA_OUTPUT] = a->usage.output;
	m.v[GWA_MICRO] = a->micro;
	m.v[GWA_FINISH] = a->finish;
	m.v[GWA_TRIES] = a->tries;
	m.v[GWA_BILLED] = a->billed;
	m.v[GWA_FLAGS] = (a->model ? GWAF_MODEL : 0u) | (a->usage.known ? GWAF_USAGE : 0u) |
			 (a->repeat ? GWAF_REPEAT : 0u);
	add_text(&m, a->name ? a->name : "");
	ask(arg, &m, a->call);
}

static void on_spent(void *arg, uint64_t call, enum limit_kind kind, uint64_t used, uint64_t limit)
{
	struct gw_msg m = { .type = GW_SPENT, .v = { call, kind, used, limit } };

	tell(arg, &m);
}

static void on_route(void *arg, const char *method, const char *path)
{
	struct gw_msg m = { .type = GW_ROUTE };

	add_text(&m, method);
	add_text(&m, path);
	report(arg, &m);
}

static void on_mismatch(void *arg, const char *difference)
{
	struct gw_msg m = { .type = GW_MISMATCH };

	add_text(&m, difference);
	tell(arg, &m);
}

static void on_failed(void *arg, const char *why)
{
	give_up(arg, ERR_SYS, why);
}

static void on_unmet(void *arg, const char *text)
{
	struct gw_msg m = { .type = GW_UNMET };

	add_text(&m, text);
	tell(arg, &m);
}

static void on_dns(void *arg, const char *name, uint16_t qtype, bool allowed, const char *rule,
		   uint16_t source_port, bool tcp)
{
	struct gw_msg m = { .type = GW_DNS, .v = { allowed, qtype, source_port, tcp } };

	add_text(&m, name);
	add_text(&m, rule ? rule : "");
	report(arg, &m);
}

static void on_connect(void *arg, const char *name, const char *addr, uint16_t port, bool allowed,
		       const char *rule, uint16_t source_port)
{
	struct gw_msg m = { .type = GW_CONNECT, .v = { allowed, port, source_port } };

	add_text(&m, name ? name : "");
	add_text(&m, addr);
	add_text(&m, rule ? rule : "");
	report(arg, &m);
}

static void on_closed(void *arg, const char *name, uint64_t out, uint64_t in_bytes, uint64_t ns)
{
	struct gw_msg m = { .type = GW_CLOSED, .v = { out, in_bytes, ns } };

	add_text(&m, name ? name : "");
	report(arg, &m);
}

/* --- from the supervisor ---------------------------------------------------------------------- */

static void take_text(struct inside *in, const struct gw_msg *m)
{
	struct err err = { 0 };

	if (m->v[1] == 0) {
		free(in->text);
		in->text_id = m->v[0];
		in->text_total = m->v[2] < ANCHOR_TEXT_MAX ? m->v[2] : ANCHOR_TEXT_MAX;
		in->text = mem_alloc(in->text_total + 1);
		in->text_got = 0;
	}
	if (!in->text || m->v[0] != in->text_id || m->v[1] != in->text_got ||
	    m->n > in->text_total - in->text_got)
		return;
	memcpy(in->text + in->text_got, m->text, m->n);
	in->text_got += m->n;
	if (in->text_got < in->text_total)
		return;
	if (in->server && server_message(in->server, in->text, in->text_total, &err) < 0)
		give_up(in, err.code, err.text);
	free(in->text);
	in->text = NULL;
}

static void take_answer(struct inside *in, const struct gw_msg *m)
{
	uintptr_t call = (uintptr_t)map_del(&in->waiting, m->ref);

	if (!call || !in->server)
		return;
	if (m->type == GW_GO)
		server_go(in->server, call - 1);
	else
		server_ack(in->server, call - 1);
}

/* The run is over. */
static void say_goodbye(struct inside *in)
{
	struct gw_msg done = { .type = GW_DONE, .v = { in->untold } };

	if (in->server)
		server_bye(in->server);
	if (in->simlink)
		simlink_bye(in->simlink);
	tell(in, &done);
	event_base_loopexit(in->base, NULL);
}

static void from_supervisor(evutil_socket_t fd, short what, void *arg)
{
	struct inside *in = arg;
	struct gw_msg m;
	struct err err;
	int rc;

	(void)fd;
	(void)what;
	while ((rc = gw_recv(&in->link, &m, &err)) > 0) {
		switch (m.type) {
		case GW_GO:
		case GW_ACK:
			take_answer(in, &m);
			break;
		case GW_TEXT:
			take_text(in, &m);
			break;
		case GW_SIMULATE:
			if (in->simlink)
				simlink_take(in->simlink, &m);
			break;
		case GW_ENDING:
			if (in->server && m.v[0] <= LIMIT_MAX)
				server_ending(in->server, (enum limit_kind)m.v[0], m.v[1] != 0);
			break;
		case GW_BYE:
			say_goodbye(in);
			break;
		case GW_PING:
			tell(in, &(struct gw_msg){ .type = GW_PONG, .ref = m.seq });
			break;
		default:
			break;
		}
	}
	if (rc < 0)
		event_base_loopbreak(in->base); /* the supervisor is gone: so are we */
}

static void to_supervisor(evutil_socket_t fd, short what, void *arg)
{
	struct inside *in = arg;

	(void)fd;
	(void)what;
	if (gw_flush(&in->link))
		event_add(in->on_write, NULL);
}

/* --- making the process ----------------------------------------------------------------------- */

/* Who asks: its API, key ("" none) and time for an answer. */
struct asker {
	enum agent_api api;
	const char *key;
	uint64_t timeout;
};

static int make_source(struct inside *in, const struct model *m, const struct asker *who,
		       struct source *ret, struct err *err)
{
	const struct plan *p = in->spec->plan;
	struct upstream_spec up = {
		.base = in->base,
		.dns = in->dns,
		.api = api_of(who->api),
		.url = m->url,
		.key = who->key[0] ? who->key : NULL,
		.timeout = who->timeout,
		.ca_file = getenv("SSL_CERT_FILE"), /* as OpenSSL's own programs */
	};
	struct source then = { 0 };
	int rc;

	switch (m->kind) {
	case MODEL_LIVE:
		return upstream_open(&up, ret, err);
	case MODEL_SCRIPT:
		return script_open(m->file, m->text, m->text_n, p->agent, p->task->workdir,
				   in->base, ret, err);
	case MODEL_REPLAY:
	case MODEL_RESUME:
		break;
	}
	rc = m->then ? make_source(in, m->then, who, &then, err) : 0;
	if (rc == 0 && m->kind == MODEL_RESUME)
		return resume_open(m->file, m->text, m->text_n, m->upto, !m->loose, then, ret, err);
	if (rc == 0)
		rc = replay_open(m->file, m->text, m->text_n, m->loose, m->upto, then, ret, err);
	return rc;
}

static int make_server(struct inside *in, const struct server_ops *ops, struct err *err)
{
	const struct plan *p = in->spec->plan;
	struct server_spec spec = {
		.base = in->base,
		.listen_fd = in->listeners.model[0],
		.plan = p,
		.ops = ops,
		.record_fd = in->spec->record_fd,
		.start = in->spec->start,
	};
	int rc;

	struct asker agent = {
		.api = (enum agent_api)p->agent->api,
		.key = in->keys,
		.timeout = p->profile->model_timeout,
	};

	if (!p->model)
		return 0;
	rc = make_source(in, p->model, &agent, &spec.source, err);
	return rc < 0 ? rc : server_new(&spec, &in->server, err);
}

static int make_simlink(struct inside *in, struct err *err)
{
	const struct simulator *sim = in->spec->plan->simulator;
	struct simlink_spec spec = {
		.base = in->base,
		.sim = sim,
		.record_fd = in->spec->simulator_fd,
		.start = in->spec->start,
		.tell = tell_any,
		.failed = on_failed,
		.arg = in,
	};
	int rc = 0;

	if (!sim)
		return 0;
	struct asker user = {
		.api = AGENT_API_CHAT,
		.key = in->keys + strlen(in->keys) + 1,
		.timeout = sim->timeout,
	};
	/* A run whose simulator was never asked leaves an empty record: no mistake of the user's. */
	if (sim->model->kind != MODEL_REPLAY || sim->model->text_n || sim->model->then)
		rc = make_source(in, sim->model, &user, &spec.source, err);
	if (rc < 0)
		return err_wrap(err, "--simulator");
	in->simlink = simlink_new(&spec);
	return 0;
}

static int make_loop(struct inside *in, struct err *err)
{
	in->base = event_base_new();
	if (!in->base)
		return err_set(err, ERR_SYS, "cannot make the gateway's event loop");
	/* /etc/resolv.conf and /etc/hosts are read here: later there are no files. Without name
	 * servers addresses still work. */
	in->dns = evdns_base_new(in->base, EVDNS_BASE_INITIALIZE_NAMESERVERS |
						   EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	in->on_read = event_new(in->base, in->link.fd, EV_READ | EV_PERSIST, from_supervisor, in);
	in->on_write = event_new(in->base, in->link.fd, EV_WRITE, to_supervisor, in);
	if (!in->on_read || !in->on_write || event_add(in->on_read, NULL) < 0)
		return err_set(err, ERR_SYS, "cannot watch the supervisor's socket");
	if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		return err_set(err, ERR_SYS, "cannot start libcurl");
	return 0;
}

/* A copy of the supervisor's, which may hold other keys of the user's. Whoever reads variables here has
 * read them by now. */
static void forget_environment(void)
{
	for (char **e = environ; e && *e; e++)
		explicit_bzero(*e, strlen(*e));
}

/* Does anybody want to know what the agent did? */
static bool wants_last(const struct inside *in)
{
	return in->spec->plan->simulator || scenario_user(in->spec->plan->scenario);
}

static int run(struct inside *in, struct err *err)
{
	struct server_ops sops = {
		.last = wants_last(in) ? on_last : NULL,
		.request = on_request,
		.placed = on_placed,
		.stripped = on_stripped,
		.tool = on_tool,
		.answer = on_answer,
		.spent = on_spent,
		.route = on_route,
		.mismatch = on_mismatch,
		.failed = on_failed,
		.unmet = on_unmet,
		.arg = in,
	};
	struct net_ops nops = {
		.dns = on_dns, .connect = on_connect, .closed = on_closed, .arg = in
	};
	const struct plan *p = in->spec->plan;
	struct gw_msg ready = { .type = GW_READY };
	char missing[128];
	int rc = make_loop(in, err);

	if (rc == 0)
		rc = make_server(in, &sops, err);
	if (rc == 0)
		rc = make_simlink(in, err);
	if (rc == 0)
		rc = net_new(in->base, &in->listeners, (enum net_mode)p->profile->net, &p->rules,
			     &nops, &in->net, err);
	if (rc == 0)
		rc = confine(missing, err);
	if (rc < 0)
		return rc;
	forget_environment();
	explicit_bzero(in->keys, sizeof(in->keys)); /* upstream has its own copy */
	add_text(&ready, missing);
	tell(in, &ready);
	event_base_dispatch(in->base);
	return 0;
}

/* The signals that the supervisor's loop holds back are none of ours. */
static void plain_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* valid arguments: cannot fail */
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL); /* KILL and STOP refuse, as they should */
	/* The terminal's signals are for the supervisor, which ends us when it has ended the run. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
}

static void keep_only(struct inside *in, int key_fd)
{
	struct net_listeners *l = &in->listeners;
	int keep[NET_LISTENERS_MAX + 9], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned n = 0;

	if (null >= 0) {
		(void)dup2(null, 0);
		(void)dup2(null, 1); /* 2 stays for what ensure() says */
	}
	keep[n++] = in->link.fd;
	keep[n++] = in->spec->record_fd;
	keep[n++] = in->spec->plan->simulator ? in->spec->simulator_fd : -1;
	keep[n++] = key_fd;
	keep[n++] = l->model[0];
	keep[n++] = l->dns_udp;
	keep[n++] = l->dns_tcp;
	keep[n++] = l->redirected4;
	keep[n++] = l->redirected6;
	for (unsigned i = 0; i < l->n_port; i++)
		keep[n++] = l->port[i];
	confine_close(keep, n);
}

/* What is queued goes out as the supervisor reads, which it does until it has GW_DONE or GW_FAILED: answers
 * among it are money. One that is gone takes everything at once (gw_flush()). */
static void last_words(struct inside *in)
{
	while (gw_flush(&in->link)) {
		struct pollfd p = { .fd = in->link.fd, .events = POLLOUT };

		if (poll(&p, 1, LAST_WORDS_MS) == 0)
			return;
	}
}

/* All of the pipe: both were written before we were made. */
static void read_keys(struct inside *in, int key_fd)
{
	size_t have = 0;
	ssize_t n;

	while (have < sizeof(in->keys) - 2 &&
	       (n = read(key_fd, in->keys + have, sizeof(in->keys) - 2 - have)) > 0)
		have += (size_t)n;
}

void inside_run(const struct gateway_spec *spec, const struct net_listeners *l, int link_fd,
		int key_fd)
{
	struct inside *in = mem_zalloc(1, sizeof(*in));
	struct err err = { 0 };

	in->spec = spec;
	in->listeners = *l;
	gw_link_init(&in->link, link_fd, false);
	plain_signals();
	keep_only(in, key_fd);
	read_keys(in, key_fd);
	close(key_fd);
	if (run(in, &err) < 0)
		give_up(in, err.code, err.text);
	last_words(in);
	_exit(0);
}
