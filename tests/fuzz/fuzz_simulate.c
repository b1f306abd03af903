/* Everything of the simulated user that stems from others: the agent's last call in a request of the API
 * that the first byte names, the context made of it, the endpoint's answer, and what of that may be said.
 * The parts of the input are separated by NUL bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/lastcall.h"
#include "supervisor/simcontext.h"
#include "supervisor/simfilter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS = 6 };

static const struct {
	enum agent_api id;
	const char *path;
} apis[] = {
	{ AGENT_API_CHAT, "/v1/chat/completions" },
	{ AGENT_API_RESPONSES, "/v1/responses" },
	{ AGENT_API_ANTHROPIC, "/v1/messages" },
	{ AGENT_API_GEMINI, "/v1beta/models/m:generateContent" },
};

static void check_context(const char *command, const char *output, char *const part[PARTS])
{
	const char *const events[] = { part[1], part[2], part[3], part[4], part[5] };
	struct simcontext c = { .repo = part[1],
				.instance_id = part[2],
				.statement = part[3],
				.index = strlen(part[1]),
				.reason = part[4],
				.path = part[5],
				.first = strlen(part[2]),
				.last = strlen(part[3]),
				.command = command,
				.output = output,
				.events = events,
				.n_events = strlen(part[4]) % 6,
				.claim = part[3],
				.diff = part[4] };
	auto_buf b = BUF_INIT(SIMCONTEXT_MAX), again = BUF_INIT(SIMCONTEXT_MAX);
	size_t bad;

	simcontext_write(&c, &b);
	simcontext_write(&c, &again);
	if (b.full || !str_utf8(buf_str(&b), b.len, &bad) || strlen(buf_str(&b)) != b.len ||
	    strcmp(buf_str(&b), buf_str(&again)) != 0)
		abort();
}

static void check_request(const char *body, unsigned which, char *const part[PARTS])
{
	auto_buf command = BUF_INIT(LASTCALL_MAX), output = BUF_INIT(LASTCALL_MAX);
	struct api_request q;

	if (api_request_read(&q, api_of(apis[which].id), API_ROUTE_CHAT, apis[which].path, body,
			     strlen(body), NULL) == 0 &&
	    !lastcall_of(&q, &command, &output) && (command.len || output.len))
		abort();
	check_context(buf_str(&command), buf_str(&output), part);
	api_request_done(&q);
}

static void check_text(const char *raw, char *const part[PARTS])
{
	struct task task = { .instance_id = part[2], .problem_statement = part[3] };
	auto_free char *text = simfilter_trim(raw);
	const char *why, *bare = simfilter_refused(text, NULL);

	strv_add(&task.fail_to_pass, part[4]);
	strv_add(&task.pass_to_pass, part[5]);
	strv_add(&task.test.hidden, part[5]);
	why = simfilter_refused(text, &task);
	if (strlen(text) > strlen(raw) || (!text[0] && !why) ||
	    (!why && (strlen(text) > SIMFILTER_MAX || strstr(text, "```"))) ||
	    /* a task can only excuse its own words, and has more to hide */
	    (why && !bare && !strstr(why, "the name of ")))
		abort();
	strv_done(&task.fail_to_pass);
	strv_done(&task.pass_to_pass);
	strv_done(&task.test.hidden);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *part[PARTS];
	struct api_answer a;
	const char *at = (const char *)data + 1;
	size_t left = size - 1;

	if (!size)
		return 0;
	for (int i = 0; i < PARTS; i++) {
		size_t n = strnlen(at, left);

		part[i] = mem_strndup(at, n);
		n += n < left;
		at += n;
		left -= n;
	}
	check_request(part[0], data[0] % 4, part);
	check_text(part[0], part);
	api_answer_read(&a, api_of(AGENT_API_CHAT), part[0], strlen(part[0]), data[0] & 4);
	check_text(a.text ? a.text : "", part);
	api_answer_done(&a);
	for (int i = 0; i < PARTS; i++)
		free(part[i]);
	return 0;
}
