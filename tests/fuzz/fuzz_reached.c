/* A line of model.jsonl of arbitrary bytes: what is found was in it, and a text that is put into a request through two
 * layers of JSON is found. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "verifier/pred_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t look(const char *text, const char *line, size_t n)
{
	struct strv texts = { 0 };
	uint64_t first = UINT64_MAX;
	struct err err;

	strv_add(&texts, text);
	if (pred_reached_line(&texts, "fuzz", line, n, 9, &first, &err) < 0 && first != UINT64_MAX)
		abort();
	if (first != UINT64_MAX && first > 9)
		abort();
	strv_done(&texts);
	return first;
}

static void put(struct buf *out, const char *head, const char *s, size_t n, const char *tail)
{
	buf_adds(out, head);
	if (jslice_put(out, s, n) < 0)
		abort();
	buf_adds(out, tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf inner = BUF_INIT(1u << 24), line = BUF_INIT(1u << 26);
	auto_buf body = BUF_INIT(1u << 24);

	if (size > 1u << 16)
		return 0;
	look("NEW", (const char *)data, size);
	buf_add(&body, data, size);
	buf_adds(&body, " needle \xc3\xa8 ");
	put(&inner, "{\"content\":", buf_str(&body), body.len, "}");
	put(&line, "{\"call\":3,\"request\":", buf_str(&inner), inner.len, "}");
	if (look(" needle \xc3\xa8 ", buf_str(&line), line.len) != 3)
		abort();
	return 0;
}
