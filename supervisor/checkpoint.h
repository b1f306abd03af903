/* Checkpoints of a run (profile: checkpoints requests): at every main request to the model the files of the box are
 * kept, and what of its state is no file is named, so that another run can go on from there (fork --resume
 * native). Writes checkpoints.jsonl and the directory checkpoints in the run's directory. */
#ifndef SUPERVISOR_CHECKPOINT_H
#define SUPERVISOR_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "gateway/msg.h"
#include "supervisor/sup.h"

struct workspace;

/* Names of processes, held things and services that one checkpoint lists; more are counted by the last. */
#define CHECKPOINT_NAMES_MAX 16

/* Begin, for the box of @s, whose command has not been released, over @ws (borrowed). 0 or negative. */
int checkpoint_open(struct sup *s, const char *dir, const struct workspace *ws, struct err *err);

/* Main request @m has come. True: it waits until the agent's session files have been written, and goes on then. */
bool checkpoint_wait(struct sup *s, const struct gw_msg *m);

/* Keep the box as it is at main request number @call. The world is held. 0, or negative when nothing can be kept; what
 * could not be kept whole is written down and ends nothing. */
int checkpoint_take(struct sup *s, uint64_t call, struct err *err);

/* Called at every tick: requests that waited go on. */
void checkpoint_tick(struct sup *s);

/* Member "checkpoints" of run.json: null without any. */
void checkpoint_summary(const struct sup *s, struct json_w *w);

/* Free. Fine in any state. */
void checkpoint_done(struct sup *s);

#endif
