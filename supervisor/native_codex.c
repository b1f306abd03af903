/* codex app-server on its standard streams: JSON-RPC without the "jsonrpc" member, one object a line
 * (codex app-server generate-json-schema prints every message). initialize, initialized, thread/start,
 * turn/start; turn/steer puts a message into the turn that is going on. */
#include "supervisor/native_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { NO_SUCH_METHOD = -32601 }; /* JSON-RPC 2.0, section 5.1 */

static void begin(struct native *n)
{
	auto_buf text = BUF_INIT(512);

	n->ask_init = native_ask(n);
	buf_addf(&text,
		 "{\"id\":%" PRIu64 ",\"method\":\"initialize\",\"params\":{\"clientInfo\":"
		 "{\"name\":\"cli\",\"version\":\"1.0.0\"}}}",
		 n->ask_init);
	native_send(n, &text);
}

/* Nobody sits there to be asked; the box is the sandbox. */
static void start_thread(struct native *n)
{
	auto_buf hello = BUF_INIT(64), text = BUF_INIT(1 << 16);

	buf_adds(&hello, "{\"method\":\"initialized\"}");
	native_send(n, &hello);
	n->ask_thread = native_ask(n);
	buf_addf(&text, "{\"id\":%" PRIu64 ",\"method\":\"thread/start\",\"params\":{\"cwd\":",
		 n->ask_thread);
	jedit_quote(&text, n->workdir, strlen(n->workdir));
	buf_adds(&text, ",\"approvalPolicy\":\"never\",\"sandbox\":\"danger-full-access\"}}");
	native_send(n, &text);
}

static void message(struct native *n, struct native_msg *m)
{
	auto_buf text = BUF_INIT(NATIVE_LINE_MAX);

	buf_addf(&text,
		 "{\"id\":%" PRIu64 ",\"method\":\"turn/%s\",\"params\":{\"threadId\":", m->ask,
		 m->steer ? "steer" : "start");
	jedit_quote(&text, n->thread, strlen(n->thread));
	if (m->steer) {
		buf_adds(&text, ",\"expectedTurnId\":");
		jedit_quote(&text, n->turn, strlen(n->turn));
	} else {
		n->turn[0] = '\0';
		n->phase = NATIVE_BUSY; /* until the turn has a name */
	}
	buf_adds(&text, ",\"input\":[{\"type\":\"text\",\"text\":");
	jedit_quote(&text, m->text, strlen(m->text));
	buf_adds(&text, "}]}}");
	native_send(n, &text);
}

/* A turn has a name: it can be steered, unless it is over already. */
static void turn_named(struct native *n, const char *turn)
{
	if (!turn[0] || n->phase == NATIVE_OVER)
		return;
	snprintf(n->turn, sizeof(n->turn), "%s", turn);
	n->phase = strcmp(turn, n->turn_done) == 0 ? NATIVE_IDLE : NATIVE_WORKING;
}

static void on_error(struct native *n, struct native_msg *m, const char *why)
{
	/* The turn ended while the message was on its way, or is one that takes none. A new turn
	 * takes it, when this one's end has been seen. */
	if (m->steer && n->phase != NATIVE_OVER) {
		native_again(n, m);
		if (n->phase == NATIVE_WORKING)
			n->phase = NATIVE_BUSY;
		return;
	}
	native_refuse(n, m, why);
	/* The turn that it was to begin. */
	if (n->phase == NATIVE_BUSY)
		n->phase = NATIVE_IDLE;
}

static void on_opening(struct native *n, const struct jdoc *d, uint64_t ask, const char *why)
{
	uint32_t thread;

	if (why[0]) {
		native_give_up(n, why);
	} else if (ask == n->ask_init) {
		n->ask_init = 0;
		start_thread(n);
	} else {
		n->ask_thread = 0;
		thread = jdoc_path(d, 0, "result.thread.id");
		native_copy(d, thread, n->thread, sizeof(n->thread));
		if (n->thread[0])
			n->phase = NATIVE_IDLE;
		else
			native_give_up(n, "thread/start: no thread in the answer");
	}
}

static void on_response(struct native *n, const struct jdoc *d, uint64_t ask)
{
	char why[NATIVE_WHY_MAX + 1] = "", turn[NATIVE_ID_MAX + 1];
	struct native_msg *m = native_find(n, ask);

	if (jdoc_get(d, 0, "error") != JNONE) {
		native_copy(d, jdoc_path(d, 0, "error.message"), why, sizeof(why));
		if (!why[0])
			snprintf(why, sizeof(why), "refused");
	}
	if (ask && (ask == n->ask_init || ask == n->ask_thread)) {
		if (n->phase != NATIVE_OVER)
			on_opening(n, d, ask, why);
		return;
	}
	if (!m)
		return;
	if (why[0]) {
		on_error(n, m, why);
		return;
	}
	if (!m->steer) {
		native_copy(d, jdoc_path(d, 0, "result.turn.id"), turn, sizeof(turn));
		turn_named(n, turn);
	}
	native_accept(n, m);
}

/* Is it about our thread? Sub-agents have their own. */
static bool ours(const struct native *n, const struct jdoc *d)
{
	return n->thread[0] && jdoc_is(d, jdoc_path(d, 0, "params.threadId"), n->thread);
}

static void on_turn_started(struct native *n, const struct jdoc *d)
{
	char turn[NATIVE_ID_MAX + 1];

	native_copy(d, jdoc_path(d, 0, "params.turn.id"), turn, sizeof(turn));
	turn_named(n, turn);
}

static void on_turn_completed(struct native *n, const struct jdoc *d)
{
	native_copy(d, jdoc_path(d, 0, "params.turn.id"), n->turn_done, sizeof(n->turn_done));
	if (n->phase != NATIVE_OVER && n->turn[0] && strcmp(n->turn, n->turn_done) == 0)
		n->phase = NATIVE_IDLE;
}

/* Requests of the agent's and what they are answered. NULL: with what it asked for. */
/* clang-format off */
static const struct {
	const char *method, *result;
} answers[] = {
	{ "item/commandExecution/requestApproval", "{\"decision\":\"accept\"}" },
	{ "item/fileChange/requestApproval",       "{\"decision\":\"accept\"}" },
	{ "item/permissions/requestApproval",      NULL },
	{ "item/tool/requestUserInput",            "{\"answers\":{}}" },
	{ "mcpServer/elicitation/request",         "{\"action\":\"decline\"}" },
	{ "applyPatchApproval",                    "{\"decision\":\"approved\"}" },
	{ "execCommandApproval",                   "{\"decision\":\"approved\"}" },
};
/* clang-format on */

static int put_result(const struct jdoc *d, const char *result, struct buf *out)
{
	if (result)
		return buf_adds(out, result);
	buf_adds(out, "{\"permissions\":");
	if (native_raw(d, jdoc_path(d, 0, "params.permissions"), NATIVE_RAW_MAX, out) < 0)
		return -1;
	return buf_adds(out, "}");
}

static void on_request(struct native *n, const struct jdoc *d, uint32_t method)
{
	auto_buf id = BUF_INIT(NATIVE_ID_MAX), result = BUF_INIT(2 * NATIVE_RAW_MAX),
		 text = BUF_INIT(4 * NATIVE_RAW_MAX);
	bool known = false;

	if (native_raw(d, jdoc_get(d, 0, "id"), NATIVE_ID_MAX, &id) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(answers) && !known; i++)
		known = jdoc_is(d, method, answers[i].method) &&
			put_result(d, answers[i].result, &result) == 0;
	if (known)
		buf_addf(&text, "{\"id\":%s,\"result\":%s}", buf_str(&id), buf_str(&result));
	else
		buf_addf(&text, "{\"id\":%s,\"error\":{\"code\":%d,\"message\":\"not supported\"}}",
			 buf_str(&id), NO_SUCH_METHOD);
	native_reply(n, &text);
}

static void line(struct native *n, const struct jdoc *d)
{
	uint32_t method = jdoc_get(d, 0, "method"), id = jdoc_get(d, 0, "id");
	uint64_t ask;

	if (method == JNONE) {
		if (jdoc_u64(d, id, &ask) == 0)
			on_response(n, d, ask);
	} else if (id != JNONE) {
		on_request(n, d, method);
	} else if (jdoc_is(d, method, "turn/started") && ours(n, d)) {
		on_turn_started(n, d);
	} else if (jdoc_is(d, method, "turn/completed") && ours(n, d)) {
		on_turn_completed(n, d);
	}
}

const struct native_proto native_codex = {
	.begin = begin,
	.line = line,
	.message = message,
};
