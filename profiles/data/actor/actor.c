/* usage: actor [--model NAME] PROMPT
 * OPENAI_BASE_URL says where the model is, OPENAI_API_KEY the key. Ends with 0 when the model has nothing
 * more to do, 1 when it could not be asked, 2 for a bad command line. */
#include "profiles/data/actor/actor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

#define TURNS_MAX 100000u

static const char system_text[] =
	"You work on the files below the current directory. Use the tools to look, to change and to "
	"test. When everything is done, answer without a tool call.";

struct talk {
	const char *model, *key;
	struct actor_url url;
	struct buf messages;
	char why[ACTOR_WHY_MAX];
};

static void say(const char *text)
{
	if (!text || !*text)
		return;
	fputs(text, stdout);
	fputc('\n', stdout);
	fflush(stdout);
}

/* The answer becomes part of the talk, its tool calls are carried out. */
static void act(struct talk *t, const struct actor_message *m)
{
	say(m->text);
	actor_add_message(&t->messages, m);
	for (size_t i = 0; i < m->n_calls; i++) {
		auto_buf out = BUF_INIT(2 * ACTOR_OUTPUT_MAX);

		actor_tool(m->calls[i].name, m->calls[i].args, &out);
		actor_add_result(&t->messages, m->calls[i].id, &out);
	}
}

/* Ask once more and act. 1 go on, 0 done, -1 with a reason. */
static int turn(struct talk *t)
{
	auto_buf body = BUF_INIT(ACTOR_TALK_MAX + (1u << 20)), reply = BUF_INIT(ACTOR_REPLY_MAX);
	struct actor_message m;
	bool more;
	int status;

	if (actor_request(t->model, &t->messages, &body) < 0) {
		snprintf(t->why, sizeof(t->why), "the conversation has become too long");
		return -1;
	}
	status = actor_post(&t->url, "/chat/completions", t->key, &body, &reply, t->why);
	if (status < 0)
		return -1;
	if (status != 200 || actor_message(buf_str(&reply), reply.len, &m) < 0) {
		snprintf(t->why, sizeof(t->why),
			 "the model answered with status %d and no message: %.160s", status,
			 buf_str(&reply));
		return -1;
	}
	act(t, &m);
	more = m.n_calls > 0;
	actor_message_done(&m);
	return more;
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
			  .messages = BUF_INIT(ACTOR_TALK_MAX) };
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
	actor_add_text(&t.messages, "system", system_text);
	actor_add_text(&t.messages, "user", argv[i]);
	for (unsigned n = 0; n < TURNS_MAX && rc > 0; n++)
		rc = turn(&t);
	buf_done(&t.messages);
	if (rc > 0)
		return fail("the model does not come to an end");
	return rc < 0 ? fail(t.why) : 0;
}
