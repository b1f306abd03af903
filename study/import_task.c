/* A row's two files: the task, and beside it what the task cannot hold. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "study/import_rows_internal.h"

#define INLINE_MAX (256u << 10) /* bytes of a patch in the task file */

bool row_patch_apart(const char *patch)
{
	size_t n = strlen(patch);

	return n > INLINE_MAX || !str_utf8(patch, n, NULL);
}

static void key(struct buf *out, const char *name)
{
	char last = out->len ? out->data[out->len - 1] : '{';

	buf_addf(out, "%s\n  \"%s\": ", last == '{' ? "" : ",", name);
}

static void text(struct buf *out, const char *name, const char *s)
{
	if (!s)
		return;
	key(out, name);
	jslice_put(out, s, strlen(s));
}

static void list(struct buf *out, const struct strv *v)
{
	buf_addc(out, '[');
	strv_each (i, v) {
		buf_adds(out, i ? ",\n    " : "\n    ");
		jslice_put(out, v->v[i], strlen(v->v[i]));
	}
	buf_addc(out, ']');
}

static void patch(struct buf *out, const char *name, const char *s, const char *id,
		  const char *ending)
{
	auto_free char *file = mem_printf("%s.%s", id, ending);

	text(out, name, s && row_patch_apart(s) ? file : s);
}

static void environment(struct buf *out, const struct task *t)
{
	if (!t->rootfs && !t->env.n)
		return;
	key(out, "environment");
	buf_addc(out, '{');
	text(out, "rootfs", t->rootfs);
	if (t->env.n) {
		key(out, "env");
		buf_addc(out, '{');
		strv_each (i, &t->env) {
			const char *e = t->env.v[i];
			size_t n = strcspn(e, "=");

			buf_adds(out, i ? ", " : " ");
			jslice_put(out, e, n);
			buf_adds(out, ": ");
			jslice_put(out, e + n + 1, strlen(e + n + 1));
		}
		buf_adds(out, " }");
	}
	buf_adds(out, "\n  }");
}

static void files(struct buf *out, const struct row *row)
{
	if (!row->from.n)
		return;
	key(out, "files");
	buf_addc(out, '[');
	strv_each (i, &row->from) {
		buf_adds(out, i ? ", {" : " {");
		text(out, "from", row->from.v[i]);
		text(out, "to", row->to.v[i]);
		buf_adds(out, " }");
	}
	buf_adds(out, " ]");
}

static void classes(struct buf *out, const struct task_test *t)
{
	if (!t->stages)
		return;
	key(out, "stages");
	buf_adds(out, "true");
	key(out, "classes");
	buf_adds(out, "{ \"s2p\": ");
	list(out, &t->s2p);
	buf_adds(out, ", \"n2p\": ");
	list(out, &t->n2p);
	buf_adds(out, " }");
}

void row_task_text(const struct row *row, struct buf *out)
{
	const struct task *t = &row->task;

	buf_addc(out, '{');
	text(out, "schema", "proctor.task/1");
	text(out, "instance_id", t->instance_id);
	text(out, "repo", t->repo);
	text(out, "base_commit", t->base_commit);
	text(out, "version", t->version);
	text(out, "problem_statement", t->problem_statement ? t->problem_statement : "");
	text(out, "source", t->source);
	text(out, "workdir", t->workdir);
	environment(out, t);
	patch(out, "patch", t->patch, t->instance_id, "patch.diff");
	patch(out, "test_patch", t->test_patch, t->instance_id, "test-patch.diff");
	key(out, "test");
	buf_addc(out, '{');
	text(out, "command", t->test.command);
	text(out, "reader", t->test.reader);
	text(out, "match", t->test.match == TASK_MATCH_SWEBENCH ? "swebench-compat" : NULL);
	text(out, "eval_type", t->test.eval_type == TASK_EVAL_FAIL_ONLY ? "fail_only" : NULL);
	text(out, "report", t->test.report);
	if (t->test.timeout) {
		key(out, "timeout");
		buf_addf(out, "%" PRIu64, (uint64_t)(t->test.timeout / CLOCK_SEC));
	}
	files(out, row);
	classes(out, &t->test);
	buf_adds(out, "\n  }");
	key(out, "FAIL_TO_PASS");
	list(out, &t->fail_to_pass);
	key(out, "PASS_TO_PASS");
	list(out, &t->pass_to_pass);
	buf_adds(out, "\n}\n");
}

/* How a held field is told apart from its default spelling. */
enum spelling { SPELLING_PLAIN, SPELLING_STRING, SPELLING_VERBATIM };

static enum spelling spelling_of(const struct held *h, const struct row *row, struct jslice v)
{
	static const struct task none = { .file = NULL };
	struct task scratch = none;
	auto_buf put = BUF_INIT(ROWS_TASK_MAX);
	auto_free char *was = jslice_text(v, NULL), *is = NULL;
	enum spelling s = SPELLING_VERBATIM;
	const char *why;
	bool same = held_take(h, v, &scratch, &why) == 0 && held_same(h, &scratch, &row->task);

	held_clear(h, &scratch);
	if (!same)
		return s;
	if (h->list && jslice_kind(v) == '[')
		return SPELLING_PLAIN;
	held_put(h, &row->task, h->list, &put);
	is = jslice_text((struct jslice){ buf_str(&put), put.len }, NULL);
	if (was && is && strcmp(was, is) == 0)
		s = h->list ? SPELLING_STRING : SPELLING_PLAIN;
	return s;
}

/* What of a member is written. */
enum part { PART_KEY, PART_RAW, PART_DIGEST };

/* Members of the row whose spelling is @s; @held: those that the task holds. */
static void members(const struct family *f, const struct row *row, bool held, enum spelling s,
		    enum part part, struct buf *out)
{
	struct jslice_walk w = jslice_walk(row->v);
	struct jslice k, v;
	const char *comma = "";

	while (jslice_member(&w, &k, &v)) {
		const struct held *h = held_of(f, k);
		char sum[DIGEST_HEX];

		if ((h != NULL) != held || (h && spelling_of(h, row, v) != s))
			continue;
		buf_adds(out, comma);
		buf_adds(out, part == PART_KEY ? "" : "\n    ");
		jslice_raw(out, k);
		if (part == PART_RAW) {
			buf_adds(out, ": ");
			buf_add(out, v.s, v.n);
		} else if (part == PART_DIGEST) {
			buf_addf(out, ": \"%s\"", held_digest(h, &row->task, sum));
		}
		comma = part == PART_KEY ? ", " : ",";
	}
}

void extra_text(const struct family *f, const struct row *row, struct buf *out)
{
	struct jslice_walk w = jslice_walk(row->v);
	struct jslice k, v;
	const char *comma = "";

	buf_addc(out, '{');
	text(out, "schema", "proctor.extra/1");
	text(out, "source", f->name);
	text(out, "directory", row->dir);
	key(out, "order");
	buf_addc(out, '[');
	while (jslice_member(&w, &k, &v)) {
		buf_adds(out, comma);
		jslice_raw(out, k);
		comma = ", ";
	}
	buf_addc(out, ']');
	key(out, "strings");
	buf_addc(out, '[');
	members(f, row, true, SPELLING_STRING, PART_KEY, out);
	buf_addc(out, ']');
	key(out, "verbatim");
	buf_addc(out, '{');
	members(f, row, true, SPELLING_VERBATIM, PART_RAW, out);
	buf_addc(out, '}');
	key(out, "digests");
	buf_addc(out, '{');
	members(f, row, true, SPELLING_VERBATIM, PART_DIGEST, out);
	buf_addc(out, '}');
	key(out, "fields");
	buf_addc(out, '{');
	members(f, row, false, SPELLING_PLAIN, PART_RAW, out);
	buf_adds(out, "}\n}\n");
}
