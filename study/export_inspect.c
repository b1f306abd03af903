/* Inspect's eval log, version 2: MODEL.json (one object) and MODEL.eval (a ZIP with the samples apart) for each model.
 * A sample is a result: score "resolved" with value "C" or "I", none and an error when there is no result. Messages are those
 * of the run's trajectory; what the trace saw stands as "info" events. */
#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/export_internal.h"
#include "study/export_run.h"

/* One log under way. */
struct log {
	const struct export_job *job;
	const struct export_item *it; /* its results */
	size_t n;
	const char *model; /* "provider/name" or as recorded; never "" */
	cJSON *header;     /* owned: everything but the samples */
	cJSON *samples;    /* owned: array */
	cJSON *summaries;  /* owned: array */
	uint64_t start, end;
	double input, output, cached, dollars;
	bool usage;
	size_t scored, resolved;
};

static const cJSON *get(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static const char *str(const cJSON *o, const char *key)
{
	const cJSON *v = get(o, key);

	return cJSON_IsString(v) ? v->valuestring : NULL;
}

static void time_field(cJSON *o, const char *key, uint64_t ns)
{
	char text[40];

	cJSON_AddStringToObject(o, key, export_run_time(ns, text));
}

/* The tool calls of an ATIF step in Inspect's form. */
static void calls(const cJSON *step, cJSON *message)
{
	const cJSON *c, *v = get(step, "tool_calls");
	cJSON *list;

	if (!v)
		return;
	list = cJSON_AddArrayToObject(message, "tool_calls");
	cJSON_ArrayForEach (c, v) {
		cJSON *o = cJSON_CreateObject();

		export_run_text(o, "id", str(c, "tool_call_id"));
		export_run_text(o, "function", str(c, "function_name"));
		cJSON_AddItemToObject(o, "arguments", cJSON_Duplicate(get(c, "arguments"), true));
		cJSON_AddStringToObject(o, "type", "function");
		cJSON_AddItemToArray(list, o);
	}
}

static const char *function_of(const cJSON *step, const char *id)
{
	const cJSON *c;

	cJSON_ArrayForEach (c, get(step, "tool_calls"))
		if (str_eq(str(c, "tool_call_id"), id))
			return str(c, "function_name");
	return NULL;
}

/* Steps become messages: an agent's step an assistant's message and a tool's for each result. */
static void messages(const cJSON *atif, cJSON *list)
{
	const cJSON *step, *r;

	cJSON_ArrayForEach (step, get(atif, "steps")) {
		const char *source = str(step, "source");
		bool agent = str_eq(source, "agent");
		cJSON *m = cJSON_CreateObject();

		cJSON_AddStringToObject(m, "role", agent ? "assistant" : source ? source : "user");
		export_run_text(m, "content", str(step, "message") ? str(step, "message") : "");
		if (agent)
			calls(step, m);
		cJSON_AddItemToArray(list, m);
		cJSON_ArrayForEach (r, get(get(step, "observation"), "results")) {
			cJSON *t = cJSON_CreateObject();

			cJSON_AddStringToObject(t, "role", "tool");
			export_run_text(t, "content", str(r, "content") ? str(r, "content") : "");
			export_run_text(t, "tool_call_id", str(r, "source_call_id"));
			export_run_text(t, "function", function_of(step, str(r, "source_call_id")));
			cJSON_AddItemToArray(list, t);
		}
	}
}

/* Interventions as Inspect's info events. */
static void events(const struct rundir *rd, cJSON *list, uint64_t start)
{
	for (size_t i = 0; rd && i < rd->n_firings; i++) {
		const struct rundir_firing *f = &rd->firing[i];
		auto_free char *seed = mem_printf("event %s %" PRIu64 " %" PRIu64 " %zu", rd->dir,
						  f->order, f->round, i);
		cJSON *o = cJSON_CreateObject(), *data;
		char uuid[37];

		cJSON_AddStringToObject(o, "uuid", export_run_uuid(seed, uuid));
		cJSON_AddNullToObject(o, "span_id");
		time_field(o, "timestamp", start);
		cJSON_AddNumberToObject(o, "working_start", 0);
		cJSON_AddStringToObject(o, "event", "info");
		cJSON_AddStringToObject(o, "source", "proctor");
		data = cJSON_AddObjectToObject(o, "data");
		cJSON_AddNumberToObject(data, "order", (double)f->order);
		cJSON_AddNumberToObject(data, "round", (double)f->round);
		cJSON_AddNumberToObject(data, "trace_record", (double)f->at_n);
		export_run_text(data, "effect", f->effect);
		cJSON_AddBoolToObject(data, "applied", f->applied);
		export_run_text(data, "path", f->path);
		cJSON_AddItemToArray(list, o);
	}
}

static void usage(struct log *l, const struct rundir *rd, cJSON *sample)
{
	const cJSON *model = rd ? get(rd->run.root, "model") : NULL,
		    *dollars = get(model, "micro_dollars");
	cJSON *all = cJSON_AddObjectToObject(sample, "model_usage"), *u;
	double in, out, cached;

	if (!cJSON_IsObject(model))
		return;
	in = rundir_num(rd, "model.input_tokens", 0);
	out = rundir_num(rd, "model.output_tokens", 0);
	cached = rundir_num(rd, "model.cached_tokens", 0);
	u = cJSON_AddObjectToObject(all, l->model);
	cJSON_AddNumberToObject(u, "input_tokens", in);
	cJSON_AddNumberToObject(u, "output_tokens", out);
	cJSON_AddNumberToObject(u, "total_tokens", in + out);
	cJSON_AddNumberToObject(u, "input_tokens_cache_read", cached);
	if (cJSON_IsNumber(dollars)) {
		cJSON_AddNumberToObject(u, "total_cost", dollars->valuedouble / 1e6);
		l->dollars += dollars->valuedouble / 1e6;
	}
	l->usage = true;
	l->input += in;
	l->output += out;
	l->cached += cached;
}

/* Inspect's names of the limits that a run may end by. */
static void limit(const struct rundir *rd, cJSON *sample)
{
	static const struct {
		const char *ours, *theirs;
	} names[] = {
		{ "limit:wall", "time" },           { "limit:cpu", "working" },
		{ "limit:model_calls", "turn" },    { "limit:input_tokens", "token" },
		{ "limit:output_tokens", "token" }, { "limit:total_tokens", "token" },
		{ "limit:dollars", "cost" },
	};
	const char *reason = rd ? rundir_str(rd, "end.reason") : NULL;
	const cJSON *b;

	for (size_t i = 0; reason && i < ARRAY_SIZE(names); i++) {
		cJSON *o;

		if (strcmp(reason, names[i].ours) != 0)
			continue;
		o = cJSON_AddObjectToObject(sample, "limit");
		cJSON_AddStringToObject(o, "type", names[i].theirs);
		cJSON_ArrayForEach (b, get(rd->run.root, "budgets"))
			if (str_eq(str(b, "name"), strchr(reason, ':') + 1) &&
			    cJSON_IsNumber(get(b, "limit")))
				cJSON_AddNumberToObject(o, "limit", get(b, "limit")->valuedouble);
		if (!get(o, "limit"))
			cJSON_AddNumberToObject(o, "limit", 0);
		return;
	}
	cJSON_AddNullToObject(sample, "limit");
}

static void score(struct log *l, const struct export_item *it, cJSON *sample, cJSON *summary)
{
	enum export_class class = export_class_of(it);
	bool good = class == EXPORT_RESOLVED, has = class <= EXPORT_UNRESOLVED;
	cJSON *scores = cJSON_CreateObject(), *s, *e;

	if (has) {
		s = cJSON_AddObjectToObject(scores, "resolved");
		cJSON_AddStringToObject(s, "value", good ? "C" : "I");
		cJSON_AddNullToObject(s, "answer");
		export_run_text(s, "explanation", it->v.reason);
		l->scored++;
		l->resolved += good;
	} else {
		e = cJSON_AddObjectToObject(sample, "error");
		export_run_text(e, "message",
				it->v.reason ? it->v.reason : "nobody graded this run");
		cJSON_AddStringToObject(e, "traceback", "");
		cJSON_AddStringToObject(e, "traceback_ansi", "");
		export_run_text(summary, "error",
				it->v.reason ? it->v.reason : "nobody graded this run");
	}
	cJSON_AddItemToObject(summary, "scores", cJSON_Duplicate(scores, true));
	cJSON_AddItemToObject(sample, "scores", scores);
}

static void metadata(const struct export_item *it, cJSON *sample)
{
	cJSON *o = cJSON_AddObjectToObject(sample, "metadata"), *tamper;

	export_run_text(o, "verdict", it->graded ? verdict_name(it->v.kind) : "none");
	export_run_text(o, "verifier_digest", it->v.verifier_digest);
	cJSON_AddNumberToObject(o, "infra_repeats", (double)it->v.infra_repeats);
	tamper = cJSON_AddArrayToObject(o, "tamper");
	strv_each (i, &it->v.tamper)
		cJSON_AddItemToArray(tamper, cJSON_CreateString(it->v.tamper.v[i]));
}

/* A result's place in time: the run's, or when its verdict was written. */
static uint64_t times(struct log *l, const struct export_item *it, const struct rundir *rd)
{
	auto_free char *path = path_join(it->dir, "verdict.json");
	uint64_t start = rd ? export_run_parse_time(rundir_str(rd, "times.start")) : 0, end = 0;
	struct stat st;

	if (rd)
		end = export_run_parse_time(rundir_str(rd, "times.end"));
	if (!start && stat(path, &st) == 0) {
		end = (uint64_t)st.st_mtim.tv_sec * CLOCK_SEC;
		start = end - it->v.wall_ns;
	}
	l->start = start && (!l->start || start < l->start) ? start : l->start;
	l->end = end > l->end ? end : l->end;
	return start;
}

static void input_of(const cJSON *atif, const char *id, cJSON *sample, cJSON *summary)
{
	const cJSON *step;

	cJSON_ArrayForEach (step, get(atif, "steps"))
		if (str_eq(str(step, "source"), "user")) {
			export_run_text(sample, "input", str(step, "message"));
			export_run_text(summary, "input", str(step, "message"));
			return;
		}
	export_run_text(sample, "input", id);
	export_run_text(summary, "input", id);
}

static int sample(struct log *l, const struct export_item *it, struct err *err)
{
	auto_free char *run = path_join(it->dir, "run.json");
	struct rundir loaded = { 0 }, *rd = NULL;
	cJSON *s = cJSON_CreateObject(), *sum = cJSON_CreateObject(), *atif = NULL, *o;
	uint64_t start;
	int rc = 0;

	if (access(run, F_OK) == 0) {
		rc = rundir_load(it->dir, &loaded, err);
		rd = rc == 0 ? &loaded : NULL;
	}
	if (rd)
		rc = export_atif_tree(rd, NULL, &atif, err);
	start = times(l, it, rd);
	export_run_text(s, "id", it->v.instance_id);
	export_run_text(sum, "id", it->v.instance_id);
	cJSON_AddNumberToObject(s, "epoch", 1);
	cJSON_AddNumberToObject(sum, "epoch", 1);
	input_of(atif, it->v.instance_id, s, sum);
	cJSON_AddStringToObject(s, "target", "");
	cJSON_AddStringToObject(sum, "target", "");
	messages(atif, cJSON_AddArrayToObject(s, "messages"));
	o = cJSON_AddObjectToObject(s, "output");
	cJSON_AddStringToObject(o, "model", l->model);
	cJSON_AddArrayToObject(o, "choices");
	score(l, it, s, sum);
	metadata(it, s);
	cJSON_AddObjectToObject(s, "store");
	events(rd, cJSON_AddArrayToObject(s, "events"), start);
	usage(l, rd, s);
	cJSON_AddObjectToObject(s, "attachments");
	limit(rd, s);
	cJSON_AddItemToArray(l->samples, s);
	cJSON_AddItemToArray(l->summaries, sum);
	cJSON_Delete(atif);
	rundir_done(&loaded);
	return rc;
}

static void eval_spec(struct log *l, cJSON *root)
{
	const char *name = l->job->run_id ? l->job->run_id : "proctor";
	auto_buf seed = BUF_INIT(EXPORT_TEXT_MAX);
	cJSON *e = cJSON_AddObjectToObject(root, "eval"), *d, *ids;
	char uuid[37];

	buf_addf(&seed, "%s %s", name, l->model);
	for (size_t i = 0; i < l->n; i++)
		buf_addf(&seed, " %s", l->it[i].v.instance_id);
	export_run_uuid(buf_str(&seed), uuid);
	cJSON_AddStringToObject(e, "eval_id", uuid);
	cJSON_AddStringToObject(e, "run_id", uuid);
	time_field(e, "created", l->start);
	export_run_text(e, "task", name);
	cJSON_AddStringToObject(e, "task_id", uuid);
	cJSON_AddNumberToObject(e, "task_version", 0);
	cJSON_AddObjectToObject(e, "task_args");
	d = cJSON_AddObjectToObject(e, "dataset");
	export_run_text(d, "name", name);
	cJSON_AddNumberToObject(d, "samples", (double)l->n);
	ids = cJSON_AddArrayToObject(d, "sample_ids");
	for (size_t i = 0; i < l->n; i++)
		cJSON_AddItemToArray(ids, cJSON_CreateString(l->it[i].v.instance_id));
	cJSON_AddStringToObject(e, "model", l->model);
	cJSON_AddObjectToObject(e, "model_args");
	cJSON_AddNumberToObject(cJSON_AddObjectToObject(e, "config"), "epochs", 1);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(e, "packages"), "proctor", PROCTOR_VERSION);
}

static void results(struct log *l, cJSON *root)
{
	cJSON *r = cJSON_AddObjectToObject(root, "results"), *scores, *s, *m;

	cJSON_AddNumberToObject(r, "total_samples", (double)l->n);
	cJSON_AddNumberToObject(r, "completed_samples", (double)l->scored);
	scores = cJSON_AddArrayToObject(r, "scores");
	s = cJSON_CreateObject();
	cJSON_AddStringToObject(s, "name", "resolved");
	cJSON_AddStringToObject(s, "scorer", "resolved");
	cJSON_AddNumberToObject(s, "scored_samples", (double)l->scored);
	cJSON_AddNumberToObject(s, "unscored_samples", (double)(l->n - l->scored));
	cJSON_AddObjectToObject(s, "params");
	m = cJSON_AddObjectToObject(s, "metrics");
	if (l->scored) { /* without a result there is no share, and 0 would be one */
		m = cJSON_AddObjectToObject(m, "accuracy");
		cJSON_AddStringToObject(m, "name", "accuracy");
		cJSON_AddNumberToObject(m, "value", (double)l->resolved / (double)l->scored);
		cJSON_AddObjectToObject(m, "params");
	}
	cJSON_AddItemToArray(scores, s);
}

static void statistics(struct log *l, cJSON *root)
{
	cJSON *s = cJSON_AddObjectToObject(root, "stats"), *u;

	time_field(s, "started_at", l->start);
	time_field(s, "completed_at", l->end);
	u = cJSON_AddObjectToObject(s, "model_usage");
	if (!l->usage)
		return;
	u = cJSON_AddObjectToObject(u, l->model);
	cJSON_AddNumberToObject(u, "input_tokens", l->input);
	cJSON_AddNumberToObject(u, "output_tokens", l->output);
	cJSON_AddNumberToObject(u, "total_tokens", l->input + l->output);
	cJSON_AddNumberToObject(u, "input_tokens_cache_read", l->cached);
	cJSON_AddNumberToObject(u, "total_cost", l->dollars);
}

static void header(struct log *l)
{
	cJSON *root = l->header, *plan;

	cJSON_AddNumberToObject(root, "version", 2);
	cJSON_AddStringToObject(root, "status", "success");
	eval_spec(l, root);
	plan = cJSON_AddObjectToObject(root, "plan");
	cJSON_AddStringToObject(plan, "name", "plan");
	cJSON_AddArrayToObject(plan, "steps");
	cJSON_AddObjectToObject(plan, "config");
	results(l, root);
	statistics(l, root);
}

/* One member of the ZIP. 0 or -1. */
static int member(struct archive *a, const char *name, const cJSON *o)
{
	auto_buf text = BUF_INIT(EXPORT_TEXT_MAX);
	struct archive_entry *e = archive_entry_new();
	int rc;

	export_run_print(cJSON_Duplicate(o, true), false, &text);
	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)text.len);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	/* The same results give the same bytes. */
	archive_entry_set_mtime(e, 315532800, 0);
	rc = archive_write_header(a, e) == ARCHIVE_OK &&
			     archive_write_data(a, buf_str(&text), text.len) == (la_ssize_t)text.len
		     ? 0
		     : -1;
	archive_entry_free(e);
	return rc;
}

static la_ssize_t to_buf(struct archive *a, void *arg, const void *p, size_t n)
{
	(void)a;
	return buf_add(arg, p, n) < 0 ? -1 : (la_ssize_t)n;
}

static int members(struct archive *a, struct log *l)
{
	cJSON *start = cJSON_CreateObject(), *empty = cJSON_CreateArray();
	const cJSON *s;
	int rc;

	cJSON_AddNumberToObject(start, "version", 2);
	cJSON_AddItemToObject(start, "eval", cJSON_Duplicate(get(l->header, "eval"), true));
	cJSON_AddItemToObject(start, "plan", cJSON_Duplicate(get(l->header, "plan"), true));
	rc = member(a, "_journal/start.json", start);
	cJSON_ArrayForEach (s, l->samples) {
		auto_free char *name = mem_printf("samples/%s_epoch_1.json", str(s, "id"));

		if (rc == 0)
			rc = member(a, name, s);
	}
	if (rc == 0)
		rc = member(a, "_journal/summaries/1.json", l->summaries);
	if (rc == 0)
		rc = member(a, "summaries.json", l->summaries);
	if (rc == 0)
		rc = member(a, "reductions.json", empty);
	if (rc == 0)
		rc = member(a, "header.json", l->header);
	cJSON_Delete(start);
	cJSON_Delete(empty);
	return rc;
}

static int zip(struct log *l, struct buf *out, struct err *err)
{
	struct archive *a = archive_write_new();
	int rc = -1;

	if (a && archive_write_set_format_zip(a) == ARCHIVE_OK &&
	    archive_write_set_options(a, "zip:compression=deflate") == ARCHIVE_OK &&
	    archive_write_open(a, out, NULL, to_buf, NULL) == ARCHIVE_OK)
		rc = members(a, l);
	if (rc == 0 && archive_write_close(a) != ARCHIVE_OK)
		rc = -1;
	if (rc < 0)
		rc = err_set(err, ERR_SYS, "cannot write the ZIP: %s",
			     a && archive_error_string(a) ? archive_error_string(a)
							  : "out of memory");
	archive_write_free(a);
	return rc;
}

static int write_log(struct log *l, struct buf *out, struct err *err)
{
	auto_free char *dir = export_dir_name(l->model), *json = mem_printf("%s.json", dir);
	auto_free char *eval = mem_printf("%s.eval", dir);
	auto_buf text = BUF_INIT(EXPORT_TEXT_MAX), packed = BUF_INIT(EXPORT_TEXT_MAX);
	cJSON *whole;
	int rc;

	header(l);
	whole = cJSON_Duplicate(l->header, true);
	cJSON_AddItemToObject(whole, "samples", cJSON_Duplicate(l->samples, true));
	export_run_print(whole, true, &text);
	rc = export_write_buf(l->job, json, &text, out, err);
	if (rc == 0)
		rc = zip(l, &packed, err);
	return rc < 0 ? rc : export_write_buf(l->job, eval, &packed, out, err);
}

/* @n results of one model. */
static int one(const struct export_job *job, const struct export_item *it, size_t n,
	       struct buf *out, struct err *err)
{
	struct log l = {
		.job = job,
		.it = it,
		.n = n,
		.model = it->model[0] ? it->model : "none",
		.header = cJSON_CreateObject(),
		.samples = cJSON_CreateArray(),
		.summaries = cJSON_CreateArray(),
	};
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = sample(&l, &it[i], err);
	if (rc == 0)
		rc = write_log(&l, out, err);
	cJSON_Delete(l.header);
	cJSON_Delete(l.samples);
	cJSON_Delete(l.summaries);
	return rc;
}

int export_inspect(const struct export_job *job, struct buf *out, struct err *err)
{
	struct export_items items;
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0, n; i < items.n && rc == 0; i += n) {
		for (n = 1; i + n < items.n && strcmp(items.v[i].model, items.v[i + n].model) == 0;
		     n++)
			;
		rc = one(job, &items.v[i], n, out, err);
	}
	export_items_done(&items);
	return rc;
}
