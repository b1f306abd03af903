#include "verifier/grade_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/task.h"
#include "sandbox/box.h"
#include "verifier/grade.h"

#define OPEN_DIR  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
#define OPEN_FILE (O_RDONLY | O_NONBLOCK | O_NOCTTY)

/* Does the task's reader name files of a directory? A task that is read as another harness would has none. */
static bool named(const struct testlog_reader *reader)
{
	return reader && reader->files;
}

void grade_report_dirs(const struct task *task, const struct testlog_reader *reader,
		       struct strv *dirs)
{
	const char *report = task->test.report;

	if (!report || report[0] != '/')
		return;
	strv_take(dirs, named(reader) ? mem_strdup(report) : path_dir(report));
}

/* Directory @path of the box (below its root), made with its parents where it is missing. Descriptor or -1. */
static int make_dirs(const struct box *box, const char *path)
{
	auto_free char *normal = path_normal(path);
	char *s = normal + 1, *slash;
	int at = openat(box->root_fd, ".", OPEN_DIR | O_CLOEXEC);

	while (at >= 0 && *s) {
		int next;

		slash = strchr(s, '/');
		if (slash)
			*slash = '\0';
		(void)mkdirat(at, s, 0755); /* mostly there; what else is wrong shows in the open */
		next = fd_open_beneath(at, s, OPEN_DIR, 0);
		close(at);
		at = next;
		s = slash ? slash + 1 : strchr(s, '\0');
	}
	return at;
}

int grade_report_empty(struct box *box, const struct task *task,
		       const struct testlog_reader *reader, struct grade_end *end, struct err *err)
{
	const char *report = task->test.report;
	auto_free char *parent = NULL;
	auto_fd int at = -1, dir = -1;
	struct stat st;
	int rc = 0;

	if (!report || report[0] != '/')
		return 0;
	parent = path_dir(report);
	box_act_as(box, true);
	at = make_dirs(box, parent);
	if (at < 0 || fd_remove_tree(at, path_base(report)) < 0)
		rc = err_sys(
			err,
			"cannot clear %s in the box of the tests (no part of it may be a link)",
			report);
	if (rc == 0 && named(reader)) {
		if (mkdirat(at, path_base(report), 0755) == 0)
			dir = fd_open_beneath(at, path_base(report), OPEN_DIR, 0);
		if (dir < 0 || fstat(dir, &st) < 0)
			rc = err_sys(err, "cannot make directory %s in the box of the tests",
				     report);
		else
			end->place = st;
	}
	box_act_as(box, false);
	return rc;
}

/* Regular file @name below @at with one name only into @b. False when it is none; then *fault says what stands
 * there, if something does. */
static bool take(int at, const char *name, struct buf *b, const char **fault)
{
	auto_fd int fd = fd_open_beneath(at, name, OPEN_FILE, 0);
	struct stat st;

	if (fd < 0) {
		if (errno != ENOENT)
			*fault = "it is a link, or could not be opened";
		return false;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		*fault = "it is no plain file of one name";
	else if (!(st.st_mode & S_IWUSR))
		*fault = "it was closed to writing";
	if (*fault)
		return false;
	/* A larger one is cut, and its reader finds it broken. */
	(void)fd_read_all(fd, b);
	return true;
}

static void take_files(struct box *box, const char *report, const struct testlog_reader *reader,
		       struct grade_end *end)
{
	auto_fd int dir = fd_open_beneath(box->root_fd, report + 1, OPEN_DIR, 0);
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0 || st.st_dev != end->place.st_dev ||
	    st.st_ino != end->place.st_ino || !(st.st_mode & S_IWUSR)) {
		end->fault =
			mem_printf("%s: the directory was moved, replaced or closed to writing",
				   report);
		return;
	}
	for (size_t i = 0; reader->files[i] && i < TESTLOG_FILES_MAX; i++) {
		const char *fault = NULL;

		end->file[i] = (struct buf)BUF_INIT(GRADE_REPORT_MAX);
		end->has_file[i] = take(dir, reader->files[i], &end->file[i], &fault);
		if (fault && !end->fault)
			end->fault = mem_printf("%s/%s: %s", report, reader->files[i], fault);
	}
}

void grade_report_take(struct box *box, const struct task *task,
		       const struct testlog_reader *reader, struct grade_end *end)
{
	const char *report = task->test.report, *fault = NULL;
	bool outside = report && report[0] == '/';

	if (!report)
		return;
	box_act_as(box, true);
	if (outside && named(reader))
		take_files(box, report, reader, end);
	else
		end->has_report = take(outside ? box->root_fd : box->ws_fd, report + outside,
				       &end->report, &fault);
	box_act_as(box, false);
	if (fault)
		end->fault = mem_printf("%s: %s", report, fault);
}

void grade_end_done(struct grade_end *end)
{
	buf_done(&end->report);
	for (size_t i = 0; i < TESTLOG_FILES_MAX; i++)
		buf_done(&end->file[i]);
	free(end->fault);
	end->fault = NULL;
}
