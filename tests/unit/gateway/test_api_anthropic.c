/* Anthropic Messages. */
#include "tests/unit/gateway/api_scene.h"

#define PATH "/v1/messages?beta=true"

#define BODY                                                                                           \
	"{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":32000,\"stream\":true,\"system\":["           \
	"{\"type\":\"text\",\"text\":\"Be.\",\"cache_control\":{\"type\":\"ephemeral\"}}],"            \
	"\"tools\":[{\"name\":\"Read\",\"input_schema\":{}},{\"name\":\"Bash\",\"input_schema\":{}}]," \
	"\"messages\":[{\"role\":\"user\",\"content\":\"Fix\"},"                                       \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},"            \
	"{\"type\":\"text\",\"text\":\"I look\"},"                                                     \
	"{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\",\"input\":{\"file_path\":\"/w/a\"}},"  \
	"{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"Bash\",\"input\":{}}]},"                      \
	"{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"t1\",\"type\":\"tool_result\","            \
	"\"content\":\"one\\u0000\"},{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":"    \
	"[{\"type\":\"text\",\"text\":\"two\"}],\"cache_control\":{\"type\":\"ephemeral\"}},"          \
	"{\"type\":\"text\",\"text\":\"<system-reminder>\"}]},"                                        \
	"{\"role\":\"assistant\",\"content\":\"Done.\"},{\"role\":\"user\",\"content\":"               \
	"[{\"type\":\"text\",\"text\":\"Go on\"}]}],\"metadata\":{\"user_id\":\"u\"}}"

static void reading(void)
{
	struct api_request q;

	scene_read(&q, AGENT_API_ANTHROPIC, PATH, BODY);
	auto_free char *items = scene_items(&q);
	tap_is_str(
		items,
		"0U:::Fix|1A:::[thinking]\nI look|1C:t1:Read:{\"file_path\":\"/w/a\"}|1C:t2:Bash:{}|"
		"2R:t1::one\xef\xbf\xbd|2R:t2::two|2U:::<system-reminder>|3A:::Done.|4U:::Go on",
		"items");
	tap_ok(q.stream && q.max_output == 32000 && q.tools == 2, "stream, tokens, tools");
	api_request_done(&q);
}

static void placing(void)
{
	static const struct {
		size_t after;
		const char *behind;
	} rows[] = {
		{ 0, "\"Fix\"},{\"role\":\"user\",\"content\":\"X\"},{\"role\":\"assistant\"" },
		{ 1, "<system-reminder>\"},{\"type\":\"text\",\"text\":\"X\"}]}" },
		{ 3, "<system-reminder>\"},{\"type\":\"text\",\"text\":\"X\"}]}" },
		{ 4, "<system-reminder>\"},{\"type\":\"text\",\"text\":\"X\"}]}" },
		{ 7, "\"Done.\"},{\"role\":\"user\",\"content\":\"X\"}" },
		{ 99, "\"Go on\"}]},{\"role\":\"user\",\"content\":\"X\"}]" },
	};
	struct api_request q;

	scene_read(&q, AGENT_API_ANTHROPIC, PATH, BODY);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = scene_place(&q, rows[i].after, "X");

		tap_ok(strstr(got, rows[i].behind), "message behind item %zu", rows[i].after);
		tap_ok(strstr(got, "one\\u0000"), "  other bytes as sent");
	}
	api_request_done(&q);
}

static void stripping(void)
{
	struct api_request q;
	struct api_strip what[9];
	size_t n;

	scene_read(
		&q, AGENT_API_ANTHROPIC, PATH,
		"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":"
		"{\"type\":\"url\",\"url\":\"https://e.org/a\"}},{\"type\":\"document\",\"source\":"
		"{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"http://stays\"}},"
		"{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[{\"type\":\"image\","
		"\"source\":{\"type\":\"url\",\"url\":\"https://e.org/b\"}},{\"type\":\"document\","
		"\"source\":{\"type\":\"content\",\"content\":[{\"type\":\"image\",\"source\":"
		"{\"type\":\"url\",\"url\":\"https://e.org/c\"}}]}}]}]}],"
		"\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"},"
		"{\"type\":\"web_fetch_20250910\",\"name\":\"web_fetch\"},{\"type\":"
		"\"code_execution_20250825\",\"name\":\"code_execution\"},{\"type\":\"bash_20250124\","
		"\"name\":\"bash\"},{\"name\":\"WebSearch\",\"input_schema\":{}}],"
		"\"tool_choice\":{\"type\":\"tool\",\"name\":\"web_search\"},"
		"\"mcp_servers\":[{\"url\":\"https://e\"}],\"container\":\"c\"}");
	auto_free char *got = scene_strip(&q, &n, what, 9);
	tap_is_u64(n, 8, "taken out");
	tap_is_str(what[0].what, "tool web_search_20250305", "told");
#define GONE "{\"type\":\"text\",\"text\":\"[removed: remote URL]\"}"
	tap_is_str(
		got,
		"{\"messages\":[{\"role\":\"user\",\"content\":[" GONE ",{\"type\":\"document\","
		"\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":"
		"\"http://stays\"}},{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[" GONE
		",{\"type\":\"document\",\"source\":{\"type\":\"content\",\"content\":[" GONE
		"]}}]}]}],\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"bash\"},"
		"{\"name\":\"WebSearch\",\"input_schema\":{}}]}",
		"stripped");
	api_request_done(&q);
	scene_read(&q, AGENT_API_ANTHROPIC, PATH,
		   "{\"messages\":[],\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"w\"}],"
		   "\"tool_choice\":{\"type\":\"any\"}}");
	auto_free char *none = scene_strip(&q, &n, what, 9);
	tap_is_str(none, "{\"messages\":[]}", "an empty list goes with its choice");
	api_request_done(&q);
}

static void capping(void)
{
	static const struct {
		uint64_t max;
		const char *want;
	} rows[] = {
		{ 9000,
		  "{\"max_tokens\":9000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":8999},"
		  "\"messages\":[],\"context_management\":{}}" },
		{ 500,
		  "{\"max_tokens\":500,\"thinking\":{\"type\":\"disabled\"},\"messages\":[]}" },
		{ 40000,
		  "{\"max_tokens\":32000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":31999},"
		  "\"messages\":[],\"context_management\":{}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request q;

		scene_read(
			&q, AGENT_API_ANTHROPIC, PATH,
			"{\"max_tokens\":32000,\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":"
			"31999},\"messages\":[],\"context_management\":{}}");
		auto_free char *got = scene_cap(&q, rows[i].max);
		tap_is_str(got, rows[i].want, "capped");
		api_request_done(&q);
	}
}

#define E(type, rest)   "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"
#define START(usage)    E("message_start", ",\"message\":{\"model\":\"m\",\"usage\":{" usage "}}")
#define BLOCK(i, block) E("content_block_start", ",\"index\":" i ",\"content_block\":" block)
#define DELTA(i, delta) E("content_block_delta", ",\"index\":" i ",\"delta\":" delta)
#define TEXT(i, text)                                                                              \
	BLOCK(i, "{\"type\":\"text\",\"text\":\"\"}")                                              \
	DELTA(i, "{\"type\":\"text_delta\",\"text\":\"" text "\"}")
#define STOP(reason, usage)                                                                        \
	E("message_delta", ",\"delta\":{\"stop_reason\":\"" reason "\"},\"usage\":{" usage "}")

/* clang-format off */
static const struct scene_answer answers[] = {
	{ "three kinds of input are added up, cumulative output is not",
	  START("\"input_tokens\":100,\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":500,"
		"\"output_tokens\":1") E("ping", "") TEXT("0", "Hi")
	  STOP("end_turn", "\"output_tokens\":30") STOP("end_turn", "\"input_tokens\":100,"
	  "\"cache_read_input_tokens\":500,\"output_tokens\":50") E("message_stop", ""),
	  true, "stop Hi", "620/500/20/50/0" },
	{ "calls, thinking and the provider's own tools",
	  START("\"input_tokens\":1") BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\"}")
	  DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}")
	  DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"x\"}") TEXT("1", "A")
	  BLOCK("2", "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Read\",\"input\":{}}")
	  DELTA("2", "{\"type\":\"input_json_delta\",\"partial_json\":\"\"}")
	  DELTA("2", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}")
	  BLOCK("3", "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"Bash\",\"input\":{}}")
	  DELTA("2", "{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}")
	  BLOCK("4", "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}")
	  DELTA("4", "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}")
	  STOP("tool_use", "\"output_tokens\":9") E("message_stop", ""),
	  true, "tools A Read({\"a\":1})t1 Bash({})t2", "1/0/0/9/0" },
	{ "no message_stop", START("\"input_tokens\":1") TEXT("0", "Hi") STOP("end_turn", "\"output_tokens\":2"),
	  true, "cut: message_stop is missing", "1/0/0/2/0" },
	{ "cut in the middle", START("\"input_tokens\":1") TEXT("0", "Hi"), true,
	  "cut: message_stop is missing", "1/0/0/0/0" },
	{ "error event", START("\"input_tokens\":1")
	  E("error", ",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"), true,
	  "cut: the stream broke off with an error: Overloaded", "1/0/0/0/0" },
	{ "length", TEXT("0", "x") STOP("max_tokens", "") E("message_stop", ""), true, "length x", "unknown" },
	{ "refusal", TEXT("0", "x") STOP("refusal", "") E("message_stop", ""), true, "filter x", "unknown" },
	{ "pause", TEXT("0", "x") STOP("pause_turn", "") E("message_stop", ""), true, "other x", "unknown" },
	{ "body", "{\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	  "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{\"x\": 1e400}}],\"stop_reason\":"
	  "\"tool_use\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}", false,
	  "tools a f({\"x\": 1e400})t", "1/0/0/2/0" },
	{ "error body", "{\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"no\"}}", true,
	  "error: no", "unknown" },
	{ "not an answer", "<html>", false, "cut: the answer holds an event that is not JSON", "unknown" },
};
/* clang-format on */

static void searches(void)
{
	static const char body[] = "{\"content\":[],\"usage\":{\"input_tokens\":1,"
				   "\"server_tool_use\":{\"web_search_requests\":3}}}";
	struct api_answer a;

	api_answer_read(&a, api_of(AGENT_API_ANTHROPIC), body, sizeof(body) - 1, false);
	tap_is_u64(a.web_requests, 3, "the provider's searches");
	api_answer_done(&a);
}

static void writing(void)
{
	static const char said[] =
		"tools I look.\n\"so\" "
		"read({\"path\":\"a \\\"b\\\"\",\"first\":100})"
		"toolu_000000000000000000070000 patch({\"x\":\"\xc3\xa9\\n\"})mine";
	static const struct {
		int status;
		const char *type;
	} rows[] = { { 400, "invalid_request_error" },
		     { 402, "invalid_request_error" },
		     { 404, "not_found_error" },
		     { 429, "rate_limit_error" },
		     { 502, "api_error" } };
	struct api_request q;

	scene_read(&q, AGENT_API_ANTHROPIC, PATH, BODY);
	auto_free char *stream = scene_write(&q, false, said);
	tap_ok(!strncmp(stream, "event: message_start\n", 21) &&
		       strstr(stream, "\"input_tokens\":600") &&
		       strstr(stream, "\"cache_read_input_tokens\":400"),
	       "cached tokens are apart again");
	q.stream = false;
	auto_free char *body = scene_write(&q, false, said);
	tap_ok(strstr(body, "\"stop_reason\":\"tool_use\""), "a body");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf out = BUF_INIT(1000);
		auto_free char *want = mem_printf("{\"type\":\"error\",\"error\":{\"type\":\"%s\","
						  "\"message\":\"m\"},\"request_id\":null}",
						  rows[i].type);

		q.api->error(rows[i].status, "m", &out);
		tap_is_str(buf_str(&out), want, "error");
	}
	auto_buf out = BUF_INIT(1000);
	q.api->count(5, &out);
	tap_is_str(buf_str(&out), "{\"input_tokens\":5}", "count");
	api_request_done(&q);
}

#define RUN(uuid, hex, text)                                                                       \
	"{\"metadata\":{\"user_id\":\"{\\\"session_id\\\":\\\"" uuid "\\\"}\"},\"max_tokens\":5,"  \
	"\"system\":\"Session " uuid ", device " hex "\",\"messages\":[{\"role\":\"user\","        \
	"\"content\":[{\"type\":\"text\",\"text\":\"" text                                         \
	"\"}]},{\"role\":\"assistant\",\"content\":"                                               \
	"[{\"type\":\"tool_use\",\"id\":\"toolu_" hex                                              \
	"\",\"name\":\"Bash\",\"input\":{\"command\":"                                             \
	"\"ls\"}}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"    \
	"\"toolu_" hex "\",\"content\":\"at 0x7f" hex "\"}]}]}"

int main(void)
{
	reading();
	placing();
	stripping();
	capping();
	scene_answers(AGENT_API_ANTHROPIC, answers, ARRAY_SIZE(answers));
	searches();
	writing();
	scene_canon(AGENT_API_ANTHROPIC, PATH,
		    RUN("e879af40-4101-44af-aef2-37e7885ed0a2", "8009f065bdac10c41ea45d67c71e58bc",
			"a"),
		    RUN("f979af40-4101-44af-aef2-37e7885ed0a2", "1109f065bdac10c41ea45d67c71e58bc",
			"a"),
		    RUN("f979af40-4101-44af-aef2-37e7885ed0a2", "1109f065bdac10c41ea45d67c71e58bc",
			"b"),
		    "$.messages[0].content[0].text: recorded \"a\", now \"b\"");
	return tap_done();
}
