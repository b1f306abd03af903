/* Answers and requests of the four model APIs, whole and as streams: text, reasoning, tool calls, their results. */
#include "study/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* What is read: "text|reasoning|id:name:args=result;...". */
static const struct {
	const char *name, *api;
	bool sse;
	const char *answer, *request, *want;
} rows[] = {
	/* clang-format off */
	{ "chat", "openai-chat", false,
	  "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"hi\",\"reasoning_content\":\"hm\",\"tool_calls\":["
	  "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"sh\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}",
	  "{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"c0\",\"content\":\"no\"},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":[{\"type\":\"text\",\"text\":\"out\"}]}]}",
	  "hi|hm|c1:sh:{\"a\":1}=out;" },
	{ "chat, streamed", "openai-chat", true,
	  "data: {\"choices\":[{\"delta\":{\"content\":\"h\"}}]}\r\n\r\n: comment\ndata: {\"choices\":[{\"delta\":{\"content\":\"i\"}}]}\n\n"
	  "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"c2\",\"function\":{\"name\":\"b\",\"arguments\":\"{\"}}]}}]}\n\n"
	  "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"a\",\"arguments\":\"\"}},{\"index\":1,\"function\":{\"arguments\":\"}\"}}]}}]}\n\n"
	  "data: [DONE]\n\n", NULL, "hi||c2:b:{}=?;c1:a:=?;" },
	{ "messages", "anthropic", false,
	  "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}]}",
	  "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"out\"}]}]}",
	  "hi|hm|t1:Bash:{\"command\":\"ls\"}=out;" },
	{ "messages, streamed", "anthropic", true,
	  "event: x\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	  "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
	  "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\n\n"
	  "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\"\"}}\n\n"
	  "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":2}\"}}\n\n", NULL,
	  "hi||t1:Bash:{\"a\":2}=?;" },
	{ "responses", "openai-responses", false,
	  "{\"object\":\"response\",\"output\":[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}]},{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]},"
	  "{\"type\":\"function_call\",\"call_id\":\"f1\",\"name\":\"exec\",\"arguments\":\"{}\"},{\"type\":\"custom_tool_call\",\"call_id\":\"f2\",\"name\":\"patch\",\"input\":\"*** x\"}]}",
	  "{\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"f1\",\"output\":\"one\"},{\"type\":\"custom_tool_call_output\",\"call_id\":\"f2\",\"output\":{\"ok\":true}}]}",
	  "hi|hm|f1:exec:{}=one;f2:patch:*** x={\"ok\":true};" },
	{ "responses, streamed", "openai-responses", true,
	  "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}}\n\n"
	  "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"hi\"}]}]}}\n\n", NULL, "hi||" },
	{ "responses, only completed", "openai-responses", true,
	  "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"text\":\"hi\"}]}]}}", NULL, "hi||" },
	{ "gemini", "gemini", false,
	  "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true},{\"text\":\"hi\"},{\"functionCall\":{\"name\":\"sh\",\"args\":{\"a\":1}}},{\"functionCall\":{\"name\":\"sh\",\"args\":{\"a\":2}}}]}}]}",
	  "{\"contents\":[{\"parts\":[{\"functionResponse\":{\"name\":\"sh\",\"response\":{\"output\":\"old\"}}}]},{\"parts\":[{\"functionResponse\":{\"name\":\"sh\",\"response\":{\"output\":\"one\"}}},"
	  "{\"functionResponse\":{\"name\":\"sh\",\"response\":{\"error\":\"two\"}}}]}]}",
	  "hi|hm|-:sh:{\"a\":1}=one;-:sh:{\"a\":2}={\"error\":\"two\"};" },
	{ "no answer", "openai-chat", false, "{\"error\":{\"message\":\"x\"}}", NULL, "" },
	{ "no JSON", "anthropic", true, "data: {\n\ndata\n", NULL, "" },
	{ "an unknown API", "other", false, "{}", NULL, "" },
	/* clang-format on */
};

static void on_say(void *arg, bool system, const char *text)
{
	buf_addf(arg, "%s%s;", system ? "S:" : "U:", text);
}

static void opening(const char *api, const char *request, const char *want)
{
	auto_buf got = BUF_INIT(65536);
	cJSON *o = cJSON_Parse(request);

	turn_opening(api, o, on_say, &got);
	tap_is_str(buf_str(&got), want, api);
	cJSON_Delete(o);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct turn t;
		auto_buf got = BUF_INIT(65536);

		turn_init(&t);
		if (turn_read(rows[i].api, rows[i].sse, rows[i].answer, strlen(rows[i].answer),
			      &t)) {
			cJSON *request = rows[i].request ? cJSON_Parse(rows[i].request) : NULL;

			turn_results(rows[i].api, request, &t);
			cJSON_Delete(request);
			buf_addf(&got, "%s|%s|", buf_str(&t.text), buf_str(&t.reasoning));
			for (size_t k = 0; k < t.n_calls; k++)
				buf_addf(&got, "%s:%s:%s=%s;", t.call[k].id ? t.call[k].id : "-",
					 t.call[k].name, buf_str(&t.call[k].args),
					 t.call[k].result ? t.call[k].result : "?");
		}
		tap_is_str(buf_str(&got), rows[i].want, rows[i].name);
		turn_done(&t);
	}
	opening("openai-chat",
		"{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"u\"}]},{\"role\":\"assistant\",\"content\":\"a\"}]}",
		"S:s;U:u;");
	opening("anthropic",
		"{\"system\":[{\"type\":\"text\",\"text\":\"s\"}],\"messages\":[{\"role\":\"user\",\"content\":\"u\"}]}",
		"S:s;U:u;");
	opening("openai-responses",
		"{\"instructions\":\"s\",\"input\":[{\"role\":\"developer\",\"content\":\"d\"},{\"role\":\"user\",\"content\":\"u\"}]}",
		"S:s;S:d;U:u;");
	opening("gemini",
		"{\"systemInstruction\":{\"parts\":[{\"text\":\"s\"}]},\"contents\":[{\"parts\":[{\"text\":\"u\"}]},{\"role\":\"model\",\"parts\":[{\"text\":\"m\"}]}]}",
		"S:s;U:u;");
	return tap_done();
}
