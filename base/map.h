/* Hash map from a 64-bit key to a pointer (open addressing). Keys are tids, inode numbers or
 * other numbers; the map owns nothing that its values point to. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *val; /* borrowed; NULL = empty */
};

/* {0} is an empty map. */
struct map {
	struct map_slot *slot; /* owned */
	size_t n, cap;
};

/* Visit every slot in use as "struct map_slot *s". The map must not change meanwhile. */
#define map_each(s, m)                                                                             \
	for (struct map_slot *s = (m)->slot; s && s < (m)->slot + (m)->cap; s++)                   \
		if (s->val)

/* Value under @key or NULL. */
void *map_get(const struct map *m, uint64_t key);

/* Put @val (not NULL) under @key, replacing what was there. */
void map_put(struct map *m, uint64_t key, void *val);

/* Remove @key and return its value, NULL when it was not there. */
void *map_del(struct map *m, uint64_t key);

/* Free the table (not the values); the map is empty and usable again. */
void map_done(struct map *m);

/* FNV-1a of a string, for maps keyed by name. */
uint64_t map_hash(const char *s, size_t n);

#endif
