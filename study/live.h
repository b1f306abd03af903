/* How a cell that runs is getting on, by the files that it writes: steps, tokens, dollars, the last touch. Only what was
 * written since the last look is read. */
#ifndef STUDY_LIVE_H
#define STUDY_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_TOUCH_MAX 96

/* Two runs at most: those of a pair. */
enum { LIVE_RUNS = 3 };

struct live_run {
	uint64_t model_at, trace_at; /* bytes read so far */
	uint64_t calls, commands, tokens, micro_dollars;
	bool unknown; /* a call's cost is */
};

/* {0} is a cell that has just begun. */
struct live {
	struct live_run run[LIVE_RUNS];
	uint64_t steps;                 /* model calls, or commands without a model */
	uint64_t tokens, micro_dollars; /* behind the fork of a pair: as far as it shows */
	bool cost_known;
	uint64_t touches;
	char touch[LIVE_TOUCH_MAX]; /* "read src/a.c:30-75", "" = none; safe for a terminal */
};

/* Look again into @dir, the directory of an attempt. What is not there, or cut, is left for the next time; at most
 * a few megabytes are read at once. */
void live_look(struct live *l, const char *dir);

/* The same for the text of a model record or a trace, for tests. Whole lines are taken; returns how many bytes. */
uint64_t live_model(struct live_run *r, const char *text, uint64_t n);
uint64_t live_trace(struct live *l, struct live_run *r, const char *text,
		    uint64_t n); /* see live_model() */

#endif
