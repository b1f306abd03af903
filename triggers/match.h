/* Does what happened satisfy a trigger? An access becomes one match per region of its file, with
 * everything a trigger may ask for; a trigger then says yes or no. No state. */
#ifndef TRIGGERS_MATCH_H
#define TRIGGERS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiles/scenario.h"
#include "triggers/access.h"
#include "triggers/argvrange.h"
#include "triggers/regions.h"
#include "triggers/swetouch.h"

/* Overlap where lines are not known: more than any minimum. */
#define MATCH_ALL UINT64_MAX

struct match {
	uint64_t region; /* index in the scenario */
	enum access_kind kind;
	enum touch_level level; /* the finest level that tells these lines */
	uint64_t first, last;   /* lines of the region, 0,0 = not known: all */
	uint64_t bytes;         /* lines of the region among the bytes (or changed lines) */
	uint64_t argv;          /* of these, lines that the program was asked for */
	bool write_only;        /* an open that cannot read */
	const char *scan;       /* static: why it is a scan, NULL = it is none */
};

/* Matches of an open or read of @f; @cmd_argv is the argv of the access's command (NULL = unknown);
 * @asked: lines that a tool call of the model asked for (NULL = no tool call is known). Writes up to f->n into @out and returns how many: regions without a line in the read are left
 * out. */
size_t match_access(const struct region_file *f, const struct access *a, char *const *cmd_argv,
		    const struct argvrange *asked, struct match *out);

/* Matches of an edit of @f, whose regions were at @was before (f->n of them); @changes empty =
 * lines are not known. As match_access(). */
size_t match_edit(const struct region_file *f, const struct line_range *was,
		  const struct line_changes *changes, struct match *out);

/* Does @m satisfy @w when its event is @event (rounds may narrow it)? Never for the level
 * swe-touch-1.0. */
bool match_when(const struct when *w, enum when_event event, const struct match *m);

/* Is @region one that @w asks for? */
bool match_region(const struct when *w, uint64_t region);

/* Does an event of the released rule, on region @r of the event's file, satisfy @w? */
bool match_swetouch(const struct when *w, enum when_event event, const struct swetouch_event *ev,
		    const struct region_now *r);

#endif
