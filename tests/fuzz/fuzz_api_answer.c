/* An answer of the API that the first byte names, as events or as a body: read within its maxima,
 * its tool calls looked at, and written anew so that it reads the same. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/api.h"
#include "gateway/tooluse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum agent_api ids[] = { AGENT_API_CHAT, AGENT_API_RESPONSES, AGENT_API_ANTHROPIC,
				      AGENT_API_GEMINI };

static void check(const struct api_answer *a)
{
	const struct api_usage *u = &a->usage;

	if (a->n_calls > API_TOOL_CALLS_MAX || a->complete == (a->why != NULL) ||
	    u->cached > u->input || u->cache_write > u->input - u->cached)
		abort();
	for (size_t i = 0; i < a->n_calls; i++) {
		struct tooluse t;

		if (!a->calls[i].name || !a->calls[i].args)
			abort();
		tooluse_of(NULL, &a->calls[i], &t);
		if (t.first > t.last || (t.kind == TOOLUSE_NONE && t.path[0]))
			abort();
	}
}

/* What we write must be whole and say the same. */
static void rewrite(const struct api_answer *a, const struct api *api, bool stream)
{
	struct api_request q = { .api = api, .stream = stream, .wants_usage = true };
	auto_buf out = BUF_INIT(API_BODY_MAX);
	struct api_answer b;

	api->write(a, &q, 3, &out);
	api_answer_read(&b, api, buf_str(&out), out.len, stream);
	if (!b.complete || b.error || b.n_calls != a->n_calls ||
	    !str_eq(b.text ? b.text : "", a->text ? a->text : ""))
		abort();
	for (size_t i = 0; i < a->n_calls; i++)
		if (!str_eq(a->calls[i].name, b.calls[i].name))
			abort();
	api_answer_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct api *api;
	struct api_answer a;

	if (!size)
		return 0;
	api = api_of(ids[data[0] % 4]);
	api_answer_read(&a, api, (const char *)data + 1, size - 1, data[0] & 4);
	check(&a);
	if (a.complete && !a.error)
		rewrite(&a, api, data[0] & 8);
	api_answer_done(&a);
	return 0;
}
