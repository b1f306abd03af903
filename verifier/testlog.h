/* Test-output readers as rows: text in, results out. The output is hostile. */
#ifndef VERIFIER_TESTLOG_H
#define VERIFIER_TESTLOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum test_status { TEST_PASSED, TEST_FAILED, TEST_ERROR, TEST_SKIPPED, TEST_XFAIL, TEST_XPASS,
		   TEST_MISSING };

/* "passed", "failed", ... as verdict.json has it. */
const char *test_status_name(enum test_status s);

struct test_result {
	char *name;
	enum test_status status;
	uint64_t from, to; /* byte span in the log */
};

struct test_results {
	struct test_result *v; /* owned, in order of appearance */
	size_t n, cap;
	bool incomplete;  /* plan not met, summary missing, cut off */
	char *note;	  /* owned: why incomplete, NULL otherwise */
};

/* What a reader is given. */
struct testlog_input {
	const char *log;    /* stdout and stderr of the test command, interleaved */
	size_t log_len;
	const char *report; /* contents of the report file, NULL when none */
	size_t report_len;
	int exit_status;    /* of the command; 128 + signal when killed */
	const char *root;   /* workdir: stripped from ids */
};

struct testlog_reader {
	const char *name;
	int (*read)(const struct testlog_input *in, struct test_results *out, struct err *err);
	const char *doc;
};

/* Rows, ended by a NULL name. */
extern const struct testlog_reader testlog_readers[];

/* Row by name; NULL when there is none. */
const struct testlog_reader *testlog_find(const char *name);

/* Add one result (copies @name); a repeated name gets " #2", " #3". */
void testlog_add(struct test_results *r, const char *name, size_t n, enum test_status s,
		 uint64_t from, uint64_t to);

/* Free. {0} is fine. */
void testlog_done(struct test_results *r);

#endif
