#include "verifier/authority.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tracerec.h"

#define PATCH_MAX (16u << 20) /* bytes of a version's test_patch */
#define NAME_MAX_ 200u        /* bytes of a version's name */

/* What a version says; what it does not say is as in the task. */
struct version {
	char *problem_statement, *test_patch, *command, *reader;
	struct strv fail_to_pass, pass_to_pass;
	bool has_statement, has_patch, has_f2p, has_p2p;
};

#define OFF(field) offsetof(struct version, field)

/* clang-format off */
static const struct json_field test_rows[] = {
	{ "command", JSON_STR, OFF(command), .doc = "run by sh -c in the work directory" },
	{ "reader", JSON_STR, OFF(reader), .doc = "how its results are read" },
	{ NULL },
};

static const struct json_field version_rows[] = {
	{ "problem_statement", JSON_STR, OFF(problem_statement), .doc = "what is asked now" },
	{ "test_patch", JSON_STR, OFF(test_patch), .doc = "diff of the hidden tests, or the name of its file" },
	{ "FAIL_TO_PASS", JSON_STRV, OFF(fail_to_pass), .doc = "tests that must pass afterwards" },
	{ "PASS_TO_PASS", JSON_STRV, OFF(pass_to_pass), .doc = "tests that must still pass" },
	{ "test", JSON_OBJECT, 0, .rows = test_rows, .doc = "how the result is graded" },
	{ NULL },
};

struct effect_names {
	char *goal, *verifier;
};

static const struct json_field effect_rows[] = {
	{ "goal", JSON_STR, offsetof(struct effect_names, goal), .doc = "version of the goal" },
	{ "verifier", JSON_STR, offsetof(struct effect_names, verifier), .doc = "version of the verifier" },
	{ NULL },
};
/* clang-format on */

void authority_done(struct authority *a)
{
	free(a->goal);
	free(a->verifier);
	*a = (struct authority){ 0 };
}

bool authority_is_initial(const struct authority *a)
{
	return str_eq(a->goal, AUTHORITY_INITIAL) && str_eq(a->verifier, AUTHORITY_INITIAL);
}

void authority_json(struct json_w *w, const char *key, const struct authority *a)
{
	json_open(w, key, '{');
	json_str(w, "goal", a->goal);
	json_str(w, "verifier", a->verifier);
	json_close(w, '}');
}

static void set(char **slot, const char *name)
{
	char *copy = mem_strndup(name, NAME_MAX_);

	free(*slot);
	*slot = copy;
}

static void begin(struct authority *a)
{
	set(&a->goal, AUTHORITY_INITIAL);
	set(&a->verifier, AUTHORITY_INITIAL);
}

/* --- versions --- */

/* The versions of @sc as JSON, *ret empty when it has none. */
static int open_versions(const struct scenario *sc, struct json_src *ret, struct err *err)
{
	const cJSON *v;
	int rc, n = 0;

	if (!sc || !sc->authority)
		return 0;
	rc = json_parse(sc->file ? sc->file : "scenario", sc->authority, strlen(sc->authority), ret,
			err);
	if (rc < 0)
		return rc;
	if (!cJSON_IsObject(ret->root))
		return json_complain(ret, "$.authority", err, "expected an object of versions");
	cJSON_ArrayForEach (v, ret->root) {
		if (strcmp(v->string, AUTHORITY_INITIAL) == 0)
			return json_complain(ret, "$.authority." AUTHORITY_INITIAL, err,
					     "this version is the task itself; take another name");
		if (!v->string[0] || strlen(v->string) > NAME_MAX_ || ++n > (int)AUTHORITY_MAX)
			return json_complain(ret, "$.authority", err,
					     "at most %u versions, whose names have 1 to %u bytes",
					     AUTHORITY_MAX, NAME_MAX_);
	}
	return 0;
}

/* The diff of a test_patch that is named by file: below the scenario's directory, no links. */
static int read_patch(const struct json_src *src, const char *where, const struct scenario *sc,
		      char **text, struct err *err)
{
	auto_free char *dir = sc->file ? path_dir(sc->file) : NULL;
	auto_fd int at = -1, fd = -1;
	auto_buf b = BUF_INIT(PATCH_MAX);

	if (!(*text)[0]) {
		free(*text);
		*text = NULL;
		return 0;
	}
	if (strchr(*text, '\n'))
		return 0;
	if (!dir || !path_is_tame(*text))
		return json_complain(src, where, err,
				     "\"%s\" must be diff text or a file below the scenario's own "
				     "directory",
				     *text);
	at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = at < 0 ? -1 : fd_open_beneath(at, *text, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0 || fd_read_all(fd, &b) < 0)
		return json_complain(src, where, err, "cannot read \"%s\" beside the scenario",
				     *text);
	if (!b.len || memchr(b.data, '\0', b.len))
		return json_complain(src, where, err, "\"%s\" holds no diff", *text);
	free(*text);
	*text = buf_steal(&b, NULL);
	return 0;
}

static void version_done(struct version *v)
{
	json_release(version_rows, v);
}

static int read_version(const struct json_src *src, const struct scenario *sc, const cJSON *item,
			struct version *ret, struct err *err)
{
	auto_free char *where = mem_printf("$.authority.%s", item->string);
	auto_free char *patch = mem_printf("%s.test_patch", where);
	int rc;

	if (!cJSON_IsObject(item) || !item->child)
		return json_complain(src, where, err,
				     "expected an object with at least one of problem_statement, "
				     "test_patch, FAIL_TO_PASS, PASS_TO_PASS, test");
	rc = json_read(src, where, item, version_rows, ret, err);
	if (rc < 0)
		return rc;
	ret->has_statement = ret->problem_statement != NULL;
	ret->has_patch = ret->test_patch != NULL;
	ret->has_f2p = cJSON_GetObjectItemCaseSensitive(item, "FAIL_TO_PASS");
	ret->has_p2p = cJSON_GetObjectItemCaseSensitive(item, "PASS_TO_PASS");
	if (ret->command && !ret->command[0])
		return json_complain(src, where, err, "test.command is empty; leave it out");
	return ret->has_patch ? read_patch(src, patch, sc, &ret->test_patch, err) : 0;
}

/* Complain of a version that is none, with the nearest. */
static int unknown(const struct json_src *src, const char *where, const char *name, struct err *err)
{
	const char *names[AUTHORITY_MAX + 2] = { AUTHORITY_INITIAL }, *near;
	const cJSON *v;
	size_t n = 1;

	cJSON_ArrayForEach (v, src->root)
		names[n++] = v->string;
	near = str_nearest(name, names);
	return json_complain(src, where, err, "there is no version \"%.200s\"%s%s%s", name,
			     near ? ", did you mean \"" : "; \"authority\" declares them",
			     near ? near : "", near ? "\"?" : "");
}

/* The declaration of version @name: NULL with 0 for "initial". */
static int find(const struct json_src *src, const char *where, const char *name, const cJSON **ret,
		struct err *err)
{
	*ret = NULL;
	if (!name || strcmp(name, AUTHORITY_INITIAL) == 0)
		return 0;
	*ret = src->root ? cJSON_GetObjectItemCaseSensitive(src->root, name) : NULL;
	return *ret ? 0 : unknown(src, where, name, err);
}

/* --- effects --- */

/* Names of one effect; those that are not said stay. */
static int take_effect(const struct json_src *src, const char *where, const char *raw,
		       struct authority *a, struct err *err)
{
	struct effect_names names = { 0 };
	struct json_src own = { 0 };
	const cJSON *unused;
	int rc = json_parse(src->name, raw, strlen(raw), &own, err);

	if (rc == 0 && !cJSON_IsObject(own.root))
		rc = json_complain(&own, where, err, "expected {\"goal\": V, \"verifier\": V}");
	if (rc == 0)
		rc = json_read(&own, where, own.root, effect_rows, &names, err);
	if (rc == 0 && !names.goal && !names.verifier)
		rc = json_complain(&own, where, err, "name a version: goal, verifier or both");
	if (rc == 0 && names.goal)
		rc = find(src, where, names.goal, &unused, err);
	if (rc == 0 && names.verifier)
		rc = find(src, where, names.verifier, &unused, err);
	if (rc == 0 && names.goal)
		set(&a->goal, names.goal);
	if (rc == 0 && names.verifier)
		set(&a->verifier, names.verifier);
	json_release(effect_rows, &names);
	json_src_done(&own);
	return rc;
}

static int take_effects(const struct json_src *src, const struct scenario *sc, struct authority *a,
			struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < sc->n_interventions && rc == 0; i++) {
		const struct intervention *in = &sc->interventions[i];

		for (size_t k = 0; k < in->n_effects && rc == 0; k++) {
			auto_free char *where =
				mem_printf("$.interventions[%zu].effects[%zu].authority", i, k);

			if (in->effects[k].kind == EFFECT_AUTHORITY)
				rc = take_effect(src, where, in->effects[k].raw, a, err);
		}
	}
	return rc;
}

int authority_final(const struct scenario *sc, struct authority *ret, struct err *err)
{
	struct json_src src = { 0 };
	struct authority a = { 0 };
	int rc = open_versions(sc, &src, err);

	begin(&a);
	if (!src.name)
		src.name = mem_strdup(sc->file ? sc->file : "scenario");
	if (rc == 0)
		rc = take_effects(&src, sc, &a, err);
	json_src_done(&src);
	if (rc < 0)
		authority_done(&a);
	else
		*ret = a;
	return rc;
}

int authority_check(const struct scenario *sc, struct err *err)
{
	struct json_src src = { 0 };
	struct authority last = { 0 };
	int rc = open_versions(sc, &src, err);
	const cJSON *item;

	for (item = rc == 0 && src.root ? src.root->child : NULL; item && rc == 0;
	     item = item->next) {
		struct version v = { 0 };

		rc = read_version(&src, sc, item, &v, err);
		version_done(&v);
	}
	json_src_done(&src);
	if (rc == 0)
		rc = authority_final(sc, &last, err);
	authority_done(&last);
	return rc;
}

/* --- the task of a version --- */

static void replace(char **slot, char **with)
{
	free(*slot);
	*slot = take_ptr(with);
}

static void apply_goal(struct task *t, struct version *v)
{
	if (v->has_statement)
		replace(&t->problem_statement, &v->problem_statement);
}

static void apply_verifier(struct task *t, struct version *v)
{
	if (v->has_patch)
		replace(&t->test_patch, &v->test_patch);
	if (v->command)
		replace(&t->test.command, &v->command);
	if (v->reader)
		replace(&t->test.reader, &v->reader);
	if (v->has_f2p)
		strv_copy(&t->fail_to_pass, &v->fail_to_pass);
	if (v->has_p2p)
		strv_copy(&t->pass_to_pass, &v->pass_to_pass);
}

/* Read version @name and put it into @t by @apply. */
static int use(const struct json_src *src, const struct scenario *sc, const char *name,
	       void (*apply)(struct task *t, struct version *v), struct task *t, struct err *err)
{
	struct version v = { 0 };
	const cJSON *item;
	int rc = find(src, "$.authority", name, &item, err);

	if (rc == 0 && item)
		rc = read_version(src, sc, item, &v, err);
	if (rc == 0 && item)
		apply(t, &v);
	version_done(&v);
	return rc;
}

int authority_task(const struct task *task, const struct scenario *sc, const char *goal,
		   const char *verifier, struct task **ret, struct err *err)
{
	struct json_src src = { 0 };
	struct task *t = NULL;
	int rc;

	if (!task->file || strcmp(task->file, "-") == 0)
		return err_set(err, ERR_INPUT,
			       "task %s: other versions of it can only be made from a task file",
			       task->instance_id);
	rc = task_load(task->file, &t, err);
	if (rc == 0)
		rc = open_versions(sc, &src, err);
	if (rc == 0 && !src.name)
		src.name = mem_strdup(sc && sc->file ? sc->file : "scenario");
	if (rc == 0)
		rc = use(&src, sc, goal, apply_goal, t, err);
	if (rc == 0)
		rc = use(&src, sc, verifier, apply_verifier, t, err);
	json_src_done(&src);
	if (rc == 0)
		*ret = take_ptr(&t);
	task_free(t);
	return rc;
}

/* --- a run --- */

static void take_name(const cJSON *rec, const char *key, char **slot)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rec, key));

	if (s && *s)
		set(slot, s);
}

static int take_record(const cJSON *rec, void *arg)
{
	const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(rec, "k"));

	if (!str_eq(kind, tracerec_name(TK_AUTHORITY)))
		return 0;
	take_name(rec, "goal", &((struct authority *)arg)->goal);
	take_name(rec, "verifier", &((struct authority *)arg)->verifier);
	return 0;
}

int authority_of_run(const char *dir, struct authority *ret, struct err *err)
{
	auto_free char *path = path_join(dir, "trace.jsonl");
	struct authority a = { 0 };
	bool cut;
	int rc;

	begin(&a);
	rc = tracerec_read(path, take_record, &a, &cut, err);
	if (rc < 0)
		authority_done(&a);
	else
		*ret = a;
	return rc;
}
