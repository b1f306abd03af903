#include "gateway/server_internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/record.h"

/* The end of an exchange: recorded, told, and released when the supervisor knows it. */

enum { REFUSED_BYTES_MAX = 64 << 20 }; /* of recorded requests that were never asked */

/* Requests that cost nothing must not fill the disk: beyond a bound only their lines are kept. */
static bool keep_request(struct exchange *x)
{
	struct server *s = x->server;

	if (x->retry_of)
		return false; /* it stands in the record already */
	if (x->tries)
		return true;
	if (x->request.body.len > REFUSED_BYTES_MAX - s->refused_bytes)
		return false;
	s->refused_bytes += x->request.body.len;
	return true;
}

static int write_record(struct exchange *x)
{
	struct server *s = x->server;
	bool keep = keep_request(x), parsed = !x->retry_of && (x->out.model || x->billed);
	const struct price *price = x->tries && x->model && s->spec.plan->prices
					    ? prices_find(s->spec.plan->prices, x->model)
					    : NULL;
	struct exchange_record r = {
		.call = x->call,
		.api = x->api->name,
		.path = x->request.target,
		.purpose = x->purpose,
		.source = x->out.source,
		.t0 = x->t0,
		.t_first = x->t_first,
		.t1 = x->t1,
		.request = keep ? buf_str(&x->request.body) : "",
		.request_n = keep ? x->request.body.len : 0,
		.canonical = keep ? buf_str(&x->canonical) : "",
		.canonical_n = keep ? x->canonical.len : 0,
		.model = x->model ? x->model : forward_model(x),
		.placed = x->placed,
		.n_placed = x->n_placed,
		.anchors = &s->anchors,
		.stripped = x->stripped,
		.n_stripped = x->n_stripped,
		.status = x->out.status,
		.sse = x->out.sse,
		.answer = x->retry_of   ? ""
			  : x->full.len ? x->full.data
					: x->out.blob->data,
		.answer_n = x->retry_of   ? 0
			    : x->full.len ? x->full.len
					  : x->out.blob->n,
		.parsed = parsed ? &x->answer : NULL,
		.micro = x->micro,
		.price_row = price ? price->model : NULL,
		.tries = x->tries,
		.retry_of = x->retry_of,
		.note = x->out.why[0] ? x->out.why : NULL,
	};
	struct err err = { 0 };

	/* All that was billed for this exchange, tries that gave no usable answer included. */
	x->answer.usage = x->usage;
	if (record_write(s->spec.record_fd, &r, &err) == 0)
		return 0;
	s->broken = true;
	s->spec.ops->failed(s->spec.ops->arg, err.text);
	return -1;
}

static void tell_tools(const struct exchange *x)
{
	const struct server_ops *ops = x->server->spec.ops;

	for (size_t i = 0; i < x->answer.n_calls && x->out.model; i++) {
		struct tooluse u = { 0 };

		(void)tooluse_of(x->server->spec.plan->agent, &x->answer.calls[i], &u); /* in @u */
		ops->tool(ops->arg, x->call, x->answer.calls[i].name, &u);
	}
}

void finish_exchange(struct exchange *x)
{
	const struct server_ops *ops = x->server->spec.ops;
	struct server_answer a = {
		.call = x->call,
		.purpose = x->purpose,
		.status = x->out.status,
		.usage = x->usage,
		.micro = x->micro,
		.finish = x->answer.finish,
		.tries = x->tries,
		.billed = x->billed,
		.model = x->out.model,
		.repeat = x->retry_of != 0,
		.name = x->model ? x->model : forward_model(x),
		.text = x->answer.text,
	};

	if (!x->t1)
		x->t1 = clock_mono() - x->server->spec.start;
	if (!x->t_first)
		x->t_first = x->t1;
	/* Nothing that was billed is nothing that is unknown. */
	x->usage.known = a.usage.known = !x->unknown_usage;
	x->state = EXCHANGE_ACK;
	if (x->route == API_ROUTE_MODELS) { /* no call: nobody needs to know */
		finish_ack(x);
		return;
	}
	if (write_record(x) < 0)
		return; /* never released: the process ends */
	if (!x->retry_of)
		tell_tools(x);
	ops->answer(ops->arg, &a); /* gives @x away: server_ack() may come at once */
}

void finish_error(struct exchange *x, int status, const char *message)
{
	release_error(x, status, message);
	finish_exchange(x);
}

void finish_repeat(struct exchange *x, uint64_t call, int status, bool sse, bool model,
		   enum api_finish how, struct http_blob *blob)
{
	x->retry_of = call;
	x->answer.finish = how;
	x->out = (struct outcome){
		.status = status, .sse = sse, .model = model, .source = "gateway", .blob = blob
	};
	finish_exchange(x);
}

struct exchange *finish_follower(const struct exchange *x)
{
	struct exchange *f;

	TAILQ_FOREACH(f, &x->server->list, link)
	{
		if (f->leader == x)
			return f;
	}
	return NULL;
}

void finish_ack(struct exchange *x)
{
	struct server *s = x->server;
	struct exchange *f;

	if (x->state != EXCHANGE_ACK)
		return;
	if (x->out.model && !x->retry_of) {
		struct repeat r = {
			.call = x->call,
			.sse = x->out.sse,
			.finish = x->answer.finish,
			.blob = http_blob_ref(x->out.blob),
		};

		memcpy(r.key, x->key, sizeof(r.key));
		repeats_put(&s->repeats, r);
	}
	release_answer(x);
	while ((f = finish_follower(x))) {
		f->leader = NULL;
		finish_repeat(f, x->call, x->out.status, x->out.sse, x->out.model, x->answer.finish,
			      http_blob_ref(x->out.blob));
	}
	exchange_free(x);
}
