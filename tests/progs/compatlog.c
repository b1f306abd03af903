/* compatlog PARSER LOG [INSTANCE [VERSION]]: print what a log parser of verifier/compat.h makes of
 * a log, for comparisons with SWE-bench's own (tests/tools/swebench_diff.py): "found yes" or "found
 * no REASON", then one line "STATUS<tab>NAME" per result in order of appearance, written as in
 * tests/lib/readlog.h. With "-" in front of PARSER's name markers are not looked at, and all of the
 * log is given to it. */
#include <stdio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/readlog.h"
#include "verifier/compat.h"

int main(int argc, char **argv)
{
	auto_buf log = BUF_INIT(READLOG_MAX), out = BUF_INIT(2 * READLOG_MAX);
	bool whole = argc > 1 && argv[1][0] == '-';
	const struct testlog_reader *row = argc > 2 ? compat_find(argv[1] + whole) : NULL;
	struct testlog_input in = { 0 };
	struct test_results r = { 0 };
	struct compat_log found;
	struct err err = { 0 };
	int rc;

	if (!row) {
		fprintf(stderr, argc > 2 ? "compatlog: there is no parser of that name\n"
					 : "usage: compatlog [-]PARSER LOG [INSTANCE [VERSION]]\n");
		return 2;
	}
	if (fd_read_file(argv[2], &log, &err) < 0)
		goto fail;
	in.log = buf_str(&log);
	in.log_len = log.len;
	in.instance_id = argc > 3 ? argv[3] : NULL;
	in.version = argc > 4 ? argv[4] : NULL;
	compat_markers(&in, &found);
	if (whole)
		found = (struct compat_log){ .found = true, .to = log.len };
	rc = found.found ? compat_read(row, &in, &found, &r, &err) : 0;
	if (rc < 0)
		goto fail;
	if (!whole)
		compat_judge(&in, &r, &found);
	buf_addf(&out, "found %s%s\n", found.found ? "yes" : "no ",
		 found.found ? "" : found.reason);
	for (size_t i = 0; i < r.n && found.found; i++) {
		buf_addf(&out, "%s\t", test_status_name(r.v[i].status));
		readlog_name(r.v[i].name, &out);
		buf_addc(&out, '\n');
	}
	fwrite(buf_str(&out), 1, out.len, stdout);
	testlog_done(&r);
	return 0;
fail:
	fprintf(stderr, "compatlog: %s\n", err.text);
	testlog_done(&r);
	return 1;
}
