/* usage: actor [--model NAME] PROMPT
 * OPENAI_BASE_URL says where the model is, OPENAI_API_KEY the key. Ends with 0 when the model has nothing
 * more to do, 1 when it could not be asked, 2 for a bad command line. */
#include "profiles/data/actor/actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define TALK_MAX  (256u << 20) /* bytes of the conversation */
#define TURNS_MAX 100000u
#define CALLS_MAX 256u /* tool calls of one answer */

static const char system_text[] =
	"You work on the files below the current directory. Use the tools to look, to change and to "
	"test. When everything is done, answer without a tool call.";

struct talk {
	const char *model, *key;
	struct actor_url url;
	struct buf messages; /* JSON, without the brackets around */
	char why[ACTOR_WHY_MAX];
};

static void add_string(struct buf *b, const char *key, const char *s, size_t n)
{
	(void)buf_addf(b, ",\"%s\":", key);
	(void)jslice_put(b, s, n);
}

static void add_message(struct talk *t, const char *role, const char *text)
{
	(void)buf_addf(&t->messages, "%s{\"role\":\"%s\"", t->messages.len ? "," : "", role);
	add_string(&t->messages, "content", text, strlen(text));
	(void)buf_addc(&t->messages, '}');
}

/* Text of a message: a string, or a list of parts. Caller frees. */
static char *content_of(struct jslice message)
{
	struct jslice v = jslice_get(message, "content"), part;
	struct jslice_walk w = jslice_walk(v);
	auto_buf b = BUF_INIT(ACTOR_REPLY_MAX);

	if (jslice_kind(v) == '"')
		return jslice_cstr(v);
	while (jslice_kind(v) == '[' && jslice_member(&w, NULL, &part)) {
		auto_free char *text = jslice_cstr(jslice_get(part, "text"));

		(void)buf_adds(&b, text ? text : "");
	}
	return buf_steal(&b, NULL);
}

static void say(const char *text)
{
	if (!text || !*text)
		return;
	fputs(text, stdout);
	fputc('\n', stdout);
	fflush(stdout);
}

struct call {
	char *id, *name, *args; /* owned */
};

/* One entry of tool_calls. What is missing gets a form that a request may have. */
static struct call read_call(struct jslice v, size_t n)
{
	struct jslice f = jslice_get(v, "function"), args = jslice_get(f, "arguments");
	struct call c = { .id = jslice_cstr(jslice_get(v, "id")),
			  .name = jslice_cstr(jslice_get(f, "name")) };

	if (!c.id || !*c.id) {
		free(c.id);
		c.id = mem_printf("call_%zu", n);
	}
	if (!c.name)
		c.name = mem_strdup("unknown");
	/* some servers send an object where the API has a string */
	c.args = jslice_kind(args) == '{' ? mem_strndup(args.s, args.n) : jslice_cstr(args);
	if (!c.args)
		c.args = mem_strdup("{}");
	return c;
}

static void call_done(struct call *c)
{
	free(c->id);
	free(c->name);
	free(c->args);
}

static void put_call(struct talk *t, const struct call *c, bool first)
{
	struct buf *b = &t->messages;

	(void)buf_adds(b, first ? "{\"id\":" : ",{\"id\":");
	(void)jslice_put(b, c->id, strlen(c->id));
	(void)buf_adds(b, ",\"type\":\"function\",\"function\":{\"name\":");
	(void)jslice_put(b, c->name, strlen(c->name));
	add_string(b, "arguments", c->args, strlen(c->args));
	(void)buf_adds(b, "}}");
}

static void carry_out(struct talk *t, const struct call *c)
{
	auto_buf out = BUF_INIT(2 * ACTOR_OUTPUT_MAX);

	actor_tool(c->name, c->args, &out);
	(void)buf_adds(&t->messages, ",{\"role\":\"tool\",\"tool_call_id\":");
	(void)jslice_put(&t->messages, c->id, strlen(c->id));
	add_string(&t->messages, "content", buf_str(&out), out.len);
	(void)buf_addc(&t->messages, '}');
}

/* The answer's message becomes part of the talk, its tool calls are carried out. How many there were. */
static size_t act(struct talk *t, struct jslice message)
{
	struct jslice_walk w = jslice_walk(jslice_get(message, "tool_calls"));
	auto_free char *text = content_of(message);
	struct call *calls = mem_zalloc(CALLS_MAX, sizeof(*calls));
	struct jslice v;
	size_t n = 0;

	say(text);
	while (!w.object && n < CALLS_MAX && jslice_member(&w, NULL, &v)) {
		calls[n] = read_call(v, n + 1);
		n++;
	}
	(void)buf_adds(&t->messages, ",{\"role\":\"assistant\",\"content\":");
	if (text)
		(void)jslice_put(&t->messages, text, strlen(text));
	else
		(void)buf_adds(&t->messages, "null");
	if (n)
		(void)buf_adds(&t->messages, ",\"tool_calls\":[");
	for (size_t i = 0; i < n; i++)
		put_call(t, &calls[i], i == 0);
	(void)buf_adds(&t->messages, n ? "]}" : "}");
	for (size_t i = 0; i < n; i++) {
		carry_out(t, &calls[i]);
		call_done(&calls[i]);
	}
	free(calls);
	return n;
}

/* Ask once more and act. 1 go on, 0 done, -1 with a reason. */
static int turn(struct talk *t)
{
	auto_buf body = BUF_INIT(TALK_MAX + (1u << 20)), reply = BUF_INIT(ACTOR_REPLY_MAX);
	struct jslice all = { 0 }, first = { 0 };
	struct jslice_walk w;
	int status;

	(void)buf_adds(&body, "{\"model\":");
	(void)jslice_put(&body, t->model, strlen(t->model));
	(void)buf_adds(&body, ",\"messages\":[");
	(void)buf_add(&body, buf_str(&t->messages), t->messages.len);
	(void)buf_addf(&body, "],\"tools\":%s,\"stream\":false}", actor_tools);
	if (body.full || t->messages.full) {
		snprintf(t->why, sizeof(t->why), "the conversation has become too long");
		return -1;
	}
	status = actor_post(&t->url, "/chat/completions", t->key, &body, &reply, t->why);
	if (status < 0)
		return -1;
	if (status != 200) {
		snprintf(t->why, sizeof(t->why), "the model answered with status %d: %.160s", status,
			 buf_str(&reply));
		return -1;
	}
	if (jslice_parse("answer", buf_str(&reply), reply.len, &all, NULL) == 0) {
		w = jslice_walk(jslice_get(all, "choices"));
		if (!w.object && jslice_member(&w, NULL, &first))
			first = jslice_get(first, "message");
	}
	if (jslice_kind(first) != '{') {
		snprintf(t->why, sizeof(t->why), "the answer holds no message: %.160s",
			 buf_str(&reply));
		return -1;
	}
	return act(t, first) > 0;
}

static int fail(const char *why)
{
	fprintf(stderr, "actor: %s\n", why);
	return 1;
}

int main(int argc, char **argv)
{
	struct talk t = { .model = "model",
			  .key = getenv("OPENAI_API_KEY"),
			  .messages = BUF_INIT(TALK_MAX) };
	const char *base = getenv("OPENAI_BASE_URL");
	int i = 1, rc = 1;

	if (argc > 3 && str_eq(argv[1], "--model")) {
		t.model = argv[2];
		i = 3;
	}
	if (argc != i + 1 || !base) {
		fputs("usage: OPENAI_BASE_URL=http://... actor [--model NAME] PROMPT\n", stderr);
		return 2;
	}
	if (actor_url(base, &t.url, t.why) < 0)
		return fail(t.why);
	add_message(&t, "system", system_text);
	add_message(&t, "user", argv[i]);
	for (unsigned n = 0; n < TURNS_MAX && rc > 0; n++)
		rc = turn(&t);
	buf_done(&t.messages);
	if (rc > 0)
		return fail("the model does not come to an end");
	return rc < 0 ? fail(t.why) : 0;
}
