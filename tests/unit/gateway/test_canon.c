/* canon.c, canon_text.c, canon_diff.c: what is volatile and what is not, and how a difference reads.
 * The requests of the four APIs are in their own tests. */
#include "gateway/canon.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

/* clang-format off */
static const struct {
	const char *text, *want; /* NULL = stays as it is */
} texts[] = {
	{ "on 2026-11-30, at 2026-11-30T10:09:48.123Z or 2026-11-30 10:09:48+01:00.",
	  "on <date>, at <date> or <date>." },
	{ "1234-56-789 and 12026-11-30", NULL },
	{ "Today's date is Monday, November 30, 2026 (formatted", "Today's date is <date> (formatted" },
	{ "Mon Nov 30 13:11:22 UTC 2026|Mon Nov 30 13:11:22 2026|Tue, 30 Nov 2026 13:11:22 GMT",
	  "<date>|<date>|<date> GMT" },
	{ "-rw-r--r-- 1 root root 75 Nov 30 13:11 addr.c\n-rw 1 Jan  2  2025 b", 
	  "-rw-r--r-- 1 root root 75 <date> addr.c\n-rw 1 <date> b" },
	{ "Nov 30, 2026 5:00 PM", "<date>" },
	{ "11/30/2026 and 11/30", "<date> and 11/30" },
	{ "May I march 3 times? Monday morning, Dec 5 apples", NULL },
	{ "13:11:22.5 10:09 AM 10:09", "<time> <time> 10:09" },
	{ "src/a.c:10:12: error, ratio 16:9", NULL },
	{ "created 1796025721 and 1796025721123, not 179602572", "created <time> and <time>, not 179602572" },
	{ "3 passed in 0.05s (12ms), 1.2 seconds", "3 passed in <n>s (<n>ms), <n> seconds" },
	{ "timeout=30s, 1.5 sizes, v1.2.3, 0.5", NULL },
	{ "id 01a22b99-2801-7a13-9ccf-d601d0a83b35:0", "id <uuid>:0" },
	{ "msg_01a22b99-2801-7a13-9ccf-d601d0a83b35", "msg_<uuid>" },
	{ "sha 8009f065bdac10c41ea45d67c71e58bca018b557, deadbeefdeadbeefdead",
	  "sha <hex>, deadbeefdeadbeefdead" },
	{ "1234567890123456 3.1415926535897932e-05 x8009f065bdac10c41", NULL },
	{ "[main 3f2a1bc] fix; 3f2a1bc ; [main abcdefa]", "[main <hex>] fix; 3f2a1bc ; [main abcdefa]" },
	{ "at 0x7ffd1234abcd, mask 0xffffffff", "at <hex>, mask 0xffffffff" },
	{ "Chunk ID: ccd6c0\nWall time: 0.0000 seconds\nProcess exited with code 0",
	  "Chunk ID: <id>\nWall time: <n> seconds\nProcess exited with code 0" },
	{ "session ID 12345; pid 77, pid=5, rapid 7 PID: x", "session ID <id>; pid <id>, pid=<id>, rapid 7 PID: x" },
	{ "# duration_ms 1.5", "# duration_ms <n>" },
	{ "http://127.0.0.1:34567/ http://localhost:8080/ 34567", "http://127.0.0.1:<port>/ http://localhost:8080/ 34567" },
	{ "/tmp/claude-x-1234-abc3ef/out /tmp/tmpabcdefgh/a.py", "/tmp/claude-x-<n>-<x>/out /tmp/<x>/a.py" },
	{ "/tmp/tmp.XRXQKYTPPS /tmp/tmp.short", "/tmp/tmp.<x> /tmp/tmp.short" },
	{ "/tmp/notes.txt /workspace/tmp-1234 /var/tmp/aBcDeF", "/tmp/notes.txt /workspace/tmp-1234 /var/tmp/<x>" },
	{ "caf\xc3\xa9 12 monkeys, x86_64, utf8, \xe2\x9c\x93 ok", NULL },
	{ "", NULL },
};
/* clang-format on */

static void words(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_buf out = BUF_INIT(10000);

		canon_text(texts[i].text, strlen(texts[i].text), &out);
		tap_is_str(buf_str(&out), texts[i].want ? texts[i].want : texts[i].text, "text");
	}
}

/* Long runs of what looks like the beginning of something: a matcher that looked far ahead from every
 * byte would need hours. */
static void long_ones(void)
{
	static const char *const unit[] = { "1",       "a",    "1a",    "/tmp/", "pid ",
					    "Nov 30 ", "1:11", "-11-1", "0x",    "Mon ",
					    ".1",      "f-",   "M",     "1/1/",  "12ms1" };

	for (size_t i = 0; i < ARRAY_SIZE(unit); i++) {
		auto_buf in = BUF_INIT(2u << 20), out = BUF_INIT(16u << 20);

		while (in.len < 1u << 20)
			buf_adds(&in, unit[i]);
		canon_text(buf_str(&in), in.len, &out);
		tap_ok(out.len > 0 && !out.full, "a megabyte of \"%s\"", unit[i]);
	}
}

static void canonical(const char *body, const char *want)
{
	struct api_request q;
	auto_buf out = BUF_INIT(10000), small = BUF_INIT(5);

	if (!tap_ok(api_request_read(&q, api_of(AGENT_API_CHAT), API_ROUTE_COUNT, "/", body,
				     strlen(body), NULL) == 0,
		    "a request"))
		return;
	tap_ok(canon_request(&q, &out) == 0, "canonical");
	tap_is_str(buf_str(&out), want, body);
	tap_ok(canon_request(&q, &small) < 0, "a full buffer is told");
	api_request_done(&q);
}

/* What a client's retry may change, and what makes a new question. */
static void questions(void)
{
	static const char *const bodies[] = {
		"{\"input\":\"at 10:09:11\",\"client_metadata\":{\"a\":1,\"b\":2},\"previous_response_id\":\"r1\"}",
		"{\"client_metadata\":{\"b\":3}, \"previous_response_id\":\"r1\", \"input\":\"at 10:09:11\"}",
		"{\"input\":\"at 10:09:12\",\"previous_response_id\":\"r1\"}",
		"{\"input\":\"at 10:09:11\",\"previous_response_id\":\"r2\"}",
	};
	auto_buf first = BUF_INIT(1000), all = BUF_INIT(1000);

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct api_request q;
		auto_buf b = BUF_INIT(1000), c = BUF_INIT(1000);

		tap_ok(api_request_read(&q, api_of(AGENT_API_RESPONSES), API_ROUTE_CHAT,
					"/v1/responses", bodies[i], strlen(bodies[i]), NULL) == 0,
		       "%s", bodies[i]);
		tap_ok(canon_question(&q, &b) == 0 && canon_request(&q, &c) == 0, "can be had");
		if (!i) {
			buf_adds(&first, buf_str(&b));
			buf_adds(&all, buf_str(&c));
		}
		tap_ok((strcmp(buf_str(&first), buf_str(&b)) == 0) == (i < 2), "%s", buf_str(&b));
		tap_is_str(buf_str(&c), buf_str(&all), "a replay takes them all for the same");
		api_request_done(&q);
	}
}

/* clang-format off */
static const struct {
	const char *a, *b, *want; /* NULL = equal */
} diffs[] = {
	{ "{\"a\":1}", "{\"a\":1}", NULL },
	{ "{\"a\":1}", "{\"a\":2}", "$.a: recorded 1, now 2" },
	{ "{\"a\":[1,{\"b\":\"x\"}]}", "{\"a\":[1,{\"b\":\"y\"}]}", "$.a[1].b: recorded \"x\", now \"y\"" },
	{ "{\"a\":[1]}", "{\"a\":[1,[2]]}", "$.a[1]: recorded nothing, now [2]" },
	{ "{\"a\":1,\"b\":2}", "{\"b\":2}", "$.a: recorded 1, now nothing" },
	{ "{\"b\":2}", "{\"b\":2,\"c\":{}}", "$.c: recorded nothing, now {}" },
	{ "{\"a\":[]}", "{\"a\":{}}", "$.a: recorded [], now {}" },
	{ "{\"a\":\"0123456789012345678901234567890123456789012345678901234567890123456789x and so on\"}",
	  "{\"a\":\"0123456789012345678901234567890123456789012345678901234567890123456789y and so on\"}",
	  "$.a: recorded ...\"678901234567890123456789x and so on\", now ...\"678901234567890123456789y and so on\"" },
	{ "not json", "not jsox", "byte 7: recorded \"not json\", now \"not jsox\"" },
	{ "", "{}", "byte 0: recorded \"\", now \"{}\"" },
};
/* clang-format on */

static void differences(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(diffs); i++) {
		auto_buf out = BUF_INIT(10000);
		int rc = canon_diff(diffs[i].a, strlen(diffs[i].a), diffs[i].b, strlen(diffs[i].b),
				    &out);

		tap_ok(rc == (diffs[i].want != NULL), "differ or not");
		tap_is_str(buf_str(&out), diffs[i].want ? diffs[i].want : "", "difference");
	}
}

int main(void)
{
	struct api_request q;
	auto_buf out = BUF_INIT(100);

	words();
	long_ones();
	questions();
	canonical(
		"{ \"z\":1e400, \"a\" : [ true,null ,\"x\\u0041 2026-11-30\"], \"b\":{\"user\":1},"
		"\"user\":\"u\",\"metadata\":{\"x\":1},\"created\":5,\"z\":12345678901234567890123 }",
		"{\"a\":[true,null,\"xA <date>\"],\"b\":{\"user\":1},\"z\":12345678901234567890123}");
	canonical(
		"{\"messages\":[{\"id\":\"m\",\"role\":\"tool\",\"tool_call_id\":\"b\"},"
		"{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"id\":\"stays\"}},{\"id\":\"b\"}]}]}",
		"{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"<call 1>\"},{\"tool_calls\":"
		"[{\"function\":{\"id\":\"stays\"},\"id\":\"<call 2>\"},{\"id\":\"<call 1>\"}]}]}");
	differences();
	tap_ok(api_request_read(&q, api_of(AGENT_API_CHAT), API_ROUTE_MODELS, "/", "", 0, NULL) ==
			       0 &&
		       canon_request(&q, &out) == 0 && !out.len,
	       "a request without body");
	api_request_done(&q);
	return tap_done();
}
