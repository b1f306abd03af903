#include "study/attempt.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/live.h"
#include "study/result.h"
#include "study/result_internal.h"
#include "study/shift.h"

#define FILE_MAX_BYTES (1u << 20)
#define ENTRIES_MAX    1000000u /* looked at for the size of a directory */

#define FIGURE(f) offsetof(struct attempt, figures.f)

/* null leaves the field alone: what is not known is not zero. */
static int number_or_null(const struct json_src *src, const char *where, const cJSON *item,
			  void *field, struct err *err)
{
	if (cJSON_IsNull(item))
		return 0;
	if (!cJSON_IsNumber(item) || item->valuedouble < 0 ||
	    item->valuedouble > 9007199254740992.0)
		return json_complain(src, where, err,
				     "expected a whole number, 0 or more, or null");
	*(uint64_t *)field = (uint64_t)item->valuedouble;
	return 0;
}

/* clang-format off */
static const struct json_field rows[] = {
	{ "outcome", JSON_ENUM, offsetof(struct attempt, end), true, .choices = journal_ends },
	{ "why", JSON_STR, offsetof(struct attempt, why) },
	{ "verdict", JSON_STR, FIGURE(verdict) },
	{ "steps", JSON_U64, FIGURE(steps) },
	{ "tokens", JSON_CUSTOM, FIGURE(tokens), .parse = number_or_null },
	{ "micro_dollars", JSON_CUSTOM, FIGURE(micro_dollars), .parse = number_or_null },
	{ "wall_ns", JSON_U64, FIGURE(wall_ns) },
	{ "memory", JSON_U64, FIGURE(memory) },
	{ "disk", JSON_U64, FIGURE(disk) },
	{ "result", JSON_STR, FIGURE(result) },
	{ NULL },
};
/* clang-format on */

char *attempt_dir(const char *study, const char *key, uint64_t n)
{
	return mem_printf("%s/cells/%s/.try-%llu", study, key, (unsigned long long)n);
}

void attempt_done(struct attempt *a)
{
	free(a->why);
	attempt_figures_done(&a->figures);
	*a = (struct attempt){ .end = 0 };
}

int attempt_parse(const char *name, const char *text, size_t n, struct attempt *ret,
		  struct err *err)
{
	struct json_src src = { 0 };
	struct attempt a = { .end = ATTEMPT_OPEN };
	int rc = json_parse(name, text, n, &src, err);

	if (rc == 0)
		rc = json_check_schema(&src, "attempt", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, rows, &a, err);
	if (rc == 0 && a.end == ATTEMPT_OPEN)
		rc = json_complain(&src, "$.outcome", err, "an attempt that has ended is not open");
	if (rc == 0) {
		a.figures.has_tokens =
			cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(src.root, "tokens"));
		a.figures.cost_known =
			cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(src.root, "micro_dollars"));
	}
	json_src_done(&src);
	if (rc < 0) {
		attempt_done(&a);
		return rc;
	}
	for (const struct json_field *f = rows; f->name; f++) {
		char *s = f->kind == JSON_STR ? *(char **)((char *)&a + f->off) : NULL;

		if (s)
			(void)json_unescape_bytes(s); /* the length is not needed */
	}
	*ret = a;
	return 0;
}

int attempt_load(const char *dir, struct attempt *ret, struct err *err)
{
	auto_free char *path = path_join(dir, ATTEMPT_FILE);
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0)
		rc = attempt_parse(path, buf_str(&text), text.len, ret, err);
	return rc < 0 ? rc : 1;
}

void attempt_print(const struct attempt *a, struct buf *out)
{
	const struct attempt_figures *f = &a->figures;
	struct json_w w = { .b = out };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.attempt/1");
	json_str(&w, "outcome", journal_ends[a->end]);
	json_str(&w, "why", a->why);
	json_str(&w, "verdict", f->verdict);
	json_u64(&w, "steps", f->steps);
	if (f->has_tokens)
		json_u64(&w, "tokens", f->tokens);
	else
		json_null(&w, "tokens");
	if (f->cost_known)
		json_u64(&w, "micro_dollars", f->micro_dollars);
	else
		json_null(&w, "micro_dollars");
	json_u64(&w, "wall_ns", f->wall_ns);
	json_u64(&w, "memory", f->memory);
	json_u64(&w, "disk", f->disk);
	json_str(&w, "result", f->result);
	json_close(&w, '}');
	buf_addc(out, '\n');
}

/* run.json of @dir; 0 or negative. */
static int load_run(const char *dir, struct json_src *ret, struct err *err)
{
	auto_free char *path = path_join(dir, "run.json");
	int rc = json_load(path, ret, err);

	return rc < 0 ? rc : json_check_schema(ret, "run", err);
}

static double number_at(const cJSON *obj, const char *group, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(
		group ? cJSON_GetObjectItemCaseSensitive(obj, group) : obj, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 ? item->valuedouble : 0;
}

static const char *string_at(const cJSON *obj, const char *group, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
		group ? cJSON_GetObjectItemCaseSensitive(obj, group) : obj, key));
}

bool attempt_has_run(const char *dir, bool fork)
{
	struct json_src src = { 0 };
	bool has = false;

	if (!fork && load_run(dir, &src, NULL) == 0) {
		const char *state = string_at(src.root, NULL, "state");
		const char *reason = string_at(src.root, "end", "reason");

		has = state && strcmp(state, "done") == 0 && reason &&
		      strcmp(reason, "error") != 0 && strcmp(reason, "interrupted") != 0;
	}
	json_src_done(&src);
	return has;
}

/* What only run.json has: time and room. */
static void take_room(const char *dir, struct attempt_figures *f)
{
	struct json_src src = { 0 };

	if (load_run(dir, &src, NULL) == 0) {
		uint64_t memory = (uint64_t)number_at(src.root, "resources", "max_rss");

		f->wall_ns += (uint64_t)number_at(src.root, "times", "wall_ns");
		f->disk += (uint64_t)number_at(src.root, "resources", "disk");
		if (memory > f->memory)
			f->memory = memory;
	}
	json_src_done(&src);
}

static int of_run(const char *dir, struct attempt_figures *f, struct err *err)
{
	auto_buf line = BUF_INIT(FILE_MAX_BYTES);
	struct result r = { .repeat = 1 };
	int rc = result_of_run(dir, &r, err);

	take_room(dir, f);
	if (rc == 0) {
		result_print(&r, &line);
		f->result = mem_strndup(buf_str(&line), line.len ? line.len - 1 : 0);
		f->verdict = mem_strdup(result_verdicts[r.verdict]);
		f->steps = r.steps;
		f->has_tokens = r.has_tokens;
		f->tokens = r.input_tokens + r.output_tokens;
		f->cost_known = r.cost_known;
		f->micro_dollars = r.micro_dollars;
	}
	result_done(&r);
	return rc;
}

/* A pair. Its tokens stand in pair.json, its dollars in the records of its arms. */
static int of_pair(const char *dir, struct attempt_figures *f, struct err *err)
{
	auto_free char *path = path_join(dir, "pair.json"), *clean = path_join(dir, "clean"),
		       *shifted = path_join(dir, "shifted");
	struct json_src src = { 0 };
	struct live live = { .steps = 0 };
	int rc = json_load(path, &src, err);

	take_room(clean, f);
	take_room(shifted, f);
	live_look(&live, dir);
	f->steps = live.steps;
	f->cost_known = live.cost_known;
	f->micro_dollars = live.micro_dollars;
	if (rc == 0)
		rc = json_check_schema(&src, "pair", err);
	if (rc == 0) {
		bool valid = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(src.root, "valid"));
		bool both = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(src.root, "paired"));

		f->has_tokens = true;
		f->tokens = (uint64_t)(number_at(src.root, "tokens", "continuations") +
				       number_at(src.root, "tokens", "prefix_paid"));
		f->verdict = mem_strdup(!valid ? "invalid" : both ? "paired" : "unpaired");
	}
	json_src_done(&src);
	return rc;
}

int attempt_figures(const char *dir, bool fork, struct attempt_figures *ret, struct err *err)
{
	int rc;

	*ret = (struct attempt_figures){ 0 };
	rc = fork ? of_pair(dir, ret, err) : of_run(dir, ret, err);
	/* What it has used counts although it came to nothing. */
	if (!fork && !ret->has_tokens) {
		struct live live = { .steps = 0 };

		live_look(&live, dir);
		ret->steps = ret->steps ? ret->steps : live.steps;
		ret->has_tokens = live.tokens > 0;
		ret->tokens = live.tokens;
		ret->cost_known = live.tokens > 0 && live.cost_known;
		ret->micro_dollars = live.micro_dollars;
	}
	ret->disk += fd_tree_bytes(AT_FDCWD, dir, ENTRIES_MAX);
	return rc;
}
