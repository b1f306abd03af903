/* The model API as the box sees it, with a source that the test plays: when a request goes out, when
 * an answer is released, what is counted, and what a client is never given. */
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/server.h"
#include "tests/lib/tap.h"
#include "tests/unit/gateway/server_world.h"

static void test_one_call(void)
{
	struct world w;
	int c;
	struct stat st;

	world_open(&w);
	c = client(&w);
	post(c, CHAT, body_of("first", false));
	tap_ok(until(&w, &w.n_requests, 1), "the supervisor is asked");
	settle_down(&w);
	tap_is_u64(w.n_asked, 0, "nothing goes out before it says so");
	server_go(w.server, 77);
	server_go(w.server, 1);
	tap_is_u64(w.n_asked, 1, "then it does");
	tap_ok(strstr(w.asked[0].body, "\"pinned-1\"") != NULL, "the model is pinned: %s",
	       w.asked[0].body);
	tap_ok(!strstr(w.asked[0].body, "\"m\""), "and the client's is gone");
	give(&w, 0, 200, CHAT_TOOL, false);
	tap_ok(until(&w, &w.n_answers, 1), "the supervisor is told of the answer");
	tap_ok(fstat(w.record, &st) == 0 && st.st_size > 0, "which is on disk by then");
	tap_is_u64(w.n_tools, 1, "and of its tool call");
	settle_down(&w);
	tap_ok(!heard_any(&w, c), "the client has nothing yet");
	tap_is_u64(w.answer.usage.input, 100, "input");
	tap_is_u64(w.answer.usage.cached, 40, "cached");
	tap_is_u64(w.answer.usage.output, 7, "output");
	tap_ok(w.answer.model && !w.answer.repeat && w.answer.status == 200, "a model's answer");
	server_ack(w.server, 1);
	tap_ok(hear(&w, c, "\"call_1\""), "now it has");
	server_ack(w.server, 1);

	/* the same again: no call */
	w.auto_go = w.auto_ack = true;
	post(c, CHAT, body_of("first", false));
	tap_ok(hear(&w, c, "\"call_1\""), "the same request again has the same answer");
	tap_is_u64(w.n_asked, 1, "without a call");
	tap_is_u64(w.n_requests, 1, "and without asking the supervisor");
	tap_ok(w.answer.repeat && w.answer.call == 2, "which is told all the same");
	post(c, CHAT, body_of("second", false));
	tap_ok(until(&w, &w.n_asked, 2), "another request is another call");
	give(&w, 1, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, c, "hello"), "and has its answer");
	close(c);
	world_close(&w);
}

static void test_gone(void)
{
	struct world w;
	int c, d;

	world_open(&w);
	c = client(&w);
	post(c, CHAT, body_of("x", false));
	until(&w, &w.n_requests, 1);
	close(c);
	settle_down(&w);
	server_go(w.server, 1);
	tap_is_u64(w.n_asked, 0, "a client that left before it was asked costs nothing");

	w.auto_go = w.auto_ack = true;
	c = client(&w);
	post(c, CHAT, body_of("x", false));
	until(&w, &w.n_asked, 1);
	close(c);
	settle_down(&w);
	give(&w, 0, 200, CHAT_TEXT, false);
	tap_ok(until(&w, &w.n_answers, 1), "one that left later: its answer is taken");
	tap_is_u64(w.answer.usage.input, 100, "and counted");
	c = client(&w);
	post(c, CHAT, body_of("x", false));
	tap_ok(hear(&w, c, "hello"), "and given to it when it comes back");
	tap_is_u64(w.n_asked, 1, "for nothing");

	/* three at once */
	post(c, CHAT, body_of("y", false));
	until(&w, &w.n_asked, 2);
	d = client(&w);
	post(d, CHAT, body_of("y", false));
	settle_down(&w);
	tap_is_u64(w.n_asked, 2, "a retry while the first is under way joins it");
	close(c);
	settle_down(&w);
	give(&w, 1, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, d, "hello"), "and gets its answer");
	close(d);
	world_close(&w);
}

static void test_retries(void)
{
	struct world w;
	int c;

	world_open(&w);
	w.auto_go = w.auto_ack = true;
	w.profile.model_retries = 1;
	c = client(&w);
	post(c, CHAT, body_of("a", true));
	until(&w, &w.n_asked, 1);
	give(&w, 0, 200, SSE_CUT, true);
	tap_ok(until(&w, &w.n_asked, 2), "an answer without its end: asked again");
	give(&w, 1, 200, SSE_TEXT, true);
	tap_ok(hear(&w, c, "[DONE]"), "the second is good");
	tap_ok(strstr(w.heard, "\r\n\r\ndata:") && !strstr(w.heard, "keepalive"), "no comments");
	tap_is_u64(w.answer.tries, 2, "two tries");
	tap_is_u64(w.answer.billed, 2, "both billed");

	post(c, CHAT, body_of("b", true));
	until(&w, &w.n_asked, 3);
	give(&w, 2, 200, SSE_CUT, true);
	until(&w, &w.n_asked, 4);
	give(&w, 3, 200, SSE_CUT, true);
	tap_ok(hear(&w, c, "HTTP/1.1 502"), "twice without an end: 502, not half an answer");
	tap_ok(!strstr(w.heard, "one\""), "nothing of it");

	post(c, CHAT, body_of("c", false));
	until(&w, &w.n_asked, 5);
	give(&w, 4, 400, "{\"error\":{\"message\":\"not so\"}}", false);
	tap_ok(hear(&w, c, "not so"), "400 is passed on");
	tap_is_u64(w.n_asked, 5, "and not tried again");

	post(c, CHAT, body_of("d", false));
	until(&w, &w.n_asked, 6);
	give(&w, 5, 429, "{\"error\":{\"message\":\"slow\"}}", false);
	tap_ok(until(&w, &w.n_asked, 7), "429 is tried again");
	give(&w, 6, 429, "{\"error\":{\"message\":\"slow\"}}", false);
	tap_ok(hear(&w, c, "HTTP/1.1 429"), "then passed on");
	post(c, CHAT, body_of("d", false));
	until(&w, &w.n_asked, 8);
	give(&w, 7, 429, "{\"error\":{\"message\":\"slow\"}}", false);
	tap_ok(hear(&w, c, "HTTP/1.1 429"), "the client's own retry gets one try");
	tap_is_u64(w.answer.tries, 1, "of ours");

	post(c, CHAT, body_of("e", false));
	until(&w, &w.n_asked, 9);
	give(&w, 8, 401, "{\"error\":{\"message\":\"bad key sk-abc\"}}", false);
	tap_ok(hear(&w, c, "HTTP/1.1 401"), "401 is passed on");
	tap_ok(!strstr(w.heard, "sk-abc"), "without the vendor's words about the key");

	post(c, CHAT, body_of("e", false));
	tap_ok(until(&w, &w.n_asked, 10), "an error is not kept: the same request is a new call");
	give(&w, 9, 401, "{\"error\":{\"message\":\"still bad\"}}", false);
	tap_ok(hear(&w, c, "HTTP/1.1 401"), "with its own answer");

	post(c, CHAT, body_of("f", false));
	until(&w, &w.n_asked, 11);
	give(&w, 10, 200, "<html>", false);
	until(&w, &w.n_asked, 12);
	give(&w, 11, 302, "", false);
	tap_ok(hear(&w, c, "HTTP/1.1 502"), "a page and a redirect are no answers");
	close(c);
	world_close(&w);
}

static void test_budget(void)
{
	struct world w;
	int v[8], c;
	char text[16];

	world_open(&w);
	w.profile.limits.max[LIMIT_MODEL_CALLS] = 3;
	w.profile.on_limit = ON_LIMIT_FINISH;
	w.auto_go = w.auto_ack = true;
	world_start(&w);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		snprintf(text, sizeof(text), "n%zu", i);
		v[i] = client(&w);
		post(v[i], CHAT, body_of(text, i & 1));
	}
	tap_ok(until(&w, &w.n_requests, 8), "eight calls at once");
	settle_down(&w);
	tap_is_u64(w.n_asked, 3, "three go out");
	for (int i = 0; i < 3; i++)
		give(&w, (unsigned)i, 200, w.asked[i].stream ? SSE_TEXT : CHAT_TEXT,
		     w.asked[i].stream);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		tap_ok(hear(&w, v[i], i & 1 ? "[DONE]" : "\"finish_reason\""),
		       "each has an answer");
	tap_is_u64(w.n_asked, 3, "and no more went out");
	tap_is_u64(w.n_spent, 5, "five were told of");
	tap_ok(strstr(w.heard, "I have to stop here") != NULL, "a tidy end");
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		close(v[i]);

	w.profile.on_limit = ON_LIMIT_REFUSE;
	c = client(&w);
	post(c, CHAT, body_of("more", false));
	tap_ok(hear(&w, c, "HTTP/1.1 400"), "refuse: 400");
	tap_ok(strstr(w.heard, "model_calls") != NULL, "with the reason");
	close(c);
	world_close(&w);
}

/* What a failed call holds is given to those that wait. */
static void test_budget_back(void)
{
	struct world w;
	int c, d;

	world_open(&w);
	w.profile.limits.max[LIMIT_MODEL_CALLS] = 1;
	w.profile.model_retries = 0;
	w.auto_go = w.auto_ack = true;
	world_start(&w);
	c = client(&w);
	d = client(&w);
	post(c, CHAT, body_of("1", false));
	until(&w, &w.n_asked, 1);
	post(d, CHAT, body_of("2", false));
	until(&w, &w.n_requests, 2);
	settle_down(&w);
	tap_is_u64(w.n_asked, 1, "the second waits");
	give(&w, 0, 0, "", false);
	tap_ok(hear(&w, c, "502"), "the first never reached the model");
	tap_ok(until(&w, &w.n_asked, 2), "so the second may");
	give(&w, 1, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, d, "hello"), "and has its answer");
	close(c);
	close(d);
	world_close(&w);
}

static void test_stream(void)
{
	struct world w;
	int c;

	world_open(&w);
	w.profile.delivery = DELIVERY_STREAM;
	w.profile.model_retries = 3;
	w.auto_go = true;
	c = client(&w);
	post(c, CHAT, body_of("s", true));
	until(&w, &w.n_asked, 1);
	tap_ok(strstr(w.asked[0].body, "include_usage") != NULL, "usage is asked for");
	give_part(&w, 0, SSE_TEXT, strstr(SSE_TEXT, "\"two\"") - SSE_TEXT);
	tap_ok(hear(&w, c, "\"one\""), "text comes as it comes");
	give_part(&w, 0, SSE_TEXT, strlen(SSE_TEXT));
	tap_ok(hear(&w, c, "\"two\""), "and the rest of it");
	settle_down(&w);
	tap_ok(!strstr(w.heard, "\"stop\""), "but not the end");
	finish_parts(&w, 0);
	until(&w, &w.n_answers, 1);
	settle_down(&w);
	(void)heard_any(&w, c);
	tap_ok(!strstr(w.heard, "\"stop\""), "not before the supervisor knows");
	server_ack(w.server, 1);
	tap_ok(hear(&w, c, "0\r\n\r\n"), "then the end");
	tap_ok(strstr(w.heard, "\"stop\"") && strstr(w.heard, "[DONE]"), "whole");
	tap_ok(!strstr(w.heard, "prompt_tokens"),
	       "without the usage that the client did not ask for");
	tap_ok(recorded(&w, "prompt_tokens"), "which stands in the record");
	tap_ok(!strstr(w.heard, "keepalive"), "without comments");

	w.auto_ack = true;
	w.heard_fd = -1; /* what was heard so far counts no more */
	post(c, CHAT, body_of("t", true));
	until(&w, &w.n_asked, 2);
	give_part(&w, 1, SSE_TEXT, strstr(SSE_TEXT, "\"two\"") - SSE_TEXT);
	tap_ok(hear(&w, c, "\"one\""), "another begins");
	finish_parts(&w, 1);
	tap_ok(hear_end(&w, c), "and breaks off: the connection is cut");
	tap_ok(!strstr(w.heard, "\r\n0\r\n"), "not ended as if it were whole");
	tap_is_u64(w.n_asked, 2, "it cannot be asked again");
	tap_is_u64((uint64_t)w.answer.status, 502, "told as a failure");
	close(c);
	world_close(&w);
}

static void test_ending(void)
{
	struct world w;
	int c, d, e;

	world_open(&w);
	c = client(&w);
	d = client(&w);
	post(c, CHAT, body_of("under way", false));
	until(&w, &w.n_requests, 1);
	server_go(w.server, 1);
	post(d, CHAT, body_of("waits", true));
	until(&w, &w.n_requests, 2);
	w.auto_ack = true;
	server_ending(w.server, LIMIT_WALL, true);
	tap_ok(hear(&w, d, "[DONE]"), "one that waits gets the closing answer");
	server_go(w.server, 2);
	give(&w, 0, 200, CHAT_TEXT, false);
	tap_ok(hear(&w, c, "hello"), "one under way gets its own");
	w.auto_go = true;
	e = client(&w);
	post(e, CHAT, body_of("new", false));
	tap_ok(hear(&w, e, "stop here"), "new ones get the closing answer");
	post(e, CHAT, body_of("under way", false));
	tap_ok(hear(&w, e, "stop here"), "also when it was answered before");
	server_ending(w.server, LIMIT_MAX, false);
	post(e, CHAT, body_of("newer", false));
	tap_ok(hear(&w, e, "HTTP/1.1 400"), "or the refusal");
	tap_is_u64(w.n_asked, 1, "nothing went out");
	close(c);
	close(d);
	close(e);
	world_close(&w);
}

static void test_edits(void)
{
	static const char with_search[] =
		"{\"model\":\"m\",\"input\":\"hi\",\"tools\":[{\"type\":\"web_search\"},{\"type\":"
		"\"function\",\"name\":\"read\",\"parameters\":{}}]}";
	struct world w;
	struct err err = { 0 };
	int c;

	world_open(&w);
	w.auto_go = w.auto_ack = true;
	c = client(&w);
	tap_ok(server_message(w.server, "LOOK HERE", 9, &err) == 0, "a message");
	post(c, CHAT, tools_body("t"));
	until(&w, &w.n_asked, 1);
	tap_ok(strstr(w.asked[0].body, "LOOK HERE") != NULL, "stands in the main request: %s",
	       w.asked[0].body);
	tap_is_u64(w.n_placed, 1, "and is told");
	give(&w, 0, 200, CHAT_TEXT, false);
	hear(&w, c, "hello");

	post(c, "/v1/responses", with_search);
	until(&w, &w.n_asked, 2);
	tap_ok(!strstr(w.asked[1].body, "web_search"), "a provider's tool is taken out: %s",
	       w.asked[1].body);
	tap_is_u64(w.n_stripped, 1, "and told");
	give(&w, 1, 400, "{}", false);
	hear(&w, c, "400");

	w.profile.provider_tools = PROVIDER_REFUSE;
	post(c, "/v1/responses", with_search);
	tap_ok(hear(&w, c, "web_search"), "or refused");
	w.profile.pin = PIN_REFUSE;
	post(c, CHAT, body_of("pin", false));
	tap_ok(hear(&w, c, "this run uses the model pinned-1"), "another model is refused");
	w.profile.pin = PIN_OFF;
	post(c, CHAT, body_of("pin", false));
	until(&w, &w.n_asked, 3);
	tap_ok(strstr(w.asked[2].body, "\"model\":\"m\"") != NULL, "or asked");
	give(&w, 2, 400, "{}", false);
	hear(&w, c, "400");
	w.profile.pin = PIN_REWRITE;
	post(c, "/v1beta/models/gem:generateContent?key=x",
	     "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}]}");
	until(&w, &w.n_asked, 4);
	tap_is_str(w.asked[3].path, "/v1beta/models/pinned-1:generateContent?key=x",
		   "Gemini's is in the path");
	post(c, "/v1/messages/count_tokens", "{\"model\":\"m\",\"messages\":[]}");
	close(c);

	c = client(&w);
	post(c, "/v1/messages/count_tokens",
	     "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	tap_ok(hear(&w, c, "input_tokens"), "tokens are counted here");
	close(c);
	world_close(&w);
}

static void test_failures(void)
{
	struct world w;
	int c, full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	world_open(&w);
	w.auto_go = w.auto_ack = true;
	c = client(&w);
	post(c, CHAT, body_of("m", false));
	until(&w, &w.n_asked, 1);
	give_end_run(&w, 0, "$.messages[0] differs");
	tap_ok(hear(&w, c, "HTTP/1.1 400"), "a strict replay that differs: the client is refused");
	tap_is_u64(w.n_mismatch, 1, "and the owner told");
	post(c, CHAT, body_of("n", false));
	tap_ok(hear(&w, c, "the run is over"), "as is every later one");
	close(c);
	world_close(&w);

	world_open(&w);
	w.auto_go = w.auto_ack = true;
	w.record_to = full;
	world_start(&w);
	c = client(&w);
	post(c, CHAT, body_of("m", false));
	until(&w, &w.n_asked, 1);
	give(&w, 0, 200, CHAT_TEXT, false);
	tap_ok(until(&w, &w.n_failed, 1), "a record that cannot be written is told");
	settle_down(&w);
	tap_ok(!heard_any(&w, c), "and nothing is released");
	close(c);
	world_close(&w);
	close(full);
}

/* Freed with calls in every state. */
static void test_free(void)
{
	struct world w;
	int v[4];

	world_open(&w);
	for (int i = 0; i < 4; i++) {
		v[i] = client(&w);
		post(v[i], CHAT, body_of(i == 3 ? "2" : (char[]){ (char)('0' + i), 0 }, i & 1));
		until(&w, &w.n_requests, i == 3 ? 3u : (unsigned)i + 1);
	}
	settle_down(&w);
	server_go(w.server, 1);
	server_go(w.server, 2);
	give(&w, 1, 500, "", false);
	settle_down(&w);
	world_close(&w);
	for (int i = 0; i < 4; i++)
		close(v[i]);
	tap_ok(true, "freed");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	test_one_call();
	test_gone();
	test_retries();
	test_budget();
	test_budget_back();
	test_stream();
	test_ending();
	test_edits();
	test_failures();
	test_free();
	return tap_done();
}
