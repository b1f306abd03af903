/* script.c: turns by history, tool turns in the agent's own tools, expectations, faults, errors. */
#include "gateway/script.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

#define SCRIPT(text) "{ \"schema\": \"proctor.script/1\", " text " }"

/* An agent with tools of every shape that templates can have. */
static struct agent_tool the_tools[] = {
	{ AGENT_TOOL_READ, (char[]){ "view" },
	  (char[]){ "{\"p\":\"{path}\",\"offset\":\"{offset0}\",\"limit\":\"{count}\","
		    "\"range\":[\"{first}\",\"{last}\"],\"cmd\":\"sed -n {first},{last}p\"}" } },
	{ AGENT_TOOL_EDIT, (char[]){ "apply_patch" }, (char[]){ "\"{patch}\"" }, true },
	{ AGENT_TOOL_SHELL, (char[]){ "bash" },
	  (char[]){
		  "{\"command\":[\"bash\",\"-lc\",\"{command}\"],\"n\":1.5,\"x\":{\"{a}\":null}}" } },
	{ AGENT_TOOL_EDIT, (char[]){ "second" }, (char[]){ "{}" } },
};
static const struct agent the_agent = { .name = (char[]){ "pi" },
					.tools = { the_tools, ARRAY_SIZE(the_tools) } };

/* What done() was told last, read as an answer. */
struct got {
	unsigned n;
	int status;
	bool sse, final;
	unsigned retry_after;
	char *body; /* owned */
	size_t len;
	char why[512];
	struct api_answer a;
};

static const struct api *api_in_use;

static void got_done(struct got *g)
{
	free(g->body);
	api_answer_done(&g->a);
	*g = (struct got){ 0 };
}

static void on_done(void *arg, struct reply *r)
{
	struct got *g = arg;
	unsigned n = g->n;

	got_done(g);
	g->n = n + 1;
	g->status = r->status;
	g->sse = r->sse;
	g->final = r->final;
	g->retry_after = r->retry_after;
	memcpy(g->why, r->why, sizeof(g->why));
	g->body = buf_steal(&r->body, &g->len);
	api_answer_read(&g->a, api_in_use, g->body, g->len, g->sse);
}

/* One question in flight: what the source may look at until done(). */
struct question {
	struct api_request q;
	struct ask a;
	struct got g;
};

static void put(struct source *s, struct question *x, const char *path, const char *body,
		const char *edited, enum purpose purpose)
{
	const struct api *api = NULL;
	enum api_route route = api_route("POST", path, &api);
	struct err err = { 0 };

	memset(x, 0, sizeof(*x));
	api_in_use = api;
	if (!tap_ok(api_request_read(&x->q, api, route, path, body, strlen(body), &err) == 0,
		    "a request of %s %s", api ? api->name : "?", err.text))
		abort();
	x->a = (struct ask){ .q = &x->q,
			     .path = path,
			     .body = edited ? edited : body,
			     .n = strlen(edited ? edited : body),
			     .model = "m-1",
			     .purpose = purpose,
			     .call = 1,
			     .deadline = clock_mono() + 100 * CLOCK_MS,
			     .done = on_done,
			     .arg = &x->g };
	s->ops->ask(s->impl, &x->a);
}

static void question_done(struct question *x)
{
	api_request_done(&x->q);
	got_done(&x->g);
}

#define CHAT "/v1/chat/completions"

/* A Chat request of these messages. */
static char *chat(bool stream, const char *messages)
{
	return mem_printf("{\"model\":\"m\",\"stream\":%s,\"stream_options\":"
			  "{\"include_usage\":true},\"messages\":[%s],\"tools\":[{\"type\":"
			  "\"function\",\"function\":{\"name\":\"view\",\"parameters\":{\"type\":"
			  "\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}}}]}",
			  stream ? "true" : "false", messages);
}

static struct question ask_chat(struct source *s, bool stream, const char *messages)
{
	auto_free char *body = chat(stream, messages);
	struct question x;

	put(s, &x, CHAT, body, NULL, PURPOSE_MAIN);
	tap_ok(x.g.n == 1, "answered at once");
	api_request_done(&x.q);
	memset(&x.q, 0, sizeof(x.q));
	return x;
}

static struct source open_with(const char *text, struct event_base *base)
{
	struct source s = { 0 };
	struct err err = { 0 };

	if (!tap_ok(script_open("s.json", text, strlen(text), &the_agent, "/workspace", base, &s,
				&err) == 0,
		    "opened %s", err.text))
		abort();
	return s;
}

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define SAYS(text) ",{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define CALLS(id)                                                                                  \
	",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                  \
	"\",\"type\":\"function\",\"function\":{\"name\":\"view\",\"arguments\":\"{}\"}}]}"
#define RESULT(id, text) ",{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

/* All four APIs, as a stream and as one body: what was written is what a client reads. */
static void every_api(void)
{
	static const struct {
		const char *path, *stream_path, *body;
	} rows[] = {
		{ CHAT, CHAT,
		  "{\"model\":\"m\",%s\"stream_options\":{\"include_usage\":true},\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
		  "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"view\"}}]}" },
		{ "/v1/responses", "/v1/responses",
		  "{\"model\":\"m\",%s\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":"
		  "[{\"type\":\"input_text\",\"text\":\"hi\"}]}],"
		  "\"tools\":[{\"type\":\"function\",\"name\":\"view\"}]}" },
		{ "/v1/messages", "/v1/messages",
		  "{\"model\":\"m\",\"max_tokens\":9,%s\"messages\":[{\"role\":\"user\",\"content\":"
		  "\"hi\"}],\"tools\":[{\"name\":\"view\",\"input_schema\":{}}]}" },
		{ "/v1beta/models/m:generateContent",
		  "/v1beta/models/m:streamGenerateContent?alt=sse",
		  "{%s\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}],"
		  "\"tools\":[{\"functionDeclarations\":[{\"name\":\"view\"}]}]}" },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		bool stream = i % 2, gemini = i / 2 == 3;
		auto_free char *body =
			mem_printf(rows[i / 2].body, stream && !gemini ? "\"stream\":true," : "");
		struct source s = open_with(
			SCRIPT("\"turns\": [ { \"text\": \"I look.\", \"usage\": { \"input\": 100,"
			       "\"cached\": 40, \"output\": 7 }, \"tools\": ["
			       "{ \"read\": { \"path\": \"a.c\", \"first\": 3, \"last\": 9 } },"
			       "{ \"shell\": \"ls\" } ],"
			       "\"expect\": { \"tools_offered\": [\"view\"] } } ]"),
			NULL);
		auto_buf unmet = BUF_INIT(4096);
		struct question x;

		put(&s, &x, stream ? rows[i / 2].stream_path : rows[i / 2].path, body, NULL,
		    PURPOSE_MAIN);
		tap_ok(x.g.n == 1 && x.g.status == 200 && x.g.sse == stream, "%s, stream %d",
		       api_in_use->name, stream);
		tap_ok(x.g.a.complete && !x.g.a.error && x.g.a.finish == FINISH_TOOLS,
		       "complete %s", x.g.a.why ? x.g.a.why : "");
		tap_is_str(x.g.a.text, "I look.", "text");
		tap_is_str(x.g.a.model, "m-1", "model");
		tap_ok(x.g.a.usage.known && x.g.a.usage.input == 100 && x.g.a.usage.cached == 40 &&
			       x.g.a.usage.output == 7,
		       "usage");
		tap_ok(x.g.a.n_calls == 2 && str_eq(x.g.a.calls[0].name, "view") &&
			       strstr(x.g.a.calls[0].args, "\"limit\":7"),
		       "calls: %s", x.g.a.n_calls ? x.g.a.calls[0].args : "none");
		tap_ok(s.ops->unmet(s.impl, &unmet) == 0, "the tool is offered: %s",
		       buf_str(&unmet));
		question_done(&x);
		source_done(&s);
	}
}

static void translations(void)
{
	struct source s = open_with(
		SCRIPT("\"turns\": [ { \"tools\": ["
		       "{ \"read\": { \"path\": \"src/\\\"a\\\".c\", \"first\": 10, \"last\": 24 } },"
		       "{ \"read\": { \"path\": \"b\" } },"
		       "{ \"edit\": { \"path\": \"c\", \"old\": \"x\\ny\\n\", \"new\": \"z\" } },"
		       "{ \"shell\": \"echo {path} '\\\\'\" },"
		       "{ \"call\": { \"name\": \"f\", \"args\": { \"k\": [1, \"{path}\"] } } },"
		       "{ \"call\": { \"name\": \"g\" } },"
		       "{ \"call\": { \"name\": \"h\", \"input\": \"plain\" } } ] } ]"),
		NULL);
	static const char *const want[] = {
		"{\"p\":\"src/\\\"a\\\".c\",\"offset\":9,\"limit\":15,\"range\":[10,24],"
		"\"cmd\":\"sed -n 10,24p\"}",
		"{\"p\":\"b\",\"cmd\":\"sed -n 1,4294967295p\"}",
		NULL,
		"{\"command\":[\"bash\",\"-lc\",\"echo {path} '\\\\'\"],\"n\":1.5,\"x\":{\"{a}\":null}}",
		"{\"k\":[1,\"{path}\"]}",
		"{}",
		NULL,
	};
	struct question x = ask_chat(&s, false, USER("hi"));

	tap_ok(x.g.a.n_calls == ARRAY_SIZE(want), "seven calls");
	for (size_t i = 0; i < ARRAY_SIZE(want) && i < x.g.a.n_calls; i++) {
		auto_free char *id = mem_printf("call_1_%zu", i + 1);

		tap_is_str(x.g.a.calls[i].id, id, "id");
		if (want[i])
			tap_is_str(x.g.a.calls[i].args, want[i], "arguments");
	}
	tap_ok(strstr(x.g.body, "*** Update File: c") && strstr(x.g.body, "-x\\") &&
		       strstr(x.g.body, "plain"),
	       "text of custom tools");
	question_done(&x);
	source_done(&s);
}

static void history(void)
{
	static const struct {
		const char *messages, *text;
	} rows[] = {
		{ USER("a"), "one" },
		{ USER("a") CALLS("c1") RESULT("c1", "r"), "two" },
		{ USER("a") SAYS("s") CALLS("c1") RESULT("c1", "r"), "two" },
		{ USER("a") CALLS("c1") RESULT("c1", "r") "," USER("more"), "two" },
		{ USER("a") CALLS("c1") RESULT("c1", "r") CALLS("c2") RESULT("c2", "r"), "three" },
		{ USER("a") SAYS("s") "," USER("b") SAYS("t") "," USER("c"), "three" },
		{ USER("a") CALLS("c1") RESULT("c1", "r") CALLS("c2") RESULT("c2", "r")
			  SAYS("e") "," USER("go on"),
		  "Done." },
		{ USER("a"), "one" },
	};
	struct source s =
		open_with(SCRIPT("\"turns\": [ { \"text\": \"one\" }, { \"text\": \"two\","
				 " \"finish\": \"length\" }, { \"text\": \"three\" } ],"
				 "\"side\": { \"text\": \"a title\" }, // as it is\n"
				 "\"usage\": { \"input\": 1000, \"output\": 50 }"),
			  NULL);
	struct question x;
	auto_free char *body = chat(false, USER("a") SAYS("s"));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		x = ask_chat(&s, i % 2, rows[i].messages);
		tap_is_str(x.g.a.text, rows[i].text, "the turn that the history says");
		tap_ok(x.g.a.finish == (str_eq(rows[i].text, "two") ? FINISH_LENGTH : FINISH_STOP),
		       "how it ends");
		tap_ok(x.g.a.usage.input == 1000 && x.g.a.usage.output == 50, "default usage");
		question_done(&x);
	}
	put(&s, &x, CHAT, body, NULL, PURPOSE_SIDE);
	tap_is_str(x.g.a.text, "a title", "side calls");
	question_done(&x);
	put(&s, &x, CHAT, body, NULL, PURPOSE_SUBAGENT);
	tap_is_str(x.g.a.text, "a title", "sub-agents");
	question_done(&x);
	source_done(&s);
}

static void expectations(void)
{
	struct source s = open_with(
		SCRIPT("\"turns\": [ { \"text\": \"1\", \"expect\": { \"contains\": [\"alpha\"] } },"
		       "{ \"text\": \"2\", \"expect\": { \"contains\": [\"alpha\"], \"lacks\": "
		       "[\"beta\"], \"last_contains\": [\"be\"], \"tools_offered\": [\"view\"] } },"
		       "{ \"text\": \"3\", \"expect\": { \"tools_offered\": [\"type\"] } },"
		       "{ \"text\": \"4\", \"expect\": { \"last_contains\": [\"x\\ny\"] } },"
		       "{ \"text\": \"5\", \"expect\": { \"lacks\": [\"y\"] } },"
		       "{ \"text\": \"6\" } ]"),
		NULL);
	auto_buf unmet = BUF_INIT(4096);
	auto_free char *body = chat(false, USER("none"));
	auto_free char *edited = chat(false, USER("none") "," USER("alpha"));
	struct question x;

	/* first not met, then met by what the gateway put into the request */
	x = ask_chat(&s, false, USER("gamma"));
	question_done(&x);
	tap_ok(s.ops->unmet(s.impl, &unmet) == 5 &&
		       strstr(buf_str(&unmet),
			      "turn 1: no user message or result holds \"alpha\"\n"),
	       "unmet: %s", buf_str(&unmet));
	put(&s, &x, CHAT, body, edited, PURPOSE_MAIN);
	question_done(&x);
	x = ask_chat(&s, false, USER("alpha beta") CALLS("c") RESULT("c", "be"));
	question_done(&x);
	x = ask_chat(&s, false, USER("a") SAYS("b") "," USER("c") SAYS("d") "," USER("e"));
	question_done(&x);
	x = ask_chat(&s, false,
		     USER("a") SAYS("b") "," USER("c") SAYS("d") "," USER("e")
			     SAYS("f") "," USER("x"));
	question_done(&x);
	buf_clear(&unmet);
	tap_ok(s.ops->unmet(s.impl, &unmet) == 4, "four are left");
	tap_is_str(buf_str(&unmet),
		   "turn 2: a user message or result holds \"beta\"\n"
		   "turn 3: the agent does not offer the tool \"type\"\n"
		   "turn 4: the last user message or result does not hold \"x\\ny\"\n"
		   "turn 5: never reached\n",
		   "one line each");
	source_done(&s);
}

static void faults(void)
{
	struct source s = open_with(
		SCRIPT("\"turns\": [ { \"text\": \"fine\", \"fault\": { \"times\": 2, \"status\": 429,"
		       "\"message\": \"slow down\", \"retry_after\": \"1500ms\" } },"
		       "{ \"text\": \"cut this answer short\", \"fault\": { \"cut\": 0.5 } },"
		       "{ \"text\": \"no end\", \"fault\": { \"no_end\": true } },"
		       "{ \"text\": \"comments\", \"fault\": { \"comments\": true } },"
		       "{ \"fault\": { \"status\": 500 } } ]"),
		NULL);
	static const char *const turns[] = {
		USER("a"),
		USER("a") SAYS("1") "," USER("b"),
		USER("a") SAYS("1") "," USER("b") SAYS("2") "," USER("c"),
		USER("a") SAYS("1") "," USER("b") SAYS("2") "," USER("c") SAYS("3") "," USER("d"),
		USER("a") SAYS("1") "," USER("b") SAYS("2") "," USER("c") SAYS("3") "," USER("d")
			SAYS("4") "," USER("e"),
	};
	struct question x;

	for (unsigned i = 0; i < 3; i++) {
		x = ask_chat(&s, true, turns[0]);
		if (i < 2)
			tap_ok(x.g.status == 429 && !x.g.sse && x.g.retry_after == 2 &&
				       !x.g.final && strstr(x.g.body, "slow down") && x.g.a.error,
			       "refused: %s", x.g.body);
		else
			tap_ok(x.g.status == 200 && x.g.a.complete, "the third time it is fine");
		question_done(&x);
	}
	for (unsigned stream = 0; stream < 2; stream++) {
		x = ask_chat(&s, stream, turns[1]);
		tap_ok(x.g.status == 200 && !x.g.a.complete && x.g.len, "cut: %s",
		       x.g.a.why ? x.g.a.why : "");
		question_done(&x);
		x = ask_chat(&s, stream, turns[2]);
		tap_ok(x.g.status == 200 && x.g.len && !strstr(x.g.body, "[DONE]") &&
			       (stream || !x.g.a.complete),
		       "the end is missing");
		question_done(&x);
		x = ask_chat(&s, stream, turns[3]);
		tap_ok(x.g.a.complete && str_eq(x.g.a.text, "comments"), "comments do no harm");
		tap_ok(!stream == !strstr(x.g.body, "\n\n: keepalive\n\n"), "they are there");
		question_done(&x);
	}
	x = ask_chat(&s, true, turns[4]);
	tap_ok(x.g.status == 500 && x.g.a.error && x.g.len, "%s", x.g.body);
	question_done(&x);
	source_done(&s);
}

static void time_passes(void)
{
	struct event_base *base = event_base_new();
	struct source s =
		open_with(SCRIPT("\"turns\": [ { \"text\": \"late\", \"delay\": \"20ms\" },"
				 "{ \"text\": \"never\", \"fault\": { \"silence\": true } },"
				 "{ \"text\": \"too late\", \"delay\": \"1h\" } ]"),
			  base);
	auto_free char *one = chat(true, USER("a"));
	auto_free char *two = chat(true, USER("a") SAYS("1") "," USER("b"));
	auto_free char *three =
		chat(true, USER("a") SAYS("1") "," USER("b") SAYS("2") "," USER("c"));
	struct question x, y, z;

	put(&s, &x, CHAT, one, NULL, PURPOSE_MAIN);
	put(&s, &y, CHAT, two, NULL, PURPOSE_MAIN);
	put(&s, &z, CHAT, three, NULL, PURPOSE_MAIN);
	tap_ok(x.g.n == 0 && y.g.n == 0 && z.g.n == 0, "none is answered yet");
	event_base_dispatch(base);
	tap_ok(x.g.n == 1 && x.g.status == 200 && str_eq(x.g.a.text, "late"), "after its pause");
	tap_ok(y.g.n == 1 && y.g.status == 0 && !y.g.final && y.g.len == 0 &&
		       strstr(y.g.why, "in time"),
	       "silence ends with the time for an answer: %s", y.g.why);
	tap_ok(z.g.n == 1 && z.g.status == 0 && strstr(z.g.why, "in time"), "a pause too long: %s",
	       z.g.why);
	question_done(&x);
	put(&s, &x, CHAT, two, NULL, PURPOSE_MAIN);
	source_done(&s);
	event_base_dispatch(base);
	tap_ok(x.g.n == 0, "a source that is freed answers no more");
	question_done(&x);
	question_done(&y);
	question_done(&z);
	event_base_free(base);
}

static void errors(void)
{
#define TURN(text)      SCRIPT("\"turns\": [ { " text " } ]")
#define TOOL(text)      TURN("\"tools\": [ " text " ]")
#define AT(place, text) "s.json: $.turns[0]" place ": " text
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "{", "s.json:1:" },
		{ SCRIPT("\"turn\": []"), "unknown key \"turn\", did you mean \"turns\"?" },
		{ SCRIPT("\"side\": {}"), "\"turns\" is missing" },
		{ SCRIPT("\"turns\": {}"), "$.turns: expected an array" },
		{ SCRIPT("\"turns\": [ 1 ]"), AT("", "expected an object") },
		{ SCRIPT("\"turns\": [], \"side\": 3"), "$.side: expected an object" },
		{ SCRIPT("\"turns\": [], \"side\": { \"test\": \"x\" }"),
		  "did you mean \"text\"?" },
		{ TURN(""), AT("", "a turn needs \"text\" or \"tools\"") },
		{ TURN("\"text\": \"a\", \"finish\": \"stopp\""), "did you mean \"stop\"?" },
		{ TURN("\"text\": \"a\", \"expect\": { \"lack\": [] }"),
		  "did you mean \"lacks\"?" },
		{ TURN("\"text\": \"a\", \"usage\": { \"input\": 1, \"cached\": 2 }"),
		  "are parts of \"input\"" },
		{ TURN("\"text\": \"a\", \"usage\": { \"output\": 1, \"reasoning\": 2 }"),
		  "part of \"output\"" },
		{ TURN("\"text\": \"a\", \"fault\": {}"), "say what goes wrong" },
		{ TURN("\"text\": \"a\", \"fault\": { \"status\": 200 }"), "300 to 599" },
		{ TURN("\"text\": \"a\", \"fault\": { \"cut\": 1 }"), "\"cut\" is a share" },
		{ TURN("\"text\": \"a\", \"fault\": { \"times\": 0, \"cut\": 0 }"), "never" },
		{ TOOL("{}"), AT(".tools[0]", "expected an object with one of") },
		{ TOOL("{ \"shell\": \"a\", \"call\": {} }"), AT(".tools[0]", "expected an") },
		{ TOOL("{ \"shel\": \"a\" }"), "unknown tool \"shel\", did you mean \"shell\"?" },
		{ TOOL("{ \"shell\": 1 }"), AT(".tools[0].shell", "expected a command") },
		{ TOOL("{ \"read\": \"a\" }"), AT(".tools[0].read", "expected an object") },
		{ TOOL("{ \"read\": { \"first\": 1, \"last\": 2 } }"), "\"path\" is missing" },
		{ TOOL("{ \"read\": { \"path\": null } }"), "\"path\" must be a string" },
		{ TOOL("{ \"read\": { \"path\": \"a\", \"first\": 1 } }"), "go together" },
		{ TOOL("{ \"read\": { \"path\": \"a\", \"first\": 0, \"last\": 2 } }"),
		  "lines from 1" },
		{ TOOL("{ \"read\": { \"path\": \"a\", \"first\": 3, \"last\": 2 } }"),
		  "go together" },
		{ TOOL("{ \"write\": { \"path\": \"a\", \"content\": \"b\" } }"),
		  AT(".tools[0].write", "agent \"pi\" has no tool of kind write") },
		{ TOOL("{ \"call\": { \"name\": \"\" } }"), "must name a tool" },
		{ TOOL("{ \"call\": { \"name\": \"a\", \"args\": [] } }"), "must be an object" },
		{ TOOL("{ \"call\": { \"name\": \"a\", \"args\": {}, \"input\": \"\" } }"),
		  "give one" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source s = { 0 };
		struct err err = { 0 };
		int rc = script_open("s.json", rows[i].text, strlen(rows[i].text), &the_agent,
				     "/workspace", NULL, &s, &err);

		tap_ok(rc == -ERR_INPUT && !s.ops && strstr(err.text, rows[i].want), "%s",
		       err.text);
	}
}

/* An agent's own file can be wrong in ways that only a script shows. */
static void agents(void)
{
	static const char text[] = SCRIPT("\"turns\": [ { \"tools\": [ { \"shell\": \"a\" } ] } ]");
	struct agent_tool tool = { AGENT_TOOL_SHELL, (char[]){ "t" }, NULL };
	struct agent agent = { .name = (char[]){ "pi" }, .tools = { &tool, 1 } };
	char *const args[] = { (char[]){ "{\"a\":\"{path}\"}" }, (char[]){ "[]" },
			       (char[]){ "\"{command}\"" } };
	struct source s = { 0 };
	struct err err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		tool.args = args[i];
		tap_ok(script_open("s", text, sizeof(text) - 1, &agent, NULL, NULL, &s, &err) ==
			       -ERR_INPUT,
		       "%s", err.text);
	}
	tool.custom = true;
	tap_ok(script_open("s", text, sizeof(text) - 1, &agent, NULL, NULL, &s, &err) == 0,
	       "a custom tool takes plain text");
	source_done(&s);
	tap_ok(script_open("s", text, sizeof(text) - 1, NULL, NULL, NULL, &s, &err) == -ERR_INPUT,
	       "no agent: %s", err.text);
}

int main(void)
{
	every_api();
	translations();
	history();
	expectations();
	faults();
	time_passes();
	errors();
	agents();
	return tap_done();
}
