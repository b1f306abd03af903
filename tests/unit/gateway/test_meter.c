/* meter.c: no limit can be passed, whatever is under way; waiting ends; costs and their absence. */
#include "gateway/meter.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

enum { EIGHT = 8 };

/* $2 in, $10 out, $0.20 from and $2.50 into the cache, each per million. */
static struct prices *the_prices(void)
{
	static const char text[] =
		"{\"schema\":\"proctor.prices/1\",\"prices\":[{\"model\":\"m\",\"input\":2,"
		"\"output\":10,\"cached\":0.2,\"cache_write\":2.5},"
		"{\"model\":\"free\",\"input\":0,\"output\":0}]}";
	struct prices *p = NULL;
	struct err err = { 0 };

	if (prices_parse("p", text, strlen(text), &p, &err) < 0)
		abort();
	return p;
}

static struct meter made(enum limit_kind kind, uint64_t max, const struct prices *p)
{
	struct limits l = { .max = { [LIMIT_WALL] = 1, [LIMIT_MEMORY] = 1 } };
	struct meter m;

	l.max[kind] = max;
	meter_init(&m, &l, p);
	return m;
}

static bool nothing_held(const struct meter *m)
{
	for (size_t i = 0; i < LIMIT_MAX; i++) {
		if (m->reserved[i])
			return false;
	}
	return m->flying == 0;
}

/* Eight clients call as long as they are let; every call uses all that it was granted. Calls settle in
 * an order of their own. Returns how many went. */
static unsigned swarm(struct meter *m, uint64_t input, uint64_t max_output, unsigned *waits)
{
	struct hold_tokens hold[EIGHT] = { 0 };
	uint64_t grant[EIGHT], micro;
	enum limit_kind which = LIMIT_MAX;
	unsigned went = 0, turn = 0;
	bool spent = false, over = false;

	*waits = 0;
	while (!spent || m->flying) {
		for (size_t i = 0; i < EIGHT && !spent; i++) {
			uint64_t cap = 0;
			enum meter_say say;

			if (hold[i].held)
				continue;
			say = meter_reserve(m, "m", input, max_output, &hold[i], &cap, &which);
			spent = say == METER_SPENT;
			*waits += say == METER_WAIT;
			if (say == METER_WAIT && !m->flying)
				return 0; /* would never end */
			if (say != METER_GO)
				break;
			went++;
			grant[i] = cap ? cap : max_output ? max_output : 5000;
		}
		for (size_t k = 0; k < EIGHT; k++) {
			size_t i = (turn * 5 + k) % EIGHT;
			struct api_usage u = { .known = true, .input = input };

			if (!hold[i].held)
				continue;
			u.output = grant[i];
			u.cache_write = turn % 2 ? input : 0; /* the dearest a token can be */
			meter_settle(m, &hold[i], "m", &u, 0, &micro);
			break;
		}
		for (size_t i = 0; i < LIMIT_MAX; i++)
			over = over || (i >= LIMIT_MODEL_CALLS && m->limit.max[i] &&
					(m->used[i] > m->limit.max[i] ||
					 m->used[i] + m->reserved[i] > m->limit.max[i]));
		if (turn++ > 100000)
			return 0;
	}
	tap_ok(!over, "no limit was passed at any time");
	tap_ok(m->limit.max[which], "the limit that was spent is one that is set");
	return went;
}

static void eight_at_once(const struct prices *p)
{
	static const struct {
		const char *name;
		enum limit_kind kind;
		uint64_t max, input, output;
		uint64_t least; /* of the limit must have been used */
	} rows[] = {
		{ "calls", LIMIT_MODEL_CALLS, 20, 1000, 100, 20 },
		{ "one call", LIMIT_MODEL_CALLS, 1, 1000, 100, 1 },
		{ "input", LIMIT_INPUT_TOKENS, 10500, 1000, 100, 10000 },
		{ "output", LIMIT_OUTPUT_TOKENS, 10050, 10, 1000, 10050 },
		{ "output, length not said", LIMIT_OUTPUT_TOKENS, 500000, 10, 0, 499985 },
		{ "total", LIMIT_TOTAL_TOKENS, 100000, 3000, 1000, 96000 },
		{ "total, length not said", LIMIT_TOTAL_TOKENS, 300000, 3000, 0, 296985 },
		{ "dollars", LIMIT_DOLLARS, 1000000, 20000, 1000, 900000 },
		{ "dollars, length not said", LIMIT_DOLLARS, 3000000, 20000, 0, 2900000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct meter m = made(rows[i].kind, rows[i].max, p);
		unsigned waits, went = swarm(&m, rows[i].input, rows[i].output, &waits);

		tap_ok(went > 0, "%s: %u calls went, %u waited", rows[i].name, went, waits);
		tap_ok(m.used[rows[i].kind] >= rows[i].least, "%s: most of the limit was used",
		       rows[i].name);
		tap_ok(m.used[LIMIT_MODEL_CALLS] == went && nothing_held(&m), "%s: all is settled",
		       rows[i].name);
	}
}

static void waiting(const struct prices *p)
{
	struct meter m = made(LIMIT_MODEL_CALLS, 2, p);
	struct hold_tokens a, b, c;
	enum limit_kind which;
	uint64_t cap, micro;
	struct api_usage u = { .known = true, .input = 10, .output = 10 };

	tap_ok(meter_reserve(&m, "m", 10, 10, &a, &cap, &which) == METER_GO, "first");
	tap_ok(meter_reserve(&m, "m", 10, 10, &b, &cap, &which) == METER_GO, "second");
	tap_ok(meter_reserve(&m, "m", 10, 10, &c, &cap, &which) == METER_WAIT && !c.held,
	       "the third waits");
	meter_cancel(&m, &a);
	tap_is_u64(m.used[LIMIT_MODEL_CALLS], 0, "a cancelled call is given back");
	tap_ok(meter_reserve(&m, "m", 10, 10, &c, &cap, &which) == METER_GO, "now it goes");
	meter_settle(&m, &b, "m", &u, 0, &micro);
	meter_settle(&m, &c, "m", &u, 0, &micro);
	which = LIMIT_MAX;
	tap_ok(meter_reserve(&m, "m", 10, 10, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_MODEL_CALLS,
	       "then the calls are spent");
	meter_cancel(&m, &a);
	tap_ok(nothing_held(&m), "cancelling what holds nothing");

	/* 100 tokens left: a call that would get fewer only because of another waits */
	m = made(LIMIT_OUTPUT_TOKENS, 100, p);
	tap_ok(meter_reserve(&m, "m", 1, 60, &a, &cap, &which) == METER_GO && cap == 0, "60");
	tap_ok(meter_reserve(&m, "m", 1, 60, &b, &cap, &which) == METER_WAIT, "60 more wait");
	tap_ok(meter_reserve(&m, "m", 1, 40, &b, &cap, &which) == METER_GO, "40 more do not");
	u.output = 5;
	meter_settle(&m, &a, "m", &u, 0, &micro);
	meter_settle(&m, &b, "m", &u, 0, &micro);
	tap_ok(meter_reserve(&m, "m", 1, 100, &a, &cap, &which) == METER_GO && cap == 90,
	       "alone it is cut to what is left");
	tap_is_u64(a.output, 90, "and that is what it holds");
	meter_cancel(&m, &a);
}

static void caps(const struct prices *p)
{
	struct meter m = made(LIMIT_OUTPUT_TOKENS, 1000000, p);
	struct hold_tokens a;
	enum limit_kind which;
	uint64_t cap;

	tap_ok(meter_reserve(&m, "m", 1, 0, &a, &cap, &which) == METER_GO && cap == 0,
	       "plenty of room: as asked");
	meter_cancel(&m, &a);
	m.used[LIMIT_OUTPUT_TOKENS] = 900000;
	tap_ok(meter_reserve(&m, "m", 1, 0, &a, &cap, &which) == METER_GO && cap == 32768,
	       "less room: a cap that endpoints take");
	meter_cancel(&m, &a);
	m.used[LIMIT_OUTPUT_TOKENS] = 1000000 - 100;
	tap_ok(meter_reserve(&m, "m", 1, 0, &a, &cap, &which) == METER_GO && cap == 64,
	       "little room: %u", (unsigned)cap);
	meter_cancel(&m, &a);
	tap_ok(meter_reserve(&m, "m", 1, UINT64_MAX, &a, &cap, &which) == METER_GO && cap == 100,
	       "an absurd maximum is cut");
	meter_cancel(&m, &a);
	m.used[LIMIT_OUTPUT_TOKENS] = 1000000 - METER_LEAST;
	tap_ok(meter_reserve(&m, "m", 1, 500, &a, &cap, &which) == METER_GO && cap == METER_LEAST,
	       "the least");
	meter_cancel(&m, &a);
	m.used[LIMIT_OUTPUT_TOKENS]++;
	tap_ok(meter_reserve(&m, "m", 1, 500, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_OUTPUT_TOKENS,
	       "less than the least is nothing");
	tap_ok(meter_reserve(&m, "m", 1, 1, &a, &cap, &which) == METER_GO && cap == 0,
	       "who asks for one token may have it");
	meter_cancel(&m, &a);
	m = made(LIMIT_TOTAL_TOKENS, 1000, p);
	tap_ok(meter_reserve(&m, "m", 1000, 10, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_TOTAL_TOKENS,
	       "input that leaves no room for output");
	m = made(LIMIT_INPUT_TOKENS, 1000, p);
	tap_ok(meter_reserve(&m, "m", UINT64_MAX, 10, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_INPUT_TOKENS,
	       "endless input");
	tap_ok(nothing_held(&m), "nothing is held");
}

static void money(const struct prices *p)
{
	struct api_usage u = {
		.known = true, .input = 1000, .cached = 600, .cache_write = 100, .output = 50
	};
	struct meter m = made(LIMIT_DOLLARS, 1000000, p);
	struct hold_tokens a;
	enum limit_kind which = LIMIT_MAX;
	uint64_t cap, micro;

	tap_ok(meter_reserve(&m, "nobody", 1, 1, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_DOLLARS,
	       "an unknown price is not zero");
	which = LIMIT_MAX;
	tap_ok(meter_reserve(&m, NULL, 1, 1, &a, &cap, &which) == METER_SPENT &&
		       which == LIMIT_DOLLARS,
	       "nor is that of no model");
	tap_ok(meter_reserve(&m, "m", 1000, 100, &a, &cap, &which) == METER_GO, "a known one");
	tap_is_u64(a.micro, 2500 + 1000, "holds the dearest it can be");
	meter_settle(&m, &a, "m", &u, 0, &micro);
	tap_is_u64(micro, 600 + 120 + 250 + 500, "300 plain, 600 cached, 100 written, 50 out");
	tap_is_u64(m.used[LIMIT_DOLLARS], micro, "dollars");
	tap_is_u64(m.cached, 600, "cached tokens");
	tap_is_u64(m.used[LIMIT_TOTAL_TOKENS], 1050, "tokens");
	tap_ok(meter_reserve(&m, "free", 1000, 100, &a, &cap, &which) == METER_GO, "a free model");
	meter_settle(&m, &a, "free", &u, 0, &micro);
	tap_is_u64(micro, 0, "costs nothing");

	m = made(LIMIT_MODEL_CALLS, 100, p);
	tap_ok(meter_reserve(&m, "nobody", 70, 100, &a, &cap, &which) == METER_GO,
	       "without a dollar limit an unknown price is fine");
	meter_settle(&m, &a, "nobody", NULL, 33, &micro);
	tap_ok(micro == UINT64_MAX && m.unknown_cost == 1, "and the cost is unknown");
	tap_is_u64(m.used[LIMIT_INPUT_TOKENS], 70, "no usage: the estimate counts");
	tap_is_u64(m.used[LIMIT_OUTPUT_TOKENS], 33, "and what was written");
	u.known = false;
	meter_reserve(&m, "m", 70, 100, &a, &cap, &which);
	meter_settle(&m, &a, "m", &u, 10, &micro);
	tap_is_u64(micro, 140 + 100, "usage that is not known is not used");
	m = made(LIMIT_DOLLARS, 5, NULL);
	tap_ok(meter_reserve(&m, "m", 1, 1, &a, &cap, &which) == METER_SPENT, "no price table");
}

static void saturation(const struct prices *p)
{
	struct api_usage u = { .known = true,
			       .input = UINT64_MAX,
			       .cached = UINT64_MAX,
			       .cache_write = UINT64_MAX,
			       .output = UINT64_MAX };
	struct meter m = made(LIMIT_WALL, 1, p);
	struct hold_tokens a[EIGHT];
	enum limit_kind which = LIMIT_MAX;
	uint64_t cap, micro;

	for (size_t i = 0; i < EIGHT; i++)
		tap_ok(meter_reserve(&m, "m", UINT64_MAX, UINT64_MAX, &a[i], &cap, &which) ==
			       METER_GO,
		       "no limit");
	for (size_t i = 0; i < EIGHT; i++)
		meter_settle(&m, &a[i], "m", &u, 0, &micro);
	tap_is_u64(micro, UINT64_MAX, "a cost beyond all numbers");
	tap_is_u64(m.used[LIMIT_TOTAL_TOKENS], UINT64_MAX, "tokens stay at the top");
	tap_is_u64(m.used[LIMIT_DOLLARS], UINT64_MAX, "dollars too");
	tap_is_u64(m.cached, UINT64_MAX, "cached too");
	tap_ok(nothing_held(&m), "nothing is held");
	m.limit.max[LIMIT_DOLLARS] = UINT64_MAX;
	tap_ok(meter_reserve(&m, "m", 1, 1, &a[0], &cap, &which) == METER_SPENT &&
		       which == LIMIT_DOLLARS,
	       "even the largest limit is then spent");
	m = made(LIMIT_DOLLARS, UINT64_MAX, p);
	tap_ok(meter_reserve(&m, "m", UINT64_MAX, 0, &a[0], &cap, &which) == METER_GO,
	       "the largest limit");
	meter_cancel(&m, &a[0]);
}

int main(void)
{
	struct prices *p = the_prices();

	eight_at_once(p);
	waiting(p);
	caps(p);
	money(p);
	saturation(p);
	prices_free(p);
	return tap_done();
}
