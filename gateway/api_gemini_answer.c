/* Gemini generateContent: answers. Every chunk is a whole object; thoughts are counted beside the
 * candidate's tokens and are added to the output here. */
#include "gateway/api_gemini_internal.h"

#include <string.h>

#include "base/mem.h"
#include "gateway/api_internal.h"
#include "gateway/sse.h"

/* clang-format off */
static const char *const reasons[] = { "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "BLOCKLIST",
				       "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", NULL };
static const enum api_finish finishes[] = { FINISH_STOP, FINISH_LENGTH, FINISH_FILTER,
					    FINISH_FILTER, FINISH_FILTER, FINISH_FILTER,
					    FINISH_FILTER, FINISH_FILTER };
static const char *const reason_of[] = {
	[FINISH_STOP] = "STOP", [FINISH_TOOLS] = "STOP", [FINISH_LENGTH] = "MAX_TOKENS",
	[FINISH_FILTER] = "SAFETY", [FINISH_OTHER] = "OTHER",
};
/* clang-format on */

static void read_usage(struct answering *w, const struct jdoc *d, uint32_t at)
{
	struct api_usage *u = &w->a->usage;
	uint64_t prompt = 0, tools = 0;

	if (jdoc_kind(d, at) != J_OBJECT)
		return;
	u->known |= api_answer_max(&prompt, d, jdoc_get(d, at, "promptTokenCount"));
	u->known |= api_answer_max(&w->apart, d, jdoc_get(d, at, "candidatesTokenCount"));
	api_answer_max(&tools, d, jdoc_get(d, at, "toolUsePromptTokenCount"));
	api_answer_max(&u->cached, d, jdoc_get(d, at, "cachedContentTokenCount"));
	api_answer_max(&u->reasoning, d, jdoc_get(d, at, "thoughtsTokenCount"));
	if (__builtin_add_overflow(prompt, tools, &prompt))
		prompt = UINT64_MAX;
	u->input = prompt > u->input ? prompt : u->input;
	if (__builtin_add_overflow(w->apart, u->reasoning, &u->output))
		u->output = UINT64_MAX;
}

static void read_part(struct answering *w, const struct jdoc *d, uint32_t part)
{
	uint32_t call = jdoc_get(d, part, "functionCall");
	size_t i;

	if (call == JNONE) {
		if (!jdoc_true(d, jdoc_get(d, part, "thought")))
			api_answer_text(w, jdoc_get(d, part, "text"), d);
		return;
	}
	i = api_answer_call(w, w->a->n_calls);
	api_answer_name(w, i, d, jdoc_get(d, call, "id"), jdoc_get(d, call, "name"));
	api_answer_args(w, i, d, jdoc_get(d, call, "args"));
}

static void gemini_event(struct answering *w, const struct jdoc *d, const char *type)
{
	uint32_t error = jdoc_get(d, 0, "error"), candidates = jdoc_get(d, 0, "candidates");
	uint32_t first = jdoc_first(d, candidates), reason = jdoc_get(d, first, "finishReason");

	(void)type; /* this API does not name its events */
	if (jdoc_kind(d, error) == J_OBJECT || jdoc_kind(d, error) == J_STRING) {
		api_answer_error(w, d, error);
		w->terminal = false;
		w->broken = true;
		return;
	}
	if (!w->a->model)
		w->a->model = jdoc_strdup(d, jdoc_get(d, 0, "modelVersion"));
	jdoc_each (part, d, jdoc_path(d, first, "content.parts"))
		read_part(w, d, part);
	jdoc_each (query, d, jdoc_path(d, first, "groundingMetadata.webSearchQueries"))
		w->a->web_requests += jdoc_kind(d, query) == J_STRING;
	if (jdoc_kind(d, reason) == J_STRING) {
		int k = api_answer_word(d, reason, reasons);

		w->a->finish = k < 0 ? FINISH_OTHER : finishes[k];
		w->terminal = true;
	} else if (jdoc_kind(d, jdoc_path(d, 0, "promptFeedback.blockReason")) == J_STRING) {
		w->a->finish = FINISH_FILTER;
		w->terminal = true;
	}
	read_usage(w, d, jdoc_get(d, 0, "usageMetadata"));
}

static void gemini_body(struct answering *w, const struct jdoc *d)
{
	w->a->finish = FINISH_STOP;
	gemini_event(w, d, "message");
	if (w->a->error)
		w->broken = false;
	/* a whole body needs no reason to be whole */
	w->terminal |= w->a->error || jdoc_first(d, jdoc_get(d, 0, "candidates")) != JNONE;
}

void api_gemini_answer(const char *body, size_t n, bool sse, struct api_answer *a)
{
	static const struct answer_ops ops = {
		.event = gemini_event,
		.body = gemini_body,
		.missing = "no candidate of the answer has a finishReason",
	};

	api_answer_run(&ops, body, n, sse, a);
}

static void add_parts(const struct api_answer *a, uint64_t serial, struct buf *b)
{
	const char *comma = "";

	if (a->text || !a->n_calls) {
		buf_adds(b, "{\"text\":");
		api_answer_quote(b, a->text);
		buf_addc(b, '}');
		comma = ",";
	}
	for (size_t i = 0; i < a->n_calls; i++) {
		buf_addf(b, "%s{\"functionCall\":{\"id\":", comma);
		api_answer_id(a, i, "fc_", serial, b);
		buf_adds(b, ",\"name\":");
		api_answer_quote(b, a->calls[i].name);
		buf_adds(b, ",\"args\":");
		api_answer_object(a, i, b);
		buf_adds(b, "}}");
		comma = ",";
	}
}

void api_gemini_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		      struct buf *out)
{
	const struct api_usage *u = &a->usage;
	auto_buf b = BUF_INIT(out->max);

	buf_adds(&b, "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[");
	add_parts(a, serial, &b);
	buf_addf(&b,
		 "]},\"finishReason\":\"%s\",\"index\":0}],\"usageMetadata\":{"
		 "\"promptTokenCount\":%llu,\"cachedContentTokenCount\":%llu,"
		 "\"candidatesTokenCount\":%llu,\"thoughtsTokenCount\":%llu,"
		 "\"totalTokenCount\":%llu},\"modelVersion\":",
		 reason_of[api_answer_finish(a)], (unsigned long long)u->input,
		 (unsigned long long)u->cached,
		 (unsigned long long)api_answer_minus(u->output, u->reasoning),
		 (unsigned long long)u->reasoning, (unsigned long long)(u->input + u->output));
	api_answer_quote(&b, api_answer_model(a, q));
	buf_addf(&b, ",\"responseId\":\"%024llx\"}", (unsigned long long)serial);
	if (q->stream)
		sse_write(out, NULL, buf_str(&b));
	else
		buf_addf(out, q->list ? "[%s]" : "%s", buf_str(&b));
}

void api_gemini_error(int status, const char *message, struct buf *out)
{
	static const struct api_status rows[] = {
		{ 400, "INVALID_ARGUMENT" },  { 401, "UNAUTHENTICATED" },
		{ 403, "PERMISSION_DENIED" }, { 404, "NOT_FOUND" },
		{ 409, "ABORTED" },           { 429, "RESOURCE_EXHAUSTED" },
		{ 500, "INTERNAL" },          { 503, "UNAVAILABLE" },
		{ 504, "DEADLINE_EXCEEDED" },
	};

	buf_addf(out, "{\"error\":{\"code\":%d,\"message\":", status);
	api_answer_quote(out, message);
	buf_addf(out, ",\"status\":\"%s\"}}", api_answer_status(rows, ARRAY_SIZE(rows), status));
}

void api_gemini_count(uint64_t tokens, struct buf *out)
{
	buf_addf(out, "{\"totalTokens\":%llu}", (unsigned long long)tokens);
}

void api_gemini_models(const char *model, struct buf *out)
{
	auto_free char *name = mem_printf("models/%s", model);

	buf_adds(out, "{\"models\":[{\"name\":");
	api_answer_quote(out, name);
	buf_adds(out, ",\"displayName\":");
	api_answer_quote(out, model);
	buf_adds(out, ",\"inputTokenLimit\":1048576,\"outputTokenLimit\":65536,"
		      "\"supportedGenerationMethods\":[\"generateContent\","
		      "\"streamGenerateContent\",\"countTokens\"]}]}");
}
