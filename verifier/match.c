#include "verifier/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One result in the order of names. */
struct entry {
	const char *name; /* borrowed */
	size_t at;        /* position in the results */
};

struct match_index {
	const struct test_results *r;
	bool whole;
	struct entry *v; /* owned, by name */
	size_t n;
	size_t *passed;          /* owned: n + 1; how many of the first i entries pass there */
	size_t *first;           /* owned: 2 * n; a tree of the lowest position, leaves at n */
	struct test_results cut; /* names up to the first blank; the last one of a name stays */
};

/* A blank ends a word of SWE-bench's parsers. */
static const char blanks[] = " \t\n\v\f\r";

const char *match_how_name(enum match_how how)
{
	static const char *const names[] = {
		[MATCH_ABSENT] = "absent",       [MATCH_NAME] = "exact", [MATCH_ROOT] = "root",
		[MATCH_REPEATED] = "repetition", [MATCH_CUT] = "cut",    [MATCH_PREFIX] = "prefix",
		[MATCH_AMBIGUOUS] = "ambiguous",
	};

	return (size_t)how < ARRAY_SIZE(names) ? names[how] : "absent";
}

const char *match_rule_name(enum match_rule rule)
{
	static const char *const names[] = {
		[MATCH_PLAIN] = "plain",
		[MATCH_XFAIL_PASSES] = "xfail-passes",
		[MATCH_SKIP_KEPT] = "skip-maintained",
		[MATCH_ABSENT_PASSES] = "absent-passes",
		[MATCH_NOT_FAILED] = "not-failed",
	};

	return (size_t)rule < ARRAY_SIZE(names) ? names[rule] : "plain";
}

bool match_good(enum test_status s)
{
	return s == TEST_PASSED || s == TEST_XPASS;
}

static void take(const struct test_result *t, struct match *ret)
{
	ret->status = t->status;
	ret->from = t->from;
	ret->to = t->to;
}

void match_exact(const struct test_results *r, const char *root, const struct strv *const lists[2],
		 const char *name, struct match *ret)
{
	auto_free char *id = testlog_name(name, strlen(name), root);
	const struct test_result *first = r ? testlog_get(r, id) : NULL;

	*ret = (struct match){ .status = TEST_MISSING };
	if (!first)
		return;
	take(first, ret);
	ret->how = strcmp(id, name) == 0 ? MATCH_NAME : MATCH_ROOT;
	for (uint32_t i = 0; i < first->again && match_good(first->status); i++) {
		auto_free char *again = mem_printf("%s #%u", id, i + 2);
		const struct test_result *other = testlog_get(r, again);

		/* A namesake that the reference run skipped is in no list and is skipped again. */
		if (!other || match_good(other->status) || other->status == TEST_SKIPPED ||
		    strv_has(lists[0], again) || strv_has(lists[1], again))
			continue;
		take(other, ret);
		ret->how = MATCH_REPEATED;
		break;
	}
	ret->passed = match_good(ret->status);
}

/* That harness drops lines of tests that passed against the expectation. */
static bool compat_good(enum test_status s)
{
	return s == TEST_PASSED || s == TEST_XFAIL;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* The first word of each name, with the status of the last one that has it. */
static void cut_names(struct match_index *x)
{
	for (size_t i = 0; i < x->r->n; i++) {
		const struct test_result *t = &x->r->v[i];
		size_t n = strcspn(t->name, blanks);
		auto_free char *word = t->name[n] ? mem_strndup(t->name, n) : NULL;
		struct test_result *old = word ? testlog_get(&x->cut, word) : NULL;

		if (old) {
			old->status = t->status;
			old->from = t->from;
			old->to = t->to;
		} else if (word) {
			testlog_add(&x->cut, word, n, t->status, t->from, t->to);
		}
	}
}

struct match_index *match_open(const struct test_results *r, bool whole)
{
	struct match_index *x = mem_zalloc(1, sizeof(*x));

	x->r = r;
	x->whole = whole;
	x->n = r->n;
	x->v = mem_zalloc(r->n + 1, sizeof(*x->v));
	x->passed = mem_zalloc(r->n + 1, sizeof(*x->passed));
	x->first = mem_zalloc(2 * r->n + 1, sizeof(*x->first));
	for (size_t i = 0; i < r->n; i++)
		x->v[i] = (struct entry){ r->v[i].name, i };
	qsort(x->v, x->n, sizeof(*x->v), by_name);
	for (size_t i = 0; i < x->n; i++) {
		x->passed[i + 1] = x->passed[i] + compat_good(r->v[x->v[i].at].status);
		x->first[x->n + i] = x->v[i].at;
	}
	for (size_t i = x->n; i-- > 1;) {
		size_t a = x->first[2 * i], b = x->first[2 * i + 1];

		x->first[i] = a < b ? a : b;
	}
	if (whole)
		cut_names(x);
	return x;
}

void match_close(struct match_index *x)
{
	if (!x)
		return;
	testlog_done(&x->cut);
	free(x->v);
	free(x->passed);
	free(x->first);
	free(x);
}

/* First entry that begins with @prefix, or is behind where it would be; @past: first one behind all
 * of those. */
static size_t bound(const struct match_index *x, const char *prefix, bool past)
{
	size_t low = 0, high = x->n, n = strlen(prefix);

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strncmp(x->v[mid].name, prefix, n);

		if (c < 0 || (past && c == 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Lowest position among the entries from @a to before @b, which are not none. */
static size_t first_of(const struct match_index *x, size_t a, size_t b)
{
	size_t best = SIZE_MAX;

	for (a += x->n, b += x->n; a < b; a /= 2, b /= 2) {
		if (a & 1) {
			best = x->first[a] < best ? x->first[a] : best;
			a++;
		}
		if (b & 1) {
			b--;
			best = x->first[b] < best ? x->first[b] : best;
		}
	}
	return best;
}

static bool more_open(const char *s)
{
	long open = 0;

	for (; *s; s++)
		open += (*s == '[') - (*s == ']');
	return open > 0;
}

/* The names that begin with @id, if they agree. */
static void by_prefix(const struct match_index *x, const char *id, struct match *ret)
{
	size_t a = bound(x, id, false), b = bound(x, id, true);
	size_t passed = x->passed[b] - x->passed[a];

	if (a == b)
		return;
	ret->how = MATCH_AMBIGUOUS;
	if (passed && passed != b - a)
		return;
	ret->how = MATCH_PREFIX;
	take(&x->r->v[first_of(x, a, b)], ret);
}

/* A result of that name, in the forms that the name may have. */
static void by_name_of(const struct match_index *x, const struct match_ask *ask, const char *name,
		       struct match *ret)
{
	auto_free char *id = testlog_name(name, strlen(name), ask->root);
	auto_free char *there = testlog_name(name, strlen(name), MATCH_TESTBED);
	const struct test_result *t = testlog_get(x->r, id);

	if (t)
		ret->how = strcmp(id, name) == 0 ? MATCH_NAME : MATCH_ROOT;
	if (!t && (t = testlog_get(x->r, there)))
		ret->how = MATCH_ROOT;
	if (!t && x->whole && (t = testlog_get(&x->cut, id)))
		ret->how = MATCH_CUT;
	if (t)
		take(t, ret);
	else if (!ask->fail_only && more_open(id))
		by_prefix(x, id, ret);
}

void match_compat(const struct match_index *x, const struct match_ask *ask, const char *name,
		  struct match *ret)
{
	*ret = (struct match){ .status = TEST_MISSING };
	by_name_of(x, ask, name, ret);
	if (ask->fail_only) {
		ret->passed = ret->status != TEST_FAILED;
		if (ret->passed && ret->status == TEST_MISSING)
			ret->rule = MATCH_ABSENT_PASSES;
		else if (ret->passed && ret->status != TEST_PASSED)
			ret->rule = MATCH_NOT_FAILED;
		return;
	}
	ret->passed = compat_good(ret->status);
	if (ret->status == TEST_XFAIL)
		ret->rule = MATCH_XFAIL_PASSES;
	if (ret->status == TEST_SKIPPED && !ask->f2p) {
		ret->passed = true;
		ret->rule = MATCH_SKIP_KEPT;
	}
}

/* Does exact mode know an id of which @name is the front, up to a blank? */
static bool known_front(const struct match_index *exact_names, const char *name)
{
	auto_free char *front = mem_printf("%s ", name);

	return bound(exact_names, front, false) < bound(exact_names, front, true);
}

/* Is "[/x]" of @name the end of a path in the parameters of an id that exact mode knows? */
static bool known_path(const struct match_index *exact_names, const char *name)
{
	static const char *const opens[] = { "[/", "[ROOT/" };
	const char *open = strstr(name, "[/");
	bool known = false;

	if (open && strchr(open + 2, '/'))
		return false;

	for (size_t i = 0; open && !known && i < ARRAY_SIZE(opens); i++) {
		auto_free char *front = mem_printf("%.*s%s", (int)(open - name), name, opens[i]);

		known = bound(exact_names, front, false) < bound(exact_names, front, true);
	}
	return known;
}

const char *match_why(const struct match_index *exact_names, const char *name,
		      const struct match *compat, const struct match *exact)
{
	if (compat->passed == exact->passed)
		return NULL;
	if (!compat->passed) {
		if (compat->how == MATCH_AMBIGUOUS)
			return "ambiguous: results that begin with this cut id do not agree";
		if (compat->status == TEST_MISSING)
			return "unread: the log parser takes no result from what the runner reported";
		return "status: the log parser reads another status than the runner reported";
	}
	if (compat->rule == MATCH_XFAIL_PASSES)
		return "xfail-passes: an expected failure counts as passed there";
	if (compat->rule == MATCH_SKIP_KEPT)
		return "skip-maintained: a skipped PASS_TO_PASS test counts as passed there";
	if (compat->rule != MATCH_PLAIN)
		return "fail-only: what is not FAILED counts as passed there";
	if (exact->how == MATCH_REPEATED)
		return "repetition: the last line of a name counts there; here none may have failed";
	if (exact->status != TEST_MISSING)
		return "status: the log parser reads another status than the runner reported";
	if (compat->how == MATCH_PREFIX || compat->how == MATCH_CUT ||
	    known_front(exact_names, name))
		return "cut: the listed id is the front of a test's id, up to a blank";
	if (known_path(exact_names, name))
		return "path: the log parser keeps the last part of a path in brackets";
	return "name: no test of this name was reported: it has another form, or a test printed it";
}
