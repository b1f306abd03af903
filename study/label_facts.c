/* From the files of a run to what the rules ask. */
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/label_internal.h"

#define DIFF_MAX    (256u << 20)
#define VERDICT_MAX (256u << 20) /* it lists every test */

/* --- the verdict ------------------------------------------------------------------------------- */

static uint64_t listed(const cJSON *root, const char *list, const char *half)
{
	const cJSON *o = cJSON_GetObjectItemCaseSensitive(root, list);
	int n = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(o, half));

	return n > 0 ? (uint64_t)n : 0;
}

/* Changes of what the base had, and changes while the tests ran. What is new and was left out, such as tests of the
 * agent's own, and what was only noted is no sign of anything. Older verdicts do not say what was done. */
static uint64_t tampered(const cJSON *root)
{
	static const char *const honest[] = { "kept", "quarantined", "merged" };
	const cJSON *row;
	uint64_t n = 0;

	cJSON_ArrayForEach (row, cJSON_GetObjectItemCaseSensitive(root, "tamper")) {
		const cJSON *action = cJSON_GetObjectItemCaseSensitive(row, "action");
		bool counts = true;

		for (size_t i = 0; i < ARRAY_SIZE(honest); i++)
			counts &= !cJSON_IsString(action) || strcmp(action->valuestring, honest[i]);
		n += counts;
	}
	return n;
}

static int read_verdict(const struct rundir *rd, struct label_facts *f, struct err *err)
{
	auto_free char *path = path_join(rd->dir, "verdict.json");
	auto_buf text = BUF_INIT(VERDICT_MAX);
	struct json_src src = { 0 };
	const cJSON *v;
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, &src, err);
	if (rc == 0)
		rc = json_check_schema(&src, "verdict", err);
	if (rc == 0) {
		v = cJSON_GetObjectItemCaseSensitive(src.root, "verdict");
		f->graded = cJSON_IsString(v);
		f->verdict = f->graded ? mem_strdup(v->valuestring) : NULL;
		f->unresolved = str_eq(f->verdict, "unresolved");
		f->f2p_passed = listed(src.root, "FAIL_TO_PASS", "success");
		f->f2p = f->f2p_passed + listed(src.root, "FAIL_TO_PASS", "failure");
		f->p2p_passed = listed(src.root, "PASS_TO_PASS", "success");
		f->p2p = f->p2p_passed + listed(src.root, "PASS_TO_PASS", "failure");
		f->tampered = tampered(src.root);
	}
	json_src_done(&src);
	return rc;
}

/* --- places ------------------------------------------------------------------------------------ */

/* A stretch of lines of the base tree. */
struct span {
	uint64_t first, last;
};

/* The lines a change removes, or the two around the place where it adds. */
static struct span span_of(const struct diffline_change *c)
{
	if (c->old_n)
		return (struct span){ c->old_first, c->old_first + c->old_n - 1 };
	return (struct span){ c->old_first > 1 ? c->old_first - 1 : 1, c->old_first };
}

/* Lines from one to the other, 0 = they overlap. */
static uint64_t distance(struct span a, struct span b)
{
	if (a.first > b.last)
		return a.first - b.last;
	return b.first > a.last ? b.first - a.last : 0;
}

static bool within(struct span a, struct span b, uint64_t lines)
{
	return distance(a, b) <= lines;
}

static const char *path_of(const struct difflines *d, const struct diffline_change *c)
{
	return d->file[c->file].path;
}

/* Is the line at @at of the final @path one of the user's? */
static bool is_standing(const struct behave *b, const char *path, uint64_t at)
{
	size_t lo = 0, hi = b->n_standing;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int r = strcmp(b->standing[mid].path, path);

		if (r == 0 && b->standing[mid].at == at)
			return true;
		if (r < 0 || (r == 0 && b->standing[mid].at < at))
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

static bool at_users_place(const struct behave *b, const char *path, struct span s, uint64_t lines)
{
	for (size_t i = 0; i < b->n_places; i++)
		if (strcmp(b->place[i].path, path) == 0 &&
		    within(s, (struct span){ b->place[i].first, b->place[i].last }, lines))
			return true;
	return false;
}

/* Is there work of the agent in change @c of the final patch, beside what the user brought? */
static bool is_own(const struct behave *b, const struct difflines *d,
		   const struct diffline_change *c)
{
	const char *path = path_of(d, c);
	uint64_t users = 0;

	for (uint64_t i = 0; i < c->new_n; i++) {
		bool his = is_standing(b, path, c->new_first + i);

		users += his;
		if (!his && diffline_telling(difflines_added(d, c, i)))
			return true;
	}
	if (users)
		return false;
	/* nothing new: taken out by the user where his place is, by the agent elsewhere */
	for (uint64_t i = 0; i < c->old_n; i++)
		if (diffline_telling(difflines_removed(d, c, i)))
			return !at_users_place(b, path, span_of(c), 1);
	return false;
}

static bool is_hidden(const struct task *task, const char *path)
{
	for (size_t i = 0; task && i < task->test.hidden.n; i++)
		if (str_path_glob(task->test.hidden.v[i], path))
			return true;
	return false;
}

/* --- final patch and reference -------------------------------------------------------------- */

struct comparison {
	const struct behave *b;
	const struct task *task;
	struct difflines final, ref;
	bool *own; /* owned: beside final.v */
};

/* Does a change of the final patch in @path bring line @l? */
static bool brings(const struct comparison *c, const char *path, const struct diffline *l)
{
	for (size_t i = 0; i < c->final.n; i++) {
		const struct diffline_change *v = &c->final.v[i];

		if (strcmp(path_of(&c->final, v), path) != 0)
			continue;
		for (uint64_t k = 0; k < v->new_n; k++)
			if (diffline_same(difflines_added(&c->final, v, k), l))
				return true;
	}
	return false;
}

/* Does one take out what stands at line @n of the base? */
static bool takes(const struct comparison *c, const char *path, uint64_t n)
{
	for (size_t i = 0; i < c->final.n; i++) {
		const struct diffline_change *v = &c->final.v[i];

		if (strcmp(path_of(&c->final, v), path) == 0 && n >= v->old_first &&
		    n < v->old_first + v->old_n)
			return true;
	}
	return false;
}

/* Place @r of the reference is done when all its telling lines are there; one that only takes out, when these
 * lines are gone. */
static bool is_done(const struct comparison *c, const struct diffline_change *r)
{
	const char *path = path_of(&c->ref, r);
	uint64_t some = 0;

	for (uint64_t i = 0; i < r->new_n; i++) {
		const struct diffline *l = difflines_added(&c->ref, r, i);

		if (!diffline_telling(l))
			continue;
		if (!brings(c, path, l))
			return false;
		some++;
	}
	for (uint64_t i = 0; i < r->old_n && !some; i++)
		if (!takes(c, path, r->old_first + i))
			return false;
	return some || r->old_n;
}

/* Is no other place of the reference nearer to change @v than place @r? */
static bool is_nearest(const struct comparison *c, const struct diffline_change *v,
		       const struct diffline_change *r)
{
	uint64_t mine = distance(span_of(v), span_of(r));

	for (size_t i = 0; i < c->ref.n; i++)
		if (c->ref.v[i].file == r->file &&
		    distance(span_of(v), span_of(&c->ref.v[i])) < mine)
			return false;
	return true;
}

static bool is_touched(const struct comparison *c, const struct diffline_change *r)
{
	for (size_t i = 0; i < c->final.n; i++) {
		const struct diffline_change *v = &c->final.v[i];

		if (c->own[i] && strcmp(path_of(&c->final, v), path_of(&c->ref, r)) == 0 &&
		    within(span_of(v), span_of(r), LABEL_AT) && is_nearest(c, v, r))
			return true;
	}
	return false;
}

/* Where lines were put in beside a copy of themselves, a diff may call either of both the new ones: their place is
 * uncertain by their number. */
static bool is_near(const struct comparison *c, const struct diffline_change *v)
{
	const char *path = path_of(&c->final, v);
	uint64_t near = LABEL_NEAR + (v->old_n ? 0 : v->new_n);

	for (size_t i = 0; i < c->ref.n; i++)
		if (strcmp(path_of(&c->ref, &c->ref.v[i]), path) == 0 &&
		    within(span_of(v), span_of(&c->ref.v[i]), near))
			return true;
	return at_users_place(c->b, path, span_of(v), near);
}

static void compare(struct comparison *c, struct label_facts *f)
{
	for (size_t i = 0; i < c->final.n; i++) {
		const struct diffline_change *v = &c->final.v[i];

		/* tests of the task are put back before grading, so they are nobody's work */
		c->own[i] =
			is_own(c->b, &c->final, v) && !is_hidden(c->task, path_of(&c->final, v));
		f->own += c->own[i];
		f->own_near += c->own[i] && is_near(c, v);
	}
	for (size_t i = 0; i < c->ref.n; i++) {
		const struct diffline_change *r = &c->ref.v[i];
		bool done = is_done(c, r);

		if (is_hidden(c->task, path_of(&c->ref, r)))
			continue;
		f->places++;
		f->places_done += done;
		f->places_touched += done || is_touched(c, r);
	}
	f->has_reference = f->places > 0;
}

static int read_patches(const struct rundir *rd, const struct behave *b, const struct task *task,
			struct label_facts *f, struct err *err)
{
	auto_buf patch = BUF_INIT(DIFF_MAX);
	auto_free char *path = path_join(rd->dir, "patch.diff");
	const char *ref = task && task->patch ? task->patch : "";
	struct comparison c = { .b = b, .task = task };
	int rc = access(path, F_OK) == 0 ? rundir_patch(rd, &patch, err) : 0;

	if (rc < 0)
		return rc;
	difflines_read(buf_str(&patch), patch.len, &c.final);
	difflines_read(ref, strlen(ref), &c.ref);
	c.own = mem_zalloc(c.final.n + 1, sizeof(*c.own));
	compare(&c, f);
	free(c.own);
	difflines_done(&c.final);
	difflines_done(&c.ref);
	return 0;
}

/* --- the run --------------------------------------------------------------------------------- */

static void about_end(const struct rundir *rd, struct label_facts *f)
{
	static const char *const own_ends[] = { "exited", "signal", NULL };
	const char *state = rundir_str(rd, "state"), *reason = rundir_str(rd, "end.reason");
	bool own = false;

	for (size_t i = 0; own_ends[i]; i++)
		own |= str_eq(reason, own_ends[i]);
	f->cut = rd->cut || !rd->ended || !str_eq(state, "done");
	f->limit = own || !reason ? NULL : mem_strdup(reason);
	f->end_n = rd->last_n;
}

static void about_edit(const struct rundir *rd, const struct behave *b, struct label_facts *f)
{
	uint64_t deleted = 0, back = 0;

	/* A co-edit is part of the solution: to keep it is right. */
	if (!b->landed || str_eq(rundir_str(rd, "condition.mode"), "co-edit"))
		return;
	f->landed = true;
	f->known = b->known;
	f->response = b->response;
	f->all_standing = b->standing_telling;
	for (size_t i = 0; i < b->n; i++) {
		f->lines += b->file[i].fate.telling;
		f->lines_standing += b->file[i].fate.telling_kept;
		deleted += b->file[i].fate.telling_deleted;
		back += b->file[i].fate.telling_restored;
	}
	/* what an edit took out stands for its lines when it added none */
	if (!f->lines) {
		f->lines = deleted;
		f->lines_standing = b->response == RESPONSE_REPLACED ? 0 : deleted - back;
	}
	f->standing = b->response == RESPONSE_KEPT || f->lines_standing || f->all_standing;
	f->mostly_standing = f->lines_standing && f->lines_standing * 2 >= f->lines;
}

static void about_tests(const struct rundir *rd, const struct behave *b, struct label_facts *f)
{
	f->last_test = -1;
	for (size_t i = 0; i < rd->n_edits; i++)
		if (!rd->edit[i].by_user && rd->edit[i].n > f->last_edit_n)
			f->last_edit_n = rd->edit[i].n;
	/* in files that are not followed an edit is known by its command alone */
	for (size_t i = 0; i < rd->n_actions; i++)
		if (rd->action[i].cls == ACTION_EDIT && rd->action[i].n > f->last_edit_n)
			f->last_edit_n = rd->action[i].n;
	f->acted = f->last_edit_n > b->final_n;
	for (size_t i = 0; i < rd->n_actions; i++) {
		const struct rundir_action *a = &rd->action[i];

		if (a->cls != ACTION_TEST || a->n <= f->last_edit_n)
			continue;
		f->tests++;
		f->last_test = a->status;
		f->last_test_n = a->n;
	}
}

int label_facts_of(const struct rundir *rd, const struct behave *b, const struct task *task,
		   struct label_facts *ret, struct err *err)
{
	struct label_facts f = { 0 };
	int rc = read_verdict(rd, &f, err);

	if (rc == 0) {
		about_end(rd, &f);
		about_edit(rd, b, &f);
		about_tests(rd, b, &f);
	}
	if (rc == 0 && f.unresolved)
		rc = read_patches(rd, b, task, &f, err);
	if (rc < 0)
		label_facts_done(&f);
	else
		*ret = f;
	return rc;
}

void label_facts_done(struct label_facts *f)
{
	free(f->verdict);
	free(f->limit);
	*f = (struct label_facts){ 0 };
}
