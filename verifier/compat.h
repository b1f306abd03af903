/* Reading a log as SWE-bench's harness (version 5) does: its log parsers by name, its markers, its
 * rules about a whole log. For tasks whose lists were made by that harness; what it takes for a
 * result is not what a runner reported, so exact verdicts use the readers of testlog.h. See
 * docs/compat-swe-bench.md. */
#ifndef VERIFIER_COMPAT_H
#define VERIFIER_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "verifier/testlog.h"

#define COMPAT_PREFIX "swebench/" /* of our names for its parsers */

/* Rows, ended by a NULL name: "swebench/pytest", ... */
extern const struct testlog_reader compat_readers[];

/* Row by our name ("swebench/pytest"), by the name in a task's "log_parser" ("parse_log_pytest",
 * "pytest"), or NULL. */
const struct testlog_reader *compat_find(const char *name);

/* Row of the parser that the harness' maps give to the repository @repo ("django/django", in any
 * case); NULL when it is in none of them. */
const struct testlog_reader *compat_of_repo(const char *repo);

/* Name of the reader of testlog.h for the same runner; NULL when the parser sees what no runner
 * reports as a test (failures only, files, calls of a build tool). */
const char *compat_exact(const struct testlog_reader *row);

/* Name of the reader that exact verdicts of a task with test.reader @reader (may be NULL) come
 * from: itself, or compat_exact()'s when it is one of ours; itself when there is none. */
const char *compat_plain(const char *reader);

/* What became of a log as a whole. */
struct compat_log {
	bool found;         /* are there results that the harness would count? */
	const char *reason; /* static: why not; NULL when found */
	bool has_exit;      /* is there a marker with the exit status of the test command? */
	int exit_status;
	uint64_t from, to; /* the part of the log that was read */
};

/* What the markers of the log @in say: fills the exit status (@in's when no marker tells it) and
 * the part of @ret, and found and reason when a marker decides. */
void compat_markers(const struct testlog_input *in, struct compat_log *ret);

/* Read the part of @in's log that compat_markers() found with @row, a row of compat_find(); all of
 * it when that gives nothing. "\r\n" and "\r" are ends of lines. Spans are those of the whole log.
 * 0, or what the reader returns. */
int compat_read(const struct testlog_reader *row, const struct testlog_input *in,
		const struct compat_log *log, struct test_results *out, struct err *err);

/* What remains to be said when the results @r are known: found and reason of @ret. */
void compat_judge(const struct testlog_input *in, const struct test_results *r,
		  struct compat_log *ret);

#endif
