/* --set: the rows that read a profile file, walked by a dotted path. */
#include "profiles/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "profiles/profile_internal.h"
#include "profiles/rows_internal.h"

/* All dotted paths that lead to a value. */
static void paths(struct strv *out, const char *prefix, const struct json_field *rows)
{
	for (; rows->name; rows++) {
		auto_free char *path = mem_printf("%s%s", prefix, rows->name);
		auto_free char *below = mem_printf("%s.", path);

		if (rows->kind == JSON_OBJECT)
			paths(out, below, rows->rows);
		else if (rows->kind != JSON_CUSTOM)
			strv_add(out, path);
	}
}

/* The path that was probably meant: the nearest one, or one that ends in the word given. */
static const char *meant(const char *path, const struct strv *all)
{
	const char *last = strrchr(path, '.');

	last = last ? last + 1 : path;
	strv_each (i, all) {
		const char *dot = strrchr(all->v[i], '.');

		if (dot && strcmp(dot + 1, last) == 0)
			return all->v[i];
	}
	return str_nearest(path, (const char *const *)all->v);
}

static int unknown(const char *assignment, const char *path, struct err *err)
{
	auto_strv all = { 0 };
	const char *near;

	if (strcmp(path, "extends") == 0)
		return err_set(err, ERR_USAGE, "--set %s: a profile is chosen with --profile NAME",
			       assignment);
	paths(&all, "", profile_rows);
	near = meant(path, &all);
	return err_set(err, ERR_USAGE, "--set %.200s: there is no field \"%.200s\"%s%s%s",
		       assignment, path, near ? ", did you mean \"" : "", near ? near : "",
		       near ? "\"?" : "; docs/formats lists the fields of a profile");
}

static cJSON *list_item(const char *value)
{
	cJSON *list = cJSON_CreateArray();

	while (*value) {
		size_t n = strcspn(value, ",");
		auto_free char *one = mem_strndup(value, n);

		cJSON_AddItemToArray(list, cJSON_CreateString(one));
		value += n + (value[n] == ',');
	}
	return list;
}

/* "0.2", whole, no sign: a number as JSON has it but for exponents, which nobody types. 0 or -1. */
static int decimal(const char *s, double *ret)
{
	size_t n = strspn(s, "0123456789");

	if (!n || n > 15)
		return -1;
	if (s[n] == '.')
		n += 1 + strspn(s + n + 1, "0123456789");
	if (s[n] || s[n - 1] == '.' || n > 30)
		return -1;
	*ret = strtod(s, NULL);
	return 0;
}

/* @value as the JSON that a file would hold for @row. A text that does not fit the row's kind stays
 * a string, and the reader then says what was expected. */
static cJSON *value_item(const struct json_field *row, const char *value)
{
	uint64_t v;
	double d;

	if (row->kind == JSON_STRV)
		return list_item(value);
	if (row->kind == JSON_BOOL && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0))
		return cJSON_CreateBool(value[0] == 't');
	if (row->kind == JSON_U64 && str_u64(value, &v) == 0)
		return cJSON_CreateNumber((double)v);
	if (row->kind == JSON_DOUBLE && decimal(value, &d) == 0)
		return cJSON_CreateNumber(d);
	return cJSON_CreateString(value);
}

/* {"limits": {"wall": "10m"}} for "limits.wall" and "10m"; NULL when no such field is there. */
static cJSON *tree(const struct json_field *rows, char *path, const char *value)
{
	char *dot = strchr(path, '.');
	cJSON *item, *obj;

	if (dot)
		*dot = '\0';
	while (rows->name && strcmp(rows->name, path) != 0)
		rows++;
	if (!rows->name || rows->kind == JSON_CUSTOM ||
	    (rows->kind == JSON_OBJECT) != (dot != NULL))
		return NULL;
	item = dot ? tree(rows->rows, dot + 1, value) : value_item(rows, value);
	if (!item)
		return NULL;
	obj = cJSON_CreateObject();
	cJSON_AddItemToObject(obj, rows->name, item);
	return obj;
}

int plan_set(struct profile *p, const char *assignment, struct err *err)
{
	size_t n = strcspn(assignment, "="), bad;
	auto_free char *path = mem_strndup(assignment, n), *walked = mem_strdup(path);
	auto_free char *cwd = NULL;
	struct json_src src = { 0 };
	int rc;

	if (!assignment[n] || !n)
		return err_set(err, ERR_USAGE,
			       "--set %.200s: expected FIELD=VALUE, such as limits.wall=10m",
			       assignment);
	if (!str_utf8(assignment, strlen(assignment), &bad))
		return err_set(err, ERR_USAGE, "--set %.200s: byte %zu is not UTF-8", assignment,
			       bad);
	src.root = tree(profile_rows, walked, assignment + n + 1);
	if (!src.root)
		return unknown(assignment, path, err);
	src.name = mem_printf("--set %s", assignment);
	rc = json_read(&src, "$", src.root, profile_rows, p, err);
	cwd = getcwd(NULL, 0);
	if (rc == 0)
		rc = profile_check(&src, cwd, p, err);
	json_src_done(&src);
	if (rc < 0 && err)
		err->code = ERR_USAGE;
	return rc < 0 ? -ERR_USAGE : 0;
}
