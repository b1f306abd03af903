/* tooluse.c and tooluse_rows.c: path and lines of tool calls, by an agent's rows and by common names. */
#include "gateway/tooluse.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define END TOOLUSE_LINE_MAX

/* clang-format off */
static const struct {
	const char *name, *args;
	enum tooluse_kind kind;
	const char *path;
	uint64_t first, last;
} generic[] = {
	{ "read", "{\"path\":\"src/clamp.c\",\"offset\":100,\"limit\":13}", TOOLUSE_READ, "src/clamp.c", 100, 113 },
	{ "Read", "{\"file_path\":\"/w/a.c\"}", TOOLUSE_READ, "/w/a.c", 0, 0 },
	{ "read_file", "{\"file_path\":\"a\",\"start_line\":100,\"end_line\":112}", TOOLUSE_READ, "a", 100, 112 },
	{ "read_file", "{\"filepath\":\"a\",\"startLine\":\"5\"}", TOOLUSE_READ, "a", 5, END },
	{ "read_file", "{\"absolute_path\":\"/a\",\"limit\":20}", TOOLUSE_READ, "/a", 1, 20 },
	{ "read_file", "{\"absolute_path\":\"/a\",\"offset\":0,\"limit\":20}", TOOLUSE_READ, "/a", 1, 20 },
	{ "view", "{\"path\":\"a\",\"view_range\":[3,9]}", TOOLUSE_READ, "a", 3, 9 },
	{ "str_replace_based_edit_tool", "{\"command\":\"view\",\"path\":\"a\",\"view_range\":[3,-1]}",
	  TOOLUSE_READ, "a", 3, END },
	{ "str_replace_editor", "{\"command\":\"str_replace\",\"path\":\"a\",\"old_str\":\"x\",\"new_str\":\"y\"}",
	  TOOLUSE_EDIT, "a", 0, 0 },
	{ "editor", "{\"command\":\"insert\",\"path\":\"a\",\"insert_line\":0,\"insert_text\":\"y\"}",
	  TOOLUSE_EDIT, "a", 1, 1 },
	{ "Edit", "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}", TOOLUSE_EDIT, "a", 0, 0 },
	{ "edit", "{\"path\":\"a\",\"edits\":[{\"oldText\":\"x\",\"newText\":\"y\"}]}", TOOLUSE_EDIT, "a", 0, 0 },
	{ "write", "{\"filePath\":\"a\",\"content\":\"x\"}", TOOLUSE_EDIT, "a", 0, 0 },
	{ "delete_file", "{\"target_file\":\"a\"}", TOOLUSE_EDIT, "a", 0, 0 },
	{ "read_files", "{\"files\":[{\"path\":\"a\",\"start_line\":1,\"end_line\":2}]}", TOOLUSE_READ, "a", 1, 2 },
	{ "read_files", "{\"paths\":[\"a\"]}", TOOLUSE_READ, "a", 0, 0 },
	{ "read_files", "{\"paths\":[\"a\",\"b\"]}", TOOLUSE_NONE, "", 0, 0 },
	{ "bash", "{\"command\":\"sed -n 1,5p a\"}", TOOLUSE_SHELL, "", 0, 0 },
	{ "shell", "{\"command\":[\"bash\",\"-lc\",\"ls\"],\"path\":\"x\"}", TOOLUSE_SHELL, "", 0, 0 },
	{ "exec_command", "{\"cmd\":\"ls\"}", TOOLUSE_SHELL, "", 0, 0 },
	{ "apply_patch", "{\"input\":\"*** Begin Patch\\n*** Update File: src/a.c\\n@@\\n*** End Patch\"}",
	  TOOLUSE_EDIT, "src/a.c", 0, 0 },
	{ "patch", "{\"diff\":\"--- a/x\\n+++ b/src/a.c\\n@@\"}", TOOLUSE_EDIT, "src/a.c", 0, 0 },
	{ "grep_search", "{\"path\":\"src\",\"pattern\":\"x\"}", TOOLUSE_NONE, "", 0, 0 },
	{ "list_directory", "{\"path\":\"src\"}", TOOLUSE_NONE, "", 0, 0 },
	{ "think", "{\"thought\":\"path\"}", TOOLUSE_NONE, "", 0, 0 },
	/* hostile values */
	{ "read", "{\"path\":\"a\",\"offset\":-1}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":\"a\",\"offset\":99999999999999999999}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":\"a\",\"start_line\":9,\"end_line\":5}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":\"a\",\"limit\":0}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":\"a\",\"offset\":{}}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":\"\"}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":5}", TOOLUSE_NONE, "", 0, 0 },
	{ "view", "{\"path\":\"a\",\"view_range\":[]}", TOOLUSE_NONE, "", 0, 0 },
	{ "view", "{\"path\":\"a\",\"view_range\":[1,\"x\"]}", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "{\"path\":", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "[]", TOOLUSE_NONE, "", 0, 0 },
	{ "read", "\"a\"", TOOLUSE_NONE, "", 0, 0 },
};

/* The rows of one agent that reads through a shell, and one that counts from 0. */
static struct agent_tool codex[] = {
	{ .kind = AGENT_TOOL_SHELL, .name = (char[]){ "exec_command" }, .args = (char[]){ "{\"cmd\":\"{command}\"}" } },
	{ .kind = AGENT_TOOL_READ, .name = (char[]){ "exec_command" },
	  .args = (char[]){ "{\"cmd\":\"sed -n '{first},{last}p' {path}\"}" } },
	{ .kind = AGENT_TOOL_EDIT, .name = (char[]){ "apply_patch" }, .custom = true,
	  .args = (char[]){ "\"*** Begin Patch\\n*** Update File: {path}\\n@@\\n{patch}\\n*** End Patch\\n\"" } },
};
static struct agent_tool zero[] = {
	{ .kind = AGENT_TOOL_READ, .name = (char[]){ "fetch" },
	  .args = (char[]){ "{\"target\":{\"name\":\"{abspath}\"},\"offset\":\"{offset0}\",\"limit\":\"{count}\"}" } },
	{ .kind = AGENT_TOOL_SHELL, .name = (char[]){ "run" }, .args = (char[]){ "{\"argv\":[\"sh\",\"-c\",\"{command}\"]}" } },
	{ .kind = AGENT_TOOL_WRITE, .name = (char[]){ "put" }, .args = (char[]){ "{\"where\":\"{path}\",\"what\":\"{content}\",\"why\":\"Because of this.\"}" } },
};

static const struct {
	bool codex;
	const char *name, *args;
	bool custom;
	enum tooluse_kind kind;
	const char *path;
	uint64_t first, last;
} by_rows[] = {
	{ true, "exec_command", "{\"cmd\":\"sed -n '100,112p' src/clamp.c\"}", false, TOOLUSE_READ, "src/clamp.c", 100, 112 },
	{ true, "exec_command", "{\"cmd\":\"make test\"}", false, TOOLUSE_SHELL, "", 0, 0 },
	{ true, "exec_command", "{\"cmd\":\"sed -n 'x,yp' a\"}", false, TOOLUSE_SHELL, "", 0, 0 },
	{ true, "apply_patch", "*** Begin Patch\n*** Update File: src/a.c\n@@\n-x\n+y\n*** End Patch\n", true,
	  TOOLUSE_EDIT, "src/a.c", 0, 0 },
	{ true, "apply_patch", "*** Begin Patch\n*** Add File: b.c\n+y\n*** End Patch", true, TOOLUSE_EDIT, "b.c", 0, 0 },
	{ true, "apply_patch", "nothing", true, TOOLUSE_NONE, "", 0, 0 },
	{ false, "fetch", "{\"target\":{\"name\":\"/w/a\"},\"offset\":99,\"limit\":13}", false, TOOLUSE_READ, "/w/a", 100, 112 },
	{ false, "fetch", "{\"target\":{\"name\":\"/w/a\"}}", false, TOOLUSE_READ, "/w/a", 0, 0 },
	{ false, "fetch", "{\"target\":{\"name\":\"/w/a\"},\"offset\":\"9\"}", false, TOOLUSE_READ, "/w/a", 10, END },
	{ false, "fetch", "{\"target\":{\"name\":\"/w/a\"},\"limit\":0}", false, TOOLUSE_NONE, "", 0, 0 },
	{ false, "fetch", "{\"target\":5}", false, TOOLUSE_NONE, "", 0, 0 },
	{ false, "run", "{\"argv\":[\"sh\",\"-c\",\"ls\"]}", false, TOOLUSE_SHELL, "", 0, 0 },
	{ false, "put", "{\"where\":\"a\\nb\",\"what\":\"x\"}", false, TOOLUSE_NONE, "", 0, 0 },
	{ false, "put", "{\"where\":\"a\",\"what\":\"x\\ny\",\"why\":\"So.\"}", false, TOOLUSE_EDIT, "a", 0, 0 },
	{ false, "read", "{\"path\":\"a\"}", false, TOOLUSE_READ, "a", 0, 0 },
};
/* clang-format on */

static void check(const struct agent *agent, struct api_tool_call *call, enum tooluse_kind kind,
		  const char *path, uint64_t first, uint64_t last)
{
	struct tooluse u;
	enum tooluse_kind got = tooluse_of(agent, call, &u);

	tap_ok(got == kind && u.kind == kind && !strcmp(u.path, path) && u.first == first &&
		       u.last == last,
	       "%s %.60s: %d %s %llu-%llu", call->name, strchr(call->args, '\n') ? "" : call->args,
	       (int)got, u.path, (unsigned long long)u.first, (unsigned long long)u.last);
}

int main(void)
{
	struct agent a = { 0 };
	struct api_tool_call call = { 0 };
	_Static_assert(ARRAY_SIZE(codex) == ARRAY_SIZE(zero), "one number of rows for both");
	auto_buf b = BUF_INIT(5000);
	struct tooluse u;

	for (size_t i = 0; i < ARRAY_SIZE(generic); i++) {
		call.name = (char *)generic[i].name;
		call.args = (char *)generic[i].args;
		check(NULL, &call, generic[i].kind, generic[i].path, generic[i].first,
		      generic[i].last);
	}
	for (size_t i = 0; i < ARRAY_SIZE(by_rows); i++) {
		a.tools.v = by_rows[i].codex ? codex : zero;
		a.tools.n = ARRAY_SIZE(codex);
		call.name = (char *)by_rows[i].name;
		call.args = (char *)by_rows[i].args;
		call.custom = by_rows[i].custom;
		check(&a, &call, by_rows[i].kind, by_rows[i].path, by_rows[i].first,
		      by_rows[i].last);
	}
	call = (struct api_tool_call){ 0 };
	tap_ok(tooluse_of(NULL, &call, &u) == TOOLUSE_NONE, "a call without name");
	buf_adds(&b, "{\"path\":\"");
	for (int i = 0; i < 1024; i++)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"}");
	call.name = (char *)"read";
	call.args = b.data;
	tap_ok(tooluse_of(NULL, &call, &u) == TOOLUSE_NONE && !u.path[0],
	       "a path that is too long");
	return tap_done();
}
