#include "supervisor/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "supervisor/gwlink.h"
#include "supervisor/hang.h"
#include "supervisor/services.h"
#include "supervisor/sup.h"

#define USUAL_S     120u
#define STEP_MAX    CLOCK_SEC /* that one tick counts: we ourselves may have stood still */
#define PACE_MAX    (5 * CLOCK_SEC)
#define LIMIT_MAX_S (24u * 60 * 60)

uint64_t watchdog_limit(void)
{
	const char *text = getenv("PROCTOR_WATCHDOG");
	uint64_t seconds;

	if (!text || str_u64(text, &seconds) < 0 || seconds > LIMIT_MAX_S)
		seconds = USUAL_S;
	return seconds * CLOCK_SEC;
}

static const struct {
	const char *name;
	bool (*ask)(struct sup *s); /* false: there is none, or it is over */
} peers[WATCHDOG_PEERS] = {
	[WATCHDOG_GATEWAY] = { "the gateway", gwlink_ping },
	[WATCHDOG_SERVICES] = { "the services' process", services_ping },
};

static void hangs(struct sup *s, const char *name)
{
	auto_free char *why = mem_printf("%s has not answered for %llu s", name,
					 (unsigned long long)(s->dog.limit / CLOCK_SEC));
	struct err err;

	if (hang_write(s->dir, why, getpid(), &err) < 0)
		log_info("%s", err.text);
	err_set(&err, ERR_CHILD, "%s; hang.json in the run directory has the process tree", why);
	sup_engine_failed(s, &err);
}

void watchdog_tick(struct sup *s)
{
	struct watchdog *d = &s->dog;
	uint64_t now = clock_mono(), step = d->last ? now - d->last : 0;
	uint64_t pace = d->limit / 4 < PACE_MAX ? d->limit / 4 : PACE_MAX;

	d->last = now;
	/* While one task is alone the answers are not read: see gwlink_event(). */
	if (!d->limit || s->alone || s->phase >= SUP_KILLED)
		return;
	for (unsigned i = 0; i < WATCHDOG_PEERS; i++) {
		d->peer[i].ns += step < STEP_MAX ? step : STEP_MAX;
		if (d->peer[i].asked && d->peer[i].ns >= d->limit) {
			hangs(s, peers[i].name);
			return;
		}
		if (!d->peer[i].asked && d->peer[i].ns >= pace) {
			d->peer[i].asked = peers[i].ask(s);
			d->peer[i].ns = 0;
		}
	}
}

void watchdog_answer(struct sup *s, enum watchdog_peer peer)
{
	s->dog.peer[peer].asked = false;
	s->dog.peer[peer].ns = 0;
}
