#include "base/map.h"

#include <stdlib.h>

#include "base/mem.h"

static size_t home(const struct map *m, uint64_t key)
{
	/* Fibonacci hashing: tids and inode numbers are dense, the multiplication spreads them. */
	return (size_t)((key * 0x9e3779b97f4a7c15ull) >> 20) & (m->cap - 1);
}

/* The slot of @key, or the empty one where it belongs. The table has room: cap > n. */
static struct map_slot *find(const struct map *m, uint64_t key)
{
	size_t i;

	for (i = home(m, key); m->slot[i].val; i = (i + 1) & (m->cap - 1)) {
		if (m->slot[i].key == key)
			return &m->slot[i];
	}
	return &m->slot[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->cap ? find(m, key)->val : NULL;
}

static void grow(struct map *m)
{
	struct map bigger = { .cap = m->cap ? m->cap * 2 : 64 };

	bigger.slot = mem_zalloc(bigger.cap, sizeof(*bigger.slot));
	bigger.n = m->n;
	map_each (s, m)
		*find(&bigger, s->key) = *s;
	free(m->slot);
	*m = bigger;
}

void map_put(struct map *m, uint64_t key, void *val)
{
	struct map_slot *s;

	if ((m->n + 1) * 4 > m->cap * 3)
		grow(m);
	s = find(m, key);
	if (!s->val)
		m->n++;
	s->key = key;
	s->val = val;
}

void *map_del(struct map *m, uint64_t key)
{
	struct map_slot *s;
	size_t i, j;
	void *val;

	if (!m->cap)
		return NULL;
	s = find(m, key);
	if (!s->val)
		return NULL;
	val = s->val;
	m->n--;
	/* Close the gap so that probes never need tombstones. */
	i = j = (size_t)(s - m->slot);
	for (;;) {
		m->slot[i].val = NULL;
		for (;;) {
			size_t h;

			j = (j + 1) & (m->cap - 1);
			if (!m->slot[j].val)
				return val;
			h = home(m, m->slot[j].key);
			if (i <= j ? (i < h && h <= j) : (i < h || h <= j))
				continue;
			break;
		}
		m->slot[i] = m->slot[j];
		i = j;
	}
}

void map_done(struct map *m)
{
	free(m->slot);
	*m = (struct map){ 0 };
}

uint64_t map_hash(const char *s, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return h ? h : 1;
}
