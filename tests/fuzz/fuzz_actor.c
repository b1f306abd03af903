/* Answers of a model to the shipped agent: an HTTP answer of arbitrary bytes, the message in it, and that the
 * request which follows is JSON again. The first byte says whether there is HTTP around it. */
#include <stdlib.h>
#include <string.h>

#include "profiles/data/actor/actor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const char *reply, size_t n)
{
	struct buf talk = BUF_INIT(ACTOR_TALK_MAX), body = BUF_INIT(ACTOR_TALK_MAX);
	struct buf result = BUF_INIT(64);
	struct actor_message m;
	struct jslice all;

	if (actor_message(reply, n, &m) == 0) {
		actor_add_text(&talk, "user", "go");
		actor_add_message(&talk, &m);
		(void)buf_adds(&result, "done");
		for (size_t i = 0; i < m.n_calls; i++)
			actor_add_result(&talk, m.calls[i].id, &result);
		if (m.n_calls > ACTOR_CALLS_MAX || actor_request("m", &talk, &body) < 0 ||
		    jslice_parse("request", buf_str(&body), body.len, &all, NULL) < 0)
			abort();
		actor_message_done(&m);
	}
	buf_done(&talk);
	buf_done(&body);
	buf_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT(ACTOR_REPLY_MAX), body = BUF_INIT(ACTOR_REPLY_MAX);

	if (!size || buf_add(&text, data + 1, size - 1) < 0)
		return 0;
	if (data[0] & 1) {
		if (actor_answer(buf_str(&text), text.len, &body) >= 0)
			follow(buf_str(&body), body.len);
	} else {
		follow(buf_str(&text), text.len);
	}
	buf_done(&text);
	buf_done(&body);
	return 0;
}
