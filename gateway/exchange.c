#include "gateway/server_internal.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"
#include "gateway/canon.h"
#include "gateway/tries.h"

enum {
	ADDED_TOKENS = 24,  /* that forward_edit() may put in beside messages */
	DENSE_BYTES = 1024, /* a smaller request says little of how dense text is */
	CANONICAL_MAX = 2 * API_BODY_MAX,
};

static void reserve(struct exchange *x);
static void wake(struct server *s);

static uint64_t now(const struct exchange *x)
{
	return clock_mono() - x->server->spec.start;
}

/* Only calls of a model are metered. */
static bool metered(const struct exchange *x)
{
	return x->route == API_ROUTE_CHAT || x->route == API_ROUTE_COMPACT;
}

void exchange_free(struct exchange *x)
{
	struct server *s = x->server;

	TAILQ_REMOVE(&s->list, x, link);
	s->n_list--;
	if (x->hold.held)
		meter_cancel(&s->meter, &x->hold);
	if (x->timer)
		event_free(x->timer);
	api_request_done(&x->q);
	httpparse_request_done(&x->request);
	buf_done(&x->canonical);
	buf_done(&x->body);
	buf_done(&x->full);
	jedit_done(&x->edits);
	free(x->path);
	free(x->model);
	reply_done(&x->reply);
	api_answer_done(&x->answer);
	http_blob_unref(x->out.blob);
	free(x);
}

/* --- an answer, or none ----------------------------------------------------------------------- */

static void add_usage(struct api_usage *to, const struct api_usage *u)
{
	to->input += u->input;
	to->cached += u->cached;
	to->cache_write += u->cache_write;
	to->output += u->output;
	to->reasoning += u->reasoning;
}

/* How many tokens text is differs by tokenizer and language: what one answer says, the estimates behind
 * it know. An endpoint's own long prompt must not drive them above one token a byte. */
static void learn(struct server *s, uint64_t tokens, size_t bytes)
{
	uint64_t dense;

	if (bytes < DENSE_BYTES || tokens > bytes)
		return;
	dense = (tokens * 1024 + bytes - 1) / bytes;
	s->dense = dense > s->dense ? dense : s->dense;
}

/* One try is over: what it cost. A try that may have been billed is counted, usable or not; an error
 * status is no answer that anybody bills. */
static void settle(struct exchange *x)
{
	const struct reply *r = &x->reply;
	uint64_t micro = 0, written = r->body.len / 4;
	bool answered = r->status / 100 == 2;
	bool known = answered && x->answer.usage.known;
	/* What the meter takes for it. */
	struct api_usage u = { .input = x->hold.input, .output = written };

	if (!metered(x) || !x->hold.held || (!answered && (r->status || !r->reached)))
		return; /* the reservation serves the next try, or exchange_free() gives it back */
	if (known) {
		u = x->answer.usage;
		/* What a broken answer told of its output may be of its beginning. */
		if (!x->answer.complete && u.output < written)
			u.output = written;
		learn(x->server, u.input, x->body.len);
	}
	meter_settle(&x->server->meter, &x->hold, x->model, known ? &u : NULL, written, &micro);
	x->micro = micro == UINT64_MAX || x->micro == UINT64_MAX ? UINT64_MAX : x->micro + micro;
	x->unknown_usage |= !known || !x->answer.complete;
	add_usage(&x->usage, &u);
	x->billed++;
}

/* Read the reply. True when it is an answer that the client can be given. */
static bool read_reply(struct exchange *x)
{
	struct reply *r = &x->reply;
	struct api_answer *a = &x->answer;

	api_answer_done(a);
	*a = (struct api_answer){ 0 };
	if (r->status / 100 != 2)
		return false;
	if (!metered(x))
		return !r->why[0];
	api_answer_read(a, x->api, buf_str(&r->body), r->body.len, r->sse);
	if (r->why[0])
		return false;
	if (a->error)
		snprintf(r->why, sizeof(r->why), "an error instead of an answer: %.300s",
			 a->text ? a->text : "no text");
	else if (!a->complete)
		snprintf(r->why, sizeof(r->why), "the answer is not complete: %.300s",
			 a->why ? a->why : "its end is missing");
	return !r->why[0];
}

/* Does asking again pay? */
static bool passing(const struct exchange *x)
{
	const struct reply *r = &x->reply;
	int s = r->status;

	return !r->final && !x->failed &&
	       x->tries <= x->server->spec.plan->profile->model_retries && !x->streaming &&
	       !x->server->ending && !x->server->broken &&
	       (s == 0 || s / 100 == 2 || s == 408 || s == 409 || s == 429 || s >= 500);
}

static void ask(struct exchange *x);

static void ask_again(evutil_socket_t fd, short what, void *arg)
{
	struct exchange *x = arg;

	(void)fd;
	(void)what;
	if (metered(x) && !x->hold.held)
		reserve(x);
	else
		ask(x);
}

static void pause_try(struct exchange *x)
{
	x->state = EXCHANGE_PAUSE;
	if (!tries_wait(&x->timer, x->server->spec.base, ask_again, x,
			tries_pause_ms(x->tries, x->reply.retry_after)))
		finish_error(x, 502, "the gateway is out of memory");
}

/* A strict replay that differs, a script that says stop: the run cannot go on. */
static void end_run(struct exchange *x)
{
	const struct server_ops *ops = x->server->spec.ops;
	auto_free char *text = mem_printf("the run ends: %s", x->reply.why);

	x->server->broken = true;
	ops->mismatch(ops->arg, x->reply.why);
	finish_error(x, 400, text);
}

static void answered(evutil_socket_t fd, short what, void *arg)
{
	struct exchange *x = arg;
	struct server *s = x->server;
	const struct reply *r = &x->reply;
	bool usable;

	(void)fd;
	(void)what;
	x->t1 = now(x);
	x->t_first = r->t_first > s->spec.start ? r->t_first - s->spec.start : 0;
	usable = read_reply(x);
	settle(x);
	if (r->end_run) {
		end_run(x);
	} else if (!usable && passing(x)) {
		pause_try(x);
	} else {
		if (x->hold.held)
			meter_cancel(&s->meter, &x->hold);
		if (!usable)
			repeats_fail(&s->repeats, x->key);
		release_reply(x, usable);
		finish_exchange(x);
	}
	wake(s);
}

/* From the source, perhaps while it is being asked: only taken here, worked on by the loop. */
static void on_done(void *arg, struct reply *r)
{
	struct exchange *x = arg;

	if (x->server->closing)
		return;
	x->replied = true;
	tries_taken(&x->reply, r, &x->timer, x->server->spec.base, answered, x);
}

static void on_bytes(void *arg, const struct reply *r, size_t from)
{
	struct exchange *x = arg;

	(void)from; /* where the last event began is known better in x->held */
	if (!x->server->closing && r->sse && r->status / 100 == 2)
		release_bytes(x, r);
}

/* --- asking ----------------------------------------------------------------------------------- */

static void ask(struct exchange *x)
{
	struct server *s = x->server;
	const struct profile *p = s->spec.plan->profile;
	bool stream = p->delivery == DELIVERY_STREAM && x->q.stream && metered(x);

	x->tries++;
	x->state = EXCHANGE_ASKED;
	x->replied = false;
	x->sent = 0; /* of a try before this, at most comments went out */
	hold_init(&x->held, x->api->id);
	x->ask = (struct ask){
		.q = &x->q,
		.path = x->path ? x->path : x->request.target,
		.body = buf_str(&x->body),
		.n = x->body.len,
		.canonical = buf_str(&x->canonical),
		.canonical_n = x->canonical.len,
		.model = x->model,
		.purpose = x->purpose,
		.call = x->call,
		.deadline = clock_mono() + p->model_timeout,
		.headers = x->headers,
		.bytes = stream ? on_bytes : NULL,
		.done = on_done,
		.arg = x,
	};
	s->spec.source.ops->ask(s->spec.source.impl, &x->ask);
}

static void forward(struct exchange *x)
{
	if (forward_edit(x) < 0) {
		if (x->hold.held)
			meter_cancel(&x->server->meter, &x->hold);
		finish_error(x, 400, "the request cannot be brought into the form of this run");
		return;
	}
	ask(x);
}

static uint64_t estimate(const struct exchange *x)
{
	const struct anchors *a = &x->server->anchors;
	uint64_t n = api_estimate(&x->q), learned = x->server->dense * x->q.n / 1024 + 1;

	n = (learned > n ? learned : n) + ADDED_TOKENS;
	for (size_t i = 0; i < a->n && x->purpose == PURPOSE_MAIN; i++)
		n += strlen(a->v[i].text) / 4;
	return n;
}

static void spent(struct exchange *x, enum limit_kind which)
{
	struct server *s = x->server;
	const struct server_ops *ops = s->spec.ops;

	ops->spent(ops->arg, x->call, which, s->meter.used[which], s->meter.limit.max[which]);
	release_closing(x, which, s->spec.plan->profile->on_limit == ON_LIMIT_FINISH);
	finish_exchange(x);
}

static void reserve(struct exchange *x)
{
	struct server *s = x->server;
	enum limit_kind which = LIMIT_MODEL_CALLS;
	const char *model = x->model ? x->model : forward_model(x);

	if (!metered(x)) {
		forward(x);
		return;
	}
	switch (meter_reserve(&s->meter, model, estimate(x), x->q.max_output, &x->hold, &x->cap,
			      &which)) {
	case METER_GO:
		forward(x);
		break;
	case METER_WAIT:
		x->state = EXCHANGE_QUEUED;
		break;
	case METER_SPENT:
		spent(x, which);
		break;
	}
}

/* A reservation was given back: those that waited for it try again, in the order they came. Each
 * try may end others, so the search begins anew. */
static void wake(struct server *s)
{
	unsigned round = ++s->rounds;
	struct exchange *x;

	if (s->ending)
		return; /* nothing goes out any more */
	do {
		TAILQ_FOREACH(x, &s->list, link)
		{
			if (x->state == EXCHANGE_QUEUED && x->round != round)
				break;
		}
		if (x) {
			x->round = round;
			reserve(x);
		}
	} while (x);
}

/* --- from the client and the supervisor ------------------------------------------------------- */

/* The answer is ours to make: a token count without an endpoint. */
static bool local(const struct exchange *x)
{
	return x->route == API_ROUTE_COUNT && !str_eq(x->server->spec.source.ops->name, "live");
}

void exchange_go(struct exchange *x)
{
	struct server *s = x->server;
	char why[256];

	if (x->state != EXCHANGE_GO)
		return;
	if (s->ending || local(x)) {
		release_closing(x, s->ending_why, s->finish);
		finish_exchange(x);
		return;
	}
	if (s->broken || forward_refused(x, why)) {
		finish_error(x, 400, s->broken ? "the run is over" : why);
		return;
	}
	if (!x->canonical.len && canon_request(&x->q, &x->canonical) < 0) {
		finish_error(x, 413, "the request is too large");
		return;
	}
	reserve(x);
}

void exchange_close(struct exchange *x)
{
	struct server *s = x->server;

	if (x->state != EXCHANGE_GO && x->state != EXCHANGE_QUEUED && x->state != EXCHANGE_PAUSE)
		return;
	if (x->hold.held)
		meter_cancel(&s->meter, &x->hold);
	if (x->timer)
		event_del(x->timer);
	release_closing(x, s->ending_why, s->finish);
	finish_exchange(x);
}

void exchange_bye(struct exchange *x)
{
	const struct source_ops *ops = x->server->spec.source.ops;
	bool asked = x->state == EXCHANGE_ASKED;

	if (!asked && !(x->state == EXCHANGE_PAUSE && x->billed))
		return;
	if (asked && !x->replied && ops->cancel)
		ops->cancel(x->server->spec.source.impl, &x->ask);
	else if (asked && !x->replied)
		x->reply.reached = true; /* a script's pause: the answer was to come */
	/* The next try, or answered() behind done(), which is called here: not once more by the loop. */
	if (x->timer)
		event_del(x->timer);
	if (!x->reply.status)
		snprintf(x->reply.why, sizeof(x->reply.why),
			 "the run ended before the answer was there");
	answered(-1, 0, x);
}

void exchange_gone(struct exchange *x)
{
	struct exchange *f = finish_follower(x);

	x->conn = NULL;
	if (x->state != EXCHANGE_GO && x->state != EXCHANGE_QUEUED && x->state != EXCHANGE_JOINED)
		return; /* it was asked: taken, recorded and kept for the client's next try */
	if (!f) {
		exchange_free(x);
		return;
	}
	/* Somebody else asks the same: it goes on for that one. */
	x->conn = take_ptr(&f->conn);
	http_set_user(x->conn, x);
	exchange_free(f);
}

static void key_of(struct exchange *x)
{
	auto_buf b = BUF_INIT(CANONICAL_MAX);
	const struct buf *question = canon_question(&x->q, &b) < 0 ? &x->request.body : &b;

	repeats_key(x->request.target, question->data, question->len, x->key);
}

static struct exchange *same_question(const struct exchange *x)
{
	struct exchange *o;

	TAILQ_FOREACH(o, &x->server->list, link)
	{
		if (o != x && !o->leader && !o->retry_of && strcmp(o->key, x->key) == 0)
			return o;
	}
	return NULL;
}

/* Answered before, or being answered? Then @x needs no call of its own. */
static bool repeated(struct exchange *x)
{
	const struct repeat *r = repeats_find(&x->server->repeats, x->key);

	if (x->server->ending || x->server->broken || !metered(x))
		return false;
	if (r) {
		finish_repeat(x, r->call, 200, r->sse, true, r->finish, http_blob_ref(r->blob));
		return true;
	}
	x->leader = same_question(x);
	if (x->leader)
		x->state = EXCHANGE_JOINED;
	return x->leader != NULL;
}

static struct exchange *make(struct server *s, struct http_conn *c, struct http_request *r,
			     const struct api *api, enum api_route route)
{
	struct exchange *x = mem_zalloc(1, sizeof(*x));
	size_t n = 0;

	x->server = s;
	x->conn = c;
	x->request = *r;
	*r = (struct http_request){ 0 };
	x->api = api;
	x->route = route;
	x->canonical = (struct buf)BUF_INIT(CANONICAL_MAX);
	x->body = (struct buf)BUF_INIT(API_BODY_MAX);
	x->full = (struct buf)BUF_INIT(API_BODY_MAX);
	x->t0 = clock_mono() - s->spec.start;
	for (size_t i = 0; i < HTTP_KEPT_MAX; i++) {
		if (x->request.kept[i])
			x->headers[n++] = x->request.kept[i];
	}
	http_set_user(c, x);
	TAILQ_INSERT_TAIL(&s->list, x, link);
	s->n_list++;
	return x;
}

/* Not a request that can be served: answered without a call. */
static void turn_away(struct exchange *x, int status, const char *message)
{
	struct http_head head = { .status = status, .retry_after = status == 503 };
	struct http_conn *c = take_ptr(&x->conn);

	http_set_user(c, NULL);
	release_plain(c, x->api, &head, message);
	exchange_free(x);
}

/* The list of models has no body and is no call. */
static void list_models(struct exchange *x)
{
	x->q.api = x->api;
	x->q.route = x->route;
	x->model = mem_strdup(x->server->spec.plan->model_name);
	ask(x);
}

void exchange_begin(struct server *s, struct http_conn *c, struct http_request *r,
		    const struct api *api, enum api_route route)
{
	struct exchange *x = make(s, c, r, api, route);
	const struct server_ops *ops = s->spec.ops;
	struct server_request told = { .source_port = http_port(c) };
	char sum[DIGEST_HEX];
	struct err err = { 0 };

	if (s->n_list > EXCHANGES_MAX || s->answers > HTTP_ANSWERS_MAX) {
		turn_away(x, 503, "too many requests at once; try again");
		return;
	}
	if (route == API_ROUTE_MODELS) {
		list_models(x);
		return;
	}
	if (api_request_read(&x->q, api, route, x->request.target, buf_str(&x->request.body),
			     x->request.body.len, &err) < 0) {
		turn_away(x, 400, err.text);
		return;
	}
	if (httpparse_charge(&x->request, x->q.doc.cap * sizeof(*x->q.doc.v)) < 0) {
		turn_away(x, 503, "too many bytes of requests at once; try again");
		return;
	}
	x->call = ++s->calls;
	x->purpose = purpose_of(&s->purposes, &x->q);
	key_of(x);
	x->failed = repeats_failed(&s->repeats, x->key);
	if (repeated(x))
		return;
	if (ops->last && x->purpose == PURPOSE_MAIN)
		ops->last(ops->arg, x->call, &x->q);
	/* Too large is told when it is to go out. */
	if (canon_request(&x->q, &x->canonical) < 0)
		buf_clear(&x->canonical);
	told.sha256 = digest_bytes(buf_str(&x->canonical), x->canonical.len, sum);
	told.call = x->call;
	told.purpose = x->purpose;
	told.items = x->q.n_items;
	told.bytes = x->request.body.len;
	ops->request(ops->arg, &told);
}
