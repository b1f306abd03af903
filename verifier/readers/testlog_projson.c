/* SWE-bench Pro (version 1): the task's own parser.py wrote {"tests": [{"name": ..., "status": ...}]} into the
 * report file, with PASSED, FAILED, SKIPPED or ERROR.
 *
 * Ids are the names as they stand. A name given twice keeps the worse status. Not complete: no report, no list,
 * an entry without name or with another status.
 *
 * What this cannot tell: parser.py reads the output of the code under test and runs beside it in the box, so both
 * what it reads and what it writes are within reach of that code. */
#include <stdlib.h>
#include <string.h>

#include "base/jslice.h"
#include "base/mem.h"
#include "verifier/readers/testlog_internal.h"

static const struct testlog_word words[] = {
	{ "PASSED", TEST_PASSED },
	{ "FAILED", TEST_FAILED },
	{ "SKIPPED", TEST_SKIPPED },
	{ "ERROR", TEST_ERROR },
};

static void add_test(const struct testlog_input *in, struct jslice v, size_t at,
		     struct test_results *out)
{
	const struct testlog_line span = { .from = (uint64_t)(v.s - in->report),
					   .to = (uint64_t)(v.s - in->report) + v.n };
	struct jslice state = jslice_get(v, "status");
	size_t n, n_word;
	auto_free char *name = jslice_text(jslice_get(v, "name"), &n);
	auto_free char *word = jslice_text(state, &n_word);
	enum test_status s;

	if (!name || !n || !word)
		testlog_incomplete(out, "the report's entry %zu has no name or no status", at);
	else if (!testlog_word(words, ARRAY_SIZE(words), word, n_word, &s))
		testlog_incomplete(out, "the report's entry %zu has status \"%.40s\"", at, word);
	else
		testlog_merge(in, out, name, n, s, &span);
}

int testlog_read_pro(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct jslice root, list, v;
	struct jslice_walk w;
	struct err local;

	(void)err;
	if (!in->report) {
		testlog_incomplete(out, "no report file");
		return 0;
	}
	if (jslice_parse("report", in->report, in->report_len, &root, &local) < 0) {
		testlog_incomplete(out, "%s", local.text);
		return 0;
	}
	list = jslice_get(root, "tests");
	if (jslice_kind(list) != '[') {
		testlog_incomplete(out, "the report has no list \"tests\"");
		return 0;
	}
	w = jslice_walk(list);
	for (size_t at = 1; !testlog_full(out) && jslice_member(&w, NULL, &v); at++)
		add_test(in, v, at, out);
	if (!out->n)
		testlog_incomplete(out, "the report lists no test");
	return 0;
}
