/* Released records over arbitrary bytes: what is taken becomes scenarios that can be read again. */
#include <stdint.h>
#include <stdlib.h>

#include "profiles/scenario.h"
#include "study/import_swetouch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct buf *text)
{
	struct scenario *sc = NULL;

	if (text->len && scenario_parse("fuzz", buf_str(text), text->len, NULL, &sc, NULL) < 0)
		abort();
	scenario_free(sc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct import_options o = { .rounds = size ? data[0] % 4 : 0, .mode = -1 };
	auto_buf scenario = BUF_INIT(4u << 20), co_edit = BUF_INIT(4u << 20);
	struct err err = { 0 };

	if (import_record("fuzz", (const char *)data, size, &o, &scenario, &co_edit, &err) < 0) {
		if (!err.text[0])
			abort();
		return 0;
	}
	check(&scenario);
	check(&co_edit);
	return 0;
}
