/* Records of the result channel, of arbitrary bytes: lines of the input, "|" stands for the NUL between
 * fields, the first byte for the sender; the nonce is put in front of lines that do not begin with "!".
 * Whatever comes: no crash, maxima kept, a reason whenever the results are incomplete. */
#include <stdlib.h>
#include <string.h>

#include "verifier/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NONCE "00000000000000000000000000000000"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel ch = { .fd = -1, .reader = "libtest", .root = "/workspace" };
	const char *at = (const char *)data, *end = at + size;
	struct channel_facts facts = { .reader = testlog_find("libtest"),
				       .log = "Running x (target/debug/deps/x)\n",
				       .log_len = 32 };
	char record[4096];

	memcpy(ch.nonce, NONCE, sizeof(NONCE));
	ch.unique = size & 1;
	facts.exit_status = size & 2 ? 1 : 0;
	facts.plain = size & 4;
	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((nl ? nl : end) - at), len = 0;
		int64_t pid = n ? at[0] : 0;

		if (n > sizeof(record) - sizeof(NONCE))
			n = sizeof(record) - sizeof(NONCE);
		if (n && at[0] != '!') {
			memcpy(record, NONCE, sizeof(NONCE));
			len = sizeof(NONCE);
		}
		for (size_t i = 1; i < n; i++)
			record[len++] = at[i] == '|' ? '\0' : at[i];
		channel_feed(&ch, pid, record, len);
		at += (size_t)((nl ? nl : end) - at) + 1;
	}
	channel_settle(&ch, &facts);
	if (ch.n > CHANNEL_SESSIONS_MAX || ch.tamper.n > CHANNEL_TAMPER_MAX ||
	    ch.results.n > TESTLOG_RESULTS_MAX || ch.log_bytes > CHANNEL_LOG_MAX ||
	    (ch.results.incomplete && !ch.results.note) || (ch.fault && !ch.results.incomplete))
		abort();
	channel_done(&ch);
	return 0;
}
