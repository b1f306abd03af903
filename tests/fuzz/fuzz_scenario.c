/* A scenario file of arbitrary bytes: read, looked at, freed. No directory, so that nothing but the
 * bytes themselves is ever read. */
#include <stdlib.h>

#include "base/path.h"
#include "profiles/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario *x = NULL;
	struct err err = { 0 };
	int rc = scenario_parse("input", (const char *)data, size, NULL, &x, &err);

	/* What everybody after this relies on. */
	for (size_t i = 0; rc == 0 && i < x->n_interventions; i++) {
		const struct when *w = &x->interventions[i].when;

		if (x->interventions[i].order != i + 1 || w->min_overlap < 1)
			abort();
		for (size_t k = 0; k < w->regions.n; k++) {
			if (((uint64_t *)w->regions.v)[k] >= x->n_regions)
				abort();
		}
	}
	for (size_t i = 0; rc == 0 && i < x->n_regions; i++) {
		if (!path_is_tame(x->regions[i].path) || x->regions[i].start > x->regions[i].end)
			abort();
	}
	if (rc < 0 && (x || err.code != ERR_INPUT || !err.text[0]))
		abort();
	scenario_free(x);
	return 0;
}
