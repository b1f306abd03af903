#include "gateway/simulate.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "gateway/canon.h"
#include "gateway/jedit.h"
#include "gateway/record.h"
#include "gateway/tries.h"

#define PATH "/v1/chat/completions"

enum {
	BODY_MAX = 1 << 20,   /* of a question: prompt and context, escaped */
	ANSWER_MAX = 1 << 20, /* bytes of an answer that are looked at and recorded */
	UNMET_MAX = 64 << 10,
};

/* A message that is being written. */
struct writing {
	TAILQ_ENTRY(writing) link;
	struct simulate *s;
	uint64_t number;
	struct api_request q;
	struct buf body, canonical;
	struct ask ask;
	struct reply reply;
	bool asked, replied; /* the source works on it; @reply is its answer */
	struct event *timer; /* owned: a pause, or the step behind done() */
	struct api_answer answer;
	struct simulate_said said;
	char note[512]; /* what went wrong, for the record */
	bool unknown_usage;
	uint64_t t0, t_first, deadline; /* clock_mono() */
};

struct simulate {
	struct simulate_spec spec;
	TAILQ_HEAD(, writing) list;
	unsigned n;
	bool closing;
};

static void try_again(evutil_socket_t fd, short what, void *arg);

static void writing_free(struct writing *w)
{
	TAILQ_REMOVE(&w->s->list, w, link);
	w->s->n--;
	if (w->timer)
		event_free(w->timer);
	api_request_done(&w->q);
	buf_done(&w->body);
	buf_done(&w->canonical);
	reply_done(&w->reply);
	api_answer_done(&w->answer);
	free(w);
}

/* --- the question ------------------------------------------------------------------------------ */

static void put_message(struct buf *b, const char *role, const char *text, size_t n)
{
	buf_addf(b, "{\"role\":\"%s\",\"content\":", role);
	jedit_quote(b, text, n);
	buf_addc(b, '}');
}

/* No stream: an answer is of use when it is whole, and every endpoint knows this form. */
static void write_body(struct writing *w, const char *context, size_t n)
{
	const struct simulator *sim = w->s->spec.sim;
	struct json_w number = { .b = &w->body };
	struct buf *b = &w->body;

	buf_adds(b, "{\"model\":");
	jedit_quote(b, sim->name, strlen(sim->name));
	buf_adds(b, ",\"messages\":[");
	put_message(b, "system", sim->prompt, strlen(sim->prompt));
	buf_addc(b, ',');
	put_message(b, "user", context, n);
	buf_adds(b, "],\"temperature\":");
	json_dbl(&number, NULL, sim->temperature);
	buf_addf(b, ",\"max_tokens\":%llu,\"stream\":false}", (unsigned long long)sim->max_tokens);
}

/* --- the answer -------------------------------------------------------------------------------- */

static void add_usage(struct api_usage *to, const struct api_usage *u)
{
	to->input += u->input;
	to->cached += u->cached;
	to->cache_write += u->cache_write;
	to->output += u->output;
	to->reasoning += u->reasoning;
}

/* One try is over: what it cost. As for the agent's calls, one that may have been billed counts, usable
 * or not, by estimate where nothing was told. */
static void settle(struct writing *w)
{
	const struct simulator *sim = w->s->spec.sim;
	const struct price *price = prices_find(sim->prices, sim->name);
	const struct reply *r = &w->reply;
	struct api_usage u = { .input = api_estimate(&w->q), .output = r->body.len / 4 };
	struct simulate_said *d = &w->said;
	bool answered = r->status / 100 == 2, known = answered && w->answer.usage.known;

	if (!answered && (r->status || !r->reached))
		return;
	if (known)
		u = w->answer.usage;
	w->unknown_usage |= !known;
	add_usage(&d->usage, &u);
	d->billed++;
	if (!price)
		d->micro = UINT64_MAX;
	else if (d->micro != UINT64_MAX)
		d->micro += price_cost(price, u.input, u.cached, u.cache_write, u.output);
}

static void read_reply(struct writing *w)
{
	struct reply *r = &w->reply;

	api_answer_done(&w->answer);
	w->answer = (struct api_answer){ 0 };
	if (r->body.len > ANSWER_MAX) {
		r->body.len = ANSWER_MAX;
		r->body.data[ANSWER_MAX] = '\0';
		snprintf(r->why, sizeof(r->why), "an answer larger than %d bytes", ANSWER_MAX);
	}
	if (r->status / 100 == 2)
		api_answer_read(&w->answer, api_of(AGENT_API_CHAT), buf_str(&r->body), r->body.len,
				r->sse);
}

static bool blank(const char *s)
{
	return !s || !s[strspn(s, " \t\r\n")];
}

/* Why there is no text, "" when there is one, into said.why: words that are the same whenever the same
 * happens, so that a replay tells the same. True when asking again pays. */
static bool judge(struct writing *w)
{
	const struct reply *r = &w->reply;
	const struct api_answer *a = &w->answer;
	char *why = w->said.why;
	size_t room = sizeof(w->said.why);
	int s = r->status;

	why[0] = '\0';
	snprintf(w->note, sizeof(w->note), "%s", r->why);
	if (!s) {
		snprintf(why, room, "no answer");
		return true;
	}
	if (s / 100 != 2) {
		snprintf(why, room, "HTTP status %d", s);
		return s == 408 || s == 409 || s == 429 || s >= 500;
	}
	if (a->error)
		snprintf(why, room, "an error instead of an answer");
	else if (r->why[0] || !a->complete)
		snprintf(why, room, "the answer broke off");
	if (why[0]) {
		if (!w->note[0])
			snprintf(w->note, sizeof(w->note), "%.400s", a->text ? a->text : why);
		return true;
	}
	if (a->finish == FINISH_FILTER)
		snprintf(why, room, "held back by the endpoint");
	else if (a->finish == FINISH_LENGTH)
		snprintf(why, room, "cut at its limit of tokens");
	else if (blank(a->text))
		snprintf(why, room, "empty");
	else if (strlen(a->text) > SIMULATE_TEXT_MAX)
		snprintf(why, room, "too long");
	return false;
}

static int write_record(struct writing *w)
{
	const struct simulate_spec *sp = &w->s->spec;
	const struct price *price = prices_find(sp->sim->prices, sp->sim->name);
	/* What a replay must give again, failures included, comes from the source. */
	bool ours = !w->said.tries || !sp->source.ops || w->reply.end_run;
	struct exchange_record r = {
		.call = w->number,
		.api = api_of(AGENT_API_CHAT)->name,
		.path = PATH,
		.purpose = PURPOSE_SIMULATOR,
		.source = ours ? "gateway" : sp->source.ops->name,
		.t0 = w->t0 - sp->start,
		.t_first = w->t_first > sp->start ? w->t_first - sp->start : 0,
		.t1 = w->t0 + w->said.ns - sp->start,
		.request = buf_str(&w->body),
		.request_n = w->body.len,
		.canonical = buf_str(&w->canonical),
		.canonical_n = w->canonical.len,
		.model = sp->sim->name,
		.status = w->reply.status,
		.sse = w->reply.sse,
		.answer = buf_str(&w->reply.body),
		.answer_n = w->reply.body.len,
		.parsed = w->said.billed ? &w->answer : NULL,
		.micro = w->said.micro,
		.price_row = price ? price->model : NULL,
		.tries = w->said.tries,
		.note = w->note[0] ? w->note : NULL,
	};
	struct err err = { 0 };

	w->answer.usage = w->said.usage;
	if (record_write(sp->record_fd, &r, &err) == 0)
		return 0;
	sp->ops->failed(sp->ops->arg, err.text);
	return -1;
}

/* Recorded, then told. Gives @w away. */
static void finish(struct writing *w)
{
	const struct simulate_ops *ops = w->s->spec.ops;
	struct simulate_said *d = &w->said;
	const char *text = w->answer.error ? NULL : w->answer.text;

	d->ns = clock_mono() - w->t0;
	d->usage.known = !w->unknown_usage;
	if (text)
		digest_bytes(text, strlen(text), d->raw_sha256);
	if (write_record(w) == 0) {
		if (text && !d->why[0]) {
			d->text = text;
			d->n = strlen(text);
		}
		if (w->reply.end_run)
			ops->mismatch(ops->arg, w->note);
		ops->said(ops->arg, d);
	}
	writing_free(w);
}

/* Wait before the next try. False when it cannot be or there is no time left for one. */
static bool pause_try(struct writing *w)
{
	uint64_t ms = tries_pause_ms(w->said.tries, w->reply.retry_after);

	return clock_mono() + ms * CLOCK_MS < w->deadline &&
	       tries_wait(&w->timer, w->s->spec.base, try_again, w, ms);
}

static void answered(evutil_socket_t fd, short what, void *arg)
{
	struct writing *w = arg;
	const struct simulator *sim = w->s->spec.sim;
	bool again;

	(void)fd;
	(void)what;
	w->asked = false;
	w->t_first = w->reply.t_first;
	read_reply(w);
	settle(w);
	again = judge(w) && !w->reply.final && !w->reply.end_run && w->said.tries <= sim->retries;
	if (!again || !pause_try(w))
		finish(w);
}

/* From the source, perhaps while it is being asked: only taken here, worked on by the loop. */
static void on_done(void *arg, struct reply *r)
{
	struct writing *w = arg;

	if (w->s->closing)
		return;
	w->replied = true;
	tries_taken(&w->reply, r, &w->timer, w->s->spec.base, answered, w);
}

/* A record that holds nothing. */
static void nothing(struct writing *w)
{
	const struct model *m = w->s->spec.sim->model;
	struct reply r = { .body = BUF_INIT(0), .final = true, .end_run = !m->loose };

	snprintf(r.why, sizeof(r.why), "the record %.400s has no message of the simulator",
		 m->file ? m->file : m->spec);
	on_done(w, &r);
}

static void put_try(struct writing *w)
{
	const struct simulate_spec *sp = &w->s->spec;
	uint64_t end = clock_mono() + sp->sim->timeout;

	w->said.tries++;
	w->asked = true;
	w->replied = false;
	w->ask = (struct ask){
		.q = &w->q,
		.path = PATH,
		.body = buf_str(&w->body),
		.n = w->body.len,
		.canonical = buf_str(&w->canonical),
		.canonical_n = w->canonical.len,
		.model = sp->sim->name,
		.purpose = PURPOSE_SIMULATOR,
		.call = w->number,
		.deadline = end < w->deadline ? end : w->deadline,
		.done = on_done,
		.arg = w,
	};
	if (sp->source.ops)
		sp->source.ops->ask(sp->source.impl, &w->ask);
	else
		nothing(w);
}

static void try_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	put_try(arg);
}

/* --- for the owner ----------------------------------------------------------------------------- */

struct simulate *simulate_new(const struct simulate_spec *spec)
{
	struct simulate *s = mem_zalloc(1, sizeof(*s));

	s->spec = *spec;
	TAILQ_INIT(&s->list);
	return s;
}

static struct writing *writing_new(struct simulate *s, uint64_t number)
{
	struct writing *w = mem_zalloc(1, sizeof(*w));

	w->s = s;
	w->number = number;
	w->said.number = number;
	w->body = (struct buf)BUF_INIT(BODY_MAX);
	w->canonical = (struct buf)BUF_INIT(BODY_MAX);
	w->t0 = clock_mono();
	w->deadline = w->t0 + s->spec.sim->whole;
	TAILQ_INSERT_TAIL(&s->list, w, link);
	s->n++;
	return w;
}

/* No question can be made of it: told by the loop, as every answer is. */
static void refuse(struct writing *w, const char *why)
{
	struct reply r = { .body = BUF_INIT(0), .final = true };

	snprintf(r.why, sizeof(r.why), "%.400s", why);
	on_done(w, &r);
}

void simulate_ask(struct simulate *s, uint64_t number, const char *context, size_t n)
{
	bool many = s->n >= SIMULATE_OPEN_MAX;
	struct writing *w = writing_new(s, number);
	struct err err = { 0 };

	write_body(w, context, n < SIMULATE_CONTEXT_MAX ? n : SIMULATE_CONTEXT_MAX);
	if (api_request_read(&w->q, api_of(AGENT_API_CHAT), API_ROUTE_CHAT, PATH, buf_str(&w->body),
			     w->body.len, &err) < 0 ||
	    canon_request(&w->q, &w->canonical) < 0)
		refuse(w, err.text[0] ? err.text : "the question is too large");
	else if (many)
		refuse(w, "too many messages are being written at once");
	else
		put_try(w);
}

/* One that is under way when the box is dead. */
static void end(struct writing *w)
{
	const struct simulate_spec *sp = &w->s->spec;

	if (w->asked && !w->replied && sp->source.ops && sp->source.ops->cancel)
		sp->source.ops->cancel(sp->source.impl, &w->ask);
	else if (w->asked && !w->replied)
		w->reply.reached = true; /* a script's pause: the answer was to come */
	if (w->timer)
		event_del(w->timer);
	if (w->asked) {
		w->reply.final = true;
		answered(-1, 0, w);
	} else {
		finish(w);
	}
}

void simulate_bye(struct simulate *s)
{
	const struct source *src = &s->spec.source;
	const struct simulate_ops *ops = s->spec.ops;
	auto_buf b = BUF_INIT(UNMET_MAX);
	struct writing *w;

	while ((w = TAILQ_FIRST(&s->list)))
		end(w);
	if (!src->ops || !src->ops->unmet || !src->ops->unmet(src->impl, &b))
		return;
	for (char *line = b.data, *stop; line && *line; line = stop) {
		auto_free char *text = NULL;

		stop = line + strcspn(line, "\n");
		if (*stop)
			*stop++ = '\0';
		text = mem_printf("simulator: %s", line);
		ops->unmet(ops->arg, text);
	}
}

struct simulate *simulate_free(struct simulate *s)
{
	struct writing *w;

	if (!s)
		return NULL;
	s->closing = true;
	source_done(&s->spec.source);
	while ((w = TAILQ_FIRST(&s->list)))
		writing_free(w);
	free(s);
	return NULL;
}
