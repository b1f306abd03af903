#include "verifier/readers/testlog_numbered_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

uint64_t testlog_numbered_key(uint64_t *seed, uint64_t number)
{
	uint64_t k;

	while (!*seed)
		if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
			*seed = (uint64_t)(uintptr_t)seed;
	/* the finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection */
	k = number ^ *seed;
	k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9ull;
	k = (k ^ (k >> 27)) * 0x94d049bb133111ebull;
	return k ^ (k >> 31);
}

uint64_t testlog_numbered_ctest(const char **s, size_t *n)
{
	uint64_t v;
	size_t k = testlog_digits(*s, &v);

	if (!k || k > 9 || (*s)[k] != ':' || (*s)[k + 1] != ' ')
		return 0;
	*s += k + 2;
	*n -= k + 2;
	return v + 1;
}

struct testlog_numbered_row *testlog_numbered_at(struct testlog_numbered *t, uint64_t number,
						 const char *name, size_t n,
						 const struct testlog_line *line)
{
	uint64_t key = testlog_numbered_key(&t->seed, number);
	void *at = map_get(&t->index, key);

	if (at)
		return &t->v[(uintptr_t)at - 1];
	n = n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX;
	if (t->n == TESTLOG_RESULTS_MAX || t->bytes + n > TESTLOG_NAMES_MAX)
		return NULL;
	MEM_GROW(t->v, t->cap, t->n + 1);
	t->v[t->n] = (struct testlog_numbered_row){ .name = mem_strndup(name, n),
						    .from = line->from,
						    .to = line->to };
	t->bytes += n;
	t->n++;
	map_put(&t->index, key, (void *)(uintptr_t)t->n); // NOLINT: a position
	return &t->v[t->n - 1];
}

void testlog_numbered_done(struct testlog_numbered *t, const struct testlog_input *in,
			   struct test_results *out)
{
	for (size_t i = 0; i < t->n; i++) {
		struct testlog_numbered_row *row = &t->v[i];
		enum test_status s = row->decided ? row->status : TEST_ERROR;
		struct testlog_line span = { .from = row->from, .to = row->to };

		testlog_merge(in, out, row->name, strlen(row->name), s, &span);
		free(row->name);
	}
	free(t->v);
	map_done(&t->index);
	*t = (struct testlog_numbered){ 0 };
}
