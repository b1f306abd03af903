/* Clients' own tools: by their names and the names of their arguments. */
#include "verifier/traj_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/path.h"
#include "triggers/swetouch.h"

#define NESTED_MAX 256 /* files or edits of one call */

/* A call under way. */
struct call {
	struct traj_rec *r;
	const cJSON *args;
	const char *output; /* "" when there is none */
	const char *path;   /* borrowed from args, NULL = none */
};

/* What clients call an argument; the first one that is there counts. */
static const char *const path_keys[] = {
	"path",         "file_path",    "filePath",    "filepath",   "absolute_path",
	"absolutePath", "AbsolutePath", "target_file", "TargetFile", "notebook_path",
	"filename",     "file",         NULL
};
static const char *const command_keys[] = { "command",     "cmd",   "keystrokes",  "script",
					    "commands",    "input", "CommandLine", "raw_action",
					    "bash_script", NULL };
static const char *const old_keys[] = { "old_string", "old_str", "oldString", "oldStr", "old_text",
					"oldText",    "search",  "target",    NULL };
static const char *const new_keys[] = { "new_string", "new_str",     "newString",
					"newStr",     "new_text",    "newText",
					"replace",    "replacement", NULL };
static const char *const first_keys[] = { "start_line", "startLine", "StartLine", "line_start",
					  "first_line", "start",     NULL };
static const char *const last_keys[] = { "end_line",  "endLine", "EndLine", "line_end",
					 "last_line", "end",     NULL };
static const char *const patch_keys[] = { "patch", "patchText", "input", "diff", "command", NULL };

static const cJSON *any(const cJSON *args, const char *const *keys)
{
	for (; *keys; keys++) {
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(args, *keys);

		if (item && !cJSON_IsNull(item))
			return item;
	}
	return NULL;
}

static const char *any_str(const cJSON *args, const char *const *keys)
{
	for (; *keys; keys++) {
		const char *s = traj_str(args, *keys);

		if (s)
			return s;
	}
	return NULL;
}

/* A line number, also one written as a string; 0 when there is none. */
static uint64_t line_of(const cJSON *item)
{
	uint64_t v = 0;

	if (!item)
		return 0;
	if (cJSON_IsNumber(item) && item->valuedouble >= 1 && item->valuedouble < 1e9)
		return (uint64_t)item->valuedouble;
	if (cJSON_IsString(item) && str_u64(item->valuestring, &v) == 0 && v < 1000000000)
		return v;
	return 0;
}

static uint64_t any_line(const cJSON *args, const char *const *keys)
{
	return line_of(any(args, keys));
}

/* The first of three words that run a text. */
static bool is_shell(const cJSON *word)
{
	const char *name = cJSON_IsString(word) ? path_base(word->valuestring) : NULL;

	return str_eq(name, "bash") || str_eq(name, "sh") || str_eq(name, "zsh");
}

static void shell(struct call *c)
{
	const cJSON *item = cJSON_IsString(c->args) ? c->args : any(c->args, command_keys), *word;
	auto_buf text = BUF_INIT(1u << 20);
	int n = cJSON_IsArray(item) && is_shell(item->child) ? cJSON_GetArraySize(item) : 0, i = 0;
	bool texts;

	if (cJSON_IsString(item)) {
		traj_command(c->r, item->valuestring, c->output);
		return;
	}
	/* ["bash", "-lc", TEXT], other words, or one text after the other */
	texts = item && str_eq(item->string, "commands");
	cJSON_ArrayForEach (word, item) {
		const char *s =
			cJSON_IsString(word) ? word->valuestring : any_str(word, command_keys);

		if (!s || (n == 3 && i++ < 2))
			continue;
		buf_addf(&text, "%s%s", !text.len ? "" : texts ? "\n" : " ", s);
	}
	if (text.len)
		traj_command(c->r, buf_str(&text), c->output);
}

static void read_one(struct call *c, const cJSON *args, const char *path, bool from_0)
{
	const cJSON *range = cJSON_GetObjectItemCaseSensitive(args, "view_range");
	uint64_t first = any_line(args, first_keys), last = any_line(args, last_keys);
	uint64_t offset = line_of(cJSON_GetObjectItemCaseSensitive(args, "offset"));
	uint64_t limit = line_of(cJSON_GetObjectItemCaseSensitive(args, "limit"));

	if (!path || traj_listing(c->r, path, c->output))
		return;
	if (cJSON_GetArraySize(range) == 2) {
		first = line_of(cJSON_GetArrayItem(range, 0));
		last = line_of(cJSON_GetArrayItem(range, 1)); /* -1: to the end */
	}
	if (!first && limit) {
		first = from_0 ? offset + 1 : (offset ? offset : 1);
		last = first + limit - 1;
	}
	if (!first || last < first)
		first = last = 0;
	traj_rec_add(c->r, false, path, first, last);
}

static void read_files(struct call *c, bool from_0)
{
	const cJSON *files = cJSON_GetObjectItemCaseSensitive(c->args, "files"), *f;
	int n = 0;

	read_one(c, c->args, c->path, from_0);
	if (!files)
		files = cJSON_GetObjectItemCaseSensitive(c->args, "paths");
	cJSON_ArrayForEach (f, files) {
		if (n++ >= NESTED_MAX)
			break;
		read_one(c, f, cJSON_IsString(f) ? f->valuestring : any_str(f, path_keys), from_0);
	}
}

static void reads(struct call *c)
{
	read_files(c, false);
}

static void reads_from_0(struct call *c)
{
	read_files(c, true);
}

/* Where @new stands in what the tool shows of the file afterwards; true when that tells the lines. */
static bool shown_after(struct call *c, const char *path, const char *new)
{
	auto_free char *rel = traj_rec_path(c->r, path);
	size_t before = traj_rec_traj(c->r)->n;
	uint64_t first, last;

	if (!rel || !*new || !traj_listing(c->r, path, c->output))
		return false;
	/* the snippet is the tool's courtesy, not a look that the agent asked for */
	for (size_t i = before; i < traj_rec_traj(c->r)->n; i++)
		traj_rec_traj(c->r)->v[i].scan = true;
	if (!traj_seen_find(c->r->seen, rel, new, &first, &last))
		return false;
	traj_rec_add(c->r, true, path, first, last);
	return true;
}

static void one_edit(struct call *c, const cJSON *args, const char *path)
{
	const char *old = any_str(args, old_keys), *new = any_str(args, new_keys);
	auto_free char *rel = traj_rec_path(c->r, path);
	uint64_t first, last;

	if (!rel)
		return;
	if (old && *old && traj_seen_find(c->r->seen, rel, old, &first, &last)) {
		traj_replace(c->r, path, old, new ? new : "");
		return;
	}
	if (old && *old && new &&shown_after(c, path, new)) {
		traj_seen_edit(c->r->seen, rel, 0, 0, "");
		return;
	}
	traj_rec_add(c->r, true, path, 0, 0);
	traj_seen_edit(c->r->seen, rel, 0, 0, "");
}

static void edits(struct call *c)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(c->args, "edits"), *e;
	const char *path = c->path ? c->path : c->r->open_file;
	int n = 0;

	if (!path && cJSON_IsString(c->args))
		traj_patch_text(c->r, c->args->valuestring);
	if (!cJSON_IsArray(list) || !list->child) {
		one_edit(c, c->args, path);
		return;
	}
	cJSON_ArrayForEach (e, list) {
		if (n++ >= NESTED_MAX)
			break;
		one_edit(c, e, path);
	}
}

static void writes(struct call *c)
{
	auto_free char *rel = traj_rec_path(c->r, c->path);

	if (!rel)
		return;
	traj_rec_add(c->r, true, c->path, 0, 0);
	traj_seen_edit(c->r->seen, rel, 0, 0, "");
}

static void insert(struct call *c)
{
	const cJSON *at = cJSON_GetObjectItemCaseSensitive(c->args, "insert_line");
	const char *new = any_str(c->args, new_keys);
	auto_free char *rel = traj_rec_path(c->r, c->path);
	uint64_t line = line_of(at);

	if (!rel)
		return;
	if (!at || !new) {
		writes(c);
		return;
	}
	/* behind line @line: the place is between it and the next one */
	traj_rec_add(c->r, true, c->path, line ? line : 1, line + 1);
	traj_seen_edit(c->r->seen, rel, line + 1, 0, new);
}

/* One tool for all, told apart by its first argument. */
static void editor(struct call *c)
{
	static const struct {
		const char *name;
		void (*fn)(struct call *c);
	} commands[] = {
		{ "view", reads },    { "create", writes },    { "str_replace", edits },
		{ "insert", insert }, { "undo_edit", writes },
	};
	const char *what = traj_str(c->args, "command");

	for (size_t i = 0; what && i < ARRAY_SIZE(commands); i++)
		if (str_eq(commands[i].name, what)) {
			commands[i].fn(c);
			return;
		}
	if (any_str(c->args, old_keys))
		edits(c);
	else if (any_str(c->args, new_keys) || traj_str(c->args, "file_text"))
		writes(c);
}

static void patch(struct call *c)
{
	const char *text =
		cJSON_IsString(c->args) ? c->args->valuestring : any_str(c->args, patch_keys);
	struct traj_diff d = { 0 };

	if (!text || traj_patch_text(c->r, text))
		return;
	traj_diff_read(&d, text, strlen(text));
	for (size_t i = 0; i < d.n; i++) {
		uint64_t first, last;

		traj_diff_old(&d, &d.v[i], &first, &last);
		traj_rec_add(c->r, true, d.file[d.v[i].file].path, first, last);
	}
	traj_diff_done(&d);
}

/* Searches: the lines that were shown. */
static void search(struct call *c)
{
	char *const argv[] = { (char *)"grep", NULL };
	struct swetouch out = { 0 };

	swetouch_output(&out, argv, c->output, strlen(c->output));
	for (size_t i = 0; i < out.n; i++)
		traj_rec_add(c->r, out.v[i].edit, out.v[i].path, out.v[i].first, out.v[i].last);
	swetouch_done(&out);
}

static void action(struct call *c)
{
	const char *text = traj_str(c->args, "raw_action");

	if (text)
		traj_action(c->r, text, c->output);
}

static void nothing(struct call *c)
{
	(void)c; /* thinks, plans, ends: touches no file */
}

/* Names without case, and without what stands in front of the last "." or "__". */
/* clang-format off */
static const struct tool {
	const char *name;
	void (*fn)(struct call *c);
	bool ends;
} tools[] = {
	{ "bash", shell, false }, { "bash_command", shell, false }, { "shell", shell, false },
	{ "local_shell", shell, false }, { "shell_command", shell, false },
	{ "exec_command", shell, false }, { "exec", shell, false },
	{ "execute_bash", shell, false }, { "execute_command", shell, false },
	{ "run_shell_command", shell, false }, { "run_terminal_cmd", shell, false },
	{ "run_terminal_command", shell, false }, { "run_in_terminal", shell, false },
	{ "run_commands", shell, false }, { "run_command", shell, false },
	{ "terminal", shell, false }, { "container.exec", shell, false },
	{ "read", reads, false }, { "view", reads, false }, { "view_file", reads, false },
	{ "open_file", reads, false }, { "readfile", reads, false }, { "read_files", reads, false },
	{ "read_many_files", reads, false }, { "get_file", reads, false },
	{ "read_file", reads_from_0, false },
	{ "edit", edits, false }, { "multiedit", edits, false }, { "str_replace", edits, false },
	{ "replace", edits, false }, { "edit_file", edits, false }, { "search_replace", edits, false },
	{ "replace_in_file", edits, false }, { "strreplace", edits, false },
	{ "replace_string_in_file", edits, false }, { "notebookedit", writes, false },
	{ "write", writes, false }, { "write_file", writes, false }, { "create", writes, false },
	{ "create_file", writes, false }, { "write_to_file", writes, false },
	{ "delete_file", writes, false }, { "insert", insert, false },
	{ "str_replace_editor", editor, false }, { "str_replace_based_edit_tool", editor, false },
	{ "editor", editor, false }, { "file_editor", editor, false },
	{ "text_editor", editor, false }, { "str_replace_based_editor", editor, false },
	{ "apply_patch", patch, false }, { "apply_diff", patch, false }, { "patch", patch, false },
	{ "grep", search, false }, { "search", search, false }, { "grep_search", search, false },
	{ "search_file_content", search, false }, { "ripgrep", search, false },
	{ "swe_agent_action", action, false },
	{ "submit", nothing, true }, { "finish", nothing, true }, { "task_complete", nothing, true },
	{ "mark_task_complete", nothing, true }, { "attempt_completion", nothing, true },
	{ "complete_task", nothing, true }, { "task_done", nothing, true },
	{ "exit_plan_mode", nothing, false }, { "think", nothing, false },
};
/* clang-format on */

static const struct tool *find_tool(const char *name)
{
	const char *dot = strrchr(name, '.'), *bars = strstr(name, "__");

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
			if (strcasecmp(tools[i].name, name) == 0)
				return &tools[i];
		while (bars && strstr(bars + 1, "__"))
			bars = strstr(bars + 1, "__");
		name = dot ? dot + 1 : bars ? bars + 2 : name;
	}
	return NULL;
}

bool traj_tool(struct traj_rec *r, const char *name, const cJSON *args, const char *output)
{
	const struct tool *t = name ? find_tool(name) : NULL;
	struct call c = { r, args, output ? output : "", any_str(args, path_keys) };

	if (!t)
		return false;
	t->fn(&c);
	return true;
}

bool traj_tool_ends(const char *name)
{
	const struct tool *t = name ? find_tool(name) : NULL;

	return t && t->ends;
}
