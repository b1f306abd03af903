/* Predicates from JSON: references, windows, steps and nodes. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "verifier/pred_internal.h"

enum { NAME_BYTES = 200, WORDS_MAX = 32 };

/* Named points of a run, in the order of enum pred_ref_kind. */
/* clang-format off */
static const struct point {
	const char *name;
	enum pred_ref_kind kind;
	bool of_update;
	const char *doc;
} points[] = {
	{ "start", REF_START, false, "before the first record" },
	{ "fork", REF_FORK, true, "the `fork` record: what stands before it is the recorded prefix" },
	{ "update", REF_UPDATE, true, "the first applied intervention, behind the fork when there is one" },
	{ "told", REF_TOLD, true, "a message of the update reached the model (without a model API: the agent)" },
	{ "first_mutation", REF_MUTATION, true, "the agent's first change behind the update: an edit of the workspace, or a mutating request to a service" },
	{ "end", REF_END, false, "behind the last record" },
};
/* clang-format on */

int pred_unknown(const struct json_src *src, const char *where, const char *what, const char *key,
		 const char *const *choices, struct err *err)
{
	const char *near = str_nearest(key, choices);
	auto_buf all = BUF_INIT(4096);

	for (size_t i = 0; choices[i]; i++)
		buf_addf(&all, "%s%s", i ? ", " : "", choices[i]);
	if (near)
		return json_complain(src, where, err, "no %s \"%.60s\", did you mean \"%s\"?", what,
				     key, near);
	return json_complain(src, where, err, "no %s \"%.60s\"; there are: %s", what, key,
			     buf_str(&all));
}

int pred_match_add(struct pred_set *set, const struct json_src *src, const char *where,
		   const cJSON *item, struct pred_match **ret, struct err *err)
{
	struct pred_match *m;

	if (set->n_matches == PRED_MATCHES_MAX)
		return json_complain(src, where, err, "more than %u matches in one scenario",
				     PRED_MATCHES_MAX);
	m = mem_zalloc(1, sizeof(*m));
	MEM_GROW(set->match, set->cap_matches, set->n_matches + 1);
	set->match[set->n_matches++] = m;
	*ret = m;
	return pred_match_read(src, where, item, m, err);
}

void pred_watch(struct pred_set *set, const char *path)
{
	uint64_t key = map_hash(path, strlen(path));

	if (map_get(&set->path_at, key) || set->paths.n >= PRED_STATES_MAX)
		return;
	strv_add(&set->paths, path);
	map_put(&set->path_at, key, (void *)(uintptr_t)set->paths.n);
}

/* {"first": M, ...}, {"last": M, ...}, {"record": n} */
static int read_found(struct pred_set *set, const struct json_src *src, const char *where,
		      const cJSON *item, unsigned depth, struct pred_ref *r, struct err *err)
{
	static const char *const keys[] = { "first", "last", "record", "after", "before", NULL };
	const cJSON *one, *n = cJSON_GetObjectItemCaseSensitive(item, "record");
	int found = 0, rc = 0;

	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s.%s", where, one->string);
		const char *k = one->string;

		if (rc < 0)
			break;
		if (strcmp(k, "first") == 0 || strcmp(k, "last") == 0) {
			r->kind = k[0] == 'f' ? REF_FIRST : REF_LAST;
			found++;
			rc = pred_match_add(set, src, at, one, &r->match, err);
		} else if (strcmp(k, "record") == 0) {
			r->kind = REF_RECORD;
			found++;
		} else if (strcmp(k, "after") == 0 && !r->after) {
			rc = pred_ref_read(set, src, at, one, depth + 1, &r->after, err);
		} else if (strcmp(k, "before") == 0 && !r->before) {
			rc = pred_ref_read(set, src, at, one, depth + 1, &r->before, err);
		} else {
			rc = pred_unknown(src, where, "key of a reference", k, keys, err);
		}
	}
	if (rc < 0)
		return rc;
	if (found != 1 || (n && (r->after || r->before)))
		return json_complain(src, where, err,
				     "expected exactly one of \"first\", \"last\" and \"record\"; "
				     "only the first two have a window");
	if (!n)
		return 0;
	if (!cJSON_IsNumber(n) || !(n->valuedouble >= 1 && n->valuedouble < PRED_RECORDS_MAX))
		return json_complain(src, where, err, "record must be a number from 1");
	r->n = (uint64_t)n->valuedouble;
	return 0;
}

static int read_point(const struct json_src *src, const char *where, const char *name,
		      struct pred_ref *r, struct err *err)
{
	const char *names[ARRAY_SIZE(points) + 1];

	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		names[i] = points[i].name;
		if (strcmp(points[i].name, name) != 0)
			continue;
		r->kind = points[i].kind;
		return 0;
	}
	names[ARRAY_SIZE(points)] = NULL;
	return pred_unknown(src, where, "point of a run", name, names, err);
}

int pred_ref_read(struct pred_set *set, const struct json_src *src, const char *where,
		  const cJSON *item, unsigned depth, struct pred_ref **ret, struct err *err)
{
	struct pred_ref *r;
	int rc;

	if (depth > PRED_DEPTH_MAX)
		return json_complain(src, where, err, "references nested deeper than %d levels",
				     PRED_DEPTH_MAX);
	r = mem_zalloc(1, sizeof(*r));
	if (cJSON_IsString(item))
		rc = read_point(src, where, item->valuestring, r, err);
	else if (cJSON_IsObject(item))
		rc = read_found(set, src, where, item, depth, r, err);
	else
		rc = json_complain(src, where, err,
				   "expected the name of a point, such as \"update\", or an object "
				   "such as {\"first\": {\"kind\": \"edit\"}}");
	if (rc < 0) {
		pred_ref_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void pred_ref_free(struct pred_ref *r)
{
	if (!r)
		return;
	pred_ref_free(r->after);
	pred_ref_free(r->before);
	free(r);
}

const char *const pred_window_keys[] = { "after", "before", "within", "at_least", NULL };

bool pred_ref_of_update(const struct pred_ref *r)
{
	if (!r)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		if (points[i].kind == r->kind)
			return points[i].of_update;
	return pred_ref_of_update(r->after) || pred_ref_of_update(r->before);
}

/* A duration of 1 ms to 24 h under @key, if it is there. */
static int read_time(const struct json_src *src, const char *where, const cJSON *obj,
		     const char *key, uint32_t *ret, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
	const char *s = cJSON_GetStringValue(item);
	const double max = 86400;
	uint64_t ns = 0;

	if (!item)
		return 0;
	if (cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble <= max)
		ns = (uint64_t)(item->valuedouble * 1e9);
	else if (!s || str_duration(s, &ns) < 0 || (double)ns > max * 1e9)
		ns = 0;
	if (ns < 1000000)
		return json_complain(src, where, err,
				     "%s must be a duration from 1ms to 24h, such as \"20s\"", key);
	*ret = (uint32_t)(ns / 1000000);
	return 0;
}

int pred_window_read(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *obj, struct pred_window *w, struct err *err)
{
	const cJSON *after = cJSON_GetObjectItemCaseSensitive(obj, "after");
	const cJSON *before = cJSON_GetObjectItemCaseSensitive(obj, "before");
	auto_free char *at = mem_printf("%s.after", where);
	auto_free char *to = mem_printf("%s.before", where);
	int rc = after ? pred_ref_read(set, src, at, after, 1, &w->after, err) : 0;

	if (rc == 0 && before)
		rc = pred_ref_read(set, src, to, before, 1, &w->before, err);
	if (rc == 0)
		rc = read_time(src, where, obj, "within", &w->within, err);
	if (rc == 0)
		rc = read_time(src, where, obj, "at_least", &w->at_least, err);
	if (rc == 0 && w->within && w->at_least > w->within)
		rc = json_complain(src, where, err, "at_least is longer than within");
	set->timed |= w->within || w->at_least;
	return rc;
}

/* One step: its match and id; what it needs is read when all ids are known. */
static int read_step(struct pred_set *set, const struct json_src *src, const char *where,
		     const cJSON *item, struct pred *p, struct err *err)
{
	static const char *const keys[] = { "id", "match", "needs", NULL };
	const cJSON *match = cJSON_GetObjectItemCaseSensitive(item, "match"), *one;
	const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "id"));
	struct pred_step *s = &p->step[p->n_steps];
	auto_free char *at = mem_printf("%s.match", where);

	if (!cJSON_IsObject(item) || !match)
		return json_complain(src, where, err,
				     "a step is an object with \"match\", and perhaps \"id\" and "
				     "\"needs\"");
	cJSON_ArrayForEach (one, item) {
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], one->string) != 0)
			k++;
		if (!keys[k])
			return pred_unknown(src, where, "key of a step", one->string, keys, err);
	}
	if (cJSON_HasObjectItem(item, "id") && (!id || !id[0] || strlen(id) > NAME_BYTES))
		return json_complain(src, where, err, "id must be a text of 1 to %d bytes",
				     NAME_BYTES);
	s->id = id ? mem_strdup(id) : mem_printf("%zu", p->n_steps + 1);
	p->n_steps++;
	for (size_t i = 0; i + 1 < p->n_steps; i++)
		if (strcmp(p->step[i].id, s->id) == 0)
			return json_complain(src, where, err, "two steps are called \"%s\"", s->id);
	return pred_match_add(set, src, at, match, &s->match, err);
}

static int read_needs(const struct json_src *src, const char *where, const cJSON *item,
		      struct pred *p, struct pred_step *s, struct err *err)
{
	const cJSON *needs = cJSON_GetObjectItemCaseSensitive(item, "needs"), *one;
	const char *ids[PRED_STEPS_MAX + 1];

	if (needs && !cJSON_IsArray(needs))
		return json_complain(src, where, err, "needs must be an array of ids");
	for (size_t i = 0; i < p->n_steps; i++)
		ids[i] = p->step[i].id;
	ids[p->n_steps] = NULL;
	cJSON_ArrayForEach (one, needs) {
		const char *id = cJSON_GetStringValue(one);
		size_t i = 0;

		while (id && i < p->n_steps && strcmp(ids[i], id) != 0)
			i++;
		if (!id || i == p->n_steps)
			return pred_unknown(src, where, "step", id ? id : "?", ids, err);
		s->needs |= 1ull << i;
	}
	return 0;
}

/* Steps so that each stands behind what it needs; needs become those of the new places, with all that these need. */
static int sort_steps(const struct json_src *src, const char *where, struct pred *p,
		      struct err *err)
{
	struct pred_step sorted[PRED_STEPS_MAX];
	size_t place[PRED_STEPS_MAX] = { 0 }, n = 0;
	uint64_t done = 0;

	while (n < p->n_steps) {
		size_t i = 0;
		uint64_t needs = 0;

		while (i < p->n_steps && ((done >> i & 1) || (p->step[i].needs & ~done)))
			i++;
		if (i == p->n_steps) {
			for (i = 0; done >> i & 1;)
				i++;
			return json_complain(src, where, err,
					     "step \"%s\" needs itself, if only by way of others",
					     p->step[i].id);
		}
		for (size_t k = 0; k < p->n_steps; k++)
			if (p->step[i].needs >> k & 1)
				needs |= 1ull << place[k] | sorted[place[k]].needs;
		done |= 1ull << i;
		place[i] = n;
		sorted[n] = p->step[i];
		sorted[n++].needs = needs;
	}
	memcpy(p->step, sorted, n * sizeof(*sorted));
	return 0;
}

int pred_steps_read(struct pred_set *set, const struct json_src *src, const char *where,
		    const cJSON *item, size_t max, struct pred *p, struct err *err)
{
	const cJSON *one;
	int n = cJSON_GetArraySize(item), rc = 0;
	size_t i = 0;

	if (!cJSON_IsArray(item) || n < 1 || n > (int)max)
		return json_complain(src, where, err, "expected an array of 1 to %zu steps", max);
	p->step = mem_zalloc((size_t)n, sizeof(*p->step));
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, i++);

		if (rc == 0)
			rc = read_step(set, src, at, one, p, err);
	}
	i = 0;
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu].needs", where, i);

		if (rc == 0)
			rc = read_needs(src, at, one, p, &p->step[i++], err);
	}
	return rc == 0 ? sort_steps(src, where, p, err) : rc;
}

/* Is @key one that may stand beside the key of @form? */
static bool goes_with(const struct pred_form *form, const char *key, bool top)
{
	if (strcmp(key, "name") == 0 || (top && strcmp(key, "arm") == 0))
		return true;
	for (size_t i = 0; form->window && pred_window_keys[i]; i++)
		if (strcmp(pred_window_keys[i], key) == 0)
			return true;
	for (size_t i = 0; form->more && form->more[i]; i++)
		if (strcmp(form->more[i], key) == 0)
			return true;
	return false;
}

/* The form whose key @obj has, and no other key that does not go with it. */
static int find_form(const struct json_src *src, const char *where, const cJSON *obj, bool top,
		     const struct pred_form **ret, struct err *err)
{
	const char *words[WORDS_MAX];
	const struct pred_form *form = NULL;
	const cJSON *one;
	size_t n = 0;

	for (const struct pred_form *f = pred_forms; f->eval && f->key; f++) {
		words[n++] = f->key;
		if (!cJSON_GetObjectItemCaseSensitive(obj, f->key))
			continue;
		if (form)
			return json_complain(src, where, err,
					     "\"%s\" and \"%s\" are two predicates: put them into "
					     "\"all\" or \"any\"",
					     form->key, f->key);
		form = f;
	}
	words[n] = NULL;
	if (!cJSON_IsObject(obj) || !form)
		return pred_unknown(src, where, "predicate",
				    obj->child && obj->child->string ? obj->child->string : "?",
				    words, err);
	for (size_t i = 0; form->more && form->more[i] && n + 7 < WORDS_MAX; i++)
		words[n++] = form->more[i];
	words[n++] = "name";
	if (top)
		words[n++] = "arm";
	for (size_t i = 0; form->window && pred_window_keys[i]; i++)
		words[n++] = pred_window_keys[i];
	words[n] = NULL;
	cJSON_ArrayForEach (one, obj)
		if (strcmp(one->string, form->key) != 0 && !goes_with(form, one->string, top))
			return pred_unknown(src, where, "key here", one->string, words, err);
	*ret = form;
	return 0;
}

/* "name" and "arm". */
static int read_labels(const struct json_src *src, const char *where, const cJSON *obj,
		       struct pred *p, struct err *err)
{
	static const char *const arms[] = { "both", "clean", "shifted", NULL };
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(obj, "name");
	const cJSON *arm = cJSON_GetObjectItemCaseSensitive(obj, "arm");
	const char *s = cJSON_GetStringValue(arm);
	int i = 0;

	if (name && (!cJSON_IsString(name) || !name->valuestring[0] ||
		     strlen(name->valuestring) > NAME_BYTES))
		return json_complain(src, where, err, "name must be a text of 1 to %d bytes",
				     NAME_BYTES);
	if (name)
		p->name = mem_strdup(name->valuestring);
	if (!arm)
		return 0;
	while (s && arms[i] && strcmp(arms[i], s) != 0)
		i++;
	if (!s || !arms[i])
		return pred_unknown(src, where, "arm", s ? s : "?", arms, err);
	p->arm = (enum pred_arm)i;
	return 0;
}

static struct pred *add_node(struct pred_set *set)
{
	MEM_GROW(set->node, set->cap_nodes, set->n_nodes + 1);
	set->node[set->n_nodes] = mem_zalloc(1, sizeof(struct pred));
	return set->node[set->n_nodes++];
}

int pred_node_read(struct pred_set *set, const struct json_src *src, const char *where,
		   const cJSON *item, enum pred_as as, unsigned depth, struct pred **ret,
		   struct err *err)
{
	const struct pred_form *form = pred_form_as(as);
	struct pred *p;
	int rc = 0;

	if (depth > PRED_DEPTH_MAX)
		return json_complain(src, where, err, "predicates nested deeper than %d levels",
				     PRED_DEPTH_MAX);
	if (set->n_nodes == PRED_NODES_MAX)
		return json_complain(src, where, err, "more than %u predicates in one scenario",
				     PRED_NODES_MAX);
	if (!form)
		rc = find_form(src, where, item, depth == 0, &form, err);
	if (rc < 0)
		return rc;
	p = add_node(set);
	p->form = form;
	p->text = cJSON_PrintUnformatted(item);
	p->min = 1;
	p->max = UINT64_MAX;
	if (cJSON_IsObject(item))
		rc = read_labels(src, where, item, p, err);
	if (rc == 0 && form->window && cJSON_IsObject(item))
		rc = pred_window_read(set, src, where, item, &p->w, err);
	if (rc == 0)
		rc = form->read(set, src, where, item, depth, p, err);
	p->of_update |= pred_ref_of_update(p->w.after) || pred_ref_of_update(p->w.before);
	*ret = p;
	return rc;
}

int pred_parse(struct pred_set *set, const struct json_src *src, const char *where,
	       const cJSON *item, enum pred_as as, struct pred **ret, struct err *err)
{
	ensure(!set->scanned, "predicates are parsed before the trace is read");
	return pred_node_read(set, src, where, item, as, 0, ret, err);
}

struct pred_doc *pred_point_docs(size_t *ret_n)
{
	static const struct pred_doc found[] = {
		{ "first",
		  "first record of a match, in a window of its own when \"after\" or \"before\" stand beside it" },
		{ "last", "last record of a match, likewise" },
		{ "record", "record of that number" },
	};
	struct pred_doc *v = mem_zalloc(ARRAY_SIZE(points) + ARRAY_SIZE(found), sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		v[n++] = (struct pred_doc){ points[i].name, points[i].doc };
	for (size_t i = 0; i < ARRAY_SIZE(found); i++)
		v[n++] = found[i];
	*ret_n = n;
	return v;
}
