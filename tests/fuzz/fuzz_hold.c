/* A stream of arbitrary bytes that comes in two parts: what may go out early is the same as when it
 * comes at once, and is never more than what is there. */
#include <stdlib.h>
#include <string.h>

#include "gateway/api.h"
#include "gateway/hold.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum agent_api apis[] = { AGENT_API_CHAT, AGENT_API_RESPONSES, AGENT_API_ANTHROPIC,
				       AGENT_API_GEMINI };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf out = BUF_INIT(1 << 20);
	struct hold whole, parts;
	const char *text;
	size_t n, cut, first, all;

	if (size < 2 || size > 1 << 16)
		return 0;
	text = (const char *)data + 2;
	n = size - 2;
	cut = n ? data[1] * n / 256 : 0;
	hold_init(&whole, apis[data[0] % 4]);
	hold_init(&parts, apis[data[0] % 4]);
	all = hold_scan(&whole, text, n);
	first = hold_scan(&parts, text, cut);
	if (first > cut || hold_scan(&parts, text, n) != all || all > n || first > all)
		abort();
	if (hold_clean(text, all, data[0] & 8, &out) < 0 || out.len > all + 1)
		abort();
	return 0;
}
