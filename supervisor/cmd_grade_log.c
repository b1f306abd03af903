#include "supervisor/cmd_grade_log.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

enum { REPORT_MAX = 64 << 20 };

int cmd_grade_log_read(const char *path, const struct task *task, int exit_status,
		       struct verdict *ret, struct err *err)
{
	auto_free char *file = path_join(path, "test_output.txt");
	auto_free char *report_file = path_join(path, "report.json");
	auto_buf log = BUF_INIT(GRADE_LOG_MAX), report = BUF_INIT(REPORT_MAX);
	struct grade_log_request req = { .task = task, .exit_status = exit_status };
	struct stat st;
	bool dir = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	bool have = dir && access(report_file, F_OK) == 0;
	int rc = fd_read_file(dir ? file : path, &log, err);

	if (rc == 0 && have)
		rc = fd_read_file(report_file, &report, err);
	if (rc < 0)
		return rc;
	req.log = buf_str(&log);
	req.log_len = log.len;
	if (have) {
		req.report = buf_str(&report);
		req.report_len = report.len;
	}
	rc = grade_log(&req, ret, err);
	return rc < 0 ? err_wrap(err, "%s", path) : 0;
}

void cmd_grade_log_print(const struct task *task, const struct verdict *v)
{
	const struct verdict_match *m = v->match;
	const struct verdict_published *p = v->published;

	if (m && m->exact_reader)
		printf("%s: exact: %s (%s); %zu tests differ\n", task->instance_id,
		       verdict_name(m->exact_kind), m->exact_reason, m->differences);
	else if (m)
		printf("%s: exact: none: no runner reports the tests that %s reads\n",
		       task->instance_id, m->reader);
	if (p && p->resolved == (v->kind == VERDICT_RESOLVED) && !p->differs.n)
		printf("%s: report.json says the same of %zu tests\n", task->instance_id, p->tests);
	else if (p)
		printf("%s: report.json says %s, and otherwise of %zu of %zu tests\n",
		       task->instance_id, p->resolved ? "resolved" : "unresolved", p->differs.n,
		       p->tests);
}
