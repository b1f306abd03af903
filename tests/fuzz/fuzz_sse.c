/* A stream of arbitrary bytes: split into events, cleaned, and split again with the same result. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All events as one text. */
static void all(const char *text, size_t n, struct buf *out)
{
	auto_buf scratch = BUF_INIT(n + 64);
	struct sse s = { text, n, 0 };
	struct sse_event ev;
	bool cut = false;

	while (sse_next(&s, &scratch, &ev, &cut)) {
		if (s.at > n || ev.data[ev.n] != '\0')
			abort();
		buf_adds(out, ev.type);
		buf_addc(out, ' ');
		buf_add(out, ev.data, ev.n);
		buf_addc(out, '\n');
	}
	if (sse_next(&s, &scratch, &ev, &cut))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	auto_buf one = BUF_INIT(16 * size + 64), two = BUF_INIT(16 * size + 64);
	auto_buf clean = BUF_INIT(size);

	if (sse_clean(text, size, &clean) < 0)
		abort();
	all(text, size, &one);
	all(buf_str(&clean), clean.len, &two);
	if (one.len != two.len || memcmp(buf_str(&one), buf_str(&two), one.len) != 0)
		abort();
	return 0;
}
