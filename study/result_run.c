/* A run directory as a record. Its files are proctor's own, but names in them stem from the agent. */
#include "study/result_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/behave.h"
#include "study/label.h"

#define FILE_MAX_BYTES (256u << 20)       /* verdict.json lists every test */
#define NUMBER_MAX     9007199254740992.0 /* 2^53 */

/* Value at a path of names such as "model.name"; NULL when there is none. */
static const cJSON *at(const cJSON *obj, const char *path)
{
	char name[64];

	while (obj && *path) {
		size_t n = strcspn(path, ".");

		if (n >= sizeof(name))
			return NULL;
		memcpy(name, path, n);
		name[n] = '\0';
		obj = cJSON_GetObjectItemCaseSensitive(obj, name);
		path += n + (path[n] == '.');
	}
	return obj;
}

/* Copy of the string there, with its bytes back; NULL when there is none. */
static char *text_at(const cJSON *obj, const char *path)
{
	const cJSON *item = at(obj, path);
	char *s = cJSON_IsString(item) ? mem_strdup(item->valuestring) : NULL;

	if (s)
		(void)json_unescape_bytes(s); /* the length is not needed */
	return s;
}

/* Whole number there; false when there is none. */
static bool number_at(const cJSON *obj, const char *path, uint64_t *ret)
{
	const cJSON *item = at(obj, path);

	if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > NUMBER_MAX)
		return false;
	*ret = (uint64_t)item->valuedouble;
	return true;
}

static int load(const char *dir, const char *name, const char *kind, struct json_src *ret,
		struct err *err)
{
	auto_free char *path = path_join(dir, name);
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	int rc = fd_read_file(path, &text, err);

	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, ret, err);
	return rc < 0 ? rc : json_check_schema(ret, kind, err);
}

/* As load(), for a file that need not be there: 1 read, 0 not there. */
static int load_if(const char *dir, const char *name, const char *kind, struct json_src *ret,
		   struct err *err)
{
	auto_free char *path = path_join(dir, name);
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = load(dir, name, kind, ret, err);
	return rc < 0 ? rc : 1;
}

/* Index of @name in @names, @dflt when it is none of them or NULL. */
static int index_of(const char *name, const char *const *names, int dflt)
{
	for (int i = 0; name && names[i]; i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	return dflt;
}

static int take_condition(const struct json_src *src, struct result *r, struct err *err)
{
	auto_free char *mode = text_at(src->root, "condition.mode");
	const cJSON *scenario = at(src->root, "scenario");

	if (!mode && cJSON_IsString(scenario))
		return json_complain(
			src, "$", err,
			"\"condition\" is missing although the run had a scenario: what "
			"happened in it is not known; run it again");
	r->mode = index_of(mode, scenario_mode_names, mode ? -1 : MODE_VANILLA);
	if (r->mode < 0)
		return json_complain(src, "$.condition.mode", err, "unknown mode \"%s\"", mode);
	if (!number_at(src->root, "condition.k", &r->k))
		r->k = r->mode != MODE_VANILLA;
	if (!number_at(src->root, "repeat", &r->repeat))
		r->repeat = 1;
	return 0;
}

/* Ended by itself, whatever its status: not by a limit, by us or by an error of ours. */
static bool is_own_end(const char *reason)
{
	return reason && (strcmp(reason, "exited") == 0 || strcmp(reason, "signal") == 0);
}

/* A run that proctor or its user broke off says nothing of the agent, whatever its patch is worth. */
static bool is_broken_off(const char *reason)
{
	return !reason || strcmp(reason, "error") == 0 || strcmp(reason, "interrupted") == 0;
}

static int take_verdict(const struct json_src *src, const char *dir, struct result *r,
			struct err *err)
{
	auto_free char *reason = text_at(src->root, "end.reason");
	auto_free char *verdict = text_at(src->root, "verdict");
	struct json_src file = { 0 };
	int rc = 0;

	r->completed = is_own_end(reason);
	if (!verdict) {
		rc = load_if(dir, "verdict.json", "verdict", &file, err);
		if (rc > 0)
			verdict = text_at(file.root, "verdict");
		json_src_done(&file);
	}
	r->verdict = index_of(verdict, result_verdicts, RESULT_NONE);
	if (is_broken_off(reason))
		r->verdict = reason ? RESULT_INFRA : RESULT_NONE;
	return rc < 0 ? rc : 0;
}

static void take_figures(const cJSON *run, struct result *r)
{
	uint64_t added = 0, removed = 0;

	/* Answers of the main conversation; titles and token counts are no steps. An agent without a model
	 * takes its steps by commands. */
	if (!number_at(run, "model.main_calls", &r->steps) &&
	    !number_at(run, "model.calls", &r->steps))
		(void)number_at(run, "commands", &r->steps); /* absent: 0 */
	r->has_tokens = number_at(run, "model.input_tokens", &r->input_tokens) &&
			number_at(run, "model.output_tokens", &r->output_tokens);
	(void)number_at(run, "model.cached_tokens", &r->cached_tokens); /* absent: none */
	r->cost_known = number_at(run, "model.micro_dollars", &r->micro_dollars);
	(void)number_at(run, "interventions.fired", &r->fired);
	(void)number_at(run, "interventions.refused", &r->refused);
	(void)number_at(run, "patch.files", &r->patch_files);
	(void)number_at(run, "patch.added", &added);
	(void)number_at(run, "patch.removed", &removed);
	r->patch_lines = added + removed;
}

static void take_names(const cJSON *run, struct result *r)
{
	r->benchmark = text_at(run, "benchmark");
	r->instance_id = text_at(run, "task.instance_id");
	r->agent = text_at(run, "agent");
	r->model = text_at(run, "model.name");
	r->pair_digest = text_at(run, "pair_digest");
	r->plan_digest = text_at(run, "plan_digest");
}

static void take_label(const cJSON *root, struct result *r)
{
	char *rule = text_at(root, "label.rule"), *human = text_at(root, "label.human");
	bool said = human != NULL;

	r->label = said ? take_ptr(&human) : take_ptr(&rule);
	if (r->label && strcmp(r->label, failure_name(FAILURE_NONE)) != 0)
		r->label_by = mem_strdup(said ? "human" : "rule");
	else
		free(take_ptr(&r->label));
	free(rule);
	free(human);
}

static int take_behaviour(const char *dir, struct result *r, struct err *err)
{
	struct json_src src = { 0 };
	int rc = load_if(dir, "behaviour.json", "behaviour", &src, err);

	if (rc <= 0)
		return rc;
	take_label(src.root, r);
	/* What a trace tells of an edit is wrong when its end is missing. */
	if (cJSON_IsTrue(at(src.root, "cut"))) {
		json_src_done(&src);
		return 0;
	}
	r->response = text_at(src.root, "response");
	if (r->response && strcmp(r->response, response_name(RESPONSE_NONE)) == 0)
		free(take_ptr(&r->response));
	r->revised = cJSON_IsTrue(at(src.root, "revised"));
	/* Without an edit there is nothing to be after. */
	r->has_after = cJSON_IsTrue(at(src.root, "landed")) &&
		       number_at(src.root, "reads", &r->reads_after) &&
		       number_at(src.root, "edits", &r->edits_after) &&
		       number_at(src.root, "tests", &r->tests_after);
	json_src_done(&src);
	return 0;
}

int result_of_run(const char *dir, struct result *ret, struct err *err)
{
	struct json_src src = { 0 };
	int rc = load(dir, "run.json", "run", &src, err);

	if (rc == 0) {
		take_names(src.root, ret);
		take_figures(src.root, ret);
		rc = take_condition(&src, ret, err);
	}
	if (rc == 0)
		rc = take_verdict(&src, dir, ret, err);
	if (rc == 0)
		rc = take_behaviour(dir, ret, err);
	result_fill(ret);
	if (rc == 0)
		rc = result_check(&src, "$", ret, err);
	json_src_done(&src);
	return rc;
}

bool result_is_arm(const char *dir)
{
	struct json_src src = { 0 };
	struct err ignored;
	bool arm = load(dir, "run.json", "run", &src, &ignored) == 0 &&
		   cJSON_IsObject(at(src.root, "fork"));

	json_src_done(&src);
	return arm;
}
