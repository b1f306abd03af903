/* Chat Completions: answers. Dialects: usage in a chunk of its own, repeated in every chunk, inside
 * the choice or missing; calls by index, by id or whole; reasoning beside the text is passed over. */
#include "gateway/api_chat_internal.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/api_internal.h"
#include "gateway/sse.h"

/* Number of the one call of the old "function_call" form. */
#define OLD_CALL (UINT64_MAX - 1)

/* clang-format off */
static const char *const reasons[] = { "stop", "tool_calls", "function_call", "length",
				       "max_tokens", "content_filter", NULL };
static const enum api_finish finishes[] = { FINISH_STOP, FINISH_TOOLS, FINISH_TOOLS, FINISH_LENGTH,
					    FINISH_LENGTH, FINISH_FILTER };
static const char *const reason_of[] = {
	[FINISH_STOP] = "stop", [FINISH_TOOLS] = "tool_calls", [FINISH_LENGTH] = "length",
	[FINISH_FILTER] = "content_filter", [FINISH_OTHER] = "stop",
};
/* clang-format on */

static void read_usage(struct answering *w, const struct jdoc *d, uint32_t at)
{
	struct api_usage *u = &w->a->usage;
	uint64_t in = 0, hit = 0, miss = 0, out = 0, total = 0, reasoning = 0;
	bool known;

	if (jdoc_kind(d, at) != J_OBJECT)
		return;
	known = api_answer_max(&in, d, jdoc_get(d, at, "prompt_tokens"));
	known |= api_answer_max(&out, d, jdoc_get(d, at, "completion_tokens"));
	api_answer_max(&total, d, jdoc_get(d, at, "total_tokens"));
	api_answer_max(&reasoning, d,
		       jdoc_path(d, at, "completion_tokens_details.reasoning_tokens"));
	/* the names of three vendors for one thing, always part of the prompt */
	api_answer_max(&hit, d, jdoc_path(d, at, "prompt_tokens_details.cached_tokens"));
	api_answer_max(&hit, d, jdoc_get(d, at, "cached_tokens"));
	api_answer_max(&hit, d, jdoc_get(d, at, "prompt_cache_hit_tokens"));
	api_answer_max(&miss, d, jdoc_get(d, at, "prompt_cache_miss_tokens"));
	if (!in)
		in = hit + miss;
	/* a server that counts reasoning beside the output tells by the total */
	if (reasoning && total > in + out && total - in - out == reasoning)
		out += reasoning;
	u->known |= known;
	u->input = in > u->input ? in : u->input;
	u->cached = hit > u->cached ? hit : u->cached;
	u->output = out > u->output ? out : u->output;
	u->reasoning = reasoning > u->reasoning ? reasoning : u->reasoning;
	api_answer_max(&u->cache_write, d,
		       jdoc_path(d, at, "prompt_tokens_details.cache_write_tokens"));
}

/* Which call a piece belongs to. Some servers give no index, some give 0 for every call with an id of
 * its own, most give the id in the first piece only. */
static size_t call_of(struct answering *w, const struct jdoc *d, uint32_t c)
{
	auto_free char *id = jdoc_strdup(d, jdoc_get(d, c, "id"));
	uint64_t index = 0;
	bool numbered = jdoc_u64(d, jdoc_get(d, c, "index"), &index) == 0;
	size_t n = w->a->n_calls, i = numbered ? api_answer_find(w, index) : n ? n - 1 : SIZE_MAX;

	if (i == SIZE_MAX)
		return api_answer_call(w, numbered ? index : n);
	if (id && *id && w->a->calls[i].id && *w->a->calls[i].id && !str_eq(id, w->a->calls[i].id))
		return api_answer_call(w, numbered ? index : n);
	return i;
}

/* @whole: no piece, the call of a message. */
static void read_call(struct answering *w, const struct jdoc *d, uint32_t c, bool whole)
{
	uint32_t f = jdoc_get(d, c, "function"), custom = jdoc_get(d, c, "custom");
	size_t i = whole ? api_answer_call(w, w->a->n_calls) : call_of(w, d, c);

	if (i == SIZE_MAX)
		return;
	if (custom != JNONE)
		w->a->calls[i].custom = true;
	f = custom != JNONE ? custom : f;
	api_answer_name(w, i, d, jdoc_get(d, c, "id"), jdoc_get(d, f, "name"));
	api_answer_args(w, i, d, jdoc_get(d, f, custom != JNONE ? "input" : "arguments"));
}

/* Text of a message or delta: a string, or parts of which only text is visible. */
static void read_content(struct answering *w, const struct jdoc *d, uint32_t m)
{
	uint32_t content = jdoc_get(d, m, "content");

	api_answer_text(w, content, d);
	if (jdoc_kind(d, content) == J_ARRAY)
		jdoc_each (c, d, content)
			if (jdoc_is(d, jdoc_get(d, c, "type"), "text"))
				api_answer_text(w, jdoc_get(d, c, "text"), d);
	api_answer_text(w, jdoc_get(d, m, "refusal"), d);
}

static void read_choice(struct answering *w, const struct jdoc *d, uint32_t choice)
{
	uint32_t m = jdoc_get(d, choice, "delta"), reason = jdoc_get(d, choice, "finish_reason");
	uint64_t index = 0;
	bool whole = m == JNONE;
	uint32_t old;

	if (jdoc_u64(d, jdoc_get(d, choice, "index"), &index) == 0 && index)
		return; /* further choices are not what the client acts on */
	m = whole ? jdoc_get(d, choice, "message") : m;
	read_content(w, d, m);
	jdoc_each (c, d, jdoc_get(d, m, "tool_calls"))
		read_call(w, d, c, whole);
	old = jdoc_get(d, m, "function_call");
	if (jdoc_kind(d, old) == J_OBJECT) {
		size_t i = api_answer_find(w, OLD_CALL);

		i = i == SIZE_MAX ? api_answer_call(w, OLD_CALL) : i;
		api_answer_name(w, i, d, JNONE, jdoc_get(d, old, "name"));
		api_answer_args(w, i, d, jdoc_get(d, old, "arguments"));
	}
	if (jdoc_kind(d, reason) == J_STRING) {
		int k = api_answer_word(d, reason, reasons);

		w->a->finish = k < 0 ? FINISH_OTHER : finishes[k];
		w->terminal = true;
	}
	read_usage(w, d, jdoc_get(d, choice, "usage"));
}

static void chat_event(struct answering *w, const struct jdoc *d, const char *type)
{
	uint32_t error = jdoc_get(d, 0, "error");

	if (error == JNONE && str_eq(type, "error"))
		error = 0;
	if (jdoc_kind(d, error) == J_OBJECT || jdoc_kind(d, error) == J_STRING) {
		api_answer_error(w, d, error);
		w->terminal = false;
		w->broken = true;
		return;
	}
	if (!w->a->model)
		w->a->model = jdoc_strdup(d, jdoc_get(d, 0, "model"));
	jdoc_each (c, d, jdoc_get(d, 0, "choices"))
		read_choice(w, d, c);
	read_usage(w, d, jdoc_get(d, 0, "usage"));
	read_usage(w, d, jdoc_path(d, 0, "x_groq.usage"));
}

static void chat_body(struct answering *w, const struct jdoc *d)
{
	uint32_t choices = jdoc_get(d, 0, "choices");

	w->a->finish = FINISH_STOP;
	chat_event(w, d, "message");
	if (w->a->error) {
		w->broken = false;
		w->terminal = true;
		return;
	}
	/* a whole body needs no reason to be whole */
	if (jdoc_first(d, choices) != JNONE &&
	    jdoc_kind(d, jdoc_get(d, jdoc_first(d, choices), "message")) == J_OBJECT)
		w->terminal = true;
}

void api_chat_answer(const char *body, size_t n, bool sse, struct api_answer *a)
{
	static const struct answer_ops ops = {
		.event = chat_event,
		.body = chat_body,
		.missing = "no choice of the answer has a finish_reason",
	};

	api_answer_run(&ops, body, n, sse, a);
}

/* What every chunk and body begins with. */
static void head(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		 const char *object, struct buf *out)
{
	buf_addf(out, "{\"id\":\"chatcmpl-%024llx\",\"object\":\"%s\",\"created\":%llu,\"model\":",
		 (unsigned long long)serial, object, (unsigned long long)(API_TIME_ZERO + serial));
	api_answer_quote(out, api_answer_model(a, q));
}

static void add_usage(const struct api_usage *u, struct buf *out)
{
	buf_addf(out,
		 ",\"usage\":{\"prompt_tokens\":%llu,\"completion_tokens\":%llu,"
		 "\"total_tokens\":%llu,\"prompt_tokens_details\":{\"cached_tokens\":%llu},"
		 "\"completion_tokens_details\":{\"reasoning_tokens\":%llu}}}",
		 (unsigned long long)u->input, (unsigned long long)u->output,
		 (unsigned long long)(u->input + u->output), (unsigned long long)u->cached,
		 (unsigned long long)u->reasoning);
}

/* Call @i without closing brace; @args false: an empty string stands for the arguments. */
static void add_call(const struct api_answer *a, size_t i, uint64_t serial, bool args,
		     struct buf *out)
{
	const struct api_tool_call *c = &a->calls[i];
	const char *kind = c->custom ? "custom" : "function",
		   *text = args && c->args ? c->args : "";

	buf_adds(out, "\"id\":");
	api_answer_id(a, i, "call_", serial, out);
	buf_addf(out, ",\"type\":\"%s\",\"%s\":{\"name\":", kind, kind);
	api_answer_quote(out, c->name);
	buf_addf(out, ",\"%s\":", c->custom ? "input" : "arguments");
	api_answer_quote(out, text);
	buf_addc(out, '}');
}

/* One chunk around @delta. */
static void chunk(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		  const char *delta, const char *reason, struct buf *out)
{
	auto_buf b = BUF_INIT(out->max);

	head(a, q, serial, "chat.completion.chunk", &b);
	buf_addf(&b, ",\"choices\":[{\"index\":0,\"delta\":%s,\"logprobs\":null,\"finish_reason\":",
		 delta);
	if (reason)
		buf_addf(&b, "\"%s\"}]}", reason);
	else
		buf_adds(&b, "null}]}");
	sse_write(out, NULL, buf_str(&b));
}

static void write_stream(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			 struct buf *out)
{
	auto_buf b = BUF_INIT(out->max);

	chunk(a, q, serial, "{\"role\":\"assistant\",\"content\":\"\"}", NULL, out);
	if (a->text) {
		buf_adds(&b, "{\"content\":");
		api_answer_quote(&b, a->text);
		buf_addc(&b, '}');
		chunk(a, q, serial, buf_str(&b), NULL, out);
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		buf_clear(&b);
		buf_addf(&b, "{\"tool_calls\":[{\"index\":%zu,", i);
		add_call(a, i, serial, false, &b);
		buf_adds(&b, "}]}");
		chunk(a, q, serial, buf_str(&b), NULL, out);
		buf_clear(&b);
		buf_addf(&b, "{\"tool_calls\":[{\"index\":%zu,\"%s\":{\"%s\":", i,
			 a->calls[i].custom ? "custom" : "function",
			 a->calls[i].custom ? "input" : "arguments");
		api_answer_quote(&b, a->calls[i].args);
		buf_adds(&b, "}}]}");
		chunk(a, q, serial, buf_str(&b), NULL, out);
	}
	chunk(a, q, serial, "{}", reason_of[api_answer_finish(a)], out);
	if (q->wants_usage) {
		buf_clear(&b);
		head(a, q, serial, "chat.completion.chunk", &b);
		buf_adds(&b, ",\"choices\":[]");
		add_usage(&a->usage, &b);
		sse_write(out, NULL, buf_str(&b));
	}
	sse_write(out, NULL, "[DONE]");
}

void api_chat_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		    struct buf *out)
{
	if (q->stream) {
		write_stream(a, q, serial, out);
		return;
	}
	head(a, q, serial, "chat.completion", out);
	buf_adds(out,
		 ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
	if (a->text)
		api_answer_quote(out, a->text);
	else
		buf_adds(out, "null");
	buf_adds(out, ",\"refusal\":null");
	for (size_t i = 0; i < a->n_calls; i++) {
		buf_adds(out, i ? ",{" : ",\"tool_calls\":[{");
		add_call(a, i, serial, true, out);
		buf_addc(out, '}');
	}
	buf_addf(out, "%s},\"logprobs\":null,\"finish_reason\":\"%s\"}]", a->n_calls ? "]" : "",
		 reason_of[api_answer_finish(a)]);
	add_usage(&a->usage, out);
}

void api_chat_count(uint64_t tokens, struct buf *out)
{
	buf_addf(out, "{\"input_tokens\":%llu}", (unsigned long long)tokens);
}
