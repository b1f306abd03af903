/* One run's figures and probes from its files. They are proctor's own, but texts in them stem from the agent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/protocol.h"
#include "verifier/verdict_read.h"

#define FILE_MAX_BYTES (64u << 20)        /* strict.json cites records */
#define NUMBER_MAX     9007199254740992.0 /* 2^53 */

enum { FIGURES_MAX = 256 };

/* Figures that stand at a fixed place of run.json. */
/* clang-format off */
static const struct place {
	const char *group, *key, *name;
} places[] = {
	{ "user", "messages", "user messages" },
	{ "user", "corrections", "user corrections" },
	{ "user", "nudges", "user nudges" },
	{ "user", "user_correction", "user correction" },
	{ "model", "main_calls", "model calls" },
};

/* And in the state of each service, behind its name. */
static const char *const states[] = { "questions", "ask_precision", "ask_recall", "ask_f1" };
/* clang-format on */

static const cJSON *get(const cJSON *obj, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(obj, name);
}

/* Copy of the string there with its bytes back, "" when there is none. */
static char *text_of(const cJSON *obj, const char *name)
{
	const char *s = cJSON_GetStringValue(get(obj, name));
	char *copy = mem_strdup(s ? s : "");

	(void)json_unescape_bytes(copy); /* the length is not needed */
	return copy;
}

/* Add figure @name (taken) unless @item is no number. */
static void add(struct protocol_run *r, const cJSON *item, char *name)
{
	auto_free char *own = name;

	if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || r->n_figures == FIGURES_MAX)
		return;
	MEM_GROW(r->figure, r->cap_figures, r->n_figures + 1);
	r->figure[r->n_figures++] = (struct protocol_figure){ take_ptr(&own), item->valuedouble };
}

/* 1 read, 0 not there, negative when it is no such file. */
static int load_if(const char *dir, const char *name, const char *kind, struct json_src *ret,
		   struct err *err)
{
	auto_free char *path = path_join(dir, name);
	auto_buf text = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, ret, err);
	if (rc == 0)
		rc = json_check_schema(ret, kind, err);
	return rc < 0 ? rc : 1;
}

static void take_names(const cJSON *root, struct protocol_run *r)
{
	auto_free char *agent = text_of(root, "agent"),
		       *model = text_of(get(root, "model"), "name");
	const cJSON *repeat = get(root, "repeat");

	r->system = model[0] ? mem_printf("%s/%s", agent, model) : mem_strdup(agent);
	r->scenario = text_of(root, "scenario");
	r->instance_id = text_of(get(root, "task"), "instance_id");
	r->pair_digest = text_of(root, "pair_digest");
	r->repeat = cJSON_IsNumber(repeat) && repeat->valuedouble >= 1 &&
				    repeat->valuedouble <= NUMBER_MAX
			    ? (uint64_t)repeat->valuedouble
			    : 1;
}

static void take_services(const cJSON *list, struct protocol_run *r)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, list) {
		auto_free char *name = text_of(one, "name");

		for (size_t i = 0; i < ARRAY_SIZE(states); i++)
			add(r, get(get(one, "state"), states[i]),
			    mem_printf("%s %s", name, states[i]));
	}
}

static int take_run(const char *dir, struct protocol_run *r, struct err *err)
{
	struct json_src src = { 0 };
	int rc = load_if(dir, "run.json", "run", &src, err);

	if (rc == 0)
		rc = err_set(err, ERR_INPUT, "%s has no run.json", dir);
	if (rc > 0) {
		take_names(src.root, r);
		for (size_t i = 0; i < ARRAY_SIZE(places); i++)
			add(r, get(get(src.root, places[i].group), places[i].key),
			    mem_strdup(places[i].name));
		take_services(get(src.root, "services"), r);
	}
	json_src_done(&src);
	return rc < 0 ? rc : 0;
}

static int take_strict(const char *dir, struct protocol_run *r, struct err *err)
{
	struct json_src src = { 0 };
	const cJSON *one;
	int rc = load_if(dir, "strict.json", "strict", &src, err);

	if (rc > 0) {
		cJSON *success = cJSON_CreateNumber(cJSON_IsTrue(get(src.root, "success")));

		add(r, success, mem_strdup("strict success"));
		cJSON_Delete(success);
		add(r, get(get(src.root, "milestones"), "similarity"),
		    mem_strdup("milestone similarity"));
		cJSON_ArrayForEach (one, get(src.root, "figures"))
			add(r, get(one, "value"), text_of(one, "name"));
	}
	json_src_done(&src);
	return rc < 0 ? rc : 0;
}

static int take_verdict(const char *dir, struct protocol_run *r, struct err *err)
{
	auto_free char *path = path_join(dir, "verdict.json");
	struct verdict_file v = { 0 };
	int rc = access(path, F_OK) < 0 ? 1 : verdict_load(path, &v, err);

	r->verifier_digest = mem_strdup(rc == 0 && v.verifier_digest ? v.verifier_digest : "");
	if (rc != 0)
		return rc < 0 ? rc : 0;
	r->resolved = v.kind == VERDICT_RESOLVED;
	r->graded = r->resolved || v.kind == VERDICT_UNRESOLVED;
	for (size_t i = 0; i < v.n_tests; i++) {
		if (!v.tests[i].f2p)
			continue; /* what passes anyhow says nothing of the contract */
		MEM_GROW(r->probe, r->cap_probes, r->n_probes + 1);
		r->probe[r->n_probes++] = (struct protocol_probe){ mem_strdup(v.tests[i].name),
								   verdict_passed(&v.tests[i]) };
	}
	verdict_file_done(&v);
	return 0;
}

static void run_done(struct protocol_run *r)
{
	char *texts[] = { r->source,      r->system,      r->scenario,
			  r->instance_id, r->pair_digest, r->verifier_digest };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < r->n_probes; i++)
		free(r->probe[i].name);
	for (size_t i = 0; i < r->n_figures; i++)
		free(r->figure[i].name);
	free(r->probe);
	free(r->figure);
}

int protocol_add(const char *dir, struct protocol_runs *out, struct err *err)
{
	struct protocol_run r = { .source = mem_strdup(dir) };
	int rc = take_run(dir, &r, err);

	if (rc == 0)
		rc = take_strict(dir, &r, err);
	if (rc == 0)
		rc = take_verdict(dir, &r, err);
	if (rc < 0) {
		run_done(&r);
		return rc;
	}
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n++] = r;
	return 0;
}

void protocol_done(struct protocol_runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		run_done(&r->v[i]);
	free(r->v);
	*r = (struct protocol_runs){ 0 };
}
