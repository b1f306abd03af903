#include "supervisor/userline.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/simcontext.h"

#define DEPTH_MAX 16

static const char *const names[] = { "no-op",           "question",       "redirect",
				     "new_requirement", "check_external", NULL };

const char *userline_name(enum user_action action)
{
	return names[action];
}

void userline_done(struct userline_answer *a)
{
	free(a->text);
	free(a->note);
	*a = (struct userline_answer){ 0 };
}

/* --- to the user ------------------------------------------------------------------------------- */

/* A text of the agent's as plain text; NULL for none. */
static void put_text(struct json_w *w, const char *key, const char *s, size_t max)
{
	auto_buf b = BUF_INIT(4 * max + 200);
	auto_free char *text = NULL;
	cJSON *o;

	if (!s) {
		json_null(w, key);
		return;
	}
	simcontext_clean(&b, s, strlen(s), max);
	/* Plain JSON: who reads it knows nothing of json_str()'s form for bytes. */
	o = cJSON_CreateString(buf_str(&b));
	text = cJSON_PrintUnformatted(o);
	cJSON_Delete(o);
	json_raw(w, key, text);
}

static void put_commands(struct json_w *w, const struct userline_turn *t, size_t from)
{
	json_open(w, "commands", '[');
	for (size_t i = from; i < t->commands->n; i++) {
		json_open(w, NULL, '{');
		put_text(w, "command", t->commands->v[i], USERLINE_COMMAND);
		put_text(w, "output", t->outputs->v[i], USERLINE_OUTPUT);
		json_close(w, '}');
	}
	json_close(w, ']');
	json_u64(w, "omitted", t->omitted + from);
}

static void put_line(const struct userline_turn *t, size_t from, struct buf *out)
{
	struct json_w w = { .b = out };
	size_t paths = t->changed->n < USERLINE_PATHS ? t->changed->n : USERLINE_PATHS;

	json_open(&w, NULL, '{');
	json_u64(&w, "turn", t->turn);
	json_u64(&w, "call", t->call);
	json_bool(&w, "ended", t->ended);
	put_text(&w, "said", t->said, USERLINE_SAID);
	put_commands(&w, t, from);
	json_open(&w, "changed", '[');
	for (size_t i = 0; i < paths; i++)
		put_text(&w, NULL, t->changed->v[i], USERLINE_PATH);
	json_close(&w, ']');
	json_u64(&w, "changed_more", t->changed->n - paths);
	json_u64(&w, "messages_left", t->left);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void userline_write(const struct userline_turn *t, struct buf *out)
{
	size_t from = 0, len = out->len;

	put_line(t, from, out);
	while (out->full && from < t->commands->n) {
		from += (t->commands->n - from + 1) / 2;
		out->full = false;
		out->len = len;
		put_line(t, from, out);
	}
}

/* --- from the user ----------------------------------------------------------------------------- */

/* cJSON goes down by recursion: nothing deep reaches it. */
static bool shallow(const char *s, size_t n)
{
	unsigned depth = 0;
	bool text = false;

	for (size_t i = 0; i < n; i++) {
		if (text && s[i] == '\\')
			i++;
		else if (s[i] == '"')
			text = !text;
		else if (!text && (s[i] == '{' || s[i] == '['))
			depth++;
		else if (!text && (s[i] == '}' || s[i] == ']') && depth)
			depth--;
		if (depth > DEPTH_MAX)
			return false;
	}
	return true;
}

/* From the first "{" to the last "}". */
static void trim(const char **line, size_t *n)
{
	const char *first = memchr(*line, '{', *n), *last = memrchr(*line, '}', *n);

	if (!first || !last || last < first)
		return;
	*n = (size_t)(last - first) + 1;
	*line = first;
}

static const char *understand(const cJSON *o, struct userline_answer *ret)
{
	const char *action = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "action"));
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "text"));
	const char *note = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, "note"));
	int i = 0;

	if (note)
		ret->note = mem_strndup(note, USERLINE_NOTE_MAX);
	if (!action)
		return "no action";
	while (names[i] && strcmp(names[i], action) != 0)
		i++;
	if (!names[i])
		return "an unknown action";
	if (i == USER_NO_OP)
		return NULL;
	if (text && strlen(text) > USERLINE_TEXT_MAX)
		return "its text is too long";
	if (text && text[strspn(text, " \t\r\n")])
		ret->text = mem_strdup(text);
	/* Who looks elsewhere need not say anything. */
	if (!ret->text && i != USER_CHECK_EXTERNAL)
		return "no text";
	ret->action = (enum user_action)i;
	return NULL;
}

void userline_read(const char *line, size_t n, bool loose, struct userline_answer *ret)
{
	cJSON *o;
	size_t bad;

	*ret = (struct userline_answer){ .action = USER_NO_OP };
	if (loose)
		trim(&line, &n);
	if (n > USERLINE_IN_MAX) {
		ret->wrong = "the line is too long";
		return;
	}
	if (memchr(line, '\0', n) || !str_utf8(line, n, &bad) || !shallow(line, n)) {
		ret->wrong = "no JSON object";
		return;
	}
	o = cJSON_ParseWithLength(line, n);
	ret->wrong = cJSON_IsObject(o) ? understand(o, ret) : "no JSON object";
	cJSON_Delete(o);
	if (ret->wrong) {
		free(ret->text);
		ret->text = NULL;
	}
}
