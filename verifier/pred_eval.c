/* Predicates about matches: windows, order, and why. */
#include <string.h>

#include "base/mem.h"
#include "verifier/pred_internal.h"

enum { OUTSIDE = 3 };

/* A point of the run: what happened there lies between two records. */
struct place {
	uint64_t begin, end;
	bool there;
};

uint64_t pred_begin(const struct pred_set *set, uint64_t n)
{
	uintptr_t begin = (uintptr_t)map_get(&set->begin, n);

	return begin ? begin : n;
}

static struct place at_record(const struct pred_set *set, uint64_t n)
{
	return (struct place){ n ? pred_begin(set, n) : 0, n, n != 0 };
}

uint64_t pred_span_next(const struct pred_set *set, const struct pred_match *m,
			const struct pred_span *s, uint64_t from)
{
	uint64_t n = from > s->after ? from : s->after;

	if (s->empty)
		return UINT64_MAX;
	do {
		n = pred_bits_next(&m->hits, n + 1);
	} while (n < s->before && pred_begin(set, n) <= s->after);
	return n < s->before ? n : UINT64_MAX;
}

/* The last record of @m in the window, 0 = none. */
static uint64_t span_last(const struct pred_set *set, const struct pred_match *m,
			  const struct pred_span *s)
{
	uint64_t n = s->empty ? 0 : s->before;

	do {
		n = pred_bits_before(&m->hits, n);
	} while (n > s->after && pred_begin(set, n) <= s->after);
	return n > s->after ? n : 0;
}

static struct place place_of(const struct pred_set *set, const struct pred_ref *r)
{
	const struct pred_facts *f = &set->facts;
	const uint64_t known[REF_MAX] = { [REF_FORK] = f->fork,
					  [REF_UPDATE] = f->update,
					  [REF_TOLD] = f->told,
					  [REF_RECORD] = r->n <= f->last_n ? r->n : 0 };
	struct pred_window w = { .after = r->after, .before = r->before };
	struct pred_span s;
	uint64_t n;

	switch (r->kind) {
	case REF_START:
		return (struct place){ 0, 0, true };
	case REF_END:
		return (struct place){ UINT64_MAX, UINT64_MAX, true };
	case REF_MUTATION:
		return (struct place){ f->mutation_asked, f->mutation, f->mutation != 0 };
	case REF_FIRST:
		pred_span_of(set, &w, &s);
		n = pred_span_next(set, r->match, &s, 0);
		return at_record(set, n == UINT64_MAX ? 0 : n);
	case REF_LAST:
		pred_span_of(set, &w, &s);
		return at_record(set, span_last(set, r->match, &s));
	default:
		return at_record(set, known[r->kind]);
	}
}

static const char *ref_name(const struct pred_ref *r)
{
	static const char *const names[REF_MAX] = { "the start",
						    "the fork",
						    "the update",
						    "the message's arrival",
						    "the step of the first change",
						    "the end",
						    "the first match",
						    "the last match",
						    "that record" };

	return r ? names[r->kind] : "";
}

static uint32_t time_at(const struct pred_set *set, uint64_t n)
{
	return n < set->n_ms ? set->ms[n] : set->n_ms ? set->ms[set->n_ms - 1] : 0;
}

/* The first record later than @ms, n_ms when there is none. */
static uint64_t first_later(const struct pred_set *set, uint64_t ms)
{
	size_t lo = 0, hi = set->n_ms;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (set->ms[mid] > ms)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Times make the window narrower. */
static void narrow(const struct pred_set *set, const struct pred_window *w, struct pred_span *s)
{
	uint64_t begin = time_at(set, s->from), n;

	if (s->empty || s->from == UINT64_MAX)
		return;
	if (w->within) {
		n = first_later(set, begin + w->within);
		if (n < set->n_ms && n < s->before)
			s->before = n;
	}
	if (w->at_least) {
		n = first_later(set, begin + w->at_least - 1);
		if (n > s->after + 1)
			s->after = n - 1;
	}
}

void pred_span_of(const struct pred_set *set, const struct pred_window *w, struct pred_span *ret)
{
	struct place p;

	*ret = (struct pred_span){ .before = UINT64_MAX };
	if (w->after) {
		p = place_of(set, w->after);
		ret->empty = !p.there;
		ret->why = p.there ? NULL : ref_name(w->after);
		ret->after = p.end;
	}
	if (w->before) {
		p = place_of(set, w->before);
		if (p.there)
			ret->before = p.begin;
	}
	ret->from = ret->after;
	ret->to = ret->before;
	if (w->within || w->at_least)
		narrow(set, w, ret);
}

/* "behind record 30 (the update) and in front of record 52 (the first change)" */
static void say_window(struct buf *b, const struct pred_window *w, const struct pred_span *s)
{
	if (s->empty) {
		buf_addf(b, "behind %s, which this run does not have", s->why);
		return;
	}
	if (!s->from && s->to == UINT64_MAX)
		buf_adds(b, "in the whole run");
	if (s->from)
		buf_addf(b, "behind record %llu (%s)", (unsigned long long)s->from,
			 ref_name(w->after));
	if (s->to != UINT64_MAX)
		buf_addf(b, "%sin front of record %llu (%s)", s->from ? " and " : "",
			 (unsigned long long)s->to, ref_name(w->before));
	if (w->at_least)
		buf_addf(b, ", not earlier than %u ms", w->at_least);
	if (w->within)
		buf_addf(b, ", not later than %u ms", w->within);
}

/* The window of part @at, and what of @m lies in it and around it. Returns how many lie in it. */
static uint64_t look(const struct pred_set *set, const struct pred_match *m,
		     const struct pred_span *s, struct pred_part *part)
{
	uint64_t n;

	part->windowed = true;
	part->after = s->after;
	part->before = s->before;
	for (n = pred_span_next(set, m, s, 0); n != UINT64_MAX; n = pred_span_next(set, m, s, n)) {
		if (part->records.n < PRED_PROOF_MAX)
			part->records.v[part->records.n++] = n;
		part->records.total++;
	}
	n = s->empty ? UINT64_MAX : s->after + 1;
	for (int i = 0; i < OUTSIDE && (n = pred_bits_before(&m->hits, n)) != 0; i++)
		pred_records_add(&part->outside, n);
	n = s->before;
	for (int i = 0; i < OUTSIDE && n != UINT64_MAX; i++) {
		n = pred_bits_next(&m->hits, n);
		if (n != UINT64_MAX)
			pred_records_add(&part->outside, n++);
	}
	return part->records.total;
}

/* How many, where, and what was close. */
static void say_found(struct pred_finding *f, size_t at, const struct pred_window *w,
		      const struct pred_span *s)
{
	const struct pred_part *p = &f->v[at];
	auto_buf where = BUF_INIT(1024), near = BUF_INIT(1024);

	say_window(&where, w, s);
	for (size_t i = 0; i < p->outside.n; i++)
		buf_addf(&near, "%s%llu",
			 i ? ", " : "; outside of it: ", (unsigned long long)p->outside.v[i]);
	if (p->records.total)
		pred_part_say(f, at, "%llu match%s %s, the first is %llu",
			      (unsigned long long)p->records.total,
			      p->records.total == 1 ? "es" : "", buf_str(&where),
			      (unsigned long long)p->records.v[0]);
	else
		pred_part_say(f, at, "nothing matches %s%s", buf_str(&where), buf_str(&near));
}

int pred_exists_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		     struct err *err)
{
	struct pred_span s;

	(void)err;
	pred_span_of(set, &p->w, &s);
	f->v[at].ok = look(set, p->match, &s, &f->v[at]) > 0;
	say_found(f, at, &p->w, &s);
	return 0;
}

int pred_absent_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		     struct err *err)
{
	int rc = pred_exists_eval(set, p, f, at, err);

	f->v[at].ok = !f->v[at].ok;
	return rc;
}

int pred_count_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err)
{
	auto_buf where = BUF_INIT(1024), asked = BUF_INIT(128);
	struct pred_span s;
	uint64_t n;

	(void)err;
	pred_span_of(set, &p->w, &s);
	n = look(set, p->match, &s, &f->v[at]);
	f->v[at].ok = n >= p->min && n <= p->max;
	say_window(&where, &p->w, &s);
	if (p->min)
		buf_addf(&asked, " at least %llu", (unsigned long long)p->min);
	if (p->max != UINT64_MAX)
		buf_addf(&asked, "%s at most %llu", p->min ? " and" : "",
			 (unsigned long long)p->max);
	pred_part_say(f, at, "%llu match %s; asked for:%s", (unsigned long long)n, buf_str(&where),
		      buf_str(&asked));
	return 0;
}

/* Did one of the texts come to the model in the window, and never before it? A part of its own. */
static int reach(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		 struct err *err)
{
	auto_free uint64_t *first = mem_zalloc(p->reached.n, sizeof(*first));
	size_t k = pred_part_add(f, f->v[at].depth + 1, "reached the model");
	struct pred_span s;
	uint64_t from, to, old = 0;
	int rc;

	f->v[k].ok = !set->run->model;
	pred_part_say(f, k, "the agent has no model API: what it was shown is not known");
	if (!set->run->model)
		return 0;
	pred_span_of(set, &p->w, &s);
	from = pred_call_at(set, s.after);
	to = s.before == UINT64_MAX ? UINT64_MAX : pred_call_at(set, s.before);
	rc = pred_reached(set->run->dir, &p->reached, to, first, err);
	if (rc < 0)
		return rc;
	strv_each (i, &p->reached) {
		old += first[i] <= from;
		if (first[i] <= from || first[i] == UINT64_MAX || f->v[k].ok)
			continue;
		f->v[k].ok = true;
		pred_part_say(f, k, "\"%s\" came to the model with its call %llu", p->reached.v[i],
			      (unsigned long long)first[i]);
	}
	if (!f->v[k].ok && to == UINT64_MAX)
		pred_part_say(f, k, "none of it came to the model behind call %llu",
			      (unsigned long long)from);
	else if (!f->v[k].ok)
		pred_part_say(f, k, "none of it came to the model between calls %llu and %llu",
			      (unsigned long long)from, (unsigned long long)to);
	if (!f->v[k].ok && old)
		pred_part_say(f, k, "%llu of the texts were there before and prove nothing",
			      (unsigned long long)old);
	return 0;
}

int pred_seen_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err)
{
	int rc = pred_exists_eval(set, p, f, at, err);
	const struct pred_facts *facts = &set->facts;
	auto_free char *was = NULL;

	if (rc == 0 && f->v[at].ok && p->reached.n) {
		size_t k = f->n;

		rc = reach(set, p, f, at, err);
		f->v[at].ok = rc == 0 && f->v[k].ok;
		if (rc == 0 && !f->v[k].ok)
			pred_part_say(f, at,
				      "it looked, but its result did not reach the model: %s",
				      f->v[k].reason);
	}
	was = mem_strdup(f->v[at].reason);
	if (rc == 0 && facts->update && !facts->mutation)
		pred_part_say(f, at, "%s; the agent changed nothing behind the update", was);
	return rc;
}

/* Records of the steps of @p that are in @in, each the first that lies behind those of what it needs (of @in): the
 * earliest choice leaves the most room. The number of the first step that has none, or n_steps. */
static size_t assign(const struct pred_set *set, const struct pred *p, const struct pred_span *s,
		     uint64_t in, uint64_t *record, struct pred_span *ret)
{
	for (size_t i = 0; i < p->n_steps; i++) {
		struct pred_span w = *s;

		if (!(in >> i & 1))
			continue;
		for (size_t k = 0; k < i; k++)
			if ((p->step[i].needs & in) >> k & 1 && record[k] > w.after)
				w.after = record[k];
		record[i] = pred_span_next(set, p->step[i].match, &w, 0);
		*ret = w;
		if (record[i] == UINT64_MAX)
			return i;
	}
	return p->n_steps;
}

static const struct pred_step *last_need(const struct pred *p, size_t i, uint64_t in,
					 const uint64_t *record)
{
	const struct pred_step *best = NULL;
	uint64_t most = 0;

	for (size_t k = 0; k < i; k++) {
		if (!((p->step[i].needs & in) >> k & 1) || record[k] < most)
			continue;
		most = record[k];
		best = &p->step[k];
	}
	return best;
}

/* A part for each step up to @upto that is in @in. */
static void say_steps(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		      uint64_t in, const uint64_t *record, size_t upto)
{
	unsigned depth = f->v[at].depth + 1;

	for (size_t i = 0; i < p->n_steps; i++) {
		const struct pred_step *s = &p->step[i];
		auto_free char *asked = mem_printf("%s: %s", s->id, s->match->text);
		size_t k = pred_part_add(f, depth, asked);

		if (i < upto && (in >> i & 1)) {
			f->v[k].ok = true;
			pred_records_add(&f->v[k].records, record[i]);
			pred_records_add(&f->v[at].records, record[i]);
			pred_part_say(f, k, "record %llu", (unsigned long long)record[i]);
		} else if (i > upto) {
			pred_part_say(f, k, "not looked for: a step before it is missing");
		} else {
			uint64_t n = pred_bits_next(&s->match->hits, 0);

			for (int o = 0; o < 2 * OUTSIDE && n != UINT64_MAX; o++) {
				pred_records_add(&f->v[k].outside, n);
				n = pred_bits_next(&s->match->hits, n + 1);
			}
			pred_part_say(f, k, "no record of it at its place (%llu in the whole run)",
				      (unsigned long long)s->match->hits.count);
		}
	}
	(void)set;
}

int pred_order_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err)
{
	uint64_t record[PRED_STEPS_MAX], all = ~0ull;
	auto_buf where = BUF_INIT(1024);
	struct pred_span s, last;
	size_t upto;

	(void)err;
	pred_span_of(set, &p->w, &s);
	last = s;
	upto = assign(set, p, &s, all, record, &last);
	f->v[at].windowed = true;
	f->v[at].after = s.after;
	f->v[at].before = s.before;
	f->v[at].ok = upto == p->n_steps;
	say_window(&where, &p->w, &s);
	if (f->v[at].ok) {
		pred_part_say(f, at, "all %zu steps in order %s", p->n_steps, buf_str(&where));
	} else {
		const struct pred_step *need = last_need(p, upto, all, record);

		if (need)
			pred_part_say(
				f, at,
				"step \"%s\" has no record behind record %llu (step \"%s\") %s",
				p->step[upto].id, (unsigned long long)last.after, need->id,
				buf_str(&where));
		else
			pred_part_say(f, at, "step \"%s\" has no record %s", p->step[upto].id,
				      buf_str(&where));
	}
	say_steps(set, p, f, at, all, record, upto);
	if (upto < p->n_steps) {
		struct pred_part *step = &f->v[at + 1 + upto];

		step->windowed = true;
		step->after = last.after;
		step->before = last.before;
	}
	return 0;
}

/* Steps that have any record in the window. */
static uint64_t candidates(const struct pred_set *set, const struct pred *p,
			   const struct pred_span *s)
{
	uint64_t in = 0;

	for (size_t i = 0; i < p->n_steps; i++)
		if (pred_span_next(set, p->step[i].match, s, 0) != UINT64_MAX)
			in |= 1ull << i;
	return in;
}

int pred_milestones(struct pred_set *set, const struct pred *p, struct pred_finding *ret,
		    uint64_t *ret_matched, uint64_t *ret_of, struct err *err)
{
	uint64_t record[PRED_STEPS_MAX], best = 0;
	size_t at = pred_part_add(ret, 0, p->text);
	struct pred_span s, last;
	uint64_t able;

	(void)err;
	ensure(p->n_steps <= PRED_MILESTONES_MAX, "milestones are few");
	pred_span_of(set, &p->w, &s);
	able = candidates(set, p, &s);
	/* Every choice among those that can be matched, at most 2^PRED_MILESTONES_MAX. */
	for (uint64_t in = able; in; in = (in - 1) & able) {
		if (__builtin_popcountll(in) <= __builtin_popcountll(best))
			continue;
		if (assign(set, p, &s, in, record, &last) == p->n_steps)
			best = in;
	}
	(void)assign(set, p, &s, best, record, &last); /* its records again */
	*ret_matched = (uint64_t)__builtin_popcountll(best);
	*ret_of = p->n_steps;
	ret->v[at].ok = *ret_matched == *ret_of;
	pred_part_say(ret, at, "%llu of %llu milestones matched in order",
		      (unsigned long long)*ret_matched, (unsigned long long)*ret_of);
	say_steps(set, p, ret, at, best, record, p->n_steps);
	return 0;
}
