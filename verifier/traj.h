/* A trajectory as the miner needs it: which lines of which files an agent read and edited. From our own
 * run directories (exact) and from other tools' records (by what their commands say). Records of others
 * are hostile input. */
#ifndef VERIFIER_TRAJ_H
#define VERIFIER_TRAJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define TRAJ_FILE_MAX   (256u << 20) /* bytes of one record */
#define TRAJ_VALUES_MAX 8000000u     /* JSON values in it: each takes memory of its own */
#define TRAJ_EVENTS_MAX 1000000u

struct traj_event {
	bool edit;            /* otherwise a read */
	bool scan;            /* a search over trees, an indexer: not attention */
	char *path;           /* owned, relative to the repository */
	uint64_t first, last; /* lines; 0,0 = unknown or the whole file */
	uint64_t step;        /* order of the step in the record, from 1 */
	bool final;           /* edit: by the final diff, so in lines of the final tree */

	/* The same lines in the base tree, where a run starts: exact from images and from the final
	 * diff; elsewhere what the reader could follow. 0,0 = unknown or the whole file. */
	uint64_t base_first, base_last;
	uint64_t hunk_first,
		hunk_last; /* final edit: its whole hunk with context, as a diff's header
					 * counts it in the final tree; 0,0 otherwise */
	bool born;         /* the file is not in the base tree */
};

struct traj {
	char *file;        /* owned: where it was read from */
	char *format;      /* owned: "run", "mini-swe-agent", "swe-agent", "atif", "normalised" */
	char *instance_id; /* owned, NULL = the record does not say */
	char *model;       /* owned: model, or the agent where no model is named; never NULL */
	bool finished;     /* it came to its own end (submitted or exited), not to a limit */
	char *end;         /* owned: how it ended, in the record's words; NULL = it does not say */
	struct traj_event *v; /* owned, in order */
	size_t n, cap;
	bool exact; /* ranges come from images of the files, not from the text of commands */
};

/* All trajectories of one file or run directory. */
struct trajs {
	struct traj *v; /* owned */
	size_t n, cap;
};

/* A format: how it is told and read. */
struct traj_format {
	const char *name;
	/* Does it look like that? @text is the whole file ("" for a directory). */
	bool (*is)(const char *path, const char *text, size_t n);
	/* Add its trajectories. @workdir: where the repository was for that agent, NULL = by the record.
	 * 0 or -ERR_INPUT with the place. */
	int (*read)(const char *path, const char *text, size_t n, const char *workdir,
		    struct trajs *out, struct err *err);
	const char *doc;
};

/* Rows, ended by a NULL name. */
extern const struct traj_format traj_formats[];

/* Read file or run directory @path in format @format (NULL: the row that recognises it) and add to
 * *out ({0} at first). 0 or -ERR_INPUT that names the formats. Free with trajs_done(). */
int trajs_load(const char *path, const char *format, const char *workdir, struct trajs *out,
	       struct err *err);

/* Free; {0} is fine. */
void trajs_done(struct trajs *t);

/* Add an event (copies @path); scans and paths outside the repository are the caller's to leave out. False
 * when TRAJ_EVENTS_MAX is reached. */
bool traj_add(struct traj *t, const struct traj_event *e);

#endif
