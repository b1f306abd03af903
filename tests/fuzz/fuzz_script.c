/* A script of arbitrary bytes: read, asked as every purpose and at several turns, freed while answers
 * still wait. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct agent_tool tools[] = {
	{ AGENT_TOOL_READ, (char[]){ "read" },
	  (char[]){ "{\"path\":\"{path}\",\"a\":[\"{first}\",\"{last}\"],\"n\":\"{count}\"}" } },
	{ AGENT_TOOL_EDIT, (char[]){ "patch" }, (char[]){ "\"{patch}\"" }, true },
	{ AGENT_TOOL_SHELL, (char[]){ "sh" }, (char[]){ "{\"c\":[\"sh\",\"-c\",\"{command}\"]}" } },
};
static const struct agent agent = { .name = (char[]){ "fuzz" },
				    .tools = { tools, sizeof(tools) / sizeof(tools[0]) } };

static const char *const bodies[] = {
	"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}",
	"{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
	"{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]}",
};

static void on_done(void *arg, struct reply *r)
{
	++*(unsigned *)arg;
	if (r->body.full || (r->status == 0 && !r->why[0]))
		abort();
}

static void ask(struct source *s, const char *body, enum purpose purpose)
{
	const struct api *api = api_of(AGENT_API_CHAT);
	struct api_request q;
	unsigned done = 0;
	struct ask a = { .q = &q,
			 .path = "/v1/chat/completions",
			 .body = body,
			 .n = strlen(body),
			 .model = "m",
			 .purpose = purpose,
			 .call = 1,
			 .deadline = UINT64_MAX,
			 .done = on_done,
			 .arg = &done };
	struct err err;

	if (api_request_read(&q, api, API_ROUTE_CHAT, a.path, body, a.n, &err) < 0)
		abort();
	s->ops->ask(s->impl, &a);
	if (done > 1)
		abort();
	api_request_done(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_base *base = event_base_new();
	struct source s = { 0 };
	struct err err = { 0 };
	auto_buf unmet = BUF_INIT(1 << 20);
	int rc = script_open("input", (const char *)data, size, &agent, "/w", base, &s, &err);

	if (rc < 0 && (s.ops || err.code != ERR_INPUT || !err.text[0]))
		abort();
	for (int i = 0; rc == 0 && i < 3; i++) {
		ask(&s, bodies[i % 2], PURPOSE_MAIN);
		ask(&s, bodies[i % 2], PURPOSE_SIDE);
	}
	if (rc == 0)
		(void)s.ops->unmet(s.impl, &unmet); /* any number */
	source_done(&s);
	event_base_free(base);
	return 0;
}
