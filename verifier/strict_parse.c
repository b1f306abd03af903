/* The checks of a scenario. */
#include <string.h>

#include "base/mem.h"
#include "verifier/strict_internal.h"

/* One key of "checks". */
struct check_key {
	const char *key;
	enum strict_check check;
	/* Read @item at @where into @c. */
	int (*read)(const struct json_src *src, const char *where, const cJSON *item,
		    const struct check_key *row, struct strict_checks *c, struct err *err);
	enum pred_as as;
};

static int read_list(const struct json_src *src, const char *where, const cJSON *item,
		     const struct check_key *row, struct strict_checks *c, struct err *err)
{
	struct strict_list *l = &c->list[row->check];
	const cJSON *one;
	int n = cJSON_GetArraySize(item), rc = 0;

	if (!cJSON_IsArray(item) || n > (int)STRICT_PARTS_MAX)
		return json_complain(src, where, err,
				     "expected an array of at most %u predicates, such as "
				     "[{\"absent\": {\"kind\": \"edit\", \"path\": \"docs/**\"}}]",
				     STRICT_PARTS_MAX);
	l->v = mem_zalloc((size_t)n + 1, sizeof(struct pred *));
	cJSON_ArrayForEach (one, item) {
		auto_free char *at = mem_printf("%s[%zu]", where, l->n);
		struct pred *p = NULL;

		if (rc == 0)
			rc = pred_parse(c->set, src, at, one, PRED_AS_ANY, &p, err);
		if (rc < 0)
			return rc;
		l->v[l->n++] = p;
	}
	c->trace |= l->n > 0;
	return 0;
}

static int read_one(const struct json_src *src, const char *where, const cJSON *item,
		    const struct check_key *row, struct strict_checks *c, struct err *err)
{
	struct strict_list *l = &c->list[row->check];
	struct pred *p = NULL;
	int rc = pred_parse(c->set, src, where, item, row->as, &p, err);

	if (rc < 0)
		return rc;
	l->v = mem_zalloc(1, sizeof(struct pred *));
	l->v[l->n++] = p;
	c->trace = true;
	return 0;
}

static int read_milestones(const struct json_src *src, const char *where, const cJSON *item,
			   const struct check_key *row, struct strict_checks *c, struct err *err)
{
	c->trace = true;
	return pred_parse(c->set, src, where, item, row->as, &c->milestones, err);
}

static int read_figures(const struct json_src *src, const char *where, const cJSON *item,
			const struct check_key *row, struct strict_checks *c, struct err *err)
{
	(void)row;
	return strict_figures_read(src, where, item, c, err);
}

/* {"tests": "authority", "also": [P...]}: the verdict decides in any case. */
static int read_task(const struct json_src *src, const char *where, const cJSON *item,
		     const struct check_key *row, struct strict_checks *c, struct err *err)
{
	static const char *const keys[] = { "tests", "also", NULL };
	const cJSON *also = cJSON_GetObjectItemCaseSensitive(item, "also"), *one;
	const cJSON *tests = cJSON_GetObjectItemCaseSensitive(item, "tests");
	const char *s = cJSON_GetStringValue(tests);
	auto_free char *at = mem_printf("%s.also", where);

	if (!cJSON_IsObject(item) || (tests && (!s || strcmp(s, "authority") != 0)))
		return json_complain(src, where, err,
				     "expected {\"tests\": \"authority\"}, and perhaps \"also\"");
	cJSON_ArrayForEach (one, item) {
		const char *near = str_nearest(one->string, keys);

		if (strcmp(one->string, keys[0]) == 0 || strcmp(one->string, keys[1]) == 0)
			continue;
		return json_complain(src, where, err, "no key \"%.60s\", %s", one->string,
				     near && near[0] == 'a' ? "did you mean \"also\"?"
							    : "there are \"tests\" and \"also\"");
	}
	return also ? read_list(src, at, also, row, c, err) : 0;
}

/* clang-format off */
static const struct check_key check_keys[] = {
	{ "task", STRICT_TASK, read_task, PRED_AS_ANY },
	{ "preservation", STRICT_PRESERVATION, read_list, PRED_AS_ANY },
	{ "prohibited", STRICT_PROHIBITED, read_list, PRED_AS_ANY },
	{ "fresh_observation", STRICT_FRESH, read_one, PRED_AS_OBSERVATION },
	{ "recovery_order", STRICT_ORDER, read_one, PRED_AS_ORDER },
	{ "milestones", STRICT_CHECK_MAX, read_milestones, PRED_AS_MILESTONES },
	{ "figures", STRICT_CHECK_MAX, read_figures, PRED_AS_ANY },
};
/* clang-format on */

/* What the interventions do to goal and verifier, and whether they tell it. */
static int read_interventions(const struct scenario *s, struct strict_checks *c, struct err *err)
{
	for (size_t i = 0; i < s->n_interventions; i++)
		for (size_t k = 0; k < s->interventions[i].n_effects; k++) {
			enum effect_kind kind = s->interventions[i].effects[k].kind;

			c->authority |= kind == EFFECT_AUTHORITY;
			c->message |= kind == EFFECT_MESSAGE;
		}
	return authority_final(s, &c->final, err);
}

int strict_checks_read(const struct scenario *s, struct strict_checks *ret, struct err *err)
{
	struct json_src src = { 0 };
	const cJSON *item;
	int rc;

	*ret = (struct strict_checks){ .set = pred_set_new() };
	if (!s)
		return 0;
	rc = read_interventions(s, ret, err);
	if (rc == 0 && s->checks)
		rc = json_parse(s->file ? s->file : s->id, s->checks, strlen(s->checks), &src, err);
	for (size_t i = 0; i < ARRAY_SIZE(check_keys) && rc == 0 && src.root; i++) {
		const struct check_key *row = &check_keys[i];
		auto_free char *where = mem_printf("$.checks.%s", row->key);

		item = cJSON_GetObjectItemCaseSensitive(src.root, row->key);
		if (item)
			rc = row->read(&src, where, item, row, ret, err);
	}
	json_src_done(&src);
	return rc;
}

void strict_checks_done(struct strict_checks *c)
{
	for (size_t i = 0; i < STRICT_CHECK_MAX; i++)
		free(c->list[i].v);
	strict_figures_done(c);
	pred_set_free(c->set);
	authority_done(&c->final);
	*c = (struct strict_checks){ 0 };
}

bool strict_part_applies(const struct pred *p, enum strict_arm arm)
{
	if (pred_arm_of(p) != PRED_BOTH)
		return (pred_arm_of(p) == PRED_SHIFTED) == (arm == STRICT_SHIFTED);
	return arm == STRICT_SHIFTED || !pred_of_update(p);
}

int strict_scenario(const struct scenario *s, struct err *err)
{
	struct strict_checks c;
	int rc = strict_checks_read(s, &c, err);

	strict_checks_done(&c);
	return rc;
}

int strict_applies(const struct scenario *s, enum strict_arm arm, unsigned *ret_mask,
		   struct err *err)
{
	struct strict_checks c;
	int rc = strict_checks_read(s, &c, err);
	unsigned mask = 1u << STRICT_TASK;

	for (unsigned k = STRICT_PRESERVATION; rc == 0 && k < STRICT_CHECK_MAX; k++) {
		bool late = k == STRICT_FRESH || k == STRICT_ORDER;

		for (size_t i = 0; i < c.list[k].n; i++)
			if (late ? arm == STRICT_SHIFTED : strict_part_applies(c.list[k].v[i], arm))
				mask |= 1u << k;
	}
	if (rc == 0 && s && arm == STRICT_SHIFTED)
		mask |= 1u << STRICT_AUTHORITY;
	strict_checks_done(&c);
	*ret_mask = mask;
	return rc;
}
