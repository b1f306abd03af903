/* Test-output readers as rows: text in, results out. The output is hostile. */
#ifndef VERIFIER_TESTLOG_H
#define VERIFIER_TESTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"

/* Hard maxima of what one log may yield; past them the results are incomplete. */
#define TESTLOG_RESULTS_MAX 500000u
#define TESTLOG_NAME_MAX    4096u       /* bytes of one id; a longer one is cut */
#define TESTLOG_NAMES_MAX   (64u << 20) /* bytes of all ids together */

/* How a test came out; which one is worse when a test is reported twice stands in testlog.c. */
enum test_status {
	TEST_PASSED,
	TEST_FAILED,
	TEST_ERROR,
	TEST_SKIPPED,
	TEST_XFAIL,
	TEST_XPASS,
	TEST_MISSING
};

/* "passed", "failed", ... as verdict.json has it. */
const char *test_status_name(enum test_status s);

struct test_result {
	char *name;
	enum test_status status;
	uint64_t from, to; /* byte span in the log */
	uint32_t again;    /* how many later results came under the same name */
};

struct test_results {
	struct test_result *v; /* owned, in order of appearance */
	size_t n, cap;
	bool incomplete;  /* plan not met, summary missing, cut off */
	char *note;       /* owned: why incomplete, NULL otherwise */
	struct map index; /* seeded hash of a name -> position + 1 */
	uint64_t seed;    /* drawn at the first result, so that no log can aim at the table */
	size_t bytes;     /* of all names */
};

/* A file of the report directory. */
struct testlog_file {
	const char *name;
	const char *text; /* NULL = not there; may hold NUL bytes, and has one behind it */
	size_t len;
};

#define TESTLOG_FILES_MAX 4 /* that one reader names */

/* What a reader is given. */
struct testlog_input {
	const char *log; /* stdout and stderr of the test command, interleaved */
	size_t log_len;
	const char *report; /* contents of the report file, NULL when none */
	size_t report_len;
	int exit_status;  /* of the command; 128 + signal when killed */
	const char *root; /* workdir: stripped from ids */
	/* Of the task, for the readers of compat.h that need them; may be NULL. */
	const char *instance_id, *version;
	const struct testlog_file
		*files; /* those of the reader's row, same order; NULL when none */
	size_t n_files;
	const char *reward; /* the task's test.reward; NULL = its default */
	unsigned leftovers; /* processes that outlived the command and could have written files */
};

struct testlog_reader {
	const char *name;
	int (*read)(const struct testlog_input *in, struct test_results *out, struct err *err);
	const char *doc;
	/* Names of files that it reads from directory test.report, ended by NULL; NULL = none: then
	 * test.report is a file. */
	const char *const *files;
};

/* Rows, ended by a NULL name. */
extern const struct testlog_reader testlog_readers[];

/* Row by name; NULL when there is none. */
const struct testlog_reader *testlog_find(const char *name);

/* Add one result (copies @name); a repeated name gets " #2", " #3". */
void testlog_add(struct test_results *r, const char *name, size_t n, enum test_status s,
		 uint64_t from, uint64_t to);

/* As testlog_add(), but a repeated name keeps the worse status and gets no number. */
void testlog_add_worse(struct test_results *r, const char *name, size_t n, enum test_status s,
		       uint64_t from, uint64_t to);

/* Result called exactly @name; NULL when there is none. Borrowed until the next add. */
struct test_result *testlog_get(const struct test_results *r, const char *name);

/* The form in which ids are compared: a leading "ROOT/" (the workdir @root) is taken off, any
 * other occurrence of it becomes the token "ROOT/"; NUL bytes become "?"; cut at
 * TESTLOG_NAME_MAX. @root may be NULL. Caller frees. */
char *testlog_name(const char *s, size_t n, const char *root);

/* Free. {0} is fine. */
void testlog_done(struct test_results *r);

#endif
