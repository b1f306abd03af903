/* What counts against a budget when a call goes wrong, when the run ends under it, and when text is
 * denser than it looks. */
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/server.h"
#include "tests/lib/tap.h"
#include "tests/unit/gateway/server_world.h"

static enum limit_kind spent_kind = LIMIT_MAX;

static void note_spent(void *arg, uint64_t call, enum limit_kind kind, uint64_t used,
		       uint64_t limit)
{
	struct world *w = arg;

	(void)call;
	tap_ok(used <= limit, "used %" PRIu64 " of %" PRIu64, used, limit);
	spent_kind = kind;
	w->n_spent++;
}

static void open_world(struct world *w, enum limit_kind kind, uint64_t max)
{
	world_open(w);
	w->profile.limits.max[kind] = max;
	w->profile.on_limit = ON_LIMIT_FINISH;
	w->profile.model_retries = 0;
	w->auto_go = w->auto_ack = true;
	w->ops.spent = note_spent;
	spent_kind = LIMIT_MAX;
	world_start(w);
}

static void test_errors(void)
{
	struct world w;
	int c;

	open_world(&w, LIMIT_MODEL_CALLS, 2);
	c = client(&w);
	post(c, CHAT, body_of("a", false));
	until(&w, &w.n_asked, 1);
	w.asked[0].r.reached = true;
	give(&w, 0, 503, "{\"error\":{\"message\":\"no room\"}}", false);
	tap_ok(hear(&w, c, "no room"), "an error status");
	tap_is_u64(w.answer.billed, 0, "is billed by nobody");
	tap_is_u64(w.answer.usage.input, 0, "and has no tokens");

	post(c, CHAT, body_of("b", false));
	until(&w, &w.n_asked, 2);
	w.asked[1].r.reached = true;
	give(&w, 1, 0, "", false);
	tap_ok(hear(&w, c, "502"), "no answer to what went out");
	tap_is_u64(w.answer.billed, 1, "may be billed");
	tap_ok(w.answer.usage.input > 0 && !w.answer.usage.known, "as far as can be told");

	post(c, CHAT, body_of("c", false));
	tap_ok(until(&w, &w.n_asked, 3), "so one is left");
	give(&w, 2, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, c, "hello"), "and has its answer");
	post(c, CHAT, body_of("d", false));
	tap_ok(hear(&w, c, "stop here"), "then none");
	tap_ok(spent_kind == LIMIT_MODEL_CALLS, "which is told");
	close(c);
	world_close(&w);
}

static void test_bye(void)
{
	struct world w;
	int c, d, e;

	open_world(&w, LIMIT_MODEL_CALLS, 2);
	c = client(&w);
	d = client(&w);
	e = client(&w);
	post(c, CHAT, body_of("under way", false));
	until(&w, &w.n_asked, 1);
	post(d, CHAT, body_of("answered just now", false));
	until(&w, &w.n_asked, 2);
	post(e, CHAT, body_of("waits", false));
	until(&w, &w.n_requests, 3);
	settle_down(&w);
	tap_is_u64(w.n_asked, 2, "two are under way, one waits");
	w.auto_ack = false;
	give(&w, 1, 200, CHAT_TEXT, false);
	server_bye(w.server);
	tap_is_u64(w.n_answers, 2, "at the end both are told of");
	tap_is_u64(w.n_asked, 2, "and nothing goes out any more");
	tap_ok(w.answer.model && w.answer.usage.input == 100,
	       "the answer that was there counts as it is");
	tap_ok(recorded(&w, "answered just now"), "and is recorded");
	tap_ok(recorded(&w, "the run ended before the answer was there"),
	       "like the one that never came");
	tap_ok(!recorded(&w, "waits"), "but not the one that was not asked");
	tap_is_u64(w.n_spent, 0, "no budget was spent");
	close(c);
	close(d);
	close(e);
	world_close(&w);
}

/* A request of about @n bytes; static buffer. */
static const char *long_body(char mark, size_t n)
{
	static char b[8192];
	auto_free char *text = mem_alloc(n + 1);

	memset(text, mark, n);
	text[n] = '\0';
	snprintf(b, sizeof(b),
		 "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}", text);
	return b;
}

#define DENSE_TEXT                                                                                 \
	"{\"id\":\"x\",\"object\":\"chat.completion\",\"model\":\"m\",\"choices\":[{\"index\":0,"  \
	"\"message\":{\"role\":\"assistant\",\"content\":\"dense\"},\"finish_reason\":\"stop\"}]," \
	"\"usage\":{\"prompt_tokens\":1400,\"completion_tokens\":7,\"total_tokens\":1407}}"

/* 2,100 bytes that are 1,400 tokens: taken for 525, a second such call would pass a limit of 2,500. */
static void test_dense(void)
{
	struct world w;
	int c;

	open_world(&w, LIMIT_INPUT_TOKENS, 2500);
	c = client(&w);
	post(c, CHAT, long_body('a', 2050));
	until(&w, &w.n_asked, 1);
	give(&w, 0, 200, DENSE_TEXT, false);
	tap_ok(hear(&w, c, "dense"), "a dense request");
	post(c, CHAT, long_body('b', 2050));
	tap_ok(hear(&w, c, "stop here"), "a second one has no room");
	tap_ok(spent_kind == LIMIT_INPUT_TOKENS, "which is told");
	tap_is_u64(w.n_asked, 1, "and does not go out");
	post(c, CHAT, long_body('c', 900));
	tap_ok(until(&w, &w.n_asked, 2), "a short one has");
	give(&w, 1, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, c, "hello"), "and its answer");
	close(c);
	world_close(&w);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_errors();
	test_bye();
	test_dense();
	return tap_done();
}
