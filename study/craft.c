#include "study/craft.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define WORD_MAX 24u

static void put_regions(const struct craft_about *a, struct buf *out)
{
	for (size_t i = 0; i < a->n_regions; i++)
		buf_addf(out, "%s- %s, lines %" PRIu64 " to %" PRIu64, i ? "\n" : "",
			 a->region[i].path, a->region[i].start, a->region[i].end);
}

static void put_tests(const struct craft_about *a, struct buf *out)
{
	const struct strv *t = &a->task->fail_to_pass;

	strv_each (i, t)
		buf_addf(out, "%s- %s", i ? "\n" : "", t->v[i]);
}

static void put_reasons(const struct craft_about *a, struct buf *out)
{
	strv_each (i, a->reasons)
		buf_addf(out, "%s- Answer %zu: %s", i ? "\n" : "", i + 1, a->reasons->v[i]);
}

static void put_issue(const struct craft_about *a, struct buf *out)
{
	buf_adds(out, a->task->problem_statement ? a->task->problem_statement : "");
}

static void put_reference(const struct craft_about *a, struct buf *out)
{
	buf_adds(out, a->task->patch ? a->task->patch : "");
}

static void put_command(const struct craft_about *a, struct buf *out)
{
	buf_adds(out, a->task->test.command ? a->task->test.command : "");
}

static void put_files(const struct craft_about *a, struct buf *out)
{
	buf_adds(out, a->files);
}

static void put_instance(const struct craft_about *a, struct buf *out)
{
	buf_adds(out, a->task->instance_id);
}

static void put_answer_file(const struct craft_about *a, struct buf *out)
{
	(void)a; /* the same for every task */
	buf_adds(out, CRAFT_ANSWER_FILE);
}

static void put_lines_max(const struct craft_about *a, struct buf *out)
{
	(void)a; /* see put_answer_file() */
	buf_addu(out, CANDIDATE_LINES_MAX);
}

static void put_files_max(const struct craft_about *a, struct buf *out)
{
	(void)a; /* see put_answer_file() */
	buf_addu(out, CANDIDATE_FILES_MAX);
}

static const struct {
	const char *name;
	void (*put)(const struct craft_about *a, struct buf *out);
} words[] = {
	/* clang-format off */
	{ "issue", put_issue }, { "reference", put_reference }, { "tests", put_tests }, { "command", put_command },
	{ "regions", put_regions }, { "files", put_files }, { "reasons", put_reasons }, { "instance_id", put_instance },
	{ "answer_file", put_answer_file }, { "lines_max", put_lines_max }, { "files_max", put_files_max },
	/* clang-format on */
};

/* Does condition @s of a line hold? -1: it is not known. */
static int holds(const struct craft_about *a, const char *s, size_t n)
{
	const struct {
		const char *name;
		bool on;
	} rows[] = {
		{ "counter-edit", !a->co },
		{ "co-edit", a->co },
		{ "agent", a->agent },
		{ "model", !a->agent },
		{ "again", a->agent && a->reasons->n > 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, s, n) == 0)
			return rows[i].on;
	return -1;
}

/* A word in braces: small letters only, so that JSON and code in the prompt are left alone. */
static size_t word_at(const char *p, const char *end)
{
	size_t n = 1;

	while (p + n < end && n <= WORD_MAX && ((p[n] >= 'a' && p[n] <= 'z') || p[n] == '_'))
		n++;
	return p + n < end && n > 1 && p[n] == '}' ? n + 1 : 0;
}

static int put_line(const char *name, const char *p, const char *end, const struct craft_about *a,
		    struct buf *out, struct err *err)
{
	while (p < end) {
		size_t n = *p == '{' ? word_at(p, end) : 0, i = 0;

		if (!n) {
			buf_addc(out, *p++);
			continue;
		}
		while (i < ARRAY_SIZE(words) && !(strlen(words[i].name) == n - 2 &&
						  memcmp(words[i].name, p + 1, n - 2) == 0))
			i++;
		if (i == ARRAY_SIZE(words))
			return err_set(err, ERR_INPUT, "%s: \"%.*s\" stands for nothing", name,
				       (int)n, p);
		words[i].put(a, out);
		p += n;
	}
	buf_addc(out, '\n');
	return 0;
}

int craft_prompt(const char *name, const char *text, const struct craft_about *about,
		 struct buf *out, struct err *err)
{
	int rc = 0;

	for (const char *p = text; *p && rc == 0;) {
		const char *end = p + strcspn(p, "\n"), *close;
		bool keep = *p != '#' || p[1] != ' ';
		int on;

		if (*p == '[' && (close = memchr(p, ']', (size_t)(end - p)))) {
			on = holds(about, p + 1, (size_t)(close - p) - 1);
			if (on < 0)
				return err_set(err, ERR_INPUT, "%s: \"%.*s\" is no condition", name,
					       (int)(close - p) + 1, p);
			keep = on;
			p = close + 1 + (close[1] == ' ');
		}
		if (keep)
			rc = put_line(name, p, end, about, out, err);
		p = end + (*end == '\n');
	}
	if (rc == 0 && out->full)
		rc = err_set(err, ERR_LIMIT, "the request is larger than %zu bytes", out->max);
	return rc;
}

static cJSON *message(const char *role, const char *text)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "role", role);
	cJSON_AddStringToObject(m, "content", text);
	return m;
}

/* The tool's parameters: the fields of a candidate. */
static cJSON *tool(void)
{
	static const char *const texts[] = {
		"instance_id",          "candidate_id", "diff",
		"user_message",         "wrong_belief", "why_it_looks_plausible",
		"expected_failure_mode"
	};
	cJSON *t = cJSON_CreateObject(), *f, *p, *props, *kind;

	cJSON_AddStringToObject(t, "type", "function");
	f = cJSON_AddObjectToObject(t, "function");
	cJSON_AddStringToObject(f, "name", CRAFT_TOOL);
	cJSON_AddStringToObject(f, "description", "Hand in the user's edit.");
	p = cJSON_AddObjectToObject(f, "parameters");
	cJSON_AddStringToObject(p, "type", "object");
	props = cJSON_AddObjectToObject(p, "properties");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		kind = cJSON_AddObjectToObject(props, texts[i]);
		cJSON_AddStringToObject(kind, "type", "string");
	}
	kind = cJSON_AddObjectToObject(props, "target_regions");
	cJSON_AddStringToObject(kind, "type", "array");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(kind, "items"), "type", "object");
	kind = cJSON_AddObjectToObject(props, "self_check");
	cJSON_AddStringToObject(kind, "type", "object");
	return t;
}

/* @root as JSON in which no brace of a text can be taken for a template. Frees @root. */
static void put_json(cJSON *root, struct buf *out)
{
	char *text = cJSON_PrintUnformatted(root);
	bool quoted = false;

	ensure(text, "a request can be printed");
	for (const char *p = text; *p; p++) {
		if (*p == '\\' && p[1]) {
			buf_add(out, p++, 2);
			continue;
		}
		quoted = *p == '"' ? !quoted : quoted;
		if (*p == '{' && quoted)
			buf_adds(out, "\\u007b");
		else
			buf_addc(out, *p);
	}
	cJSON_free(text);
	cJSON_Delete(root);
}

void craft_request(const char *prompt, const struct strv *answers, const struct strv *reasons,
		   struct buf *out)
{
	cJSON *list = cJSON_CreateArray(), *tools = cJSON_CreateArray();

	cJSON_AddItemToArray(list, message("user", prompt));
	strv_each (i, answers) {
		auto_free char *why = mem_printf("That edit was refused: %s\nHand in another one.",
						 reasons->v[i]);

		cJSON_AddItemToArray(list, message("assistant", answers->v[i]));
		cJSON_AddItemToArray(list, message("user", why));
	}
	cJSON_AddItemToArray(tools, tool());
	buf_adds(out, "{\"model\":\"{model}\",\"messages\":");
	put_json(list, out);
	buf_adds(out, ",\"tools\":");
	put_json(tools, out);
	buf_adds(out, "}\n");
}

char *craft_object(const char *text, size_t n)
{
	const char *open = memchr(text, '{', n), *close = memrchr(text, '}', n);

	if (!open || !close || close < open)
		return NULL;
	return mem_strndup(open, (size_t)(close - open) + 1);
}

int craft_script(const char *file, size_t drop, struct buf *out, struct err *err)
{
	struct json_src src = { 0 };
	cJSON *turns;
	char *text;
	int rc = json_load(file, &src, err);

	if (rc < 0)
		return rc;
	turns = cJSON_GetObjectItemCaseSensitive(src.root, "turns");
	while (drop-- && cJSON_GetArraySize(turns) > 0)
		cJSON_DeleteItemFromArray(turns, 0);
	if (cJSON_GetArraySize(turns) < 1) {
		rc = err_set(err, ERR_INPUT,
			     "%s: it has fewer turns than attempts were made; add one, or lower "
			     "--attempts",
			     file);
	} else {
		text = cJSON_Print(src.root);
		ensure(text, "what was parsed can be printed");
		buf_adds(out, text);
		cJSON_free(text);
	}
	json_src_done(&src);
	return rc;
}
