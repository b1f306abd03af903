/* Lines to and from a user that reacts. */
#include "supervisor/userline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

/* clang-format off */
static const struct {
	const char *line;
	bool loose;
	enum user_action action;
	const char *text, *wrong;
} rows[] = {
	{ "{\"action\":\"no-op\"}", false, USER_NO_OP, NULL, NULL },
	{ "{\"action\":\"no-op\",\"text\":\"never said\"}", false, USER_NO_OP, NULL, NULL },
	{ "{\"action\":\"redirect\",\"text\":\"Not so.\"}", false, USER_REDIRECT, "Not so.", NULL },
	{ "{\"action\":\"question\",\"text\":\"Why?\",\"more\":[1,2]}", false, USER_QUESTION, "Why?", NULL },
	{ "{\"action\":\"new_requirement\",\"text\":\"And \\u00e4.\"}", false, USER_NEW_REQUIREMENT, "And \xc3\xa4.", NULL },
	{ "{\"action\":\"check_external\"}", false, USER_CHECK_EXTERNAL, NULL, NULL },
	{ "{\"action\":\"check_external\",\"text\":\"See the page.\"}", false, USER_CHECK_EXTERNAL, "See the page.", NULL },
	{ "{\"action\":\"redirect\"}", false, USER_NO_OP, NULL, "no text" },
	{ "{\"action\":\"redirect\",\"text\":\" \\n\"}", false, USER_NO_OP, NULL, "no text" },
	{ "{\"action\":\"redirect\",\"text\":7}", false, USER_NO_OP, NULL, "no text" },
	{ "{\"action\":\"shout\",\"text\":\"x\"}", false, USER_NO_OP, NULL, "an unknown action" },
	{ "{\"text\":\"x\"}", false, USER_NO_OP, NULL, "no action" },
	{ "[1]", false, USER_NO_OP, NULL, "no JSON object" },
	{ "", false, USER_NO_OP, NULL, "no JSON object" },
	{ "{\"action\":", false, USER_NO_OP, NULL, "no JSON object" },
	{ "{\"action\":\"no-op\xff\"}", false, USER_NO_OP, NULL, "no JSON object" },
	{ DEEP, false, USER_NO_OP, NULL, "no JSON object" },
	/* what a model writes round it */
	{ "```json\n{\"action\":\"question\",\"text\":\"Why?\"}\n```", true, USER_QUESTION, "Why?", NULL },
	{ "```json\n{\"action\":\"question\",\"text\":\"Why?\"}\n```", false, USER_NO_OP, NULL, "no JSON object" },
	{ "}{", true, USER_NO_OP, NULL, "no JSON object" },
};
/* clang-format on */

static void read_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct userline_answer a;

		userline_read(rows[i].line, strlen(rows[i].line), rows[i].loose, &a);
		tap_ok(a.action == rows[i].action, "%zu: action %s", i, userline_name(a.action));
		tap_is_str(a.text, rows[i].text, "its text");
		tap_is_str(a.wrong, rows[i].wrong, "what is wrong");
		userline_done(&a);
	}
}

/* Too long a text is none; a NUL ends nothing. */
static void read_bounds(void)
{
	auto_buf b = BUF_INIT(2 * USERLINE_IN_MAX);
	struct userline_answer a;

	buf_adds(&b, "{\"action\":\"redirect\",\"text\":\"");
	for (size_t i = 0; i <= USERLINE_TEXT_MAX; i++)
		buf_addc(&b, 'x');
	buf_adds(&b, "\"}");
	userline_read(buf_str(&b), b.len, false, &a);
	tap_is_str(a.wrong, "its text is too long", "a text has a maximum");
	userline_done(&a);
	for (size_t i = 0; i < USERLINE_IN_MAX; i++)
		buf_addc(&b, ' ');
	userline_read(buf_str(&b), b.len, false, &a);
	tap_is_str(a.wrong, "the line is too long", "a line has one, too");
	userline_done(&a);
	userline_read("{}\0{}", 5, false, &a);
	tap_is_str(a.wrong, "no JSON object", "a NUL is no text");
	userline_done(&a);
}

static const char *text_at(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static double number_at(const cJSON *o, const char *key)
{
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static void written(void)
{
	auto_buf b = BUF_INIT(USERLINE_OUT_MAX);
	auto_strv commands = { 0 };
	auto_strv outputs = { 0 };
	auto_strv changed = { 0 };
	struct userline_turn t = { .turn = 2,
				   .call = 7,
				   .said = "back\\slash \"and\" \xff",
				   .commands = &commands,
				   .outputs = &outputs,
				   .changed = &changed,
				   .left = 3 };
	cJSON *o;

	strv_add(&commands, "ls");
	strv_add(&outputs, "a\nb\n");
	strv_add(&changed, "src/a.c");
	userline_write(&t, &b);
	tap_ok(b.len && b.data[b.len - 1] == '\n' && !memchr(b.data, '\n', b.len - 1), "one line");
	o = cJSON_ParseWithLength(buf_str(&b), b.len);
	tap_is_str(text_at(o, "said"), "back\\slash \"and\" ?", "texts are plain JSON");
	tap_is_u64((uint64_t)number_at(o, "turn"), 2, "turn");
	tap_is_u64((uint64_t)number_at(o, "call"), 7, "call");
	tap_is_u64((uint64_t)number_at(o, "messages_left"), 3, "what is left");
	tap_is_str(text_at(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "commands"), 0), "output"),
		   "a\nb\n", "the command's output");
	tap_is_str(cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "changed"), 0)),
		   "src/a.c", "what changed");
	cJSON_Delete(o);
}

/* What does not fit is left out, and that is said. */
static void crowded(void)
{
	auto_buf b = BUF_INIT(20000);
	auto_strv commands = { 0 };
	auto_strv outputs = { 0 };
	auto_strv changed = { 0 };
	struct userline_turn t = { .turn = 1,
				   .call = 1,
				   .commands = &commands,
				   .outputs = &outputs,
				   .changed = &changed,
				   .omitted = 5 };
	char name[40];
	cJSON *o, *list;

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "command %d", i);
		strv_add(&commands, name);
		strv_take(&outputs, mem_zalloc(1001, 1));
		memset(outputs.v[i], 'y', 1000);
	}
	for (int i = 0; i < USERLINE_PATHS + 10; i++)
		strv_add(&changed, "f");
	userline_write(&t, &b);
	o = cJSON_ParseWithLength(buf_str(&b), b.len);
	list = cJSON_GetObjectItem(o, "commands");
	tap_ok(cJSON_GetArraySize(list) > 0, "%d commands are told", cJSON_GetArraySize(list));
	tap_is_u64((uint64_t)number_at(o, "omitted"), 105 - (uint64_t)cJSON_GetArraySize(list),
		   "the others are counted");
	tap_is_str(text_at(cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1), "command"),
		   "command 99", "the last one is there");
	tap_is_u64((uint64_t)number_at(o, "changed_more"), 10, "and the paths that are too many");
	cJSON_Delete(o);
}

int main(void)
{
	read_rows();
	read_bounds();
	written();
	crowded();
	return tap_done();
}
