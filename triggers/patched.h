/* Lines that interventions' edits wrote, followed over what happens to them afterwards, for triggers
 * that wait for the agent to edit them (region_state_changed). */
#ifndef TRIGGERS_PATCHED_H
#define TRIGGERS_PATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiles/scenario.h"
#include "triggers/lines.h"

/* Places that are remembered; more are left out. Far above what a diff of a scenario changes. */
#define PATCHED_MAX 65536u

struct patched_place {
	uint64_t order; /* of the intervention that wrote it */
	char *path;     /* owned */
	struct line_range at;
	/* what the agent's latest edit of the file did here: lines (UINT64_MAX = unknown: all), and
	 * which, in numbers of before that edit */
	uint64_t touched, first, last;
};

/* Life: {0} -> patched_wrote() and patched_edited() in the order of the edits -> patched_done(). */
struct patched {
	struct patched_place *v; /* owned */
	size_t n, cap;
};

/* The edit of intervention @order changed @path: @changes are its places, empty = the whole file,
 * which has @lines lines now. What was written there before moves with it. */
void patched_wrote(struct patched *p, uint64_t order, const char *path,
		   const struct line_changes *changes, uint64_t lines);

/* The agent edited @path: note what that touches, then let the places move. @changes empty =
 * nothing is known of lines, which touches all. */
void patched_edited(struct patched *p, const char *path, const struct line_changes *changes);

/* Did the agent's latest edit of @path touch lines that @w (WHEN_REGION_STATE_CHANGED) waits for, at
 * least min_overlap of one place? *first,*last are the first such lines, 0,0 = not known. */
bool patched_touched(const struct patched *p, const struct when *w, const char *path,
		     uint64_t *first, uint64_t *last);

/* The lines from the first to the last of @path that intervention @order wrote, as they are now. False
 * (and 0,0) when there are none. */
bool patched_lines(const struct patched *p, uint64_t order, const char *path, uint64_t *first,
		   uint64_t *last);

/* Did an intervention that @w waits for write @path at all? For the released rule, whose edits have
 * no lines. */
bool patched_has(const struct patched *p, const struct when *w, const char *path);

/* Free; {0} is fine. */
void patched_done(struct patched *p);

#endif
