#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json_internal.h"
#include "base/mem.h"
#include "base/str.h"

int json_parse(const char *name, const char *text, size_t n, struct json_src *ret, struct err *err)
{
	auto_free char *copy = mem_dup(text, n);
	const char *end = NULL;
	cJSON *root;

	if (json_prescan(name, copy, n, err) < 0)
		return -ERR_INPUT;
	root = cJSON_ParseWithLengthOpts(copy, n + 1, &end, true);
	if (!root)
		return json_at(name, copy, end && end > copy ? (size_t)(end - copy) : 0, err,
			       "not valid JSON from here on");
	ret->name = mem_strdup(name);
	ret->root = root;
	return 0;
}

int json_load(const char *path, struct json_src *ret, struct err *err)
{
	auto_buf b = BUF_INIT(JSON_FILE_MAX);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : json_parse(path, buf_str(&b), b.len, ret, err);
}

void json_src_done(struct json_src *src)
{
	cJSON_Delete(src->root);
	free(src->name);
	*src = (struct json_src){ 0 };
}

int json_complain(const struct json_src *src, const char *where, struct err *err, const char *fmt,
		  ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = mem_vprintf(fmt, ap);
	va_end(ap);
	err_set(err, ERR_INPUT, "%s: %s: %s", src->name, where, text);
	free(text);
	return -ERR_INPUT;
}

int json_check_schema(const struct json_src *src, const char *kind, struct err *err)
{
	const cJSON *item;
	char want[64];

	snprintf(want, sizeof(want), "proctor.%s/1", kind);
	if (!cJSON_IsObject(src->root))
		return json_complain(src, "$", err, "expected an object with \"schema\": \"%s\"",
				     want);
	item = cJSON_GetObjectItemCaseSensitive(src->root, "schema");
	if (!item)
		return json_complain(src, "$", err,
				     "\"schema\" is missing; write \"schema\": \"%s\"", want);
	if (!cJSON_IsString(item) || strcmp(item->valuestring, want) != 0)
		return json_complain(src, "$.schema", err, "expected \"%s\", found %s", want,
				     cJSON_IsString(item) ? item->valuestring : "no string");
	return 0;
}

static const char *kind_text(enum json_kind kind)
{
	static const char *const text[] = {
		[JSON_STR] = "a string",
		[JSON_BOOL] = "true or false",
		[JSON_U64] = "a whole number, 0 or more",
		[JSON_DOUBLE] = "a number",
		[JSON_SIZE] = "a size such as \"4G\" or a number of bytes",
		[JSON_DURATION] = "a duration such as \"30s\" or a number of seconds",
		[JSON_MONEY] = "an amount such as \"3.00\"",
		[JSON_STRV] = "an array of strings",
		[JSON_ENV] = "an object of strings",
		[JSON_ENUM] = "a string",
		[JSON_OBJECT] = "an object",
		[JSON_ARRAY] = "an array of objects",
		[JSON_U64V] = "an array of whole numbers",
	};

	return text[kind];
}

static int wrong_type(const struct json_src *src, const char *where, enum json_kind kind,
		      struct err *err)
{
	return json_complain(src, where, err, "expected %s", kind_text(kind));
}

static bool whole(const cJSON *item, uint64_t *ret)
{
	/* 2^53: beyond it a double no longer holds every whole number. */
	if (!cJSON_IsNumber(item) || item->valuedouble < 0 ||
	    item->valuedouble > 9007199254740992.0 || floor(item->valuedouble) != item->valuedouble)
		return false;
	*ret = (uint64_t)item->valuedouble;
	return true;
}

static int read_scaled(const struct json_src *src, const char *where, const cJSON *item,
		       enum json_kind kind, uint64_t *out, struct err *err)
{
	uint64_t v;
	int rc;

	if (cJSON_IsString(item)) {
		const char *s = item->valuestring;

		rc = kind == JSON_SIZE       ? str_size(s, out)
		     : kind == JSON_DURATION ? str_duration(s, out)
					     : str_money(s, out);
		return rc == 0 ? 0 : wrong_type(src, where, kind, err);
	}
	if (kind == JSON_MONEY && cJSON_IsNumber(item) && item->valuedouble >= 0 &&
	    item->valuedouble < 1e9) {
		*out = (uint64_t)llround(item->valuedouble * 1e6);
		return 0;
	}
	if (!whole(item, &v))
		return wrong_type(src, where, kind, err);
	if (kind == JSON_DURATION && __builtin_mul_overflow(v, 1000000000ull, &v))
		return wrong_type(src, where, kind, err);
	*out = v;
	return 0;
}

static int read_strv(const struct json_src *src, const char *where, const cJSON *item,
		     struct strv *out, struct err *err)
{
	struct strv sv = { 0 };
	const cJSON *e;

	if (!cJSON_IsArray(item))
		return wrong_type(src, where, JSON_STRV, err);
	cJSON_ArrayForEach (e, item) {
		if (!cJSON_IsString(e)) {
			strv_done(&sv);
			return wrong_type(src, where, JSON_STRV, err);
		}
		strv_add(&sv, e->valuestring);
	}
	strv_done(out);
	*out = sv;
	return 0;
}

static int read_env(const struct json_src *src, const char *where, const cJSON *item,
		    struct strv *out, struct err *err)
{
	const cJSON *e;

	if (!cJSON_IsObject(item))
		return wrong_type(src, where, JSON_ENV, err);
	cJSON_ArrayForEach (e, item) {
		for (const cJSON *other = item->child; other != e; other = other->next) {
			auto_free char *at = mem_printf("%s.%s", where, e->string);

			if (strcmp(other->string, e->string) == 0)
				return json_complain(src, at, err, "key given twice");
		}
		if (!cJSON_IsString(e) || !e->string[0] || strchr(e->string, '='))
			return json_complain(
				src, where, err,
				"\"%s\" must be a name without \"=\" with a string value",
				e->string);
	}
	strv_done(out);
	cJSON_ArrayForEach (e, item)
		strv_take(out, mem_printf("%s=%s", e->string, e->valuestring));
	return 0;
}

static int read_enum(const struct json_src *src, const char *where, const cJSON *item,
		     const char *const *choices, int *out, struct err *err)
{
	auto_buf list = BUF_INIT(4096);
	const char *near;

	if (!cJSON_IsString(item))
		return wrong_type(src, where, JSON_ENUM, err);
	for (int i = 0; choices[i]; i++) {
		if (strcmp(choices[i], item->valuestring) == 0) {
			*out = i;
			return 0;
		}
		buf_addf(&list, "%s%s", i ? ", " : "", choices[i]);
	}
	near = str_nearest(item->valuestring, choices);
	return json_complain(src, where, err, "unknown value \"%s\"%s%s%s; choose one of: %s",
			     item->valuestring, near ? ", did you mean \"" : "", near ? near : "",
			     near ? "\"?" : "", buf_str(&list));
}

static int read_array(const struct json_src *src, const char *where, const cJSON *item,
		      const struct json_field *f, struct json_array *out, struct err *err)
{
	struct json_array arr = { 0 };
	const cJSON *e;
	size_t i = 0;
	int rc = 0;

	if (!cJSON_IsArray(item))
		return wrong_type(src, where, f->kind, err);
	arr.n = (size_t)cJSON_GetArraySize(item);
	arr.v = mem_zalloc(arr.n, f->kind == JSON_U64V ? sizeof(uint64_t) : f->size);
	cJSON_ArrayForEach (e, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, i);

		if (f->kind == JSON_U64V)
			rc = whole(e, (uint64_t *)arr.v + i) ? 0
							     : wrong_type(src, at, JSON_U64, err);
		else if (!cJSON_IsObject(e))
			rc = wrong_type(src, at, JSON_OBJECT, err);
		else
			rc = json_read(src, at, e, f->rows, (char *)arr.v + i * f->size, err);
		if (rc < 0)
			break;
		i++;
	}
	if (rc < 0) {
		struct json_field one[] = {
			{ .name = "x", .kind = f->kind, .rows = f->rows, .size = f->size },
			{ .name = NULL }
		};
		json_release(one, &arr);
		return rc;
	}
	*out = arr;
	return 0;
}

static int replace_array(const struct json_src *src, const char *where, const cJSON *item,
			 const struct json_field *f, struct json_array *out, struct err *err)
{
	struct json_array fresh = { 0 };
	struct json_field old[] = { *f, { .name = NULL } };
	int rc = read_array(src, where, item, f, &fresh, err);

	if (rc < 0)
		return rc;
	old[0].off = 0;
	json_release(old, out);
	*out = fresh;
	return 0;
}

static int read_one(const struct json_src *src, const char *where, const cJSON *item,
		    const struct json_field *f, void *out, struct err *err)
{
	char *p = (char *)out + f->off;

	switch (f->kind) {
	case JSON_STR:
		if (cJSON_IsNull(item))
			return 0;
		if (!cJSON_IsString(item))
			return wrong_type(src, where, f->kind, err);
		free(*(char **)p);
		*(char **)p = mem_strdup(item->valuestring);
		return 0;
	case JSON_BOOL:
		if (!cJSON_IsBool(item))
			return wrong_type(src, where, f->kind, err);
		*(bool *)p = cJSON_IsTrue(item);
		return 0;
	case JSON_U64:
		return whole(item, (uint64_t *)p) ? 0 : wrong_type(src, where, f->kind, err);
	case JSON_DOUBLE:
		if (!cJSON_IsNumber(item))
			return wrong_type(src, where, f->kind, err);
		*(double *)p = item->valuedouble;
		return 0;
	case JSON_SIZE:
	case JSON_DURATION:
	case JSON_MONEY:
		return read_scaled(src, where, item, f->kind, (uint64_t *)p, err);
	case JSON_STRV:
		return read_strv(src, where, item, (struct strv *)p, err);
	case JSON_ENV:
		return read_env(src, where, item, (struct strv *)p, err);
	case JSON_ENUM:
		return read_enum(src, where, item, f->choices, (int *)p, err);
	case JSON_OBJECT:
		if (!cJSON_IsObject(item))
			return wrong_type(src, where, f->kind, err);
		return json_read(src, where, item, f->rows, p, err);
	case JSON_ARRAY:
	case JSON_U64V:
		return replace_array(src, where, item, f, (struct json_array *)p, err);
	case JSON_RAW:
		free(*(char **)p);
		*(char **)p = cJSON_PrintUnformatted(item);
		return 0;
	case JSON_CUSTOM:
		return f->parse(src, where, item, p, err);
	}
	return -ERR_BUG;
}

static int unknown_key(const struct json_src *src, const char *where, const char *key,
		       const struct json_field *rows, struct err *err)
{
	const char *names[128], *near;
	size_t n = 0;

	for (; rows->name && n + 1 < ARRAY_SIZE(names); rows++)
		names[n++] = rows->name;
	names[n] = NULL;
	near = str_nearest(key, names);
	return json_complain(src, where, err, "unknown key \"%s\"%s%s%s", key,
			     near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

int json_read(const struct json_src *src, const char *where, const cJSON *obj,
	      const struct json_field *rows, void *out, struct err *err)
{
	const cJSON *item, *other;
	int rc;

	cJSON_ArrayForEach (item, obj) {
		auto_free char *at = mem_printf("%s.%s", where, item->string);
		const struct json_field *f = rows;

		for (other = obj->child; other != item; other = other->next) {
			if (strcmp(other->string, item->string) == 0)
				return json_complain(src, at, err, "key given twice");
		}
		if (strcmp(where, "$") == 0 && strcmp(item->string, "schema") == 0)
			continue;
		while (f->name && strcmp(f->name, item->string) != 0)
			f++;
		if (!f->name)
			return unknown_key(src, where, item->string, rows, err);
		rc = read_one(src, at, item, f, out, err);
		if (rc < 0)
			return rc;
	}
	for (const struct json_field *f = rows; f->name; f++) {
		if (f->required && !cJSON_GetObjectItemCaseSensitive(obj, f->name))
			return json_complain(src, where, err, "\"%s\" is missing%s%s", f->name,
					     f->doc ? ": " : "", f->doc ? f->doc : "");
	}
	return 0;
}

void json_release(const struct json_field *rows, void *out)
{
	for (; rows->name; rows++) {
		char *p = (char *)out + rows->off;
		struct json_array *arr = (struct json_array *)p;

		switch (rows->kind) {
		case JSON_STR:
		case JSON_RAW:
			free(*(char **)p);
			*(char **)p = NULL;
			break;
		case JSON_STRV:
		case JSON_ENV:
			strv_done((struct strv *)p);
			break;
		case JSON_OBJECT:
			json_release(rows->rows, p);
			break;
		case JSON_ARRAY:
			for (size_t i = 0; i < arr->n; i++)
				json_release(rows->rows, (char *)arr->v + i * rows->size);
			free(arr->v);
			*arr = (struct json_array){ 0 };
			break;
		case JSON_U64V:
			free(arr->v);
			*arr = (struct json_array){ 0 };
			break;
		case JSON_BOOL:
		case JSON_U64:
		case JSON_DOUBLE:
		case JSON_SIZE:
		case JSON_DURATION:
		case JSON_MONEY:
		case JSON_ENUM:
		case JSON_CUSTOM:
			break;
		}
	}
}
