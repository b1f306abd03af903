#include "profiles/testspec.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"
#include "profiles/lookup_internal.h"

static const char *const files_choices[] = { "paths", "django", "none", NULL };

#define OFF(field) offsetof(struct testspec_row, field)

/* clang-format off */
static const struct json_field row_rows[] = {
	{ "repo", JSON_STR, OFF(repo), true, .doc = "owner/name" },
	{ "versions", JSON_STRV, OFF(versions), .doc = "versions the row is for; absent = all" },
	{ "command", JSON_STR, OFF(command), true, .doc = "run by sh -c; {files} and {python} are put in" },
	{ "host_command", JSON_STR, OFF(host_command), .doc = "the command where the root file system is the host's" },
	{ "files", JSON_ENUM, OFF(files), .choices = files_choices, .doc = "what {files} is: paths, django or none" },
	{ "reader", JSON_STR, OFF(reader), true, .doc = "a reader, or the name of a SWE-bench parser" },
	{ "python", JSON_STR, OFF(python), .doc = "program for {python}, default python3" },
	{ "workdir", JSON_STR, OFF(workdir), .doc = "absolute path of the checkout" },
	{ "env", JSON_ENV, OFF(env), .doc = "environment variables" },
	{ "timeout", JSON_DURATION, OFF(timeout), .doc = "wall time of the tests" },
	{ NULL },
};

static const struct json_field spec_rows[] = {
	{ "rows", JSON_ARRAY, 0, true, .rows = row_rows, .size = sizeof(struct testspec_row), .doc = "rows by repository and version" },
	{ NULL },
};
/* clang-format on */

void testspec_done(struct testspec *s)
{
	struct json_array list = { .v = s->v, .n = s->n };

	json_release(spec_rows, &list);
	*s = (struct testspec){ .v = NULL };
}

static int check_rows(const struct json_src *src, const struct json_array *list, struct err *err)
{
	const struct testspec_row *v = list->v;

	for (size_t i = 0; i < list->n; i++) {
		auto_free char *at = mem_printf("$.rows[%zu]", i);
		int rc;

		if (!v[i].repo || !v[i].command || !v[i].reader || !v[i].command[0])
			return json_complain(
				src, at, err,
				"\"repo\", \"command\" and \"reader\" must be strings");
		rc = input_check_env(src, at, &v[i].env, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int testspec_parse(const char *name, const char *text, size_t n, struct testspec *ret,
		   struct err *err)
{
	struct json_src src = { 0 };
	struct json_array list = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = json_check_schema(&src, "test-spec", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, spec_rows, &list, err);
	if (rc == 0)
		rc = check_rows(&src, &list, err);
	if (rc == 0)
		*ret = (struct testspec){ .v = list.v, .n = list.n };
	else
		json_release(spec_rows, &list);
	json_src_done(&src);
	return rc;
}

int testspec_load(const char *path, struct testspec *ret, struct err *err)
{
	auto_free char *dir = path ? NULL : lookup_datadir();
	auto_free char *shipped = path ? NULL : path_join(dir, "swebench-spec.json");
	auto_buf text = BUF_INIT(TESTSPEC_FILE_MAX);
	int rc;

	path = path ? path : shipped;
	rc = fd_read_file(path, &text, err);
	return rc < 0 ? rc : testspec_parse(path, buf_str(&text), text.len, ret, err);
}

const struct testspec_row *testspec_find(const struct testspec *s, const char *repo,
					 const char *version)
{
	const struct testspec_row *general = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct testspec_row *row = &s->v[i];

		if (strcmp(row->repo, repo) != 0)
			continue;
		if (version && strv_has(&row->versions, version))
			return row;
		if (!row->versions.n && !general)
			general = row;
	}
	return general;
}
