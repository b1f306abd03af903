#include "gateway/script_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "gateway/jedit.h"

enum { TEXT_MAX = 64 << 20 };

/* A line number where the turn says none but the agent's template has it inside a text: behind the
 * end of every file. */
#define LAST_LINE UINT32_MAX

/* One entry of "tools" as written. */
struct turn_tool {
	char *path, *old_text, *new_text, *content, *name, *args, *input;
	const char *command; /* borrowed */
	uint64_t first, last;
	const char *workdir; /* borrowed */
};

#define OFF(field) offsetof(struct turn_tool, field)

/* clang-format off */
static const struct json_field read_rows[] = {
	{ "path", JSON_STR, OFF(path), true },
	{ "first", JSON_U64, OFF(first) },
	{ "last", JSON_U64, OFF(last) },
	{ NULL },
};

static const struct json_field edit_rows[] = {
	{ "path", JSON_STR, OFF(path), true },
	{ "old", JSON_STR, OFF(old_text), true },
	{ "new", JSON_STR, OFF(new_text), true },
	{ NULL },
};

static const struct json_field write_rows[] = {
	{ "path", JSON_STR, OFF(path), true },
	{ "content", JSON_STR, OFF(content), true },
	{ NULL },
};

static const struct json_field call_rows[] = {
	{ "name", JSON_STR, OFF(name), true },
	{ "args", JSON_RAW, OFF(args) },
	{ "input", JSON_STR, OFF(input) },
	{ NULL },
};

#define KIND_CALL AGENT_TOOL_MAX /* the agent's tool is named outright */

static const struct {
	const char *name;
	int kind;
	const struct json_field *rows; /* NULL: the value is the command */
} kinds[] = {
	{ "read", AGENT_TOOL_READ, read_rows },
	{ "edit", AGENT_TOOL_EDIT, edit_rows },
	{ "shell", AGENT_TOOL_SHELL, NULL },
	{ "write", AGENT_TOOL_WRITE, write_rows },
	{ "call", KIND_CALL, call_rows },
};
/* clang-format on */

static void turn_tool_done(struct turn_tool *t)
{
	json_release(read_rows, t);
	json_release(edit_rows, t);
	json_release(write_rows, t);
	json_release(call_rows, t);
}

/* --- placeholders --- */

static void put_path(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, t->path);
}

static void put_abspath(const struct turn_tool *t, struct buf *out)
{
	auto_free char *path = path_join(t->workdir, t->path);

	buf_adds(out, path);
}

static void put_old(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, t->old_text);
}

static void put_new(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, t->new_text);
}

static void put_command(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, t->command);
}

static void put_content(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, t->content);
}

static void put_lines(const char *s, char mark, struct buf *out)
{
	while (s && *s) {
		size_t n = strcspn(s, "\n");

		buf_addc(out, mark);
		buf_add(out, s, n);
		buf_addc(out, '\n');
		s += n + (s[n] == '\n');
	}
}

/* The form of codex's apply_patch: whole lines, found by their text. */
static void put_patch(const struct turn_tool *t, struct buf *out)
{
	buf_adds(out, "*** Begin Patch\n");
	if (t->content) {
		buf_addf(out, "*** Add File: %s\n", t->path);
		put_lines(t->content, '+', out);
	} else {
		buf_addf(out, "*** Update File: %s\n@@\n", t->path);
		put_lines(t->old_text, '-', out);
		put_lines(t->new_text, '+', out);
	}
	buf_adds(out, "*** End Patch\n");
}

static uint64_t get_first(const struct turn_tool *t)
{
	return t->first ? t->first : 1;
}

static uint64_t get_last(const struct turn_tool *t)
{
	return t->last ? t->last : LAST_LINE;
}

static uint64_t get_count(const struct turn_tool *t)
{
	return get_last(t) - get_first(t) + 1;
}

static uint64_t get_offset0(const struct turn_tool *t)
{
	return get_first(t) - 1;
}

enum {
	IN_READ = 1 << AGENT_TOOL_READ,
	IN_EDIT = 1 << AGENT_TOOL_EDIT,
	IN_SHELL = 1 << AGENT_TOOL_SHELL,
	IN_WRITE = 1 << AGENT_TOOL_WRITE,
};

struct place {
	const char *name;
	unsigned kinds; /* of tools that give it */
	void (*put)(const struct turn_tool *t, struct buf *out);
	uint64_t (*get)(const struct turn_tool *t); /* a line number instead */
};

/* clang-format off */
static const struct place places[] = {
	{ "{path}", IN_READ | IN_EDIT | IN_WRITE, put_path },
	{ "{abspath}", IN_READ | IN_EDIT | IN_WRITE, put_abspath },
	{ "{first}", IN_READ, NULL, get_first },
	{ "{last}", IN_READ, NULL, get_last },
	{ "{count}", IN_READ, NULL, get_count },
	{ "{offset0}", IN_READ, NULL, get_offset0 },
	{ "{old}", IN_EDIT, put_old },
	{ "{new}", IN_EDIT, put_new },
	{ "{command}", IN_SHELL, put_command },
	{ "{content}", IN_WRITE, put_content },
	{ "{patch}", IN_EDIT | IN_WRITE, put_patch },
};
/* clang-format on */

/* What a template is filled in for. */
struct fill {
	const struct turn_tool *tool;
	int kind;
	const char *missing; /* first placeholder that tools of @kind do not give */
};

/* The placeholder that @s begins with, NULL when it is ordinary text. */
static const struct place *place_at(struct fill *f, const char *s)
{
	for (size_t i = 0; *s == '{' && i < ARRAY_SIZE(places); i++) {
		if (!str_starts(s, places[i].name))
			continue;
		if (places[i].kinds & (1u << f->kind))
			return &places[i];
		f->missing = f->missing ? f->missing : places[i].name;
		return NULL;
	}
	return NULL;
}

static void fill_text(struct fill *f, const char *s, struct buf *out)
{
	while (*s) {
		const struct place *p = place_at(f, s);

		if (!p) {
			buf_addc(out, *s++);
			continue;
		}
		if (p->put)
			p->put(f->tool, out);
		else
			buf_addu(out, p->get(f->tool));
		s += strlen(p->name);
	}
}

/* A string of the template as JSON. false: it is a line number that the turn does not say. */
static bool fill_string(struct fill *f, const char *s, struct buf *out)
{
	auto_buf text = BUF_INIT(TEXT_MAX);
	const struct place *p = place_at(f, s);

	if (p && p->get && !s[strlen(p->name)]) {
		buf_addu(out, p->get(f->tool));
		return f->tool->first != 0;
	}
	fill_text(f, s, &text);
	jedit_quote(out, buf_str(&text), text.len);
	return true;
}

/* A value of the template as JSON. false: it, or something in an array, is not said and is left
 * out. Templates nest at most JSON_DEPTH_MAX levels: the agent file was read so. */
static bool fill_value(struct fill *f, const cJSON *v, unsigned depth, struct buf *out)
{
	bool object = cJSON_IsObject(v), said = true, any = false;
	auto_free char *plain = NULL;
	const cJSON *e;

	if (cJSON_IsString(v))
		return fill_string(f, v->valuestring, out);
	if (!object && !cJSON_IsArray(v)) {
		plain = cJSON_PrintUnformatted(v);
		buf_adds(out, plain ? plain : "null");
		return true;
	}
	buf_addc(out, object ? '{' : '[');
	cJSON_ArrayForEach (e, v) {
		size_t before = out->len;

		if (any)
			buf_addc(out, ',');
		if (object) {
			jedit_quote(out, e->string, strlen(e->string));
			buf_addc(out, ':');
		}
		if (depth < JSON_DEPTH_MAX && fill_value(f, e, depth + 1, out)) {
			any = true;
			continue;
		}
		out->len = before;
		said = said && object;
	}
	buf_addc(out, object ? '}' : ']');
	return said;
}

/* --- calls --- */

static const struct agent_tool *tool_of(const struct agent *agent, int kind)
{
	const struct agent_tool *t = agent ? agent->tools.v : NULL;

	for (size_t i = 0; t && i < agent->tools.n; i++) {
		if (t[i].kind == kind)
			return &t[i];
	}
	return NULL;
}

static int translate(const struct json_src *src, const char *where, const struct agent *agent,
		     const char *kind_name, struct fill *f, struct api_tool_call *ret,
		     struct err *err)
{
	const struct agent_tool *t = tool_of(agent, f->kind);
	auto_buf out = BUF_INIT(2 * TEXT_MAX);
	cJSON *args;

	if (!t)
		return json_complain(src, where, err,
				     "agent \"%s\" has no tool of kind %s; add one to its file, or "
				     "write {\"call\": {\"name\": ..., \"args\": ...}}",
				     agent ? agent->name : "", kind_name);
	args = cJSON_Parse(t->args);
	if (t->custom && cJSON_IsString(args))
		fill_text(f, args->valuestring, &out);
	else if (!t->custom && cJSON_IsObject(args))
		(void)fill_value(f, args, 0, &out); /* an object is always said */
	else
		f->missing = "arguments of a form that can be filled in";
	cJSON_Delete(args);
	if (f->missing)
		return json_complain(src, where, err,
				     "tool \"%s\" of agent \"%s\" wants %s, which \"%s\" does not "
				     "give",
				     t->name, agent->name, f->missing, kind_name);
	if (out.full)
		return json_complain(src, where, err, "too long");
	ret->name = mem_strdup(t->name);
	ret->args = buf_steal(&out, NULL);
	ret->custom = t->custom;
	return 0;
}

static int named_call(const struct json_src *src, const char *where, struct turn_tool *t,
		      struct api_tool_call *ret, struct err *err)
{
	if (!t->name || !t->name[0])
		return json_complain(src, where, err, "\"name\" must name a tool");
	if (t->args && t->input)
		return json_complain(src, where, err,
				     "\"args\" is for tools with JSON arguments, \"input\" for "
				     "those with plain text; give one");
	if (t->args && t->args[0] != '{')
		return json_complain(src, where, err, "\"args\" must be an object");
	ret->name = take_ptr(&t->name);
	ret->custom = t->input != NULL;
	ret->args = t->input ? take_ptr(&t->input) : take_ptr(&t->args);
	if (!ret->args)
		ret->args = mem_strdup("{}");
	return 0;
}

static int check_range(const struct json_src *src, const char *where, const cJSON *item,
		       const struct turn_tool *t, struct err *err)
{
	bool first = cJSON_GetObjectItemCaseSensitive(item, "first");
	bool last = cJSON_GetObjectItemCaseSensitive(item, "last");

	if (!first && !last)
		return 0;
	if (!first || !last || !t->first || t->last < t->first)
		return json_complain(src, where, err,
				     "\"first\" and \"last\" go together: lines from 1, the last "
				     "one included");
	return 0;
}

static int read_tool(const struct json_src *src, const char *where, size_t k, const cJSON *item,
		     struct turn_tool *t, struct err *err)
{
	int rc = 0;

	if (!kinds[k].rows) {
		if (!cJSON_IsString(item))
			return json_complain(src, where, err, "expected a command as a string");
		t->command = item->valuestring;
		return 0;
	}
	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object");
	rc = json_read(src, where, item, kinds[k].rows, t, err);
	for (const struct json_field *r = kinds[k].rows; rc == 0 && r->name; r++) {
		if (r->required && !*(char **)((char *)t + r->off))
			rc = json_complain(src, where, err, "\"%s\" must be a string", r->name);
	}
	if (rc == 0)
		rc = check_range(src, where, item, t, err);
	return rc;
}

static int one_call(const struct json_src *src, const char *where, const cJSON *e,
		    const struct agent *agent, const char *workdir, struct api_tool_call *ret,
		    struct err *err)
{
	const char *names[ARRAY_SIZE(kinds) + 1] = { NULL }, *near;
	struct turn_tool t = { .workdir = workdir ? workdir : "" };
	struct fill f = { .tool = &t };
	auto_free char *at = NULL;
	size_t k = 0;
	int rc;

	if (!cJSON_IsObject(e) || cJSON_GetArraySize(e) != 1)
		return json_complain(
			src, where, err,
			"expected an object with one of read, edit, shell, write, call");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		names[i] = kinds[i].name;
	while (k < ARRAY_SIZE(kinds) && strcmp(kinds[k].name, e->child->string) != 0)
		k++;
	if (k == ARRAY_SIZE(kinds)) {
		near = str_nearest(e->child->string, names);
		return json_complain(src, where, err,
				     "unknown tool \"%s\"%s%s%s; choose one of read, edit, shell, "
				     "write, call",
				     e->child->string, near ? ", did you mean \"" : "",
				     near ? near : "", near ? "\"?" : "");
	}
	at = mem_printf("%s.%s", where, kinds[k].name);
	f.kind = kinds[k].kind;
	rc = read_tool(src, at, k, e->child, &t, err);
	if (rc == 0)
		rc = f.kind == KIND_CALL ? named_call(src, at, &t, ret, err)
					 : translate(src, at, agent, kinds[k].name, &f, ret, err);
	turn_tool_done(&t);
	return rc;
}

int script_tools_read(const struct json_src *src, const char *where, const struct agent *agent,
		      const char *workdir, size_t number, struct script_turn *turn, struct err *err)
{
	const cJSON *e;
	int rc;

	if (!turn->tools)
		return 0;
	if (!cJSON_IsArray(turn->tools) || cJSON_GetArraySize(turn->tools) > API_TOOL_CALLS_MAX)
		return json_complain(src, where, err, "expected an array of at most %d objects",
				     API_TOOL_CALLS_MAX);
	turn->calls = mem_zalloc((size_t)cJSON_GetArraySize(turn->tools) + 1, sizeof(*turn->calls));
	cJSON_ArrayForEach (e, turn->tools) {
		auto_free char *at = mem_printf("%s[%zu]", where, turn->n_calls);
		struct api_tool_call *c = &turn->calls[turn->n_calls];

		rc = one_call(src, at, e, agent, workdir, c, err);
		if (rc < 0)
			return rc;
		/* the same in every run, and no two alike in one conversation */
		c->id = mem_printf("call_%zu_%zu", number, ++turn->n_calls);
	}
	return 0;
}
