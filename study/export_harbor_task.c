/* The Harbor directories that tasks were imported from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"
#include "profiles/task_files.h"
#include "study/export_internal.h"
#include "study/harbor_tree.h"

/* What is needed of INSTANCE.extra.json. */
struct extra {
	char *directory; /* owned: absolute */
	char *sha256;    /* owned */
};

static void extra_done(struct extra *x)
{
	free(x->directory);
	free(x->sha256);
}

static int read_extra(const char *task, struct extra *x, struct err *err)
{
	static const char end[] = ".task.json";
	size_t n = strlen(task);
	auto_free char *path = NULL, *dir = path_dir(task);
	struct json_src src = { 0 };
	const cJSON *source, *name, *sum;
	int rc;

	if (!str_ends(task, end))
		return err_set(err, ERR_INPUT,
			       "%s: expected INSTANCE.task.json, as import harbor writes it", task);
	path = mem_printf("%.*s.extra.json", (int)(n - strlen(end)), task);
	if (access(path, F_OK) < 0)
		return err_set(
			err, ERR_INPUT,
			"%s: %s; only tasks that were imported from Harbor can be given back as its "
			"directories",
			path, strerror(errno));
	rc = json_load(path, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "extra", err);
	if (rc < 0) {
		json_src_done(&src);
		return rc;
	}
	source = cJSON_GetObjectItemCaseSensitive(src.root, "source");
	name = cJSON_GetObjectItemCaseSensitive(src.root, "directory");
	sum = cJSON_GetObjectItemCaseSensitive(src.root, "sha256");
	if (!cJSON_IsString(source) || strcmp(source->valuestring, "harbor") != 0)
		rc = json_complain(&src, "$.source", err, "the task was not imported from Harbor");
	else if (!cJSON_IsString(name) || !path_is_tame(name->valuestring) || !cJSON_IsString(sum))
		rc = json_complain(&src, "$", err,
				   "expected \"directory\", a plain name, and \"sha256\"");
	else {
		x->directory = path_join(dir, name->valuestring);
		x->sha256 = mem_strdup(sum->valuestring);
	}
	json_src_done(&src);
	return rc;
}

/* A problem statement that was changed in the task goes along. */
static int instruction(const struct task *t, const char *dir, struct err *err)
{
	auto_free char *path = path_join(dir, "instruction.md");
	auto_buf old = BUF_INIT(64u << 20);
	int rc = fd_read_file(path, &old, err);

	if (rc < 0 || strcmp(buf_str(&old), t->problem_statement) == 0)
		return rc;
	return fd_replace_file(path, t->problem_statement, strlen(t->problem_statement), err);
}

static int one(const void *arg, const char *file, struct buf *out, struct err *err)
{
	const struct export_job *job = arg;
	auto_free char *to = NULL;
	struct extra x = { NULL, NULL };
	struct task *t = NULL;
	char sum[DIGEST_HEX];
	int rc = task_load(file, &t, err);

	if (rc == 0)
		rc = read_extra(file, &x, err);
	if (rc == 0)
		rc = task_files_digest(x.directory, sum, err);
	if (rc == 0 && strcmp(sum, x.sha256) != 0)
		rc = err_set(err, ERR_INPUT,
			     "%s was changed since it was imported; import it again", x.directory);
	if (rc == 0) {
		to = path_join(job->out, t->instance_id);
		if (access(to, F_OK) == 0)
			rc = err_set(err, ERR_INPUT, "%s is there already", to);
	}
	if (rc == 0)
		rc = harbor_tree_copy(x.directory, to, err);
	if (rc == 0)
		rc = instruction(t, to, err);
	if (rc == 0)
		buf_addf(out, "%s\n", to);
	extra_done(&x);
	task_free(t);
	return rc;
}

int export_harbor_task(const struct export_job *job, struct buf *out, struct err *err)
{
	return export_tasks(job, one, job, out, err);
}
