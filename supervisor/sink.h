/* trace.jsonl and interventions.jsonl: lines are batched, flushed at interventions, ticks and the
 * end, so that a kill loses at most a tick. */
#ifndef SUPERVISOR_SINK_H
#define SUPERVISOR_SINK_H

#include "base/buf.h"
#include "base/err.h"
#include "base/tracerec.h"

struct sink {
	int trace_fd, interventions_fd;
	struct buf line; /* batched trace text */
	uint64_t n;      /* last sequence number */
	uint64_t start;  /* clock_mono() of t = 0 */
	uint64_t lost;   /* records that could not be written */
	int error;       /* errno of the first failed write, 0 */
};

/* Create both files below @dir and write the trace's header line. 0 or negative. */
int sink_open(struct sink *s, const char *dir, const char *plan_digest, const char *run_id,
	      struct err *err);

/* Begin a record; finish it with sink_end(). Returns the buffer for tracerec_*() calls. */
struct buf *sink_begin(struct sink *s, enum trace_kind kind, pid_t pid, pid_t tid, uint32_t cmd,
		       uint32_t epoch);

/* End the record; writes the batch when it is large. */
void sink_end(struct sink *s);

/* Write what is batched. A full disk is remembered in s->error, never fatal: the run goes on
 * and its end reason says so. */
void sink_flush(struct sink *s);

/* Append one line (with newline) to interventions.jsonl and fsync both files. */
void sink_intervention(struct sink *s, const struct buf *line);

/* Flush and close. {trace_fd = -1, interventions_fd = -1} is fine. */
void sink_close(struct sink *s);

#endif
