#include "study/regionfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "profiles/scenario.h"

/* clang-format off */
static const struct json_field region_rows[] = {
	{ .name = "path", .kind = JSON_STR, .off = offsetof(struct regionfile_region, path),
	  .required = true, .doc = "file, relative to the workspace" },
	{ .name = "start", .kind = JSON_U64, .off = offsetof(struct regionfile_region, start),
	  .required = true, .doc = "first line, from 1" },
	{ .name = "end", .kind = JSON_U64, .off = offsetof(struct regionfile_region, end),
	  .required = true, .doc = "last line, inclusive" },
	{ .name = "kind", .kind = JSON_STR, .off = offsetof(struct regionfile_region, kind),
	  .doc = "trajectory_edit, trajectory_read or reference_patch_fallback" },
	{ .name = "models", .kind = JSON_STRV, .off = offsetof(struct regionfile_region, models),
	  .doc = "whose trajectories support one of its lines" },
	{ .name = "support", .kind = JSON_U64, .off = offsetof(struct regionfile_region, support),
	  .doc = "fewest models that support one of its supported lines" },
	{ 0 },
};
/* clang-format on */

/* The file as it stands: an array where struct regionfile has a pointer and a count. */
struct form {
	char *instance_id, *algorithm, *lines, *tier;
	struct strv models;
	struct json_array regions; /* of struct regionfile_region */
};

/* clang-format off */
static const struct json_field rows[] = {
	{ .name = "instance_id", .kind = JSON_STR, .off = offsetof(struct form, instance_id),
	  .doc = "task that the regions belong to" },
	{ .name = "algorithm", .kind = JSON_STR, .off = offsetof(struct form, algorithm),
	  .doc = "edits or reads+edits" },
	{ .name = "lines", .kind = JSON_STR, .off = offsetof(struct form, lines),
	  .doc = "whose lines: base (default), final or hunk" },
	{ .name = "tier", .kind = JSON_STR, .off = offsetof(struct form, tier),
	  .doc = "which step of the algorithm gave the regions" },
	{ .name = "models", .kind = JSON_STRV, .off = offsetof(struct form, models),
	  .doc = "all models whose trajectories were looked at" },
	{ .name = "regions", .kind = JSON_ARRAY, .off = offsetof(struct form, regions),
	  .required = true, .rows = region_rows, .size = sizeof(struct regionfile_region),
	  .doc = "critical regions, the most important one first" },
	{ 0 },
};
/* clang-format on */

static void unescape(char *s)
{
	if (s)
		json_unescape_bytes(s);
}

static void unescape_all(struct strv *v)
{
	strv_each (i, v)
		json_unescape_bytes(v->v[i]);
}

static int check_region(const struct json_src *src, size_t i, struct regionfile_region *r,
			struct err *err)
{
	auto_free char *where = mem_printf("$.regions[%zu]", i);

	unescape(r->path);
	unescape(r->kind);
	unescape_all(&r->models);
	if (!path_is_tame(r->path))
		return json_complain(src, where, err,
				     "path \"%s\" must be relative, without \"..\", \".\" and .git",
				     r->path);
	if (!r->start || r->end < r->start)
		return json_complain(src, where, err,
				     "lines are counted from 1 and end is not before start");
	return 0;
}

static int read_form(const struct json_src *src, struct regionfile *ret, struct err *err)
{
	struct form f = { 0 };
	struct regionfile_region *r;
	int rc = json_check_schema(src, "regions", err);

	if (rc == 0)
		rc = json_read(src, "$", src->root, rows, &f, err);
	if (rc == 0 && f.regions.n > REGIONFILE_READ_MAX)
		rc = json_complain(src, "$.regions", err, "more than %u regions",
				   REGIONFILE_READ_MAX);
	r = f.regions.v;
	for (size_t i = 0; rc == 0 && i < f.regions.n; i++)
		rc = check_region(src, i, &r[i], err);
	if (rc < 0) {
		json_release(rows, &f);
		return rc;
	}
	unescape(f.instance_id);
	unescape_all(&f.models);
	*ret = (struct regionfile){
		.instance_id = f.instance_id,
		.algorithm = f.algorithm,
		.lines = f.lines ? f.lines : mem_strdup("base"),
		.tier = f.tier,
		.models = f.models,
		.region = r,
		.n = f.regions.n,
	};
	return 0;
}

static int read_scenario(const char *path, struct regionfile *ret, struct err *err)
{
	struct scenario *sc = NULL;
	int rc = scenario_load(path, &sc, err);

	if (rc < 0)
		return rc;
	*ret = (struct regionfile){
		.instance_id = mem_strdup(sc->instance_id),
		.algorithm = mem_strdup("scenario"),
		.lines = mem_strdup("base"),
		.region = mem_zalloc(sc->n_regions + 1, sizeof(*ret->region)),
		.n = sc->n_regions,
	};
	for (size_t i = 0; i < sc->n_regions; i++) {
		ret->region[i].path = mem_strdup(sc->regions[i].path);
		ret->region[i].start = sc->regions[i].start;
		ret->region[i].end = sc->regions[i].end;
		ret->region[i].kind = mem_strdup(sc->regions[i].evidence);
	}
	scenario_free(sc);
	return 0;
}

static bool is_scenario(const struct json_src *src)
{
	const cJSON *schema = cJSON_GetObjectItemCaseSensitive(src->root, "schema");

	return cJSON_IsString(schema) && str_eq(schema->valuestring, "proctor.scenario/1");
}

int regionfile_load(const char *path, struct regionfile *ret, struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_load(path, &src, err);

	if (rc < 0)
		return rc;
	rc = is_scenario(&src) ? read_scenario(path, ret, err) : read_form(&src, ret, err);
	if (rc == 0)
		ret->file = mem_strdup(path);
	json_src_done(&src);
	return rc;
}

void regionfile_print(const struct regionfile *rf, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.regions/1");
	if (rf->instance_id)
		json_str(&w, "instance_id", rf->instance_id);
	if (rf->algorithm)
		json_str(&w, "algorithm", rf->algorithm);
	json_str(&w, "lines", rf->lines ? rf->lines : "base");
	if (rf->tier)
		json_str(&w, "tier", rf->tier);
	json_strings(&w, "models", rf->models.v, rf->models.n);
	json_open(&w, "regions", '[');
	for (size_t i = 0; i < rf->n; i++) {
		const struct regionfile_region *r = &rf->region[i];

		json_open(&w, NULL, '{');
		json_str(&w, "path", r->path);
		json_u64(&w, "start", r->start);
		json_u64(&w, "end", r->end);
		if (r->kind)
			json_str(&w, "kind", r->kind);
		json_strings(&w, "models", r->models.v, r->models.n);
		json_u64(&w, "support", r->support);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(out, '\n');
}

void regionfile_done(struct regionfile *rf)
{
	for (size_t i = 0; i < rf->n; i++) {
		free(rf->region[i].path);
		free(rf->region[i].kind);
		strv_done(&rf->region[i].models);
	}
	free(rf->region);
	free(rf->file);
	free(rf->instance_id);
	free(rf->algorithm);
	free(rf->lines);
	free(rf->tier);
	strv_done(&rf->models);
	*rf = (struct regionfile){ 0 };
}
