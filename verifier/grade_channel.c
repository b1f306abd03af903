#include "verifier/grade_channel_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/compat.h"
#include "verifier/grade.h"
#include "verifier/verdict_internal.h"

int grade_channel_open(struct grade_channel *gc, const struct task *task, struct err *err)
{
	const struct witness *w;
	int rc = witness_choose(task, &w, &gc->required, err);

	if (rc < 0 || !w)
		return rc;
	rc = witness_files(&gc->dir, &gc->exec, err);
	if (rc == 0 && w->needs_exec && !gc->exec)
		rc = err_set(err, ERR_HOST,
			     "witness %s needs the program witness/exec, which this installation "
			     "has not; build proctor with a static C library",
			     w->name);
	if (rc < 0 && gc->required)
		return rc;
	if (rc < 0) {
		gc->why = mem_strdup(err ? err->text : "the witness files are not there");
		return 0;
	}
	gc->ch.reader = compat_plain(task->test.reader);
	gc->ch.root = task->workdir;
	gc->ch.unique = w->unique;
	rc = channel_open(&gc->ch, &gc->box_end, err);
	if (rc == 0)
		gc->witness = w;
	return rc;
}

size_t grade_channel_dress(const struct grade_channel *gc, struct strv *env, struct box_bind *binds)
{
	size_t n = 0;

	if (!gc->witness)
		return 0;
	witness_environment(gc->witness, gc->ch.nonce, env);
	binds[n++] = (struct box_bind){ gc->dir, WITNESS_DIR, false, "the witness of the tests" };
	if (gc->witness->needs_exec)
		binds[n++] = (struct box_bind){ gc->exec, WITNESS_EXEC, false,
						"the witness of the tests" };
	return n;
}

/* The log is evidence: where it contradicts the channel, one of them was tampered with. The worse of the
 * two counts, and the contradiction is named. */
static void compare(struct grade_channel *gc, const struct task *task,
		    const struct test_results *log, struct verdict *v)
{
	struct verdict other = { .exit_status = -1 };

	verdict_fill(&other, task, log);
	for (size_t i = 0; i < v->n_tests && i < other.n_tests; i++) {
		struct verdict_test *t = &v->tests[i];
		const struct verdict_test *l = &other.tests[i];
		auto_free char *row = NULL;

		if (l->status == TEST_MISSING)
			continue;
		t->from = l->from;
		t->to = l->to;
		if (t->status == TEST_MISSING && witness_log_may(gc->witness, t->name)) {
			t->status = l->status;
			continue;
		}
		if (match_good(t->status) == match_good(l->status))
			continue;
		v->channel.disagreements++;
		if (v->channel.disagreements <= CHANNEL_TAMPER_MAX) {
			row = mem_printf("channel %.900s (%s, the log says %s)", t->name,
					 test_status_name(t->status), test_status_name(l->status));
			strv_add(&v->tamper, row);
		}
		if (match_good(t->status))
			t->status = l->status;
	}
	verdict_done(&other);
}

static void from_log(const struct task *task, struct test_results *log, struct verdict *v)
{
	v->channel.kind = "log";
	v->channel.complete = !log->incomplete;
	v->complete = v->complete && !log->incomplete;
	if (!v->note)
		v->note = take_ptr(&log->note);
	verdict_fill(v, task, log);
}

/* May the command fail without a failure in the channel? When a program of many does not build, or a test
 * that only the log knows failed. */
static bool excused(const struct witness *w, const struct test_results *log)
{
	for (size_t i = 0; i < log->n && !w->apart; i++)
		if (witness_log_may(w, log->v[i].name) &&
		    (log->v[i].status == TEST_FAILED || log->v[i].status == TEST_ERROR))
			return true;
	return w->apart;
}

static void from_channel(struct grade_channel *gc, const struct task *task,
			 const struct test_results *log, struct verdict *v)
{
	const struct witness *w = gc->witness;
	struct channel *ch = &gc->ch;
	struct channel_facts facts;

	facts = (struct channel_facts){
		.reader = testlog_find(w->log_reader ? w->log_reader
						     : compat_plain(task->test.reader)),
		.log = w->headers ? buf_str(&v->log) : NULL,
		.log_len = v->log.len,
		.exit_status = v->exit_status,
		.plain = witness_plain(task->test.command),
		.excused = excused(w, log),
	};
	channel_settle(ch, &facts);
	v->channel.kind = w->name;
	v->channel.who = mem_strdup(channel_who(ch));
	v->channel.complete = !ch->results.incomplete;
	v->complete = v->complete && !ch->results.incomplete;
	if (!v->note)
		v->note = take_ptr(&ch->results.note);
	strv_each (i, &ch->tamper)
		strv_add(&v->tamper, ch->tamper.v[i]);
	verdict_fill(v, task, &ch->results);
	compare(gc, task, log, v);
}

void grade_channel_decide(struct grade_channel *gc, const struct task *task,
			  struct test_results *log, struct verdict *v)
{
	v->channel.records = gc->ch.records;
	if (gc->witness && channel_spoken(&gc->ch)) {
		from_channel(gc, task, log, v);
		return;
	}
	/* Somebody wrote to the channel, but no witness: there is nothing honest that does so. */
	strv_each (i, &gc->ch.tamper)
		strv_add(&v->tamper, gc->ch.tamper.v[i]);
	if (gc->witness)
		v->channel.note = mem_printf("witness %s did not speak: the command did not start "
					     "its runner, or not in a way that it can stand beside",
					     gc->witness->name);
	else if (gc->why)
		v->channel.note = mem_strdup(gc->why);
	from_log(task, log, v);
	if (gc->witness && (gc->required || gc->ch.fault)) {
		v->complete = false;
		free(v->note);
		v->note = mem_strdup(v->channel.note);
	}
}

void grade_channel_done(struct grade_channel *gc)
{
	channel_done(&gc->ch);
	mem_close(&gc->box_end);
	free(gc->dir);
	free(gc->exec);
	free(gc->why);
}
