/* Verdicts by the rules of SWE-bench's harness, with the exact verdict beside them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/compat.h"
#include "verifier/grade_internal.h"
#include "verifier/verdict_internal.h"

enum { NAMES_MAX = 256 };

const struct testlog_reader *verdict_reader(const struct verdict_readers *r)
{
	return r->exact ? r->exact : r->compat;
}

/* All names in one line, and the nearest one to @name, or NULL. */
static const char *list_readers(const char *name, struct buf *list)
{
	const char *names[NAMES_MAX] = { NULL };
	size_t n = 0;

	for (const struct testlog_reader *r = testlog_readers; r->name && n + 1 < NAMES_MAX; r++) {
		buf_addf(list, "%s%s", n ? ", " : "", r->name);
		names[n++] = r->name;
	}
	for (const struct testlog_reader *r = compat_readers; r->name && n + 1 < NAMES_MAX; r++)
		names[n++] = r->name;
	return name ? str_nearest(name, names) : NULL;
}

static int unknown(const struct task *task, struct err *err)
{
	auto_buf list = BUF_INIT(1u << 16);
	const char *near = list_readers(task->test.reader, &list);

	return err_set(err, ERR_INPUT,
		       "%s: test.reader \"%s\" is unknown%s%s%s; readers are %s, and " COMPAT_PREFIX
		       "NAME for the log parsers of SWE-bench",
		       task->file ? task->file : task->instance_id,
		       task->test.reader ? task->test.reader : "", near ? ", did you mean \"" : "",
		       near ? near : "", near ? "\"" : "", buf_str(&list));
}

int verdict_readers(const struct task *task, struct verdict_readers *ret, struct err *err)
{
	const struct testlog_reader *row = testlog_find(task->test.reader);
	bool compat = row && str_starts(row->name, COMPAT_PREFIX);

	*ret = (struct verdict_readers){ .exact = row };
	if (!row)
		return unknown(task, err);
	if (!compat)
		return 0;
	ret->exact = testlog_find(compat_exact(row));
	if (task->test.match == TASK_MATCH_SWEBENCH)
		ret->compat = row;
	else if (!ret->exact)
		return err_set(
			err, ERR_INPUT,
			"%s: test.reader \"%s\" sees less than the tests of its runner, so no "
			"exact verdict can come from it; say \"match\": \"swebench-compat\", "
			"or name another reader",
			task->file ? task->file : task->instance_id, row->name);
	return 0;
}

/* The verdict that exact mode would give. */
static void decide_exact(struct verdict *v, const struct task *task, const struct profile *profile,
			 const struct grade_end *end)
{
	struct verdict x = {
		.tests = v->tests, .n_tests = v->n_tests, .complete = v->complete, .note = v->note
	};
	struct verdict_match *m = v->match;

	/* What was found out before the results were read holds for both. */
	if (v->reason)
		verdict_set(&x, v->kind, "%s", v->reason);
	if (m->exact_reader) {
		verdict_decide(&x, task, profile, end);
		m->exact_kind = x.kind;
		m->exact_reason = x.reason;
		m->exact_complete = v->complete;
		x.reason = NULL;
	}
	free(x.reason);
	m->exact_note = v->note;
	v->note = NULL;
}

/* One listed test: what exact mode said moves aside. */
static void count_test(struct verdict_test *t, const struct task *task, bool found,
		       const struct match_index *names, const struct match_index *exact_names,
		       struct verdict_match *vm)
{
	const struct match_ask ask = { .root = task->workdir,
				       .f2p = t->f2p,
				       .fail_only = task->test.eval_type == TASK_EVAL_FAIL_ONLY };
	struct match m = { .status = TEST_MISSING };

	t->exact = (struct match){
		.status = t->status,
		.how = t->how,
		.passed = verdict_passed(t),
		.from = t->from,
		.to = t->to,
	};
	if (found)
		match_compat(names, &ask, t->name, &m);
	t->status = m.status;
	t->how = m.how;
	t->from = m.from;
	t->to = m.to;
	t->rule = m.rule;
	t->passed = m.passed;
	t->compat = true;
	if (vm->exact_reader)
		t->why = match_why(exact_names, t->name, &m, &t->exact);
	vm->differences += t->why != NULL;
}

int verdict_compat(struct verdict *v, const struct task *task,
		   const struct verdict_readers *readers, const struct testlog_input *in,
		   const struct test_results *exact, const struct profile *profile,
		   const struct grade_end *end, struct err *err)
{
	const struct testlog_reader *row = readers->compat ? readers->compat : readers->exact;
	const struct test_results *r = readers->compat ? NULL : exact;
	struct match_index *names, *exact_names;
	struct test_results read = { 0 };
	struct compat_log log;
	int rc = 0;

	v->match = mem_zalloc(1, sizeof(*v->match));
	v->match->reader = row->name;
	v->match->exact_reader = readers->exact ? readers->exact->name : NULL;
	decide_exact(v, task, profile, end);
	compat_markers(in, &log);
	if (readers->compat && log.found)
		rc = compat_read(row, in, &log, &read, err);
	r = r ? r : &read;
	if (rc == 0) {
		compat_judge(in, r, &log);
		names = match_open(r, !readers->compat);
		exact_names = match_open(exact, false);
		for (size_t i = 0; i < v->n_tests; i++)
			count_test(&v->tests[i], task, log.found, names, exact_names, v->match);
		match_close(names);
		match_close(exact_names);
		/* That harness knows no incomplete results but those that its rules refuse. */
		v->complete = log.found && !(end && end->stopped);
		if (log.reason)
			v->note = mem_strdup(log.reason);
		if (!log.found)
			verdict_set(v, VERDICT_UNRESOLVED, "no results: %s", log.reason);
		verdict_decide(v, task, profile, end);
	}
	testlog_done(&read);
	return rc;
}
