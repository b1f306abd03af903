#include "study/taskset.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"

/* Put in front of names by the release; their tasks have none. */
static const char *const prefixes[] = { "swebenchpro_", "deepswe_" };

void taskset_done(struct taskset *ts)
{
	strv_done(&ts->id);
	strv_done(&ts->path);
}

static int add(struct taskset *ts, const char *path, struct err *err)
{
	auto_buf text = BUF_INIT(TASK_FILE_MAX);
	struct json_src src = { 0 };
	const cJSON *id;
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "task", err);
	if (rc == 0) {
		id = cJSON_GetObjectItemCaseSensitive(src.root, "instance_id");
		if (!cJSON_IsString(id) || !id->valuestring[0])
			rc = json_complain(&src, "$", err, "\"instance_id\" is missing");
	}
	if (rc == 0 && ts->id.n == TASKSET_MAX)
		rc = err_set(err, ERR_INPUT, "%s: more than %u tasks", path, TASKSET_MAX);
	if (rc == 0) {
		strv_add(&ts->id, id->valuestring);
		strv_add(&ts->path, path);
	}
	json_src_done(&src);
	return rc;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* NAME/task.json, NAME.task.json, task.json. */
static int add_entry(struct taskset *ts, const char *dir, const char *name, struct err *err)
{
	auto_free char *path = path_join(dir, name), *below = path_join(path, "task.json");

	if (name[0] == '.')
		return 0;
	if (is_file(below))
		return add(ts, below, err);
	if ((strcmp(name, "task.json") == 0 || str_ends(name, ".task.json")) && is_file(path))
		return add(ts, path, err);
	return 0;
}

int taskset_load(const char *path, struct taskset *ret, struct err *err)
{
	struct taskset ts = { .id = { 0 } };
	const struct dirent *e;
	DIR *d;
	int rc = 0;

	if (is_file(path)) {
		rc = add(&ts, path, err);
	} else {
		d = opendir(path);
		if (!d)
			return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
		while (rc == 0 && (e = readdir(d)))
			rc = add_entry(&ts, path, e->d_name, err);
		closedir(d);
		if (rc == 0 && !ts.id.n)
			rc = err_set(err, ERR_INPUT,
				     "%s: no task; looked for NAME/task.json, NAME.task.json and "
				     "task.json",
				     path);
	}
	if (rc < 0) {
		taskset_done(&ts);
		return rc;
	}
	*ret = ts;
	return 0;
}

int taskset_find(const struct taskset *ts, const char *instance, size_t *ret, struct err *err)
{
	const char *bare = instance;
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(instance, prefixes[i]))
			bare = instance + strlen(prefixes[i]);
	strv_each (i, &ts->id) {
		if (strcmp(ts->id.v[i], instance) != 0 && strcmp(ts->id.v[i], bare) != 0)
			continue;
		if (found++)
			return err_set(err, ERR_INPUT,
				       "%s fits two tasks, %s and %s: take one of them away",
				       instance, ts->path.v[*ret], ts->path.v[i]);
		*ret = i;
	}
	return found != 0;
}
