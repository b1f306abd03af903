#include "study/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/sched_internal.h"

#define TICK_MS   500
#define HARD_NS   (60 * CLOCK_SEC) /* after which one that was asked to end is killed */
#define NOTE_NS   (10 * CLOCK_SEC) /* how often the time at work is written down */
#define AGAIN_NS  (60 * CLOCK_SEC) /* how often a reason to wait is told again */
#define TRIES_OLD 64               /* earlier attempts that are looked at for a finished run */

const char *const sched_words[] = { "started", "adopted", "taken-in", "lost", "ended",
				    "waits",   "budget",  "stops",    "tick", NULL };

static void survey(struct sched *s)
{
	struct sched_state *st = &s->state;

	memset(st->count, 0, sizeof(st->count));
	for (size_t i = 0; i < s->cells->n; i++)
		st->count[s->cells->v[i].state]++;
	st->cells = s->cells;
	st->running = s->run;
	st->n_running = s->n_run;
	st->micro_dollars = sched_dollars(s);
	st->tokens = sched_tokens(s);
	st->work_ns = sched_work(s);
	st->started = s->sums.started;
	st->unknown_cost = s->sums.unknown_cost;
	st->waits = s->waits[0] ? s->waits : NULL;
	st->stopping = s->asked > 0;
	st->over_budget = s->over_budget;
	estimate_left(&s->estimate, s->cells, s->o->jobs, &st->left);
}

void sched_tell(struct sched *s, enum sched_what what, const struct journal_cell *c,
		const char *text)
{
	if (!s->o->tell)
		return;
	survey(s);
	s->o->tell(s->o->arg, what, c, text, &s->state);
}

struct sched_running *sched_add(struct sched *s, struct journal_cell *c)
{
	MEM_GROW(s->run, s->cap_run, s->n_run + 1);
	s->run[s->n_run] = (struct sched_running){ .cell = c };
	return &s->run[s->n_run++];
}

struct journal_cell *sched_before(const struct sched *s, const struct journal_cell *c)
{
	return c->after ? map_get(&s->keys, map_hash(c->after, strlen(c->after))) : NULL;
}

/* A run of an earlier attempt that only has to be graded goes on in the new one. */
static void reuse(const struct sched *s, const struct journal_cell *c, const char *dir)
{
	uint64_t oldest = c->attempt_n > TRIES_OLD ? c->attempt_n - TRIES_OLD : 1;

	for (uint64_t n = c->attempt_n - 1; n >= oldest; n--) {
		auto_free char *old = attempt_dir(s->o->study, c->key, n);
		auto_free char *result = path_join(dir, ATTEMPT_FILE);

		if (!attempt_has_run(old, c->kind == CELL_FORK))
			continue;
		if (rename(old, dir) == 0)
			(void)unlink(result); /* of the old attempt; there may be none */
		return;
	}
}

/* The directory of the open attempt of @c with job.json. *ret is relative to the study; caller frees. */
static int make_dir(const struct sched *s, const struct journal_cell *c, char **ret,
		    struct err *err)
{
	auto_free char *dir = attempt_dir(s->o->study, c->key, c->attempt_n);
	auto_free char *cell = cells_dir(s->o->study, c->key), *job = path_join(dir, "job.json");
	int rc = fd_mkdirs(cell, 0755, err);

	if (rc == 0)
		reuse(s, c, dir);
	if (rc == 0)
		rc = fd_mkdirs(dir, 0755, err);
	if (rc == 0)
		rc = fd_replace_file(job, c->spec, strlen(c->spec), err);
	*ret = mem_strdup(dir + strlen(s->o->study) + 1);
	return rc;
}

/* Start @c: a row, then a process that waits, then its name in the row, then it may begin. */
static int start(struct sched *s, struct journal_cell *c, struct err *err)
{
	auto_free char *dir = NULL;
	struct engine_job job = { .study = s->o->study, .key = c->key };
	bool first = !c->attempts;
	int rc = journal_starting(s->o->journal, c, s->o->ops->name, err);

	if (rc == 0)
		rc = make_dir(s, c, &dir, err);
	job.dir = dir;
	if (rc == 0)
		rc = s->o->ops->start(s->o->engine, &job, &c->handle, err);
	if (rc == 0)
		rc = journal_started(s->o->journal, c, err);
	if (rc == 0)
		rc = s->o->ops->release(s->o->engine, &c->handle, err);
	if (rc < 0)
		return rc;
	s->sums.started += first;
	sched_add(s, c);
	sched_tell(s, SCHED_STARTED, c, NULL);
	return 0;
}

/* A cell whose record will never be there. */
static int give_up(struct sched *s, struct journal_cell *c, const struct journal_cell *before,
		   struct err *err)
{
	auto_free char *why = mem_printf("it needs %s, which was given up", before->key);
	int rc = journal_state(s->o->journal, c, CELL_GIVEN_UP, why, err);

	if (rc == 0)
		sched_tell(s, SCHED_ENDED, c, why);
	return rc;
}

static int over_budget(struct sched *s, struct err *err)
{
	int rc;

	if (s->over_budget)
		return 0;
	s->over_budget = true;
	rc = journal_event(s->o->journal, "budget", s->waits, err);
	sched_tell(s, SCHED_BUDGET, NULL, s->waits);
	return rc;
}

/* Would starting @c pass the limit on cells? Another attempt at one that was started does not. */
static bool too_many(const struct sched *s, const struct journal_cell *c)
{
	return s->o->limits.cells && !c->attempts && s->sums.started >= s->o->limits.cells;
}

/* The next cell that may be started; *ret_later: some will be, when time has passed or others have ended. */
static int next(struct sched *s, struct journal_cell **ret, bool *ret_later, struct err *err)
{
	uint64_t now = clock_wall();
	bool many = false;

	*ret = NULL;
	for (size_t i = 0; i < s->cells->n; i++) {
		struct journal_cell *c = s->turn[i], *before;
		int rc;

		if (c->state != CELL_WAITING && c->state != CELL_INFRA)
			continue;
		before = sched_before(s, c);
		if (before && before->state == CELL_GIVEN_UP) {
			rc = give_up(s, c, before, err);
			if (rc < 0)
				return rc;
			continue;
		}
		if (too_many(s, c)) {
			many = true;
			continue;
		}
		*ret_later = true;
		if ((c->state == CELL_INFRA && c->not_before > now) ||
		    (before && before->state != CELL_DONE))
			continue;
		*ret = c;
		return 0;
	}
	if (!many || *ret_later || s->n_run)
		return 0;
	snprintf(s->waits, sizeof(s->waits), "limit cells of the study is reached");
	return over_budget(s, err);
}

/* Say why nothing more is started: when the reason is another one (its figures change all the time), and now and then. */
static void tell_wait(struct sched *s)
{
	size_t n = strcspn(s->waits, ":");

	if (strncmp(s->told, s->waits, n + 1) == 0 && clock_mono() - s->told_at < AGAIN_NS)
		return;
	snprintf(s->told, sizeof(s->told), "%s", s->waits);
	s->told_at = clock_mono();
	sched_tell(s, SCHED_WAITS, NULL, s->waits);
}

/* Start what may be started. *ret_more: there is more to do than what runs. */
static int fill(struct sched *s, bool *ret_more, struct err *err)
{
	*ret_more = false;
	s->waits[0] = '\0';
	while (!s->asked && !s->over_budget && s->n_run < s->o->jobs) {
		struct journal_cell *c;
		bool never = false;
		int rc;

		*ret_more = false;
		rc = next(s, &c, ret_more, err);
		if (rc < 0 || !c)
			return rc;
		if (!sched_room(s, c, &never)) {
			rc = never ? over_budget(s, err) : 0;
			*ret_more = !never;
			if (rc == 0 && !never)
				tell_wait(s);
			return rc;
		}
		rc = start(s, c, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int cancel(struct sched *s, struct sched_running *r, enum attempt_end because, bool hard,
		  struct err *err)
{
	if (r->cancelled && (!hard || r->hard))
		return 0;
	if (!r->cancelled) {
		r->cancelled = clock_mono();
		r->because = because;
	}
	r->hard = hard;
	return s->o->ops->cancel(s->o->engine, &r->cell->handle, hard, err);
}

static int cancel_all(struct sched *s, enum attempt_end because, bool hard, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n_run; i++)
		rc = cancel(s, &s->run[i], because, hard, err);
	return rc;
}

/* Signals: once, twice, three times. */
static int heed(struct sched *s, int sigfd, struct err *err)
{
	static const char *const what[] = {
		"no other cell is started; those that run go on to their end",
		"those that run are asked to end", "those that run are killed"
	};
	struct signalfd_siginfo si;
	int rc = 0;

	while (rc == 0 && read(sigfd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		const char *text = what[s->asked < 2 ? s->asked : 2];

		s->asked++;
		rc = journal_event(s->o->journal, "interrupted", text, err);
		if (rc == 0 && s->asked > 1)
			rc = cancel_all(s, ATTEMPT_STOPPED, s->asked > 2, err);
		sched_tell(s, SCHED_STOPS, NULL, text);
	}
	return rc;
}

/* What has ended is collected and gives its place back. */
static int poll_all(struct sched *s, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n_run;) {
		struct sched_running *r = &s->run[i];
		struct engine_status st;

		rc = s->o->ops->poll(s->o->engine, &r->cell->handle, &st, err);
		if (rc == 0 && st.state == ENGINE_ENDED) {
			struct sched_running ended = *r;

			*r = s->run[--s->n_run];
			rc = sched_collect(s, &ended, &st, err);
			continue;
		}
		i++;
	}
	return rc;
}

/* Look how they are getting on. */
static int look(struct sched *s, struct err *err)
{
	const char *which;
	int rc = 0;

	for (size_t i = 0; i < s->n_run; i++) {
		struct sched_running *r = &s->run[i];
		auto_free char *dir = attempt_dir(s->o->study, r->cell->key, r->cell->attempt_n);
		uint64_t memory = s->o->ops->memory(s->o->engine, &r->cell->handle);

		live_look(&r->live, dir);
		if (memory > r->memory)
			r->memory = memory;
		if (rc == 0 && r->cancelled && clock_mono() - r->cancelled > HARD_NS)
			rc = cancel(s, r, r->because, true, err);
	}
	if (rc < 0 || !sched_spent(s, &which))
		return rc;
	snprintf(s->waits, sizeof(s->waits), "limit %s of the study is reached; running cells %s",
		 which, s->o->on_budget == STUDY_KILL ? "are ended" : "go on to their end");
	rc = over_budget(s, err);
	if (rc == 0 && s->o->on_budget == STUDY_KILL)
		rc = cancel_all(s, ATTEMPT_BUDGET, false, err);
	return rc;
}

/* So that a limit on time holds over kills. */
static int note_time(struct sched *s, bool now, struct err *err)
{
	uint64_t spent = clock_mono() - s->began;
	int rc;

	if (!now && spent - s->noted < NOTE_NS)
		return 0;
	rc = journal_worked(s->o->journal, spent - s->noted, err);
	s->noted = spent;
	return rc;
}

static int wait_some(const struct sched *s, int sigfd, struct err *err)
{
	struct pollfd pfd[2] = { { .fd = sigfd, .events = POLLIN },
				 { .fd = s->o->ops->fd(s->o->engine), .events = POLLIN } };

	if (poll(pfd, 2, TICK_MS) < 0 && errno != EINTR)
		return err_sys(err, "cannot wait for cells");
	return 0;
}

static int loop(struct sched *s, int sigfd, struct err *err)
{
	uint64_t looked = 0;
	bool more = true;
	int rc = 0;

	while (rc == 0) {
		rc = heed(s, sigfd, err);
		if (rc == 0)
			rc = poll_all(s, err);
		if (rc == 0)
			rc = fill(s, &more, err);
		if (rc == 0 && clock_mono() - looked >= TICK_MS * CLOCK_MS) {
			looked = clock_mono();
			rc = look(s, err);
			if (rc == 0)
				rc = note_time(s, false, err);
			sched_tell(s, SCHED_TICK, NULL, NULL);
		}
		if (!s->n_run && (!more || s->asked || s->over_budget))
			break;
		if (rc == 0)
			rc = wait_some(s, sigfd, err);
	}
	return rc;
}

static int by_turn(const void *a, const void *b)
{
	const struct journal_cell *x = *(struct journal_cell *const *)a,
				  *y = *(struct journal_cell *const *)b;

	return (x->turn > y->turn) - (x->turn < y->turn);
}

static void index_cells(struct sched *s)
{
	s->turn = mem_zalloc(s->cells->n + 1, sizeof(struct journal_cell *));
	for (size_t i = 0; i < s->cells->n; i++) {
		struct journal_cell *c = &s->cells->v[i];

		s->turn[i] = c;
		map_put(&s->keys, map_hash(c->key, strlen(c->key)), c);
	}
	qsort(s->turn, s->cells->n, sizeof(*s->turn), by_turn);
}

static int whole(struct sched *s, struct sched_end *ret, struct err *err)
{
	sigset_t take, before;
	auto_fd int sigfd = -1;
	int rc;

	sigemptyset(&take);
	sigaddset(&take, SIGINT);
	sigaddset(&take, SIGTERM);
	sigprocmask(SIG_BLOCK, &take, &before);
	sigfd = signalfd(-1, &take, SFD_CLOEXEC | SFD_NONBLOCK);
	rc = sigfd < 0 ? err_sys(err, "cannot take signals")
		       : journal_sums(s->o->journal, &s->sums, err);
	if (rc == 0)
		rc = sched_resume(s, err);
	if (rc == 0)
		rc = loop(s, sigfd, err);
	if (rc == 0)
		rc = note_time(s, true, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	survey(s);
	memcpy(ret->count, s->state.count, sizeof(ret->count));
	ret->interrupted = s->asked > 0;
	ret->over_budget = s->over_budget;
	return rc < 0 ? rc : journal_sums(s->o->journal, &ret->sums, err);
}

int sched_run(const struct sched_options *o, struct journal_cells *cells, struct sched_end *ret,
	      struct err *err)
{
	struct sched s = { .o = o, .cells = cells, .began = clock_mono() };
	int rc;

	*ret = (struct sched_end){ .interrupted = false };
	if (o->jobs < 1 || o->jobs > SCHED_JOBS_MAX)
		return err_set(err, ERR_USAGE, "between 1 and %u cells can run at once",
			       SCHED_JOBS_MAX);
	index_cells(&s);
	rc = whole(&s, ret, err);
	estimate_done(&s.estimate);
	map_done(&s.keys);
	free(s.turn);
	free(s.run);
	return rc;
}
