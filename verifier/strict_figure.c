/* Figures of a run that no success hangs on: what share of some predicates holds, how often something happened. */
#include <string.h>

#include "base/mem.h"
#include "verifier/strict_internal.h"

enum { NAME_BYTES = 200 };

/* One way to make a figure. */
struct figure_form {
	const char *key, *doc;
	const char *const *more; /* keys beside it, "name" left out; ended by NULL */
	int (*read)(const struct json_src *src, const char *where, const cJSON *item,
		    struct strict_checks *c, struct strict_measure *m, struct err *err);
};

static int read_share(const struct json_src *src, const char *where, const cJSON *item,
		      struct strict_checks *c, struct strict_measure *m, struct err *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(item, "share"), *one;
	int n = cJSON_GetArraySize(list), rc = 0;

	if (!cJSON_IsArray(list) || n < 1 || n > (int)STRICT_PARTS_MAX)
		return json_complain(src, where, err,
				     "share must be an array of 1 to %u predicates",
				     STRICT_PARTS_MAX);
	m->list.v = mem_zalloc((size_t)n, sizeof(struct pred *));
	cJSON_ArrayForEach (one, list) {
		auto_free char *at = mem_printf("%s.share[%zu]", where, m->list.n);

		if (rc == 0)
			rc = pred_parse(c->set, src, at, one, PRED_AS_ANY, &m->list.v[m->list.n],
					err);
		if (rc < 0)
			return rc;
		m->list.n++;
	}
	return 0;
}

/* Records of the match under @key in the figure's window, as a count that always holds. */
static int read_counted(const struct json_src *src, const char *where, const cJSON *item,
			const char *key, struct strict_checks *c, struct strict_measure *m,
			struct err *err)
{
	static const char *const window[] = { "after", "before", "within", "at_least" };
	cJSON *p = cJSON_CreateObject();
	int rc;

	cJSON_AddItemReferenceToObject(p, "count", cJSON_GetObjectItemCaseSensitive(item, key));
	cJSON_AddNumberToObject(p, "min", 0);
	for (size_t i = 0; i < ARRAY_SIZE(window); i++) {
		cJSON *w = cJSON_GetObjectItemCaseSensitive(item, window[i]);

		if (w)
			cJSON_AddItemReferenceToObject(p, window[i], w);
	}
	rc = pred_parse(c->set, src, where, p, PRED_AS_ANY, &m->list.v[m->list.n], err);
	cJSON_Delete(p);
	m->list.n += rc == 0;
	return rc;
}

static int read_rate(const struct json_src *src, const char *where, const cJSON *item,
		     struct strict_checks *c, struct strict_measure *m, struct err *err)
{
	auto_free char *of = mem_printf("%s.of", where);
	int rc;

	m->counts = true;
	m->list.v = mem_zalloc(2, sizeof(struct pred *));
	rc = read_counted(src, where, item, "count", c, m, err);
	if (rc == 0 && cJSON_HasObjectItem(item, "of"))
		rc = read_counted(src, of, item, "of", c, m, err);
	return rc;
}

static const char *const share_more[] = { NULL };
static const char *const rate_more[] = { "of", "after", "before", "within", "at_least", NULL };

/* clang-format off */
static const struct figure_form forms[] = {
	{ "share", "array of predicates: how many of those that are asked in this arm hold", share_more, read_share },
	{ "count", "match: how many records of it lie in the window; with `of`, a match too, divided by how many of that do", rate_more, read_rate },
};
/* clang-format on */

struct pred_doc *strict_figure_docs(size_t *ret_n)
{
	struct pred_doc *v = mem_zalloc(ARRAY_SIZE(forms), sizeof(*v));

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		v[i] = (struct pred_doc){ forms[i].key, forms[i].doc };
	*ret_n = ARRAY_SIZE(forms);
	return v;
}

static int unknown_key(const struct json_src *src, const char *where, const char *key,
		       const char *const *words, struct err *err)
{
	const char *near = str_nearest(key, words);

	return json_complain(src, where, err, "no key \"%.60s\" of a figure%s%s%s", key,
			     near ? ", did you mean \"" : "; see docs/predicates.md",
			     near ? near : "", near ? "\"?" : "");
}

/* The form whose key @item has, and that no other key stands there. */
static int find_form(const struct json_src *src, const char *where, const cJSON *item,
		     const struct figure_form **ret, struct err *err)
{
	const char *words[16];
	const cJSON *one;
	size_t n = 0, k;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		words[n++] = forms[i].key;
		if (cJSON_HasObjectItem(item, forms[i].key) && !*ret)
			*ret = &forms[i];
	}
	words[n++] = "name";
	if (*ret) {
		n = 0;
		words[n++] = "name";
		words[n++] = (*ret)->key;
		for (size_t i = 0; (*ret)->more[i]; i++)
			words[n++] = (*ret)->more[i];
	}
	words[n] = NULL;
	cJSON_ArrayForEach (one, item) {
		for (k = 0; k < n && strcmp(words[k], one->string) != 0;)
			k++;
		if (k == n)
			return unknown_key(src, where, one->string, words, err);
	}
	return *ret ? 0
		    : json_complain(src, where, err,
				    "a figure has \"share\" or \"count\" beside its \"name\"");
}

static int read_one(const struct json_src *src, const char *where, const cJSON *item,
		    struct strict_checks *c, struct err *err)
{
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
	const struct figure_form *form = NULL;
	struct strict_measure *m;
	int rc;

	if (!cJSON_IsObject(item) || !name || !name[0] || strlen(name) > NAME_BYTES)
		return json_complain(src, where, err,
				     "a figure is an object with a \"name\" of 1 to %d bytes",
				     NAME_BYTES);
	for (size_t i = 0; i < c->n_figures; i++)
		if (strcmp(c->figure[i].name, name) == 0)
			return json_complain(src, where, err, "two figures are called \"%s\"",
					     name);
	rc = find_form(src, where, item, &form, err);
	if (rc < 0)
		return rc;
	m = &c->figure[c->n_figures++];
	m->name = mem_strdup(name);
	return form->read(src, where, item, c, m, err);
}

int strict_figures_read(const struct json_src *src, const char *where, const cJSON *item,
			struct strict_checks *c, struct err *err)
{
	const cJSON *one;
	size_t i = 0;
	int rc = 0;

	if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > (int)STRICT_FIGURES_MAX)
		return json_complain(
			src, where, err,
			"expected an array of at most %u figures, such as [{\"name\": "
			"\"looked\", \"share\": [{\"exists\": {\"kind\": \"read\"}}]}]",
			STRICT_FIGURES_MAX);
	c->trace = true;
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, i++);

		if (rc == 0)
			rc = read_one(src, at, one, c, err);
	}
	return rc;
}

void strict_figures_done(struct strict_checks *c)
{
	for (size_t i = 0; i < c->n_figures; i++) {
		free(c->figure[i].name);
		free(c->figure[i].list.v);
	}
	c->n_figures = 0;
}

static int eval(struct strict_work *w, const struct strict_measure *m, struct strict_figure *f,
		struct err *err)
{
	uint64_t found[2] = { 0, 0 };

	for (size_t i = 0; i < m->list.n; i++) {
		size_t at = f->parts.n;
		int rc;

		if (!m->counts && !strict_part_applies(m->list.v[i], w->ret->arm))
			continue;
		rc = pred_eval(w->checks.set, m->list.v[i], &f->parts, err);
		if (rc < 0)
			return rc;
		if (m->counts) {
			found[i] = f->parts.v[at].records.total;
		} else {
			found[0] += f->parts.v[at].ok;
			found[1]++;
		}
	}
	f->count = found[0];
	f->of = found[1];
	f->rate = !m->counts || m->list.n > 1;
	return 0;
}

int strict_judge_figures(struct strict_work *w, struct err *err)
{
	struct strict_result *ret = w->ret;
	int rc = 0;

	ret->figure = mem_zalloc(w->checks.n_figures + 1, sizeof(*ret->figure));
	for (size_t i = 0; i < w->checks.n_figures && rc == 0; i++) {
		ret->figure[i].name = mem_strdup(w->checks.figure[i].name);
		ret->n_figures++;
		rc = eval(w, &w->checks.figure[i], &ret->figure[i], err);
	}
	return rc;
}

double strict_figure_value(const struct strict_figure *f)
{
	if (!f->rate)
		return (double)f->count;
	return f->of ? (double)f->count / (double)f->of : -1;
}
