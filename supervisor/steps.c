#include "supervisor/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/treestate.h"
#include "supervisor/checkpoint.h"
#include "supervisor/effects.h"
#include "supervisor/gwlink_internal.h"
#include "verifier/stepfile.h"
#include "verifier/wsrules.h"

#define LINE_MAX_BYTES (64u << 20)

struct steps {
	int fd; /* owned: steps.jsonl */
	struct treestate *tree;
	struct wsrules *rules;        /* owned */
	struct stepfile record, mine; /* what must come, and what came */
	uint64_t first, n, same, written;
	bool workspace_only;
	char *name; /* owned: of the record, for error texts */
};

static bool left_out(void *arg, const char *path)
{
	return wsrules_left_out(arg, path);
}

int steps_open(const char *dir, struct workspace *ws, const struct steps_expect *want,
	       struct steps **ret, struct err *err)
{
	auto_free char *path = path_join(dir, "steps.jsonl");
	struct steps *st = mem_zalloc(1, sizeof(*st));
	int rc = 0;

	st->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (st->fd < 0)
		rc = err_sys(err, "cannot make %s", path);
	/* A plain directory may have no rules. */
	if (rc == 0 && !ws->lower_is_users)
		rc = wsrules_new(ws, &st->rules, err);
	if (rc == 0 && want->record) {
		rc = stepfile_load(want->record, &st->record, err);
		st->first = want->first;
		st->n = want->n;
		st->workspace_only = want->workspace_only;
		st->name = mem_strdup(want->record);
	}
	if (rc == 0 && want->record && !stepfile_find(&st->record, st->first + st->n - 1))
		rc = err_set(err, ERR_INPUT, "%s has no step %llu", want->record,
			     (unsigned long long)(st->first + st->n - 1));
	if (rc < 0) {
		steps_free(st);
		return rc;
	}
	st->tree = treestate_new(ws->upper, ws->lower, left_out, st->rules);
	*ret = st;
	return 0;
}

struct steps *steps_free(struct steps *st)
{
	if (!st)
		return NULL;
	mem_close(&st->fd);
	treestate_free(st->tree);
	wsrules_free(st->rules);
	stepfile_done(&st->record);
	stepfile_done(&st->mine);
	free(st->name);
	free(st);
	return NULL;
}

uint64_t steps_same(const struct steps *st)
{
	return st ? st->same : 0;
}

static void write_line(struct sup *s, struct steps *st, uint64_t call, const char *request,
		       const struct treestate_look *l)
{
	auto_buf line = BUF_INIT(LINE_MAX_BYTES);
	struct json_w w = { .b = &line };

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.steps/1");
	json_u64(&w, "n", s->sink->n);
	json_u64(&w, "call", call);
	json_str(&w, "request", request);
	if (l->sha256[0])
		json_str(&w, "workspace", l->sha256);
	if (l->why)
		json_str(&w, "why", l->why);
	json_u64(&w, "files", l->files);
	json_open(&w, "changed", '[');
	for (size_t i = 0; i < l->n_changes; i++) {
		const char kind[2] = { l->change[i].kind, '\0' };

		json_open(&w, NULL, '{');
		json_str(&w, "path", l->change[i].path);
		json_str(&w, "kind", kind);
		if (l->change[i].sha256[0])
			json_str(&w, "sha256", l->change[i].sha256);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_addc(&line, '\n');
	if (!line.full && fd_write_all(st->fd, buf_str(&line), line.len) < 0 && !s->sink->error)
		s->sink->error = errno;
}

/* Is step @call of ours one that is compared? */
static bool compared(const struct steps *st, uint64_t call)
{
	return st->name && call <= st->n;
}

/* Hold what came against step @call of the record. */
static int compare(struct steps *st, uint64_t call, const char *request,
		   const struct treestate_look *l, struct err *err)
{
	const struct stepfile_step *want;
	auto_buf what = BUF_INIT(4096);

	want = stepfile_find(&st->record, call);
	if (!want)
		return err_set(err, ERR_REFUSED, "prefix: step %llu is not in %s",
			       (unsigned long long)call, st->name);
	if (!want->workspace[0] || !l->sha256[0])
		return err_set(err, ERR_REFUSED,
			       "prefix: the workspace at step %llu cannot be compared: %s",
			       (unsigned long long)call,
			       l->why ? l->why : "the record has no digest of it");
	if (strcmp(want->workspace, l->sha256) != 0) {
		if (!stepfile_difference(&st->record, &st->mine, call, &what))
			buf_adds(&what, "its state is told in another way");
		return err_set(err, ERR_REFUSED, "prefix: the workspace at step %llu differs: %s",
			       (unsigned long long)call, buf_str(&what));
	}
	if (!st->workspace_only && strcmp(want->request, request) != 0)
		return err_set(err, ERR_REFUSED, "prefix: the request of step %llu differs",
			       (unsigned long long)call);
	st->same++;
	return 0;
}

int steps_request(struct sup *s, struct steps *st, const struct gw_msg *m, struct err *err)
{
	char request[GW_TEXT_MAX + 1];
	struct treestate_look l = { 0 };
	uint64_t call = s->main_calls + 1;
	struct buf *b;
	int rc;

	if (!st || st->written >= STEPS_MAX)
		return 0;
	gwlink_text(m, 0, request);
	rc = effects_ops.hold(s, true, err);
	if (rc == 0)
		rc = treestate_look(st->tree, &l, err);
	if (rc == 0)
		rc = checkpoint_take(s, call, err);
	(void)effects_ops.hold(s, false, err);
	if (rc < 0) {
		treestate_look_done(&l);
		return rc;
	}
	b = sink_begin(s->sink, TK_STEP, 0, 0, 0, s->epoch);
	tracerec_u64(b, "call", call);
	tracerec_str(b, "request", request, strlen(request));
	if (l.sha256[0])
		tracerec_str(b, "workspace", l.sha256, strlen(l.sha256));
	sink_end(s->sink);
	write_line(s, st, call, request, &l);
	st->written++;
	if (compared(st, call)) {
		call += st->first - 1;
		stepfile_add(&st->mine, s->sink->n, call, request, &l);
		rc = compare(st, call, request, &l, err);
	}
	treestate_look_done(&l);
	return rc;
}
