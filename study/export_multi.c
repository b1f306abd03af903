/* Multi-SWE-bench's report.json of each instance, from the "stages" of verdict.json, and final_report.json.
 *
 * A result that is infra, invalid or not graded is incomplete and an error there, as a report that could not be
 * made is in that harness; every other one is completed, and unresolved unless resolved. */
#include "study/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/json.h"
#include "base/mem.h"

/* "org__repo-number" taken apart; strings owned. GitHub's owners have no underscore, so the first "__"
 * ends the owner. */
struct pull {
	char *org, *repo, *number;
};

static void pull_done(struct pull *p)
{
	free(p->org);
	free(p->repo);
	free(p->number);
}

static int pull_of(const char *id, struct pull *ret, struct err *err)
{
	const char *two = strstr(id, "__"), *dash = strrchr(id, '-');
	uint64_t number;

	if (!two || two == id || !dash || dash <= two + 2 || str_u64(dash + 1, &number) < 0)
		return err_set(err, ERR_INPUT,
			       "%s: not a name of Multi-SWE-bench's form \"org__repo-number\"", id);
	*ret = (struct pull){ .org = mem_strndup(id, (size_t)(two - id)),
			      .repo = mem_strndup(two + 2, (size_t)(dash - two - 2)),
			      .number = mem_strdup(dash + 1) };
	return 0;
}

/* A string of ours, with \xNN undone, as a string of JSON for others. */
static void put_string(struct buf *out, struct jslice v)
{
	char *s = jslice_cstr(v);

	if (s)
		json_unescape_bytes(s);
	jslice_put(out, s ? s : "", s ? strlen(s) : 0);
	free(s);
}

/* @v with every string and key in it as others have it. Depth is what stages_report() writes: 3. */
static void put_value(struct buf *out, struct jslice v, unsigned depth)
{
	struct jslice_walk w = jslice_walk(v);
	struct jslice key, value;
	bool first = true;

	if (!w.p || depth == 4) {
		if (jslice_kind(v) == '"')
			put_string(out, v);
		else
			jslice_raw(out, v);
		return;
	}
	buf_addc(out, w.object ? '{' : '[');
	while (jslice_member(&w, &key, &value)) {
		if (!first)
			buf_addc(out, ',');
		first = false;
		if (key.n) {
			put_string(out, key);
			buf_addc(out, ':');
		}
		put_value(out, value, depth + 1);
	}
	buf_addc(out, jslice_kind(v) == '{' ? '}' : ']');
}

static int write_report(const struct export_job *job, const struct export_item *it,
			const struct pull *p, struct buf *log, struct err *err)
{
	auto_free char *name =
		mem_printf("%s/%s/evals/pr-%s/report.json", p->org, p->repo, p->number);
	auto_buf out = BUF_INIT(EXPORT_TEXT_MAX);
	struct jslice stages, key, value;
	struct jslice_walk w;

	if (!it->v.stages)
		return err_set(
			err, ERR_INPUT,
			"%s: not graded in three stages; a Multi-SWE-bench report needs a task "
			"with \"test\": { \"stages\": true }",
			it->dir);
	if (jslice_parse(it->dir, it->v.stages, strlen(it->v.stages), &stages, err) < 0)
		return -ERR_INPUT;
	buf_addc(&out, '{');
	export_field(&out, "org", p->org);
	export_field(&out, "repo", p->repo);
	buf_addf(&out, ",\"number\":%s", p->number);
	for (w = jslice_walk(stages); jslice_member(&w, &key, &value);) {
		if (jslice_is(key, "class_changed"))
			continue; /* ours */
		buf_addc(&out, ',');
		put_string(&out, key);
		buf_addc(&out, ':');
		put_value(&out, value, 1);
	}
	buf_adds(&out, "}\n");
	return export_write_buf(job, name, &out, log, err);
}

/* Has it a result? An empty patch's is one there. */
#define COMPLETE                                                                                   \
	(EXPORT_BIT(EXPORT_EMPTY) | EXPORT_BIT(EXPORT_RESOLVED) | EXPORT_BIT(EXPORT_UNRESOLVED))

/* Lists of the final report and the classes of results that they hold. */
static const struct {
	const char *name;
	unsigned classes;
} lists[] = {
	{ "submitted", ~0u },
	{ "completed", COMPLETE },
	{ "incomplete", ~COMPLETE },
	{ "resolved", EXPORT_BIT(EXPORT_RESOLVED) },
	{ "unresolved", EXPORT_BIT(EXPORT_EMPTY) | EXPORT_BIT(EXPORT_UNRESOLVED) },
	{ "empty_patch", 0 }, /* that harness leaves it empty, the patch is unresolved */
	{ "error", ~COMPLETE },
};

static bool belongs(unsigned classes, const struct export_item *it)
{
	return (classes & EXPORT_BIT(export_class_of(it))) != 0;
}

static int write_final(const struct export_job *job, const struct export_items *items,
		       const struct pull *pulls, struct buf *log, struct err *err)
{
	auto_buf out = BUF_INIT(EXPORT_TEXT_MAX);

	buf_addf(&out, "{\n    \"total_instances\": %zu", items->n);
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		size_t n = 0;

		for (size_t i = 0; i < items->n; i++)
			n += belongs(lists[l].classes, &items->v[i]);
		buf_addf(&out, ",\n    \"%s_instances\": %zu", lists[l].name, n);
	}
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		const char *comma = "";

		buf_addf(&out, ",\n    \"%s_ids\": [", lists[l].name);
		for (size_t i = 0; i < items->n; i++) {
			if (!belongs(lists[l].classes, &items->v[i]))
				continue;
			buf_addf(&out, "%s\n        \"%s/%s:pr-%s\"", comma, pulls[i].org,
				 pulls[i].repo, pulls[i].number);
			comma = ",";
		}
		buf_adds(&out, *comma ? "\n    ]" : "]");
	}
	buf_adds(&out, "\n}\n");
	return export_write_buf(job, "final_report.json", &out, log, err);
}

int export_multi_report(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	struct pull *pulls;
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	pulls = mem_zalloc(items.n, sizeof(*pulls));
	for (size_t i = 0; i < items.n && rc == 0; i++)
		rc = pull_of(items.v[i].v.instance_id, &pulls[i], err);
	for (size_t i = 0; i < items.n && rc == 0; i++)
		if (belongs(COMPLETE, &items.v[i]))
			rc = write_report(job, &items.v[i], &pulls[i], out, err);
	if (rc == 0)
		rc = write_final(job, &items, pulls, out, err);
	for (size_t i = 0; i < items.n; i++)
		pull_done(&pulls[i]);
	free(pulls);
	export_items_done(&items);
	return rc;
}
