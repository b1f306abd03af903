#include "sandbox/oidset.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#define OIDSET_MAX (1u << 31)

static size_t place(const struct oidset *s, const git_oid *id)
{
	uint64_t h;

	memcpy(&h, id->id, sizeof(h));
	h = (h ^ s->seed) * 0x9e3779b97f4a7c15ull;
	return (size_t)(h >> 20) & (s->slots - 1);
}

/* Slot that holds @id, or the free one where it belongs. */
static size_t seek(const struct oidset *s, const git_oid *id)
{
	size_t at = place(s, id);

	while (s->slot[at] && memcmp(s->id[s->slot[at] - 1].id, id->id, GIT_OID_RAWSZ) != 0)
		at = (at + 1) & (s->slots - 1);
	return at;
}

static void grow(struct oidset *s)
{
	size_t slots = s->slots ? 2 * s->slots : 256;

	if (!s->slots)
		s->seed = clock_mono();
	free(s->slot);
	s->slot = mem_zalloc(slots, sizeof(*s->slot));
	s->slots = slots;
	for (size_t i = 0; i < s->n; i++)
		s->slot[seek(s, &s->id[i])] = (uint32_t)i + 1;
}

ssize_t oidset_find(const struct oidset *s, const git_oid *id)
{
	if (!s->slots)
		return -1;
	return (ssize_t)s->slot[seek(s, id)] - 1;
}

size_t oidset_add(struct oidset *s, const git_oid *id, bool *ret_new)
{
	size_t at;

	if (2 * (s->n + 1) > s->slots)
		grow(s);
	at = seek(s, id);
	if (ret_new)
		*ret_new = !s->slot[at];
	if (s->slot[at])
		return s->slot[at] - 1;
	ensure(s->n < OIDSET_MAX - 1, "too many objects for one set");
	MEM_GROW(s->id, s->cap, s->n + 1);
	s->id[s->n] = *id;
	s->slot[at] = (uint32_t)++s->n;
	return s->n - 1;
}

void oidset_done(struct oidset *s)
{
	free(s->id);
	free(s->slot);
	*s = (struct oidset){ 0 };
}
