/* An agent's output of arbitrary bytes against its own protocol. The first byte chooses the protocol and
 * the size of the pieces; a line "!" is a user message that falls due. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/native.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	size_t sends, settled;
	bool ended;
};

static int do_send(void *arg, const char *data, size_t n)
{
	struct world *w = arg;

	/* One line, or two, always whole and never behind the end. */
	if (w->ended || !n || data[n - 1] != '\n' || memchr(data, '\0', n))
		abort();
	w->sends++;
	return 0;
}

static void do_end(void *arg)
{
	struct world *w = arg;

	if (w->ended)
		abort();
	w->ended = true;
}

static void do_message(void *arg, uint64_t number, const char *lost)
{
	struct world *w = arg;

	(void)lost;
	w->settled++;
	if (!number)
		abort();
}

static void do_refused(void *arg, const char *why)
{
	(void)arg;
	if (strlen(why) > NATIVE_WHY_MAX)
		abort();
}

static const struct native_ops ops = { do_send, do_end, do_message, do_refused };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum agent_native protocol;
	struct world w = { 0 };
	size_t step, taken = 0;
	struct native *n;

	if (!size)
		return 0;
	protocol = (enum agent_native)(NATIVE_PI_RPC + data[0] % NATIVE_CLAUDE_STREAM_JSON);
	step = 1 + data[0] / 4;
	n = native_new(protocol, "/workspace", &ops, &w);
	native_begin(n, "fix it");
	for (size_t i = 1; i < size;) {
		size_t part = size - i < step ? size - i : step;

		if (data[i] == '!' && data[i - 1] == '\n')
			taken += native_message(n, "a message", NULL) == 0;
		native_output(n, (const char *)data + i, part);
		i += part;
	}
	native_ended(n);
	/* What was taken is accepted or lost, once. A refused one may be among the settled. */
	if (w.settled < taken || w.sends > size + taken + NATIVE_REPLIES_MAX)
		abort();
	native_free(n);
	return 0;
}
