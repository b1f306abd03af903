/* For tests of rows: does a row that came back say what the one that went in said? */
#ifndef TESTS_FUZZ_ROWS_SAME_H
#define TESTS_FUZZ_ROWS_SAME_H

#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"

/* Do the values say the same: strings by their bytes, lists entry by entry, the rest byte for byte? */
static inline bool rows_same_value(struct jslice a, struct jslice b, unsigned depth)
{
	auto_buf x = BUF_INIT(256u << 20), y = BUF_INIT(256u << 20);
	struct jslice_walk wa = jslice_walk(a), wb = jslice_walk(b);
	struct jslice ka, kb, va, vb;
	size_t n, m;
	auto_free char *s = jslice_text(a, &n), *t = jslice_text(b, &m);

	if (s && t)
		return n == m && memcmp(s, t, n) == 0;
	if (jslice_kind(a) != jslice_kind(b))
		return false;
	if (depth == 0 || jslice_kind(a) == '{' || !wa.p) {
		jslice_raw(&x, a);
		jslice_raw(&y, b);
		return strcmp(buf_str(&x), buf_str(&y)) == 0;
	}
	while (jslice_member(&wa, &ka, &va))
		if (!jslice_member(&wb, &kb, &vb) || !rows_same_value(va, vb, depth - 1))
			return false;
	return !jslice_member(&wb, &kb, &vb);
}

/* Have both objects the same keys in the same order, with the same values? */
static inline bool rows_same(struct jslice a, struct jslice b)
{
	struct jslice_walk wa = jslice_walk(a), wb = jslice_walk(b);
	struct jslice ka, kb, va, vb;

	while (jslice_member(&wa, &ka, &va))
		if (!jslice_member(&wb, &kb, &vb) || !rows_same_value(ka, kb, 0) ||
		    !rows_same_value(va, vb, 1))
			return false;
	return !jslice_member(&wb, &kb, &vb);
}

#endif
