/* mini-swe-agent: messages with one or more shell commands each, in fenced blocks (version 1 and text
 * models), in tool calls, in items of the Responses API, or parsed in extra.actions (version 2). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/traj_internal.h"

#define ACTIONS_MAX 64u

/* A command that waits for its output. */
struct pending {
	const char *command; /* borrowed from the record, or from own */
	const char *id;      /* borrowed; NULL: told by order */
	char *own;           /* owned */
};

struct walk {
	struct traj_rec *r;
	struct pending wait[ACTIONS_MAX];
	size_t n;
	struct json_src args[ACTIONS_MAX]; /* arguments that were JSON in a string */
	size_t n_args;
	const char *name; /* of the file, for error texts */
};

bool traj_is_mini(const char *path, const char *text, size_t n)
{
	static const char *const marks[] = { "```mswea_bash_command", "```bash", "\"tool_calls\"",
					     "\"actions\"", "\"function_call\"" };

	(void)path;
	if (memmem(text, n, "\"mini-swe-agent-", 16))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(marks) && memmem(text, n, "\"assistant\"", 11); i++)
		if (memmem(text, n, marks[i], strlen(marks[i])))
			return true;
	return false;
}

static void flush(struct walk *w, const char *output)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->wait[i].command)
			traj_command(w->r, w->wait[i].command, output);
		free(w->wait[i].own);
	}
	w->n = 0;
	for (size_t i = 0; i < w->n_args; i++)
		json_src_done(&w->args[i]);
	w->n_args = 0;
}

static void wait_for(struct walk *w, const char *command, const char *id, char *own)
{
	if (!command || w->n >= ACTIONS_MAX) {
		free(own);
		return;
	}
	w->wait[w->n++] = (struct pending){ command, id, own };
}

/* "arguments" of a call: an object, or its text. */
static const char *command_of(struct walk *w, const cJSON *args)
{
	struct err err;

	if (cJSON_IsObject(args))
		return traj_str(args, "command");
	if (!cJSON_IsString(args) || w->n_args >= ACTIONS_MAX ||
	    traj_parse(w->name, args->valuestring, strlen(args->valuestring), &w->args[w->n_args],
		       &err) < 0)
		return NULL;
	return traj_str(w->args[w->n_args++].root, "command");
}

/* A call in tool_calls, or an item "function_call" of the Responses API. */
static void from_call(struct walk *w, const cJSON *call)
{
	const cJSON *fn = cJSON_GetObjectItemCaseSensitive(call, "function");
	const cJSON *in = fn ? fn : call;
	const char *id = traj_str(call, "call_id");

	if (!fn && !str_eq(traj_str(call, "type"), "function_call"))
		return;
	wait_for(w, command_of(w, cJSON_GetObjectItemCaseSensitive(in, "arguments")),
		 id ? id : traj_str(call, "id"), NULL);
}

static void from_calls(struct walk *w, const cJSON *list)
{
	const cJSON *call;

	cJSON_ArrayForEach (call, list)
		from_call(w, call);
}

static void from_actions(struct walk *w, const cJSON *list)
{
	const cJSON *a;

	cJSON_ArrayForEach (a, list)
		wait_for(w, traj_str(a, "command"), traj_str(a, "tool_call_id"), NULL);
}

/* The first block ```bash or ```mswea_bash_command. */
static void from_fence(struct walk *w, const char *text)
{
	static const char *const fences[] = { "```mswea_bash_command\n", "```bash\n", "```sh\n" };

	for (size_t i = 0; text && i < ARRAY_SIZE(fences); i++) {
		const char *at = strstr(text, fences[i]), *end;
		char *own;

		if (!at)
			continue;
		at += strlen(fences[i]);
		end = strstr(at, "\n```");
		own = mem_strndup(at, end ? (size_t)(end - at) : strlen(at));
		wait_for(w, own, NULL, own);
		return;
	}
}

static void assistant(struct walk *w, const cJSON *m)
{
	const cJSON *actions = traj_member(m, "extra.actions");
	const cJSON *calls = cJSON_GetObjectItemCaseSensitive(m, "tool_calls");
	const cJSON *items = cJSON_GetObjectItemCaseSensitive(m, "output");

	flush(w, NULL);
	w->r->step++;
	if (cJSON_IsArray(actions) && actions->child) {
		from_actions(w, actions);
	} else if (cJSON_IsArray(calls) && calls->child) {
		from_calls(w, calls);
	} else if (cJSON_IsArray(items) && items->child) {
		from_calls(w, items);
	} else {
		auto_free char *text = traj_text(cJSON_GetObjectItemCaseSensitive(m, "content"));

		from_fence(w, text);
	}
}

/* An answer to the command with its id, or to the first one that waits. */
static void output(struct walk *w, const cJSON *m)
{
	const cJSON *raw = traj_member(m, "extra.raw_output");
	const cJSON *content = cJSON_GetObjectItemCaseSensitive(m, "content");
	const char *id = traj_str(m, "tool_call_id");
	auto_free char *text = NULL;

	if (!id)
		id = traj_str(m, "call_id");
	if (!content)
		content = cJSON_GetObjectItemCaseSensitive(m, "output");
	text = traj_text(cJSON_IsString(raw) ? raw : content);
	for (size_t i = 0; i < w->n; i++) {
		struct pending *p = &w->wait[i];

		if (!p->command || (id && p->id && !str_eq(id, p->id)))
			continue;
		traj_command(w->r, p->command, text);
		p->command = NULL;
		return;
	}
}

static void message(struct walk *w, const cJSON *m)
{
	const char *role = traj_str(m, "role"), *type = traj_str(m, "type");

	if (str_eq(role, "assistant") || str_eq(traj_str(m, "object"), "response")) {
		assistant(w, m);
	} else if (str_eq(type, "function_call")) {
		from_call(w, m);
	} else if (str_eq(role, "user") || str_eq(role, "tool") ||
		   str_eq(type, "function_call_output")) {
		output(w, m);
	}
}

/* What was submitted: info.submission, the last message's, or the last message itself. */
static void finish(struct walk *w, const cJSON *root, const cJSON *messages)
{
	struct traj *t = traj_rec_traj(w->r);
	const cJSON *last = cJSON_GetArrayItem(messages, cJSON_GetArraySize(messages) - 1);
	const cJSON *extra = cJSON_GetObjectItemCaseSensitive(last, "extra");
	const cJSON *info = cJSON_GetObjectItemCaseSensitive(root, "info");
	const char *status = traj_str(info, "exit_status"), *patch = traj_str(info, "submission");
	auto_free char *text = traj_text(cJSON_GetObjectItemCaseSensitive(last, "content"));

	if (!status)
		status = traj_str(extra, "exit_status");
	if (!patch || !*patch)
		patch = traj_str(extra, "submission");
	if ((!patch || !*patch) && strstr(text, "diff --git "))
		patch = text;
	t->end = mem_strdup(status);
	/* a list of messages alone ends with what was submitted */
	t->finished = status ? str_eq(status, "Submitted") || str_eq(status, "submitted")
			     : patch && *patch;
	traj_rec_final(w->r, patch);
}

int traj_read_mini(const char *path, const char *text, size_t n, const char *workdir,
		   struct trajs *out, struct err *err)
{
	struct json_src src = { 0 };
	struct traj_rec r;
	struct walk w = { .r = &r, .name = path };
	const cJSON *messages, *m, *cwd;
	auto_free char *stem = traj_rec_stem(path);
	const char *id;

	if (traj_parse(path, text, n, &src, err) < 0)
		return -ERR_INPUT;
	messages = cJSON_IsArray(src.root) ? src.root : traj_member(src.root, "messages");
	if (!cJSON_IsArray(messages)) {
		json_complain(&src, "$.messages", err, "expected an array of messages");
		json_src_done(&src);
		return -ERR_INPUT;
	}
	cwd = traj_member(src.root, "info.config.environment.cwd");
	if (!workdir && cJSON_IsString(cwd) && cwd->valuestring[0] == '/' && cwd->valuestring[1])
		workdir = cwd->valuestring;
	traj_rec_begin(&r, out, path, "mini-swe-agent", workdir);
	id = traj_str(src.root, "instance_id");
	cwd = traj_member(src.root, "info.config.model.model_name");
	traj_rec_name(&r, id ? id : stem, cJSON_IsString(cwd) ? cwd->valuestring : NULL);
	cJSON_ArrayForEach (m, messages)
		message(&w, m);
	flush(&w, NULL);
	finish(&w, src.root, messages);
	traj_rec_end(&r);
	json_src_done(&src);
	return 0;
}
