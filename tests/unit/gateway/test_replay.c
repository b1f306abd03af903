/* replay.c: the recorded answers in order, the first difference named, what follows the record. */
#include "gateway/replay.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "gateway/record.h"
#include "tests/lib/tap.h"

static const struct api chat = { .name = "openai-chat" };
static const struct api other = { .name = "anthropic" };

/* What done() was told last. */
struct got {
	unsigned n;
	int status;
	bool sse, final, end_run;
	char body[256], why[512];
	size_t len, bytes;
};

static void on_bytes(void *arg, const struct reply *r, size_t from)
{
	struct got *g = arg;

	g->bytes += r->body.len - from;
}

static void on_done(void *arg, struct reply *r)
{
	struct got *g = arg;

	g->n++;
	g->status = r->status;
	g->sse = r->sse;
	g->final = r->final;
	g->end_run = r->end_run;
	g->len = r->body.len;
	memcpy(g->body, buf_str(&r->body), r->body.len < 256 ? r->body.len : 0);
	memcpy(g->why, r->why, sizeof(g->why));
}

static struct got ask(struct source *s, enum purpose purpose, const char *canonical, uint64_t call)
{
	struct got g = { 0 };
	struct api_request q = { .api = &chat };
	struct ask a = { .q = &q,
			 .path = "/",
			 .canonical = canonical,
			 .canonical_n = strlen(canonical),
			 .model = "m",
			 .purpose = purpose,
			 .call = call,
			 .bytes = on_bytes,
			 .done = on_done,
			 .arg = &g };

	s->ops->ask(s->impl, &a);
	tap_ok(g.n == 1 && g.bytes == g.len, "one answer to call %u", (unsigned)call);
	return g;
}

/* A source that says it was asked. */
static void then_ask(void *impl, const struct ask *a)
{
	struct reply r = { .status = 200, .body = BUF_INIT(100) };

	++*(unsigned *)impl;
	buf_adds(&r.body, "live");
	source_answer(a, &r);
}

static void then_cancel(void *impl, const struct ask *a)
{
	(void)a; /* which one does not matter here */
	*(unsigned *)impl += 100;
}

static void then_free(void *impl)
{
	*(unsigned *)impl += 1000;
}

static const struct source_ops then_ops = {
	.name = "live", .ask = then_ask, .cancel = then_cancel, .free = then_free
};

static const struct {
	uint64_t call;
	enum purpose purpose;
	const char *source, *canonical, *answer;
	size_t answer_n;
	int status;
	uint64_t retry_of;
} lines[] = {
	/* lines stand in the order of the answers */
	{ 2, PURPOSE_SIDE, "live", "{\"s\":1}", "side one", 8, 200, 0 },
	{ 1, PURPOSE_MAIN, "live", "{\"m\":1}", "main\0one\xff", 9, 200, 0 },
	{ 3, PURPOSE_MAIN, "live", "{\"m\":1}", "main\0one\xff", 9, 200, 1 },
	{ 4, PURPOSE_MAIN, "script", "{\"m\":2}", "main two", 8, 429, 0 },
	{ 5, PURPOSE_SIDE, "replay", "{\"s\":2}", "side two", 8, 200, 0 },
	{ 6, PURPOSE_MAIN, "live", "{\"m\":3}", "main three", 10, 200, 0 },
	{ 7, PURPOSE_MAIN, "gateway", "{\"m\":4}", "the end", 7, 200, 0 },
};

static char *record(size_t *n)
{
	auto_fd int fd = memfd_create("model.jsonl", MFD_CLOEXEC);
	auto_buf b = BUF_INIT(1 << 20);
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct exchange_record r = { .call = lines[i].call,
					     .api = "openai-chat",
					     .path = "/",
					     .purpose = lines[i].purpose,
					     .source = lines[i].source,
					     .request = "{}",
					     .request_n = 2,
					     .canonical = lines[i].canonical,
					     .canonical_n = strlen(lines[i].canonical),
					     .status = lines[i].status,
					     .answer = lines[i].answer,
					     .answer_n = lines[i].answer_n,
					     .retry_of = lines[i].retry_of,
					     .micro = UINT64_MAX };

		if (record_write(fd, &r, &err) < 0)
			abort();
	}
	if (lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, &b) < 0)
		abort();
	return buf_steal(&b, n);
}

static struct source open_it(const char *text, size_t n, bool loose, uint64_t upto,
			     struct source then)
{
	struct source s = { 0 };
	struct err err = { 0 };

	tap_ok(replay_open("model.jsonl", text, n, loose, upto, then, &s, &err) == 0, "opened %s",
	       err.text);
	return s;
}

static void strict(const char *text, size_t n)
{
	struct source s = open_it(text, n, false, UINT64_MAX, (struct source){ 0 });
	struct got g = ask(&s, PURPOSE_MAIN, "{\"m\":1}", 1);

	tap_ok(g.status == 200 && g.len == 9 && memcmp(g.body, "main\0one\xff", 9) == 0,
	       "the first main answer, byte for byte");
	g = ask(&s, PURPOSE_MAIN, "{\"m\":2}", 2);
	tap_ok(g.status == 429 && g.len == 8, "a repeat is not served; an error is");
	tap_ok(g.final, "asking again would take the next question's answer");
	g = ask(&s, PURPOSE_SIDE, "{\"s\":1}", 3);
	tap_ok(memcmp(g.body, "side one", 8) == 0, "side calls by themselves");
	g = ask(&s, PURPOSE_MAIN, "{\"m\":9}", 4);
	tap_ok(g.end_run && g.final && g.status == 0 && g.len == 0, "a difference ends the run");
	tap_ok(strstr(g.why, "model call 4 (main) is not call 6") && strstr(g.why, "$.m") &&
		       strstr(g.why, "3") && strstr(g.why, "9"),
	       "%s", g.why);
	g = ask(&s, PURPOSE_MAIN, "{\"m\":4}", 5);
	tap_ok(g.end_run && strstr(g.why, "no more than 3 calls of purpose main"), "%s", g.why);
	g = ask(&s, PURPOSE_SUBAGENT, "{}", 6);
	tap_ok(g.end_run && strstr(g.why, "no more than 0 calls of purpose"), "%s", g.why);
	source_done(&s);
	tap_ok(!s.ops && !s.impl, "empty afterwards");
}

static void loose(const char *text, size_t n)
{
	struct source s = open_it(text, n, true, UINT64_MAX, (struct source){ 0 });
	struct got g = ask(&s, PURPOSE_MAIN, "{\"m\":\"anything\"}", 1);

	tap_ok(g.status == 200 && g.len == 9, "loose: the n-th of the purpose");
	ask(&s, PURPOSE_MAIN, "{}", 2);
	g = ask(&s, PURPOSE_MAIN, "{}", 3);
	tap_ok(memcmp(g.body, "main three", 10) == 0, "the third");
	g = ask(&s, PURPOSE_MAIN, "{}", 4);
	tap_ok(g.final && !g.end_run && strstr(g.why, "model call 4"), "then an error: %s", g.why);
	source_done(&s);
}

static void forms(const char *text, size_t n)
{
	struct source s = open_it(text, n, true, UINT64_MAX, (struct source){ 0 });
	struct got g = { 0 };
	struct api_request q = { .api = &other };
	struct ask a = {
		.q = &q, .canonical = "{}", .canonical_n = 2, .call = 1, .done = on_done, .arg = &g
	};

	s.ops->ask(s.impl, &a);
	tap_ok(g.n == 1 && g.status == 0 && strstr(g.why, "recorded openai-chat, now anthropic"),
	       "%s", g.why);
	q = (struct api_request){ .api = &chat, .stream = true };
	s.ops->ask(s.impl, &a);
	tap_ok(g.n == 2 && g.status == 429, "an error is one body also for who asked for a stream");
	s.ops->ask(s.impl, &a);
	tap_ok(g.n == 3 && g.status == 0 && strstr(g.why, "now asked for a stream"), "%s", g.why);
	source_done(&s);
}

static void upto(const char *text, size_t n)
{
	unsigned asked = 0;
	struct source then = { &asked, &then_ops };
	struct source s = open_it(text, n, false, 3, then);
	struct got g = ask(&s, PURPOSE_MAIN, "{\"m\":1}", 1);
	struct ask a = { 0 };

	g = ask(&s, PURPOSE_SIDE, "{\"s\":1}", 2);
	tap_ok(asked == 0 && g.len == 8, "the first two from the record");
	g = ask(&s, PURPOSE_SIDE, "{\"s\":2}", 3);
	tap_ok(asked == 1 && memcmp(g.body, "live", 4) == 0, "call 5 of the record is the fourth");
	g = ask(&s, PURPOSE_MAIN, "{\"m\":2}", 4);
	tap_ok(asked == 1 && g.status == 429, "the third from the record");
	g = ask(&s, PURPOSE_MAIN, "{\"m\":\"new\"}", 5);
	tap_ok(asked == 2 && g.status == 200 && !g.end_run, "then what follows, not compared");
	s.ops->cancel(s.impl, &a);
	tap_is_u64(asked, 102, "taken back from what follows");
	source_done(&s);
	tap_is_u64(asked, 1102, "which is freed with it");

	asked = 0;
	s = open_it(text, n, false, 0, then);
	ask(&s, PURPOSE_MAIN, "{}", 1);
	tap_is_u64(asked, 1, "@0: nothing from the record");
	source_done(&s);

	s = open_it(text, n, false, 1, (struct source){ 0 });
	ask(&s, PURPOSE_MAIN, "{\"m\":1}", 1);
	g = ask(&s, PURPOSE_MAIN, "{\"m\":2}", 2);
	tap_ok(g.final && !g.end_run && strstr(g.why, "the first 1 answers"), "%s", g.why);
	s.ops->cancel(s.impl, &a);
	source_done(&s);
}

static void errors(void)
{
	unsigned asked = 0;
	struct source then = { &asked, &then_ops }, s = { 0 };
	struct err err = { 0 };

	tap_ok(replay_open("m", "{\n", 2, false, UINT64_MAX, then, &s, &err) == -ERR_INPUT, "%s",
	       err.text);
	tap_ok(asked == 1000 && !s.ops, "what was to follow is freed");
	tap_ok(replay_open("m", "", 0, false, UINT64_MAX, (struct source){ 0 }, &s, &err) ==
			       -ERR_INPUT &&
		       strstr(err.text, "no answer of a model is recorded"),
	       "%s", err.text);
}

int main(void)
{
	size_t n;
	auto_free char *text = record(&n);

	strict(text, n);
	loose(text, n);
	forms(text, n);
	upto(text, n);
	errors();
	return tap_done();
}
