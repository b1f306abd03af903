#include "supervisor/runfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/cmd.h"

static char *string_at(const cJSON *obj, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

	return cJSON_IsString(item) ? mem_strdup(item->valuestring) : NULL;
}

int runfile_load(const char *dir, struct runfile *ret, struct err *err)
{
	auto_free char *path = NULL;
	int rc = cmd_run_file(dir, "run.json", &path, err);

	if (rc == 0)
		rc = json_load(path, &ret->src, err);
	if (rc == 0)
		rc = json_check_schema(&ret->src, "run", err);
	if (rc < 0)
		return rc;
	ret->task_file = string_at(cJSON_GetObjectItemCaseSensitive(ret->src.root, "task"), "file");
	if (ret->task_file)
		(void)json_unescape_bytes(ret->task_file); /* the length is not needed */
	ret->plan_digest = string_at(ret->src.root, "plan_digest");
	return 0;
}

int runfile_set_verdict(const char *dir, const char *verdict, struct err *err)
{
	auto_free char *path = path_join(dir, "run.json"), *text = NULL;
	struct runfile rf = { 0 };
	int rc = runfile_load(dir, &rf, err);

	if (rc == 0) {
		cJSON_DeleteItemFromObjectCaseSensitive(rf.src.root, "verdict");
		cJSON_AddStringToObject(rf.src.root, "verdict", verdict);
		text = cJSON_Print(rf.src.root);
		rc = fd_replace_file(path, text, strlen(text), err);
	}
	runfile_done(&rf);
	return rc;
}

void runfile_done(struct runfile *rf)
{
	json_src_done(&rf->src);
	free(rf->task_file);
	free(rf->plan_digest);
	rf->task_file = rf->plan_digest = NULL;
}
