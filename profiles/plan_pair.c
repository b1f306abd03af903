#include "profiles/plan_pair.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define MEMBERS_MAX 1024 /* of one object; a plan's have some dozens */
#define SHOWN_MAX   200  /* bytes of a value in an error text */
#define WHERE_MAX   400  /* bytes of the path there */

/* clang-format off */
/* What a pair may differ in: members of the plan, and members of its members. */
static const struct {
	const char *of, *name; /* of NULL: the plan itself */
} dropped[] = {
	{ NULL,	     "condition" },
	{ NULL,	     "scenario" },
	{ NULL,	     "simulator" },
	/* names of files; what was in them stands beside */
	{ "task",    "file" },
	{ "agent",   "file" },
	{ "profile", "file" },
	{ "model",   "file" },
	{ "prices",  "file" },
};
/* clang-format on */

/* A name that is there twice makes a text that says two things. Depth is bounded by the reader
 * (JSON_DEPTH_MAX). Returns the name, NULL when all is well. */
static const char *twice(const cJSON *v)
{
	const cJSON *one;
	size_t n = 0;

	cJSON_ArrayForEach (one, v) {
		const char *bad;

		if (cJSON_IsObject(v) &&
		    (++n > MEMBERS_MAX || cJSON_GetObjectItemCaseSensitive(v, one->string) != one))
			return one->string;
		bad = twice(one);
		if (bad)
			return bad;
	}
	return NULL;
}

static int parse(const char *text, struct json_src *ret, struct err *err)
{
	const char *bad;
	int rc = json_parse("plan", text, strlen(text), ret, err);
	cJSON *model;

	if (rc == 0)
		rc = json_check_schema(ret, "plan", err);
	if (rc < 0)
		return rc;
	bad = twice(ret->root);
	if (bad)
		return err_set(err, ERR_INPUT,
			       "plan: key \"%.100s\" is there twice, or one of too many; take the "
			       "plan.json that the run wrote",
			       bad);
	for (size_t i = 0; i < ARRAY_SIZE(dropped); i++) {
		cJSON *o = dropped[i].of
				   ? cJSON_GetObjectItemCaseSensitive(ret->root, dropped[i].of)
				   : ret->root;

		cJSON_DeleteItemFromObjectCaseSensitive(o, dropped[i].name);
	}
	model = cJSON_GetObjectItemCaseSensitive(ret->root, "model");
	cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(model, "then"),
						"file");
	return 0;
}

int plan_pair_text(const char *text, struct buf *out, struct err *err)
{
	struct json_src src = { 0 };
	int rc = parse(text, &src, err);
	char *compact = rc == 0 ? cJSON_PrintUnformatted(src.root) : NULL;

	if (compact && buf_adds(out, compact) < 0)
		rc = err_set(err, ERR_INPUT, "the plan is larger than %zu bytes", out->max);
	cJSON_free(compact);
	json_src_done(&src);
	return rc;
}

int plan_pair_digest(const char *text, char out[DIGEST_HEX], struct err *err)
{
	auto_buf pair = BUF_INIT(PLAN_PAIR_FILE_MAX);
	int rc = plan_pair_text(text, &pair, err);

	if (rc == 0)
		digest_bytes(buf_str(&pair), pair.len, out);
	return rc;
}

/* The first place where two trees differ. Depth is bounded by the reader (JSON_DEPTH_MAX). */
struct differ {
	struct buf where;
	const cJSON *a, *b; /* values there, NULL = there is none */
};

static bool differs(struct differ *d, const cJSON *a, const cJSON *b);

static bool below(struct differ *d, const char *name, const cJSON *a, const cJSON *b)
{
	size_t len = d->where.len;

	buf_addf(&d->where, "%s%s", len ? "." : "", name);
	if (differs(d, a, b))
		return true;
	if (d->where.len > len) {
		d->where.data[len] = '\0';
		d->where.len = len;
	}
	return false;
}

static bool objects_differ(struct differ *d, const cJSON *a, const cJSON *b)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, a)
		if (below(d, one->string, one, cJSON_GetObjectItemCaseSensitive(b, one->string)))
			return true;
	cJSON_ArrayForEach (one, b)
		if (!cJSON_GetObjectItemCaseSensitive(a, one->string) &&
		    below(d, one->string, NULL, one))
			return true;
	return false;
}

static bool arrays_differ(struct differ *d, const cJSON *a, const cJSON *b)
{
	const cJSON *x = a->child, *y = b->child;

	for (unsigned i = 0; x || y; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		if (below(d, name, x, y))
			return true;
		x = x ? x->next : NULL;
		y = y ? y->next : NULL;
	}
	return false;
}

static bool differs(struct differ *d, const cJSON *a, const cJSON *b)
{
	if (cJSON_IsObject(a) && cJSON_IsObject(b))
		return objects_differ(d, a, b);
	if (cJSON_IsArray(a) && cJSON_IsArray(b))
		return arrays_differ(d, a, b);
	if (a && b && cJSON_Compare(a, b, true))
		return false;
	d->a = a;
	d->b = b;
	return true;
}

/* A value as an error text shows it. Caller frees. */
static char *shown(const cJSON *v)
{
	auto_free char *all = v ? cJSON_PrintUnformatted(v) : mem_strdup("nothing");
	size_t bad, n = strnlen(all, SHOWN_MAX);

	if (!all[n])
		return take_ptr(&all);
	if (!str_utf8(all, n, &bad))
		n = bad; /* cut between characters */
	return mem_printf("%.*s...", (int)n, all);
}

int plan_pair_check(const char *text_a, const char *text_b, struct err *err)
{
	struct differ d = { .where = BUF_INIT(WHERE_MAX) };
	struct json_src a = { 0 }, b = { 0 };
	int rc = parse(text_a, &a, err);

	if (rc == 0)
		rc = parse(text_b, &b, err);
	if (rc == 0 && differs(&d, a.root, b.root)) {
		auto_free char *x = shown(d.a), *y = shown(d.b);

		rc = err_set(err, ERR_INPUT,
			     "the plans are no pair: they differ in %s: %s and %s; only the "
			     "condition may differ",
			     buf_str(&d.where), x, y);
	}
	buf_done(&d.where);
	json_src_done(&a);
	json_src_done(&b);
	return rc;
}

int plan_pair_run(const char *text, const char *run, struct err *err)
{
	auto_free char *path = path_join(run, "plan.json");
	auto_buf theirs = BUF_INIT(PLAN_PAIR_FILE_MAX);
	int rc = fd_read_file(path, &theirs, err);

	if (rc == 0)
		rc = plan_pair_check(text, buf_str(&theirs), err);
	return rc < 0 ? err_wrap(err, "pairing with %s", run) : 0;
}
