#include "gateway/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "gateway/canon.h"
#include "gateway/record.h"

struct replay {
	char *name; /* owned */
	bool loose, bounded;
	struct recorded_list list;   /* what is served, in the order of the calls */
	size_t next[PURPOSE_MAX];    /* where the search for a purpose's next one begins */
	uint64_t count[PURPOSE_MAX]; /* served of a purpose */
	struct source then;
};

/* Tell the difference, as one question's answer. */
static void refuse(const struct ask *a, bool end_run, const char *why)
{
	struct reply r = { .body = BUF_INIT(0), .tries = 1, .final = true, .end_run = end_run };

	snprintf(r.why, sizeof(r.why), "%s", why);
	source_answer(a, &r);
}

static void used_up(const struct replay *p, const struct ask *a)
{
	auto_free char *why = NULL;

	if (p->bounded)
		why = mem_printf("model call %llu: the first %zu answers of %s are used up and "
				 "nothing is to follow them",
				 (unsigned long long)a->call, p->list.n, p->name);
	else
		why = mem_printf("model call %llu: the record %s has no more than %llu calls of "
				 "purpose %s",
				 (unsigned long long)a->call, p->name,
				 (unsigned long long)p->count[a->purpose],
				 purpose_name(a->purpose));
	refuse(a, !p->loose && !p->bounded, why);
}

/* Does the question differ from the recorded one? The difference goes to @out. */
static bool differs(const struct replay *p, const struct recorded *r, const struct ask *a,
		    struct buf *out)
{
	const char *api = a->q->api->name;

	if (!str_eq(r->api, api)) {
		buf_addf(out, "API: recorded %.40s, now %.40s", r->api, api);
		return true;
	}
	/* The simulator asks for one body always; some endpoints send events all the same. */
	if (r->sse != a->q->stream && a->purpose != PURPOSE_SIMULATOR) {
		buf_addf(out, "answer: recorded %s, now asked for %s",
			 r->sse ? "as a stream" : "as one body",
			 a->q->stream ? "a stream" : "one body");
		/* an error is one body whatever was asked for */
		if (r->status == 200)
			return true;
		buf_clear(out);
	}
	return !p->loose &&
	       canon_diff(r->canonical, r->canonical_n, a->canonical, a->canonical_n, out) == 1;
}

static void serve(struct replay *p, const struct recorded *r, const struct ask *a)
{
	/* final: whatever the answer is, the next one belongs to the next question */
	struct reply reply = { .body = BUF_INIT(API_BODY_MAX), .tries = 1, .final = true };
	auto_buf diff = BUF_INIT(4096);

	if (differs(p, r, a, &diff)) {
		auto_free char *why =
			mem_printf("model call %llu (%s) is not call %llu of the record %s: %s",
				   (unsigned long long)a->call, purpose_name(a->purpose),
				   (unsigned long long)r->call, p->name, buf_str(&diff));

		refuse(a, !p->loose, why);
		return;
	}
	reply.recorded = true;
	reply.status = r->status;
	reply.sse = r->sse;
	reply.t_first = clock_mono();
	if (buf_add(&reply.body, r->answer, r->answer_n) < 0) {
		refuse(a, true, "a recorded answer is larger than any answer may be");
		return;
	}
	source_answer(a, &reply);
}

static void replay_ask(void *impl, const struct ask *a)
{
	struct replay *p = impl;
	size_t i = p->next[a->purpose];

	while (i < p->list.n && p->list.v[i].purpose != a->purpose)
		i++;
	if (i < p->list.n) {
		/* before the answer is given: done() may ask again */
		p->next[a->purpose] = i + 1;
		p->count[a->purpose]++;
		serve(p, &p->list.v[i], a);
		return;
	}
	p->next[a->purpose] = i;
	if (p->then.ops)
		p->then.ops->ask(p->then.impl, a);
	else
		used_up(p, a);
}

/* Recorded answers are given at once: a question that still waits was put to what follows. */
static void replay_cancel(void *impl, const struct ask *a)
{
	struct replay *p = impl;

	if (p->then.ops && p->then.ops->cancel)
		p->then.ops->cancel(p->then.impl, a);
}

static void replay_free(void *impl)
{
	struct replay *p = impl;

	recorded_done(&p->list);
	source_done(&p->then);
	free(p->name);
	free(p);
}

/* Of what follows the record. */
static size_t replay_unmet(void *impl, struct buf *out)
{
	const struct replay *p = impl;

	return p->then.ops && p->then.ops->unmet ? p->then.ops->unmet(p->then.impl, out) : 0;
}

static const char *replay_behind(void *impl)
{
	const struct replay *p = impl;

	return p->then.ops ? p->then.ops->name : "replay";
}

static const struct source_ops replay_ops = {
	.name = "replay",
	.ask = replay_ask,
	.cancel = replay_cancel,
	.unmet = replay_unmet,
	.behind = replay_behind,
	.free = replay_free,
};

static int by_call(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	return x->call < y->call ? -1 : x->call > y->call;
}

/* Lines stand in the order of the answers; what counts is the order of the questions. Keep the first
 * @upto that a model answered. */
static void choose(struct recorded_list *l, uint64_t upto)
{
	struct recorded_list drop = { 0 };
	size_t n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_call);
	drop.v = mem_alloc((l->n + 1) * sizeof(*drop.v));
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].from_gateway || n >= upto)
			drop.v[drop.n++] = l->v[i];
		else
			l->v[n++] = l->v[i];
	}
	l->n = n;
	recorded_done(&drop);
}

int replay_open(const char *name, const char *text, size_t n, bool loose, uint64_t upto,
		struct source then, struct source *ret, struct err *err)
{
	struct recorded_list list = { 0 };
	struct replay *p;
	int rc = record_read(name, text, n, &list, err);

	if (rc == 0) {
		choose(&list, upto);
		if (list.n == 0 && upto)
			rc = err_set(err, ERR_INPUT,
				     "%s: no answer of a model is recorded here; give the "
				     "model.jsonl of a run",
				     name);
	}
	if (rc < 0) {
		recorded_done(&list);
		source_done(&then);
		return rc;
	}
	p = mem_zalloc(1, sizeof(*p));
	p->name = mem_strdup(name);
	p->loose = loose;
	p->bounded = upto != UINT64_MAX;
	p->list = list;
	p->then = then;
	*ret = (struct source){ .impl = p, .ops = &replay_ops };
	return 0;
}
