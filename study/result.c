#include "study/result.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/behave.h"
#include "study/label.h"
#include "study/result_internal.h"
#include "study/subdirs.h"

#define FILE_MAX_BYTES (512u << 20) /* of one file of records */
#define LINE_MAX_BYTES (1u << 20)   /* of one record */
#define RUNS_MAX       2000000u
#define DIR_DEPTH_MAX  8        /* levels below the given directory at which runs are looked for */
#define K_MAX          1000000u /* rounds, repeats */

const char *const result_verdicts[] = {
	"resolved", "unresolved", "invalid", "infra", "none", NULL
};

/* null leaves the field alone: what is not known is not zero. */
static int number_or_null(const struct json_src *src, const char *where, const cJSON *item,
			  void *field, struct err *err)
{
	/* 2^53: beyond it a double no longer holds every whole number. */
	if (cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsNumber(item) || item->valuedouble < 0 ||
	    item->valuedouble > 9007199254740992.0 ||
	    (double)(uint64_t)item->valuedouble < item->valuedouble)
		return json_complain(src, where, err,
				     "expected a whole number, 0 or more, or null");
	*(uint64_t *)field = (uint64_t)item->valuedouble;
	return 0;
}

#define OFF(field) offsetof(struct result, field)
#define NULLABLE   .parse = number_or_null

/* clang-format off */
static const struct json_field rows[] = {
	{ "benchmark", JSON_STR, OFF(benchmark), .doc = "set of tasks that it belongs to" },
	{ "instance_id", JSON_STR, OFF(instance_id), true, .doc = "name of the task" },
	{ "model", JSON_STR, OFF(model), .doc = "row of the tables, default the agent" },
	{ "agent", JSON_STR, OFF(agent), .doc = "name of the agent" },
	{ "mode", JSON_ENUM, OFF(mode), true, .choices = scenario_mode_names, .doc = "condition: vanilla, edit+message, ..." },
	{ "k", JSON_U64, OFF(k), .doc = "K of the condition, 0 in vanilla" },
	{ "repeat", JSON_U64, OFF(repeat), .doc = "number of the run, from 1" },
	{ "verdict", JSON_ENUM, OFF(verdict), true, .choices = result_verdicts, .doc = "resolved, unresolved, invalid, infra or none" },
	{ "completed", JSON_BOOL, OFF(completed), .doc = "came to its own end, not to a limit" },
	{ "steps", JSON_U64, OFF(steps), .doc = "model calls, or commands of an agent without a model" },
	{ "input_tokens", JSON_CUSTOM, OFF(input_tokens), NULLABLE, .doc = "cached ones included; null = unknown" },
	{ "cached_tokens", JSON_CUSTOM, OFF(cached_tokens), NULLABLE, .doc = "of these, read from the cache" },
	{ "output_tokens", JSON_CUSTOM, OFF(output_tokens), NULLABLE, .doc = "null = unknown" },
	{ "micro_dollars", JSON_CUSTOM, OFF(micro_dollars), NULLABLE, .doc = "cost; null = unknown" },
	{ "fired", JSON_U64, OFF(fired), .doc = "interventions that took place" },
	{ "refused", JSON_U64, OFF(refused), .doc = "interventions that did not" },
	{ "patch_lines", JSON_U64, OFF(patch_lines), .doc = "added and removed lines of the final patch" },
	{ "patch_files", JSON_U64, OFF(patch_files), .doc = "files of the final patch" },
	{ "pair_digest", JSON_STR, OFF(pair_digest), .doc = "digest of the plan without its condition" },
	{ "plan_digest", JSON_STR, OFF(plan_digest), .doc = "digest of the plan" },
	{ "label", JSON_STR, OFF(label), .doc = "type of failure" },
	{ "label_by", JSON_STR, OFF(label_by), .doc = "rule or human" },
	{ "response", JSON_STR, OFF(response), .doc = "what became of the edit" },
	{ "revised", JSON_BOOL, OFF(revised), .doc = "the agent revised or removed the edit before the end" },
	{ "reads_after", JSON_CUSTOM, OFF(reads_after), NULLABLE, .doc = "read actions after the final user edit; null = unknown" },
	{ "edits_after", JSON_CUSTOM, OFF(edits_after), NULLABLE, .doc = "edit actions" },
	{ "tests_after", JSON_CUSTOM, OFF(tests_after), NULLABLE, .doc = "test actions" },
	{ NULL },
};
/* clang-format on */

void result_done(struct result *r)
{
	json_release(rows, r);
	free(r->source);
	*r = (struct result){ 0 };
}

void results_done(struct results *r)
{
	for (size_t i = 0; i < r->n; i++)
		result_done(r->v + i);
	free(r->v);
	*r = (struct results){ 0 };
}

void result_fill(struct result *r)
{
	char **text[] = { &r->benchmark,   &r->instance_id, &r->agent,    &r->pair_digest,
			  &r->plan_digest, &r->label,       &r->label_by, &r->response };

	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		if (!*text[i])
			*text[i] = mem_strdup("");
	}
	if (!r->model)
		r->model = mem_strdup(r->agent);
}

/* One of @names (NULL-terminated), or empty. */
static int check_name(const struct json_src *src, const char *where, const char *key,
		      const char *value, const char *const *names, struct err *err)
{
	auto_free char *at = mem_printf("%s.%s", where, key);
	const char *near = str_nearest(value, names);

	if (!*value)
		return 0;
	for (size_t i = 0; names[i]; i++) {
		if (strcmp(value, names[i]) == 0)
			return 0;
	}
	return json_complain(src, at, err, "unknown value \"%s\"; %s%s%s", value,
			     near ? "did you mean \"" : "choose one of docs/formats.md",
			     near ? near : "", near ? "\"?" : "");
}

int result_check(const struct json_src *src, const char *where, const struct result *r,
		 struct err *err)
{
	static const char *const by[] = { "rule", "human", NULL };
	const char *labels[FAILURE_MAX + 1] = { NULL },
					 *responses[RESPONSE_REPLACED + 2] = { NULL };
	int rc;

	for (int i = 0; i < FAILURE_MAX; i++)
		labels[i] = failure_name((enum failure)i);
	for (int i = 0; i <= RESPONSE_REPLACED; i++)
		responses[i] = response_name((enum response)i);
	if (!*r->instance_id)
		return json_complain(src, where, err, "\"instance_id\" is empty");
	if (!*r->model)
		return json_complain(src, where, err, "name the \"model\" or the \"agent\"");
	if (!r->repeat || r->repeat > K_MAX || r->k > K_MAX)
		return json_complain(src, where, err,
				     "\"repeat\" must be 1 to %u and \"k\" at most %u", K_MAX,
				     K_MAX);
	if ((r->mode == MODE_VANILLA) != !r->k)
		return json_complain(src, where, err,
				     "\"k\" must be 0 in vanilla and 1 or more otherwise");
	rc = check_name(src, where, "label", r->label, labels, err);
	if (rc == 0)
		rc = check_name(src, where, "label_by", r->label_by, by, err);
	if (rc == 0)
		rc = check_name(src, where, "response", r->response, responses, err);
	return rc;
}

static bool has_number(const cJSON *obj, const char *key)
{
	return cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(obj, key));
}

/* Undo the escaping of bytes in every string. */
static void unescape(struct result *r)
{
	for (const struct json_field *f = rows; f->name; f++) {
		char **text = (char **)((char *)r + f->off);

		if (f->kind == JSON_STR && *text)
			(void)json_unescape_bytes(*text); /* the length is not needed */
	}
}

static int check_schema(const struct json_src *src, const char *where, cJSON *obj, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, "schema");

	if (!cJSON_IsObject(obj))
		return json_complain(src, where, err, "expected an object");
	if (!cJSON_IsString(item) || strcmp(item->valuestring, "proctor.result/1") != 0)
		return json_complain(src, where, err,
				     "expected \"schema\": \"proctor.result/1\", found %s",
				     cJSON_IsString(item) ? item->valuestring : "none");
	cJSON_DeleteItemFromObjectCaseSensitive(obj, "schema");
	return 0;
}

/* One record; takes the schema out of @obj. */
static int read_record(const struct json_src *src, const char *where, cJSON *obj,
		       struct result *ret, struct err *err)
{
	struct result r = { .repeat = 1 };
	int rc = check_schema(src, where, obj, err);

	if (rc == 0)
		rc = json_read(src, where, obj, rows, &r, err);
	if (rc == 0) {
		unescape(&r);
		result_fill(&r);
		rc = result_check(src, where, &r, err);
	}
	if (rc < 0) {
		result_done(&r);
		return rc;
	}
	r.has_tokens = has_number(obj, "input_tokens") && has_number(obj, "output_tokens");
	r.cost_known = has_number(obj, "micro_dollars");
	r.has_after = has_number(obj, "reads_after") && has_number(obj, "edits_after") &&
		      has_number(obj, "tests_after");
	*ret = r;
	return 0;
}

static int room(struct results *out, const char *name, struct err *err)
{
	if (out->n >= RUNS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %u results; report on fewer", name,
			       RUNS_MAX);
	MEM_GROW(out->v, out->cap, out->n + 1);
	return 0;
}

static int read_line(const char *name, size_t line, const char *text, size_t n, struct results *out,
		     struct err *err)
{
	auto_free char *place = mem_printf("%s:%zu", name, line);
	struct json_src src = { 0 };
	int rc;

	if (n > LINE_MAX_BYTES)
		return err_set(err, ERR_INPUT, "%s: a record of more than %u bytes", place,
			       LINE_MAX_BYTES);
	rc = room(out, name, err);
	if (rc == 0)
		rc = json_parse(place, text, n, &src, err);
	if (rc == 0)
		rc = read_record(&src, "$", src.root, out->v + out->n, err);
	if (rc == 0)
		out->v[out->n++].source = take_ptr(&place);
	json_src_done(&src);
	return rc;
}

static bool blank(const char *s, size_t n)
{
	return strspn(s, " \t\r\n") >= n;
}

static int read_lines(const char *name, const char *text, size_t n, struct results *out,
		      struct err *err)
{
	int rc = 0;

	for (size_t at = 0, line = 1; rc == 0 && at < n; line++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - (text + at)) : n - at;

		if (!blank(text + at, len))
			rc = read_line(name, line, text + at, len, out, err);
		at += len + 1;
	}
	return rc;
}

static int read_array(const char *name, const char *text, size_t n, struct results *out,
		      struct err *err)
{
	struct json_src src = { 0 };
	int rc = json_parse(name, text, n, &src, err);
	size_t i = 0;
	cJSON *item;

	if (rc < 0)
		return rc;
	cJSON_ArrayForEach (item, src.root) {
		auto_free char *where = mem_printf("$[%zu]", i++);

		rc = room(out, name, err);
		if (rc == 0)
			rc = read_record(&src, where, item, out->v + out->n, err);
		if (rc < 0)
			break;
		out->v[out->n++].source = mem_printf("%s:%s", name, where);
	}
	json_src_done(&src);
	return rc;
}

int results_parse(const char *name, const char *text, size_t n, struct results *out,
		  struct err *err)
{
	size_t skip = strspn(text, " \t\r\n");

	return text[skip] == '[' ? read_array(name, text, n, out, err)
				 : read_lines(name, text, n, out, err);
}

static int read_file(const char *path, struct results *out, struct err *err)
{
	auto_buf b = BUF_INIT(FILE_MAX_BYTES);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc
		      : results_parse(strcmp(path, "-") == 0 ? "standard input" : path, buf_str(&b),
				      b.len, out, err);
}

static bool holds(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int add_run(const char *dir, struct results *out, struct err *err)
{
	int rc = room(out, dir, err);

	if (rc < 0)
		return rc;
	out->v[out->n] = (struct result){ .repeat = 1 };
	rc = result_of_run(dir, out->v + out->n, err);
	if (rc < 0)
		result_done(out->v + out->n);
	else
		out->v[out->n++].source = mem_strdup(dir);
	return rc;
}

static int walk(const char *dir, int depth, struct results *out, struct err *err)
{
	auto_strv below = { 0 };
	int rc;

	/* Arms of a pair are no runs of a study: see shift_load(). One by itself is told all the same. */
	if (holds(dir, "run.json"))
		return depth && result_is_arm(dir) ? 0 : add_run(dir, out, err);
	if (depth >= DIR_DEPTH_MAX || holds(dir, "pair.json"))
		return 0;
	rc = subdirs_list(dir, &below, err);
	for (size_t i = 0; rc == 0 && i < below.n; i++)
		rc = walk(below.v[i], depth + 1, out, err);
	return rc;
}

int results_find(const char *path, struct results *out, struct err *err)
{
	size_t before = out->n;
	struct stat st;
	int rc;

	if (strcmp(path, "-") == 0)
		return read_file(path, out, err);
	if (stat(path, &st) < 0)
		return err_set(err, ERR_INPUT, "cannot look at %s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return read_file(path, out, err);
	rc = walk(path, 0, out, err);
	if (rc == 0 && out->n == before && holds(path, "results.jsonl")) {
		auto_free char *file = path_join(path, "results.jsonl");

		return read_file(file, out, err);
	}
	return rc;
}

int results_load(const char *path, struct results *out, struct err *err)
{
	size_t before = out->n;
	struct stat st;
	int rc = results_find(path, out, err);

	if (rc == 0 && out->n == before && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, ERR_INPUT,
			       "%s holds neither a run directory (with run.json) nor results.jsonl",
			       path);
	return rc;
}

static void put_known(struct json_w *w, const char *key, bool known, uint64_t v)
{
	if (known)
		json_u64(w, key, v);
	else
		json_null(w, key);
}

void result_print(const struct result *r, struct buf *out)
{
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.result/1");
	if (*r->benchmark)
		json_str(&w, "benchmark", r->benchmark);
	json_str(&w, "instance_id", r->instance_id);
	json_str(&w, "model", r->model);
	json_str(&w, "agent", r->agent);
	json_str(&w, "mode", scenario_mode_names[r->mode]);
	json_u64(&w, "k", r->k);
	json_u64(&w, "repeat", r->repeat);
	json_str(&w, "verdict", result_verdicts[r->verdict]);
	json_bool(&w, "completed", r->completed);
	json_u64(&w, "steps", r->steps);
	put_known(&w, "input_tokens", r->has_tokens, r->input_tokens);
	put_known(&w, "cached_tokens", r->has_tokens, r->cached_tokens);
	put_known(&w, "output_tokens", r->has_tokens, r->output_tokens);
	put_known(&w, "micro_dollars", r->cost_known, r->micro_dollars);
	json_u64(&w, "fired", r->fired);
	json_u64(&w, "refused", r->refused);
	json_u64(&w, "patch_lines", r->patch_lines);
	json_u64(&w, "patch_files", r->patch_files);
	json_str(&w, "pair_digest", r->pair_digest);
	json_str(&w, "plan_digest", r->plan_digest);
	json_str(&w, "label", r->label);
	json_str(&w, "label_by", r->label_by);
	json_str(&w, "response", r->response);
	json_bool(&w, "revised", r->revised);
	put_known(&w, "reads_after", r->has_after, r->reads_after);
	put_known(&w, "edits_after", r->has_after, r->edits_after);
	put_known(&w, "tests_after", r->has_after, r->tests_after);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

char *result_condition(const struct result *r, char out[48])
{
	if (r->mode == MODE_VANILLA || r->mode == MODE_CO_EDIT)
		snprintf(out, 48, "%s", scenario_mode_names[r->mode]);
	else
		snprintf(out, 48, "%s (K=%" PRIu64 ")", scenario_mode_names[r->mode], r->k);
	return out;
}
