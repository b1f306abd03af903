/* One run in a few lines, from its own files. */
#include "study/report_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

#define JSON_BYTES_MAX (256u << 20)
#define FIRINGS_SHOWN  20u
#define WORDS_MAX      400u /* bytes of one text that is shown */

/* A line "  name        text": begins it. */
static void begin(struct buf *out, const char *name)
{
	buf_addf(out, "  %-11s ", name);
}

/* A text of the run, safe for a terminal, shortened; with its bytes back first. */
static void put_text(struct buf *out, const char *s)
{
	auto_free char *copy = mem_strdup(s);
	size_t n = strlen(copy);

	if (n > WORDS_MAX) {
		n = WORDS_MAX;
		while (n && ((unsigned char)copy[n] & 0xc0) == 0x80)
			n--; /* not in the middle of a character */
		copy[n] = '\0';
	}
	(void)json_unescape_bytes(copy); /* the length is not needed */
	table_safe(out, copy);
	if (strlen(s) > WORDS_MAX)
		buf_adds(out, " ...");
}

static const cJSON *get(const cJSON *obj, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(obj, key);
}

static const char *string(const cJSON *obj, const char *key)
{
	const cJSON *item = get(obj, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

static double number(const cJSON *obj, const char *key)
{
	const cJSON *item = get(obj, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* 1 read, 0 not there, negative on error. */
static int load(const char *dir, const char *name, struct json_src *ret, struct err *err)
{
	auto_free char *path = path_join(dir, name);
	auto_buf text = BUF_INIT(JSON_BYTES_MAX);
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	if (rc == 0)
		rc = json_parse(path, buf_str(&text), text.len, ret, err);
	return rc < 0 ? rc : 1;
}

static void put_names(const cJSON *run, const struct result *r, struct buf *out)
{
	const cJSON *model = get(run, "model");
	char cond[48];

	begin(out, "task");
	table_safe(out, r->instance_id);
	buf_addc(out, '\n');
	begin(out, "agent");
	table_safe(out, r->agent);
	if (string(model, "name")) {
		buf_adds(out, ", model ");
		put_text(out, string(model, "name"));
	}
	if (string(model, "source"))
		buf_addf(out, " (%s)", string(model, "source"));
	buf_addc(out, '\n');
	begin(out, "condition");
	buf_addf(out, "%s, repeat %" PRIu64, result_condition(r, cond), r->repeat);
	if (string(run, "scenario")) {
		buf_adds(out, ", scenario ");
		put_text(out, string(run, "scenario"));
	}
	buf_addc(out, '\n');
}

static void put_end(const cJSON *run, struct buf *out)
{
	const cJSON *end = get(run, "end");

	begin(out, "end");
	if (!end) {
		buf_adds(out, "none: the run goes on, or was killed\n");
		return;
	}
	put_text(out, string(end, "reason") ? string(end, "reason") : "unknown");
	if (cJSON_IsNumber(get(end, "status")))
		buf_addf(out, " with status %.0f", number(end, "status"));
	if (cJSON_IsNumber(get(end, "signal")))
		buf_addf(out, " %.0f", number(end, "signal"));
	buf_addf(out, " after %.1f s", number(get(run, "times"), "wall_ns") / 1e9);
	if (string(end, "detail")) {
		buf_adds(out, ": ");
		put_text(out, string(end, "detail"));
	}
	buf_addc(out, '\n');
}

static int put_verdict(const char *dir, const struct result *r, struct buf *out, struct err *err)
{
	static const char *const words[] = {
		[RESULT_RESOLVED] = "resolved",
		[RESULT_UNRESOLVED] = "unresolved",
		[RESULT_INVALID] = "invalid (the task is at fault: no result)",
		[RESULT_INFRA] = "infra (no result)",
		[RESULT_NONE] = "none: not graded (proctor grade --run)",
	};
	struct json_src src = { 0 };
	int rc = load(dir, "verdict.json", &src, err);

	begin(out, "verdict");
	buf_adds(out, words[r->verdict]);
	if (rc > 0 && r->verdict != RESULT_NONE && string(src.root, "reason")) {
		buf_adds(out, ": ");
		put_text(out, string(src.root, "reason"));
	}
	buf_addc(out, '\n');
	json_src_done(&src);
	return rc < 0 ? rc : 0;
}

static void put_figures(const cJSON *run, const struct result *r, struct buf *out)
{
	bool model = cJSON_IsObject(get(run, "model"));

	begin(out, "steps");
	buf_addf(out, "%" PRIu64 " %s", r->steps, model ? "model calls" : "commands");
	if (model)
		buf_addf(out, ", %.0f commands", number(run, "commands"));
	buf_addf(out, ", %.0f touches\n", number(run, "touches"));
	if (r->has_tokens) {
		begin(out, "tokens");
		buf_addf(out, "%" PRIu64 " in (%" PRIu64 " of them cached), %" PRIu64 " out\n",
			 r->input_tokens, r->cached_tokens, r->output_tokens);
		begin(out, "cost");
		if (r->cost_known)
			buf_addf(out, "$%" PRIu64 ".%06" PRIu64 "\n", r->micro_dollars / 1000000,
				 r->micro_dollars % 1000000);
		else
			buf_adds(out, "unknown\n");
	}
	begin(out, "patch");
	if (cJSON_IsObject(get(run, "patch")))
		buf_addf(out, "+%.0f -%.0f lines in %.0f file%s\n",
			 number(get(run, "patch"), "added"), number(get(run, "patch"), "removed"),
			 number(get(run, "patch"), "files"), r->patch_files == 1 ? "" : "s");
	else
		buf_adds(out, "none\n");
}

static void put_firing(const cJSON *line, struct buf *out)
{
	const cJSON *touch = get(line, "touch"), *lines = get(touch, "lines");
	bool applied = cJSON_IsTrue(get(line, "applied"));

	buf_addf(out, "    round %.0f: ", number(line, "round"));
	put_text(out, string(line, "effect") ? string(line, "effect") : "effect");
	buf_adds(out, applied ? "" : " refused");
	if (string(line, applied ? "method" : "reason")) {
		buf_adds(out, " (");
		put_text(out, string(line, applied ? "method" : "reason"));
		buf_addc(out, ')');
	}
	if (string(touch, "path")) {
		buf_adds(out, ", on ");
		put_text(out, string(touch, "event") ? string(touch, "event") : "touch");
		buf_adds(out, " of ");
		put_text(out, string(touch, "path"));
		if (cJSON_GetArraySize(lines) == 2)
			buf_addf(out, ":%.0f-%.0f", cJSON_GetArrayItem(lines, 0)->valuedouble,
				 cJSON_GetArrayItem(lines, 1)->valuedouble);
	}
	buf_addc(out, '\n');
}

/* Lines of interventions.jsonl; the last may be cut by a kill and is then passed over. */
static int put_firings(const char *dir, struct buf *out, struct err *err)
{
	auto_free char *path = path_join(dir, "interventions.jsonl");
	auto_buf text = BUF_INIT(JSON_BYTES_MAX);
	unsigned shown = 0;
	int rc;

	if (access(path, F_OK) < 0)
		return 0;
	rc = fd_read_file(path, &text, err);
	for (char *at = text.data; rc == 0 && at && *at;) {
		size_t n = strcspn(at, "\n");
		struct json_src line = { 0 };
		struct err cut = { 0 };

		if (shown++ == FIRINGS_SHOWN) {
			buf_adds(out, "    ... (interventions.jsonl has all)\n");
			break;
		}
		if (at[n] && (rc = json_parse(path, at, n, &line, err)) == 0)
			put_firing(line.root, out);
		else if (!at[n] && json_parse(path, at, n, &line, &cut) == 0)
			put_firing(line.root, out);
		json_src_done(&line);
		at += n + (at[n] == '\n');
	}
	return rc;
}

static void put_behaviour(const cJSON *root, const struct result *r, struct buf *out)
{
	const cJSON *label = get(root, "label");

	if (r->has_after) {
		begin(out, "afterwards");
		buf_addf(out,
			 "reads %" PRIu64 ", edits %" PRIu64 ", tests %" PRIu64
			 "; the edit was %s\n",
			 r->reads_after, r->edits_after, r->tests_after,
			 *r->response ? r->response : "changed in a way that is not known");
		begin(out, "noticed");
		if (cJSON_IsTrue(get(root, "noticed")))
			buf_addf(out, "%.0f steps after the edit\n", number(root, "notice_steps"));
		else
			buf_adds(out, "never\n");
	}
	if (*r->label) {
		begin(out, "failure");
		buf_addf(out, "%s (by %s)", r->label, r->label_by);
		if (strcmp(r->label_by, "rule") == 0 && string(label, "why")) {
			buf_adds(out, ": ");
			put_text(out, string(label, "why"));
		}
		buf_addc(out, '\n');
	}
}

static void put_denied(const cJSON *run, struct buf *out)
{
	const cJSON *item;
	double sum = 0;

	cJSON_ArrayForEach (item, get(run, "denied"))
		sum += number(item, "count");
	if (sum > 0) {
		begin(out, "denied");
		buf_addf(out, "%.0f times (proctor explain says what)\n", sum);
	}
}

int report_run(const char *dir, const struct result *r, struct buf *out, struct err *err)
{
	struct json_src run = { 0 }, behaviour = { 0 };
	int rc = load(dir, "run.json", &run, err);

	if (rc == 0)
		return err_set(err, ERR_INPUT, "%s is not a run directory: it has no run.json",
			       dir);
	if (rc > 0)
		rc = load(dir, "behaviour.json", &behaviour, err);
	if (rc < 0) {
		json_src_done(&run);
		return rc;
	}
	buf_adds(out, "run ");
	put_text(out, string(run.root, "id") ? string(run.root, "id") : dir);
	buf_addc(out, '\n');
	put_names(run.root, r, out);
	put_end(run.root, out);
	rc = put_verdict(dir, r, out, err);
	if (rc == 0) {
		put_figures(run.root, r, out);
		begin(out, "touched");
		buf_addf(out, "%" PRIu64 " fired, %" PRIu64 " refused\n", r->fired, r->refused);
		rc = put_firings(dir, out, err);
	}
	if (rc == 0) {
		put_behaviour(behaviour.root, r, out);
		put_denied(run.root, out);
	}
	json_src_done(&behaviour);
	json_src_done(&run);
	return rc;
}
