/* What the readers share: lines without terminal dressing, adding with the root taken off, one
 * function per reader. */
#ifndef VERIFIER_TESTLOG_INTERNAL_H
#define VERIFIER_TESTLOG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "verifier/testlog.h"

#define TESTLOG_LINE_MAX (64u << 10) /* bytes of one line that are looked at */

/* Walk over a log line by line. Start with {.log, .len}; release text with buf_done(). */
struct testlog_lines {
	const char *log; /* borrowed */
	size_t len, at;
	struct buf text; /* the present line, clean */
};

#define TESTLOG_LINES(bytes, count)                                                                \
	{                                                                                          \
		.log = (bytes), .len = (count), .text = BUF_INIT(1u << 17)                         \
	}

/* One line: escape sequences (ECMA-48) and carriage returns are gone, NUL is "?". */
struct testlog_line {
	const char *s; /* borrowed until the next line; NUL-terminated */
	size_t n;
	uint64_t from, to; /* span in the log, without the newline */
};

/* Next line; false at the end. A last line without newline counts. */
bool testlog_next(struct testlog_lines *it, struct testlog_line *ret);

/* testlog_add() of testlog_name(). */
void testlog_put(const struct testlog_input *in, struct test_results *out, const char *name,
		 size_t n, enum test_status s, const struct testlog_line *line);

/* As testlog_put() for runners whose ids are unique: a repeated name keeps the worse status. */
void testlog_merge(const struct testlog_input *in, struct test_results *out, const char *name,
		   size_t n, enum test_status s, const struct testlog_line *line);

/* Mark incomplete; the first reason stays. */
void testlog_incomplete(struct test_results *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Is there no room for another result? Then the results are marked incomplete. */
bool testlog_full(struct test_results *r);

/* Does the line begin with @prefix? */
bool testlog_starts(const struct testlog_line *line, const char *prefix);

/* A word that a runner prints for a status. */
struct testlog_word {
	const char *text;
	enum test_status status;
};

/* Are the @n bytes at @s one of @rows? Then its status in *ret. */
bool testlog_word(const struct testlog_word *rows, size_t n_rows, const char *s, size_t n,
		  enum test_status *ret);

/* "exit-code": one result of that name, passed when the command ended with 0. */
int testlog_read_exit(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "tap": TAP 12 to 14; see testlog_tap.c for ids. */
int testlog_read_tap(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "junit-xml": the report file, or XML in the output; see testlog_junit.c for ids. */
int testlog_read_junit(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "pytest": see testlog_pytest.c for which lines count. */
int testlog_read_pytest(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "node-test": node --test with the spec or tap reporter. */
int testlog_read_node(const struct testlog_input *in, struct test_results *out, struct err *err);

/* "unittest": python -m unittest -v and Django's runner; see testlog_unittest.c for ids. */
int testlog_read_unittest(const struct testlog_input *in, struct test_results *out,
			  struct err *err);

/* "sympy": bin/test --verbose; see testlog_sympy.c for ids. */
int testlog_read_sympy(const struct testlog_input *in, struct test_results *out, struct err *err);

/* The TAP grammar for both TAP readers. @titles: "# text" lines of tape become part of ids. */
void testlog_tap_parse(const struct testlog_input *in, bool titles, struct test_results *out);

#endif
