/* record.c and record_read.c: what was written comes back, byte for byte; broken files. */
#include "gateway/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

static char every_byte[512];

/* Every byte, and bytes that look like our escapes. */
static void make_bytes(void)
{
	static const char tail[] =
		"\\x00 \\\\x41 \\u0000 \" \xc3\xa4 \xed\xa0\x80 \xf0\x9f\x98\x80 \xff";

	for (size_t i = 0; i < 256; i++)
		every_byte[i] = (char)i;
	memcpy(every_byte + 256, tail, sizeof(tail) - 1);
	memset(every_byte + 256 + sizeof(tail) - 1, '\\', 256 - sizeof(tail) + 1);
}

static struct exchange_record sample(uint64_t call)
{
	return (struct exchange_record){
		.call = call,
		.api = "openai-chat",
		.path = "/v1/chat/completions",
		.purpose = PURPOSE_MAIN,
		.source = "live",
		.t0 = 1000,
		.t_first = 1500,
		.t1 = 2000,
		.request = every_byte,
		.request_n = sizeof(every_byte),
		.canonical = every_byte + 1,
		.canonical_n = sizeof(every_byte) - 1,
		.model = "m",
		.status = 200,
		.sse = true,
		.answer = every_byte,
		.answer_n = sizeof(every_byte),
		.micro = UINT64_MAX,
		.tries = 1,
	};
}

static int temporary(void)
{
	int fd = memfd_create("model.jsonl", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

static void contents(int fd, struct buf *b)
{
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, b) < 0)
		abort();
}

static void round_trip(void)
{
	auto_fd int fd = temporary();
	auto_buf b = BUF_INIT(1 << 20);
	struct recorded_list l = { 0 };
	struct exchange_record r = sample(1);
	struct err err = { 0 };

	tap_ok(record_write(fd, &r, &err) == 0, "written %s", err.text);
	r = sample(2);
	r.source = "gateway";
	r.purpose = PURPOSE_SIDE;
	r.request_n = r.canonical_n = r.answer_n = 0;
	r.request = r.canonical = r.answer = NULL;
	r.status = 400;
	r.sse = false;
	r.model = NULL;
	r.note = "a note";
	tap_ok(record_write(fd, &r, &err) == 0, "empty bodies %s", err.text);
	r = sample(3);
	r.retry_of = 1;
	tap_ok(record_write(fd, &r, &err) == 0, "a repeat %s", err.text);
	contents(fd, &b);
	tap_ok(b.len && !memchr(b.data, 0, b.len), "no NUL in the file");
	if (!tap_ok(record_read("model.jsonl", b.data, b.len, &l, &err) == 0 && l.n == 3,
		    "read back %s", err.text))
		return;
	tap_is_u64(l.v[0].call, 1, "call");
	tap_is_u64(l.v[0].t0, 1000, "t0");
	tap_is_u64(l.v[0].t1, 2000, "t1");
	tap_is_str(l.v[0].api, "openai-chat", "api");
	tap_is_str(l.v[0].path, "/v1/chat/completions", "path");
	tap_is_str(l.v[0].model, "m", "model");
	tap_ok(l.v[0].purpose == PURPOSE_MAIN && l.v[0].sse && l.v[0].status == 200, "the rest");
	tap_ok(l.v[0].answer_n == sizeof(every_byte) &&
		       memcmp(l.v[0].answer, every_byte, sizeof(every_byte)) == 0,
	       "the answer, byte for byte");
	tap_ok(l.v[0].canonical_n == sizeof(every_byte) - 1 &&
		       memcmp(l.v[0].canonical, every_byte + 1, sizeof(every_byte) - 1) == 0,
	       "the canonical request, byte for byte");
	tap_ok(!l.v[0].from_gateway && l.v[1].from_gateway && l.v[2].from_gateway,
	       "refusals and repeats are ours");
	tap_ok(l.v[1].purpose == PURPOSE_SIDE && l.v[1].status == 400 && l.v[1].answer_n == 0 &&
		       !l.v[1].model,
	       "the second line");
	recorded_done(&l);

	/* killed while the last line was written: every cut leaves the lines before it */
	for (size_t cut = 1; cut < 200; cut++) {
		if (record_read("model.jsonl", b.data, b.len - cut, &l, &err) < 0 || l.n != 2)
			tap_ok(false, "cut by %zu: %s", cut, err.text);
		recorded_done(&l);
	}
	tap_ok(record_read("model.jsonl", b.data, 0, &l, &err) == 0 && l.n == 0, "an empty file");
}

/* All that a bill and a reader need stands in the line. */
static void fields(void)
{
	static const char *const want[] = {
		"\"schema\":\"proctor.model/1\"",
		"\"source\":\"live\"",
		"\"t_first\":1500",
		"\"usage\":{\"input\":10,\"cached\":4,\"cache_write\":3,\"output\":5,\"reasoning\":2}",
		"\"micro_dollars\":77",
		"\"price_row\":\"m*\"",
		"\"finish\":\"tools\"",
		"\"complete\":true",
		"\"model_answered\":\"m-2026\"",
		"\"web_requests\":1",
		"\"stripped\":[\"tool web_search\"]",
		"\"placed\":[{\"message\":1,\"entry\":6,\"first\":true,\"moved\":false,\"lost\":false,"
		"\"text\":\"by \\\"me\\\"\"},{\"message\":9,\"entry\":0,\"first\":false,\"moved\":true,"
		"\"lost\":true,\"text\":null}]",
		"\"note\":null",
	};
	auto_fd int fd = temporary();
	auto_buf b = BUF_INIT(1 << 20);
	struct anchors *anchors = mem_zalloc(1, sizeof(*anchors));
	struct placed placed[] = { { .index = 1, .first = true, .entry = 6 },
				   { .index = 9, .again_elsewhere = true, .lost_now = true } };
	struct api_strip strip[] = { { "tool web_search" } };
	struct api_answer a = { .complete = true,
				.finish = FINISH_TOOLS,
				.model = (char[]){ "m-2026" },
				.usage = { true, 10, 4, 3, 5, 2 },
				.web_requests = 1 };
	struct exchange_record r = sample(1);
	struct recorded_list l = { 0 };
	struct err err = { 0 };

	anchors->n = 2;
	anchors->v[1].text = (char[]){ "by \"me\"" };
	r.parsed = &a;
	r.micro = 77;
	r.price_row = "m*";
	r.placed = placed;
	r.n_placed = ARRAY_SIZE(placed);
	r.anchors = anchors;
	r.stripped = strip;
	r.n_stripped = 1;
	tap_ok(record_write(fd, &r, &err) == 0, "written %s", err.text);
	contents(fd, &b);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		tap_ok(strstr(buf_str(&b), want[i]), "%s", want[i]);
	tap_ok(record_read("m", b.data, b.len, &l, &err) == 0 && l.n == 1, "read %s", err.text);
	recorded_done(&l);
	free(anchors);
}

#define LINE(call, more)                                                                           \
	"{\"schema\":\"proctor.model/1\",\"call\":" call                                           \
	",\"api\":\"a\",\"path\":\"/\",\"purpose\":"                                               \
	"\"main\",\"source\":\"live\",\"t0\":1,\"t1\":2,\"status\":200,\"sse\":false,"             \
	"\"canonical\":\"{}\",\"answer\":\"x\"" more "}\n"

static void broken(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ LINE("1", "") "{\"schema\":\n" LINE("2", ""), "model.jsonl, line 2:1:" },
		{ LINE("1", "") "\n", "model.jsonl, line 2" },
		{ LINE("1", "") LINE("-1", ""), "model.jsonl, line 2: $.call" },
		{ LINE("1", ",\"cost\":3"), "line 1: $: unknown key \"cost\"" },
		{ LINE("1", ",\"call\":3"), "key given twice" },
		{ LINE("1", ",\"retry_of\":\"x\""), "$.retry_of" },
		{ "{\"schema\":\"proctor.trace/1\"}\n", "expected \"proctor.model/1\"" },
		{ "{\"schema\":\"proctor.model/1\",\"call\":1}\n", "\"api\" is missing" },
		{ "[]\n", "line 1" },
		{ LINE("1", "") "\xff\n", "line 2:1:1: this byte is not UTF-8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct recorded_list l = { 0 };
		struct err err = { 0 };
		int rc = record_read("model.jsonl", rows[i].text, strlen(rows[i].text), &l, &err);

		tap_ok(rc == -ERR_INPUT && !l.n && !l.v && strstr(err.text, rows[i].want), "%s",
		       err.text);
	}
}

static void no_room(void)
{
	auto_fd int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	auto_fd int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct exchange_record r = sample(7);
	struct err err = { 0 };

	tap_ok(record_write(fd, &r, &err) == -ERR_SYS && strstr(err.text, "model call 7"), "%s",
	       err.text);
	tap_ok(record_write(null, &r, &err) == 0, "what cannot be synced");
}

/* Bodies are escaped piece by piece: no character may be torn, no byte lost. */
static void long_bodies(void)
{
	enum { N = 3 << 20 };
	static const char character[] = "\xf0\x9f\x98\x80";
	auto_free char *text = mem_alloc(N + 1);

	for (size_t shift = 0; shift < 4; shift++) {
		auto_fd int fd = temporary();
		auto_buf b = BUF_INIT(8 * N);
		struct recorded_list l = { 0 };
		struct exchange_record r = sample(1);

		for (size_t i = 0; i < N; i++)
			text[i] = i < shift ? 'a' : character[(i - shift) % 4];
		text[N] = '\0';
		r.request_n = 0; /* it holds what is no character */
		r.canonical = r.answer = text;
		r.canonical_n = r.answer_n = N - (N - shift) % 4;
		tap_ok(record_write(fd, &r, NULL) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
			       fd_read_all(fd, &b) == 0,
		       "written");
		tap_ok(!strstr(buf_str(&b), "\\\\xf0") && strstr(buf_str(&b), character),
		       "characters stand as such");
		tap_ok(record_read("long", buf_str(&b), b.len, &l, NULL) == 0 && l.n == 1 &&
			       l.v[0].answer_n == r.answer_n &&
			       memcmp(l.v[0].answer, text, r.answer_n) == 0,
		       "and come back");
		recorded_done(&l);
	}
}

int main(void)
{
	make_bytes();
	round_trip();
	long_bodies();
	fields();
	broken();
	no_room();
	return tap_done();
}
