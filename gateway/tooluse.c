#include "gateway/tooluse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "gateway/jedit.h"
#include "gateway/tooluse_internal.h"

/* clang-format off */
/* Argument names that many agents use. */
static const char *const path_keys[] = { "path", "file_path", "filePath", "filepath",
					 "absolute_path", "abs_path", "target_file", "targetFile",
					 "file", "filename", "relative_path", "uri", NULL };
static const char *const first_keys[] = { "start_line", "startLine", "line_start", "lineStart",
					  "start_line_one_indexed", "from_line", "first_line",
					  "start", "line", NULL };
static const char *const last_keys[] = { "end_line", "endLine", "line_end", "lineEnd",
					 "end_line_one_indexed_inclusive", "to_line", "last_line",
					 "end", NULL };
static const char *const offset_keys[] = { "offset", "line_offset", "start_offset", NULL };
static const char *const count_keys[] = { "limit", "n_lines", "num_lines", "line_count",
					  "max_lines", "lines", NULL };
static const char *const range_keys[] = { "view_range", "viewRange", "line_range", "lineRange",
					  "range", NULL };
/* Arguments that only an edit has. */
static const char *const edit_keys[] = { "old_string", "oldString", "old_str", "oldStr", "old_text",
					 "oldText", "new_string", "newString", "new_str", "newStr",
					 "new_text", "newText", "content", "contents", "file_text",
					 "new_contents", "edits", "insert_line", "insert_text",
					 "code_edit", "diff", "patch", "replacement", NULL };
static const char *const shell_keys[] = { "command", "cmd", "script", "commands", "bash_command",
					  "command_line", NULL };
static const char *const patch_keys[] = { "patch", "patchText", "patch_text", "input", "diff",
					  NULL };
/* Arguments that hold the argument object once more, or a list with one of them. */
static const char *const nest_keys[] = { "files", "reads", "file_paths", "paths", NULL };
/* Words of tool names. The first list wins: "search_files" has a path and reads no file. */
static const char *const other_words[] = { "list", "glob", "grep", "search", "find", "tree", "dir",
					   "watch", "todo", NULL };
static const char *const edit_words[] = { "edit", "write", "replace", "patch", "create", "insert",
					  "update", "append", "delete", "remove", "rename", "move",
					  NULL };
static const char *const read_words[] = { "read", "view", "open", "cat", "show", "get", NULL };
/* First argument of editors that do everything: {"command": "view", "path": ...}. */
static const char *const editor_reads[] = { "view", "read", "open", NULL };
static const char *const editor_edits[] = { "str_replace", "create", "insert", "undo_edit", "edit",
					    "write", "replace", "delete", "rename", NULL };
/* clang-format on */

/* First of @keys that @obj has. */
static uint32_t any(const struct jdoc *d, uint32_t obj, const char *const *keys)
{
	for (; *keys; keys++) {
		uint32_t at = jdoc_get(d, obj, *keys);

		if (at != JNONE && jdoc_kind(d, at) != J_NULL)
			return at;
	}
	return JNONE;
}

static bool has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

bool tooluse_number(const struct jdoc *d, uint32_t at, uint64_t *ret)
{
	auto_free char *s = jdoc_strdup(d, at);

	return (s ? str_u64(s, ret) == 0 : jdoc_u64(d, at, ret) == 0) && *ret <= TOOLUSE_LINE_MAX;
}

bool tooluse_path(const char *s, struct tooluse *u)
{
	size_t n = strlen(s);

	if (!n || n >= sizeof(u->path))
		return false;
	memcpy(u->path, s, n + 1);
	return true;
}

bool tooluse_range(struct tooluse *u, bool has_first, uint64_t first, bool has_last, uint64_t last)
{
	if (!has_first && !has_last)
		return true;
	u->first = has_first && first ? first : 1;
	u->last = has_last ? last : TOOLUSE_LINE_MAX;
	if (u->last > TOOLUSE_LINE_MAX)
		u->last = TOOLUSE_LINE_MAX;
	return u->last >= u->first;
}

/* [first, last], last -1 = to the end. */
static bool pair_range(const struct jdoc *d, uint32_t at, struct tooluse *u)
{
	uint32_t a = jdoc_first(d, at), b = a == JNONE ? JNONE : jdoc_next(d, at, a);
	uint64_t first, last = TOOLUSE_LINE_MAX;

	if (jdoc_kind(d, at) != J_ARRAY || !tooluse_number(d, a, &first))
		return false;
	if (!tooluse_number(d, b, &last)) {
		if (b != JNONE && d->text[d->v[b].start] != '-')
			return false;
		last = TOOLUSE_LINE_MAX;
	}
	return tooluse_range(u, true, first, true, last);
}

/* Lines by any of the names. Agents count offsets from 0 or from 1: both readings are covered. */
static bool any_range(const struct jdoc *d, uint32_t obj, struct tooluse *u)
{
	uint32_t first = any(d, obj, first_keys), last = any(d, obj, last_keys);
	uint32_t offset = any(d, obj, offset_keys), count = any(d, obj, count_keys);
	uint32_t range = any(d, obj, range_keys), insert = jdoc_get(d, obj, "insert_line");
	uint64_t a = 0, b = 0;

	if (range != JNONE)
		return pair_range(d, range, u);
	if (insert != JNONE)
		return tooluse_number(d, insert, &a) && tooluse_range(u, true, a, true, a ? a : 1);
	if (first != JNONE || last != JNONE) {
		if ((first != JNONE && !tooluse_number(d, first, &a)) ||
		    (last != JNONE && !tooluse_number(d, last, &b)))
			return false;
		return tooluse_range(u, first != JNONE, a, last != JNONE, b);
	}
	if ((offset != JNONE && !tooluse_number(d, offset, &a)) ||
	    (count != JNONE && !tooluse_number(d, count, &b)))
		return false;
	return tooluse_range(u, offset != JNONE, a, count != JNONE, offset == JNONE ? b : a + b);
}

/* What an object of arguments with a path means. */
static enum tooluse_kind kind_of(const char *name, const struct jdoc *d, uint32_t obj)
{
	uint32_t command = jdoc_get(d, obj, "command");
	auto_free char *verb = jdoc_strdup(d, command);

	for (size_t i = 0; verb && editor_reads[i]; i++)
		if (str_eq(verb, editor_reads[i]))
			return TOOLUSE_READ;
	for (size_t i = 0; verb && editor_edits[i]; i++)
		if (str_eq(verb, editor_edits[i]))
			return TOOLUSE_EDIT;
	if (any(d, obj, shell_keys) != JNONE)
		return TOOLUSE_SHELL;
	if (any(d, obj, edit_keys) != JNONE)
		return TOOLUSE_EDIT;
	if (has_word(name, edit_words))
		return TOOLUSE_EDIT;
	if (has_word(name, other_words))
		return TOOLUSE_NONE;
	return has_word(name, read_words) ? TOOLUSE_READ : TOOLUSE_NONE;
}

/* Path of the first file that a patch text names. */
static bool patch_path(const char *text, struct tooluse *u)
{
	static const char *const marks[] = { "*** Update File: ", "*** Add File: ",
					     "*** Delete File: ", "+++ b/" };

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
			const char *p = line + strlen(marks[i]);
			auto_free char *path = NULL;

			if (!str_starts(line, marks[i]))
				continue;
			path = mem_strndup(p, strcspn(p, "\r\n\t"));
			return tooluse_path(path, u);
		}
	}
	return false;
}

/* A patch in one of the arguments. */
static bool patch_use(const struct jdoc *d, uint32_t obj, struct tooluse *u)
{
	for (size_t i = 0; patch_keys[i]; i++) {
		auto_free char *text = jdoc_strdup(d, jdoc_get(d, obj, patch_keys[i]));

		if (text && patch_path(text, u)) {
			u->kind = TOOLUSE_EDIT;
			return true;
		}
	}
	return false;
}

/* Names that many agents use. @obj is an object of arguments, or a path. */
static void generic(const char *name, const struct jdoc *d, uint32_t obj, struct tooluse *u)
{
	uint32_t at = jdoc_kind(d, obj) == J_STRING ? obj : any(d, obj, path_keys);
	auto_free char *path = jdoc_strdup(d, at);

	if (!path) {
		if (!patch_use(d, obj, u) && any(d, obj, shell_keys) != JNONE)
			u->kind = TOOLUSE_SHELL;
		return;
	}
	u->kind = kind_of(name, d, obj);
	if (u->kind == TOOLUSE_NONE || u->kind == TOOLUSE_SHELL)
		return;
	if (!tooluse_path(path, u) || !any_range(d, obj, u))
		u->kind = TOOLUSE_NONE;
}

static void read_json(const struct agent *agent, const struct api_tool_call *call,
		      struct tooluse *u)
{
	const char *args = call->args && *call->args ? call->args : "{}";
	struct jdoc d;
	uint32_t obj = 0, nest;

	if (jdoc_parse(&d, args, strlen(args), NULL) < 0)
		return;
	tooluse_rows(agent, call->name, &d, u);
	if (u->kind == TOOLUSE_NONE && jdoc_kind(&d, 0) == J_OBJECT) {
		nest = any(&d, 0, path_keys) == JNONE ? any(&d, 0, nest_keys) : JNONE;
		if (jdoc_kind(&d, nest) == J_ARRAY && d.v[nest].n == 1)
			obj = jdoc_first(&d, nest);
		generic(call->name, &d, obj, u);
	}
	jdoc_done(&d);
}

enum tooluse_kind tooluse_of(const struct agent *agent, const struct api_tool_call *call,
			     struct tooluse *u)
{
	*u = (struct tooluse){ 0 };
	if (!call->name)
		return TOOLUSE_NONE;
	if (!call->custom) {
		read_json(agent, call, u);
	} else if (call->args) {
		tooluse_text(agent, call->name, call->args, u);
		if (u->kind == TOOLUSE_NONE && patch_path(call->args, u))
			u->kind = TOOLUSE_EDIT;
	}
	if (u->kind == TOOLUSE_NONE)
		*u = (struct tooluse){ 0 };
	return u->kind;
}
