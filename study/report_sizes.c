/* Table 2: how large reference repairs and user edits are, from scenarios and their tasks. */
#include "study/report_internal.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/scenario.h"
#include "profiles/task.h"
#include "verifier/patchsize.h"

#define DEPTH_MAX   8
#define SIZES_MAX   100000u
#define ENTRIES_MAX 1000000u

void report_sizes_done(struct report_sizes *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].source);
	free(s->v);
	*s = (struct report_sizes){ 0 };
}

/* Lines and files of all different edits of a scenario. */
static int edit_size(const struct scenario *sc, struct report_size *ret, struct err *err)
{
	auto_strv paths = { 0 }, seen = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sc->n_interventions; i++) {
		const struct intervention *iv = sc->interventions + i;

		for (size_t k = 0; rc == 0 && k < iv->n_effects; k++) {
			const char *diff = iv->effects[k].diff;

			if (iv->effects[k].kind != EFFECT_EDIT || !diff || strv_has(&seen, diff))
				continue;
			strv_add(&seen, diff);
			rc = patchsize_add(diff, strlen(diff), &ret->edit_lines, &paths, err);
		}
	}
	ret->edit_files = paths.n;
	return rc < 0 ? err_wrap(err, "%s", sc->file) : 0;
}

/* The task file of @sc: 1 found, 0 not, negative on error. Caller frees. */
static int find_task(const struct scenario *sc, const struct taskset *tasks, char **ret,
		     struct err *err)
{
	auto_free char *dir = path_dir(sc->file), *beside = path_join(dir, "task.json");
	size_t i;
	int rc;

	if (tasks && sc->instance_id) {
		rc = taskset_find(tasks, sc->instance_id, &i, err);
		if (rc > 0)
			*ret = mem_strdup(tasks->path.v[i]);
		if (rc != 0)
			return rc;
	}
	if (access(beside, R_OK) < 0)
		return 0;
	*ret = take_ptr(&beside);
	return 1;
}

static int reference_size(const struct scenario *sc, const struct taskset *tasks,
			  struct report_size *ret, struct err *err)
{
	auto_free char *file = NULL;
	auto_strv paths = { 0 };
	struct task *task = NULL;
	int rc = find_task(sc, tasks, &file, err);

	if (rc <= 0)
		return rc;
	rc = task_load(file, &task, err);
	if (rc == 0 && task->patch &&
	    (!sc->instance_id || tasks || strcmp(sc->instance_id, task->instance_id) == 0)) {
		rc = patchsize_add(task->patch, strlen(task->patch), &ret->reference_lines, &paths,
				   err);
		if (rc < 0)
			rc = err_wrap(err, "%s", file);
		ret->reference_files = paths.n;
		ret->has_reference = rc == 0;
	}
	task_free(task);
	return rc;
}

/* What the scenario says of its benchmark, else its family. Caller frees. */
static char *source_of(const struct scenario *sc)
{
	cJSON *notes = sc->notes ? cJSON_Parse(sc->notes) : NULL;
	const cJSON *bench = cJSON_GetObjectItemCaseSensitive(notes, "benchmark");
	const char *family = sc->family && *sc->family ? sc->family : "scenarios";
	char *ret = mem_strdup(cJSON_IsString(bench) ? bench->valuestring : family);

	cJSON_Delete(notes);
	return ret;
}

static int add_scenario(struct report_sizes *s, const char *path, const struct taskset *tasks,
			bool named, struct err *err)
{
	struct report_size one = { 0 };
	struct scenario *sc = NULL;
	int rc = scenario_load(path, &sc, err);

	if (rc < 0)
		return rc;
	if (sc->mode == MODE_CO_EDIT && !named) {
		scenario_free(sc);
		return 0;
	}
	rc = edit_size(sc, &one, err);
	if (rc == 0)
		rc = reference_size(sc, tasks, &one, err);
	if (rc == 0 && s->n >= SIZES_MAX)
		rc = err_set(err, ERR_LIMIT, "more than %u scenarios; give fewer", SIZES_MAX);
	if (rc == 0) {
		one.source = source_of(sc);
		MEM_GROW(s->v, s->cap, s->n + 1);
		s->v[s->n++] = one;
	}
	scenario_free(sc);
	return rc;
}

/* Is it a scenario? Other JSON files may lie beside them. 1, 0, or negative when it cannot be read. */
static int is_scenario(const char *path, struct err *err)
{
	struct json_src src = { 0 };
	struct err other = { 0 };
	int rc;

	if (!str_ends(path, ".json"))
		return 0;
	rc = json_load(path, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "scenario", &other) == 0;
	json_src_done(&src);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int entries(const char *dir, struct strv *ret, struct err *err)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	if (!d)
		return err_set(err, ERR_INPUT, "cannot look into %s: %s", dir, strerror(errno));
	while ((e = readdir(d)) && ret->n < ENTRIES_MAX) {
		if (e->d_name[0] != '.')
			strv_take(ret, path_join(dir, e->d_name));
	}
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

static int walk(struct report_sizes *s, const char *dir, int depth, const struct taskset *tasks,
		struct err *err)
{
	auto_strv names = { 0 };
	int rc = depth > DEPTH_MAX ? 0 : entries(dir, &names, err);

	for (size_t i = 0; rc >= 0 && i < names.n; i++) {
		struct stat st;

		if (lstat(names.v[i], &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			rc = walk(s, names.v[i], depth + 1, tasks, err);
		else if (S_ISREG(st.st_mode) && (rc = is_scenario(names.v[i], err)) > 0)
			rc = add_scenario(s, names.v[i], tasks, false, err);
	}
	return rc < 0 ? rc : 0;
}

int report_sizes_add(struct report_sizes *s, const char *path, const struct taskset *tasks,
		     struct err *err)
{
	size_t before = s->n;
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return err_set(err, ERR_INPUT, "cannot look at %s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return add_scenario(s, path, tasks, true, err);
	rc = walk(s, path, 0, tasks, err);
	if (rc == 0 && s->n == before)
		return err_set(err, ERR_INPUT, "%s holds no scenario", path);
	return rc;
}

/* --- the table --- */

/* Means of one source. */
struct means {
	uint64_t scenarios, edits, references;
	uint64_t edit_lines, edit_files, reference_lines, reference_files;
};

static double mean(uint64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : NAN;
}

static void add_size(struct means *m, const struct report_size *one)
{
	m->scenarios++;
	if (one->edit_lines) { /* those that only speak have no edit */
		m->edits++;
		m->edit_lines += one->edit_lines;
		m->edit_files += one->edit_files;
	}
	if (one->has_reference) {
		m->references++;
		m->reference_lines += one->reference_lines;
		m->reference_files += one->reference_files;
	}
}

struct table *report_size_table(const struct report_sizes *s, const char **ret_why)
{
	auto_strv sources = { 0 };
	struct table *t;

	if (!s || !s->n) {
		*ret_why = "no scenarios are given (--sizes)";
		return NULL;
	}
	t = table_new("2", "Mean size of patches: changed lines and files");
	table_col(t, NULL, "source", "Source", TABLE_WORDS, 0, 0);
	table_col(t, NULL, "scenarios", "Scenarios", TABLE_WHOLE, 0, 0);
	table_col(t, "Reference repair", "lines", "Lines", TABLE_REAL, 1, TABLE_UNKNOWN);
	table_col(t, "Reference repair", "files", "Files", TABLE_REAL, 2, TABLE_UNKNOWN);
	table_col(t, "Reference repair", "n", "of", TABLE_WHOLE, 0, 0);
	table_col(t, "User edit", "lines", "Lines", TABLE_REAL, 1, 0);
	table_col(t, "User edit", "files", "Files", TABLE_REAL, 2, 0);
	table_col(t, "User edit", "n", "of", TABLE_WHOLE, 0, 0);
	for (size_t i = 0; i < s->n; i++) {
		if (!strv_has(&sources, s->v[i].source))
			strv_add(&sources, s->v[i].source);
	}
	strv_each (k, &sources) {
		struct means m = { 0 };

		for (size_t i = 0; i < s->n; i++) {
			if (strcmp(s->v[i].source, sources.v[k]) == 0)
				add_size(&m, s->v + i);
		}
		table_row(t, false);
		table_words(t, 0, sources.v[k]);
		table_value(t, 1, (double)m.scenarios);
		table_value(t, 2, mean(m.reference_lines, m.references));
		table_value(t, 3, mean(m.reference_files, m.references));
		table_value(t, 4, (double)m.references);
		table_value(t, 5, mean(m.edit_lines, m.edits));
		table_value(t, 6, mean(m.edit_files, m.edits));
		table_value(t, 7, (double)m.edits);
	}
	table_note(
		t,
		"Added and removed lines, summed over the different edits of a scenario; scenarios without an "
		"edit are left out of its mean.");
	return t;
}
