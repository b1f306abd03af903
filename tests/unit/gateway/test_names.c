/* names.c: each name its own address, kept while anybody may mean it; a full table. */
#include "gateway/names_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

enum { TTL = 60 };

static uint32_t give(struct names *t, const char *name, uint64_t now, bool *ret_new)
{
	return names_addr(t, name, now * CLOCK_SEC, ret_new);
}

static void basics(void)
{
	struct names *t = names_new(8, TTL * CLOCK_SEC);
	bool first, second, third;
	uint32_t a = give(t, "a.example", 1, &first), b = give(t, "b.example", 1, &second);

	tap_ok(first && second && a != b, "two names, two addresses");
	tap_ok((a & ~(NAMES_SIZE - 1)) == NAMES_NET && a != NAMES_NET, "in the block: %08x", a);
	tap_ok(give(t, "a.example", 5, &third) == a && !third, "a name keeps its address");
	tap_is_str(names_find(t, a), "a.example", "address to name");
	tap_is_str(names_find(t, b), "b.example", "address to name");
	tap_is_str(names_find(t, a + 1000), NULL, "an address that means nothing");
	names_use(t, a + 1000, 1);
	names_unuse(t, a + 1000);
	names_unuse(t, a);
	tap_ok(names_free(t) == NULL && names_free(NULL) == NULL, "freed");
}

static void full(void)
{
	struct names *t = names_new(3, TTL * CLOCK_SEC);
	uint32_t a, b, c, d;
	bool is_new;

	a = give(t, "a", 1, &is_new);
	b = give(t, "b", 2, &is_new);
	c = give(t, "c", 3, &is_new);
	tap_ok(give(t, "d", 10, &is_new) == 0, "no room while all may be meant");
	tap_ok(give(t, "a", 11, &is_new) == a, "a known one is found all the same");
	tap_ok(give(t, "d", 2 + TTL - 1, &is_new) == 0,
	       "not before the time of the oldest is over");
	names_use(t, c, 20 * CLOCK_SEC);
	d = give(t, "d", 2 + TTL, &is_new);
	tap_ok(d && is_new && d != a && d != b && d != c, "then it makes room; addresses rest");
	tap_is_str(names_find(t, b), NULL, "the oldest is gone: b");
	tap_is_str(names_find(t, a), "a", "a was told later");
	/* At 200 only c, which a connection uses, and the two others are there. */
	tap_ok(give(t, "e", 200, &is_new) != 0, "the next");
	tap_ok(give(t, "f", 200, &is_new) != 0, "and the next");
	tap_ok(give(t, "g", 200, &is_new) == 0, "the one in use stays");
	tap_is_str(names_find(t, c), "c", "it means the same");
	names_unuse(t, c);
	tap_ok(give(t, "g", 200, &is_new) != 0, "when its connection is gone it makes room");
	tap_is_str(names_find(t, c), NULL, "and means nothing");
	names_free(t);
}

static void flood(void)
{
	struct names *t = names_new(NAMES_MAX, TTL * CLOCK_SEC);
	uint32_t first = 0, last = 0, refused = 0;
	bool is_new;

	for (unsigned i = 0; i < 100000; i++) {
		auto_free char *name = mem_printf("n%u.example", i);
		uint32_t addr = give(t, name, 1, &is_new);

		if (i == 0)
			first = addr;
		if (addr)
			last = addr;
		refused += addr == 0;
	}
	tap_is_u64(refused, 100000 - NAMES_MAX, "what does not fit is refused");
	tap_is_str(names_find(t, first), "n0.example", "the first is still there");
	tap_ok(names_find(t, last) != NULL, "and the last");
	/* Two more rounds, each past the time of the one before: every address stays unique. */
	for (unsigned i = 0; i < 2 * NAMES_MAX; i++) {
		auto_free char *name = mem_printf("m%u.example", i);
		uint32_t addr = give(t, name, 100 + i / NAMES_MAX * 100, &is_new);

		if (addr == 0 || !is_new || strcmp(names_find(t, addr), name) != 0) {
			tap_ok(false, "name %u of the later rounds", i);
			break;
		}
	}
	tap_is_str(names_find(t, first), NULL, "the first made room");
	names_free(t);
}

/* The block is gone through before an address is given a second time. */
static void around(void)
{
	struct names *t = names_new(2, 1);
	uint32_t first, addr, rounds = 0;
	bool is_new;

	first = names_addr(t, "keep", 10, &is_new);
	names_use(t, first, 10);
	do {
		auto_free char *name = mem_printf("%u", rounds);

		addr = names_addr(t, name, 100 + 10ull * rounds, &is_new);
	} while (++rounds < NAMES_SIZE - 2 && addr > first);
	tap_is_u64(rounds, NAMES_SIZE - 2, "all addresses of the block are used once");
	addr = names_addr(t, "again", UINT64_MAX / 2, &is_new);
	tap_ok(addr == first + 1, "then from the front, past the one in use: %08x", addr);
	names_free(t);
}

int main(void)
{
	basics();
	full();
	flood();
	around();
	return tap_done();
}
