#include "study/import_swetouch.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "profiles/scenario.h"
#include "study/import_internal.h"

#define TEXT_MAX (4u << 20) /* bytes of one scenario */

/* A file in memory: every line is looked at twice, before anything is written and when it is. */
struct text {
	const char *name; /* borrowed */
	struct buf b;
};

struct job {
	const struct import_options *o;
	struct import_result *r;
	bool writing; /* second pass */
	uint64_t records;
	struct strv seen; /* instances, in the order read */
};

void import_done(struct import_result *r)
{
	strv_done(&r->conflicts);
	strv_done(&r->no_task);
	strv_done(&r->no_effect);
}

/* Do the texts hold what a run would take? A mistake of ours or of the record shows here. */
static int check_text(const char *name, const struct buf *text, struct err *err)
{
	struct scenario *sc = NULL;
	int rc = text->full ? err_set(err, ERR_INPUT, "%s: the scenario is larger than %u bytes",
				      name, TEXT_MAX)
			    : scenario_parse(name, buf_str(text), text->len, NULL, &sc, err);

	scenario_free(sc);
	return rc;
}

static int make_texts(const char *name, const struct import_raw *raw, const char *task,
		      const struct import_options *o, struct buf *scenario, struct buf *co_edit,
		      struct err *err)
{
	auto_free char *co_name = mem_printf("%s (helpful edit)", name);
	int rc;

	import_counter(raw, task, o, scenario);
	rc = check_text(name, scenario, err);
	if (rc == 0 && raw->controls.helpful.patch.id) {
		import_co_edit(raw, task, co_edit);
		rc = check_text(co_name, co_edit, err);
	}
	return rc;
}

int import_record(const char *name, const char *line, size_t n, const struct import_options *o,
		  struct buf *scenario, struct buf *co_edit, struct err *err)
{
	struct import_raw raw;
	int rc = import_raw_read(name, line, n, &raw, err);

	if (rc < 0)
		return rc;
	rc = make_texts(name, &raw, raw.instance, o, scenario, co_edit, err);
	import_raw_done(&raw);
	return rc;
}

static void count(struct import_result *r, const struct import_raw *raw)
{
	struct import_counts *c = &r->count[raw->benchmark];
	bool text_only = raw->counter.mode == IMPORT_TEXT_ONLY;

	c->records++;
	c->text_only += text_only;
	c->with_patch += !text_only;
	c->status[raw->counter.validation.status]++;
	if (text_only)
		c->fallback[raw->counter.validation.status]++;
	else
		c->distinct[raw->distinct]++;
	c->co_edit += raw->controls.helpful.patch.id != NULL;
}

/* Is the record left out? Then its name is noted. 1 left out, 0 not, negative on error. *task is its task's
 * name, borrowed. */
static int left_out(struct job *j, const struct import_raw *raw, const char **task, struct err *err)
{
	const struct import_options *o = j->o;
	struct strv *why = NULL;
	size_t at;
	int rc;

	*task = raw->instance;
	if (o->tasks) {
		rc = taskset_find(o->tasks, raw->instance, &at, err);
		if (rc < 0)
			return err_wrap(err, "%s", raw->src.name);
		if (rc)
			*task = o->tasks->id.v[at];
		else
			why = &j->r->no_task;
	}
	if (raw->counter.mode == IMPORT_TEXT_ONLY && o->mode == MODE_EDIT)
		why = &j->r->no_effect;
	if (raw->counter.validation.status == IMPORT_APPLY_CONFLICT && !o->accept_conflict)
		why = &j->r->conflicts;
	if (why && !j->writing)
		strv_add(why, raw->instance);
	return why != NULL;
}

static int write_text(const struct job *j, const char *instance, const char *kind,
		      const struct buf *text, uint64_t *counter, struct err *err)
{
	auto_free char *path = mem_printf("%s/%s.%s.json", j->o->out, instance, kind);

	if (!text->len)
		return 0;
	(*counter)++;
	return fd_replace_file(path, text->data, text->len, err);
}

static int on_line(struct job *j, const char *name, const char *line, size_t n, struct err *err)
{
	auto_buf scenario = BUF_INIT(TEXT_MAX), co_edit = BUF_INIT(TEXT_MAX);
	struct import_raw raw;
	const char *task;
	int rc = import_raw_read(name, line, n, &raw, err);

	if (rc < 0)
		return rc;
	if (!j->writing) {
		count(j->r, &raw);
		strv_add(&j->seen, raw.instance);
	}
	rc = left_out(j, &raw, &task, err);
	if (rc == 0)
		rc = make_texts(name, &raw, task, j->o, &scenario, &co_edit, err);
	if (rc == 0 && j->writing) {
		j->r->count[raw.benchmark].imported++;
		rc = write_text(j, raw.instance, "scenario", &scenario, &j->r->scenarios, err);
		if (rc == 0)
			rc = write_text(j, raw.instance, "co-edit", &co_edit, &j->r->co_edits, err);
	}
	import_raw_done(&raw);
	return rc < 0 ? rc : 0;
}

static int each_line(struct job *j, const struct text *t, struct err *err)
{
	const char *s = buf_str(&t->b), *end = s + t->b.len;
	int rc = 0;

	for (size_t no = 1; s < end && rc == 0; no++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);
		auto_free char *name = mem_printf("%s:%zu", t->name, no);

		if (n > IMPORT_LINE_MAX)
			return err_set(err, ERR_INPUT, "%s: a record of more than %u bytes", name,
				       IMPORT_LINE_MAX);
		if (n && ++j->records > IMPORT_RECORDS_MAX)
			return err_set(err, ERR_INPUT, "%s: more than %u records", name,
				       IMPORT_RECORDS_MAX);
		if (n)
			rc = on_line(j, name, s, n, err);
		s += n + 1;
	}
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One file name belongs to one instance. */
static int check_seen(struct job *j, struct err *err)
{
	if (!j->seen.n)
		return err_set(err, ERR_INPUT, "no record in the files given");
	qsort(j->seen.v, j->seen.n, sizeof(*j->seen.v), by_name);
	for (size_t i = 1; i < j->seen.n; i++)
		if (strcmp(j->seen.v[i - 1], j->seen.v[i]) == 0)
			return err_set(err, ERR_INPUT, "instance %s stands in two records",
				       j->seen.v[i]);
	return 0;
}

static int read_all(const struct strv *files, struct text *t, struct err *err)
{
	size_t total = 0;

	strv_each (i, files) {
		int rc;

		t[i] = (struct text){ .name = files->v[i], .b = BUF_INIT(IMPORT_FILE_MAX) };
		rc = fd_read_file(files->v[i], &t[i].b, err);
		if (rc < 0)
			return rc;
		total += t[i].b.len;
		if (total > IMPORT_FILE_MAX)
			return err_set(err, ERR_INPUT, "%s: the files have more than %u bytes",
				       files->v[i], IMPORT_FILE_MAX);
	}
	return 0;
}

static int write_all(struct job *j, const struct strv *files, const struct text *t, struct err *err)
{
	auto_buf json = BUF_INIT(64u << 20);
	auto_free char *path = mem_printf("%s/import.json", j->o->out);
	int rc = fd_mkdirs(j->o->out, 0755, err);

	j->writing = true;
	j->records = 0;
	for (size_t i = 0; i < files->n && rc == 0; i++)
		rc = each_line(j, t + i, err);
	if (rc < 0)
		return rc;
	import_json(j->r, &json);
	return fd_replace_file(path, buf_str(&json), json.len, err);
}

int import_swetouch(const struct strv *files, const struct import_options *o,
		    struct import_result *ret, struct err *err)
{
	struct text *t = mem_zalloc(files->n ? files->n : 1, sizeof(*t));
	struct job j = { .o = o, .r = ret };
	int rc;

	*ret = (struct import_result){ .scenarios = 0 };
	rc = read_all(files, t, err);
	for (size_t i = 0; i < files->n && rc == 0; i++)
		rc = each_line(&j, t + i, err);
	if (rc == 0)
		rc = check_seen(&j, err);
	if (rc == 0 && o->tasks && ret->no_task.n == j.seen.n)
		rc = err_set(
			err, ERR_INPUT,
			"none of the %zu records has its task among those given; the first is %s",
			j.seen.n, ret->no_task.v[0]);
	if (rc == 0)
		rc = write_all(&j, files, t, err);
	for (size_t i = 0; i < files->n; i++)
		buf_done(&t[i].b);
	free(t);
	strv_done(&j.seen);
	if (rc < 0)
		import_done(ret);
	return rc;
}

static void counts_json(struct json_w *w, const char *key, const uint64_t *v)
{
	json_open(w, key, '{');
	for (int s = 0; s < IMPORT_STATUSES; s++)
		if (v[s])
			json_u64(w, import_status_name(s), v[s]);
	json_close(w, '}');
}

static void benchmark_json(struct json_w *w, enum import_benchmark b, const struct import_counts *c)
{
	json_open(w, NULL, '{');
	json_str(w, "benchmark", import_benchmark_name(b));
	json_u64(w, "records", c->records);
	json_u64(w, "with_patch", c->with_patch);
	json_u64(w, "text_only", c->text_only);
	counts_json(w, "statuses", c->status);
	counts_json(w, "fallback_reasons", c->fallback);
	json_open(w, "distinct_rounds", '{');
	for (size_t n = 0; n <= IMPORT_ROUNDS_MAX; n++) {
		auto_free char *key = mem_printf("%zu", n);

		if (c->distinct[n])
			json_u64(w, key, c->distinct[n]);
	}
	json_close(w, '}');
	json_u64(w, "co_edits", c->co_edit);
	json_u64(w, "imported", c->imported);
	json_close(w, '}');
}

void import_json(const struct import_result *r, struct buf *out)
{
	struct json_w w = { .b = out, .pretty = true };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.import/1");
	json_str(&w, "source", "swe-touch");
	json_open(&w, "benchmarks", '[');
	for (int b = 0; b < IMPORT_BENCHMARKS; b++)
		if (r->count[b].records)
			benchmark_json(&w, b, &r->count[b]);
	json_close(&w, ']');
	json_u64(&w, "scenarios", r->scenarios);
	json_u64(&w, "co_edits", r->co_edits);
	json_open(&w, "left_out", '{');
	json_strings(&w, "apply_conflict", r->conflicts.v, r->conflicts.n);
	json_strings(&w, "no_task", r->no_task.v, r->no_task.n);
	json_strings(&w, "no_message", r->no_effect.v, r->no_effect.n);
	json_close(&w, '}');
	json_close(&w, '}');
	buf_addc(out, '\n');
}
