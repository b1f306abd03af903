#include "study/batch.h"

#include <stddef.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const verdicts[] = { "resolved", "unresolved", "invalid", "infra", NULL };

#define OFF(field) offsetof(struct graded, field)

/* clang-format off */
static const struct json_field rows[] = {
	{ "instance_id", JSON_STR, OFF(instance_id), true, .doc = "name of the task, as the predictions have it" },
	{ "model", JSON_STR, OFF(model), true, .doc = "model_name_or_path of the prediction, \"\" when it has none" },
	{ "verdict", JSON_ENUM, OFF(verdict), true, .choices = verdicts, .doc = "resolved, unresolved, invalid or infra" },
	{ "reason", JSON_STR, OFF(reason), true, .doc = "one line" },
	{ "patch_exists", JSON_BOOL, OFF(patch_exists), .doc = "the prediction has a patch that is not empty" },
	{ "patch_applied", JSON_BOOL, OFF(patch_applied), .doc = "and it went onto the base" },
	{ "f2p_passed", JSON_U64, OFF(f2p_passed), .doc = "FAIL_TO_PASS tests that passed" },
	{ "f2p", JSON_U64, OFF(f2p), .doc = "of so many" },
	{ "p2p_passed", JSON_U64, OFF(p2p_passed), .doc = "PASS_TO_PASS tests that passed" },
	{ "p2p", JSON_U64, OFF(p2p), .doc = "of so many" },
	{ "tamper", JSON_U64, OFF(tamper), .doc = "number of tamper rows in verdict.json" },
	{ "infra_repeats", JSON_U64, OFF(infra_repeats), .doc = "gradings that ended infra before this one" },
	{ "input", JSON_STR, OFF(input), true, .doc = "SHA-256 over task, patch and policy" },
	{ "digest", JSON_STR, OFF(digest), .doc = "as in verdict.json" },
	{ NULL },
};
/* clang-format on */

int graded_parse(const char *name, const char *text, size_t n, struct graded *ret, struct err *err)
{
	struct json_src src = { 0 };
	struct graded g = { 0 };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = json_check_schema(&src, "graded", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, rows, &g, err);
	json_src_done(&src);
	if (rc < 0)
		graded_done(&g);
	else
		*ret = g;
	return rc;
}

void graded_done(struct graded *g)
{
	json_release(rows, g);
}

void graded_print(const struct graded *g, struct buf *out)
{
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.graded/1");
	json_str(&w, "instance_id", g->instance_id);
	json_str(&w, "model", g->model);
	json_str(&w, "verdict", verdicts[g->verdict]);
	json_str(&w, "reason", g->reason);
	json_bool(&w, "patch_exists", g->patch_exists);
	json_bool(&w, "patch_applied", g->patch_applied);
	json_u64(&w, "f2p_passed", g->f2p_passed);
	json_u64(&w, "f2p", g->f2p);
	json_u64(&w, "p2p_passed", g->p2p_passed);
	json_u64(&w, "p2p", g->p2p);
	json_u64(&w, "tamper", g->tamper);
	json_u64(&w, "infra_repeats", g->infra_repeats);
	json_str(&w, "input", g->input);
	json_str(&w, "digest", g->digest);
	json_close(&w, '}');
	buf_addc(out, '\n');
}
