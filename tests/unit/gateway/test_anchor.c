/* anchor.c: a message goes into the first request after it was given and to the same place in every
 * later one, whatever the client does to its history. */
#include "gateway/anchor.h"

#include "tests/unit/gateway/api_scene.h"

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define CALL(id)                                                                                   \
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id "\",\"type\":"    \
	"\"function\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}"
#define RESULT(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define CHAT(messages)   "{\"messages\":[" messages "]}"
#define FIRST            USER("Fix it")

/* One request: what stands in it afterwards, and what was done. */
static void request(struct anchors *a, const char *body, uint64_t call, const char *want,
		    const char *did)
{
	static struct placed done[ANCHORS_MAX];
	struct api_request q;
	struct jedit edits = { 0 };
	auto_buf told = BUF_INIT(1000);
	size_t n, put;

	scene_read(&q, AGENT_API_CHAT, "/v1/chat/completions", body);
	put = anchors_place(a, &q, call, &edits, done, &n);
	for (size_t i = 0; i < n; i++) {
		buf_addf(&told, "%zu@%u%s%s%s ", done[i].index, done[i].entry,
			 done[i].first ? "first" : "", done[i].again_elsewhere ? "again" : "",
			 done[i].lost_now ? "lost" : "");
		put += done[i].lost_now;
	}
	tap_is_u64(put, n, "all are told");
	auto_free char *got = scene_apply(&q, &edits);
	tap_is_str(got, want, "request");
	tap_is_str(buf_str(&told), did, "  what was done");
	api_request_done(&q);
}

static void add(struct anchors *a, const char *text)
{
	struct err err = { 0 };

	tap_ok(anchors_add(a, text, strlen(text), &err) == 0 && anchors_waiting(a), "given: %s",
	       text);
}

static void life(void)
{
	struct anchors a = { 0 };

	request(&a, CHAT(FIRST), 1, CHAT(FIRST), "");
	add(&a, "One");
	add(&a, "Two");
	request(&a, CHAT(FIRST "," CALL("c1") "," RESULT("c1", "r")), 2,
		CHAT(FIRST "," CALL("c1") "," RESULT("c1", "r") "," USER("One") "," USER("Two")),
		"0@2first 1@2first ");
	tap_ok(!anchors_waiting(&a) && a.v[0].call == 2 && str_eq(a.v[0].id, "c1"), "anchored");
	request(&a,
		CHAT(FIRST "," CALL("c1") "," RESULT("c1", "[old result]") "," CALL(
			"c2") "," RESULT("c2", "s")),
		3,
		CHAT(FIRST "," CALL("c1") "," RESULT("c1", "[old result]") "," USER("One") "," USER(
			"Two") "," CALL("c2") "," RESULT("c2", "s")),
		"0@2 1@2 ");
	/* the beginning was cut off: numbers moved, the id did not */
	request(&a, CHAT(CALL("c1") "," RESULT("c1", "r")), 4,
		CHAT(CALL("c1") "," RESULT("c1", "r") "," USER("One") "," USER("Two")), "0@1 1@1 ");
	request(&a, CHAT(USER("Summary")), 5, CHAT(USER("Summary")), "0@0lost 1@0lost ");
	request(&a, CHAT(USER("Summary")), 6, CHAT(USER("Summary")), "");
	anchors_done(&a);
}

static void again(void)
{
	struct anchors a = { .reattach = REATTACH_ONCE };

	add(&a, "One");
	request(&a, CHAT(FIRST "," CALL("c1") "," RESULT("c1", "r")), 1,
		CHAT(FIRST "," CALL("c1") "," RESULT("c1", "r") "," USER("One")), "0@2first ");
	request(&a, CHAT(USER("Summary at 10:00:01")), 2,
		CHAT(USER("Summary at 10:00:01") "," USER("One")), "0@0again ");
	/* told by its text now, less what is volatile in it */
	request(&a, CHAT(USER("Summary at 10:00:02") "," CALL("c9") "," RESULT("c9", "x")), 3,
		CHAT(USER("Summary at 10:00:02") "," USER("One") "," CALL("c9") "," RESULT("c9",
											   "x")),
		"0@0 ");
	request(&a, CHAT(USER("Other")), 4, CHAT(USER("Other")), "0@0lost ");
	anchors_done(&a);
}

/* Clients that number their calls anew in every turn, and texts that are said twice. */
static void repeated(void)
{
	struct anchors a = { 0 };

	add(&a, "One");
	request(&a,
		CHAT(FIRST "," CALL("0") "," RESULT("0", "r") "," CALL("0") "," RESULT("0", "s")),
		1,
		CHAT(FIRST "," CALL("0") "," RESULT("0", "r") "," CALL(
			"0") "," RESULT("0", "s") "," USER("One")),
		"0@4first ");
	request(&a,
		CHAT(FIRST "," CALL("0") "," RESULT("0", "r") "," CALL(
			"0") "," RESULT("0", "s") "," CALL("0") "," RESULT("0", "t")),
		2,
		CHAT(FIRST "," CALL("0") "," RESULT("0", "r") "," CALL("0") "," RESULT(
			"0", "s") "," USER("One") "," CALL("0") "," RESULT("0", "t")),
		"0@4 ");
	request(&a, CHAT(FIRST "," CALL("0") "," RESULT("0", "s")), 3,
		CHAT(FIRST "," CALL("0") "," RESULT("0", "s") "," USER("One")), "0@2 ");
	anchors_done(&a);
}

/* A reminder behind the results of one Anthropic message is gone in the next request. */
static void reminders(void)
{
#define A(text)                                                                                       \
	"{\"messages\":[{\"role\":\"user\",\"content\":\"Fix\"},{\"role\":\"assistant\",\"content\":" \
	"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\","    \
	"\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"x\"}" text       \
	"]}]}"
	static struct placed done[ANCHORS_MAX];
	static const char *const bodies[] = { A(",{\"type\":\"text\",\"text\":\"reminder\"}"),
					      A("") };
	static const char *const wants[] = {
		A(",{\"type\":\"text\",\"text\":\"reminder\"},{\"type\":\"text\",\"text\":\"One\"}"),
		A(",{\"type\":\"text\",\"text\":\"One\"}")
	};
	struct anchors a = { 0 };
	size_t n;

	add(&a, "One");
	for (int i = 0; i < 2; i++) {
		struct api_request q;
		struct jedit edits = { 0 };

		scene_read(&q, AGENT_API_ANTHROPIC, "/v1/messages", bodies[i]);
		tap_is_u64(anchors_place(&a, &q, 1, &edits, done, &n), 1, "put in");
		auto_free char *got = scene_apply(&q, &edits);
		tap_is_str(got, wants[i], "request");
		api_request_done(&q);
	}
	anchors_done(&a);
}

static void stateful(void)
{
	static struct placed done[ANCHORS_MAX];
	static const char body[] = "{\"previous_response_id\":\"r\",\"input\":[{\"type\":"
				   "\"function_call_output\",\"call_id\":\"c\",\"output\":\"x\"}]}";
	struct anchors a = { 0 };
	struct api_request q;
	size_t n;

	add(&a, "One");
	scene_read(&q, AGENT_API_RESPONSES, "/v1/responses", body);
	for (size_t i = 0; i < 2; i++) {
		struct jedit edits = { 0 };

		tap_is_u64(anchors_place(&a, &q, i, &edits, done, &n), 1 - i,
			   "once only: the server keeps it");
		jedit_done(&edits);
	}
	api_request_done(&q);
	anchors_done(&a);
}

static void limits(void)
{
	static struct anchors a;
	auto_free char *text = mem_zalloc(ANCHOR_TEXT_MAX + 1, 1);
	struct err err = { 0 };

	memset(text, 'x', ANCHOR_TEXT_MAX + 1);
	tap_ok(anchors_add(&a, text, ANCHOR_TEXT_MAX + 1, &err) == -ERR_LIMIT, "too long");
	for (int i = 0; i < ANCHORS_MAX; i++)
		if (anchors_add(&a, "x", 1, &err) < 0)
			tap_ok(false, "message %d", i);
	tap_ok(anchors_add(&a, "x", 1, &err) == -ERR_LIMIT, "too many");
	anchors_done(&a);
}

int main(void)
{
	life();
	again();
	repeated();
	reminders();
	stateful();
	limits();
	return tap_done();
}
