/* agent.c: the contract's example, the message channels, an agent made from argv. */
#include "profiles/agent.h"

#include "base/str.h"
#include "tests/unit/profiles/scene.h"

static void example(const char *dir)
{
	auto_free char *path = scene_put(dir, "pi.json", SCENE_AGENT);
	struct agent *a = NULL;
	struct err err = { 0 };

	scene_add(dir, "models.json.in", "{\"url\": \"{base_url}\"}\n");
	if (!tap_ok(agent_load(path, &a, &err) == 0, "the example is read %s", err.text))
		return;
	tap_is_str(a->file, path, "file");
	tap_is_str(a->name, "pi", "name");
	tap_is_u64(a->command.n, 5, "command");
	tap_is_str(a->command.v[4], "{problem_statement}", "templates stay");
	tap_ok(a->api == AGENT_API_CHAT, "api");
	tap_is_str(agent_api_name(a->api), "openai-chat", "its name");
	tap_is_str(a->env.v[0], "PI_OFFLINE=1", "env");
	tap_is_str(a->base_url_env, "OPENAI_BASE_URL", "base_url_env");
	tap_is_str(a->key_env, "OPENAI_API_KEY", "key_env");
	tap_is_str(a->files.v[0], "~/.pi/agent/models.json=models.json.in", "files");
	tap_is_str(a->file_texts.v[0], "{\"url\": \"{base_url}\"}\n", "contents of the template");
	tap_is_str(a->install, "{\"npm\":\"@mariozechner/pi-coding-agent\"}", "install");
	tap_ok(a->via == VIA_GATEWAY && !a->via_arg, "message_via");
	agent_free(a);
}

#define TOOLS                                                                                      \
	"\"tools\": { \"edit\": {\"name\": \"apply_patch\", \"custom\": true,"                     \
	" \"args\": \"*** {path}\\n{patch}\"},"                                                    \
	" \"read\": {\"name\": \"Read\", \"args\": {\"f\": \"{abspath}\", \"n\": \"{count}\"}} }"

/* What the gateway needs of an agent, and what a second file takes over from a first. */
static void tools(const char *dir)
{
	auto_free char *base = scene_put(
		dir, "up/base.json",
		"{ \"schema\": \"proctor.agent/1\", \"name\": \"base\", \"command\": [\"p\"],"
		" \"api\": \"openai-responses\", \"files\": {\"~/.rc\": \"rc.in\"}, " TOOLS ","
		" \"install\": {\"npm\": \"@a/b@1.2\", \"name\": \"b\", \"program\": \"bin/b\"},"
		" \"model\": \"gpt-5\", \"sandbox\": \"off\", \"native\": {\"protocol\": \"pi-rpc\","
		" \"command\": [\"p\", \"rpc\"]}, \"message_via\": \"file:/m\" }");
	auto_free char *path =
		scene_put(dir, "child.json",
			  "{ \"schema\": \"proctor.agent/1\", \"name\": \"child\","
			  " \"extends\": \"./up/base.json\", \"message_via\": \"native\" }");
	const struct agent_tool *t;
	struct agent *a = NULL;
	struct err err = { 0 };

	scene_add(dir, "up/rc.in", "x\n");
	if (!tap_ok(agent_load(path, &a, &err) == 0, "an agent that extends another %s", err.text))
		return;
	tap_is_str(a->name, "child", "its own name");
	tap_is_str(a->command.v[0], "p", "the other's command");
	tap_is_str(a->file_texts.v[0], "x\n", "files are read beside the file that names them");
	tap_is_u64(a->file_texts.n, a->files.n, "one text per file");
	tap_ok(a->via == VIA_NATIVE && !a->via_arg, "its own channel");
	tap_ok(a->native == NATIVE_PI_RPC && a->native_command.n == 2, "native");
	tap_is_str(agent_native_name(NATIVE_CODEX_APP_SERVER), "codex-app-server", "its name");
	tap_is_str(a->package, "@a/b@1.2", "package");
	tap_is_str(a->install_name, "b", "directory");
	tap_is_str(a->program, "bin/b", "program");
	tap_is_str(a->default_model, "gpt-5", "model");
	tap_is_str(a->sandbox, "off", "sandbox");
	tap_is_u64(a->tools.n, 2, "tools, without gaps");
	t = agent_tool(a, AGENT_TOOL_READ);
	tap_is_str(t ? t->name : NULL, "Read", "read");
	tap_is_str(t ? t->args : NULL, "{\"f\":\"{abspath}\",\"n\":\"{count}\"}", "its arguments");
	t = agent_tool(a, AGENT_TOOL_EDIT);
	tap_ok(t && t->custom && strcmp(t->args, "\"*** {path}\\n{patch}\"") == 0,
	       "a custom tool's text");
	tap_ok(!agent_tool(a, AGENT_TOOL_SHELL), "no shell");
	tap_is_str(agent_tool_name(AGENT_TOOL_WRITE), "write", "name of a tool");
	agent_free(a);
}

static void channels(void)
{
	static const struct {
		const char *text; /* fields of the file */
		enum agent_message_via via;
		const char *arg;
	} rows[] = {
		{ ", \"message_via\": \"gateway\"", VIA_GATEWAY, NULL },
		{ ", \"message_via\": \"stdin\"", VIA_STDIN, NULL },
		{ ", \"message_via\": \"pty\"", VIA_PTY, NULL },
		{ ", \"message_via\": \"file:/tmp/m.txt\"", VIA_FILE, "/tmp/m.txt" },
		{ ", \"message_via\": \"exec:say a:b\"", VIA_EXEC, "say a:b" },
		{ "", VIA_STDIN, NULL },
		{ ", \"api\": \"anthropic\"", VIA_GATEWAY, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text =
			mem_printf("{ \"schema\": \"proctor.agent/1\", \"name\": \"a\","
				   " \"command\": [\"x\"]%s }",
				   rows[i].text);
		struct agent *a = NULL;
		struct err err = { 0 };

		tap_ok(agent_parse("text", text, strlen(text), NULL, &a, &err) == 0, "read %s%s",
		       rows[i].text, err.text);
		tap_ok(a && a->via == rows[i].via, "channel");
		tap_is_str(a ? a->via_arg : "?", rows[i].arg, "its argument");
		agent_free(a);
	}
	tap_is_str(agent_via_name(VIA_FILE), "file:", "name of a channel");
}

#define UUID "01a22fa7-e5b2-73ee-ab35-b182bcb67f54"

/* clang-format off */
static const struct {
	enum agent_session_id id;
	const char *path, *want; /* NULL = refused */
} sessions[] = {
	{ SESSION_NAME, "/home/agent/s/abc.jsonl", "abc" },
	{ SESSION_NAME, "/home/agent/s/a.b.jsonl", "a.b" },
	{ SESSION_NAME, "/home/agent/s/plain", "plain" },
	{ SESSION_NAME, "/home/agent/s/.hidden", ".hidden" },
	{ SESSION_NAME, "/home/agent/s/--yolo.jsonl", NULL },
	{ SESSION_UUID, "/home/agent/s/rollout-2026-12-01T03-29-49-" UUID ".jsonl", UUID },
	{ SESSION_UUID, "/home/agent/s/" UUID, UUID },
	{ SESSION_UUID, "/home/agent/s/rollout-1.jsonl", NULL },
	{ SESSION_UUID, "/home/agent/s/x01a22fa7-e5b2-73ee-ab35-b182bcb67f5.jsonl", NULL },
	{ SESSION_PATH, "/home/agent/s/--x.jsonl", "/home/agent/s/--x.jsonl" },
};
/* clang-format on */

static void resume(void)
{
	char name[] = "a";
	auto_buf able = BUF_INIT(1024);

	for (size_t i = 0; i < ARRAY_SIZE(sessions); i++) {
		struct agent a = { .name = name, .resume_id = sessions[i].id };
		auto_free char *got = NULL;
		struct err err = { 0 };
		int rc = agent_session(&a, sessions[i].path, &got, &err);

		tap_ok(rc == (sessions[i].want ? 0 : -ERR_INPUT), "%s: %s", sessions[i].path,
		       err.text);
		tap_is_str(got, sessions[i].want, "what it is called by");
	}
	agent_resumable(&able);
	tap_ok(strstr(buf_str(&able), "claude, codex, opencode, pi") != NULL, "who can: %s",
	       buf_str(&able));
	tap_ok(!strstr(buf_str(&able), "native") && !strstr(buf_str(&able), "actor"),
	       "and nobody else");
}

int main(void)
{
	char *argv[] = { (char[]){ "/usr/bin/env" }, (char[]){ "" }, (char[]){ "{model}" }, NULL };
	char *dir = scene_new();
	struct agent *a;

	example(dir);
	tools(dir);
	channels();
	resume();
	a = agent_from_argv(argv);
	tap_is_str(a->name, "env", "named like the program");
	tap_is_u64(a->command.n, 3, "argv as it is");
	tap_is_str(a->command.v[1], "", "empty arguments stay");
	tap_ok(a->api == AGENT_API_NONE && a->via == VIA_STDIN && !a->file,
	       "no API, stdin, no file");
	tap_ok(agent_free(a) == NULL && agent_free(NULL) == NULL, "freed");
	scene_done(dir);
	return tap_done();
}
