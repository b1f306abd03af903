/* "figures" of a scenario's checks, of arbitrary JSON. */
#include <stdlib.h>
#include <string.h>

#include "verifier/strict_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strict_checks c = { .set = pred_set_new() };
	struct json_src src = { 0 };
	struct err err = { 0 };

	if (size <= 1u << 16 && json_parse("figures", (const char *)data, size, &src, &err) == 0) {
		int rc = strict_figures_read(&src, "$.checks.figures", src.root, &c, &err);

		if (rc < 0 && !err.text[0])
			abort();
		for (size_t i = 0; rc == 0 && i < c.n_figures; i++)
			if (!c.figure[i].name || !c.figure[i].list.n)
				abort();
	}
	json_src_done(&src);
	strict_checks_done(&c);
	return 0;
}
