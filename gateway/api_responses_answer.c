/* OpenAI Responses: answers. The finished items count, not their deltas; the list in the last event
 * counts most, where a server fills it. */
#include "gateway/api_responses_internal.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/api_internal.h"
#include "gateway/sse.h"

/* clang-format off */
/* Items that are tool calls, and which member holds the arguments. */
static const struct {
	const char *type, *args, *name; /* name: when the item has none */
} call_rows[] = {
	{ "function_call",    "arguments", NULL },
	{ "custom_tool_call", "input",     NULL },
	{ "local_shell_call", "action",    "local_shell" },
	{ "shell_call",       "action",    "shell" },
	{ "apply_patch_call", "operation", "apply_patch" },
};

/* Items that are work of the provider's own tools. */
static const char *const billed[] = { "web_search_call", "file_search_call",
				      "code_interpreter_call", "image_generation_call", NULL };

static const char *const reasons[] = { "max_output_tokens", "content_filter", NULL };
/* clang-format on */

static void read_usage(struct answering *w, const struct jdoc *d, uint32_t at)
{
	struct api_usage *u = &w->a->usage;

	if (jdoc_kind(d, at) != J_OBJECT)
		return;
	u->known |= api_answer_max(&u->input, d, jdoc_get(d, at, "input_tokens"));
	u->known |= api_answer_max(&u->output, d, jdoc_get(d, at, "output_tokens"));
	api_answer_max(&u->cached, d, jdoc_path(d, at, "input_tokens_details.cached_tokens"));
	api_answer_max(&u->cache_write, d,
		       jdoc_path(d, at, "input_tokens_details.cache_write_tokens"));
	api_answer_max(&u->reasoning, d,
		       jdoc_path(d, at, "output_tokens_details.reasoning_tokens"));
}

/* One finished output item. */
static void read_item(struct answering *w, const struct jdoc *d, uint32_t item)
{
	uint32_t type = jdoc_get(d, item, "type");

	if (jdoc_is(d, type, "message")) {
		jdoc_each (c, d, jdoc_get(d, item, "content")) {
			api_answer_text(w, jdoc_get(d, c, "text"), d);
			api_answer_text(w, jdoc_get(d, c, "refusal"), d);
		}
		return;
	}
	if (api_answer_word(d, type, billed) >= 0)
		w->a->web_requests++;
	for (size_t k = 0; k < ARRAY_SIZE(call_rows); k++) {
		uint32_t id = jdoc_get(d, item, "call_id");
		size_t i;

		if (!jdoc_is(d, type, call_rows[k].type))
			continue;
		i = api_answer_call(w, w->a->n_calls);
		if (i == SIZE_MAX)
			return;
		api_answer_name(w, i, d, id == JNONE ? jdoc_get(d, item, "id") : id,
				jdoc_get(d, item, "name"));
		if (call_rows[k].name && !w->a->calls[i].name)
			w->a->calls[i].name = mem_strdup(call_rows[k].name);
		w->a->calls[i].custom = str_eq(call_rows[k].type, "custom_tool_call");
		api_answer_args(w, i, d, jdoc_get(d, item, call_rows[k].args));
	}
}

/* The response as a whole: a body, or what the last event carries. */
static void read_response(struct answering *w, const struct jdoc *d, uint32_t at)
{
	uint32_t status = jdoc_get(d, at, "status"), output = jdoc_get(d, at, "output");
	uint32_t error = jdoc_get(d, at, "error");
	bool failed = jdoc_is(d, status, "failed") || jdoc_is(d, status, "cancelled");

	if (!w->a->model)
		w->a->model = jdoc_strdup(d, jdoc_get(d, at, "model"));
	read_usage(w, d, jdoc_get(d, at, "usage"));
	if (jdoc_first(d, output) != JNONE) {
		api_answer_reset(w);
		w->a->web_requests = 0;
		jdoc_each (c, d, output)
			read_item(w, d, c);
	}
	if (failed || jdoc_kind(d, error) == J_OBJECT || jdoc_kind(d, error) == J_STRING) {
		api_answer_error(w, d, error == JNONE ? at : error);
		w->terminal = true;
	} else if (jdoc_is(d, status, "incomplete")) {
		int k = api_answer_word(d, jdoc_path(d, at, "incomplete_details.reason"), reasons);

		w->a->finish = k == 0 ? FINISH_LENGTH : k == 1 ? FINISH_FILTER : FINISH_OTHER;
		w->terminal = true;
	} else if (jdoc_is(d, status, "completed") ||
		   (status == JNONE && jdoc_kind(d, output) == J_ARRAY)) {
		w->a->finish = FINISH_STOP;
		w->terminal = true;
	}
}

static void add_spare(struct answering *w, const struct jdoc *d, uint32_t at)
{
	auto_free char *s = jdoc_strdup(d, at);

	if (s && strlen(s) <= w->spare.max - w->spare.len)
		buf_adds(&w->spare, s);
	else if (s)
		w->over = true;
}

static void responses_event(struct answering *w, const struct jdoc *d, const char *type)
{
	auto_free char *said = jdoc_strdup(d, jdoc_get(d, 0, "type"));
	const char *name = said ? said : type;
	uint32_t response = jdoc_get(d, 0, "response");

	if (str_eq(name, "error") || (!said && jdoc_get(d, 0, "error") != JNONE)) {
		uint32_t error = jdoc_get(d, 0, "error");

		api_answer_error(w, d, jdoc_kind(d, error) == J_OBJECT ? error : 0);
		w->terminal = false;
		w->broken = true;
	} else if (str_eq(name, "response.output_text.delta")) {
		add_spare(w, d, jdoc_get(d, 0, "delta"));
	} else if (str_eq(name, "response.output_item.done")) {
		read_item(w, d, jdoc_get(d, 0, "item"));
	} else if (str_eq(name, "response.completed") || str_eq(name, "response.incomplete") ||
		   str_eq(name, "response.failed") || str_eq(name, "response.done")) {
		read_response(w, d, response);
		/* the event says it, whatever the status inside */
		if (response != JNONE && !w->broken)
			w->terminal = true;
	}
}

static void responses_body(struct answering *w, const struct jdoc *d)
{
	read_response(w, d, 0);
}

void api_responses_answer(const char *body, size_t n, bool sse, struct api_answer *a)
{
	static const struct answer_ops ops = {
		.event = responses_event,
		.body = responses_body,
		.missing = "response.completed is missing",
	};

	api_answer_run(&ops, body, n, sse, a);
}

/* A stream while it is written. */
struct writing {
	const struct api_answer *a;
	const struct api_request *q;
	uint64_t serial, seq;
	struct buf *out;
	struct buf b; /* data of the event at work */
};

static const char *status_of(const struct api_answer *a)
{
	return a->finish == FINISH_LENGTH || a->finish == FINISH_FILTER ? "incomplete"
									: "completed";
}

/* Id of output item @i: the message, then the calls. */
static void add_item_id(const struct writing *w, size_t i, struct buf *b)
{
	size_t message = w->a->text != NULL;
	const char *kind = i < message ? "msg" : w->a->calls[i - message].custom ? "ctc" : "fc";

	buf_addf(b, "\"%s_%028llx%04zx\"", kind, (unsigned long long)w->serial, i);
}

static void add_text_part(const char *text, struct buf *b)
{
	buf_adds(b, "{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":");
	api_answer_quote(b, text);
	buf_addc(b, '}');
}

/* Output item @i; @done: with its contents. */
static void add_item(const struct writing *w, size_t i, bool done, struct buf *b)
{
	const char *status = done ? "completed" : "in_progress";
	size_t message = w->a->text != NULL;
	const struct api_tool_call *c;

	buf_adds(b, "{\"id\":");
	add_item_id(w, i, b);
	buf_addf(b, ",\"status\":\"%s\"", status);
	if (i < message) {
		buf_adds(b, ",\"type\":\"message\",\"role\":\"assistant\",\"content\":[");
		if (done)
			add_text_part(w->a->text, b);
		buf_adds(b, "]}");
		return;
	}
	c = &w->a->calls[i - message];
	buf_addf(b,
		 ",\"type\":\"%s\",\"call_id\":", c->custom ? "custom_tool_call" : "function_call");
	api_answer_id(w->a, i - message, "call_", w->serial, b);
	buf_adds(b, ",\"name\":");
	api_answer_quote(b, c->name);
	buf_addf(b, ",\"%s\":", c->custom ? "input" : "arguments");
	api_answer_quote(b, done ? c->args : "");
	buf_addc(b, '}');
}

static size_t n_items(const struct api_answer *a)
{
	return a->n_calls + (a->text != NULL);
}

static void add_usage(const struct api_usage *u, struct buf *b)
{
	buf_addf(b,
		 "{\"input_tokens\":%llu,\"input_tokens_details\":{\"cached_tokens\":%llu},"
		 "\"output_tokens\":%llu,\"output_tokens_details\":{\"reasoning_tokens\":%llu},"
		 "\"total_tokens\":%llu}",
		 (unsigned long long)u->input, (unsigned long long)u->cached,
		 (unsigned long long)u->output, (unsigned long long)u->reasoning,
		 (unsigned long long)(u->input + u->output));
}

/* The response object; @done: with output and usage. */
static void add_response(const struct writing *w, bool done, struct buf *b)
{
	const struct api_answer *a = w->a;

	buf_addf(b, "{\"id\":\"resp_%032llx\",\"object\":\"%s\",\"created_at\":%llu,\"model\":",
		 (unsigned long long)w->serial,
		 w->q->route == API_ROUTE_COMPACT ? "response.compaction" : "response",
		 (unsigned long long)(API_TIME_ZERO + w->serial));
	api_answer_quote(b, api_answer_model(a, w->q));
	buf_addf(b, ",\"status\":\"%s\",\"output\":[", done ? status_of(a) : "in_progress");
	for (size_t i = 0; done && i < n_items(a); i++) {
		if (i)
			buf_addc(b, ',');
		add_item(w, i, true, b);
	}
	buf_adds(b, "],\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\"tools\":[],"
		    "\"error\":null,\"incomplete_details\":");
	if (done && (a->finish == FINISH_LENGTH || a->finish == FINISH_FILTER))
		buf_addf(b, "{\"reason\":\"%s\"}", reasons[a->finish == FINISH_FILTER]);
	else
		buf_adds(b, "null");
	buf_adds(b, ",\"instructions\":null,\"metadata\":{},\"usage\":");
	if (done)
		add_usage(&a->usage, b);
	else
		buf_adds(b, "null");
	buf_addc(b, '}');
}

static void begin(struct writing *w, const char *type)
{
	buf_clear(&w->b);
	buf_addf(&w->b, "{\"type\":\"%s\",\"sequence_number\":%llu", type,
		 (unsigned long long)w->seq++);
}

static void end(struct writing *w, const char *type)
{
	buf_addc(&w->b, '}');
	sse_write(w->out, type, buf_str(&w->b));
}

static void response_event(struct writing *w, const char *type, bool done)
{
	begin(w, type);
	buf_adds(&w->b, ",\"response\":");
	add_response(w, done, &w->b);
	end(w, type);
}

static void item_event(struct writing *w, const char *type, size_t i, bool done)
{
	begin(w, type);
	buf_addf(&w->b, ",\"output_index\":%zu,\"item\":", i);
	add_item(w, i, done, &w->b);
	end(w, type);
}

/* An event about the inside of item @i: @key holds @text, as a string or as a text part. */
static void inner_event(struct writing *w, const char *type, size_t i, const char *key,
			const char *text)
{
	bool message = w->a->text && i == 0;

	begin(w, type);
	buf_adds(&w->b, ",\"item_id\":");
	add_item_id(w, i, &w->b);
	buf_addf(&w->b, ",\"output_index\":%zu%s,\"%s\":", i, message ? ",\"content_index\":0" : "",
		 key);
	if (str_eq(key, "part"))
		add_text_part(text, &w->b);
	else
		api_answer_quote(&w->b, text);
	if (str_starts(type, "response.output_text."))
		buf_adds(&w->b, ",\"logprobs\":[]");
	end(w, type);
}

static void write_item(struct writing *w, size_t i)
{
	size_t message = w->a->text != NULL;

	item_event(w, "response.output_item.added", i, false);
	if (i < message) {
		const char *text = w->a->text;

		inner_event(w, "response.content_part.added", i, "part", "");
		inner_event(w, "response.output_text.delta", i, "delta", text);
		inner_event(w, "response.output_text.done", i, "text", text);
		inner_event(w, "response.content_part.done", i, "part", text);
	} else if (w->a->calls[i - message].custom) {
		const char *args = w->a->calls[i - message].args;

		inner_event(w, "response.custom_tool_call_input.delta", i, "delta", args);
		inner_event(w, "response.custom_tool_call_input.done", i, "input", args);
	} else {
		const char *args = w->a->calls[i - message].args;

		inner_event(w, "response.function_call_arguments.delta", i, "delta", args);
		inner_event(w, "response.function_call_arguments.done", i, "arguments", args);
	}
	item_event(w, "response.output_item.done", i, true);
}

void api_responses_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			 struct buf *out)
{
	struct writing w = {
		.a = a, .q = q, .serial = serial, .out = out, .b = BUF_INIT(out->max)
	};

	if (!q->stream) {
		add_response(&w, true, out);
		return;
	}
	response_event(&w, "response.created", false);
	response_event(&w, "response.in_progress", false);
	for (size_t i = 0; i < n_items(a); i++)
		write_item(&w, i);
	response_event(&w,
		       str_eq(status_of(a), "incomplete") ? "response.incomplete"
							  : "response.completed",
		       true);
	buf_done(&w.b);
}

void api_responses_count(uint64_t tokens, struct buf *out)
{
	buf_addf(out, "{\"object\":\"response.input_tokens\",\"input_tokens\":%llu}",
		 (unsigned long long)tokens);
}
