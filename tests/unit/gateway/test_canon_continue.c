/* canon_continue.c: which requests go on with a conversation, for every API's form, and what stands beside it. */
#include "gateway/canon.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define SYS       "{\"content\":\"be good\",\"role\":\"system\"}"
#define ASK       "{\"content\":\"do it\",\"role\":\"user\"}"
#define CALL      "{\"content\":null,\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"<call 1>\"}]}"
#define DONE      "{\"content\":\"ok\",\"role\":\"tool\",\"tool_call_id\":\"<call 1>\"}"
#define GO        "{\"content\":[{\"text\":\"go on\",\"type\":\"text\"}],\"role\":\"user\"}"
#define CHAT(...) "{\"messages\":[" __VA_ARGS__ "],\"model\":\"m\"}"

/* clang-format off */
static const struct {
	const char *what, *recorded, *now, *want; /* stands in the difference; NULL = it goes on */
} rows[] = {
	{ "one more message", CHAT(SYS "," ASK "," CALL "," DONE), CHAT(SYS "," ASK "," CALL "," DONE "," GO), NULL },
	{ "the same", CHAT(SYS "," ASK), CHAT(SYS "," ASK), NULL },
	{ "another system prompt", CHAT(SYS "," ASK), CHAT("{\"content\":\"be bad\",\"role\":\"system\"}," ASK "," GO), NULL },
	{ "a developer's word more", CHAT(ASK), CHAT("{\"content\":\"x\",\"role\":\"developer\"}," ASK), NULL },
	{ "a text as its one part", CHAT(ASK), CHAT("{\"content\":[{\"text\":\"do it\",\"type\":\"text\"}],\"role\":\"user\"}," GO), NULL },
	{ "marks for the cache", CHAT("{\"content\":[{\"cache_control\":{\"type\":\"e\"},\"text\":\"a\",\"type\":\"text\"}],\"role\":\"user\"}"),
	  CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"}],\"role\":\"user\"}," GO), NULL },
	{ "parts behind the last ones", CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"}],\"role\":\"user\"}"),
	  CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"},{\"text\":\"b\",\"type\":\"text\"}],\"role\":\"user\"}"), NULL },
	{ "parts inside", CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"}],\"role\":\"user\"}," CALL),
	  CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"},{\"text\":\"b\",\"type\":\"text\"}],\"role\":\"user\"}," CALL),
	  "messages, entry 1: recorded 1 parts, now 2" },
	{ "a part is missing", CHAT("{\"content\":[{\"text\":\"a\",\"type\":\"text\"}],\"role\":\"user\"}"),
	  CHAT("{\"content\":[],\"role\":\"user\"}"), "messages, entry 1, part 1: " },
	{ "another result", CHAT(ASK "," DONE), CHAT(ASK ",{\"content\":\"no\",\"role\":\"tool\",\"tool_call_id\":\"<call 1>\"}," GO),
	  "messages, entry 2, part 1: $.text: recorded \"ok\", now \"no\"" },
	{ "the result is lost", CHAT(SYS "," ASK "," CALL "," DONE), CHAT(SYS "," ASK "," CALL), "messages, entry 3: recorded, now the conversation ends" },
	{ "one is lost inside", CHAT(ASK "," CALL "," DONE), CHAT(ASK "," DONE "," GO), "messages, entry 2: " },
	{ "another role", CHAT(ASK), CHAT("{\"content\":\"do it\",\"role\":\"assistant\"}"), "messages, entry 1: $.role" },
	{ "Responses", "{\"input\":[{\"content\":[{\"text\":\"a\",\"type\":\"input_text\"}],\"role\":\"user\",\"type\":\"message\"},{\"call_id\":\"<call 1>\",\"output\":\"x\",\"type\":\"function_call_output\"}]}",
	  "{\"input\":[{\"content\":[{\"text\":\"a\",\"type\":\"input_text\"}],\"role\":\"user\",\"type\":\"message\"},{\"call_id\":\"<call 1>\",\"output\":\"y\",\"type\":\"function_call_output\"}]}",
	  "input, entry 2: $.output: recorded \"x\", now \"y\"" },
	{ "Gemini", "{\"contents\":[{\"parts\":[{\"text\":\"a\"}],\"role\":\"user\"}]}", "{\"contents\":[{\"parts\":[{\"text\":\"b\"}],\"role\":\"user\"}]}",
	  "contents, entry 1, part 1: $.text" },
	{ "another API", "{\"contents\":[]}", "{\"messages\":[]}", "no conversation" },
	{ "an input that is a text", "{\"input\":\"x\"}", "{\"input\":\"x\"}", "no conversation" },
	{ "no JSON", "x", "{}", "no conversation" },
	{ "nothing", "", "", "no conversation" },
};

static const struct {
	const char *what, *recorded, *now, *want; /* NULL = no difference */
} beside[] = {
	{ "only the conversation differs", CHAT(SYS "," ASK), CHAT(SYS "," ASK "," GO), NULL },
	{ "the system prompt", CHAT(SYS "," ASK), CHAT("{\"content\":\"be bad\",\"role\":\"system\"}," ASK), "$.messages[0].content: recorded \"be good\", now \"be bad\"" },
	{ "a setting", CHAT(ASK), "{\"messages\":[" ASK "],\"model\":\"n\"}", "$.model" },
	{ "marks for the cache", "{\"messages\":[],\"system\":[{\"cache_control\":1}]}", "{\"messages\":[],\"system\":[{}]}", NULL },
	{ "no JSON", "x", "y", "byte 0" },
};
/* clang-format on */

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf out = BUF_INIT(4096);
		int rc = canon_continues(rows[i].recorded, strlen(rows[i].recorded), rows[i].now,
					 strlen(rows[i].now), &out);

		tap_ok(rc == (rows[i].want != NULL), "%s: %s", rows[i].what, buf_str(&out));
		tap_ok(rows[i].want ? strstr(buf_str(&out), rows[i].want) != NULL : !out.len,
		       "%s: what is told", rows[i].what);
	}
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		auto_buf out = BUF_INIT(4096);
		int rc = canon_context(beside[i].recorded, strlen(beside[i].recorded),
				       beside[i].now, strlen(beside[i].now), &out);

		tap_ok(rc == (beside[i].want != NULL), "beside: %s: %s", beside[i].what,
		       buf_str(&out));
		tap_ok(!beside[i].want || strstr(buf_str(&out), beside[i].want), "beside: %s",
		       beside[i].what);
	}
	return tap_done();
}
