/* Chat Completions, and the routes of all APIs. */
#include "tests/unit/gateway/api_scene.h"

#define PATH "/v1/chat/completions"

#define TOOLS                                                                                      \
	"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\",\"parameters\":{}}},"   \
	"{\"type\":\"function\",\"function\":{\"name\":\"bash\"}}]"

/* Two calls at once, their results, one more call with its result. */
#define BODY                                                                                              \
	"{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"                   \
	"\"max_completion_tokens\":8000, \"messages\": [ {\"role\":\"system\",\"content\":\"Be.\"},"      \
	"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Fix\"},"                           \
	"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:x\"}}]},"                                  \
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["                                       \
	"{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}},"    \
	"{\"id\":\"c2\",\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]},"  \
	"{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"one \\u0000 \\ud800\"},"                \
	"{\"role\":\"tool\",\"tool_call_id\":\"c2\",\"content\":[{\"type\":\"text\",\"text\":\"two\"}]}," \
	"{\"role\":\"assistant\",\"content\":\"more\",\"tool_calls\":["                                   \
	"{\"id\":\"c3\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"  \
	"{\"role\":\"tool\",\"tool_call_id\":\"c3\",\"content\":\"three\"} ]," TOOLS "}"

static void routes(void)
{
	static const struct {
		const char *method, *path;
		enum api_route route;
		int api;
	} rows[] = {
		{ "POST", "/v1/chat/completions", API_ROUTE_CHAT, AGENT_API_CHAT },
		{ "POST", "/chat/completions/", API_ROUTE_CHAT, AGENT_API_CHAT },
		{ "POST", "/v1/v1/chat/completions?x=1", API_ROUTE_CHAT, AGENT_API_CHAT },
		{ "POST", "/v1/responses", API_ROUTE_CHAT, AGENT_API_RESPONSES },
		{ "POST", "/v1/responses/compact", API_ROUTE_COMPACT, AGENT_API_RESPONSES },
		{ "POST", "/v1/messages?beta=true", API_ROUTE_CHAT, AGENT_API_ANTHROPIC },
		{ "POST", "/v1/messages/count_tokens?beta=true", API_ROUTE_COUNT,
		  AGENT_API_ANTHROPIC },
		{ "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		  API_ROUTE_CHAT, AGENT_API_GEMINI },
		{ "POST", "/models/g:generateContent", API_ROUTE_CHAT, AGENT_API_GEMINI },
		{ "POST", "/v1alpha/models/g:countTokens", API_ROUTE_COUNT, AGENT_API_GEMINI },
		{ "GET", "/v1/models", API_ROUTE_MODELS, AGENT_API_CHAT },
		{ "GET", "/v1/models/gpt-5", API_ROUTE_MODELS, AGENT_API_CHAT },
		{ "GET", "/v1beta/models", API_ROUTE_MODELS, AGENT_API_GEMINI },
		{ "GET", "/v1beta/models/g", API_ROUTE_MODELS, AGENT_API_GEMINI },
		{ "HEAD", "/", API_ROUTE_PROBE, 0 },
		{ "GET", "/v1", API_ROUTE_PROBE, 0 },
		{ "POST", "/", API_ROUTE_NONE, 0 },
		{ "GET", "/v1/chat/completions", API_ROUTE_NONE, 0 },
		{ "POST", "/v1/embeddings", API_ROUTE_NONE, 0 },
		{ "POST", "/v1/messages/batches", API_ROUTE_NONE, 0 },
		{ "POST", "/v1/../v1/messages", API_ROUTE_NONE, 0 },
		{ "POST", "/v1beta/models/../x:generateContent", API_ROUTE_NONE, 0 },
		{ "POST", "/v1beta/models/g:embedContent", API_ROUTE_NONE, 0 },
		{ "POST", "/v1beta/cachedContents", API_ROUTE_NONE, 0 },
		{ "POST", "/v1beta/models/a%2fb:generateContent", API_ROUTE_NONE, 0 },
		{ "POST", "", API_ROUTE_NONE, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct api *api = NULL;
		enum api_route route = api_route(rows[i].method, rows[i].path, &api);

		tap_ok(route == rows[i].route && (api ? (int)api->id : 0) == rows[i].api, "%s %s",
		       rows[i].method, rows[i].path);
	}
	for (int id = AGENT_API_CHAT; id <= AGENT_API_GEMINI; id++)
		tap_is_str(api_of(id)->name, agent_api_name(id), "named as in agent files");
}

static void reading(void)
{
	struct api_request q;
	auto_free char *items = NULL;

	scene_read(&q, AGENT_API_CHAT, PATH, BODY);
	tap_is_str(q.model, "m", "model");
	tap_ok(q.stream && q.wants_usage && !q.stateful && !q.list, "stream and usage");
	tap_is_u64(q.max_output, 8000, "output tokens");
	tap_is_u64(q.tools, 2, "tools");
	tap_is_u64(api_estimate(&q), (strlen(BODY) + 3) / 4, "estimate");
	items = scene_items(&q);
	tap_is_str(items,
		   "0S:::Be.|1U:::Fix\n[image_url]|2C:c1:read:{}|2C:c2:bash:{}|"
		   "3R:c1::one \xef\xbf\xbd \xef\xbf\xbd|4R:c2::two|5A:::more|5C:c3:read:{}|"
		   "6R:c3::three",
		   "items");
	tap_ok(!strncmp(q.body + q.items[1].span.start, "{\"role\":\"user\"", 14), "span");
	api_request_done(&q);
}

static void wrong(void)
{
	static const char *const bodies[] = {
		"", "[]", "{}", "{\"messages\":{}}", "{\"messages\":[}", "null"
	};

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct api_request q;
		struct err err = { 0 };

		tap_ok(api_request_read(&q, api_of(AGENT_API_CHAT), API_ROUTE_CHAT, PATH, bodies[i],
					strlen(bodies[i]), &err) == -ERR_INPUT,
		       "no request: %s: %s", bodies[i], err.text);
		api_request_done(&q);
	}
}

static void placing(void)
{
	struct api_request q;

	scene_read(&q, AGENT_API_CHAT, PATH, BODY);
	/* behind a call, the first of two results, the last result, the end, the user, the text */
	static const struct {
		size_t after;
		const char *behind;
	} rows[] = {
		{ 2, "\"text\":\"two\"}]},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"}" },
		{ 4, "\"text\":\"two\"}]},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"}" },
		{ 5, "\"text\":\"two\"}]},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"}" },
		{ 6, "\"three\"},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"} ]" },
		{ 99, "\"three\"},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"} ]" },
		{ 1,
		  "\"data:x\"}}]},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"},{\"role\":\"ass" },
		{ 0, "\"Be.\"},{\"role\":\"user\",\"content\":\"Stop \\\"it\\\"\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = scene_place(&q, rows[i].after, "Stop \"it\"");

		tap_ok(strstr(got, rows[i].behind), "message behind item %zu", rows[i].after);
		tap_ok(strstr(got, "one \\u0000 \\ud800"), "  other bytes as sent");
	}
	api_request_done(&q);
	scene_read(&q, AGENT_API_CHAT, PATH, "{\"messages\":[]}");
	auto_free char *got = scene_place(&q, 0, "x");
	tap_is_str(got, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
		   "into an empty list");
	api_request_done(&q);
}

static void stripping(void)
{
	struct api_request q;
	struct api_strip what[9];
	size_t n;

	scene_read(
		&q, AGENT_API_CHAT, PATH,
		"{\"messages\":[{\"role\":\"user\",\"content\":["
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://e.org/x.png\"}},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA\"}},"
		"{\"type\":\"image_url\",\"image_url\":\" HTTP:/e.org\"},"
		"{\"type\":\"text\",\"text\":\"https://e.org stays\"}]}],"
		"\"tools\":[{\"type\":\"web_search\"},{\"type\":\"builtin_function\",\"function\":"
		"{\"name\":\"$web_search\"}},{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
		"\"tool_choice\":{\"type\":\"web_search\"},\"enable_search\":true,"
		"\"plugins\":null,\"web_search_options\":{}}");
	auto_free char *got = scene_strip(&q, &n, what, 9);
	tap_is_u64(n, 6, "taken out");
	tap_is_str(what[0].what, "tool web_search", "told");
	tap_is_str(what[4].what, "url https://e.org/x.png", "told");
	tap_is_str(got,
		   "{\"messages\":[{\"role\":\"user\",\"content\":["
		   "{\"type\":\"text\",\"text\":\"[removed: remote URL]\"},"
		   "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/png;base64,AA\"}},"
		   "{\"type\":\"text\",\"text\":\"[removed: remote URL]\"},"
		   "{\"type\":\"text\",\"text\":\"https://e.org stays\"}]}],"
		   "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],"
		   "\"plugins\":null}",
		   "stripped");
	api_request_done(&q);
	scene_read(&q, AGENT_API_CHAT, PATH,
		   "{\"messages\":[],\"Tools\":[{\"TYPE\":\"web_search\"}],\"tools\":"
		   "[{\"type\":\"mcp\"}],\"tool_choice\":\"auto\",\"parallel_tool_calls\":true}");
	auto_free char *none = scene_strip(&q, &n, what, 1);
	tap_is_u64(n, 2, "any spelling, any of two lists");
	tap_is_str(none, "{\"messages\":[]}", "an empty list goes with its choice");
	api_request_done(&q);
}

static void capping(void)
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ "{\"messages\":[]}", "{\"messages\":[],\"max_completion_tokens\":100}" },
		{ "{\"messages\":[],\"max_tokens\":50}", "{\"messages\":[],\"max_tokens\":50}" },
		{ "{\"messages\":[],\"max_tokens\":5e9}", "{\"messages\":[],\"max_tokens\":100}" },
		{ "{\"max_tokens\":1,\"messages\":[],\"max_tokens\":500}",
		  "{\"messages\":[],\"max_tokens\":100}" },
		{ "{\"messages\":[],\"max_completion_tokens\":101}",
		  "{\"messages\":[],\"max_completion_tokens\":100}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request q;

		scene_read(&q, AGENT_API_CHAT, PATH, rows[i].body);
		auto_free char *got = scene_cap(&q, 100);
		tap_is_str(got, rows[i].want, "capped");
		api_request_done(&q);
	}
}

#define D(delta) "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define F(reason)                                                                                  \
	"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}\n\n"
#define U(usage) "data: {\"choices\":[],\"usage\":" usage "}\n\n"

/* clang-format off */
static const struct scene_answer answers[] = {
	{ "text, usage in a chunk of its own",
	  D("{\"role\":\"assistant\",\"content\":\"\"}") ": keepalive\n\n" D("{\"content\":\"Hel\"}")
	  D("{\"content\":\"lo\"}") F("stop")
	  U("{\"prompt_tokens\":1000,\"completion_tokens\":50,\"total_tokens\":1050,"
	    "\"prompt_tokens_details\":{\"cached_tokens\":600},"
	    "\"completion_tokens_details\":{\"reasoning_tokens\":30}}") "data: [DONE]\n\n",
	  true, "stop Hello", "1000/600/0/50/30" },
	{ "calls by index, id in the first piece only",
	  D("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}")
	  D("{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}}]}")
	  D("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"x\\\":\"}}]}")
	  D("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}},"
	    "{\"index\":1,\"function\":{\"arguments\":\"}\"}}]}") F("tool_calls") "data: [DONE]\n\n",
	  true, "tools - f({\"x\":1})a g({})b", "unknown" },
	{ "every call index 0 with an id of its own, no [DONE]",
	  D("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}")
	  D("{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}")
	  F("stop"),
	  true, "tools - f({})a f({})b", "unknown" },
	{ "no index, arguments as an object",
	  D("{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]}")
	  F("tool_calls"), true, "tools - f({\"x\":1})a", "unknown" },
	{ "reasoning beside the text; usage repeated and null",
	  D("{\"reasoning_content\":\"hm\",\"content\":null}")
	  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A\"}}],\"usage\":"
	  "{\"prompt_tokens\":10,\"completion_tokens\":1}}\n\n"
	  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"B\"},\"finish_reason\":\"stop\"}],"
	  "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}\n\n" U("null"),
	  true, "stop AB", "10/0/0/2/0" },
	{ "DeepSeek's cache", D("{\"content\":\"x\"}") F("stop")
	  U("{\"prompt_tokens\":100,\"completion_tokens\":5,\"prompt_cache_hit_tokens\":64,"
	    "\"prompt_cache_miss_tokens\":36,\"prompt_tokens_details\":{\"cached_tokens\":64}}"),
	  true, "stop x", "100/64/0/5/0" },
	{ "Kimi: usage in the choice",
	  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\","
	  "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"cached_tokens\":4}}]}\n\n",
	  true, "stop x", "9/4/0/3/0" },
	{ "xAI: reasoning beside the output",
	  D("{\"content\":\"x\"}") F("stop")
	  U("{\"prompt_tokens\":10,\"completion_tokens\":5,\"total_tokens\":22,"
	    "\"completion_tokens_details\":{\"reasoning_tokens\":7}}"),
	  true, "stop x", "10/0/0/12/7" },
	{ "cache writes are part of the prompt", D("{\"content\":\"x\"}") F("stop")
	  U("{\"prompt_tokens\":10,\"completion_tokens\":5,"
	    "\"prompt_tokens_details\":{\"cached_tokens\":3,\"cache_write_tokens\":6}}"),
	  true, "stop x", "10/3/6/5/0" },
	{ "length", D("{\"content\":\"x\"}") F("length"), true, "length x", "unknown" },
	{ "filter", D("{\"content\":\"x\"}") F("content_filter"), true, "filter x", "unknown" },
	{ "cut", D("{\"content\":\"x\"}"), true,
	  "cut: no choice of the answer has a finish_reason", "unknown" },
	{ "cut although [DONE]", D("{\"content\":\"x\"}") "data: [DONE]\n\n", true,
	  "cut: no choice of the answer has a finish_reason", "unknown" },
	{ "cut in an event", D("{\"content\":\"x\"}") F("stop") "data: {\"choi", true,
	  "cut: the answer holds an event that is not JSON", "unknown" },
	{ "empty", "", true, "cut: no choice of the answer has a finish_reason", "unknown" },
	{ "error event", D("{\"content\":\"x\"}") "data: {\"error\":{\"message\":\"busy\"}}\n\n", true,
	  "cut: the stream broke off with an error: busy", "unknown" },
	{ "error body", "{\"error\":{\"message\":\"no credit\",\"type\":\"x\"}}", true,
	  "error: no credit", "unknown" },
	{ "error text", "{\"error\":\"no\"}", false, "error: no", "unknown" },
	{ "body", "{\"model\":\"m\",\"choices\":[{\"index\":0,\"message\":{\"content\":\"hi\","
	  "\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\","
	  "\"arguments\":\"{}\"}},{\"id\":\"b\",\"type\":\"custom\",\"custom\":{\"name\":\"g\","
	  "\"input\":\"raw\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,"
	  "\"completion_tokens\":2}}", false, "tools hi f({})a g(raw)b!", "3/0/0/2/0" },
	{ "body without a reason", "{\"choices\":[{\"message\":{\"content\":\"hi\"},"
	  "\"finish_reason\":null}]}", false, "stop hi", "unknown" },
	{ "body without choices", "{\"choices\":[]}", false,
	  "cut: no choice of the answer has a finish_reason", "unknown" },
	{ "the old form of one call", D("{\"function_call\":{\"name\":\"f\",\"arguments\":\"{\"}}")
	  D("{\"function_call\":{\"arguments\":\"}\"}}") F("function_call"), true,
	  "tools - f({})", "unknown" },
	{ "further choices are passed over",
	  "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n"
	  D("{\"content\":\"x\"}") F("stop"), true, "stop x", "unknown" },
};
/* clang-format on */

static void writing(void)
{
	struct api_request q;

	scene_read(&q, AGENT_API_CHAT, PATH, BODY);
	auto_free char *stream = scene_write(&q, false,
					     "tools I look.\n\"so\" "
					     "read({\"path\":\"a \\\"b\\\"\",\"first\":100})"
					     "call_000000000000000000070000 "
					     "patch({\"x\":\"\xc3\xa9\\n\"})mine");
	tap_ok(strstr(stream, "\"role\":\"assistant\",\"content\":\"\"") &&
		       strstr(stream, "\"choices\":[],\"usage\":{") &&
		       strstr(stream, "data: [DONE]\n\n"),
	       "role, usage chunk, [DONE]");
	api_request_done(&q);
	scene_read(&q, AGENT_API_CHAT, PATH, "{\"model\":\"m\",\"messages\":[]}");
	auto_free char *body = scene_write(&q, true,
					   "tools I look.\n\"so\" "
					   "read({\"path\":\"a \\\"b\\\"\",\"first\":100})"
					   "call_000000000000000000070000 "
					   "patch({\"x\":\"\xc3\xa9\\n\"})mine!");
	tap_ok(strstr(body, "\"object\":\"chat.completion\""), "a body");
	q.stream = true;
	struct api_answer a = { .complete = true, .finish = FINISH_STOP, .text = (char[]){ "x" } };
	auto_buf out = BUF_INIT(10000);
	q.api->write(&a, &q, 1, &out);
	tap_ok(!strstr(buf_str(&out), "usage"), "no usage chunk unless asked for");
	buf_clear(&out);
	q.api->error(403, "spent \"all\"", &out);
	tap_is_str(
		buf_str(&out),
		"{\"error\":{\"message\":\"spent \\\"all\\\"\",\"type\":\"invalid_request_error\","
		"\"param\":null,\"code\":null}}",
		"error");
	buf_clear(&out);
	q.api->models("m", &out);
	tap_ok(strstr(buf_str(&out), "\"id\":\"m\"") &&
		       strstr(buf_str(&out), "\"object\":\"list\""),
	       "models");
	api_request_done(&q);
}

#define RUN(date, path, id, text)                                                                  \
	"{\"messages\":[{\"role\":\"system\",\"content\":\"Current date: " date                    \
	"\\nCurrent working directory: /workspace\"},{\"role\":\"user\",\"content\":\"" text       \
	"\"},"                                                                                     \
	"{\"role\":\"assistant\",\"id\":\"msg_" id                                                 \
	"\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                                        \
	"\",\"type\":\"function\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]},"       \
	"{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"wrote /tmp/" path            \
	" in 0." id "1s\"}],\"user\":\"u" id "\"}"

int main(void)
{
	routes();
	reading();
	wrong();
	placing();
	stripping();
	capping();
	scene_answers(AGENT_API_CHAT, answers, ARRAY_SIZE(answers));
	writing();
	scene_canon(AGENT_API_CHAT, PATH, RUN("2026-11-30", "pi-12-ab3dEf.log", "7", "Fix it."),
		    RUN("2026-12-01", "pi-977-Xb9dEg.log", "8", "Fix it."),
		    RUN("2026-12-01", "pi-977-Xb9dEg.log", "8", "Fix her."),
		    "$.messages[1].content: recorded \"Fix it.\", now \"Fix her.\"");
	return tap_done();
}
