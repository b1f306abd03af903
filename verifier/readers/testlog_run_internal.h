/* For readers whose logs may hold several runs of the runner (packages of one repository tested one
 * after the other), and whose runner may write JSON documents instead. Each run is held against its
 * own summary. A test that two runs name keeps the worse status, so that a run which the code under
 * test printed by itself can take passes away but not add any to what the real one says. */
#ifndef VERIFIER_READERS_TESTLOG_RUN_INTERNAL_H
#define VERIFIER_READERS_TESTLOG_RUN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jslice.h"
#include "verifier/readers/testlog_internal.h"

#define TESTLOG_DOCS_MAX   64 /* JSON documents of one log */
#define TESTLOG_BROKEN_MAX 8  /* of them, those that may be broken: each is looked at to the end */

/* One run: what it named so far. {0} is empty. */
struct testlog_run {
	struct test_results r;    /* owned */
	uint64_t n[TEST_MISSING]; /* results by status, as first named */
};

/* Add a result to the run; as testlog_put(). */
void testlog_run_put(const struct testlog_input *in, struct testlog_run *run, const char *name,
		     size_t n, enum test_status s, const struct testlog_line *line);

/* The run is over: its results go to @out, and it is empty again. */
void testlog_run_end(struct testlog_run *run, struct test_results *out);

/* Sums over the summaries that the console shows. */
struct testlog_sums {
	uint64_t summaries, failed, total;
};

/* Hold results of JSON documents against the summaries, if there are any. */
void testlog_sums_check(const struct testlog_sums *console, const struct testlog_sums *docs,
			struct test_results *out);

/* The end of a reader of both: @out has what the documents say when there were @any, otherwise it gets
 * what the console has @shown (empty afterwards). The command's status has to fit. */
void testlog_run_finish(const struct testlog_input *in, bool any,
			const struct testlog_sums *console, const struct testlog_sums *docs,
			struct test_results *shown, struct test_results *out);

/* Walk over documents: the report file, or those on the output that begin with "{" and one of the
 * keys. Start with {.in, .first}. */
struct testlog_docs {
	const struct testlog_input *in;
	const char *const *first; /* keys with their quotes, ended by NULL */
	size_t at;
	unsigned tried, broken;
	bool end;
};

/* The next whole document, false when there is none. One that is cut off or no JSON marks @out
 * incomplete. */
bool testlog_docs_next(struct testlog_docs *d, struct test_results *out, struct jslice *ret);

/* The whole number under @key of @obj; false when there is none. */
bool testlog_docs_u64(struct jslice obj, const char *key, uint64_t *ret);

/* Length of the title [@s, @n) without the times that a reporter may have put behind it: with @brackets
 * " (12ms)", " (12 ms)", " (1.2 s)", otherwise " 12ms". All that stand there are cut, so that the
 * length is the same whether the reporter added one or not. */
size_t testlog_run_cut_times(const char *s, size_t n, bool brackets);

#endif
