#include "profiles/data/actor/actor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- what the model said --- */

/* Text of a message: a string, or a list of parts. Caller frees. */
static char *content_of(struct jslice message)
{
	struct jslice v = jslice_get(message, "content"), part;
	struct jslice_walk w = jslice_walk(v);
	auto_buf b = BUF_INIT(ACTOR_REPLY_MAX);

	if (jslice_kind(v) == '"')
		return jslice_cstr(v);
	if (jslice_kind(v) != '[')
		return NULL;
	while (jslice_member(&w, NULL, &part)) {
		auto_free char *text = jslice_cstr(jslice_get(part, "text"));

		(void)buf_adds(&b, text ? text : "");
	}
	return buf_steal(&b, NULL);
}

static struct actor_call read_call(struct jslice v, size_t n)
{
	struct jslice f = jslice_get(v, "function"), args = jslice_get(f, "arguments");
	struct actor_call c = { .id = jslice_cstr(jslice_get(v, "id")),
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

int actor_message(const char *reply, size_t n, struct actor_message *ret)
{
	struct jslice all, choice = { 0 }, message, v;
	struct jslice_walk w;

	*ret = (struct actor_message){ 0 };
	if (jslice_parse("answer", reply, n, &all, NULL) < 0)
		return -1;
	w = jslice_walk(jslice_get(all, "choices"));
	if (w.object || !jslice_member(&w, NULL, &choice))
		return -1;
	message = jslice_get(choice, "message");
	if (jslice_kind(message) != '{')
		return -1;
	ret->text = content_of(message);
	ret->calls = mem_zalloc(ACTOR_CALLS_MAX, sizeof(*ret->calls));
	w = jslice_walk(jslice_get(message, "tool_calls"));
	while (!w.object && ret->n_calls < ACTOR_CALLS_MAX && jslice_member(&w, NULL, &v)) {
		ret->calls[ret->n_calls] = read_call(v, ret->n_calls + 1);
		ret->n_calls++;
	}
	return 0;
}

void actor_message_done(struct actor_message *m)
{
	for (size_t i = 0; i < m->n_calls; i++) {
		free(m->calls[i].id);
		free(m->calls[i].name);
		free(m->calls[i].args);
	}
	free(m->calls);
	free(m->text);
	*m = (struct actor_message){ 0 };
}

/* --- what is said to it --- */

static void put_string(struct buf *b, const char *before, const char *s)
{
	(void)buf_adds(b, before);
	(void)jslice_put(b, s, strlen(s));
}

void actor_add_text(struct buf *talk, const char *role, const char *text)
{
	put_string(talk, talk->len ? ",{\"role\":" : "{\"role\":", role);
	put_string(talk, ",\"content\":", text);
	(void)buf_addc(talk, '}');
}

void actor_add_message(struct buf *talk, const struct actor_message *m)
{
	(void)buf_adds(talk, talk->len ? ",{\"role\":\"assistant\"" : "{\"role\":\"assistant\"");
	if (m->text)
		put_string(talk, ",\"content\":", m->text);
	else
		(void)buf_adds(talk, ",\"content\":null");
	for (size_t i = 0; i < m->n_calls; i++) {
		const struct actor_call *c = &m->calls[i];

		put_string(talk, i ? ",{\"id\":" : ",\"tool_calls\":[{\"id\":", c->id);
		put_string(talk, ",\"type\":\"function\",\"function\":{\"name\":", c->name);
		put_string(talk, ",\"arguments\":", c->args);
		(void)buf_adds(talk, "}}");
	}
	(void)buf_adds(talk, m->n_calls ? "]}" : "}");
}

void actor_add_result(struct buf *talk, const char *id, const struct buf *result)
{
	put_string(talk, ",{\"role\":\"tool\",\"tool_call_id\":", id);
	(void)buf_adds(talk, ",\"content\":");
	(void)jslice_put(talk, buf_str(result), result->len);
	(void)buf_addc(talk, '}');
}

int actor_request(const char *model, const struct buf *talk, struct buf *body)
{
	put_string(body, "{\"model\":", model);
	(void)buf_adds(body, ",\"messages\":[");
	(void)buf_add(body, buf_str(talk), talk->len);
	(void)buf_addf(body, "],\"tools\":%s,\"stream\":false}", actor_tools);
	return body->full || talk->full ? -1 : 0;
}
