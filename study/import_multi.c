/* Multi-SWE-bench's row: a pull request with the classes that its tests went through in three runs.
 *
 * The statement is made of the issues that the change resolved; the pull request's own title and text would
 * tell the change. Commands are not in the row: they come from test-spec rows. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/import_rows_internal.h"

#define STATEMENT_MAX (4u << 20)
#define OFF(field)    offsetof(struct task, field)

static const struct held held[] = {
	/* clang-format off */
	{ { "fix_patch", NULL },  false, OFF(patch) },
	{ { "test_patch", NULL }, false, OFF(test_patch) },
	{ { NULL, NULL },         false, 0 },
	/* clang-format on */
};

static int take_names(struct row *row, struct err *err)
{
	struct task *t = &row->task;
	struct jslice no = jslice_get(row->v, "number");
	auto_free char *org = jslice_cstr(jslice_get(row->v, "org")),
		       *repo = jslice_cstr(jslice_get(row->v, "repo"));
	auto_free char *digits = mem_strndup(no.n ? no.s : "", no.n);
	uint64_t number;

	if (!org || !repo || str_u64(digits, &number) < 0)
		return row_complain(
			row, err,
			"expected \"org\" and \"repo\", strings, and \"number\", a number");
	t->instance_id = mem_printf("%s__%s-%s", org, repo, digits);
	t->repo = mem_printf("%s/%s", org, repo);
	if (!row_is_id(t->instance_id))
		return row_complain(row, err, "\"%.200s\" is not a name for a task",
				    t->instance_id);
	return 0;
}

static void take_base(struct row *row)
{
	char *sha = jslice_cstr(jslice_get(jslice_get(row->v, "base"), "sha"));

	if (sha && strlen(sha) == 40 && strspn(sha, "0123456789abcdef") == 40) {
		row->task.base_commit = sha;
		return;
	}
	row_reason(row, "base.sha is not 40 hexadecimal digits");
	free(sha);
}

static void take_statement(struct row *row)
{
	struct jslice_walk w = jslice_walk(jslice_get(row->v, "resolved_issues"));
	auto_buf b = BUF_INIT(STATEMENT_MAX);
	struct jslice issue;

	while (!w.object && jslice_member(&w, NULL, &issue)) {
		auto_free char *title = jslice_cstr(jslice_get(issue, "title")),
			       *body = jslice_cstr(jslice_get(issue, "body"));

		if (b.len)
			buf_adds(&b, "\n\n");
		if (title)
			buf_adds(&b, title);
		if (title && body && *body)
			buf_adds(&b, "\n\n");
		if (body)
			buf_adds(&b, body);
	}
	if (!b.len)
		row_reason(row, "no resolved issue: no problem statement");
	if (!str_utf8(buf_str(&b), b.len, NULL)) {
		row_reason(row, "the issues' text is not UTF-8");
		buf_clear(&b);
	}
	row->task.problem_statement = buf_steal(&b, NULL);
}

/* Names that are the keys of object @key of the row. */
static void take_class(struct row *row, const char *key, struct strv *out)
{
	struct jslice_walk w = jslice_walk(jslice_get(row->v, key));
	struct jslice k, v;

	while (w.object && jslice_member(&w, &k, &v)) {
		char *name = jslice_cstr(k);

		if (name && *name && str_utf8(name, strlen(name), NULL)) {
			strv_take(out, name);
		} else {
			row_reason(row, "%s: a name that is empty, not UTF-8 or holds NUL", key);
			free(name);
		}
	}
}

static void take_classes(struct row *row)
{
	struct task *t = &row->task;

	t->test.stages = true;
	take_class(row, "f2p_tests", &t->fail_to_pass);
	take_class(row, "s2p_tests", &t->test.s2p);
	take_class(row, "n2p_tests", &t->test.n2p);
	take_class(row, "p2p_tests", &t->pass_to_pass);
	strv_each (i, &t->test.s2p)
		strv_add(&t->fail_to_pass, t->test.s2p.v[i]);
	strv_each (i, &t->test.n2p)
		strv_add(&t->fail_to_pass, t->test.n2p.v[i]);
	if (!t->fail_to_pass.n) /* rows that have the sum alone */
		take_class(row, "fixed_tests", &t->fail_to_pass);
	if (!t->fail_to_pass.n)
		row_reason(row, "no test that the fix makes pass");
}

static void check_patch(struct row *row, const char *name, char **patch)
{
	if (*patch && (!**patch || strchr(*patch, '\n')))
		return;
	row_reason(row, "%s is no diff", name);
	free(*patch);
	*patch = NULL;
}

static int convert(const struct rows_ctx *ctx, struct row *row, struct err *err)
{
	struct task *t = &row->task;
	auto_free char *workdir = NULL;
	int rc = row_take_held(&family_multi, row, err);

	if (rc == 0)
		rc = take_names(row, err);
	if (rc < 0)
		return rc;
	check_patch(row, "fix_patch", &t->patch);
	check_patch(row, "test_patch", &t->test_patch);
	take_base(row);
	take_statement(row);
	take_classes(row);
	workdir = mem_printf("/home/%s", strchr(t->repo, '/') + 1);
	rc = row_place(ctx, row, t->repo, NULL, workdir, err);
	row_match(ctx, row, TASK_MATCH_EXACT);
	if (rc == 0 && !row_from_spec(ctx, row, t->repo))
		row_reason(row, "no test command: no test-spec row is for %s; give --spec FILE",
			   t->repo);
	row_check_command(row);
	return rc;
}

const struct family family_multi = { "multi-swe-bench", held, convert, false };
