/* One cell of a study in a process of its own: run, grade, judge, label, then cell.json. Engines start it as "proctor study
 * --cell DIR" with the directory of the study as the current one. */
#ifndef SUPERVISOR_STUDYCELL_H
#define SUPERVISOR_STUDYCELL_H

#include "base/err.h"

/* Carry out DIR/job.json and write DIR/cell.json last. Each step is a proctor of its own, which dies with this
 * process. SIGTERM and SIGINT go to the step under way; the outcome is then "stopped". A run that DIR holds already is not
 * made again. 0 when cell.json was written, whatever it says; negative otherwise: -ERR_INPUT for a job that cannot be
 * read, -ERR_REFUSED when another process works on this cell, -ERR_SYS. */
int studycell(const char *dir, struct err *err);

#endif
