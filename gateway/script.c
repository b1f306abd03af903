#include "gateway/script.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/script_internal.h"

#define COMMENT ": keepalive\n\n"

/* An answer that waits for its time. */
struct pending {
	struct ask ask; /* copied: only what it points to stays until done() */
	struct reply reply;
	struct event *timer; /* owned */
	struct pending *next, **link;
};

struct script {
	struct script_text text;
	struct event_base *base; /* borrowed */
	struct pending *pending; /* owned list */
	size_t before; /* runs that the first request held already: some clients begin with
				  * words put into the model's mouth (qwen) */
	bool begun;
};

/* --- which turn --- */

/* How many times the model has spoken: maximal runs of what it made. Entries of unknown kinds do
 * not part a run. */
static size_t runs_of(const struct api_request *q)
{
	size_t n = 0;
	bool inside = false;

	for (size_t i = 0; i < q->n_items; i++) {
		bool made = q->items[i].kind == ITEM_ASSISTANT || q->items[i].kind == ITEM_CALL;

		if (q->items[i].kind == ITEM_OTHER)
			continue;
		n += made && !inside;
		inside = made;
	}
	return n;
}

/* --- expectations --- */

static bool is_heard(const struct item *it)
{
	return (it->kind == ITEM_USER || it->kind == ITEM_RESULT) && it->text;
}

static bool heard(const struct api_request *q, const char *text)
{
	for (size_t i = 0; i < q->n_items; i++) {
		if (is_heard(&q->items[i]) && strstr(q->items[i].text, text))
			return true;
	}
	return false;
}

static bool not_heard(const struct api_request *q, const char *text)
{
	return !heard(q, text);
}

static bool heard_last(const struct api_request *q, const char *text)
{
	for (size_t i = q->n_items; i-- > 0;) {
		if (is_heard(&q->items[i]))
			return strstr(q->items[i].text, text) != NULL;
	}
	return false;
}

/* Is a tool of this name offered? In every API its name is a string under "name", below "tools". */
static bool offered(const struct api_request *q, const char *name)
{
	const struct jdoc *d = &q->doc;
	uint32_t tools = d->n_nodes ? jdoc_get(d, 0, "tools") : JNONE;

	if (tools == JNONE)
		return false;
	for (uint32_t i = tools + 1; i < d->v[tools].next; i++) {
		const struct jnode *v = &d->v[i];

		if (v->kind == J_STRING && v->key_end - v->key == 4 &&
		    memcmp(d->text + v->key, "name", 4) == 0 && jdoc_is(d, i, name))
			return true;
	}
	return false;
}

/* clang-format off */
static const struct {
	size_t off; /* of a struct strv in struct script_expect */
	bool (*holds)(const struct api_request *q, const char *text);
	const char *why;
} expectations[] = {
	{ offsetof(struct script_expect, contains), heard, "no user message or result holds" },
	{ offsetof(struct script_expect, lacks), not_heard, "a user message or result holds" },
	{ offsetof(struct script_expect, last_contains), heard_last, "the last user message or result does not hold" },
	{ offsetof(struct script_expect, tools_offered), offered, "the agent does not offer the tool" },
};
/* clang-format on */

static const struct strv *wanted(const struct script_turn *t, size_t i)
{
	return (const struct strv *)((const char *)&t->expect + expectations[i].off);
}

/* Remember the expectation that failed, on one line. */
static void unmet(struct script_turn *t, const char *why, const char *text)
{
	auto_buf b = BUF_INIT(4096);

	buf_addf(&b, "%s \"", why);
	json_escape(&b, text, strnlen(text, 200));
	buf_addc(&b, '"');
	free(t->why);
	t->why = buf_steal(&b, NULL);
}

static void look(struct script_turn *t, const struct api_request *q)
{
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct strv *sv = wanted(t, i);

		strv_each (k, sv) {
			if (expectations[i].holds(q, sv->v[k]))
				continue;
			unmet(t, expectations[i].why, sv->v[k]);
			return;
		}
	}
	t->met = true;
}

/* Look at what the model would see: the request as edited, user messages in it. */
static void look_at(struct script_turn *t, const struct ask *a)
{
	struct api_request own = { 0 };

	if (a->body && a->body != a->q->body &&
	    api_request_read(&own, a->q->api, a->q->route, a->path, a->body, a->n, NULL) == 0)
		look(t, &own);
	else
		look(t, a->q);
	api_request_done(&own);
}

/* --- answers --- */

/* Ids are unique in a conversation: a script that goes on where another source ended (fork) must not use its
 * ids again, or clients take its calls for those. */
static void number_calls(const struct script *s, struct api_answer *ans)
{
	size_t turn;

	if (!s->before || !ans->n_calls || sscanf(ans->calls[0].id, "call_%zu_", &turn) != 1)
		return;
	ans->calls = mem_dup(ans->calls, ans->n_calls * sizeof(*ans->calls));
	for (size_t i = 0; i < ans->n_calls; i++)
		ans->calls[i].id = mem_printf("call_%zu_%zu", s->before + turn, i + 1);
}

static void write_answer(const struct script *s, const struct ask *a, const struct script_turn *t,
			 struct reply *r)
{
	struct api_answer ans = { .complete = true,
				  .finish = (enum api_finish)t->finish,
				  .usage = t->usage,
				  .text = t->text,
				  .calls = t->calls,
				  .n_calls = t->n_calls };
	auto_free char *model = mem_strdup(a->model);

	number_calls(s, &ans);
	ans.model = model;
	r->status = 200;
	r->sse = a->q->stream;
	a->q->api->write(&ans, a->q, a->call, &r->body);
	if (ans.calls != t->calls) {
		for (size_t i = 0; i < ans.n_calls; i++)
			free(ans.calls[i].id);
		free(ans.calls);
	}
}

static void write_side(const struct script *s, const struct ask *a, struct reply *r)
{
	struct script_turn t = { .text = s->text.side,
				 .usage = s->text.side_usage,
				 .finish = FINISH_STOP };

	if (a->q->route != API_ROUTE_COUNT) {
		write_answer(s, a, &t, r);
		return;
	}
	r->status = 200;
	a->q->api->count(api_estimate(a->q), &r->body);
}

/* Shorten the body to @n bytes. */
static void cut_to(struct buf *b, size_t n)
{
	if (n >= b->len)
		return;
	b->len = n;
	b->data[n] = '\0';
}

/* Without the last event of a stream, or the last byte of a body. */
static void cut_end(struct reply *r)
{
	struct buf *b = &r->body;
	size_t n = b->len;

	while (n && b->data[n - 1] == '\n')
		n--;
	if (!r->sse) {
		cut_to(b, n ? n - 1 : 0);
		return;
	}
	while (n && !(n > 1 && b->data[n - 1] == '\n' && b->data[n - 2] == '\n'))
		n--;
	cut_to(b, n);
}

static void add_comments(struct reply *r)
{
	size_t n, from = 0;
	auto_free char *old = buf_steal(&r->body, &n);

	if (!r->sse) {
		buf_add(&r->body, old, n);
		return;
	}
	buf_adds(&r->body, COMMENT);
	for (size_t i = 1; i < n; i++) {
		if (old[i] != '\n' || old[i - 1] != '\n')
			continue;
		buf_add(&r->body, old + from, i + 1 - from);
		buf_adds(&r->body, COMMENT);
		from = i + 1;
	}
	buf_add(&r->body, old + from, n - from);
}

static void write_fault(const struct ask *a, const struct script_fault *f, struct reply *r)
{
	if (f->status) {
		buf_clear(&r->body);
		r->status = (int)f->status;
		r->sse = false;
		r->retry_after = (unsigned)((f->retry_after + CLOCK_SEC - 1) / CLOCK_SEC);
		a->q->api->error(r->status, f->message ? f->message : "a fault of the script",
				 &r->body);
	}
	if (f->comments)
		add_comments(r);
	if (f->no_end)
		cut_end(r);
	if (f->cut >= 0)
		cut_to(&r->body, (size_t)((double)r->body.len * f->cut));
}

/* --- time --- */

static void drop(struct pending *p)
{
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	if (p->timer)
		event_free(p->timer);
	reply_done(&p->reply);
	free(p);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct pending *p = arg;
	struct ask a = p->ask;
	struct reply r = p->reply;

	(void)fd;
	(void)what;
	/* gone before done() runs: it may free the source */
	p->reply = (struct reply){ 0 };
	drop(p);
	if (r.status)
		r.t_first = clock_mono();
	source_answer(&a, &r);
}

/* Give @r (moved in) after @wait ns. */
static void answer_later(struct script *s, const struct ask *a, struct reply *r, uint64_t wait)
{
	struct pending *p = mem_zalloc(1, sizeof(*p));
	struct timeval tv = { .tv_sec = (time_t)(wait / CLOCK_SEC),
			      .tv_usec = (suseconds_t)(wait % CLOCK_SEC / 1000) };

	*p = (struct pending){ .ask = *a, .reply = *r };
	*r = (struct reply){ 0 };
	p->next = s->pending;
	p->link = &s->pending;
	if (p->next)
		p->next->link = &p->next;
	s->pending = p;
	p->timer = s->base ? evtimer_new(s->base, on_time, p) : NULL;
	if (!p->timer || evtimer_add(p->timer, &tv) < 0) {
		struct ask copy = *a;

		drop(p);
		source_refuse(&copy, true, "the script's pause cannot be made: no timer");
	}
}

static void deliver(struct script *s, const struct ask *a, struct reply *r,
		    const struct script_turn *t, bool silent)
{
	uint64_t now = clock_mono(), left = a->deadline > now ? a->deadline - now : 0;

	if (silent || t->delay > left) {
		/* as a live endpoint that lets the time for an answer pass */
		struct reply none = { .body = BUF_INIT(0), .tries = 1, .reached = true };

		reply_done(r);
		memcpy(none.why, "no answer came in time", sizeof("no answer came in time"));
		answer_later(s, a, &none, left);
	} else if (t->delay) {
		answer_later(s, a, r, t->delay);
	} else {
		r->t_first = now;
		source_answer(a, r);
	}
}

/* --- the source --- */

static void script_ask(void *impl, const struct ask *a)
{
	struct script *s = impl;
	struct reply r = { .body = BUF_INIT(API_BODY_MAX), .tries = 1 };
	struct script_turn end = { .text = (char[]){ "Done." },
				   .usage = s->text.usage,
				   .finish = FINISH_STOP };
	struct script_turn *t = &end;
	size_t runs = runs_of(a->q), turn;
	bool faulty = false;

	if (a->purpose == PURPOSE_MAIN && !s->begun) {
		s->begun = true;
		s->before = runs;
	}
	turn = runs > s->before ? runs - s->before : 0;
	/* Each message of the simulated user is a conversation of its own: they are counted. */
	if (a->purpose == PURPOSE_SIMULATOR)
		turn = a->call ? (size_t)a->call - 1 : 0;

	if (a->purpose != PURPOSE_MAIN && a->purpose != PURPOSE_SIMULATOR) {
		write_side(s, a, &r);
	} else {
		if (turn < s->text.n_turns) {
			t = &s->text.turns[turn];
			t->asked++;
			look_at(t, a);
			faulty = t->faulty && t->asked <= t->fault.times;
		}
		write_answer(s, a, t, &r);
		if (faulty)
			write_fault(a, &t->fault, &r);
	}
	if (r.body.full) {
		reply_done(&r);
		source_refuse(a, true, "an answer of the script is larger than any may be");
		return;
	}
	deliver(s, a, &r, t, faulty && t->fault.silence);
}

static void script_free(void *impl)
{
	struct script *s = impl;

	while (s->pending)
		drop(s->pending);
	script_text_done(&s->text);
	free(s);
}

static size_t script_unmet(void *impl, struct buf *out)
{
	const struct script *s = impl;
	size_t n = 0;

	for (size_t i = 0; i < s->text.n_turns; i++) {
		const struct script_turn *t = &s->text.turns[i];
		size_t expected = 0;

		for (size_t k = 0; k < ARRAY_SIZE(expectations); k++)
			expected += wanted(t, k)->n;
		if (t->met || !expected)
			continue;
		n++;
		buf_addf(out, "turn %zu: %s\n", i + 1, t->why ? t->why : "never reached");
	}
	return n;
}

static const struct source_ops script_ops = {
	.name = "script",
	.ask = script_ask,
	.unmet = script_unmet,
	.free = script_free,
};

int script_open(const char *name, const char *text, size_t n, const struct agent *agent,
		const char *workdir, struct event_base *base, struct source *ret, struct err *err)
{
	struct script_text t = { 0 };
	struct script *s;
	int rc = script_text_read(name, text, n, agent, workdir, &t, err);

	if (rc < 0)
		return rc;
	s = mem_zalloc(1, sizeof(*s));
	s->text = t;
	s->base = base;
	*ret = (struct source){ .impl = s, .ops = &script_ops };
	return 0;
}
