#include "verifier/verdict_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "profiles/image.h"
#include "verifier/grade_internal.h"

#define TEXT_MAX (256u << 20) /* JSON of a verdict: 500,000 names of 4 KiB would be refused */

const char *verdict_name(enum verdict_kind v)
{
	static const char *const names[] = { "resolved", "unresolved", "invalid", "infra" };

	return (size_t)v < ARRAY_SIZE(names) ? names[v] : "infra";
}

void verdict_done(struct verdict *v)
{
	for (size_t i = 0; i < v->n_tests; i++)
		free(v->tests[i].name);
	free(v->tests);
	free(v->reason);
	free(v->note);
	free(v->channel.who);
	free(v->channel.note);
	strv_done(&v->dropped);
	strv_done(&v->tamper);
	buf_done(&v->log);
	if (v->own)
		verdict_done(v->own);
	free(v->own);
	free(v->stages);
	if (v->match) {
		free(v->match->exact_reason);
		free(v->match->exact_note);
	}
	free(v->match);
	if (v->published)
		strv_done(&v->published->differs);
	free(v->published);
	*v = (struct verdict){ .exit_status = -1 };
}

void verdict_set(struct verdict *v, enum verdict_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (v->reason)
		return;
	va_start(ap, fmt);
	v->reason = mem_vprintf(fmt, ap);
	va_end(ap);
	v->kind = kind;
	for (char *s = v->reason; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = ' ';
}

bool verdict_passed(const struct verdict_test *t)
{
	return t->compat ? t->passed : match_good(t->status);
}

/* Not one listed test is there, others are: most often the task's reader, lists or match mode is wrong. */
static void note_strangers(struct verdict *v, const struct test_results *r)
{
	for (size_t i = 0; i < v->n_tests; i++)
		if (v->tests[i].status != TEST_MISSING)
			return;
	if (r && r->n && v->n_tests && !v->note)
		v->note = mem_printf("%zu results have other names, the first: %.200s", r->n,
				     r->v[0].name);
}

void verdict_fill(struct verdict *v, const struct task *task, const struct test_results *r)
{
	const struct strv *const lists[2] = { &task->fail_to_pass, &task->pass_to_pass };
	struct match m;

	v->tests = mem_zalloc(lists[0]->n + lists[1]->n + 1, sizeof(*v->tests));
	v->n_tests = 0;
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		strv_each (i, lists[l]) {
			struct verdict_test *t = &v->tests[v->n_tests++];

			t->name = mem_strdup(lists[l]->v[i]);
			t->f2p = l == 0;
			match_exact(r, task->workdir, lists, t->name, &m);
			t->status = m.status;
			t->how = m.how;
			t->from = m.from;
			t->to = m.to;
		}
	note_strangers(v, r);
}

/* "2 of 3 FAIL_TO_PASS tests did not pass, first: NAME (failed)". */
static void say_failed(struct verdict *v)
{
	const struct verdict_test *first = NULL;
	size_t total[2] = { 0, 0 }, bad[2] = { 0, 0 };
	auto_free char *first_text = NULL;

	for (size_t i = 0; i < v->n_tests; i++) {
		const struct verdict_test *t = &v->tests[i];

		total[!t->f2p]++;
		if (verdict_passed(t))
			continue;
		bad[!t->f2p]++;
		first = first ? first : t;
	}
	if (!first)
		return;
	first_text = mem_printf("%.200s (%s)%s", first->name, test_status_name(first->status),
				v->exit_status == 127 ? "; the command ended with status 127: a "
							"program of it was not found"
						      : "");
	verdict_set(
		v, VERDICT_UNRESOLVED,
		"%zu of %zu FAIL_TO_PASS and %zu of %zu PASS_TO_PASS tests did not pass, first: %s%s%s",
		bad[0], total[0], bad[1], total[1], first_text, v->note ? "; " : "",
		v->note ? v->note : "");
}

void verdict_decide(struct verdict *v, const struct task *task, const struct profile *profile,
		    const struct grade_end *end)
{
	char text[40];

	if (!task->fail_to_pass.n)
		verdict_set(v, VERDICT_INVALID, "the task lists no FAIL_TO_PASS test");
	if (end && end->stopped && end->over == LIMIT_WALL)
		verdict_set(v, VERDICT_UNRESOLVED, "timeout: the tests ran longer than %s",
			    limits_text(LIMIT_WALL, end->limit, text));
	else if (end && end->stopped)
		verdict_set(v, VERDICT_UNRESOLVED, "%s: the tests needed more than %s (limits.%s)",
			    limits_name(end->over), limits_text(end->over, end->limit, text),
			    limits_name(end->over));
	if (end && end->oom && !profile->limits.max[LIMIT_MEMORY])
		verdict_set(
			v, VERDICT_INFRA,
			"the kernel killed for memory, and the profile has no memory limit: the "
			"host ran out; grade again");
	if (end && end->oom) {
		for (size_t i = 0; i < v->n_tests; i++)
			if (!verdict_passed(&v->tests[i]))
				verdict_set(v, VERDICT_UNRESOLVED,
					    "memory: the tests needed more than %s (limits.memory)",
					    limits_text(LIMIT_MEMORY,
							profile->limits.max[LIMIT_MEMORY], text));
	}
	say_failed(v);
	if (!v->complete)
		verdict_set(v, VERDICT_UNRESOLVED,
			    "the listed tests passed, but the results are incomplete: %s",
			    v->note ? v->note : "no reason known");
	verdict_set(v, VERDICT_RESOLVED, "all %zu listed tests passed", v->n_tests);
}

static void add_list(struct buf *b, const char *name, const struct strv *v)
{
	buf_addf(b, "%s %zu", name, v->n);
	strv_each (i, v) {
		buf_addc(b, '\0');
		buf_adds(b, v->v[i]);
	}
	buf_addc(b, '\n');
}

static void add_text(struct buf *b, const char *name, const char *text)
{
	char sum[DIGEST_HEX];

	buf_addf(b, "%s %s\n", name, text ? digest_bytes(text, strlen(text), sum) : "none");
}

/* What only some tasks have: the digests of all others stay what they were. */
static void add_files(struct buf *b, const struct task *task)
{
	const struct task_file *f = task->test.files.v;

	if (task->test.stages) {
		add_list(b, "stages, s2p", &task->test.s2p);
		add_list(b, "n2p", &task->test.n2p);
	}
	if (task->test.channel)
		add_text(b, "channel", task->test.channel);
	if (task->test.reward)
		add_text(b, "reward", task->test.reward);
	if (task->test.leftovers)
		buf_adds(b, "leftovers\n");
	for (size_t i = 0; i < task->test.files.n; i++)
		buf_addf(b, "file %s %d %s\n", f[i].digest, f[i].copy, f[i].to);
	if (task->limits.memory || task->limits.disk || task->limits.cpus)
		buf_addf(b, "limits %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", task->limits.memory,
			 task->limits.disk, task->limits.cpus);
}

char *verdict_task_digest(const struct task *task, char out[65])
{
	auto_buf b = BUF_INIT(TEXT_MAX);

	add_text(&b, "instance", task->instance_id);
	add_text(&b, "base", task->base_commit);
	add_text(&b, "command", task->test.command);
	add_text(&b, "reader", task->test.reader);
	if (task->test.match != TASK_MATCH_EXACT)
		buf_addf(&b, "match %d %d\n", task->test.match, task->test.eval_type);
	add_text(&b, "report", task->test.report);
	add_text(&b, "workdir", task->workdir);
	add_files(&b, task);
	add_text(&b, "test_patch", task->test_patch);
	buf_addf(&b, "timeout %" PRIu64 "\n", task->test.timeout);
	add_list(&b, "hidden", &task->test.hidden);
	/* Only when there are some: digests of tasks without stay what they were. */
	if (task->test.protect.n)
		add_list(&b, "protect", &task->test.protect);
	if (task->test.allow.n)
		add_list(&b, "allow", &task->test.allow);
	if (task->image)
		add_text(&b, "image", task->image->digest);
	add_list(&b, "env", &task->env);
	add_list(&b, "FAIL_TO_PASS", &task->fail_to_pass);
	add_list(&b, "PASS_TO_PASS", &task->pass_to_pass);
	return digest_bytes(buf_str(&b), b.len, out);
}

void verdict_digest(struct verdict *v, const struct task *task, const char *const *patches)
{
	auto_buf b = BUF_INIT(TEXT_MAX);
	char sum[DIGEST_HEX];

	buf_addf(&b, "task %s\n", verdict_task_digest(task, sum));
	for (; *patches; patches++)
		add_text(&b, "patch", *patches);
	buf_addf(&b, "verdict %s\n", verdict_name(v->kind));
	if (v->match && v->match->exact_reader)
		buf_addf(&b, "exact %s\n", verdict_name(v->match->exact_kind));
	for (size_t i = 0; i < v->n_tests; i++)
		buf_addf(&b, "%s %s\n", test_status_name(v->tests[i].status), v->tests[i].name);
	digest_bytes(buf_str(&b), b.len, v->digest);
}
