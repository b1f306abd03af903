#include "gateway/server_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What the client is given, and in which form. Not for when. */

enum { ERROR_MAX = 64 << 10, LINE_ENDS = 2 };

static void set_blob(struct exchange *x, struct buf *b)
{
	http_blob_unref(x->out.blob);
	x->out.blob = http_blob(b, &x->server->answers);
}

void release_error(struct exchange *x, int status, const char *message)
{
	auto_buf b = BUF_INIT(ERROR_MAX);

	x->api->error(status, message, &b);
	x->out.status = status;
	x->out.sse = x->out.model = false;
	x->out.source = "gateway";
	snprintf(x->out.why, sizeof(x->out.why), "%s", message);
	set_blob(x, &b);
}

/* Why no more calls are made: "the run's limit on model_calls (20) is reached". */
static void spent_text(const struct exchange *x, enum limit_kind why, char out[160])
{
	const struct plan *p = x->server->spec.plan;
	char amount[40];

	if (why >= LIMIT_MAX)
		snprintf(out, 160, "the run is ending");
	else if (why == LIMIT_DOLLARS && p->prices && !prices_find(p->prices, forward_model(x)))
		snprintf(out, 160,
			 "the price of %.80s is not known, and the run has a limit on dollars",
			 forward_model(x));
	else
		snprintf(out, 160, "the run's limit on %s (%s) is reached", limits_name(why),
			 limits_text(why, x->server->meter.limit.max[why], amount));
}

void release_closing(struct exchange *x, enum limit_kind why, bool finish)
{
	auto_buf b = BUF_INIT(ERROR_MAX);
	struct api_answer a = { .complete = true,
				.finish = FINISH_STOP,
				.usage = { .known = true } };
	char reason[160];
	auto_free char *text = NULL;

	spent_text(x, why, reason);
	if (x->route == API_ROUTE_COUNT) {
		x->api->count(api_estimate(&x->q), &b);
		x->out.status = 200;
		x->out.source = "gateway";
		set_blob(x, &b);
		return;
	}
	if (!finish) {
		text = mem_printf("%s; no more requests are answered", reason);
		release_error(x, 400, text);
		return;
	}
	text = mem_printf("I have to stop here: %s.", reason);
	a.text = text;
	a.model = x->q.model ? x->q.model : x->server->spec.plan->model_name;
	x->q.wants_usage &= !x->add_usage; /* as the client asked */
	x->api->write(&a, &x->q, ++x->server->serial, &b);
	x->out.status = 200;
	x->out.sse = x->q.stream;
	x->out.source = "gateway";
	snprintf(x->out.why, sizeof(x->out.why), "closing answer: %s", reason);
	set_blob(x, &b);
}

/* A status that the client may see as it is. */
static bool passes(int status)
{
	return status >= 400 && status <= 599;
}

void release_reply(struct exchange *x, bool usable)
{
	struct reply *r = &x->reply;
	auto_buf b = BUF_INIT(API_BODY_MAX + LINE_ENDS);
	auto_free char *text = NULL;

	if (usable) {
		/* As long as the answer and two line ends at most: it fits. */
		if (r->sse) {
			(void)hold_clean(buf_str(&r->body), r->body.len, x->add_usage, &b);
			(void)hold_end(&b);
		} else {
			(void)buf_add(&b, buf_str(&r->body), r->body.len);
		}
		/* A replay of the record must find the usage, and takes it out again as we do. */
		if (r->sse && x->add_usage)
			(void)hold_clean(buf_str(&r->body), r->body.len, false, &x->full);
	} else if (passes(r->status) && r->body.len && r->status != 401) {
		(void)buf_add(&b, r->body.data, r->body.len); /* fits, too */
	} else if (r->status == 401) {
		/* The vendor's text often holds pieces of the key. */
		release_error(x, 401, "the model endpoint does not accept the key of this run");
		return;
	} else {
		text = mem_printf("no answer of the model: %s",
				  r->why[0] ? r->why : "the endpoint gave none");
		/* 400 is the one status that every client stops on. */
		release_error(x, passes(r->status) ? r->status : r->final ? 400 : 502, text);
		x->out.retry_after = r->retry_after;
		return;
	}
	x->out.status = r->status;
	x->out.sse = usable && r->sse;
	x->out.model = usable && x->route != API_ROUTE_COUNT && x->route != API_ROUTE_MODELS;
	x->out.source = source_name(&x->server->spec.source, r);
	x->out.retry_after = usable ? 0 : r->retry_after;
	snprintf(x->out.why, sizeof(x->out.why), "%s", usable ? "" : r->why);
	set_blob(x, &b);
	if (!x->streaming)
		buf_done(&r->body); /* finish_stream() needs it otherwise */
}

void release_bytes(struct exchange *x, const struct reply *r)
{
	struct http_head head = { .status = r->status, .type = "text/event-stream" };
	auto_buf b = BUF_INIT(API_BODY_MAX);
	size_t to = hold_scan(&x->held, buf_str(&r->body), r->body.len);

	if (!x->conn || to <= x->sent)
		return;
	if (hold_clean(r->body.data + x->sent, to - x->sent, x->add_usage, &b) < 0)
		return; /* goes out at the end */
	x->sent = to;
	if (!b.len)
		return;
	if (!x->streaming)
		http_begin(x->conn, &head);
	x->streaming = true;
	http_send(x->conn, b.data, b.len);
}

/* The rest of an answer whose beginning is out. */
static void finish_stream(struct exchange *x, struct http_conn *c)
{
	auto_buf b = BUF_INIT(API_BODY_MAX + LINE_ENDS);
	const struct buf *body = &x->reply.body;

	/* An answer that broke off is not to look whole: the connection is cut in the middle. */
	if (!x->out.model ||
	    hold_clean(buf_str(body) + x->sent, body->len - x->sent, x->add_usage, &b) < 0 ||
	    hold_end(&b) < 0) {
		http_abort(c);
		return;
	}
	http_send(c, buf_str(&b), b.len);
	http_end(c);
}

static const char *type_of(const struct outcome *o)
{
	const char *s = o->blob ? o->blob->data : "";

	if (o->sse)
		return "text/event-stream";
	while (isspace((unsigned char)*s))
		s++;
	return *s == '{' || *s == '[' ? "application/json" : "text/plain";
}

void release_answer(struct exchange *x)
{
	struct http_conn *c = take_ptr(&x->conn);
	struct http_head head = {
		.status = x->out.status,
		.type = type_of(&x->out),
		.retry_after = x->out.retry_after,
	};

	if (!c)
		return;
	http_set_user(c, NULL);
	if (x->streaming)
		finish_stream(x, c);
	else
		http_answer(c, &head, x->out.blob);
}

void release_plain(struct http_conn *c, const struct api *api, const struct http_head *head,
		   const char *message)
{
	auto_buf b = BUF_INIT(ERROR_MAX);
	struct http_head h = *head;

	h.type = "application/json";
	(api ? api : api_of(AGENT_API_CHAT))->error(h.status, message, &b);
	http_answer_text(c, &h, buf_str(&b), b.len);
}
