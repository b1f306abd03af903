/* pi's own protocol, by lines as the real program wrote them (shortened), and what a hostile one could
 * write in any. */
#include "supervisor/native.h"

#include <stdlib.h>

#include "base/mem.h"

#include "tests/unit/supervisor/native_world.h"

static void pi_steers(void)
{
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "Fix \"it\"\n\xff \\ now");

	sent(&w,
	     "{\"id\":\"1\",\"type\":\"prompt\",\"message\":\"Fix \\\"it\\\"\\n\xef\xbf\xbd \\\\ "
	     "now\",\"streamingBehavior\":\"steer\"}\n",
	     "pi: the statement is the first prompt");
	message(n, "early");
	sent(&w, "", "pi: nothing is sent before the turn has begun");
	say(n, "{\"id\":\"1\",\"type\":\"response\",\"command\":\"prompt\",\"success\":true}");
	sent(&w, "{\"id\":\"2\",\"type\":\"get_state\"}\n", "pi: has a turn begun?");
	say(n, "{\"type\":\"agent_start\"}");
	sent(&w,
	     "{\"id\":\"3\",\"type\":\"prompt\",\"message\":\"early\",\"streamingBehavior\":"
	     "\"steer\"}\n",
	     "pi: what waited steers it");
	say(n, "{\"id\":\"2\",\"type\":\"response\",\"command\":\"get_state\",\"success\":true,"
	       "\"data\":{\"isStreaming\":false}}");
	tap_ok(!w.ended, "pi: a state from before counts for nothing");
	say(n, "{\"type\":\"queue_update\",\"steering\":[\"early\"],\"followUp\":[]}");
	news(&w, "", "pi: not accepted yet");
	say(n, "{\"id\":\"3\",\"type\":\"response\",\"command\":\"prompt\",\"success\":true}");
	news(&w, "1:ok;", "pi: accepted");
	say(n, "{\"type\":\"agent_end\",\"messages\":[{\"role\":\"user\"}]}");
	sent(&w, "{\"id\":\"4\",\"type\":\"get_state\"}\n", "pi: is it idle?");
	say(n,
	    "{\"id\":\"4\",\"type\":\"response\",\"command\":\"get_state\",\"success\":true,"
	    "\"data\":{\"isStreaming\":false,\"isCompacting\":false,\"pendingMessageCount\":0}}");
	tap_ok(w.ended, "pi: its input ends when it is");
	tap_ok(native_message(n, "late", NULL) == -ERR_CHILD, "pi: no message behind that");
	end(n, &w);
}

/* A message that is still being written keeps the input open. */
static void pi_waits(void)
{
	static const char idle[] = "\"data\":{\"isStreaming\":false,\"isCompacting\":false,"
				   "\"pendingMessageCount\":0}}";
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");
	auto_free char *first = mem_printf("{\"id\":\"3\",\"type\":\"response\",%s", idle);

	say(n, "{\"type\":\"response\",\"id\":\"1\",\"success\":true}");
	say(n, "{\"type\":\"agent_start\"}");
	native_wait(n, true);
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	say(n, first);
	tap_ok(!w.ended, "pi: idle, and a message is on its way");
	buf_clear(&w.sent);
	message(n, "written");
	tap_ok(strstr(buf_str(&w.sent), "written") != NULL, "pi: it is sent when it is there");
	native_wait(n, false);
	tap_ok(!w.ended, "pi: which begins a turn");
	end(n, &w);
	n = begin(NATIVE_PI_RPC, &w, "x");
	say(n, "{\"type\":\"response\",\"id\":\"1\",\"success\":true}");
	say(n, "{\"type\":\"agent_start\"}");
	native_wait(n, true);
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	say(n, first);
	native_wait(n, false);
	tap_ok(w.ended, "pi: when none comes its input ends then");
	end(n, &w);
}

static void pi_turn(struct native *n, struct world *w, const char *prompt_id)
{
	auto_free char *ok =
		mem_printf("{\"type\":\"response\",\"id\":\"%s\",\"success\":true}", prompt_id);

	say(n, ok);
	say(n, "{\"type\":\"agent_start\"}");
	buf_clear(&w->sent);
}

static void pi_goes_on(void)
{
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");

	pi_turn(n, &w, "1"); /* get_state was 2 */
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	say(n, "{\"type\":\"auto_retry_start\",\"attempt\":1,\"delayMs\":2000}");
	say(n, "{\"id\":\"3\",\"type\":\"response\",\"data\":{\"isStreaming\":false}}");
	tap_ok(!w.ended, "pi: an error that is tried again is no end");
	message(n, "meanwhile");
	sent(&w, "{\"id\":\"3\",\"type\":\"get_state\"}\n", "pi: messages wait for the retry");
	say(n, "{\"type\":\"agent_start\"}");
	sent(&w,
	     "{\"id\":\"4\",\"type\":\"prompt\",\"message\":\"meanwhile\",\"streamingBehavior\":"
	     "\"steer\"}\n",
	     "pi: the retry takes it");
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	sent(&w, "", "pi: the prompt under way may begin a turn, so its answer comes first");
	say(n, "{\"id\":\"4\",\"type\":\"response\",\"success\":true}");
	news(&w, "1:ok;", "pi: accepted at the end of a turn");
	sent(&w, "{\"id\":\"5\",\"type\":\"get_state\"}\n", "pi: then the state is asked");
	say(n, "{\"id\":\"5\",\"type\":\"response\",\"data\":{\"isStreaming\":true}}");
	tap_ok(!w.ended, "pi: a turn of its own goes on");
	say(n, "{\"type\":\"agent_start\"}");
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	say(n, "{\"type\":\"compaction_start\",\"reason\":\"threshold\"}");
	say(n, "{\"id\":\"6\",\"type\":\"response\",\"data\":{\"isCompacting\":true}}");
	tap_ok(!w.ended, "pi: a compaction goes on");
	message(n, "after");
	buf_clear(&w.sent);
	say(n, "{\"type\":\"compaction_end\",\"result\":{\"summary\":\"s\"},\"willRetry\":false}");
	sent(&w, "{\"id\":\"7\",\"type\":\"get_state\"}\n", "pi: state behind the compaction");
	say(n, "{\"id\":\"7\",\"type\":\"response\",\"data\":{\"pendingMessageCount\":0}}");
	sent(&w,
	     "{\"id\":\"8\",\"type\":\"prompt\",\"message\":\"after\",\"streamingBehavior\":"
	     "\"steer\"}\n",
	     "pi: what is queued at the end begins a turn");
	say(n, "{\"id\":\"8\",\"type\":\"response\",\"success\":false,\"error\":\"no model\"}");
	news(&w, "2:no model;", "pi: a refused message is lost, with its words");
	sent(&w, "{\"id\":\"9\",\"type\":\"get_state\"}\n", "pi: and the state is asked again");
	say(n, "{\"id\":\"9\",\"type\":\"response\",\"data\":{}}");
	tap_ok(w.ended, "pi: the end");
	end(n, &w);
}

static void pi_gives_up(void)
{
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");

	pi_turn(n, &w, "1");
	say(n, "{\"type\":\"agent_end\",\"messages\":[]}");
	say(n, "{\"type\":\"auto_retry_start\"}");
	say(n, "{\"id\":\"3\",\"type\":\"response\",\"data\":{\"pendingMessageCount\":1}}");
	tap_ok(!w.ended, "pi: waits between retries");
	say(n, "{\"type\":\"auto_retry_end\",\"success\":false}");
	say(n, "{\"id\":\"4\",\"type\":\"response\",\"data\":{\"pendingMessageCount\":1}}");
	tap_ok(w.ended, "pi: after the last retry it is over, whatever is queued in it");
	end(n, &w);

	n = begin(NATIVE_PI_RPC, &w, "x");
	message(n, "m");
	say(n, "{\"id\":\"1\",\"type\":\"response\",\"success\":false,\"error\":\"No API key\"}");
	news(&w, "refused:No API key;1:No API key;", "pi: refused at the start");
	tap_ok(w.ended, "pi: so its input ends");
	end(n, &w);
}

static void pi_asks(void)
{
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");

	buf_clear(&w.sent);
	say(n, "{\"type\":\"extension_ui_request\",\"id\":\"a-\\\"b\",\"method\":\"confirm\"}");
	sent(&w, "{\"type\":\"extension_ui_response\",\"id\":\"a-\\\"b\",\"cancelled\":true}\n",
	     "pi: a question is answered with nobody here");
	say(n, "{\"type\":\"extension_ui_request\",\"id\":\"c\",\"method\":\"notify\"}");
	sent(&w, "", "pi: a notice is none");
	w.sends = 0;
	for (int i = 0; i < NATIVE_REPLIES_MAX + 10; i++)
		say(n, "{\"type\":\"extension_ui_request\",\"id\":1,\"method\":\"input\"}");
	tap_is_u64(w.sends, NATIVE_REPLIES_MAX - 1, "pi: questions without end get no answers");
	end(n, &w);
}

/* Hostile or just unlucky output: nothing of it may begin, end or answer anything. */
static void odd_lines(void)
{
	/* clang-format off */
	static const char *const odd[] = {
		"", "\r", "null", "[]", "7", "\"agent_end\"", "{", "{}", "{\"type\":", "\xff\xfe\xfd",
		"{\"type\":7}", "{\"type\":[\"agent_end\"]}", "{\"type\":{\"type\":\"result\"}}",
		"{\"id\":-1,\"type\":\"response\",\"success\":true}",
		"{\"id\":1e9,\"type\":\"response\",\"success\":true}",
		"{\"id\":\"99999999999999999999999\",\"type\":\"response\",\"success\":true}",
		"{\"id\":\"\",\"type\":\"response\",\"success\":true}",
		"{\"id\":0,\"type\":\"response\",\"result\":{}}",
		"{\"id\":null,\"result\":{}}", "{\"id\":4711,\"result\":{\"thread\":{\"id\":\"t\"}}}",
		"{\"method\":\"turn/completed\"}", "{\"method\":\"turn/completed\",\"params\":[]}",
		"{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"\",\"turn\":{\"id\":\"\"}}}",
		"{\"method\":\"turn/started\",\"params\":{\"threadId\":\"\",\"turn\":{\"id\":\"u\"}}}",
		"{\"type\":\"user\",\"isReplay\":true,\"uuid\":\"\"}",
		"{\"type\":\"user\",\"isReplay\":true}",
		"{\"type\":\"system\",\"subtype\":\"other\"}",
		"{\"type\":\"control_request\"}", "{\"type\":\"control_request\",\"request_id\":null}",
		"{\"type\":\"extension_ui_request\",\"method\":\"input\"}",
		"{\"type\":\"auto_retry_end\",\"success\":false}", "{\"type\":\"compaction_end\"}",
	};
	/* clang-format on */
	for (int p = NATIVE_PI_RPC; p <= NATIVE_CLAUDE_STREAM_JSON; p++) {
		const char *name = agent_native_name((enum agent_native)p);
		auto_free char *deep = mem_zalloc(1 << 20, 1);
		struct world w;
		struct native *n = begin((enum agent_native)p, &w, "fix");

		buf_clear(&w.sent);
		for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
			say(n, odd[i]);
		memset(deep, '[', (1 << 20) - 1);
		say(n, deep);
		if (p == NATIVE_CLAUDE_STREAM_JSON) {
			tap_ok(strstr(buf_str(&w.sent), "\"user\"") == NULL, "%s: no user line",
			       name);
			buf_clear(&w.sent);
		}
		sent(&w, "", name);
		news(&w, "", name);
		tap_ok(!w.ended, "%s: odd lines end nothing", name);
		native_ended(n);
		news(&w, "refused:the agent ended before it took it;", name);
		end(n, &w);
	}
}

/* Too long a line is passed over, but the end of a turn is known by its head. */
static void long_lines(void)
{
	size_t size = NATIVE_LINE_MAX + 4096;
	auto_free char *x = mem_alloc(size);
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");

	memset(x, 'x', size);
	pi_turn(n, &w, "1");
	native_output(n, "{\"type\":\"agent_start\",\"x\":\"", 26);
	native_output(n, x, size);
	native_output(n, x, size);
	say(n, "\"}");
	message(n, "m");
	sent(&w,
	     "{\"id\":\"3\",\"type\":\"prompt\",\"message\":\"m\",\"streamingBehavior\":\"steer\"}\n",
	     "a long line is passed over, and the next one is read");
	say(n, "{\"id\":\"3\",\"type\":\"response\",\"success\":true}");
	native_output(n, "{\"type\":\"agent_end\",\"messages\":[\"", 33);
	native_output(n, x, size);
	say(n, "\"]}");
	sent(&w, "{\"id\":\"4\",\"type\":\"get_state\"}\n", "the end of a turn however long");
	/* In one piece. */
	memcpy(x, "{\"type\":\"agent_start\"}", 22);
	memset(x + 22, ' ', size - 22);
	x[size - 1] = '\n';
	native_output(n, x, size);
	say(n, "{\"id\":\"4\",\"type\":\"response\",\"data\":{}}");
	tap_ok(w.ended, "too long in one piece");
	end(n, &w);
}

/* The same, whatever the pieces. */
static void pieces(void)
{
	static const char all[] =
		"{\"id\":\"1\",\"type\":\"response\",\"success\":true}\n{\"type\":\"agent_start\"}\r\n"
		"\n{\"type\":\"message_update\",\"x\":1}\n{\"type\":\"agent_end\"}\n"
		"{\"id\":\"3\",\"type\":\"response\",\"data\":{\"isStreaming\":false}}\n";
	unsigned good = 0;

	for (size_t step = 1; step < sizeof(all); step++) {
		struct world w;
		struct native *n = begin(NATIVE_PI_RPC, &w, "x");

		for (size_t at = 0; at < sizeof(all) - 1; at += step)
			native_output(n, all + at,
				      sizeof(all) - 1 - at < step ? sizeof(all) - 1 - at : step);
		good += w.ended;
		native_free(n);
		buf_done(&w.sent);
		buf_done(&w.news);
	}
	tap_is_u64(good, sizeof(all) - 1, "lines in pieces of every size");
}

static void bounds(void)
{
	auto_free char *big = mem_alloc(NATIVE_TEXT_MAX + 2);
	struct err err;
	struct world w;
	struct native *n = begin(NATIVE_PI_RPC, &w, "x");
	int taken = 0;

	memset(big, '\x01', NATIVE_TEXT_MAX + 1);
	big[NATIVE_TEXT_MAX + 1] = '\0';
	tap_ok(native_message(n, big, &err) == -ERR_LIMIT, "a message that is too long");
	big[NATIVE_TEXT_MAX] = '\0';
	tap_ok(native_message(n, big, &err) == 0, "one that is just short enough");
	while (native_message(n, "m", &err) == 0)
		taken++;
	tap_ok(err.code == ERR_LIMIT, "too many that wait");
	tap_is_u64((uint64_t)taken, NATIVE_OPEN_MAX - 2, "which are so many");
	say(n, "{\"type\":\"agent_start\"}");
	tap_ok(w.sent.len > 6 * NATIVE_TEXT_MAX, "all are sent in the end, in any bytes");
	native_ended(n);
	tap_ok(strstr(buf_str(&w.news), "1:the agent ended before it took it;") != NULL,
	       "what was never accepted is lost");
	end(n, &w);

	n = begin(NATIVE_PI_RPC, &w, "x");
	pi_turn(n, &w, "1");
	w.closed = true;
	tap_ok(native_message(n, "m", &err) == -ERR_CHILD, "an input that is closed");
	news(&w, "1:the agent's input is closed or full;", "which is told");
	tap_ok(w.ended, "and final");
	say(n, "{\"type\":\"agent_end\"}");
	end(n, &w);
	native_free(NULL);
}

int main(void)
{
	pi_steers();
	pi_waits();
	pi_goes_on();
	pi_gives_up();
	pi_asks();
	odd_lines();
	long_lines();
	pieces();
	bounds();
	return tap_done();
}
