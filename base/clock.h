/* Monotonic and wall time in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_SEC 1000000000ull
#define CLOCK_MS  1000000ull

/* CLOCK_MONOTONIC in ns: for durations and deadlines; a clock jump does not move it. */
uint64_t clock_mono(void);

/* CLOCK_REALTIME in ns since the epoch: for records people read. */
uint64_t clock_wall(void);

/* "2026-11-30T10:09:48.123Z" of @wall_ns into @out (at least 32 bytes). Returns @out. */
char *clock_text(uint64_t wall_ns, char out[32]);

#endif
