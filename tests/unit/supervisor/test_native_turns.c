/* The protocols of codex and claude, by lines as the real programs wrote them (shortened). */
#include "supervisor/native.h"

#include <stdlib.h>

#include "base/mem.h"

#include "tests/unit/supervisor/native_world.h"

#define THREAD "\"threadId\":\"t-1\""

static void codex_open(struct native *n, struct world *w)
{
	sent(w,
	     "{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"cli\","
	     "\"version\":\"1.0.0\"}}}\n",
	     "codex: initialize");
	say(n, "{\"id\":1,\"result\":{\"userAgent\":\"cli/0.171.0\",\"platformOs\":\"linux\"}}");
	sent(w,
	     "{\"method\":\"initialized\"}\n{\"id\":2,\"method\":\"thread/start\",\"params\":{"
	     "\"cwd\":\"/testbed\",\"approvalPolicy\":\"never\",\"sandbox\":"
	     "\"danger-full-access\"}}\n",
	     "codex: thread/start");
	say(n,
	    "{\"method\":\"remoteControl/status/changed\",\"params\":{\"status\":\"disabled\"}}");
	say(n, "{\"id\":2,\"result\":{\"thread\":{\"id\":\"t-1\",\"environments\":[]}}}");
	sent(w,
	     "{\"id\":3,\"method\":\"turn/start\",\"params\":{\"threadId\":\"t-1\",\"input\":[{"
	     "\"type\":\"text\",\"text\":\"fix\"}]}}\n",
	     "codex: turn/start with the statement");
}

static void codex_steers(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");

	message(n, "one");
	codex_open(n, &w);
	say(n, "{\"method\":\"thread/started\",\"params\":{\"thread\":{\"id\":\"t-1\"}}}");
	sent(&w, "", "codex: nothing before the turn has a name");
	say(n, "{\"id\":3,\"result\":{\"turn\":{\"id\":\"u-1\",\"items\":[]}}}");
	sent(&w,
	     "{\"id\":4,\"method\":\"turn/steer\",\"params\":{\"threadId\":\"t-1\","
	     "\"expectedTurnId\":\"u-1\",\"input\":[{\"type\":\"text\",\"text\":\"one\"}]}}\n",
	     "codex: turn/steer");
	say(n, "{\"id\":4,\"result\":{\"turnId\":\"u-1\"}}");
	news(&w, "1:ok;", "codex: accepted");
	say(n, "{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"other\",\"turn\":{\"id\":"
	       "\"u-1\"}}}");
	say(n, "{\"method\":\"turn/completed\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-0\"}}}");
	tap_ok(!w.ended, "codex: other threads and turns are not ours");
	message(n, "two");
	message(n, "three");
	buf_clear(&w.sent);
	say(n, "{\"method\":\"turn/completed\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-1\"}}}");
	tap_ok(!w.ended, "codex: the answer to a steer is waited for");
	say(n, "{\"error\":{\"code\":-32600,\"message\":\"no active turn to steer\"},\"id\":5}");
	sent(&w,
	     "{\"id\":7,\"method\":\"turn/start\",\"params\":{\"threadId\":\"t-1\",\"input\":[{"
	     "\"type\":\"text\",\"text\":\"two\"}]}}\n",
	     "codex: too late for the turn, so it begins the next");
	say(n, "{\"error\":{\"code\":-32600,\"message\":\"no active turn to steer\"},\"id\":6}");
	say(n, "{\"method\":\"turn/started\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-2\"}}}");
	say(n, "{\"id\":7,\"result\":{\"turn\":{\"id\":\"u-2\"}}}");
	sent(&w,
	     "{\"id\":8,\"method\":\"turn/steer\",\"params\":{\"threadId\":\"t-1\","
	     "\"expectedTurnId\":\"u-2\",\"input\":[{\"type\":\"text\",\"text\":\"three\"}]}}\n",
	     "codex: and the other one steers that");
	say(n, "{\"id\":8,\"result\":{\"turnId\":\"u-2\"}}");
	news(&w, "2:ok;3:ok;", "codex: both accepted, in order");
	say(n, "{\"method\":\"turn/completed\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-2\","
	       "\"status\":\"completed\"}}}");
	tap_ok(w.ended, "codex: its input ends");
	end(n, &w);
}

static void codex_crossed(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");

	codex_open(n, &w);
	say(n, "{\"id\":3,\"result\":{\"turn\":{\"id\":\"u-1\"}}}");
	message(n, "one");
	message(n, "two");
	buf_clear(&w.sent);
	say(n, "{\"error\":{\"message\":\"cannot steer\"},\"id\":4}");
	say(n, "{\"error\":{\"message\":\"cannot steer\"},\"id\":5}");
	sent(&w, "", "codex: a turn that takes no messages is waited for");
	say(n, "{\"method\":\"turn/completed\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-1\"}}}");
	sent(&w,
	     "{\"id\":6,\"method\":\"turn/start\",\"params\":{\"threadId\":\"t-1\",\"input\":[{"
	     "\"type\":\"text\",\"text\":\"one\"}]}}\n",
	     "codex: then the first begins one");
	/* The end of the turn overtakes its beginning. */
	say(n, "{\"method\":\"turn/completed\",\"params\":{" THREAD ",\"turn\":{\"id\":\"u-2\"}}}");
	say(n, "{\"id\":6,\"result\":{\"turn\":{\"id\":\"u-2\"}}}");
	sent(&w,
	     "{\"id\":7,\"method\":\"turn/start\",\"params\":{\"threadId\":\"t-1\",\"input\":[{"
	     "\"type\":\"text\",\"text\":\"two\"}]}}\n",
	     "codex: a turn that was over when it got its name");
	say(n, "{\"error\":{\"message\":\"thread is gone\"},\"id\":7}");
	news(&w, "1:ok;2:thread is gone;", "codex: a turn that cannot begin loses its message");
	tap_ok(w.ended, "codex: and is the end");
	end(n, &w);
}

static void codex_refuses(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");

	message(n, "m");
	say(n, "{\"id\":1,\"error\":{\"message\":\"not today\"}}");
	news(&w, "refused:not today;1:not today;", "codex: initialize refused");
	tap_ok(w.ended, "codex: so its input ends");
	end(n, &w);
	n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");
	say(n, "{\"id\":1,\"result\":null}");
	say(n, "{\"id\":2,\"result\":{\"thread\":{\"id\":7}}}");
	news(&w, "refused:thread/start: no thread in the answer;", "codex: no thread");
	end(n, &w);
	n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");
	codex_open(n, &w);
	say(n, "{\"id\":3,\"error\":{}}");
	news(&w, "refused:refused;", "codex: the statement refused without a word");
	tap_ok(w.ended, "codex: so its input ends");
	end(n, &w);
}

static void codex_asks(void)
{
	/* clang-format off */
	static const struct {
		const char *ask, *answer;
	} rows[] = {
		{ "{\"id\":0,\"method\":\"item/commandExecution/requestApproval\",\"params\":{}}",
		  "{\"id\":0,\"result\":{\"decision\":\"accept\"}}\n" },
		{ "{\"id\":\"x\",\"method\":\"item/fileChange/requestApproval\"}",
		  "{\"id\":\"x\",\"result\":{\"decision\":\"accept\"}}\n" },
		{ "{\"id\":1,\"method\":\"execCommandApproval\"}",
		  "{\"id\":1,\"result\":{\"decision\":\"approved\"}}\n" },
		{ "{\"id\":2,\"method\":\"item/permissions/requestApproval\",\"params\":"
		  "{\"permissions\":{\"network\":{\"enabled\":true}}}}",
		  "{\"id\":2,\"result\":{\"permissions\":{\"network\":{\"enabled\":true}}}}\n" },
		{ "{\"id\":2,\"method\":\"item/permissions/requestApproval\"}",
		  "{\"id\":2,\"error\":{\"code\":-32601,\"message\":\"not supported\"}}\n" },
		{ "{\"id\":3,\"method\":\"item/tool/requestUserInput\"}",
		  "{\"id\":3,\"result\":{\"answers\":{}}}\n" },
		{ "{\"id\":4,\"method\":\"mcpServer/elicitation/request\"}",
		  "{\"id\":4,\"result\":{\"action\":\"decline\"}}\n" },
		{ "{\"id\":5,\"method\":\"account/chatgptAuthTokens/refresh\"}",
		  "{\"id\":5,\"error\":{\"code\":-32601,\"message\":\"not supported\"}}\n" },
		{ "{\"id\":6,\"method\":7}",
		  "{\"id\":6,\"error\":{\"code\":-32601,\"message\":\"not supported\"}}\n" },
		{ "{\"method\":\"item/fileChange/requestApproval\"}", "" },
	};
	/* clang-format on */
	struct world w;
	struct native *n = begin(NATIVE_CODEX_APP_SERVER, &w, "fix");

	buf_clear(&w.sent);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		say(n, rows[i].ask);
		sent(&w, rows[i].answer, rows[i].ask);
	}
	end(n, &w);
}

/* The name of the last line that was sent, as the agent repeats it. */
static void replay(struct native *n, struct world *w)
{
	const char *last = strstr(buf_str(&w->sent), "\"uuid\":\"");
	auto_free char *line = NULL;

	if (!tap_ok(last != NULL, "claude: a user line has a name"))
		return;
	line = mem_printf("{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"?\"},"
			  "\"uuid\":\"%.36s\",\"isReplay\":true}",
			  last + 8);
	buf_clear(&w->sent);
	say(n, line);
}

static const char claude_init[] = "{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[\"Bash\"]}";
static const char claude_result[] =
	"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"x\"}";

static void claude_steers(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CLAUDE_STREAM_JSON, &w, "fix");

	message(n, "one");
	tap_is_u64(w.sends, 1, "claude: one line before the turn has begun");
	tap_ok(strstr(buf_str(&w.sent), "\"message\":{\"role\":\"user\",\"content\":\"fix\"}}\n") !=
		       NULL,
	       "claude: the statement");
	{
		struct world keep = w;

		w.sent = (struct buf)BUF_INIT(1 << 20);
		say(n, claude_init);
		tap_ok(strstr(buf_str(&w.sent), "\"content\":\"one\"}}\n") != NULL,
		       "claude: what waited is sent into the turn");
		replay(n, &keep);
		buf_done(&keep.sent);
	}
	news(&w, "", "claude: the statement is no message");
	say(n, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"
	       "\"tool_result\"}]},\"uuid\":\"c7e5289a-0000-4000-8000-000000000000\"}");
	news(&w, "", "claude: a tool result accepts nothing");
	replay(n, &w);
	news(&w, "1:ok;", "claude: accepted when repeated");
	message(n, "two");
	say(n, claude_result);
	tap_ok(!w.ended, "claude: a line that the turn did not reach begins the next");
	say(n, claude_init);
	replay(n, &w);
	news(&w, "2:ok;", "claude: which confirms it");
	say(n, claude_result);
	tap_ok(w.ended, "claude: its input ends");
	end(n, &w);
}

static void claude_silent(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CLAUDE_STREAM_JSON, &w, "fix");

	say(n, claude_init);
	message(n, "one");
	say(n, claude_result);
	news(&w, "1:ok;", "claude: without the replay the end of the turn accepts");
	tap_ok(w.ended, "claude: and is the end");
	end(n, &w);

	n = begin(NATIVE_CLAUDE_STREAM_JSON, &w, "fix");
	say(n, claude_init);
	replay(n, &w);
	message(n, "one");
	say(n, claude_result);
	tap_ok(!w.ended, "claude: not confirmed, not over");
	say(n, claude_result);
	news(&w, "1:the agent did not confirm it;", "claude: not confirmed by the next turn");
	tap_ok(w.ended, "claude: nothing more to wait for");
	end(n, &w);
}

static void claude_asks(void)
{
	struct world w;
	struct native *n = begin(NATIVE_CLAUDE_STREAM_JSON, &w, "fix");

	buf_clear(&w.sent);
	say(n, "{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":"
	       "\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"ls\"}}}");
	sent(&w,
	     "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":"
	     "\"r1\",\"response\":{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}}}\n",
	     "claude: may I");
	say(n, "{\"type\":\"control_request\",\"request_id\":\"r2\",\"request\":{\"subtype\":"
	       "\"mcp_message\"}}");
	sent(&w,
	     "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":"
	     "\"r2\",\"error\":\"not supported\"}}\n",
	     "claude: anything else");
	end(n, &w);
}

int main(void)
{
	codex_steers();
	codex_crossed();
	codex_refuses();
	codex_asks();
	claude_steers();
	claude_silent();
	claude_asks();
	return tap_done();
}
