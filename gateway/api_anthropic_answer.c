/* Anthropic Messages: answers. The three kinds of input tokens are counted apart and are added up
 * here; usage is cumulative, so the largest of each kind counts. */
#include "gateway/api_anthropic_internal.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/api_internal.h"
#include "gateway/sse.h"

/* clang-format off */
static const char *const reasons[] = { "end_turn", "stop_sequence", "tool_use", "max_tokens",
				       "model_context_window_exceeded", "refusal", NULL };
static const enum api_finish finishes[] = { FINISH_STOP, FINISH_STOP, FINISH_TOOLS, FINISH_LENGTH,
					    FINISH_LENGTH, FINISH_FILTER };
static const char *const reason_of[] = {
	[FINISH_STOP] = "end_turn", [FINISH_TOOLS] = "tool_use", [FINISH_LENGTH] = "max_tokens",
	[FINISH_FILTER] = "refusal", [FINISH_OTHER] = "end_turn",
};
/* clang-format on */

static void read_usage(struct answering *w, const struct jdoc *d, uint32_t at)
{
	struct api_usage *u = &w->a->usage;
	uint64_t searches = 0, fetches = 0;

	if (jdoc_kind(d, at) != J_OBJECT)
		return;
	u->known |= api_answer_max(&w->apart, d, jdoc_get(d, at, "input_tokens"));
	u->known |= api_answer_max(&u->output, d, jdoc_get(d, at, "output_tokens"));
	api_answer_max(&u->cached, d, jdoc_get(d, at, "cache_read_input_tokens"));
	api_answer_max(&u->cache_write, d, jdoc_get(d, at, "cache_creation_input_tokens"));
	api_answer_max(&searches, d, jdoc_path(d, at, "server_tool_use.web_search_requests"));
	api_answer_max(&fetches, d, jdoc_path(d, at, "server_tool_use.web_fetch_requests"));
	if (__builtin_add_overflow(w->apart, u->cached, &u->input) ||
	    __builtin_add_overflow(u->input, u->cache_write, &u->input))
		u->input = UINT64_MAX;
	if (searches > UINT32_MAX || fetches > UINT32_MAX)
		searches = fetches = UINT32_MAX;
	if (searches + fetches > w->a->web_requests)
		w->a->web_requests = searches + fetches;
}

/* A block begins, in a stream (@index is its number) or whole in a body. */
static void read_block(struct answering *w, const struct jdoc *d, uint32_t b, uint64_t index)
{
	uint32_t type = jdoc_get(d, b, "type"), input = jdoc_get(d, b, "input");
	size_t i;

	if (jdoc_is(d, type, "text"))
		api_answer_text(w, jdoc_get(d, b, "text"), d);
	if (!jdoc_is(d, type, "tool_use"))
		return; /* thinking, and the provider's own tools with their results */
	i = api_answer_call(w, index);
	api_answer_name(w, i, d, jdoc_get(d, b, "id"), jdoc_get(d, b, "name"));
	/* in a stream {} stands there and the text follows in pieces */
	if (jdoc_first(d, input) != JNONE)
		api_answer_args(w, i, d, input);
}

static void read_reason(struct answering *w, const struct jdoc *d, uint32_t reason)
{
	int k = api_answer_word(d, reason, reasons);

	if (jdoc_kind(d, reason) == J_STRING)
		w->a->finish = k < 0 ? FINISH_OTHER : finishes[k];
}

static void on_start(struct answering *w, const struct jdoc *d)
{
	uint32_t message = jdoc_get(d, 0, "message");

	if (!w->a->model)
		w->a->model = jdoc_strdup(d, jdoc_get(d, message, "model"));
	read_usage(w, d, jdoc_get(d, message, "usage"));
}

static void on_block(struct answering *w, const struct jdoc *d)
{
	uint64_t index = 0;

	(void)jdoc_u64(d, jdoc_get(d, 0, "index"), &index); /* without one it is the first */
	read_block(w, d, jdoc_get(d, 0, "content_block"), index);
}

static void on_delta(struct answering *w, const struct jdoc *d)
{
	uint32_t delta = jdoc_get(d, 0, "delta"), type = jdoc_get(d, delta, "type");
	uint64_t index = 0;

	(void)jdoc_u64(d, jdoc_get(d, 0, "index"), &index); /* as above */
	if (jdoc_is(d, type, "text_delta"))
		api_answer_text(w, jdoc_get(d, delta, "text"), d);
	else if (jdoc_is(d, type, "input_json_delta"))
		api_answer_args(w, api_answer_find(w, index), d,
				jdoc_get(d, delta, "partial_json"));
}

static void on_message_delta(struct answering *w, const struct jdoc *d)
{
	read_reason(w, d, jdoc_path(d, 0, "delta.stop_reason"));
	read_usage(w, d, jdoc_get(d, 0, "usage"));
}

static void on_stop(struct answering *w, const struct jdoc *d)
{
	(void)d; /* it says nothing more */
	w->terminal = !w->a->error;
}

static void on_error(struct answering *w, const struct jdoc *d)
{
	api_answer_error(w, d, jdoc_get(d, 0, "error"));
	w->terminal = false;
	w->broken = true;
}

static void anthropic_event(struct answering *w, const struct jdoc *d, const char *type)
{
	static const struct {
		const char *type;
		void (*on)(struct answering *w, const struct jdoc *d);
	} rows[] = {
		{ "message_start", on_start },       { "content_block_start", on_block },
		{ "content_block_delta", on_delta }, { "message_delta", on_message_delta },
		{ "message_stop", on_stop },         { "error", on_error },
	};
	uint32_t said = jdoc_get(d, 0, "type");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (said == JNONE ? str_eq(type, rows[i].type) : jdoc_is(d, said, rows[i].type))
			rows[i].on(w, d);
}

static void anthropic_body(struct answering *w, const struct jdoc *d)
{
	uint32_t error = jdoc_get(d, 0, "error"), content = jdoc_get(d, 0, "content");

	if (jdoc_kind(d, error) == J_OBJECT || jdoc_kind(d, error) == J_STRING) {
		api_answer_error(w, d, error);
		w->terminal = true;
		return;
	}
	w->a->model = jdoc_strdup(d, jdoc_get(d, 0, "model"));
	w->a->finish = FINISH_STOP;
	if (jdoc_kind(d, content) != J_ARRAY)
		return;
	jdoc_each (b, d, content)
		read_block(w, d, b, 0);
	read_reason(w, d, jdoc_get(d, 0, "stop_reason"));
	read_usage(w, d, jdoc_get(d, 0, "usage"));
	w->terminal = true;
}

void api_anthropic_answer(const char *body, size_t n, bool sse, struct api_answer *a)
{
	static const struct answer_ops ops = {
		.event = anthropic_event,
		.body = anthropic_body,
		.missing = "message_stop is missing",
	};

	api_answer_run(&ops, body, n, sse, a);
}

/* The message object; @done: with content and reason, else as a stream begins. */
static void add_message(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			bool done, struct buf *b)
{
	const struct api_usage *u = &a->usage;
	const char *comma = "";

	buf_addf(b,
		 "{\"id\":\"msg_%024llx\",\"type\":\"message\",\"role\":\"assistant\",\"model\":",
		 (unsigned long long)serial);
	api_answer_quote(b, api_answer_model(a, q));
	buf_adds(b, ",\"content\":[");
	if (done && a->text) {
		buf_adds(b, "{\"type\":\"text\",\"text\":");
		api_answer_quote(b, a->text);
		buf_addc(b, '}');
		comma = ",";
	}
	for (size_t i = 0; done && i < a->n_calls; i++) {
		buf_addf(b, "%s{\"type\":\"tool_use\",\"id\":", comma);
		api_answer_id(a, i, "toolu_", serial, b);
		buf_adds(b, ",\"name\":");
		api_answer_quote(b, a->calls[i].name);
		buf_adds(b, ",\"input\":");
		api_answer_object(a, i, b);
		buf_addc(b, '}');
		comma = ",";
	}
	if (done)
		buf_addf(b, "],\"stop_reason\":\"%s\"", reason_of[api_answer_finish(a)]);
	else
		buf_adds(b, "],\"stop_reason\":null");
	buf_addf(b,
		 ",\"stop_sequence\":null,\"usage\":{\"input_tokens\":%llu,"
		 "\"cache_creation_input_tokens\":%llu,\"cache_read_input_tokens\":%llu,"
		 "\"output_tokens\":%llu}}",
		 (unsigned long long)api_answer_minus(u->input, u->cached + u->cache_write),
		 (unsigned long long)u->cache_write, (unsigned long long)u->cached,
		 (unsigned long long)(done        ? u->output
				      : u->output ? 1
						  : 0));
}

/* One block as events; @start is its object, @delta the one delta. */
static void write_block(size_t index, const char *start, const char *delta, struct buf *out)
{
	auto_buf b = BUF_INIT(out->max);

	buf_addf(&b, "{\"type\":\"content_block_start\",\"index\":%zu,\"content_block\":%s}", index,
		 start);
	sse_write(out, "content_block_start", buf_str(&b));
	buf_clear(&b);
	buf_addf(&b, "{\"type\":\"content_block_delta\",\"index\":%zu,\"delta\":%s}", index, delta);
	sse_write(out, "content_block_delta", buf_str(&b));
	buf_clear(&b);
	buf_addf(&b, "{\"type\":\"content_block_stop\",\"index\":%zu}", index);
	sse_write(out, "content_block_stop", buf_str(&b));
}

static void write_blocks(const struct api_answer *a, uint64_t serial, struct buf *out)
{
	auto_buf start = BUF_INIT(out->max), delta = BUF_INIT(out->max);
	size_t index = 0;

	if (a->text) {
		buf_adds(&delta, "{\"type\":\"text_delta\",\"text\":");
		api_answer_quote(&delta, a->text);
		buf_addc(&delta, '}');
		write_block(index++, "{\"type\":\"text\",\"text\":\"\"}", buf_str(&delta), out);
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		auto_buf args = BUF_INIT(out->max);

		buf_clear(&start);
		buf_clear(&delta);
		buf_adds(&start, "{\"type\":\"tool_use\",\"id\":");
		api_answer_id(a, i, "toolu_", serial, &start);
		buf_adds(&start, ",\"name\":");
		api_answer_quote(&start, a->calls[i].name);
		buf_adds(&start, ",\"input\":{}}");
		api_answer_object(a, i, &args);
		buf_adds(&delta, "{\"type\":\"input_json_delta\",\"partial_json\":");
		api_answer_quote(&delta, buf_str(&args));
		buf_addc(&delta, '}');
		write_block(index++, buf_str(&start), buf_str(&delta), out);
	}
}

void api_anthropic_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			 struct buf *out)
{
	const struct api_usage *u = &a->usage;
	auto_buf b = BUF_INIT(out->max);

	if (!q->stream) {
		add_message(a, q, serial, true, out);
		return;
	}
	buf_adds(&b, "{\"type\":\"message_start\",\"message\":");
	add_message(a, q, serial, false, &b);
	buf_addc(&b, '}');
	sse_write(out, "message_start", buf_str(&b));
	write_blocks(a, serial, out);
	buf_clear(&b);
	buf_addf(&b,
		 "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\","
		 "\"stop_sequence\":null},\"usage\":{\"input_tokens\":%llu,"
		 "\"cache_creation_input_tokens\":%llu,\"cache_read_input_tokens\":%llu,"
		 "\"output_tokens\":%llu}}",
		 reason_of[api_answer_finish(a)],
		 (unsigned long long)api_answer_minus(u->input, u->cached + u->cache_write),
		 (unsigned long long)u->cache_write, (unsigned long long)u->cached,
		 (unsigned long long)u->output);
	sse_write(out, "message_delta", buf_str(&b));
	sse_write(out, "message_stop", "{\"type\":\"message_stop\"}");
}

void api_anthropic_error(int status, const char *message, struct buf *out)
{
	static const struct api_status rows[] = {
		{ 400, "invalid_request_error" },
		{ 401, "authentication_error" },
		{ 403, "permission_error" },
		{ 404, "not_found_error" },
		{ 413, "request_too_large" },
		{ 429, "rate_limit_error" },
		{ 500, "api_error" },
		{ 529, "overloaded_error" },
	};

	buf_addf(out, "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":",
		 api_answer_status(rows, ARRAY_SIZE(rows), status));
	api_answer_quote(out, message);
	buf_adds(out, "},\"request_id\":null}");
}

void api_anthropic_count(uint64_t tokens, struct buf *out)
{
	buf_addf(out, "{\"input_tokens\":%llu}", (unsigned long long)tokens);
}
