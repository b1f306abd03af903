/* Nothing may stand still for ever. Two look after that: the supervisor asks the gateway and the services' process at a
 * fixed pace whether they are there, and the janitor sees whether the supervisor's loop still turns (lastwords.h). Both
 * write hang.json before the run ends as an error. */
#ifndef SUPERVISOR_WATCHDOG_H
#define SUPERVISOR_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct sup;

enum watchdog_peer { WATCHDOG_GATEWAY, WATCHDOG_SERVICES, WATCHDOG_PEERS };

struct watchdog {
	uint64_t limit; /* ns that anybody may be silent; 0 = for ever */
	uint64_t last;  /* clock_mono() of the last tick */
	struct {
		bool asked;
		uint64_t ns; /* since it was asked, or since it answered */
	} peer[WATCHDOG_PEERS];
};

/* How long anybody may be silent, ns: PROCTOR_WATCHDOG seconds, two minutes without it, 0 = for ever. */
uint64_t watchdog_limit(void);

/* Once a tick: ask who was not asked, end the run when one has not answered in time. Time in which we ourselves did not
 * run (a suspended machine, SIGSTOP) does not count. */
void watchdog_tick(struct sup *s);

/* @peer has answered. */
void watchdog_answer(struct sup *s, enum watchdog_peer peer);

#endif
