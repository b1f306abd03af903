/* A diff of arbitrary bytes: every line that is given out lies in the text, changes are in order. */
#include <stdlib.h>
#include <string.h>

#include "verifier/difflines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct difflines d;

	difflines_read(text, size, &d);
	for (size_t i = 0; i < d.n; i++) {
		const struct diffline_change *c = &d.v[i];

		if (c->file >= d.n_files || (!c->old_n && !c->new_n) ||
		    c->lines + c->old_n + c->new_n > d.n_lines)
			abort();
		for (uint64_t k = 0; k < c->new_n; k++) {
			const struct diffline *l = difflines_added(&d, c, k);

			if (l->p < text || l->p + l->n > text + size || !diffline_same(l, l))
				abort();
		}
	}
	difflines_done(&d);
	return 0;
}
