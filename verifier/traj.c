#include "verifier/traj.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "verifier/traj_internal.h"

/* clang-format off */
const struct traj_format traj_formats[] = {
	{ "run", traj_is_run, traj_read_run,
	  "a run directory of proctor: exact lines from the contents of the files" },
	{ "atif", traj_is_atif, traj_read_atif,
	  "Agent Trajectory Interchange Format 1.x: steps with tool calls and observations" },
	{ "normalised", traj_is_normalised, traj_read_normalised,
	  "SWE-Touch's exchange form: per model, files and edited lines" },
	{ "swe-agent", traj_is_sweagent, traj_read_sweagent,
	  "SWE-agent's .traj: actions and observations" },
	{ "mini-swe-agent", traj_is_mini, traj_read_mini,
	  "mini-swe-agent's .traj.json, versions 1 and 2: messages with shell commands" },
	{ 0 },
};
/* clang-format on */

bool traj_add(struct traj *t, const struct traj_event *e)
{
	if (t->n >= TRAJ_EVENTS_MAX)
		return false;
	MEM_GROW(t->v, t->cap, t->n + 1);
	t->v[t->n] = *e;
	t->v[t->n++].path = mem_strdup(e->path);
	return true;
}

void trajs_done(struct trajs *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct traj *v = &t->v[i];

		for (size_t k = 0; k < v->n; k++)
			free(v->v[k].path);
		free(v->v);
		free(v->file);
		free(v->format);
		free(v->instance_id);
		free(v->model);
		free(v->end);
	}
	free(t->v);
	*t = (struct trajs){ 0 };
}

static void format_names(struct buf *out)
{
	for (const struct traj_format *f = traj_formats; f->name; f++)
		buf_addf(out, "%s%s", f == traj_formats ? "" : ", ", f->name);
}

static int unknown_format(const char *path, const char *format, struct err *err)
{
	const char *names[ARRAY_SIZE(traj_formats)] = { NULL };
	auto_buf all = BUF_INIT(1024);
	const char *near;

	for (size_t i = 0; traj_formats[i].name; i++)
		names[i] = traj_formats[i].name;
	format_names(&all);
	if (!format)
		return err_set(err, ERR_INPUT, "%s looks like none of the formats %s", path,
			       buf_str(&all));
	near = str_nearest(format, names);
	if (near)
		return err_set(err, ERR_INPUT, "no format \"%s\", did you mean \"%s\"?", format,
			       near);
	return err_set(err, ERR_INPUT, "no format \"%s\"; known: %s", format, buf_str(&all));
}

int trajs_load(const char *path, const char *format, const char *workdir, struct trajs *out,
	       struct err *err)
{
	const struct traj_format *f = traj_formats;
	auto_buf text = BUF_INIT(TRAJ_FILE_MAX);
	struct stat st;
	bool dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	int rc = dir ? 0 : fd_read_file(path, &text, err);

	if (rc < 0)
		return rc;
	while (f->name &&
	       !(format ? str_eq(f->name, format) : f->is(path, buf_str(&text), text.len)))
		f++;
	if (!f->name)
		return unknown_format(path, format, err);
	if (dir && f->read != traj_read_run)
		return err_set(
			err, ERR_INPUT,
			"%s is a directory: give its format as \"run\", or leave the format out",
			path);
	return f->read(path, buf_str(&text), text.len, workdir, out, err);
}

/* Is the escape at @p a UTF-16 half? *ret_high: the first one. */
static bool half(const char *p, const char *end, bool *ret_high)
{
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u' || (p[2] != 'd' && p[2] != 'D') ||
	    !strchr("89abABcdefCDEF", p[3]))
		return false;
	*ret_high = strchr("89abAB", p[3]) != NULL;
	return true;
}

/* Mend the escape at @p inside a string; returns its end. */
static char *mend_escape(char *p, const char *end)
{
	bool high, low_is_high;

	if (end - p >= 6 && memcmp(p, "\\u0000", 6) == 0) {
		memcpy(p, "\\ufffd", 6);
		return p + 6;
	}
	if (!half(p, end, &high))
		return p + 2 <= end ? p + 2 : p + 1;
	if (high && half(p + 6, end, &low_is_high) && !low_is_high)
		return p + 12;
	memcpy(p, "\\ufffd", 6);
	return p + 6;
}

/* A word that Python writes for a number and JSON has not: becomes 0. */
static char *mend_word(char *p, const char *end)
{
	static const char *const words[] = { "NaN", "Infinity" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0) {
			memset(p, ' ', n);
			*p = '0';
			return p + n;
		}
	}
	return p + 1;
}

static void mend_bytes(char *p, size_t n)
{
	size_t bad;

	for (size_t at = 0; at < n && !str_utf8(p + at, n - at, &bad); at += bad + 1)
		p[at + bad] = '?';
	for (size_t i = 0; i < n; i++)
		if (!p[i])
			p[i] = ' ';
}

int traj_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err)
{
	auto_free char *copy = mem_dup(text, n);
	const char *end = copy + n;
	bool inside = false;
	size_t values = 0;

	mend_bytes(copy, n);
	for (char *p = copy; p < end;) {
		if (inside && *p == '\\') {
			p = mend_escape(p, end);
			continue;
		}
		if (*p == '"')
			inside = !inside;
		values += !inside && (*p == ',' || *p == '[' || *p == '{');
		p = inside || (*p != 'N' && *p != 'I') ? p + 1 : mend_word(p, end);
	}
	if (values > TRAJ_VALUES_MAX)
		return err_set(err, ERR_INPUT, "%s holds more than %u values", name,
			       TRAJ_VALUES_MAX);
	return json_parse(name, copy, n, ret, err);
}

const char *traj_str(const cJSON *obj, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

const cJSON *traj_member(const cJSON *obj, const char *path)
{
	while (obj && *path) {
		size_t n = strcspn(path, ".");
		auto_free char *key = mem_strndup(path, n);

		obj = cJSON_GetObjectItemCaseSensitive(obj, key);
		path += n + (path[n] != '\0');
	}
	return obj;
}

char *traj_text(const cJSON *item)
{
	auto_buf b = BUF_INIT(TRAJ_FILE_MAX);
	const cJSON *part;

	if (cJSON_IsString(item))
		return mem_strdup(item->valuestring);
	cJSON_ArrayForEach (part, item) {
		const char *text =
			cJSON_IsString(part) ? part->valuestring : traj_str(part, "text");

		if (text)
			buf_addf(&b, "%s%s", b.len ? "\n" : "", text);
	}
	return buf_steal(&b, NULL);
}
