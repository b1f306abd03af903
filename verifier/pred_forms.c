/* The forms of predicates, one row each. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/pred_internal.h"

static int read_children(struct pred_set *set, const struct json_src *src, const char *where,
			 const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(obj, p->form->key), *one;
	int n = cJSON_GetArraySize(list), rc = 0;

	if (!cJSON_IsArray(list) || n < 1 || n > (int)PRED_LIST_MAX)
		return json_complain(src, where, err, "\"%s\" takes an array of 1 to %u predicates",
				     p->form->key, PRED_LIST_MAX);
	p->child = mem_zalloc((size_t)n, sizeof(struct pred *));
	cJSON_ArrayForEach (one, list) {
		auto_free char *at = mem_printf("%s.%s[%zu]", where, p->form->key, p->n_children);
		struct pred *c = NULL;

		if (rc == 0)
			rc = pred_node_read(set, src, at, one, PRED_AS_ANY, depth + 1, &c, err);
		if (rc < 0 || !c)
			return rc;
		p->child[p->n_children++] = c;
		p->of_update |= c->of_update;
	}
	return 0;
}

static int read_not(struct pred_set *set, const struct json_src *src, const char *where,
		    const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	auto_free char *at = mem_printf("%s.not", where);
	struct pred *c = NULL;
	int rc = pred_node_read(set, src, at, cJSON_GetObjectItemCaseSensitive(obj, "not"),
				PRED_AS_ANY, depth + 1, &c, err);

	if (rc < 0)
		return rc;
	p->child = mem_zalloc(1, sizeof(struct pred *));
	p->child[p->n_children++] = c;
	p->of_update |= c->of_update;
	return 0;
}

static int read_match(struct pred_set *set, const struct json_src *src, const char *where,
		      const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	auto_free char *at = mem_printf("%s.%s", where, p->form->key);

	(void)depth;
	return pred_match_add(set, src, at, cJSON_GetObjectItemCaseSensitive(obj, p->form->key),
			      &p->match, err);
}

static int whole(const struct json_src *src, const char *where, const cJSON *obj, const char *key,
		 uint64_t *ret, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
	double v = cJSON_IsNumber(item) ? item->valuedouble : -1;

	if (!item)
		return 0;
	if (!(v >= 0 && v <= PRED_RECORDS_MAX) || v != (double)(uint64_t)v)
		return json_complain(src, where, err, "%s must be a whole number", key);
	*ret = (uint64_t)v;
	return 0;
}

static int read_count(struct pred_set *set, const struct json_src *src, const char *where,
		      const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	int rc = read_match(set, src, where, obj, depth, p, err);

	if (rc == 0 && !cJSON_HasObjectItem(obj, "min") && !cJSON_HasObjectItem(obj, "max"))
		rc = json_complain(src, where, err, "a count needs \"min\" or \"max\"");
	p->min = cJSON_HasObjectItem(obj, "min") ? p->min : 0;
	if (rc == 0)
		rc = whole(src, where, obj, "min", &p->min, err);
	if (rc == 0)
		rc = whole(src, where, obj, "max", &p->max, err);
	if (rc == 0 && p->min > p->max)
		rc = json_complain(src, where, err, "min is greater than max");
	return rc;
}

static struct pred_ref *point(enum pred_ref_kind kind)
{
	struct pred_ref *r = mem_zalloc(1, sizeof(*r));

	r->kind = kind;
	return r;
}

static int read_order(struct pred_set *set, const struct json_src *src, const char *where,
		      const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	auto_free char *at = mem_printf("%s.order", where);

	(void)depth;
	return pred_steps_read(set, src, at, cJSON_GetObjectItemCaseSensitive(obj, "order"),
			       PRED_STEPS_MAX, p, err);
}

/* Behind the update by default. */
static int read_recovery(struct pred_set *set, const struct json_src *src, const char *where,
			 const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	static const char *const keys[] = { "order", "after", "before", "name", NULL };
	const cJSON *one;

	if (!p->w.after)
		p->w.after = point(REF_UPDATE);
	if (cJSON_IsArray(obj))
		return pred_steps_read(set, src, where, obj, PRED_STEPS_MAX, p, err);
	cJSON_ArrayForEach (one, obj) {
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], one->string) != 0)
			k++;
		if (!keys[k])
			return pred_unknown(src, where, "key here", one->string, keys, err);
	}
	return read_order(set, src, where, obj, depth, p, err);
}

static int read_milestones(struct pred_set *set, const struct json_src *src, const char *where,
			   const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	(void)depth;
	return pred_steps_read(set, src, where, obj, PRED_MILESTONES_MAX, p, err);
}

static int texts(const struct json_src *src, const char *where, const cJSON *item, struct strv *to,
		 struct err *err)
{
	const cJSON *one = cJSON_IsArray(item) ? item->child : item;

	for (; one; one = cJSON_IsArray(item) ? one->next : NULL) {
		const char *s = cJSON_GetStringValue(one);

		if (!s || !s[0] || strlen(s) > PRED_ARGV_MAX || to->n == PRED_ARGV_MAX)
			return json_complain(src, where, err,
					     "expected a text, or an array of texts");
		strv_add(to, s);
	}
	return to->n ? 0 : json_complain(src, where, err, "expected at least one text");
}

static int read_seen(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	static const char *const keys[] = { "any_of", "reached", "mutation", "after",
					    "before", "name",    NULL };
	const cJSON *any = cJSON_GetObjectItemCaseSensitive(obj, "any_of"), *one;
	const cJSON *mutation = cJSON_GetObjectItemCaseSensitive(obj, "mutation");
	const cJSON *reached = cJSON_GetObjectItemCaseSensitive(obj, "reached");
	auto_free char *at = mem_printf("%s.any_of", where);
	auto_free char *texts_at = mem_printf("%s.reached", where);
	auto_free char *to = mem_printf("%s.mutation", where);
	int rc;

	(void)depth;
	cJSON_ArrayForEach (one, obj) {
		size_t k = 0;

		while (keys[k] && (!one->string || strcmp(keys[k], one->string) != 0))
			k++;
		if (!keys[k])
			return pred_unknown(src, where, "key here", one->string ? one->string : "?",
					    keys, err);
	}
	if (!cJSON_IsArray(any))
		return json_complain(
			src, where, err,
			"expected {\"any_of\": [M, ...]}: the observations that count");
	if (!p->w.after)
		p->w.after = point(REF_UPDATE);
	if (!p->w.before)
		p->w.before = point(REF_MUTATION);
	rc = pred_match_add(set, src, at, any, &p->match, err);
	if (rc == 0 && reached)
		rc = texts(src, texts_at, reached, &p->reached, err);
	if (rc == 0 && p->reached.n > PRED_LIST_MAX)
		rc = json_complain(src, texts_at, err, "at most %u texts", PRED_LIST_MAX);
	if (rc == 0 && mutation)
		rc = pred_match_add(set, src, to, mutation, &set->mutation, err);
	return rc;
}

/* clang-format off */
static const struct pred_doc file_docs[] = {
	{ "path", "file, relative to the workspace" },
	{ "exists", "true: it is there; false: it is not" },
	{ "contains", "text, or a list: all stand in it" },
	{ "lacks", "text, or a list: none stands in it" },
	{ "sha256", "digest of its contents" },
	{ "at", "point of the run at which it is looked at, default end" },
};
/* clang-format on */

/* Keys of @docs only. */
static int only(const struct json_src *src, const char *where, const cJSON *obj,
		const struct pred_doc *docs, size_t n, struct err *err)
{
	const char *names[16];
	const cJSON *one;
	size_t k;

	for (k = 0; k < n; k++)
		names[k] = docs[k].key;
	names[n] = NULL;
	cJSON_ArrayForEach (one, obj) {
		for (k = 0; k < n && strcmp(names[k], one->string) != 0;)
			k++;
		if (k == n)
			return pred_unknown(src, where, "key here", one->string, names, err);
	}
	return cJSON_IsObject(obj) ? 0 : json_complain(src, where, err, "expected an object");
}

static int read_path(const struct json_src *src, const char *where, const cJSON *item, char **ret,
		     struct err *err)
{
	const char *s = cJSON_GetStringValue(item);

	if (!s || !path_is_tame(s))
		return json_complain(src, where, err,
				     "path must name a file relative to the workspace, without "
				     "\"..\", wildcards and .git");
	*ret = mem_strdup(s);
	return 0;
}

static int read_file(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "file"), *one;
	auto_free char *at = mem_printf("%s.file", where);
	int rc = only(src, at, item, file_docs, ARRAY_SIZE(file_docs), err);

	p->file.exists = -1;
	if (rc == 0)
		rc = read_path(src, at, cJSON_GetObjectItemCaseSensitive(item, "path"),
			       &p->file.path, err);
	if (rc < 0)
		return rc;
	pred_watch(set, p->file.path);
	cJSON_ArrayForEach (one, item) {
		auto_free char *to = mem_printf("%s.%s", at, one->string);
		const char *s = cJSON_GetStringValue(one);

		if (strcmp(one->string, "exists") == 0 && cJSON_IsBool(one))
			p->file.exists = cJSON_IsTrue(one);
		else if (strcmp(one->string, "exists") == 0)
			rc = json_complain(src, to, err, "expected true or false");
		else if (strcmp(one->string, "contains") == 0)
			rc = texts(src, to, one, &p->file.contains, err);
		else if (strcmp(one->string, "lacks") == 0)
			rc = texts(src, to, one, &p->file.lacks, err);
		else if (strcmp(one->string, "at") == 0)
			rc = pred_ref_read(set, src, to, one, depth + 1, &p->file.at, err);
		else if (strcmp(one->string, "sha256") == 0 && s && strlen(s) == 64 &&
			 strspn(s, "0123456789abcdef") == 64)
			p->file.sha256 = mem_strdup(s);
		else if (strcmp(one->string, "sha256") == 0)
			rc = json_complain(src, to, err, "expected 64 hexadecimal digits");
		if (rc < 0)
			return rc;
	}
	p->of_update |= pred_ref_of_update(p->file.at);
	if (p->file.exists < 0 && !p->file.contains.n && !p->file.lacks.n && !p->file.sha256)
		return json_complain(src, at, err,
				     "say what is asked of the file: \"exists\", \"contains\", "
				     "\"lacks\" or \"sha256\"");
	return 0;
}

static int read_kept(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	static const struct pred_doc docs[] = { { "intervention", NULL },
						{ "path", NULL },
						{ "min", NULL } };
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "lines_kept");
	const cJSON *path = cJSON_GetObjectItemCaseSensitive(item, "path");
	const cJSON *min = cJSON_GetObjectItemCaseSensitive(item, "min");
	auto_free char *at = mem_printf("%s.lines_kept", where);
	int rc = only(src, at, item, docs, ARRAY_SIZE(docs), err);

	(void)depth;
	if (rc == 0)
		rc = whole(src, at, item, "intervention", &p->order, err);
	if (rc == 0 && path)
		rc = read_path(src, at, path, &p->path, err);
	if (rc == 0 && !p->order)
		rc = json_complain(src, at, err, "intervention must be the order of one, from 1");
	p->share = min ? cJSON_GetNumberValue(min) : 1;
	if (rc == 0 && !(p->share > 0 && p->share <= 1))
		rc = json_complain(src, at, err, "min must be a share above 0, at most 1");
	p->of_update = true;
	set->user_paths = true;
	return rc;
}

static int read_tests(struct pred_set *set, const struct json_src *src, const char *where,
		      const cJSON *obj, unsigned depth, struct pred *p, struct err *err)
{
	auto_free char *at = mem_printf("%s.tests", where);

	(void)set;
	(void)depth;
	return texts(src, at, cJSON_GetObjectItemCaseSensitive(obj, "tests"), &p->tests, err);
}

static int eval_tests(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		      struct err *err)
{
	(void)err;
	if (!set->run->test) {
		pred_part_say(f, at, "the run has no verdict");
		return 0;
	}
	strv_each (i, &p->tests) {
		int passed = set->run->test(set->run->arg, p->tests.v[i]);

		if (passed == 1)
			continue;
		pred_part_say(f, at, "test %s %s", p->tests.v[i],
			      passed < 0 ? "is not in the verdict" : "did not pass");
		return 0;
	}
	f->v[at].ok = true;
	pred_part_say(f, at, "%zu tests passed", p->tests.n);
	return 0;
}

static int eval_children(struct pred_set *set, const struct pred *p, struct pred_finding *f,
			 size_t at, struct err *err)
{
	bool any = strcmp(p->form->key, "any") == 0;
	size_t good = 0;
	struct pred_records proof = { 0 };

	for (size_t i = 0; i < p->n_children; i++) {
		size_t k = f->n;
		int rc = pred_node_eval(set, p->child[i], f, f->v[at].depth + 1, err);

		if (rc < 0)
			return rc;
		good += f->v[k].ok;
		for (size_t r = 0; r < f->v[k].records.n && f->v[k].ok; r++)
			pred_records_add(&proof, f->v[k].records.v[r]);
	}
	f->v[at].ok = any ? good > 0 : good == p->n_children;
	f->v[at].records = proof;
	pred_part_say(f, at, "%zu of %zu hold", good, p->n_children);
	return 0;
}

static int eval_not(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		    struct err *err)
{
	size_t k = f->n;
	int rc = pred_node_eval(set, p->child[0], f, f->v[at].depth + 1, err);

	if (rc < 0)
		return rc;
	f->v[at].ok = !f->v[k].ok;
	f->v[at].records = f->v[k].records;
	pred_part_say(f, at, f->v[k].ok ? "it holds, and must not" : "it does not hold");
	return 0;
}

static const char *const count_more[] = { "min", "max", NULL };

/* clang-format off */
const struct pred_form pred_forms[] = {
	{ "all", NULL, false, read_children, eval_children, "array of predicates that all hold" },
	{ "any", NULL, false, read_children, eval_children, "array of predicates of which one holds" },
	{ "not", NULL, false, read_not, eval_not, "a predicate that does not hold" },
	{ "exists", NULL, true, read_match, pred_exists_eval, "a record of the match lies in the window" },
	{ "absent", NULL, true, read_match, pred_absent_eval, "none does" },
	{ "count", count_more, true, read_count, pred_count_eval, "so many do: `min`, `max` or both beside it" },
	{ "order", NULL, true, read_order, pred_order_eval, "array of steps: for each a record can be chosen that lies behind those of all it needs" },
	{ "file", NULL, false, read_file, pred_file_eval, "state of a file (below)" },
	{ "lines_kept", NULL, false, read_kept, pred_kept_eval, "of the lines that the edit of `intervention` (its order) wrote (in `path`) at least the share `min` (default 1) is there at the end" },
	{ "tests", NULL, false, read_tests, eval_tests, "tests that passed in the verdict" },
	{ NULL },
};

/* What the keys of a scenario's checks are read as, by enum pred_as. */
static const struct pred_form checks[] = {
	[PRED_AS_OBSERVATION] = { "any_of", NULL, true, read_seen, pred_seen_eval, NULL },
	[PRED_AS_ORDER] = { "order", NULL, true, read_recovery, pred_order_eval, NULL },
	[PRED_AS_MILESTONES] = { "milestones", NULL, false, read_milestones, pred_order_eval, NULL },
};
/* clang-format on */

const struct pred_form *pred_form_as(enum pred_as as)
{
	return as == PRED_AS_ANY ? NULL : &checks[as];
}

struct pred_doc *pred_docs(const char *table, size_t *ret_n)
{
	static const struct pred_doc window[] = {
		{ "after", "the window lies behind this reference" },
		{ "before", "the window lies in front of this reference" },
		{ "within",
		  "at most so long behind what `after` names (without it: the run's start)" },
		{ "at_least", "not earlier than so long behind it" },
	};
	static const struct pred_doc step[] = {
		{ "id", "name of the step, for others that need it" },
		{ "match", "what is looked for" },
		{ "needs", "ids of steps whose records must lie in front of this one's" },
	};
	static const struct {
		const char *name;
		const struct pred_doc *rows;
		size_t n;
	} tables[] = { { "window", window, ARRAY_SIZE(window) },
		       { "step", step, ARRAY_SIZE(step) },
		       { "file", file_docs, ARRAY_SIZE(file_docs) } };
	struct pred_doc *v = NULL;

	if (strcmp(table, "match") == 0)
		return pred_match_docs(ret_n);
	if (strcmp(table, "reference") == 0)
		return pred_point_docs(ret_n);
	*ret_n = 0;
	if (strcmp(table, "predicate") == 0) {
		v = mem_zalloc(ARRAY_SIZE(pred_forms), sizeof(*v));
		for (; pred_forms[*ret_n].key; ++*ret_n)
			v[*ret_n] =
				(struct pred_doc){ pred_forms[*ret_n].key, pred_forms[*ret_n].doc };
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (strcmp(tables[i].name, table) != 0)
			continue;
		v = mem_dup(tables[i].rows, tables[i].n * sizeof(*v));
		*ret_n = tables[i].n;
	}
	return v;
}
