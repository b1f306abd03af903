/* The exchange form of SWE-Touch: {instance_id, benchmark, trajectories: [{model, edits: [{path, lines}]}]}, one
 * object, an array of them, or one a line. "reads" of the same form as "edits" is our addition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/traj_internal.h"

#define LINE_MAX_NUMBER 1e9

bool traj_is_normalised(const char *path, const char *text, size_t n)
{
	(void)path;
	return memmem(text, n, "\"trajectories\"", 14) != NULL;
}

/* One line, or a pair [first, last]; adjacent single lines become one event. */
static int lines_of(const struct json_src *src, const char *where, const cJSON *lines,
		    struct traj *t, struct traj_event *e, struct err *err)
{
	const cJSON *item;

	if (!lines || !cJSON_IsArray(lines))
		return json_complain(src, where, err, "\"lines\" must be an array of line numbers");
	e->first = e->last = 0;
	cJSON_ArrayForEach (item, lines) {
		bool pair = cJSON_IsArray(item) && cJSON_GetArraySize(item) == 2;
		const cJSON *a = pair ? item->child : item, *b = pair ? item->child->next : item;

		if (!cJSON_IsNumber(a) || !cJSON_IsNumber(b) || a->valuedouble > LINE_MAX_NUMBER ||
		    b->valuedouble > LINE_MAX_NUMBER || floor(a->valuedouble) != a->valuedouble ||
		    floor(b->valuedouble) != b->valuedouble)
			return json_complain(src, where, err,
					     "\"lines\" holds something that is no line number");
		/* the released miner passes over numbers below 1 */
		if (a->valuedouble < 1 || b->valuedouble < a->valuedouble)
			continue;
		if (e->first && (uint64_t)a->valuedouble == e->last + 1) {
			e->last = (uint64_t)b->valuedouble;
			continue;
		}
		e->base_first = e->first;
		e->base_last = e->last;
		if (e->first)
			traj_add(t, e);
		e->first = (uint64_t)a->valuedouble;
		e->last = (uint64_t)b->valuedouble;
	}
	e->base_first = e->first;
	e->base_last = e->last;
	if (e->first || !lines->child)
		traj_add(t, e);
	return 0;
}

static int list_of(const struct json_src *src, const char *where, const cJSON *list, bool edit,
		   struct traj *t, struct err *err)
{
	const cJSON *item;
	size_t i = 0;

	if (list && !cJSON_IsArray(list))
		return json_complain(src, where, err, "expected an array of {path, lines}");
	cJSON_ArrayForEach (item, list) {
		auto_free char *at = mem_printf("%s[%zu]", where, i++);
		const char *path = traj_str(item, "path");
		struct traj_event e = { .edit = edit, .path = (char *)path, .step = i };

		if (!path || !path_is_tame(path))
			return json_complain(src, at, err,
					     "\"path\" must be a file relative to the repository");
		if (lines_of(src, at, cJSON_GetObjectItemCaseSensitive(item, "lines"), t, &e, err) <
		    0)
			return -ERR_INPUT;
	}
	return 0;
}

static int one_model(const struct json_src *src, const char *where, const char *path,
		     const char *instance, const cJSON *item, struct trajs *out, struct err *err)
{
	auto_free char *edits = mem_printf("%s.edits", where),
		       *reads = mem_printf("%s.reads", where);
	const char *model = traj_str(item, "model");
	const cJSON *finished = cJSON_GetObjectItemCaseSensitive(item, "finished");
	struct traj *t;
	int rc;

	if (!cJSON_IsObject(item))
		return json_complain(src, where, err, "expected an object {model, edits}");
	MEM_GROW(out->v, out->cap, out->n + 1);
	t = &out->v[out->n++];
	*t = (struct traj){
		.file = mem_strdup(path),
		.format = mem_strdup("normalised"),
		.instance_id = mem_strdup(instance),
		.model = mem_strdup(model && *model ? model : "unknown"),
		.finished = !cJSON_IsFalse(finished),
	};
	rc = list_of(src, edits, cJSON_GetObjectItemCaseSensitive(item, "edits"), true, t, err);
	if (rc == 0)
		rc = list_of(src, reads, cJSON_GetObjectItemCaseSensitive(item, "reads"), false, t,
			     err);
	return rc;
}

static int one_task(const struct json_src *src, const char *where, const char *path,
		    const cJSON *task, struct trajs *out, struct err *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(task, "trajectories"), *item;
	const char *instance = traj_str(task, "instance_id");
	size_t i = 0;

	if (!cJSON_IsArray(list))
		return json_complain(src, where, err, "\"trajectories\" must be an array");
	cJSON_ArrayForEach (item, list) {
		auto_free char *at = mem_printf("%s.trajectories[%zu]", where, i++);

		if (one_model(src, at, path, instance, item, out, err) < 0)
			return -ERR_INPUT;
	}
	return 0;
}

static int whole(const struct json_src *src, const char *path, struct trajs *out, struct err *err)
{
	const cJSON *task;
	size_t i = 0;

	if (!cJSON_IsArray(src->root))
		return one_task(src, "$", path, src->root, out, err);
	cJSON_ArrayForEach (task, src->root) {
		auto_free char *at = mem_printf("$[%zu]", i++);

		if (one_task(src, at, path, task, out, err) < 0)
			return -ERR_INPUT;
	}
	return 0;
}

/* Are there several objects, one a line? */
static bool is_lines(const char *text, size_t n)
{
	const char *nl = memchr(text, '\n', n), *p = nl;

	if (!nl || *text != '{')
		return false;
	while (p < text + n && (*p == '\n' || *p == '\r'))
		p++;
	return p < text + n && *p == '{' && nl > text && (nl[-1] == '}' || nl[-1] == '\r');
}

int traj_read_normalised(const char *path, const char *text, size_t n, const char *workdir,
			 struct trajs *out, struct err *err)
{
	const char *end = text + n;
	bool lines = is_lines(text, n);
	size_t number = 0;

	(void)workdir; /* paths are relative already */
	for (const char *p = text; p < end;) {
		const char *nl = lines ? memchr(p, '\n', (size_t)(end - p)) : NULL;
		const char *stop = nl ? nl : end;
		auto_free char *name =
			lines ? mem_printf("%s:%zu", path, number + 1) : mem_strdup(path);
		struct json_src src = { 0 };
		int rc = 0;

		number++;
		if (stop > p && strspn(p, " \t\r") < (size_t)(stop - p)) {
			rc = traj_parse(name, p, (size_t)(stop - p), &src, err);
			if (rc == 0)
				rc = whole(&src, path, out, err);
			json_src_done(&src);
		}
		if (rc < 0)
			return rc;
		p = stop + 1;
	}
	return 0;
}
