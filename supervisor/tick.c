#include "supervisor/tick.h"

#include <fcntl.h>
#include <signal.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/box.h"
#include "supervisor/checkpoint.h"
#include "supervisor/gwlink.h"
#include "supervisor/gwsim.h"
#include "supervisor/lastwords.h"
#include "supervisor/on_process.h"
#include "supervisor/services.h"
#include "supervisor/userproc.h"

enum { DISK_ENTRIES = 1000000 };

static void deadlines(struct sup *s, uint64_t now)
{
	if (!s->deadline || now < s->deadline)
		return;
	s->deadline = 0;
	if (s->phase == SUP_STOPPING && s->tidy) {
		s->tidy = false;
		s->deadline = now + s->plan->profile->grace / 2;
		if (s->root && !s->root_gone)
			(void)kill(s->root, SIGTERM); /* gone: its exit is on the way */
		return;
	}
	if (s->phase == SUP_STOPPING || s->phase == SUP_DRAINING)
		sup_kill(s);
	else if (s->phase == SUP_KILLED)
		box_kill(
			s->box); /* again: a task may have been born while the first was under way */
}

/* A measurement takes as long as the tree is large: the next one waits twenty times that. */
static void disk(struct sup *s, uint64_t now)
{
	uint64_t used, took;

	if (!s->upper || now < s->next_disk || !s->budget.limit.max[LIMIT_DISK])
		return;
	/* The workspace's changes and the box's own layers: HOME, /tmp and everything else. */
	used = fd_tree_bytes(AT_FDCWD, s->upper, DISK_ENTRIES) +
	       fd_tree_bytes(AT_FDCWD, s->box->dir, DISK_ENTRIES);
	took = clock_mono() - now;
	s->next_disk = now + 500 * CLOCK_MS + 20 * took;
	if (budget_level(&s->budget, LIMIT_DISK, used))
		sup_end_limit(s, true);
}

void tick_measure(struct sup *s)
{
	uint64_t cpu = 0, mem = 0, tasks = 0;

	box_usage(s->box, &cpu, &mem, &tasks);
	if (cpu < s->cpu_exited)
		cpu = s->cpu_exited;
	if (budget_level(&s->budget, LIMIT_WALL, sup_now(s) - s->fork_ns) ||
	    budget_level(&s->budget, LIMIT_CPU, cpu))
		sup_end_limit(s, false);
	if (budget_level(&s->budget, LIMIT_OUTPUT, s->relay->bytes))
		sup_end_limit(s, false);
	/* What eats the machine is not given a grace. */
	if ((box_oom(s->box) && budget_hit(&s->budget, LIMIT_MEMORY)) ||
	    budget_level(&s->budget, LIMIT_MEMORY, mem))
		sup_end_limit(s, true);
}

void tick(struct sup *s)
{
	uint64_t now = clock_mono();
	struct err err;

	lastwords_beat(s->lw, now);
	watchdog_tick(s);
	deadlines(s, now);
	on_process_orphans(s);
	gwlink_tick(s);
	gwsim_tick(s);
	checkpoint_tick(s);
	userproc_tick(s);
	services_tick(s);
	helpers_poll(&s->helpers, s->sink, s->epoch);
	holders_poll(&s->holders, s->sink, s->epoch);
	on_process_drained(s);
	if (s->phase < SUP_KILLED) {
		tick_measure(s);
		disk(s, now);
		for (int k = 0; k < LIMIT_MAX; k++)
			sup_warn(s, (enum limit_kind)k, false);
		/* Not while somebody is alone: an edit would wait for what waits for us. */
		if (s->engine && !s->alone && engine_tick(s->engine, sup_now(s), &err) < 0)
			sup_engine_failed(s, &err);
	}
	sink_flush(s->sink);
}
