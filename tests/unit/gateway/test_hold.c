/* Which events of a stream are held back, for each API and however the stream is cut into pieces. */
#include <string.h>

#include "base/mem.h"
#include "gateway/api.h"
#include "gateway/hold.h"
#include "tests/lib/tap.h"

struct row {
	enum agent_api api;
	const char *out, *held; /* what may go, what must not */
};

#define D(json) "data: " json "\n\n"

/* clang-format off */
static const struct row rows[] = {
	{ AGENT_API_CHAT, D("{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}") ": comment\n\n",
	  D("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}") D("[DONE]") },
	{ AGENT_API_CHAT, D("{\"choices\":[],\"error\":null}"), D("{\"error\":{\"message\":\"x\"}}") },
	{ AGENT_API_CHAT, "", D("[DONE]") },
	{ AGENT_API_CHAT, "", D("not json") D("{}") },
	{ AGENT_API_CHAT, D("{}"), "data: {\"choices\"" },
	{ AGENT_API_RESPONSES, "event: x\r\ndata: {\"type\":\"response.output_text.delta\"}\r\n\r\n"
	  "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\"}}\r\n\r\n",
	  "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}\r\n\r\n" },
	{ AGENT_API_RESPONSES, "", D("{\"type\":\"response.completed\"}") },
	{ AGENT_API_ANTHROPIC, D("{\"type\":\"message_start\"}")
	  D("{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\"}}") D("{\"type\":\"content_block_stop\"}")
	  D("{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\"}}") D("{\"type\":\"content_block_delta\"}"),
	  D("{\"type\":\"content_block_stop\"}") D("{\"type\":\"message_delta\"}") },
	{ AGENT_API_ANTHROPIC, "data: {\"type\":\"ping\"}\r\r", D("{\"type\":\"message_stop\"}") },
	{ AGENT_API_GEMINI, D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}"),
	  D("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"},{\"functionCall\":{\"name\":\"x\"}}]}}]}") },
	{ AGENT_API_GEMINI, "", D("{\"candidates\":[{\"finishReason\":\"STOP\"}]}") },
};
/* clang-format on */

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = mem_printf("%s%s", rows[i].out, rows[i].held);
		size_t n = strlen(text), want = strlen(rows[i].out), last = 0, most = 0;
		struct hold h;
		bool back = false;

		hold_init(&h, rows[i].api);
		tap_is_u64(hold_scan(&h, text, n), want, "at once");
		hold_init(&h, rows[i].api);
		for (size_t k = 0; k <= n; k++) {
			last = hold_scan(&h, text, k);
			back |= last < most || last > k;
			most = last;
		}
		tap_ok(last == want && !back, "row %zu byte by byte: %zu of %zu", i, last, n);
	}
}

static void test_clean(void)
{
	static const char text[] = ": k\n\n" D("{\"choices\":[{\"usage\":1}]}")
		D("{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}")
			D("{\"choices\":[],\"usage\":null}") D("[DONE]");
	auto_buf a = BUF_INIT(1000), b = BUF_INIT(1000), small = BUF_INIT(10);

	tap_ok(hold_clean(text, strlen(text), false, &a) == 0, "clean");
	tap_ok(!strstr(buf_str(&a), ": k") && strstr(buf_str(&a), "prompt_tokens"), "comments go");
	tap_ok(hold_clean(text, strlen(text), true, &b) == 0, "clean");
	tap_ok(!strstr(buf_str(&b), "prompt_tokens") && strstr(buf_str(&b), "[DONE]") &&
		       strstr(buf_str(&b), "\"usage\":null"),
	       "and the usage event, no other: %s", buf_str(&b));
	tap_ok(hold_clean(text, strlen(text), true, &small) < 0, "no room");
}

static void test_end(void)
{
	static const char *const ends[][2] = {
		{ "", "" },
		{ "data: x", "data: x\n\n" },
		{ "data: x\n", "data: x\n\n" },
		{ "data: x\n\n", "data: x\n\n" },
		{ "data: x\r\n", "data: x\r\n\n" },
		{ "data: x\r\n\r\n", "data: x\r\n\r\n" },
		{ "data: x\r\r", "data: x\r\r" },
		{ "\n", "\n\n" },
	};
	auto_buf small = BUF_INIT(3);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		auto_buf b = BUF_INIT(100);

		buf_adds(&b, ends[i][0]);
		tap_is_u64((uint64_t)hold_end(&b), 0, "ended");
		tap_is_str(buf_str(&b), ends[i][1], "by an empty line");
	}
	buf_adds(&small, "abc");
	tap_ok(hold_end(&small) < 0, "no room");
}

int main(void)
{
	test_rows();
	test_clean();
	test_end();
	return tap_done();
}
