/* The form in which results of a test-output reader are kept beside its fixtures
 * (tests/readers/RUNNER/CASE.expect): a head, then one line "STATUS<tab>NAME" per result in order of
 * appearance, with newline, tab, backslash, other control bytes and what is not UTF-8 in a name
 * written as in C. Not for use outside tests/. */
#ifndef TESTS_LIB_READLOG_H
#define TESTS_LIB_READLOG_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "verifier/testlog.h"

#define READLOG_MAX (64u << 20) /* bytes of one log, report or list of results */

/* Append @name with its control bytes escaped. */
static inline void readlog_name(const char *name, struct buf *out)
{
	static const char *const short_forms[] = {
		['\n'] = "\\n", ['\t'] = "\\t", ['\\'] = "\\\\"
	};

	for (const unsigned char *s = (const unsigned char *)name; *s; s++) {
		const char *form =
			*s < sizeof(short_forms) / sizeof(short_forms[0]) ? short_forms[*s] : NULL;
		size_t n = *s < 0xc0 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4; /* of a character */

		if (strnlen((const char *)s, n) < n || !str_utf8((const char *)s, n, NULL))
			n = 0;
		if (form)
			buf_adds(out, form);
		else if (*s < 0x20 || *s == 0x7f || (*s >= 0x80 && !n))
			buf_addf(out, "\\x%02X", *s);
		else
			buf_add(out, s, n ? n : 1);
		s += n ? n - 1 : 0;
	}
}

/* Read @in with @row and append head and results to @out. Returns 0, or negative with @err set. The
 * reader's note goes to *ret_note when results are incomplete (caller frees, NULL otherwise). */
static inline int readlog_text(const struct testlog_reader *row, const struct testlog_input *in,
			       struct buf *out, char **ret_note, struct err *err)
{
	struct test_results r = { 0 };
	int rc = row->read(in, &r, err);

	*ret_note = NULL;
	if (rc >= 0) {
		buf_addf(out, "reader %s\nexit %d\ncomplete %s\nroot %s\n", row->name,
			 in->exit_status, r.incomplete ? "no" : "yes", in->root ? in->root : "");
		if (in->report)
			buf_adds(out, "report yes\n");
		for (size_t i = 0; i < r.n; i++) {
			buf_addf(out, "%s\t", test_status_name(r.v[i].status));
			readlog_name(r.v[i].name, out);
			buf_addc(out, '\n');
		}
		*ret_note = r.note;
		r.note = NULL;
	}
	testlog_done(&r);
	return rc;
}

#endif
