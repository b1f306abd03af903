/* pi --mode rpc (packages/coding-agent/docs/rpc.md): commands and events, one JSON object a line. A
 * prompt with "streamingBehavior": "steer" is the agent's own choice between steering the turn and
 * beginning one, so a message that crosses the end of a turn is not left in a queue. */
#include "supervisor/native_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Each holds the whole message so far: long, many, and nothing for us. */
static const char *const skip[] = { "{\"type\":\"message_update\"", "{\"type\":\"message_start\"",
				    "{\"type\":\"message_end\"",    "{\"type\":\"turn_end\"",
				    "{\"type\":\"tool_execution_",  NULL };

/* The turn has ended, as far as we know. Events that follow (a retry after an error, a compaction) can
 * begin another one, and so can a prompt under way: the agent is asked, after it has answered those. */
static void ask_state(struct native *n)
{
	auto_buf line = BUF_INIT(256);

	if (!n->turn_over || native_waiting(n) || n->phase == NATIVE_OVER)
		return;
	n->phase = NATIVE_BUSY;
	n->asked_state = native_ask(n);
	buf_addf(&line, "{\"id\":\"%" PRIu64 "\",\"type\":\"get_state\"}", n->asked_state);
	native_send(n, &line);
}

static void on_start(struct native *n, const struct jdoc *d)
{
	(void)d;
	n->turn_over = n->retrying = n->compacted = false;
	n->asked_state = 0;
	if (n->phase != NATIVE_OVER)
		n->phase = NATIVE_WORKING;
}

static void turn_end(struct native *n)
{
	n->turn_over = true;
	if (n->phase != NATIVE_OVER)
		n->phase = NATIVE_BUSY;
	ask_state(n);
}

static void on_end(struct native *n, const struct jdoc *d)
{
	(void)d;
	turn_end(n);
}

/* It will go on by itself. */
static void on_retry(struct native *n, const struct jdoc *d)
{
	(void)d;
	n->retrying = true;
}

static void on_retry_end(struct native *n, const struct jdoc *d)
{
	if (jdoc_true(d, jdoc_get(d, 0, "success")))
		return;
	n->retrying = false;
	ask_state(n);
}

static void on_compacted(struct native *n, const struct jdoc *d)
{
	n->compacted = jdoc_kind(d, jdoc_get(d, 0, "result")) == J_OBJECT;
	if (jdoc_true(d, jdoc_get(d, 0, "willRetry")))
		n->retrying = true;
	ask_state(n);
}

static void on_state(struct native *n, const struct jdoc *d)
{
	uint32_t data = jdoc_get(d, 0, "data");
	uint64_t pending = 0;

	if (!n->turn_over || n->phase != NATIVE_BUSY)
		return;
	(void)jdoc_u64(d, jdoc_get(d, data, "pendingMessageCount"), &pending); /* absent: 0 */
	/* What follows begins with agent_start, or ends with compaction_end or auto_retry_end. After a
	 * compaction the agent takes up what it has queued by itself. */
	if (n->retrying || jdoc_true(d, jdoc_get(d, data, "isStreaming")) ||
	    jdoc_true(d, jdoc_get(d, data, "isCompacting")) || (n->compacted && pending))
		return;
	n->phase = NATIVE_IDLE;
}

/* Our ids are numbers in a string. */
static void on_response(struct native *n, const struct jdoc *d)
{
	char id[NATIVE_ID_MAX + 1], why[NATIVE_WHY_MAX + 1];
	struct native_msg *m;
	uint64_t ask;

	native_copy(d, jdoc_get(d, 0, "id"), id, sizeof(id));
	if (str_u64(id, &ask) < 0 || !ask)
		return;
	if (ask == n->asked_state) {
		n->asked_state = 0;
		on_state(n, d);
		return;
	}
	m = native_find(n, ask);
	if (!m)
		return;
	if (jdoc_true(d, jdoc_get(d, 0, "success"))) {
		native_accept(n, m);
	} else {
		native_copy(d, jdoc_get(d, 0, "error"), why, sizeof(why));
		native_refuse(n, m, why[0] ? why : "refused");
	}
	ask_state(n);
}

/* A question of an extension for the user, who is not there. */
static void on_question(struct native *n, const struct jdoc *d)
{
	static const char *const asks[] = { "select", "confirm", "input", "editor" };
	uint32_t method = jdoc_get(d, 0, "method");
	auto_buf line = BUF_INIT(1024);

	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		if (!jdoc_is(d, method, asks[i]))
			continue;
		buf_adds(&line, "{\"type\":\"extension_ui_response\",\"id\":");
		if (native_raw(d, jdoc_get(d, 0, "id"), NATIVE_ID_MAX, &line) < 0)
			return;
		buf_adds(&line, ",\"cancelled\":true}");
		native_reply(n, &line);
		return;
	}
}

/* clang-format off */
static const struct {
	const char *type;
	void (*on)(struct native *n, const struct jdoc *d);
} events[] = {
	{ "agent_start",          on_start },
	{ "agent_end",            on_end },
	{ "auto_retry_start",     on_retry },
	{ "auto_retry_end",       on_retry_end },
	{ "compaction_end",       on_compacted },
	{ "response",             on_response },
	{ "extension_ui_request", on_question },
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

static void message(struct native *n, struct native_msg *m)
{
	auto_buf text = BUF_INIT(NATIVE_LINE_MAX);

	if (n->phase == NATIVE_IDLE) {
		/* A prompt that an extension swallows begins no turn: the state tells. Between the
		 * prompt and agent_start a second prompt would be lost. */
		n->turn_over = true;
		n->phase = NATIVE_BUSY;
	}
	buf_addf(&text, "{\"id\":\"%" PRIu64 "\",\"type\":\"prompt\",\"message\":", m->ask);
	jedit_quote(&text, m->text, strlen(m->text));
	buf_adds(&text, ",\"streamingBehavior\":\"steer\"}");
	native_send(n, &text);
}

const struct native_proto native_pi = {
	.line = line,
	.message = message,
	.skip = skip,
	.end_mark = "{\"type\":\"agent_end\"",
	.turn_end = turn_end,
};
