/* What makes a call dearer than it is metered is taken out of requests, and said. */
#include "tests/unit/gateway/api_scene.h"

static const struct {
	const char *name;
	enum agent_api id;
	const char *path, *body, *want, *what;
} rows[] = {
	{ "chat: one answer", AGENT_API_CHAT, "/v1/chat/completions",
	  "{\"model\":\"m\",\"n\":1,\"best_of\":null,\"service_tier\":\"auto\",\"messages\":[]}",
	  NULL, NULL },
	{ "chat: many answers", AGENT_API_CHAT, "/v1/chat/completions",
	  "{\"model\":\"m\",\"n\":128,\"messages\":[]}", "{\"model\":\"m\",\"messages\":[]}",
	  "several answers by n" },
	{ "chat: many answers, as text", AGENT_API_CHAT, "/v1/chat/completions",
	  "{\"model\":\"m\",\"messages\":[],\"n\":\"128\"}", "{\"model\":\"m\",\"messages\":[]}",
	  "several answers by n" },
	{ "chat: best of many", AGENT_API_CHAT, "/v1/chat/completions",
	  "{\"best_of\":5,\"model\":\"m\",\"messages\":[]}", "{\"model\":\"m\",\"messages\":[]}",
	  "several answers by best_of" },
	{ "chat: a dearer tier", AGENT_API_CHAT, "/v1/chat/completions",
	  "{\"model\":\"m\",\"service_tier\":\"priority\",\"messages\":[]}",
	  "{\"model\":\"m\",\"messages\":[]}", "service_tier priority" },
	{ "responses: in the background", AGENT_API_RESPONSES, "/v1/responses",
	  "{\"model\":\"m\",\"background\":true,\"input\":\"x\"}",
	  "{\"model\":\"m\",\"input\":\"x\"}", "tool background" },
	{ "responses: not in the background", AGENT_API_RESPONSES, "/v1/responses",
	  "{\"model\":\"m\",\"background\":false,\"service_tier\":\"flex\",\"input\":\"x\"}", NULL,
	  NULL },
	{ "responses: a dearer tier", AGENT_API_RESPONSES, "/v1/responses",
	  "{\"model\":\"m\",\"service_tier\":\"priority\",\"input\":\"x\"}",
	  "{\"model\":\"m\",\"input\":\"x\"}", "service_tier priority" },
	{ "anthropic: faster and dearer", AGENT_API_ANTHROPIC, "/v1/messages",
	  "{\"model\":\"m\",\"speed\":\"fast\",\"messages\":[]}",
	  "{\"model\":\"m\",\"messages\":[]}", "speed fast" },
	{ "anthropic: as usual", AGENT_API_ANTHROPIC, "/v1/messages",
	  "{\"model\":\"m\",\"speed\":\"standard\",\"messages\":[]}", NULL, NULL },
	{ "gemini: many candidates", AGENT_API_GEMINI, "/v1beta/models/m:generateContent",
	  "{\"contents\":[],\"generationConfig\":{\"candidateCount\":8,\"topK\":1}}",
	  "{\"contents\":[],\"generationConfig\":{\"topK\":1}}",
	  "several answers by candidateCount" },
	{ "gemini: many candidates, other spelling", AGENT_API_GEMINI,
	  "/v1beta/models/m:generateContent",
	  "{\"contents\":[],\"generation_config\":{\"candidate_count\":8}}",
	  "{\"contents\":[],\"generation_config\":{}}", "several answers by candidateCount" },
	{ "gemini: one candidate", AGENT_API_GEMINI, "/v1beta/models/m:generateContent",
	  "{\"contents\":[],\"generationConfig\":{\"candidateCount\":1}}", NULL, NULL },
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_strip what[4] = { 0 };
		struct api_request q;
		auto_free char *got = NULL;
		size_t n;

		scene_read(&q, rows[i].id, rows[i].path, rows[i].body);
		got = scene_strip(&q, &n, what, ARRAY_SIZE(what));
		tap_is_u64(n, rows[i].want ? 1 : 0, rows[i].name);
		tap_is_str(got, rows[i].want ? rows[i].want : rows[i].body, "  what is left");
		tap_is_str(what[0].what, rows[i].what ? rows[i].what : "", "  what is said");
		api_request_done(&q);
	}
	return tap_done();
}
