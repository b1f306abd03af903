/* What effects change of a package index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/service_index_internal.h"

#define OFF(type, field) offsetof(struct type, field)

struct aim {
	char *package, *version, *variant, *reason;
};

struct index_change {
	char *name;
	bool down;
	struct aim publish, yank, remove, replace;
};

/* clang-format off */
static const struct json_field aim_rows[] = {
	{ "package", JSON_STR, OFF(aim, package), true },
	{ "version", JSON_STR, OFF(aim, version) },
	{ "variant", JSON_STR, OFF(aim, variant) },
	{ "reason", JSON_STR, OFF(aim, reason) },
	{ NULL },
};

static const struct json_field change_rows[] = {
	{ "name", JSON_STR, OFF(index_change, name) },
	{ "down", JSON_BOOL, OFF(index_change, down) },
	{ "publish", JSON_OBJECT, OFF(index_change, publish), .rows = aim_rows, .doc = "{package, version, variant}: is there from here on" },
	{ "yank", JSON_OBJECT, OFF(index_change, yank), .rows = aim_rows, .doc = "{package, version, reason}: is not to be chosen" },
	{ "remove", JSON_OBJECT, OFF(index_change, remove), .rows = aim_rows, .doc = "{package, version}: is gone; all without a version" },
	{ "replace", JSON_OBJECT, OFF(index_change, replace), .rows = aim_rows, .doc = "{package, version, variant}: other bytes of the same version" },
	{ NULL },
};
/* clang-format on */

static bool aimed(const struct index_release *r, const struct aim *a)
{
	auto_free char *key = r->npm ? mem_strdup(a->package) : service_index_normal(a->package);

	return strcmp(r->key, key) == 0 && (!a->version || strcmp(r->version, a->version) == 0);
}

/* The declared one that @a means exactly, or the reason why there is none. */
static struct index_release *exactly(struct index *x, const struct json_src *src, const char *where,
				     const struct aim *a, struct err *err)
{
	for (size_t i = 0; a->version && i < x->n; i++) {
		if (aimed(&x->v[i], a) && str_eq(x->v[i].variant, a->variant))
			return &x->v[i];
	}
	json_complain(src, where, err, "no package \"%s\" with version \"%s\"%s%s%s is declared",
		      a->package, a->version ? a->version : "", a->variant ? " and variant \"" : "",
		      a->variant ? a->variant : "", a->variant ? "\"" : "");
	return NULL;
}

static struct index_release *published(struct index *x, const struct aim *a)
{
	for (size_t i = 0; i < x->n; i++) {
		if (x->v[i].published && aimed(&x->v[i], a))
			return &x->v[i];
	}
	return NULL;
}

static int publish(struct index *x, const struct json_src *src, const struct aim *a,
		   struct err *err)
{
	struct index_release *r = exactly(x, src, "service.publish", a, err);

	if (!r)
		return -ERR_INPUT;
	if (published(x, a))
		return json_complain(src, "service.publish", err,
				     "%s %s is published already; see \"replace\"", r->name,
				     r->version);
	r->published = true;
	return 0;
}

static int replace(struct index *x, const struct json_src *src, const struct aim *a,
		   struct err *err)
{
	struct index_release *r = exactly(x, src, "service.replace", a, err);
	struct index_release *was = r ? published(x, a) : NULL;

	if (!r)
		return -ERR_INPUT;
	if (!was || was == r)
		return json_complain(src, "service.replace", err,
				     "no other variant of %s %s is published", r->name, r->version);
	was->published = false;
	r->published = true;
	return 0;
}

static int yank(struct index *x, const struct json_src *src, const struct aim *a, struct err *err)
{
	struct index_release *r = a->version ? published(x, a) : NULL;

	if (!r || !service_index_one_line(a->reason))
		return json_complain(src, "service.yank", err,
				     r ? "reason: one line" : "there is no %s %s", a->package,
				     a->version ? a->version : "without a version");
	free(r->reason);
	r->reason = mem_strdup(a->reason);
	r->yanked = true;
	return 0;
}

static int remove_all(struct index *x, const struct json_src *src, const struct aim *a,
		      struct err *err)
{
	struct index_release *r = published(x, a);

	if (!r)
		return json_complain(src, "service.remove", err, "there is no %s %s", a->package,
				     a->version ? a->version : "");
	for (; r; r = published(x, a))
		r->published = false;
	return 0;
}

int service_index_change(void *state, const struct json_src *src, const cJSON *change,
			 struct err *err)
{
	struct index *x = state;
	struct index_change c = { 0 };
	const struct {
		const struct aim *aim;
		int (*fn)(struct index *x, const struct json_src *src, const struct aim *a,
			  struct err *err);
	} ways[] = { { &c.publish, publish },
		     { &c.replace, replace },
		     { &c.yank, yank },
		     { &c.remove, remove_all } };
	int n = 0, rc = json_read(src, "service", change, change_rows, &c, err);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		n += ways[i].aim->package != NULL;
	if (rc == 0 && n > 1)
		rc = json_complain(src, "service", err,
				   "one of publish, replace, yank, remove at a time");
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(ways); i++) {
		if (ways[i].aim->package)
			rc = ways[i].fn(x, src, ways[i].aim, err);
	}
	if (rc == 0 && n)
		snprintf(x->version, sizeof(x->version), "%llu",
			 (unsigned long long)++x->changes + 1);
	json_release(change_rows, &c);
	return rc;
}
