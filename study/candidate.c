#include "study/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/lex.h"
#include "study/mine.h"
#include "verifier/basetree.h"
#include "verifier/wording.h"

#define MESSAGE_MAX 2000u /* bytes of what a user says */
#define REGIONS_MAX 64u

/* A region as models write it: both spellings. */
struct place {
	char *path, *evidence;
	uint64_t start, end, start_line, end_line;
};

struct file {
	struct candidate c;
	struct json_array places; /* of struct place */
};

#define OFF(f)   offsetof(struct file, f)
#define PLACE(f) offsetof(struct place, f)

/* clang-format off */
static const struct json_field place_rows[] = {
	{ "path", JSON_STR, PLACE(path), true },
	{ "start", JSON_U64, PLACE(start) },
	{ "end", JSON_U64, PLACE(end) },
	{ "start_line", JSON_U64, PLACE(start_line) },
	{ "end_line", JSON_U64, PLACE(end_line) },
	{ "evidence", JSON_STR, PLACE(evidence) },
	{ NULL },
};

static const struct json_field rows[] = {
	{ "instance_id", JSON_STR, OFF(c.instance_id) },
	{ "candidate_id", JSON_STR, OFF(c.candidate_id) },
	{ "diff", JSON_STR, OFF(c.diff) },
	{ "target_regions", JSON_ARRAY, OFF(places), true, .rows = place_rows, .size = sizeof(struct place) },
	{ "user_message", JSON_STR, OFF(c.user_message), true },
	{ "wrong_belief", JSON_STR, OFF(c.wrong_belief), true },
	{ "why_it_looks_plausible", JSON_STR, OFF(c.why_it_looks_plausible), true },
	{ "expected_failure_mode", JSON_STR, OFF(c.expected_failure_mode), true },
	{ "self_check", JSON_RAW, OFF(c.self_check) },
	{ "generator", JSON_RAW, OFF(c.generator) },
	{ NULL },
};
/* clang-format on */

void candidate_done(struct candidate *c)
{
	free(c->instance_id);
	free(c->candidate_id);
	free(c->diff);
	for (size_t i = 0; i < c->n_regions; i++) {
		free(c->region[i].path);
		free(c->region[i].evidence);
	}
	free(c->region);
	free(c->user_message);
	free(c->wrong_belief);
	free(c->why_it_looks_plausible);
	free(c->expected_failure_mode);
	free(c->self_check);
	free(c->generator);
	*c = (struct candidate){ .diff = NULL };
}

static int take_places(const struct json_src *src, struct file *f, struct err *err)
{
	struct place *p = f->places.v;

	if (!f->places.n || f->places.n > REGIONS_MAX)
		return json_complain(src, "$.target_regions", err, "expected 1 to %u regions",
				     REGIONS_MAX);
	f->c.region = mem_zalloc(f->places.n, sizeof(*f->c.region));
	for (size_t i = 0; i < f->places.n; i++) {
		auto_free char *where = mem_printf("$.target_regions[%zu]", i);
		uint64_t start = p[i].start ? p[i].start : p[i].start_line;
		uint64_t end = p[i].end ? p[i].end : p[i].end_line;

		if (!p[i].path || !path_is_tame(p[i].path))
			return json_complain(src, where, err,
					     "the path must be a plain one below the workspace");
		if (!start || end < start)
			return json_complain(src, where, err,
					     "\"start\" and \"end\" are lines from 1, in order");
		f->c.region[f->c.n_regions++] =
			(struct region){ .path = take_ptr(&p[i].path),
					 .start = start,
					 .end = end,
					 .evidence = take_ptr(&p[i].evidence) };
	}
	return 0;
}

int candidate_parse(const char *name, const char *text, size_t n, struct candidate *ret,
		    struct err *err)
{
	struct json_src src = { 0 };
	struct file f = { .c = { .diff = NULL } };
	int rc = json_parse(name, text, n, &src, err);

	if (rc < 0)
		return rc;
	if (cJSON_GetObjectItemCaseSensitive(src.root, "schema"))
		rc = json_check_schema(&src, "candidate", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, rows, &f, err);
	if (rc == 0)
		rc = take_places(&src, &f, err);
	if (rc == 0 && (!f.c.user_message || !f.c.wrong_belief || !f.c.why_it_looks_plausible ||
			!f.c.expected_failure_mode))
		rc = json_complain(&src, "$", err, "null where a text must be");
	if (rc == 0) {
		*ret = f.c;
		f.c = (struct candidate){ .diff = NULL };
	}
	for (size_t i = 0; i < f.c.n_regions; i++) {
		free(f.c.region[i].path);
		free(f.c.region[i].evidence);
	}
	free(f.c.region);
	json_release(rows, &f);
	json_src_done(&src);
	return rc;
}

/* Input files hold plain JSON, without the escapes of outputs: a diff must come back byte for byte. */
static void put(cJSON *to, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(to, key, text);
}

static void put_raw(cJSON *to, const char *key, const char *text)
{
	cJSON *item = text ? cJSON_Parse(text) : NULL;

	if (item)
		cJSON_AddItemToObject(to, key, item);
}

static void put_regions(cJSON *to, const char *key, const struct region *r, size_t n)
{
	cJSON *list = cJSON_AddArrayToObject(to, key);

	for (size_t i = 0; i < n; i++) {
		cJSON *one = cJSON_CreateObject();

		put(one, "path", r[i].path);
		cJSON_AddNumberToObject(one, "start", (double)r[i].start);
		cJSON_AddNumberToObject(one, "end", (double)r[i].end);
		put(one, "evidence", r[i].evidence);
		cJSON_AddItemToArray(list, one);
	}
}

static void print(cJSON *root, struct buf *out)
{
	char *text = cJSON_Print(root);

	ensure(text, "a small tree can be printed");
	buf_adds(out, text);
	buf_addc(out, '\n');
	cJSON_free(text);
	cJSON_Delete(root);
}

void candidate_print(const struct candidate *c, struct buf *out)
{
	cJSON *root = cJSON_CreateObject();

	put(root, "schema", "proctor.candidate/1");
	put(root, "instance_id", c->instance_id);
	put(root, "candidate_id", c->candidate_id);
	put(root, "diff", c->diff);
	put_regions(root, "target_regions", c->region, c->n_regions);
	put(root, "user_message", c->user_message);
	put(root, "wrong_belief", c->wrong_belief);
	put(root, "why_it_looks_plausible", c->why_it_looks_plausible);
	put(root, "expected_failure_mode", c->expected_failure_mode);
	put_raw(root, "self_check", c->self_check);
	put_raw(root, "generator", c->generator);
	print(root, out);
}

void candidate_scenario(const struct candidate *c, const char *id, enum scenario_mode mode,
			uint64_t rounds, const struct region *regions, size_t n_regions,
			struct buf *out)
{
	cJSON *root = cJSON_CreateObject(), *list, *one, *when, *effects, *effect, *message;
	bool co = mode == MODE_CO_EDIT;

	put(root, "schema", "proctor.scenario/1");
	put(root, "id", id);
	put(root, "instance_id", c->instance_id);
	put(root, "family", co ? "co-edit" : "counter-edit");
	put(root, "mode", scenario_mode_name(mode));
	cJSON_AddNumberToObject(root, "max_rounds", co ? 1 : (double)rounds);
	put_regions(root, "regions", regions, n_regions);
	list = cJSON_AddArrayToObject(root, "interventions");
	one = cJSON_CreateObject();
	cJSON_AddItemToArray(list, one);
	cJSON_AddNumberToObject(one, "order", 1);
	when = cJSON_AddObjectToObject(one, "when");
	put(when, "event", "read_or_edit");
	put(when, "touch", "bytes");
	put(one, "timing", "after-command");
	effects = cJSON_AddArrayToObject(one, "effects");
	if (c->diff && mode != MODE_MESSAGE) {
		effect = cJSON_CreateObject();
		put(effect, "edit", c->diff);
		cJSON_AddItemToArray(effects, effect);
	}
	effect = cJSON_CreateObject();
	message = cJSON_AddObjectToObject(effect, "message");
	put(message, co ? "text" : "claim", c->user_message);
	cJSON_AddItemToArray(effects, effect);
	print(root, out);
}

bool candidate_is_noise(const char *path)
{
	return mine_noise(path) != NULL;
}

/* Files of the kind that the reference changes are implementation files, whatever their names. */
static bool like_reference(const char *path, const char *reference)
{
	const char *dot = strrchr(path_base(path), '.');
	auto_free char *end = dot ? mem_printf("%s\n", dot) : NULL;

	return dot && reference && strstr(reference, end);
}

/* Does one of the lines that the edit adds wait? */
static bool waits(const char *diff)
{
	static const char *const words[] = { "sleep(", "usleep", "setTimeout(", "Sleep(", NULL };

	for (const char *p = diff; p && *p; p = strchr(p, '\n'), p += p != NULL) {
		auto_free char *line = mem_strndup(p, strcspn(p, "\n"));

		if (*line != '+' || str_starts(line, "+++ "))
			continue;
		for (size_t i = 0; words[i]; i++)
			if (strstr(line, words[i]))
				return true;
	}
	return false;
}

/* What is wrong with the texts; NULL: nothing. Caller frees. */
static char *judge_texts(const struct candidate *c)
{
	const char *word;
	size_t bad;

	if (!c->diff || !c->diff[strspn(c->diff, " \t\r\n")])
		return mem_strdup("the diff is empty");
	if (!str_utf8(c->diff, strlen(c->diff), &bad))
		return mem_strdup("the diff is not UTF-8, so no JSON file can carry it");
	if (!str_starts(c->diff, "diff --git "))
		return mem_strdup("the diff must begin with a \"diff --git\" line");
	if (!c->user_message[strspn(c->user_message, " \t\r\n")] ||
	    strlen(c->user_message) > MESSAGE_MAX)
		return mem_printf("user_message must have 1 to %u bytes", MESSAGE_MAX);
	word = wording_refused(c->user_message);
	if (word)
		return mem_printf("user_message is not what a user would say: \"%s\"", word);
	if (waits(c->diff))
		return mem_strdup("the edit waits for time to pass");
	return NULL;
}

static char *judge_file(const struct basetree *t, const struct basetree_file *f,
			const char *reference)
{
	if (!path_is_tame(f->path))
		return mem_printf("%s is no plain path", f->path);
	if (basetree_is_test(t, f->path))
		return mem_printf("%s belongs to the tests", f->path);
	if (like_reference(f->path, reference) && !candidate_is_noise(f->path))
		return NULL;
	if (candidate_is_noise(f->path) || !lex_lang_of(f->path))
		return mem_printf("%s is no implementation file", f->path);
	return NULL;
}

static char *judge_patch(const struct basetree *t, const struct basetree_patch *p,
			 const struct task *task)
{
	bool changes = false;
	char *reason;

	if (p->n > CANDIDATE_FILES_MAX)
		return mem_printf("it changes %zu files, at most %u may be", p->n,
				  CANDIDATE_FILES_MAX);
	if (p->added + p->removed > CANDIDATE_LINES_MAX)
		return mem_printf("it changes %llu lines, at most %u may be",
				  (unsigned long long)(p->added + p->removed), CANDIDATE_LINES_MAX);
	for (size_t i = 0; i < p->n; i++) {
		reason = judge_file(t, &p->file[i], task->patch);
		if (reason)
			return reason;
		changes = changes || p->file[i].n_hunks || !p->file[i].after;
	}
	if (!changes)
		return mem_strdup("it changes nothing");
	return NULL;
}

/* Regions must be places of the base. */
static int judge_regions(const struct candidate *c, struct basetree *t, char **ret, struct err *err)
{
	for (size_t i = 0; i < c->n_regions; i++) {
		auto_buf b = BUF_INIT(256u << 20);
		int rc = basetree_read(t, c->region[i].path, &b, err);

		if (rc < 0)
			return rc;
		if (rc == 0) {
			*ret = mem_printf("target_regions: there is no file %s", c->region[i].path);
			return 0;
		}
	}
	return 0;
}

int candidate_check(const struct candidate *c, const struct task *task, char **ret_reason,
		    struct err *err)
{
	struct basetree *t = NULL;
	struct basetree_patch p = { .file = NULL };
	char *reason = judge_texts(c);
	int rc = 0;

	*ret_reason = reason;
	if (reason)
		return 0;
	rc = basetree_open(task, NULL, &t, err);
	if (rc == 0)
		rc = basetree_apply(t, c->diff, &p, &reason, err);
	if (rc == 0 && reason) {
		*ret_reason = mem_printf("the diff does not apply to the base: %s", reason);
		free(reason);
	} else if (rc > 0) {
		*ret_reason = judge_patch(t, &p, task);
		rc = *ret_reason ? 0 : judge_regions(c, t, ret_reason, err);
	}
	basetree_patch_done(&p);
	basetree_free(t);
	return rc < 0 ? rc : !*ret_reason;
}
