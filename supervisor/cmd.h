/* The commands of the program: one row and one file each. */
#ifndef SUPERVISOR_CMD_H
#define SUPERVISOR_CMD_H

#include "base/buf.h"
#include "base/err.h"
#include "base/opt.h"

extern const struct opt_cmd cmd_run, cmd_mine, cmd_craft, cmd_grade, cmd_gate, cmd_admit, cmd_fork,
	cmd_import, cmd_export, cmd_label, cmd_judge, cmd_report, cmd_trace, cmd_explain,
	cmd_images, cmd_doctor, cmd_version, cmd_help, cmd_study, cmd_top;

#define CMD_REPEATS_MAX 100u /* of a gate's checks: each one is a box and a test run */

/* All rows in the order of the overview; ends with NULL. */
extern const struct opt_cmd *const cmd_all[];

/* Print "proctor: TEXT" for a failed command. Returns the exit status that belongs to @rc. */
int cmd_fail(int rc, const struct err *err);

/* Parse the command line of @cmd. 0 go on; otherwise *ret_status is the exit status: help was
 * printed, or the usage error. */
int cmd_parse(const struct opt_cmd *cmd, int argc, char **argv, void *opts, struct strv *rest,
	      int *ret_status);

/* Most commands: parse into @opts, carry out @whole with it and the operands, tell its error. Returns the exit
 * status: what @whole returns (0 or 1 for a negative result), or that of its error. */
int cmd_main(const struct opt_cmd *cmd, int argc, char **argv, void *opts,
	     int (*whole)(void *opts, const struct strv *rest, struct err *err));

/* Write @b to standard output. 0, or the exit status after a message. */
int cmd_print(const struct buf *b);

/* Copy of a text that stems from an agent, a model or a foreign file, so that no terminal obeys it and it stays in
 * its line (table_safe()). "" for NULL. Caller frees. */
char *cmd_safe(const char *s);

/* Path of file @name in run directory @dir, checking that @dir is one: 0 or -ERR_INPUT. Caller frees
 * *ret. */
int cmd_run_file(const char *dir, const char *name, char **ret, struct err *err);

#endif
