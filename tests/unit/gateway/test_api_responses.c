/* OpenAI Responses. */
#include "tests/unit/gateway/api_scene.h"

#define PATH "/v1/responses"

#define TOOLS                                                                                      \
	"\"tools\":[{\"type\":\"function\",\"name\":\"exec_command\"},{\"type\":\"custom\","       \
	"\"name\":\"apply_patch\"},{\"type\":\"web_search\",\"external_web_access\":true}]"

#define BODY                                                                                           \
	"{\"model\":\"gpt-5.5\",\"stream\":true,\"instructions\":\"Be.\",\"input\":["                  \
	"{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"developer\",\"content\":["                  \
	"{\"type\":\"input_text\",\"text\":\"Dev\"}]},"                                                \
	"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"      \
	"\"Fix\"}]},"                                                                                  \
	"{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[],\"encrypted_content\":\"gAAA\"},"        \
	"{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"c1\",\"name\":\"exec_command\","    \
	"\"arguments\":\"{\\\"cmd\\\":\\\"ls\\\"}\"},"                                                 \
	"{\"type\":\"custom_tool_call\",\"call_id\":\"c2\",\"name\":\"apply_patch\",\"input\":\"*\"}," \
	"{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"a\\u0000b\"},"             \
	"{\"type\":\"custom_tool_call_output\",\"call_id\":\"c2\",\"output\":[{\"type\":"              \
	"\"input_text\",\"text\":\"done\"}]},"                                                         \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"So\"}]}]," TOOLS    \
	",\"max_output_tokens\":99,\"store\":false}"

#define OURS                                                                                       \
	"{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"X\"}]}"

static void reading(void)
{
	struct api_request q;

	scene_read(&q, AGENT_API_RESPONSES, PATH, BODY);
	auto_free char *items = scene_items(&q);
	tap_is_str(
		items,
		"0S:::Dev|1U:::Fix|2A:::|3C:c1:exec_command:{\"cmd\":\"ls\"}|4C:c2:apply_patch:*|"
		"5R:c1::a\xef\xbf\xbd"
		"b|6R:c2::done|7A:::So",
		"items");
	tap_ok(q.stream && !q.stateful, "stream");
	tap_is_u64(q.max_output, 99, "output tokens");
	tap_is_u64(q.tools, 2, "tools of the client");
	api_request_done(&q);
	scene_read(
		&q, AGENT_API_RESPONSES, PATH,
		"{\"previous_response_id\":\"r\",\"input\":[{\"type\":\"function_call_output\","
		"\"call_id\":\"c\",\"output\":\"x\"},{\"type\":\"local_shell_call\",\"call_id\":\"d\","
		"\"action\":{\"command\":[\"ls\"]}},{\"type\":\"item_reference\",\"id\":\"i\"}]}");
	auto_free char *more = scene_items(&q);
	tap_is_str(more, "0R:c::x|1C:d:local_shell:{\"command\":[\"ls\"]}|2O:::", "other items");
	tap_ok(q.stateful, "the server keeps the history");
	api_request_done(&q);
}

static void placing(void)
{
	static const struct {
		size_t after;
		const char *behind;
	} rows[] = {
		{ 1, "\"Fix\"}]}," OURS ",{\"type\":\"reasoning\"" },
		{ 2, "\"done\"}]}," OURS ",{\"role\"" },
		{ 3, "\"done\"}]}," OURS ",{\"role\"" },
		{ 5, "\"done\"}]}," OURS ",{\"role\"" },
		{ 99, "\"So\"}]}," OURS "]" },
	};
	struct api_request q;
	struct jedit edits = { 0 };

	scene_read(&q, AGENT_API_RESPONSES, PATH, BODY);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = scene_place(&q, rows[i].after, "X");

		tap_ok(strstr(got, rows[i].behind), "message behind item %zu", rows[i].after);
	}
	api_request_done(&q);
	scene_read(&q, AGENT_API_RESPONSES, PATH, "{\"input\":\"a \\u0000\"}");
	q.api->place(&q, 0, "X", &edits);
	q.api->place(&q, 0, "X", &edits);
	auto_free char *got = scene_apply(&q, &edits);
	tap_is_str(got,
		   "{\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
		   "\"input_text\",\"text\":\"a \\u0000\"}]}," OURS "," OURS "]}",
		   "an input that is a string becomes a list");
	api_request_done(&q);
}

static void stripping(void)
{
	struct api_request q;
	struct api_strip what[9];
	size_t n;

	scene_read(
		&q, AGENT_API_RESPONSES, PATH,
		"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
		"\"https://e.org/a\"},{\"type\":\"input_image\",\"image_url\":\"data:x\"},{\"type\":"
		"\"input_file\",\"file_url\":\"//e.org/b\"}]},{\"type\":\"function_call_output\","
		"\"call_id\":\"c\",\"output\":[{\"type\":\"input_image\",\"image_url\":\"http:c\"}]},"
		"{\"type\":\"function_call_output\",\"call_id\":\"d\",\"output\":\"http://text\"}],"
		"\"tools\":[{\"type\":\"web_search_preview_2025_03_11\"},{\"type\":\"file_search\"},"
		"{\"type\":\"code_interpreter\"},{\"type\":\"mcp\",\"server_url\":\"https://e\"},"
		"{\"type\":\"image_generation\"},{\"type\":\"shell\",\"environment\":{\"type\":"
		"\"container_auto\"}},{\"type\":\"shell\",\"environment\":{\"type\":\"local\"}},"
		"{\"type\":\"function\",\"name\":\"f\"}],\"tool_choice\":{\"type\":\"allowed_tools\","
		"\"mode\":\"auto\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type\":"
		"\"web_search\"}]}}");
	auto_free char *got = scene_strip(&q, &n, what, 9);
	tap_is_u64(n, 9, "taken out");
	tap_is_str(
		got,
		"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
		"\"[removed: remote URL]\"},{\"type\":\"input_image\",\"image_url\":\"data:x\"},"
		"{\"type\":\"input_text\",\"text\":\"[removed: remote URL]\"}]},"
		"{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":"
		"\"input_text\",\"text\":\"[removed: remote URL]\"}]},{\"type\":"
		"\"function_call_output\",\"call_id\":\"d\",\"output\":\"http://text\"}],"
		"\"tools\":[{\"type\":\"shell\",\"environment\":{\"type\":\"local\"}},{\"type\":"
		"\"function\",\"name\":\"f\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":"
		"\"auto\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}}",
		"stripped");
	api_request_done(&q);
	scene_read(&q, AGENT_API_RESPONSES, PATH, BODY);
	auto_free char *real = scene_strip(&q, &n, what, 9);
	tap_is_u64(n, 1, "a real client's list");
	tap_is_str(what[0].what, "tool web_search", "its web search");
	tap_ok(strstr(real, "\"name\":\"apply_patch\"}],"), "the others stay");
	api_request_done(&q);
}

static void capping(void)
{
	struct api_request q;

	scene_read(&q, AGENT_API_RESPONSES, PATH, "{\"input\":[]}");
	auto_free char *got = scene_cap(&q, 16);
	tap_is_str(got, "{\"input\":[],\"max_output_tokens\":16}", "capped");
	api_request_done(&q);
}

#define E(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"," rest "}\n\n"
#define USAGE                                                                                      \
	"\"usage\":{\"input_tokens\":1000,\"input_tokens_details\":{\"cached_tokens\":400},"       \
	"\"output_tokens\":50,\"output_tokens_details\":{\"reasoning_tokens\":20},\"total_tokens\":1050}"
#define MSG(text)                                                                                  \
	"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","     \
	"\"text\":\"" text "\"}]}"
#define FC                                                                                         \
	"{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c1\",\"name\":\"f\","             \
	"\"arguments\":\"{\\\"x\\\":1}\"}"
#define CTC                                                                                        \
	"{\"type\":\"custom_tool_call\",\"call_id\":\"c2\",\"name\":\"apply_patch\",\"input\":\"*\"}"

/* clang-format off */
static const struct scene_answer answers[] = {
	{ "deltas, items and the list at the end say one thing",
	  E("response.created", "\"response\":{\"model\":\"m\",\"status\":\"in_progress\",\"output\":[]}")
	  E("response.output_text.delta", "\"delta\":\"He\"") E("response.output_text.delta", "\"delta\":\"y\"")
	  E("response.output_item.done", "\"item\":" MSG("Hey")) E("response.output_item.done", "\"item\":" FC)
	  E("response.completed", "\"response\":{\"status\":\"completed\",\"output\":[" MSG("Hey") "," FC ","
	    CTC "]," USAGE "}"),
	  true, "tools Hey f({\"x\":1})c1 apply_patch(*)c2!", "1000/400/0/50/20" },
	{ "an empty list at the end: the items count",
	  E("response.output_text.delta", "\"delta\":\"Hey\"") E("response.output_item.done", "\"item\":" MSG("Hey"))
	  E("response.output_item.done", "\"item\":" CTC)
	  E("response.completed", "\"response\":{\"output\":[]," USAGE "}"),
	  true, "tools Hey apply_patch(*)c2!", "1000/400/0/50/20" },
	{ "deltas only", E("response.output_text.delta", "\"delta\":\"Hey\"")
	  E("response.completed", "\"response\":{\"status\":\"completed\"}"), true, "stop Hey", "unknown" },
	{ "reasoning is passed over", E("response.completed", "\"response\":{\"status\":\"completed\","
	  "\"output\":[{\"type\":\"reasoning\",\"summary\":[{\"text\":\"hm\"}]}," MSG("x") "]}"),
	  true, "stop x", "unknown" },
	{ "incomplete", E("response.incomplete", "\"response\":{\"status\":\"incomplete\","
	  "\"incomplete_details\":{\"reason\":\"max_output_tokens\"},\"output\":[" MSG("x") "]}"),
	  true, "length x", "unknown" },
	{ "failed", E("response.failed", "\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"x\","
	  "\"message\":\"broken\"}}"), true, "error: broken", "unknown" },
	{ "error event", E("error", "\"code\":\"x\",\"message\":\"busy\""), true,
	  "cut: the stream broke off with an error: busy", "unknown" },
	{ "cut", E("response.output_item.done", "\"item\":" FC), true, "cut: response.completed is missing",
	  "unknown" },
	{ "body", "{\"status\":\"completed\",\"error\":null,\"output\":[" MSG("hi") "," FC "]," USAGE "}", false,
	  "tools hi f({\"x\":1})c1", "1000/400/0/50/20" },
	{ "body in the background", "{\"status\":\"queued\",\"output\":[]}", false,
	  "cut: response.completed is missing", "unknown" },
	{ "error body", "{\"error\":{\"message\":\"no\"}}", true, "error: no", "unknown" },
	{ "compaction", "{\"object\":\"response.compaction\",\"output\":[" MSG("short") "]," USAGE "}", false,
	  "stop short", "1000/400/0/50/20" },
};
/* clang-format on */

static void searches(void)
{
	static const char body[] =
		"{\"status\":\"completed\",\"output\":[{\"type\":\"web_search_call\"},"
		"{\"type\":\"web_search_call\"}," MSG("x") "]}";
	struct api_answer a;

	api_answer_read(&a, api_of(AGENT_API_RESPONSES), body, sizeof(body) - 1, false);
	tap_is_u64(a.web_requests, 2, "the provider's searches");
	api_answer_done(&a);
}

static void writing(void)
{
	static const char said[] =
		"tools I look.\n\"so\" "
		"read({\"path\":\"a \\\"b\\\"\",\"first\":100})"
		"call_000000000000000000070000 patch({\"x\":\"\xc3\xa9\\n\"})mine!";
	static const char *const order[] = {
		"event: response.created\n",
		"event: response.in_progress\n",
		"event: response.output_item.added\n",
		"event: response.content_part.added\n",
		"event: response.output_text.delta\n",
		"event: response.output_text.done\n",
		"event: response.content_part.done\n",
		"event: response.output_item.done\n",
		"event: response.function_call_arguments.delta\n",
		"event: response.function_call_arguments.done\n",
		"event: response.custom_tool_call_input.delta\n",
		"event: response.custom_tool_call_input.done\n",
		"event: response.completed\n",
	};
	struct api_request q;
	const char *p;

	scene_read(&q, AGENT_API_RESPONSES, PATH, BODY);
	auto_free char *stream = scene_write(&q, true, said);
	p = stream;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		p = p ? strstr(p, order[i]) : NULL;
		tap_ok(p, "%.*s", (int)strlen(order[i]) - 1, order[i]);
	}
	tap_ok(strstr(stream, "\"sequence_number\":16,\"response\""), "numbered");
	q.stream = false;
	auto_free char *body = scene_write(&q, true, said);
	tap_ok(body[0] == '{', "a body");
	auto_buf out = BUF_INIT(1000);
	q.api->count(5, &out);
	tap_is_str(buf_str(&out), "{\"object\":\"response.input_tokens\",\"input_tokens\":5}",
		   "count");
	api_request_done(&q);
}

#define RUN(uuid, chunk, text)                                                                     \
	"{\"model\":\"m\",\"input\":[{\"type\":\"message\",\"id\":\"msg_" uuid                     \
	"\",\"role\":\"user\","                                                                    \
	"\"content\":[{\"type\":\"input_text\",\"text\":\"" text                                   \
	"\"}]},{\"type\":\"function_call\","                                                       \
	"\"id\":\"fc_1\",\"name\":\"exec_command\",\"arguments\":\"{}\",\"call_id\":\"call_1\"},"  \
	"{\"type\":\"function_call_output\",\"id\":\"fco_" uuid "\",\"call_id\":\"call_1\","       \
	"\"output\":\"Chunk ID: " chunk "\\nWall time: 0.0" chunk                                  \
	"0 seconds\\nProcess exited with code 0\"}],\"prompt_cache_key\":\"" uuid                  \
	"\",\"client_metadata\":{\"session_id\":\"" uuid "\"},\"instructions\":\"Turn " uuid "\"}"

int main(void)
{
	reading();
	placing();
	stripping();
	capping();
	scene_answers(AGENT_API_RESPONSES, answers, ARRAY_SIZE(answers));
	searches();
	writing();
	scene_canon(AGENT_API_RESPONSES, PATH,
		    RUN("01a22b99-29e3-70e1-a8e2-e4698952dc7c", "123456", "Fix it."),
		    RUN("01b33c99-29e3-70e1-a8e2-e4698952dc7d", "654321", "Fix it."),
		    RUN("01b33c99-29e3-70e1-a8e2-e4698952dc7d", "654321", "Fix it"),
		    "$.input[0].content[0].text: recorded \"Fix it.\", now \"Fix it\"");
	return tap_done();
}
