/* The hash map against a plain array, with dense keys, colliding keys and deletions. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

enum { KEYS = 4096 };

/* Keys as tids (dense), as inode numbers (steps) and as numbers that share their high bits. */
static uint64_t key_of(int shape, unsigned i)
{
	return shape == 0 ? i : shape == 1 ? (uint64_t)i * 4096 + 7 : (uint64_t)i << 44;
}

static void model(int shape)
{
	static char values[KEYS];
	void *want[KEYS] = { NULL };
	struct map m = { 0 };
	size_t n = 0, seen = 0;
	bool same = true;

	srand((unsigned)shape + 1);
	for (int step = 0; step < 200000; step++) {
		unsigned i = (unsigned)rand() % (step % 7 ? 64 : KEYS);
		uint64_t key = key_of(shape, i);

		switch (rand() % 3) {
		case 0:
			n += !want[i];
			want[i] = &values[rand() % KEYS];
			map_put(&m, key, want[i]);
			break;
		case 1:
			same = same && map_del(&m, key) == want[i];
			n -= !!want[i];
			want[i] = NULL;
			break;
		default:
			same = same && map_get(&m, key) == want[i];
		}
		same = same && m.n == n;
	}
	for (unsigned i = 0; i < KEYS; i++)
		same = same && map_get(&m, key_of(shape, i)) == want[i];
	map_each (s, &m)
		seen++;
	tap_ok(same && seen == n, "200000 operations as the model, key shape %d", shape);
	map_done(&m);
	tap_ok(m.n == 0 && m.cap == 0 && !map_get(&m, 1), "done empties");
}

int main(void)
{
	struct map empty = { 0 };

	tap_ok(!map_get(&empty, 0) && !map_del(&empty, 0), "an empty map");
	map_each (s, &empty)
		tap_ok(false, "a slot of an empty map");
	for (int shape = 0; shape < 3; shape++)
		model(shape);
	tap_is_u64(map_hash("a", 1), 0xaf63dc4c8601ec8cull, "FNV-1a test vector \"a\"");
	tap_is_u64(map_hash("foobar", 6), 0x85944171f73967e8ull, "FNV-1a test vector \"foobar\"");
	return tap_done();
}
