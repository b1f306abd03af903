/* claude -p --input-format stream-json --output-format stream-json --verbose: user lines in, what
 * happens out. A user line that arrives in a turn is shown to the model with the next tool result, one
 * that comes later begins a turn. With --replay-user-messages the agent repeats each user line, under
 * the name we gave it, when it takes it. */
#include "supervisor/native_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/mem.h"

/* A random name (RFC 9562, version 4): it stands in the agent's transcript. */
static void make_uuid(char out[NATIVE_UUID])
{
	unsigned char b[16];

	/* Up to 256 bytes are given whole once the pool is ready (getrandom(2)). */
	ensure(getrandom(b, sizeof(b), 0) == sizeof(b), "the kernel has random bytes");
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(out, NATIVE_UUID,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		 b[15]);
}

static void message(struct native *n, struct native_msg *m)
{
	auto_buf text = BUF_INIT(NATIVE_LINE_MAX);

	make_uuid(m->uuid);
	if (n->phase == NATIVE_IDLE)
		n->phase = NATIVE_BUSY; /* lines that lie together become one prompt */
	buf_addf(&text,
		 "{\"type\":\"user\",\"uuid\":\"%s\",\"session_id\":\"\","
		 "\"parent_tool_use_id\":null,\"message\":{\"role\":\"user\",\"content\":",
		 m->uuid);
	jedit_quote(&text, m->text, strlen(m->text));
	buf_adds(&text, "}}");
	native_send(n, &text);
}

static void working(struct native *n)
{
	if (n->phase != NATIVE_OVER)
		n->phase = NATIVE_WORKING;
}

static void on_system(struct native *n, const struct jdoc *d)
{
	/* The head of every turn. */
	if (jdoc_is(d, jdoc_get(d, 0, "subtype"), "init"))
		working(n);
}

static void on_user(struct native *n, const struct jdoc *d)
{
	char uuid[NATIVE_UUID + 1];

	/* Tool results come as user lines, too. */
	if (!jdoc_true(d, jdoc_get(d, 0, "isReplay")))
		return;
	native_copy(d, jdoc_get(d, 0, "uuid"), uuid, sizeof(uuid));
	for (size_t i = native_waiting(n); i-- > 0;) {
		if (strcmp(n->msgs[i].uuid, uuid) != 0)
			continue;
		n->replays = true;
		native_accept(n, n->msgs + i);
		working(n);
		return;
	}
}

/* A line sent in a turn that it did not reach begins the next one: that turn's end is waited for, but not
 * forever. Without the replay there is no word at all, and the end of the turn is what there is;
 * what is still unread is worked off behind the end of input. */
static void turn_end(struct native *n)
{
	size_t i = 0;

	while (i < native_waiting(n)) {
		struct native_msg *m = n->msgs + i;

		if (!n->replays)
			native_accept(n, m);
		else if (m->turns++)
			native_refuse(n, m, "the agent did not confirm it");
		else
			i++;
	}
	if (n->phase != NATIVE_OVER)
		n->phase = NATIVE_IDLE;
}

static void on_result(struct native *n, const struct jdoc *d)
{
	(void)d;
	turn_end(n);
}

/* May I, asked of the host: nobody sits there, and the box is the sandbox. */
static int put_answer(const struct jdoc *d, struct buf *out)
{
	uint32_t input = jdoc_path(d, 0, "request.input");

	if (!jdoc_is(d, jdoc_path(d, 0, "request.subtype"), "can_use_tool") ||
	    jdoc_kind(d, input) != J_OBJECT)
		return -1;
	buf_adds(out, "{\"behavior\":\"allow\",\"updatedInput\":");
	if (native_raw(d, input, NATIVE_RAW_MAX, out) < 0)
		return -1;
	return buf_adds(out, "}");
}

static void on_request(struct native *n, const struct jdoc *d)
{
	auto_buf id = BUF_INIT(NATIVE_ID_MAX), answer = BUF_INIT(2 * NATIVE_RAW_MAX),
		 text = BUF_INIT(4 * NATIVE_RAW_MAX);
	bool yes;

	if (native_raw(d, jdoc_get(d, 0, "request_id"), NATIVE_ID_MAX, &id) < 0)
		return;
	yes = put_answer(d, &answer) == 0;
	buf_addf(
		&text,
		"{\"type\":\"control_response\",\"response\":{\"subtype\":\"%s\",\"request_id\":%s,"
		"\"%s\":%s}}",
		yes ? "success" : "error", buf_str(&id), yes ? "response" : "error",
		yes ? buf_str(&answer) : "\"not supported\"");
	native_reply(n, &text);
}

/* clang-format off */
static const struct {
	const char *type;
	void (*on)(struct native *n, const struct jdoc *d);
} events[] = {
	{ "system",          on_system },
	{ "user",            on_user },
	{ "result",          on_result },
	{ "control_request", on_request },
};
/* clang-format on */

static void line(struct native *n, const struct jdoc *d)
{
	uint32_t type = jdoc_get(d, 0, "type");

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (jdoc_is(d, type, events[i].type)) {
			events[i].on(n, d);
			return;
		}
	}
}

const struct native_proto native_claude = {
	.line = line,
	.message = message,
	.end_mark = "{\"type\":\"result\"",
	.turn_end = turn_end,
};
