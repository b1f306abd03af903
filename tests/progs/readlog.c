/* readlog READER EXIT ROOT LOG [REPORT...]: print what a test-output reader makes of a log, in the
 * form of tests/readers/RUNNER/CASE.expect. Several reports are given to the reader one behind the
 * other. Why results are incomplete goes to standard error. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/readlog.h"

int main(int argc, char **argv)
{
	auto_buf log = BUF_INIT(READLOG_MAX), report = BUF_INIT(READLOG_MAX),
		 out = BUF_INIT(READLOG_MAX);
	const struct testlog_reader *row = argc > 4 ? testlog_find(argv[1]) : NULL;
	auto_free char *note = NULL;
	struct testlog_input in = { 0 };
	struct err err = { 0 };

	if (!row) {
		fprintf(stderr, argc > 4 ? "readlog: there is no reader of that name\n"
					 : "usage: readlog READER EXIT ROOT LOG [REPORT...]\n");
		return 2;
	}
	if (fd_read_file(argv[4], &log, &err) < 0)
		goto fail;
	for (int i = 5; i < argc; i++)
		if (fd_read_file(argv[i], &report, &err) < 0)
			goto fail;
	in.log = buf_str(&log);
	in.log_len = log.len;
	in.report = argc > 5 ? buf_str(&report) : NULL;
	in.report_len = report.len;
	in.exit_status = (int)strtol(argv[2], NULL, 10);
	in.root = argv[3];
	if (readlog_text(row, &in, &out, &note, &err) < 0)
		goto fail;
	fwrite(buf_str(&out), 1, out.len, stdout);
	if (note)
		fprintf(stderr, "incomplete: %s\n", note);
	return 0;
fail:
	fprintf(stderr, "readlog: %s\n", err.text);
	return 1;
}
