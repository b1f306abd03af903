#include "profiles/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "profiles/effect.h"
#include "profiles/input_internal.h"
#include "profiles/rows_internal.h"
#include "profiles/scenario_internal.h"
#include "profiles/servicefiles_internal.h"

static void free_effect(struct effect *e)
{
	free(e->diff);
	free(e->text);
	free(e->template);
	free(e->claim);
	strv_done(&e->argv);
	free(e->raw);
}

static void free_intervention(struct intervention *iv)
{
	for (size_t i = 0; i < iv->n_effects; i++)
		free_effect(iv->effects + i);
	free(iv->effects);
	free(iv->when.regions.v);
	free(iv->when.all_after.v);
	free(iv->when.program);
	free(iv->when.anchor);
}

struct scenario *scenario_free(struct scenario *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < s->n_regions; i++) {
		free(s->regions[i].path);
		free(s->regions[i].evidence);
	}
	for (size_t i = 0; i < s->n_interventions; i++)
		free_intervention(s->interventions + i);
	free(s->progress);
	free(s->regions);
	free(s->interventions);
	free(s->file);
	free(s->id);
	free(s->instance_id);
	free(s->family);
	free(s->checks);
	free(s->authority);
	free(s->actors);
	free(s->services);
	user_free(s->user);
	free(s->notes);
	free(s);
	return NULL;
}

static void file_done(struct scenario_file *f)
{
	json_release(scenario_rows, f);
	free(f->checks);
	free(f->authority);
	free(f->actors);
	free(f->services);
	free(f->user);
	free(f->notes);
	free(f->progress.v);
}

/* JSON text of an effect that is an object; NULL when it is none. */
static char *take_raw(struct scenario_effect *from)
{
	char **raw[] = { &from->model, &from->authority, &from->place, &from->runtime,
			 &from->service };

	for (size_t i = 0; i < ARRAY_SIZE(raw); i++) {
		if (*raw[i])
			return take_ptr(raw[i]);
	}
	return NULL;
}

/* Move what @from holds into @to; @key is the one key that the effect has. */
static void take_effect(struct scenario_effect *from, const char *key, struct effect *to)
{
	int kind = 0;

	while (strcmp(scenario_effect_keys[kind], key) != 0)
		kind++;
	to->kind = (enum effect_kind)kind;
	to->diff = take_ptr(&from->edit);
	to->text = take_ptr(&from->text);
	to->template = take_ptr(&from->template);
	to->claim = take_ptr(&from->claim);
	to->argv = from->exec;
	from->exec = (struct strv){ 0 };
	to->raw = take_raw(from);
}

static void take_intervention(struct scenario_intervention *from, const cJSON *item,
			      struct intervention *to)
{
	const cJSON *sub;

	to->order = from->order;
	to->when = from->when;
	from->when = (struct when){ 0 };
	to->timing = from->timing;
	to->effects = mem_zalloc(from->effects.n, sizeof(*to->effects));
	cJSON_ArrayForEach (sub, cJSON_GetObjectItemCaseSensitive(item, "effects")) {
		take_effect((struct scenario_effect *)from->effects.v + to->n_effects,
			    sub->child->string, to->effects + to->n_effects);
		to->n_effects++;
	}
}

static struct scenario *take_file(const struct json_src *src, struct scenario_file *f)
{
	const cJSON *item;
	struct scenario *s = mem_zalloc(1, sizeof(*s));

	s->file = mem_strdup(src->name);
	s->id = take_ptr(&f->id);
	s->instance_id = take_ptr(&f->instance_id);
	s->family = take_ptr(&f->family);
	s->mode = f->mode;
	s->max_rounds = f->max_rounds;
	s->progress = f->progress.v;
	s->n_progress = f->progress.n;
	f->progress = (struct json_array){ 0 };
	s->regions = f->regions.v;
	s->n_regions = f->regions.n;
	f->regions = (struct json_array){ 0 };
	s->interventions = mem_zalloc(f->interventions.n, sizeof(*s->interventions));
	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(src->root, "interventions")) {
		take_intervention((struct scenario_intervention *)f->interventions.v +
					  s->n_interventions,
				  item, s->interventions + s->n_interventions);
		s->n_interventions++;
	}
	s->checks = take_ptr(&f->checks);
	s->authority = take_ptr(&f->authority);
	s->actors = take_ptr(&f->actors);
	s->services = take_ptr(&f->services);
	s->notes = take_ptr(&f->notes);
	return s;
}

/* The diffs of edits that are named by file. */
static int read_edits(const struct json_src *src, const char *dir, struct scenario_file *f,
		      struct err *err)
{
	struct scenario_intervention *iv = f->interventions.v;

	for (size_t i = 0; i < f->interventions.n; i++) {
		struct scenario_effect *e = iv[i].effects.v;

		for (size_t k = 0; k < iv[i].effects.n; k++) {
			auto_free char *where =
				mem_printf("$.interventions[%zu].effects[%zu].edit", i, k);
			int rc = input_text(src, where, dir, &e[k].edit, err);

			if (rc == 0 && e[k].edit && !e[k].edit[0])
				rc = json_complain(src, where, err, "the file is empty");
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* Effects that are objects: checked, and made whole by what they name. */
static int read_objects(const struct json_src *src, const char *dir, struct scenario_file *f,
			struct err *err)
{
	const cJSON *authority = cJSON_GetObjectItemCaseSensitive(src->root, "authority");
	const cJSON *services = cJSON_GetObjectItemCaseSensitive(src->root, "services");
	struct scenario_intervention *iv = f->interventions.v;
	cJSON *item, *sub;
	size_t i = 0, k;

	cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(src->root, "interventions")) {
		struct scenario_effect *e = iv[i].effects.v;

		k = 0;
		cJSON_ArrayForEach (sub, cJSON_GetObjectItemCaseSensitive(item, "effects")) {
			auto_free char *where =
				mem_printf("$.interventions[%zu].effects[%zu]", i, k);
			int rc =
				effect_check(src, where, dir, sub->child, authority, services, err);

			if (rc < 0)
				return rc;
			if (e[k].place) {
				free(e[k].place);
				e[k].place = cJSON_PrintUnformatted(sub->child);
			}
			if (e[k].service) {
				free(e[k].service);
				e[k].service = cJSON_PrintUnformatted(sub->child);
			}
			k++;
		}
		i++;
	}
	return 0;
}

static int read_services(const struct json_src *src, const char *dir, struct scenario_file *f,
			 struct err *err)
{
	cJSON *services = cJSON_GetObjectItemCaseSensitive(src->root, "services");
	int rc = services ? servicefiles_read(src, "$.services", dir, services, err) : 0;

	if (rc < 0 || !f->services)
		return rc;
	free(f->services);
	f->services = cJSON_PrintUnformatted(services);
	return 0;
}

static int read_user(const struct json_src *src, const char *dir, struct user **ret,
		     struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(src->root, "user");

	return item ? user_read(src, "$.user", dir, item, ret, err) : 0;
}

int scenario_parse(const char *name, const char *text, size_t n, const char *dir,
		   struct scenario **ret, struct err *err)
{
	struct scenario_file f = { .mode = MODE_EDIT_MESSAGE };
	struct json_src src = { 0 };
	struct user *user = NULL;
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	rc = input_read(&src, "scenario", scenario_rows, &f, err);
	if (rc == 0)
		rc = scenario_check(&src, &f, err);
	if (rc == 0)
		rc = read_edits(&src, dir, &f, err);
	if (rc == 0)
		rc = read_objects(&src, dir, &f, err);
	if (rc == 0)
		rc = read_services(&src, dir, &f, err);
	if (rc == 0)
		rc = read_user(&src, dir, &user, err);
	if (rc == 0) {
		*ret = take_file(&src, &f);
		(*ret)->user = take_ptr(&user);
		rc = scenario_set_condition(*ret, -1, 0, err);
		if (rc < 0)
			*ret = scenario_free(*ret);
	}
	user_free(user);
	file_done(&f);
	json_src_done(&src);
	return rc;
}

int scenario_load(const char *path, struct scenario **ret, struct err *err)
{
	auto_buf b = BUF_INIT(JSON_FILE_MAX);
	auto_free char *dir = NULL;
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	dir = input_dir(path);
	return scenario_parse(path, buf_str(&b), b.len, dir, ret, err);
}
