/* What can be said from figures alone: which tests are flaky, and which limits fit. */
#include "verifier/admit_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define WALL_FACTOR 2u /* above the factor of the others */
#define WALL_ROOM   3u /* a timeout below so many times the reference's wall time is too small */
#define MEGABYTE    (1ull << 20)

/* Least limits: below them start-up of interpreters and compilers decides. Memory and disk of a task bound its agent,
 * too, whose client needs more than most tests. */
static const struct admit_use floors = {
	.wall = 60 * CLOCK_SEC,
	.cpu = 60 * CLOCK_SEC,
	.memory = 2048 * MEGABYTE,
	.disk = 2048 * MEGABYTE,
	.output = 4 * MEGABYTE,
	.tasks = 64,
};

const char *admit_state_name(enum admit_state s)
{
	static const char *const names[] = { "passed", "noted", "skipped", "failed" };

	return names[s];
}

void admit_say(struct admit_check *c, enum admit_state state, const char *fmt, ...)
{
	va_list ap;

	if (c->found && state <= c->state)
		return;
	free(c->found);
	va_start(ap, fmt);
	c->found = mem_vprintf(fmt, ap);
	va_end(ap);
	c->state = state;
}

void admit_line(struct admit_check *c, const char *fmt, ...)
{
	va_list ap;

	if (c->evidence.n > ADMIT_LINES_MAX) {
		uint64_t more = strtoull(c->evidence.v[ADMIT_LINES_MAX], NULL, 10) + 1;

		free(c->evidence.v[ADMIT_LINES_MAX]);
		c->evidence.v[ADMIT_LINES_MAX] = mem_printf("%" PRIu64 " more", more);
		return;
	}
	if (c->evidence.n == ADMIT_LINES_MAX) {
		strv_add(&c->evidence, "1 more");
		return;
	}
	va_start(ap, fmt);
	strv_take(&c->evidence, mem_vprintf(fmt, ap));
	va_end(ap);
}

void admit_results_copy(struct test_results *to, const struct test_results *r)
{
	for (size_t i = 0; i < r->n; i++)
		testlog_add_worse(to, r->v[i].name, strlen(r->v[i].name), r->v[i].status, 0, 0);
}

/* Canaries of the witness for node stand in the log, too, under a name drawn by chance. */
static void odd(struct admit_seen *s, const char *name)
{
	if (str_starts(name, "a failing test of the grader "))
		return;
	testlog_add_worse(&s->odd, name, strlen(name), TEST_PASSED, 0, 0);
}

/* Names whose status in @now is not that of the first run. */
static void compare_all(struct admit_seen *s, const struct test_results *now)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct test_result *was = testlog_get(&s->all, now->v[i].name);

		if (!was || was->status != now->v[i].status)
			odd(s, now->v[i].name);
	}
	for (size_t i = 0; i < s->all.n; i++)
		if (!testlog_get(now, s->all.v[i].name))
			odd(s, s->all.v[i].name);
}

void admit_seen_add(struct admit_seen *s, const struct verdict *v, const struct test_results *all)
{
	if (!v->complete || v->kind == VERDICT_INFRA || v->kind == VERDICT_INVALID || !v->n_tests)
		return;
	if (!s->runs++) {
		s->n = v->n_tests;
		s->first = mem_zalloc(s->n, sizeof(*s->first));
		s->flaky = mem_zalloc(s->n, sizeof(*s->flaky));
		for (size_t i = 0; i < s->n; i++)
			s->first[i] = v->tests[i].status;
		if (all)
			admit_results_copy(&s->all, all);
		return;
	}
	for (size_t i = 0; i < s->n && i < v->n_tests; i++)
		if (v->tests[i].status != s->first[i])
			s->flaky[i] = true;
	if (all)
		compare_all(s, all);
}

bool admit_explained(const struct admit_seen *s, const struct verdict *v)
{
	bool any = false;

	if (!v->complete || v->n_tests != s->n)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		if (verdict_passed(&v->tests[i]))
			continue;
		if (!s->flaky[i])
			return false;
		any = true;
	}
	return any;
}

void admit_seen_done(struct admit_seen *s)
{
	free(s->first);
	free(s->flaky);
	testlog_done(&s->all);
	testlog_done(&s->odd);
	*s = (struct admit_seen){ .n = 0 };
}

/* The values of a use as an array would have them. */
#define USES 6
static uint64_t *value(struct admit_use *u, size_t i)
{
	uint64_t *const v[USES] = {
		&u->wall, &u->cpu, &u->memory, &u->disk, &u->output, &u->tasks
	};

	return v[i];
}

void admit_use_most(struct admit_use *most, const struct admit_use *u)
{
	struct admit_use other = *u;

	for (size_t i = 0; i < USES; i++)
		if (*value(&other, i) > *value(most, i))
			*value(most, i) = *value(&other, i);
}

static uint64_t times(uint64_t v, uint64_t factor)
{
	return v > UINT64_MAX / 2 / factor ? UINT64_MAX / 2 : v * factor;
}

static uint64_t round_up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

struct admit_use admit_suggest(const struct admit_use *most, unsigned factor)
{
	static const uint64_t units[USES] = {
		CLOCK_SEC, CLOCK_SEC, MEGABYTE, MEGABYTE, MEGABYTE, 1
	};
	struct admit_use from = *most, least = floors, ret = { 0 };

	for (size_t i = 0; i < USES; i++) {
		uint64_t v =
			times(*value(&from, i), i == 0 ? (uint64_t)factor * WALL_FACTOR : factor);

		if (v < *value(&least, i))
			v = *value(&least, i);
		*value(&ret, i) = round_up(v, units[i]);
	}
	return ret;
}

/* An amount in whole milliseconds or kilobytes. */
static const char *text(enum limit_kind kind, uint64_t v, char out[40])
{
	bool is_time = kind == LIMIT_WALL || kind == LIMIT_CPU;
	uint64_t unit = kind == LIMIT_PROCESSES ? 1 : is_time ? CLOCK_MS : 1024;

	return limits_text(kind, round_up(v, unit), out);
}

void admit_calibrate(const struct task *task, const struct admit_result *r, struct admit_check *c)
{
	static const struct {
		const char *name;
		enum limit_kind kind;
	} rows[USES] = {
		{ "test.timeout", LIMIT_WALL }, { "cpu", LIMIT_CPU },
		{ "memory", LIMIT_MEMORY },     { "disk", LIMIT_DISK },
		{ "output", LIMIT_OUTPUT },     { "processes", LIMIT_PROCESSES },
	};
	struct admit_use most = r->most, suggest = r->suggest;
	char used[40], limit[40], want[40];

	if (!most.wall) {
		admit_say(c, ADMIT_SKIPPED, "no run of the reference was resolved");
		return;
	}
	for (size_t i = 0; i < USES; i++) {
		if (!*value(&most, i))
			admit_line(c, "%s: use not known; at least %s", rows[i].name,
				   text(rows[i].kind, *value(&suggest, i), want));
		else
			admit_line(c, "%s: used at most %s; suggested %s", rows[i].name,
				   text(rows[i].kind, *value(&most, i), used),
				   text(rows[i].kind, *value(&suggest, i), want));
	}
	if (task->test.timeout && task->test.timeout / WALL_ROOM < most.wall)
		admit_say(c, ADMIT_FAILED,
			  "test.timeout is %s, less than %u times the reference's %s; %s would do",
			  text(LIMIT_WALL, task->test.timeout, limit), WALL_ROOM,
			  text(LIMIT_WALL, most.wall, used), text(LIMIT_WALL, suggest.wall, want));
	if (task->limits.memory && task->limits.memory / 2 < most.memory)
		admit_say(c, ADMIT_NOTED,
			  "the memory limit of %s is less than twice what the reference used (%s)",
			  text(LIMIT_MEMORY, task->limits.memory, limit),
			  text(LIMIT_MEMORY, most.memory, used));
	if (task->limits.disk && task->limits.disk / 2 < most.disk)
		admit_say(c, ADMIT_NOTED,
			  "the storage limit of %s is less than twice what the reference used (%s)",
			  text(LIMIT_DISK, task->limits.disk, limit),
			  text(LIMIT_DISK, most.disk, used));
	admit_say(c, ADMIT_PASSED, "the reference took at most %s",
		  text(LIMIT_WALL, most.wall, used));
}
