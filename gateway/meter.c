#include "gateway/meter.h"

#include <string.h>

#include "base/mem.h"

enum {
	/* More than models write in one answer: room for this much needs no cap. */
	OUTPUT_PLENTY = 1 << 17,
	/* The cap for a client that named none when there is less room than that. A power of two
	 * that endpoints take: many refuse a maximum above what their model can write. */
	OUTPUT_CAP = 1 << 15,
};

/* Estimates are cut to this before they are added up: no sum of reservations can overflow. */
#define ESTIMATE_MAX (1ull << 40)

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void meter_init(struct meter *m, const struct limits *limit, const struct prices *prices)
{
	*m = (struct meter){ .limit = *limit, .prices = prices };
}

/* A call that asks to go. */
struct wish {
	const struct price *price; /* NULL unknown */
	uint64_t input, output;    /* output: at most so many, ESTIMATE_MAX when not said */
};

/* The dearest an input token can be: nobody knows yet what comes from the cache. */
static uint64_t input_rate(const struct price *p)
{
	uint64_t rate = p->input;

	rate = p->cached > rate ? p->cached : rate;
	return p->cache_write > rate ? p->cache_write : rate;
}

/* Room for output tokens below @left of a limit; *fits: the call may go at all. */
static uint64_t room_calls(const struct wish *w, uint64_t left, bool *fits)
{
	(void)w; /* every call is one */
	*fits = left > 0;
	return UINT64_MAX;
}

static uint64_t room_input(const struct wish *w, uint64_t left, bool *fits)
{
	*fits = left && w->input <= left;
	return UINT64_MAX;
}

static uint64_t room_output(const struct wish *w, uint64_t left, bool *fits)
{
	*fits = left >= least(w->output, METER_LEAST);
	return left;
}

static uint64_t room_total(const struct wish *w, uint64_t left, bool *fits)
{
	uint64_t room = sub(left, w->input);

	*fits = w->input < left && room >= least(w->output, METER_LEAST);
	return room;
}

static uint64_t room_dollars(const struct wish *w, uint64_t left, bool *fits)
{
	unsigned __int128 have, in, room;

	*fits = false;
	if (!w->price || !left)
		return 0;
	/* cost <= left exactly when input x rate + output x rate <= left x 10^6 */
	have = (unsigned __int128)left * 1000000u;
	in = (unsigned __int128)w->input * input_rate(w->price);
	if (in > have)
		return 0;
	room = w->price->output ? (have - in) / w->price->output : UINT64_MAX;
	*fits = room >= least(w->output, METER_LEAST);
	return room > UINT64_MAX ? UINT64_MAX : (uint64_t)room;
}

/* clang-format off */
static const struct {
	enum limit_kind kind;
	uint64_t (*room)(const struct wish *w, uint64_t left, bool *fits);
} rows[] = {
	{ LIMIT_MODEL_CALLS, room_calls },
	{ LIMIT_INPUT_TOKENS, room_input },
	{ LIMIT_OUTPUT_TOKENS, room_output },
	{ LIMIT_TOTAL_TOKENS, room_total },
	{ LIMIT_DOLLARS, room_dollars },
};
/* clang-format on */

/* Output tokens that @w may have within all limits, less what is reserved when @flying. 0 and *which
 * when it may not go; UINT64_MAX: nothing bounds it. */
static bool room_of(const struct meter *m, const struct wish *w, bool flying, uint64_t *room,
		    enum limit_kind *which)
{
	*room = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum limit_kind k = rows[i].kind;
		uint64_t left = sub(m->limit.max[k], m->used[k]), here;
		bool fits;

		if (!m->limit.max[k])
			continue;
		if (flying)
			left = sub(left, m->reserved[k]);
		here = rows[i].room(w, left, &fits);
		if (!fits) {
			*which = k;
			return false;
		}
		*room = least(*room, here);
	}
	return true;
}

/* How many output tokens to grant of @room; *cap as meter_reserve() tells it. */
static uint64_t grant(const struct wish *w, uint64_t room, uint64_t *cap)
{
	uint64_t tier = OUTPUT_CAP;

	*cap = 0;
	if (w->output < ESTIMATE_MAX) {
		if (room >= w->output)
			return w->output;
		*cap = room;
		return room;
	}
	if (room >= OUTPUT_PLENTY)
		return OUTPUT_PLENTY;
	while (tier > room)
		tier /= 2;
	*cap = tier;
	return tier;
}

static const struct price *price_of(const struct meter *m, const char *model)
{
	return m->prices ? prices_find(m->prices, model) : NULL;
}

static void reserve(struct meter *m, struct hold_tokens *hold)
{
	hold->held = true;
	m->reserved[LIMIT_MODEL_CALLS]++;
	m->reserved[LIMIT_INPUT_TOKENS] += hold->input;
	m->reserved[LIMIT_OUTPUT_TOKENS] += hold->output;
	m->reserved[LIMIT_TOTAL_TOKENS] += hold->input + hold->output;
	m->reserved[LIMIT_DOLLARS] = add(m->reserved[LIMIT_DOLLARS], hold->micro);
	m->flying++;
}

static void give_back(struct meter *m, struct hold_tokens *hold)
{
	if (!hold->held)
		return;
	m->reserved[LIMIT_MODEL_CALLS]--;
	m->reserved[LIMIT_INPUT_TOKENS] -= hold->input;
	m->reserved[LIMIT_OUTPUT_TOKENS] -= hold->output;
	m->reserved[LIMIT_TOTAL_TOKENS] -= hold->input + hold->output;
	m->reserved[LIMIT_DOLLARS] = sub(m->reserved[LIMIT_DOLLARS], hold->micro);
	m->flying--;
	*hold = (struct hold_tokens){ 0 };
}

enum meter_say meter_reserve(struct meter *m, const char *model, uint64_t input,
			     uint64_t max_output, struct hold_tokens *hold, uint64_t *cap_output,
			     enum limit_kind *which)
{
	struct wish w = { .price = price_of(m, model),
			  .input = least(input, ESTIMATE_MAX),
			  .output =
				  max_output ? least(max_output, ESTIMATE_MAX - 1) : ESTIMATE_MAX };
	uint64_t alone, room, want, got, cap;

	*hold = (struct hold_tokens){ 0 };
	*cap_output = 0;
	if (!room_of(m, &w, false, &alone, which))
		return METER_SPENT;
	want = grant(&w, alone, &cap);
	if (!room_of(m, &w, true, &room, which))
		return METER_WAIT;
	got = grant(&w, room, &cap);
	/* fewer tokens only because of calls that may use less than they hold: they are awaited */
	if (got < want)
		return METER_WAIT;
	hold->input = w.input;
	hold->output = got;
	if (m->limit.max[LIMIT_DOLLARS] && w.price) {
		struct price dearest = { .input = input_rate(w.price), .output = w.price->output };

		hold->micro = price_cost(&dearest, w.input, 0, 0, got);
	}
	reserve(m, hold);
	*cap_output = cap;
	return METER_GO;
}

void meter_settle(struct meter *m, struct hold_tokens *hold, const char *model,
		  const struct api_usage *usage, uint64_t fallback_output, uint64_t *ret_micro)
{
	const struct price *p = price_of(m, model);
	struct api_usage u = { .input = hold->input, .output = fallback_output };

	if (usage && usage->known)
		u = *usage;
	give_back(m, hold);
	m->used[LIMIT_MODEL_CALLS] = add(m->used[LIMIT_MODEL_CALLS], 1);
	m->used[LIMIT_INPUT_TOKENS] = add(m->used[LIMIT_INPUT_TOKENS], u.input);
	m->used[LIMIT_OUTPUT_TOKENS] = add(m->used[LIMIT_OUTPUT_TOKENS], u.output);
	m->used[LIMIT_TOTAL_TOKENS] = add(m->used[LIMIT_TOTAL_TOKENS], add(u.input, u.output));
	m->cached = add(m->cached, least(u.cached, u.input));
	*ret_micro = UINT64_MAX;
	if (!p) {
		m->unknown_cost++;
		return;
	}
	*ret_micro = price_cost(p, u.input, u.cached, u.cache_write, u.output);
	m->used[LIMIT_DOLLARS] = add(m->used[LIMIT_DOLLARS], *ret_micro);
}

void meter_cancel(struct meter *m, struct hold_tokens *hold)
{
	give_back(m, hold);
}
