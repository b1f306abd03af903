#include "gateway/names_internal.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

struct name_entry {
	char *name; /* owned */
	uint32_t addr;
	unsigned users;                   /* connections */
	uint64_t until;                   /* clients may believe the address until then */
	struct name_entry *older, *newer; /* order of .until */
};

struct names {
	void *by_name;      /* tsearch(3): balanced, so that chosen names cannot slow it down */
	struct map by_addr; /* keys are handed out by us */
	struct name_entry *oldest, *newest;
	size_t n, max;
	uint32_t next; /* offset of the next address to be given */
	uint64_t ttl;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct name_entry *)a)->name, ((const struct name_entry *)b)->name);
}

struct names *names_new(size_t max, uint64_t ttl)
{
	struct names *t = mem_zalloc(1, sizeof(*t));

	t->max = max;
	t->ttl = ttl;
	t->next = 1;
	return t;
}

static void unlink_entry(struct names *t, struct name_entry *e)
{
	*(e->older ? &e->older->newer : &t->oldest) = e->newer;
	*(e->newer ? &e->newer->older : &t->newest) = e->older;
	e->older = e->newer = NULL;
}

static void link_newest(struct names *t, struct name_entry *e, uint64_t now)
{
	e->until = now + t->ttl;
	e->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = e;
	t->newest = e;
}

static void entry_free(void *p)
{
	struct name_entry *e = p;

	free(e->name);
	free(e);
}

/* Drop one name that nobody can still mean. The list is in the order of .until, so that the search
 * ends at the first that is too young; only those in use are passed over, and they are few. */
static bool make_room(struct names *t, uint64_t now)
{
	for (struct name_entry *e = t->oldest; e && e->until <= now; e = e->newer) {
		if (e->users)
			continue;
		unlink_entry(t, e);
		tdelete(e, &t->by_name, compare);
		map_del(&t->by_addr, e->addr);
		entry_free(e);
		t->n--;
		return true;
	}
	return false;
}

static uint32_t next_addr(struct names *t)
{
	uint32_t addr;

	/* Ends: the block has many more addresses than the table has names. */
	do {
		addr = NAMES_NET + t->next;
		t->next = t->next + 1 < NAMES_SIZE ? t->next + 1 : 1;
	} while (map_get(&t->by_addr, addr));
	return addr;
}

uint32_t names_addr(struct names *t, const char *name, uint64_t now, bool *ret_new)
{
	struct name_entry key = { .name = (char *)(uintptr_t)name };
	struct name_entry **found = tfind(&key, &t->by_name, compare);
	struct name_entry *e;

	*ret_new = !found;
	if (found) {
		e = *found;
		unlink_entry(t, e);
	} else {
		if (t->n >= t->max && !make_room(t, now))
			return 0;
		e = mem_zalloc(1, sizeof(*e));
		e->name = mem_strdup(name);
		e->addr = next_addr(t);
		ensure(tsearch(e, &t->by_name, compare) != NULL, "memory for a name");
		map_put(&t->by_addr, e->addr, e);
		t->n++;
	}
	link_newest(t, e, now);
	return e->addr;
}

const char *names_find(const struct names *t, uint32_t addr)
{
	const struct name_entry *e = map_get(&t->by_addr, addr);

	return e ? e->name : NULL;
}

void names_use(struct names *t, uint32_t addr, uint64_t now)
{
	struct name_entry *e = map_get(&t->by_addr, addr);

	if (!e)
		return;
	e->users++;
	unlink_entry(t, e);
	link_newest(t, e, now);
}

void names_unuse(struct names *t, uint32_t addr)
{
	struct name_entry *e = map_get(&t->by_addr, addr);

	if (e && e->users)
		e->users--;
}

struct names *names_free(struct names *t)
{
	if (!t)
		return NULL;
	tdestroy(t->by_name, entry_free);
	map_done(&t->by_addr);
	free(t);
	return NULL;
}
