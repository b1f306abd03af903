/* purpose.c: which requests are the agent's main conversation. */
#include "gateway/purpose.h"

#include "tests/unit/gateway/api_scene.h"

#define TOOL(name)            "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"
#define SYS(text)             "{\"role\":\"system\",\"content\":\"" text "\"},"
#define USER(text)            "{\"role\":\"user\",\"content\":\"" text "\"}"
#define CHAT(messages, tools) "{\"messages\":[" messages "],\"tools\":[" tools "]}"
#define MORE                                                                                       \
	",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":"    \
	"{\"name\":\"a\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\","      \
	"\"content\":\"x\"}"

/* clang-format off */
/* One run of one agent, in order. */
static const struct {
	const char *name, *body;
	enum purpose want;
} rows[] = {
	{ "a title comes first, without tools", "{\"messages\":[" SYS("You make titles") USER("Fix it") "]}",
	  PURPOSE_SIDE },
	{ "the first with tools", CHAT(SYS("Be. Today is 2026-11-30") USER("Fix it"), TOOL("a") "," TOOL("b")),
	  PURPOSE_MAIN },
	{ "it goes on, the next day", CHAT(SYS("Be. Today is 2026-12-01") USER("Fix it") MORE, TOOL("b") "," TOOL("a")),
	  PURPOSE_MAIN },
	{ "another prompt with other tools", CHAT(SYS("You are a helper") USER("Find x"), TOOL("a")), PURPOSE_SUBAGENT },
	{ "it goes on", CHAT(SYS("You are a helper") USER("Find x") MORE, TOOL("a")), PURPOSE_SUBAGENT },
	{ "memory extraction: the same tools, all else differs", CHAT(SYS("You extract") USER("Fix is done"),
	  TOOL("a") "," TOOL("b")), PURPOSE_SUBAGENT },
	{ "one tool more", CHAT(SYS("Be. Today is 2026-12-01") USER("Fix it") MORE, TOOL("a") "," TOOL("b") "," TOOL("c")),
	  PURPOSE_MAIN },
	{ "the system text follows the tools", CHAT(SYS("Be so.") USER("Fix it") MORE, TOOL("a") "," TOOL("b") "," TOOL("c")),
	  PURPOSE_MAIN },
	{ "the client's own summary", CHAT(SYS("Be so.") USER("Fix it") MORE "," USER("Your task is to create a detailed "
	  "summary of the conversation so far, ..."), TOOL("a") "," TOOL("b") "," TOOL("c")), PURPOSE_COMPACT },
	{ "compaction replaced the beginning", CHAT(SYS("Be so.") USER("Summary: ..."),
	  TOOL("a") "," TOOL("b") "," TOOL("c")), PURPOSE_MAIN },
	{ "and it goes on from there", CHAT(SYS("Be so!") USER("Summary: ...") MORE,
	  TOOL("a") "," TOOL("b") "," TOOL("c")), PURPOSE_MAIN },
	{ "a classifier", "{\"messages\":[" SYS("Be so.") USER("Fix it") "],\"tools\":[]}", PURPOSE_SIDE },
};
/* clang-format on */

int main(void)
{
	struct purposes p = { 0 };
	struct api_request q;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scene_read(&q, AGENT_API_CHAT, "/v1/chat/completions", rows[i].body);
		tap_is_str(purpose_name(purpose_of(&p, &q)), purpose_name(rows[i].want),
			   rows[i].name);
		api_request_done(&q);
	}
	scene_read(&q, AGENT_API_ANTHROPIC, "/v1/messages/count_tokens",
		   "{\"messages\":[],\"tools\":[{\"name\":\"a\"}]}");
	tap_ok(purpose_of(&p, &q) == PURPOSE_COUNT, "a token count");
	api_request_done(&q);
	scene_read(&q, AGENT_API_RESPONSES, "/v1/responses/compact", "{\"input\":[]}");
	tap_ok(purpose_of(&p, &q) == PURPOSE_COMPACT, "compaction");
	api_request_done(&q);
	for (int i = 0; i < PURPOSE_MAX; i++)
		tap_ok(purpose_named(purpose_name((enum purpose)i)) == (enum purpose)i, "%s",
		       purpose_name((enum purpose)i));
	tap_ok(purpose_named("x") == PURPOSE_MAX && purpose_named(NULL) == PURPOSE_MAX,
	       "no purpose");
	return tap_done();
}
