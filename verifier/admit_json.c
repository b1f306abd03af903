#include "verifier/admit.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"

static void use(struct json_w *w, const char *key, const struct admit_use *u)
{
	json_open(w, key, '{');
	json_u64(w, "wall_ns", u->wall);
	json_u64(w, "cpu_ns", u->cpu);
	json_u64(w, "memory_bytes", u->memory);
	json_u64(w, "disk_bytes", u->disk);
	json_u64(w, "output_bytes", u->output);
	json_u64(w, "processes", u->tasks);
	json_close(w, '}');
}

static void grading(struct json_w *w, const struct admit_grading *g)
{
	json_open(w, NULL, '{');
	json_str(w, "what", g->what);
	if (g->hack) {
		json_str(w, "hack", g->hack);
		json_str(w, "tries", g->tries);
		json_bool(w, "weak", g->weak);
	}
	json_u64(w, "run", g->run);
	json_str(w, "verdict", verdict_name(g->kind));
	json_str(w, "reason", g->reason);
	json_bool(w, "applied", g->applied);
	json_bool(w, "complete", g->complete);
	json_str(w, "channel", g->channel);
	json_strings(w, "tamper", g->tamper.v, g->tamper.n);
	use(w, "use", &g->use);
	json_close(w, '}');
}

void admit_json(const struct task *task, const struct admit_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };
	char digest[65];

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.admission/1");
	json_str(&w, "instance_id", task->instance_id);
	json_str(&w, "task_digest", verdict_task_digest(task, digest));
	json_bool(&w, "admitted", r->admitted);
	json_u64(&w, "repeats", r->repeats);
	json_open(&w, "checks", '[');
	for (size_t i = 0; i < r->n; i++) {
		json_open(&w, NULL, '{');
		json_str(&w, "name", r->check[i].name);
		json_str(&w, "state", admit_state_name(r->check[i].state));
		json_str(&w, "found", r->check[i].found);
		json_strings(&w, "evidence", r->check[i].evidence.v, r->check[i].evidence.n);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_strings(&w, "take_out", r->take_out.v, r->take_out.n);
	json_u64(&w, "factor", r->factor);
	use(&w, "used", &r->most);
	use(&w, "suggested", &r->suggest);
	json_open(&w, "gradings", '[');
	for (size_t i = 0; i < r->n_gradings; i++)
		grading(&w, &r->grading[i]);
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

/* The object @key of @parent, made when it is not there. Borrowed. */
static cJSON *object(cJSON *parent, const char *key)
{
	cJSON *o = cJSON_GetObjectItemCaseSensitive(parent, key);

	return cJSON_IsObject(o) ? o : cJSON_AddObjectToObject(parent, key);
}

static void set_text(cJSON *o, const char *key, const char *text)
{
	cJSON_DeleteItemFromObjectCaseSensitive(o, key);
	cJSON_AddStringToObject(o, key, text);
}

/* Tests of @list that stay. */
static void set_list(cJSON *root, const char *key, const struct strv *list, const struct strv *out)
{
	cJSON *a;

	cJSON_DeleteItemFromObjectCaseSensitive(root, key);
	a = cJSON_AddArrayToObject(root, key);
	strv_each (i, list)
		if (!strv_has(out, list->v[i]))
			cJSON_AddItemToArray(a, cJSON_CreateString(list->v[i]));
}

/* Files that the text names are no longer beside it: the diffs are written into it, other names made absolute. */
static void make_absolute(cJSON *root, const struct task *task)
{
	static const char *const holders[] = { "test", "solution" };
	const struct json_array *files[] = { &task->test.files, &task->solution.files };

	set_text(root, "source", task->source);
	if (task->patch)
		set_text(root, "patch", task->patch);
	if (task->test_patch)
		set_text(root, "test_patch", task->test_patch);
	if (task->rootfs)
		set_text(object(root, "environment"), "rootfs", task->rootfs);
	for (size_t h = 0; h < ARRAY_SIZE(holders); h++) {
		cJSON *o = cJSON_GetObjectItemCaseSensitive(root, holders[h]);
		cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "files");
		const struct task_file *f = files[h]->v;

		for (size_t i = 0; i < files[h]->n; i++)
			set_text(cJSON_GetArrayItem(list, (int)i), "from", f[i].from);
	}
}

static void set_limits(cJSON *root, const struct admit_use *s)
{
	cJSON *limits = object(object(root, "environment"), "limits");
	char text[40];

	set_text(object(root, "test"), "timeout", limits_text(LIMIT_WALL, s->wall, text));
	set_text(limits, "memory", limits_text(LIMIT_MEMORY, s->memory, text));
	set_text(limits, "storage", limits_text(LIMIT_DISK, s->disk, text));
}

int admit_task(const struct task *task, const char *text, size_t n, const struct admit_result *r,
	       struct buf *out, struct err *err)
{
	struct json_src src = { 0 };
	char *printed;
	int rc = json_parse(task->file ? task->file : task->instance_id, text, n, &src, err);

	if (rc < 0)
		return rc;
	make_absolute(src.root, task);
	if (r->suggest.wall)
		set_limits(src.root, &r->suggest);
	if (r->take_out.n) {
		set_list(src.root, "FAIL_TO_PASS", &task->fail_to_pass, &r->take_out);
		set_list(src.root, "PASS_TO_PASS", &task->pass_to_pass, &r->take_out);
	}
	printed = cJSON_Print(src.root);
	if (!printed || buf_adds(out, printed) < 0 || buf_addc(out, '\n') < 0)
		rc = err_set(err, ERR_LIMIT,
			     "task %s with its suggestions is larger than %zu bytes",
			     task->instance_id, out->max);
	cJSON_free(printed);
	json_src_done(&src);
	return rc;
}
