/* Jobs in processes: all are done, never too many at once, a dead one and a refused one. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "study/pool.h"
#include "tests/lib/tap.h"

#define JOBS 40

struct seen {
	size_t next, n;
	size_t ended, most, wrong, killed, status3, long_texts;
	size_t stop_at; /* 0: never */
	bool got[JOBS];
};

static bool next(void *arg, size_t *ret)
{
	struct seen *s = arg;

	if (s->next == s->n)
		return false;
	*ret = s->next++;
	return true;
}

/* Job 5 dies, job 6 ends with 3, job 7 says a lot, job 8 leaves a process behind that holds its pipe. */
static int work(void *arg, size_t job, int fd)
{
	char text[32];

	(void)arg;
	if (job == 5)
		raise(SIGKILL);
	if (job == 6)
		return 3;
	if (job == 7) {
		auto_free char *big = mem_zalloc(1, 1u << 20);

		memset(big, 'x', 1u << 20);
		return fd_write_all(fd, big, 1u << 20) < 0;
	}
	if (job == 8) {
		pid_t left = fork();

		if (left == 0) {
			close(STDOUT_FILENO); /* or whoever reads the test's output would wait for it */
			close(STDERR_FILENO);
			alarm(20);
			for (;;)
				pause();
		}
		snprintf(text, sizeof(text), "%d", (int)left);
		return fd_write_all(fd, text, strlen(text)) < 0;
	}
	snprintf(text, sizeof(text), "job %zu", job);
	return fd_write_all(fd, text, strlen(text)) < 0;
}

static int ended(void *arg, const struct pool_end *e, struct err *err)
{
	struct seen *s = arg;
	char text[32];

	snprintf(text, sizeof(text), "job %zu", e->job);
	s->ended++;
	s->got[e->job] = true;
	if (WIFSIGNALED(e->status))
		s->killed += e->job == 5 && WTERMSIG(e->status) == SIGKILL;
	else if (e->job == 6)
		s->status3 += WEXITSTATUS(e->status) == 3 && e->n == 0;
	else if (e->job == 7)
		s->long_texts += e->n == 1u << 20 && e->text[e->n - 1] == 'x';
	else if (e->job == 8)
		s->wrong += atoi(e->text) <= 1 || kill(atoi(e->text), SIGKILL) < 0;
	else
		s->wrong += strcmp(e->text, text) != 0;
	if (s->ended == s->stop_at)
		return err_set(err, ERR_LIMIT, "enough");
	return 0;
}

static void tick(void *arg, unsigned running)
{
	struct seen *s = arg;

	if (running > s->most)
		s->most = running;
}

static void all(unsigned at_once)
{
	struct seen s = { .n = JOBS };
	struct pool_ops ops = {
		.next = next, .work = work, .ended = ended, .tick = tick, .arg = &s
	};
	struct err err = { 0 };
	size_t got = 0;
	int rc = pool_run(&ops, at_once, &err);

	for (size_t i = 0; i < JOBS; i++)
		got += s.got[i];
	tap_ok(rc == 0 && s.ended == JOBS && got == JOBS, "%u at once: each job ends once",
	       at_once);
	tap_ok(s.most <= at_once && s.most >= 1, "%u at once: never more (%zu)", at_once, s.most);
	tap_ok(s.wrong == 0, "%u at once: each result is its job's own", at_once);
	tap_ok(s.killed == 1 && s.status3 == 1 && s.long_texts == 1,
	       "%u at once: a dead job, a status, a long result", at_once);
}

static void stops(void)
{
	struct seen s = { .n = JOBS, .stop_at = 3 };
	struct pool_ops ops = { .next = next, .work = work, .ended = ended, .arg = &s };
	struct err err = { 0 };

	tap_ok(pool_run(&ops, 4, &err) == -ERR_LIMIT && strcmp(err.text, "enough") == 0,
	       "an error of the caller ends it");
	tap_ok(s.ended == 3, "and nothing after it is reported");
	tap_ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child stays");
	tap_ok(pool_run(&ops, 0, &err) == -ERR_USAGE, "none at once is refused");
	tap_ok(pool_run(&ops, POOL_JOBS_MAX + 1, &err) == -ERR_USAGE, "too many at once, too");
}

int main(void)
{
	all(1);
	all(2);
	all(16);
	stops();
	return tap_done();
}
