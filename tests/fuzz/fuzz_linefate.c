/* Contents of arbitrary bytes: the state before an edit, right after it and those that follow, parted by NUL
 * bytes; two NUL bytes in a row are a state without file. */
#include <stdlib.h>
#include <string.h>

#include "verifier/linefate.h"

enum { STATES_MAX = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct linefate *f, const struct linefate_image *last)
{
	if (f->kept + f->changed + f->removed != f->n || f->restored > f->deleted ||
	    f->telling_kept > f->kept || (f->reverted && f->kept))
		abort();
	for (size_t i = 0; i < f->n; i++)
		if ((f->v[i].fate == FATE_KEPT) != (f->v[i].at != 0) || f->v[i].at > last->len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct linefate_image im[STATES_MAX] = { { 0 } };
	const char *p = (const char *)data, *end = p + size;
	uint64_t first, last;
	struct linefate f;
	size_t n = 0;

	while (n < STATES_MAX && p < end) {
		const char *nul = memchr(p, 0, (size_t)(end - p));
		size_t len = (size_t)((nul ? nul : end) - p);

		im[n].data = len ? p : NULL;
		im[n++].len = len;
		p += len + 1;
	}
	if (n < 2)
		return 0;
	linefate_of(&im[0], &im[1], n - 1, &f);
	check(&f, &im[n - 1]);
	linefate_done(&f);
	if (linefate_follow(&im[0], &im[n - 1], 1, 3, &first, &last) && (first > last || !first))
		abort();
	return 0;
}
