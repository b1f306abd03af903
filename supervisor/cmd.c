#include "supervisor/cmd.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "study/table.h"

const struct opt_cmd *const cmd_all[] = {
	&cmd_run,    &cmd_mine,    &cmd_craft,  &cmd_grade,  &cmd_gate,    &cmd_admit, &cmd_fork,
	&cmd_import, &cmd_export,  &cmd_label,  &cmd_judge,  &cmd_report,  &cmd_study, &cmd_top,
	&cmd_trace,  &cmd_explain, &cmd_images, &cmd_doctor, &cmd_version, &cmd_help,  NULL,
};

int cmd_fail(int rc, const struct err *err)
{
	log_msg(LOG_ERROR, "%s", err->text);
	return err_exit_status(rc);
}

int cmd_print(const struct buf *b)
{
	if (fd_write_all(1, buf_str(b), b->len) == 0)
		return 0;
	log_msg(LOG_ERROR, "cannot write to standard output: %s", strerror(errno));
	return ERR_SYS;
}

char *cmd_safe(const char *s)
{
	auto_buf b = BUF_INIT(64u << 20);

	table_safe(&b, s ? s : "");
	return mem_strdup(buf_str(&b));
}

int cmd_parse(const struct opt_cmd *cmd, int argc, char **argv, void *opts, struct strv *rest,
	      int *ret_status)
{
	auto_buf text = BUF_INIT(1 << 20);
	struct err err;
	int rc = opt_parse(cmd, argc, argv, opts, rest, &err);

	if (rc == 0)
		return 0;
	if (rc > 0) {
		opt_help(cmd, &text);
		*ret_status = cmd_print(&text);
	} else {
		*ret_status = cmd_fail(rc, &err);
	}
	return 1;
}

int cmd_run_file(const char *dir, const char *name, char **ret, struct err *err)
{
	auto_free char *mark = path_join(dir, "run.json");

	if (access(mark, R_OK) < 0)
		return err_set(err, ERR_INPUT, "%s is not a run directory: %s: %s", dir, mark,
			       strerror(errno));
	*ret = path_join(dir, name);
	return 0;
}

int cmd_main(const struct opt_cmd *cmd, int argc, char **argv, void *opts,
	     int (*whole)(void *opts, const struct strv *rest, struct err *err))
{
	struct strv rest = { 0 };
	struct err err = { 0 };
	int status, rc;

	if (cmd_parse(cmd, argc, argv, opts, &rest, &status) == 0) {
		rc = whole(opts, &rest, &err);
		status = rc < 0 ? cmd_fail(rc, &err) : rc;
	}
	strv_done(&rest);
	return status;
}
