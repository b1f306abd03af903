/* Requests and answers of model APIs in the tests of gateway/. Every edit is checked for what must
 * hold of all of them: the result is JSON again and can be read as a request. */
#ifndef TESTS_UNIT_GATEWAY_API_SCENE_H
#define TESTS_UNIT_GATEWAY_API_SCENE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/api.h"
#include "gateway/canon.h"
#include "tests/lib/tap.h"

/* A request as understood; the test ends when it is none. */
static inline void scene_read(struct api_request *q, enum agent_api id, const char *path,
			      const char *body)
{
	const struct api *api = NULL;
	enum api_route route = api_route("POST", path, &api);
	struct err err = { 0 };

	if (api != api_of(id) ||
	    api_request_read(q, api, route, path, body, strlen(body), &err) < 0) {
		tap_ok(false, "%s is a request %s", path, err.text);
		exit(tap_done());
	}
}

/* The body with @edits applied; frees them. Caller frees. */
static inline char *scene_apply(const struct api_request *q, struct jedit *edits)
{
	struct buf out = BUF_INIT(1u << 20);
	struct api_request again;
	struct err err = { 0 };
	int rc = jedit_apply(edits, &q->doc, &out);

	jedit_done(edits);
	if (!tap_ok(rc == 0 && api_request_read(&again, q->api, q->route, "/x/models/m:y",
						buf_str(&out), out.len, &err) == 0,
		    "the edited request is one again %s", err.text))
		printf("# %s\n", buf_str(&out));
	else
		api_request_done(&again);
	return buf_steal(&out, NULL);
}

/* The body with message @text behind item @after. Caller frees. */
static inline char *scene_place(const struct api_request *q, size_t after, const char *text)
{
	struct jedit edits = { 0 };

	q->api->place(q, after, text, &edits);
	return scene_apply(q, &edits);
}

/* The body without provider-side tools and remote URLs; *ret_n is how many there were. */
static inline char *scene_strip(const struct api_request *q, size_t *ret_n, struct api_strip *what,
				size_t max)
{
	struct jedit edits = { 0 };

	tap_is_u64(q->api->strip(q, NULL, NULL, 0), q->api->strip(q, &edits, what, max),
		   "looking counts the same");
	*ret_n = q->api->strip(q, NULL, NULL, 0);
	return scene_apply(q, &edits);
}

/* The body with at most @max output tokens. */
static inline char *scene_cap(const struct api_request *q, uint64_t max)
{
	struct jedit edits = { 0 };

	q->api->cap_output(q, max, &edits);
	return scene_apply(q, &edits);
}

/* The items as "kind:id:name:text|...", for one comparison. Caller frees. */
static inline char *scene_items(const struct api_request *q)
{
	static const char kinds[] = "SUACRO";
	struct buf out = BUF_INIT(1u << 20);

	for (size_t i = 0; i < q->n_items; i++) {
		const struct item *it = &q->items[i];

		buf_addf(&out, "%s%u%c:%s:%s:%s", i ? "|" : "", it->entry, kinds[it->kind],
			 it->id ? it->id : "", it->name ? it->name : "", it->text ? it->text : "");
	}
	return buf_steal(&out, NULL);
}

/* Usage as "input/cached/write/output/reasoning". Caller frees. */
static inline char *scene_usage(const struct api_answer *a)
{
	const struct api_usage *u = &a->usage;

	if (!u->known)
		return mem_strdup("unknown");
	return mem_printf("%llu/%llu/%llu/%llu/%llu", (unsigned long long)u->input,
			  (unsigned long long)u->cached, (unsigned long long)u->cache_write,
			  (unsigned long long)u->output, (unsigned long long)u->reasoning);
}

/* What an answer says: "finish text [name(args)id]...", "error: ..." or "cut: why". Caller frees. */
static inline char *scene_said(const struct api_answer *a)
{
	static const char *const finish[] = { "stop", "tools", "length", "filter", "other" };
	struct buf out = BUF_INIT(1u << 20);

	if (!a->complete)
		buf_addf(&out, "cut: %s", a->why ? a->why : "?");
	else if (a->error)
		buf_addf(&out, "error: %s", a->text ? a->text : "?");
	else
		buf_addf(&out, "%s %s", finish[a->finish], a->text ? a->text : "-");
	for (size_t i = 0; a->complete && i < a->n_calls; i++)
		buf_addf(&out, " %s(%s)%s%s", a->calls[i].name, a->calls[i].args,
			 a->calls[i].id ? a->calls[i].id : "", a->calls[i].custom ? "!" : "");
	return buf_steal(&out, NULL);
}

/* One answer: what it must say and use. */
struct scene_answer {
	const char *name, *body;
	bool sse;
	const char *said, *usage;
};

static inline void scene_answers(enum agent_api id, const struct scene_answer *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct api_answer a;
		auto_free char *said = NULL, *usage = NULL;

		api_answer_read(&a, api_of(id), rows[i].body, strlen(rows[i].body), rows[i].sse);
		said = scene_said(&a);
		usage = scene_usage(&a);
		tap_is_str(said, rows[i].said, rows[i].name);
		tap_is_str(usage, rows[i].usage, "  its usage");
		api_answer_done(&a);
	}
}

/* Write an answer with text and two calls for request @q, read it back, and compare. @custom: the
 * second call is a custom one. */
static inline char *scene_write(const struct api_request *q, bool custom, const char *said)
{
	struct api_tool_call calls[2] = {
		{ .name = (char[]){ "read" },
		  .args = (char[]){ "{\"path\":\"a \\\"b\\\"\",\"first\":100}" } },
		{ .name = (char[]){ "patch" },
		  .args = (char[]){ "{\"x\":\"\xc3\xa9\\n\"}" },
		  .id = (char[]){ "mine" },
		  .custom = custom },
	};
	struct api_answer a = { .complete = true,
				.finish = FINISH_STOP,
				.text = (char[]){ "I look.\n\"so\"" },
				.usage = { true, 1000, 400, 0, 50, 20 },
				.calls = calls,
				.n_calls = 2 },
			  back;
	struct buf out = BUF_INIT(1u << 20), same = BUF_INIT(1u << 20);
	auto_free char *got = NULL, *usage = NULL;

	q->api->write(&a, q, 7, &out);
	q->api->write(&a, q, 7, &same);
	tap_is_str(buf_str(&out), buf_str(&same), "the same bytes each time");
	api_answer_read(&back, q->api, buf_str(&out), out.len, q->stream);
	got = scene_said(&back);
	usage = scene_usage(&back);
	tap_is_str(got, said, q->stream ? "a stream is read back" : "a body is read back");
	/* one API does not tell reasoning apart */
	tap_is_str(usage,
		   q->api->id == AGENT_API_ANTHROPIC ? "1000/400/0/50/0" : "1000/400/0/50/20",
		   "  its usage");
	tap_is_str(back.model, q->model, "  its model");
	api_answer_done(&back);
	buf_done(&same);
	return buf_steal(&out, NULL);
}

/* A conversation that is the same but for volatile parts, and one with another prompt. */
static inline void scene_canon(enum agent_api id, const char *path, const char *one,
			       const char *two, const char *other, const char *difference)
{
	struct api_request q[3];
	struct buf b[3] = { BUF_INIT(1u << 20), BUF_INIT(1u << 20), BUF_INIT(1u << 20) };
	struct buf diff = BUF_INIT(1u << 20);
	const char *bodies[] = { one, two, other };

	for (int i = 0; i < 3; i++) {
		scene_read(&q[i], id, path, bodies[i]);
		tap_ok(canon_request(&q[i], &b[i]) == 0, "canonical form");
	}
	tap_is_str(buf_str(&b[1]), buf_str(&b[0]), "two runs are equal");
	tap_is_str(q[1].system, q[0].system, "their system text too");
	tap_ok(canon_diff(buf_str(&b[0]), b[0].len, buf_str(&b[1]), b[1].len, &diff) == 0,
	       "no difference");
	tap_ok(canon_diff(buf_str(&b[0]), b[0].len, buf_str(&b[2]), b[2].len, &diff) == 1,
	       "another prompt differs");
	tap_is_str(buf_str(&diff), difference, "and the place is named");
	for (int i = 0; i < 3; i++) {
		api_request_done(&q[i]);
		buf_done(&b[i]);
	}
	buf_done(&diff);
}

#endif
