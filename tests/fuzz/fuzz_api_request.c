/* A request of the API that the first byte names: read, stripped, capped, messages placed, canonical.
 * Whatever the box sends: every edit gives JSON that is a request again, nothing denied is left in
 * it, and a message stands once behind no call that waits for its result. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gateway/anchor.h"
#include "gateway/api.h"
#include "gateway/canon.h"
#include "gateway/purpose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	enum agent_api id;
	const char *path;
} apis[] = {
	{ AGENT_API_CHAT, "/v1/chat/completions" },
	{ AGENT_API_RESPONSES, "/v1/responses" },
	{ AGENT_API_ANTHROPIC, "/v1/messages" },
	{ AGENT_API_GEMINI, "/v1beta/models/m:streamGenerateContent?alt=sse" },
};

/* Apply and read again. */
static void again(const struct api_request *q, struct jedit *e, const char *path,
		  struct api_request *r, struct buf *out)
{
	if (jedit_apply(e, &q->doc, out) < 0)
		abort();
	jedit_done(e);
	if (api_request_read(r, q->api, q->route, path, buf_str(out), out->len, NULL) < 0)
		abort();
}

static void edit(const struct api_request *q, const char *path)
{
	auto_buf out = BUF_INIT(API_BODY_MAX), more = BUF_INIT(API_BODY_MAX);
	struct jedit e = { 0 };
	struct api_request r, s;
	struct api_strip what[4];
	size_t n;

	n = q->api->strip(q, NULL, NULL, 0);
	if (q->api->strip(q, &e, what, 4) != n)
		abort();
	q->api->cap_output(q, 16, &e);
	again(q, &e, path, &r, &out);
	if (r.api->strip(&r, NULL, NULL, 0) != 0)
		abort();
	for (size_t i = 0; i < 3; i++)
		r.api->place(&r, r.n_items / 2 * i, "Stop \"it\"", &e);
	r.api->strip(&r, &e, what, 4);
	again(&r, &e, path, &s, &more);
	if (s.n_items < r.n_items)
		abort();
	api_request_done(&r);
	api_request_done(&s);
}

static void anchors(const struct api_request *q)
{
	static struct placed done[ANCHORS_MAX];
	struct anchors *a = mem_zalloc(1, sizeof(*a));
	size_t n, put[2];

	(void)anchors_add(a, "One", 3, NULL); /* far below the maxima */
	(void)anchors_add(a, "Two", 3, NULL); /* as above */
	for (int i = 0; i < 2; i++) {
		auto_buf out = BUF_INIT(API_BODY_MAX);
		struct jedit e = { 0 };
		struct jdoc d;

		put[i] = anchors_place(a, q, 1, &e, done, &n);
		if (jedit_apply(&e, &q->doc, &out) < 0 ||
		    jdoc_parse(&d, buf_str(&out), out.len, NULL) < 0)
			abort();
		jdoc_done(&d);
		jedit_done(&e);
	}
	/* the same request again has the same places */
	if (put[0] != (q->n_items ? 2 : 0) || put[1] != (q->stateful ? 0 : put[0]))
		abort();
	anchors_done(a);
	free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf canon = BUF_INIT(API_BODY_MAX), diff = BUF_INIT(4096);
	struct purposes p = { 0 };
	struct api_request q;
	struct err err = { 0 };
	struct jdoc d;
	unsigned k;

	if (!size)
		return 0;
	k = data[0] % ARRAY_SIZE(apis);
	if (api_request_read(&q, api_of(apis[k].id), API_ROUTE_CHAT, apis[k].path,
			     (const char *)data + 1, size - 1, &err) < 0) {
		if (err.code != ERR_INPUT || !err.text[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < q.n_items; i++)
		if (q.items[i].span.end > q.n || q.items[i].span.start >= q.items[i].span.end)
			abort();
	(void)purpose_of(&p, &q); /* no crash is all that is asked */
	edit(&q, apis[k].path);
	anchors(&q);
	if (canon_request(&q, &canon) < 0 || jdoc_parse(&d, buf_str(&canon), canon.len, NULL) < 0)
		abort();
	jdoc_done(&d);
	(void)canon_diff(buf_str(&canon), canon.len, q.body, q.n, &diff); /* as above */
	api_request_done(&q);
	return 0;
}
