/* Predictions: read or refused; what was read is written as JSON Lines and reads back the same. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "study/predictions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct predictions p, again;
	auto_buf out = BUF_INIT(64u << 20);
	struct err err;

	if (predictions_parse("fuzz", (const char *)data, size, &p, &err) < 0)
		return 0;
	predictions_jsonl(&p, &out);
	if (predictions_parse("again", buf_str(&out), out.len, &again, &err) < 0)
		abort();
	if (again.n != p.n)
		abort();
	for (size_t i = 0; i < p.n; i++) {
		if (!str_eq(p.v[i].instance_id, again.v[i].instance_id) ||
		    !str_eq(p.v[i].model, again.v[i].model) ||
		    !str_eq(p.v[i].patch, again.v[i].patch) ||
		    !str_eq(p.v[i].rest, again.v[i].rest))
			abort();
	}
	predictions_done(&p);
	predictions_done(&again);
	return 0;
}
