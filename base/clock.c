#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts); /* cannot fail for these two clocks (clock_gettime(2)) */
	return (uint64_t)ts.tv_sec * CLOCK_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t clock_wall(void)
{
	return now(CLOCK_REALTIME);
}

char *clock_text(uint64_t wall_ns, char out[32])
{
	time_t t = (time_t)(wall_ns / CLOCK_SEC);
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(out, 24, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + strlen(out), 8, ".%03uZ", (unsigned)(wall_ns / CLOCK_MS % 1000));
	return out;
}
