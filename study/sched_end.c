/* What becomes of an attempt that has ended, under this call or an earlier one. */
#include "study/sched_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

/* The pause before the next attempt: doubled each time, up to its maximum. */
static uint64_t pause_of(const struct study_retries *r, uint64_t failed)
{
	uint64_t pause = r->backoff;

	for (uint64_t i = 1; i < failed && pause < r->backoff_max; i++)
		pause *= 2;
	return pause < r->backoff_max ? pause : r->backoff_max;
}

/* Make @from the finished run of its cell. The rename is what counts; the row comes after it, and when that is not
 * reached, sched_resume() finds the run. */
static int settle(const struct sched *s, const struct journal_cell *c, const char *from,
		  struct err *err)
{
	auto_free char *dir = cells_dir(s->o->study, c->key), *run = path_join(dir, "run");
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Nothing but a copy that somebody made can stand there: no row says that there is a run. */
	if (fd >= 0 && fd_remove_tree(fd, "run") < 0)
		return err_sys(err, "cannot make room for %s", run);
	if (rename(from, run) < 0)
		return err_sys(err, "cannot name %s %s", from, run);
	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, "cannot write %s to disk", dir);
	return 0;
}

/* Why a process that left no cell.json did not. */
static char *silent(const struct engine_status *st)
{
	if (!st || !st->has_status)
		return mem_strdup("its process ended without a result");
	if (WIFSIGNALED(st->status))
		return mem_printf("its process was killed by signal %d", WTERMSIG(st->status));
	return mem_printf("its process ended with status %d and without a result, see cell.log",
			  WEXITSTATUS(st->status));
}

/* The state that a cell has after an attempt that came to @a; sets c->infra and c->not_before. */
static enum cell_state next_state(const struct sched *s, struct journal_cell *c,
				  const struct attempt *a)
{
	switch ((enum attempt_end)a->end) {
	case ATTEMPT_DONE:
		return CELL_DONE;
	case ATTEMPT_BAD:
		return CELL_GIVEN_UP;
	case ATTEMPT_INFRA:
		c->infra++;
		c->not_before = clock_wall() + pause_of(&s->o->retries, c->infra);
		return c->infra > s->o->retries.infra ? CELL_GIVEN_UP : CELL_INFRA;
	case ATTEMPT_LOST:
	case ATTEMPT_STOPPED:
	case ATTEMPT_BUDGET:
	case ATTEMPT_OPEN:
	case ATTEMPT_ENDS:
		break;
	}
	return CELL_WAITING;
}

/* Throw a half run away; one that only has to be graded is kept for the next attempt. */
static void throw_away(const char *dir, bool fork)
{
	if (!attempt_has_run(dir, fork))
		(void)fd_remove_tree(AT_FDCWD, dir); /* what cannot be removed is in nobody's way */
}

static void account(struct sched *s, const struct journal_cell *c, const struct attempt *a)
{
	const struct attempt_figures *f = &a->figures;

	s->sums.attempts[a->end]++;
	s->sums.micro_dollars += f->cost_known ? f->micro_dollars : 0;
	s->sums.tokens += f->has_tokens ? f->tokens : 0;
	s->sums.unknown_cost += f->has_tokens && f->tokens && !f->cost_known;
	if (a->end == ATTEMPT_DONE)
		estimate_add(&s->estimate, c, f);
}

/* Write down what @a came to. @a is used up. */
static int record(struct sched *s, struct journal_cell *c, struct attempt *a, const char *dir,
		  struct err *err)
{
	enum attempt_end end = (enum attempt_end)a->end;
	enum cell_state state = next_state(s, c, a);
	int rc = 0;

	account(s, c, a);
	if (end == ATTEMPT_DONE && dir)
		rc = settle(s, c, dir, err);
	if (rc == 0)
		rc = journal_ended(s->o->journal, c, end, state, a->why, &a->figures, err);
	if (rc == 0 && dir &&
	    (end == ATTEMPT_LOST || end == ATTEMPT_STOPPED || end == ATTEMPT_BUDGET))
		throw_away(dir, c->kind == CELL_FORK);
	return rc;
}

int sched_collect(struct sched *s, const struct sched_running *r,
		  const struct engine_status *status, struct err *err)
{
	struct journal_cell *c = r->cell;
	auto_free char *dir = attempt_dir(s->o->study, c->key, c->attempt_n);
	struct attempt a = { .end = ATTEMPT_OPEN };
	struct err why = { 0 };
	int rc = attempt_load(dir, &a, &why);

	if (rc <= 0) {
		a.end = r->cancelled ? (int)r->because : ATTEMPT_INFRA;
		a.why = rc < 0 ? mem_strdup(why.text) : silent(status);
		(void)attempt_figures(dir, c->kind == CELL_FORK, &a.figures, NULL);
	}
	/* The cell only knows that it was asked to end; we know what for. */
	if (a.end == ATTEMPT_STOPPED && r->cancelled)
		a.end = (int)r->because;
	if (r->memory > a.figures.memory)
		a.figures.memory = r->memory;
	rc = record(s, c, &a, dir, err);
	attempt_done(&a);
	if (rc == 0)
		sched_tell(s, SCHED_ENDED, c, c->why);
	return rc;
}

/* The run was finished and named, and then we died. */
static int take_in_named(struct sched *s, struct journal_cell *c, bool *ret_taken, struct err *err)
{
	auto_free char *run = cells_run_dir(s->o->study, c->key);
	struct attempt a = { .end = ATTEMPT_OPEN };
	int rc = attempt_load(run, &a, err);

	*ret_taken = rc > 0 && a.end == ATTEMPT_DONE;
	if (*ret_taken)
		rc = record(s, c, &a, NULL, err);
	attempt_done(&a);
	return rc < 0 ? rc : 0;
}

/* A process that an earlier call had started has ended, nobody knows when. */
static int take_in(struct sched *s, struct journal_cell *c, enum sched_what *ret_what,
		   struct err *err)
{
	auto_free char *dir = attempt_dir(s->o->study, c->key, c->attempt_n);
	struct attempt a = { .end = ATTEMPT_OPEN };
	int rc = attempt_load(dir, &a, NULL);

	*ret_what = SCHED_TAKEN_IN;
	if (rc <= 0) {
		*ret_what = SCHED_LOST;
		a.end = ATTEMPT_LOST;
		a.why = mem_strdup("it was gone when the study went on");
		(void)attempt_figures(dir, c->kind == CELL_FORK, &a.figures, NULL);
	}
	rc = record(s, c, &a, dir, err);
	attempt_done(&a);
	return rc;
}

static int resume_one(struct sched *s, struct journal_cell *c, struct err *err)
{
	enum sched_what what = SCHED_TAKEN_IN;
	bool taken = false, lives = false;
	int rc = take_in_named(s, c, &taken, err);

	/* No handle: it was never let begin, because the journal did not know it. */
	if (rc == 0 && !taken && c->handle.id[0])
		rc = s->o->ops->adopt(s->o->engine, &c->handle, &lives, err);
	if (rc == 0 && lives) {
		sched_add(s, c);
		what = SCHED_ADOPTED;
	} else if (rc == 0 && !taken) {
		rc = take_in(s, c, &what, err);
	}
	if (rc == 0)
		sched_tell(s, what, c, c->why);
	return rc;
}

int sched_resume(struct sched *s, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->cells->n; i++) {
		struct journal_cell *c = &s->cells->v[i];

		if (c->state == CELL_RUNNING)
			rc = resume_one(s, c, err);
		else if (c->state == CELL_DONE)
			estimate_add(&s->estimate, c, &c->figures);
	}
	return rc;
}
