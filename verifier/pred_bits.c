/* Sets of record numbers. */
#include <string.h>

#include "base/mem.h"
#include "verifier/pred_internal.h"

enum { WORDS = 64, BLOCK = WORDS * 64 };

void pred_bits_set(struct pred_bits *b, uint64_t n)
{
	size_t at = (size_t)(n / BLOCK), was = b->n_blocks;
	uint64_t *word, bit = 1ull << (n % 64);

	if (at >= b->n_blocks) {
		MEM_GROW(b->block, b->n_blocks, at + 1);
		memset(b->block + was, 0, (b->n_blocks - was) * sizeof(*b->block));
	}
	if (!b->block[at])
		b->block[at] = mem_zalloc(WORDS, sizeof(uint64_t));
	word = &b->block[at][n % BLOCK / 64];
	b->count += !(*word & bit);
	*word |= bit;
}

void pred_bits_clear(struct pred_bits *b, uint64_t n)
{
	size_t at = (size_t)(n / BLOCK);
	uint64_t *word, bit = 1ull << (n % 64);

	if (at >= b->n_blocks || !b->block[at])
		return;
	word = &b->block[at][n % BLOCK / 64];
	b->count -= (*word & bit) != 0;
	*word &= ~bit;
}

uint64_t pred_bits_next(const struct pred_bits *b, uint64_t n)
{
	size_t word = (size_t)(n % BLOCK / 64);
	uint64_t mask = ~0ull << (n % 64);

	for (uint64_t at = n / BLOCK; at < b->n_blocks; at++) {
		for (; b->block[at] && word < WORDS; word++) {
			uint64_t w = b->block[at][word] & mask;

			if (w)
				return at * BLOCK + word * 64 + (uint64_t)__builtin_ctzll(w);
			mask = ~0ull;
		}
		word = 0;
		mask = ~0ull;
	}
	return UINT64_MAX;
}

uint64_t pred_bits_before(const struct pred_bits *b, uint64_t n)
{
	uint64_t end = (uint64_t)b->n_blocks * BLOCK;

	if (n > end)
		n = end;
	while (n) {
		uint64_t at = (n - 1) / BLOCK, word = (n - 1) % BLOCK / 64, w;

		if (!b->block[at]) {
			n = at * BLOCK;
			continue;
		}
		w = b->block[at][word] & (~0ull >> (63 - (n - 1) % 64));
		if (w)
			return at * BLOCK + word * 64 + 63 - (uint64_t)__builtin_clzll(w);
		n = at * BLOCK + word * 64;
	}
	return 0;
}

void pred_bits_done(struct pred_bits *b)
{
	for (size_t i = 0; i < b->n_blocks; i++)
		free(b->block[i]);
	free(b->block);
	*b = (struct pred_bits){ 0 };
}
