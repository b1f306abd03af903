/* A person's labels: lines of JSON, written as a template, filled in, read back. */
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/label.h"
#include "study/result.h"

/* A string that may be null. */
static int text_or_null(const struct json_src *src, const char *where, const cJSON *item,
			void *field, struct err *err)
{
	char **out = field;

	if (cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsString(item))
		return json_complain(src, where, err, "must be a string or null");
	free(*out);
	*out = mem_strdup(item->valuestring);
	(void)json_unescape_bytes(*out); /* the length is not needed */
	return 0;
}

/* What the template says beside it, for the eyes of the person. */
static int passed_over(const struct json_src *src, const char *where, const cJSON *item,
		       void *field, struct err *err)
{
	(void)src;
	(void)where;
	(void)item;
	(void)field;
	(void)err;
	return 0;
}

static int failure_or_null(const struct json_src *src, const char *where, const cJSON *item,
			   void *field, struct err *err)
{
	enum failure *out = field;
	const char *all[FAILURE_MAX + 1] = { NULL }, *near;

	if (cJSON_IsNull(item) || (cJSON_IsString(item) && !item->valuestring[0]))
		return 0; /* not filled in */
	if (!cJSON_IsString(item))
		return json_complain(src, where, err, "must be a type of failure or null");
	*out = failure_find(item->valuestring);
	if (*out < FAILURE_MAX)
		return 0;
	for (int i = 0; i < FAILURE_MAX; i++)
		all[i] = failure_name((enum failure)i);
	near = str_nearest(item->valuestring, all);
	return json_complain(src, where, err, "no type of failure \"%s\"%s%s%s", item->valuestring,
			     near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

#define OFF(member) offsetof(struct label_override, member)
#define CUSTOM(fn)  JSON_CUSTOM, .parse = fn

static const struct json_field rows[] = {
	/* clang-format off */
	{ .name = "run", .kind = CUSTOM(text_or_null), .off = OFF(key.run), .doc = "name of the run or of its directory" },
	{ .name = "instance_id", .kind = CUSTOM(text_or_null), .off = OFF(key.instance_id), .doc = "task" },
	{ .name = "model", .kind = CUSTOM(text_or_null), .off = OFF(key.model), .doc = "model, else the agent" },
	{ .name = "condition", .kind = CUSTOM(text_or_null), .off = OFF(key.condition), .doc = "as reports write it" },
	{ .name = "repeat", .kind = JSON_U64, .off = OFF(key.repeat), .doc = "number of the repeat" },
	{ .name = "label", .kind = CUSTOM(failure_or_null), .off = OFF(label), .doc = "type of failure; null = not filled in" },
	{ .name = "by", .kind = CUSTOM(text_or_null), .off = OFF(by), .doc = "who says so" },
	{ .name = "note", .kind = CUSTOM(text_or_null), .off = OFF(note), .doc = "why" },
	{ .name = "rule", .kind = CUSTOM(passed_over), .off = OFF(note), .doc = "what the rule said" },
	{ .name = "why", .kind = CUSTOM(passed_over), .off = OFF(note), .doc = "and why" },
	{ NULL },
	/* clang-format on */
};

static void override_done(struct label_override *o)
{
	label_key_done(&o->key);
	free(o->by);
	free(o->note);
}

static int one_line(const char *name, size_t no, const char *p, size_t n,
		    struct label_overrides *ret, struct err *err)
{
	auto_free char *where = mem_printf("%s:%zu", name, no);
	struct label_override o = { .label = FAILURE_MAX };
	struct json_src src = { 0 };
	int rc = json_parse(where, p, n, &src, err);

	if (rc == 0 && !cJSON_IsObject(src.root))
		rc = json_complain(&src, "$", err, "must be an object");
	if (rc == 0)
		rc = json_read(&src, "$", src.root, rows, &o, err);
	if (rc == 0 && !o.key.run && !o.key.instance_id)
		rc = json_complain(&src, "$", err, "names no run: give \"run\" or \"instance_id\"");
	json_src_done(&src);
	if (rc < 0 || o.label == FAILURE_MAX) {
		override_done(&o);
		return rc;
	}
	MEM_GROW(ret->v, ret->cap, ret->n + 1);
	ret->v[ret->n++] = o;
	return 0;
}

int label_overrides_parse(const char *name, const char *text, size_t n, struct label_overrides *ret,
			  struct err *err)
{
	struct label_overrides all = { 0 };
	const char *end = text + n;
	size_t no = 0;
	int rc = 0;

	for (const char *p = text; p < end && rc == 0;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		auto_free char *line = mem_strndup(p, len);

		no++;
		if (strlen(line) != len)
			rc = err_set(err, ERR_INPUT, "%s:%zu: holds a NUL byte", name, no);
		else if (line[strspn(line, " \t\r")])
			rc = one_line(name, no, line, len, &all, err);
		p += len + (nl != NULL);
	}
	if (rc < 0)
		label_overrides_done(&all);
	else
		*ret = all;
	return rc;
}

int label_overrides_load(const char *path, struct label_overrides *ret, struct err *err)
{
	auto_buf b = BUF_INIT(LABEL_FILE_MAX);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : label_overrides_parse(path, buf_str(&b), b.len, ret, err);
}

void label_overrides_done(struct label_overrides *o)
{
	for (size_t i = 0; i < o->n; i++)
		override_done(&o->v[i]);
	free(o->v);
	*o = (struct label_overrides){ 0 };
}

void label_key_of(const struct rundir *rd, struct label_key *ret)
{
	const char *model = rundir_str(rd, "model.name"), *mode = rundir_str(rd, "condition.mode");
	struct result r = { .mode = -1 };
	char text[48];

	if (!model || !model[0])
		model = rundir_str(rd, "agent");
	for (int m = MODE_VANILLA; mode && m <= MODE_CO_EDIT; m++)
		if (strcmp(scenario_mode_name((enum scenario_mode)m), mode) == 0)
			r.mode = m;
	if (!mode && !rundir_str(rd, "scenario"))
		r.mode = MODE_VANILLA;
	r.k = (uint64_t)rundir_num(rd, "condition.k", 0);
	*ret = (struct label_key){ .run = mem_strdup(rundir_str(rd, "id")),
				   .instance_id = mem_strdup(rundir_str(rd, "task.instance_id")),
				   .model = mem_strdup(model),
				   .repeat = (uint64_t)rundir_num(rd, "repeat", 1) };
	if (!ret->run)
		ret->run = mem_strdup(path_base(rd->dir));
	if (r.mode >= 0)
		ret->condition = mem_strdup(result_condition(&r, text));
}

void label_key_done(struct label_key *k)
{
	free(k->run);
	free(k->instance_id);
	free(k->model);
	free(k->condition);
	*k = (struct label_key){ 0 };
}

/* What a line says must be so; what it leaves out may be anything. */
static bool fits(const struct label_key *want, const struct label_key *have)
{
	if (want->run && !str_eq(want->run, have->run))
		return false;
	return (!want->instance_id || str_eq(want->instance_id, have->instance_id)) &&
	       (!want->model || str_eq(want->model, have->model)) &&
	       (!want->condition || str_eq(want->condition, have->condition)) &&
	       (!want->repeat || want->repeat == have->repeat);
}

bool label_override(const struct label_overrides *o, const struct label_key *key, struct label *l)
{
	for (size_t i = o->n; i > 0; i--) {
		const struct label_override *v = &o->v[i - 1];

		if (!fits(&v->key, key))
			continue;
		free(l->human_by);
		free(l->human_note);
		l->human = v->label;
		l->human_by = mem_strdup(v->by);
		l->human_note = mem_strdup(v->note);
		return true;
	}
	return false;
}

void label_template(const struct label_key *key, const struct label *l, struct buf *out)
{
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_str(&w, "run", key->run);
	json_str(&w, "instance_id", key->instance_id);
	json_str(&w, "model", key->model);
	json_str(&w, "condition", key->condition);
	json_u64(&w, "repeat", key->repeat);
	json_str(&w, "rule", failure_name(l->failure));
	json_str(&w, "why", l->why);
	json_null(&w, "label");
	json_null(&w, "by");
	json_null(&w, "note");
	json_close(&w, '}');
	buf_addc(out, '\n');
}
