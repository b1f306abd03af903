/* JUnit XML as pytest, node, surefire, gradle, CTest, meson, nextest, jest, PHPUnit and bats write it.
 *
 * Ids: classname + "::" + name, or the name alone when there is no classname. When the testcase has
 * a "file" that ends in ".py" and classname is that file as a dotted path, perhaps with classes
 * behind (pytest's xunit1 family), the id is pytest's node id: file::Class::name.
 *
 * Comes from the report file, which may be several documents one behind the other (the files of a
 * directory, joined). Without one, from the output: documents are looked for at starts of lines, each
 * is read to its end, so that what a document quotes is none, and the last one counts.
 *
 * The file is hostile: no DTD (so no entities at all), a depth limit, bytes that XML forbids are
 * replaced before the parser sees them.
 *
 * Complete means: well formed to the end of the root element, at least one test, and no suite holds
 * more tests than its header says, nor fewer failures (fewer tests and more failures are usual:
 * pytest counts a test twice, CTest leaves out what could not be run). A failure of the command must
 * show: meson writes a test that timed out, or passed unexpectedly, like one that passed, so a status
 * other than 0 needs a failed test, and statuses of a kill (124, 134, 137, 139, 143) are none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/readers/testlog_xmlrun_internal.h"

#define JUNIT_DEPTH_MAX 64
#define JUNIT_PIECE     1024u /* bytes that expat is given first */

/* What the header of an open suite promises, and what came so far, inner suites included. */
struct suite {
	bool open, has_tests;
	uint64_t tests, failures; /* promised: "tests", "failures" + "errors" */
	uint64_t seen, failed;
};

struct junit {
	const struct testlog_input *in;
	struct test_results *out;
	XML_Parser parser;          /* owned by the caller of XML_Parse() */
	unsigned depth, case_depth; /* case_depth 0 = outside a testcase */
	bool root_closed;
	struct suite suites[JUNIT_DEPTH_MAX + 1]; /* open ones, by depth */
	uint64_t base;                            /* offset of the XML in the log or report */
	uint64_t end; /* behind the document, or where it broke; from base */
	char *id;     /* owned */
	enum test_status status;
	uint64_t from;
	bool todo;
	char *stop; /* owned: why we ended the parser */
};

/* What a child or a status of a testcase says; the first column is the element or attribute value. */
struct meaning {
	const char *name;
	enum test_status status;
};

/* clang-format off */
static const struct meaning children[] = {
	{ "failure", TEST_FAILED },
	{ "error",   TEST_ERROR },
	{ "warning", TEST_FAILED }, /* PHPUnit up to 9: a failure on its console */
	/* rerunFailure, rerunError, flakyFailure, flakyError: attempts before the last one, which
	 * shows by a failure or error of its own; so they say nothing. */
};

/* "status" or "result" of a testcase: CTest, googletest, some meson versions. */
static const struct meaning states[] = {
	{ "fail",     TEST_FAILED },
	{ "failed",   TEST_FAILED },
	{ "error",    TEST_ERROR },
	{ "timeout",  TEST_FAILED },
	{ "notrun",   TEST_ERROR },   /* CTest: executable missing, a failure on its console */
	{ "disabled", TEST_SKIPPED },
	{ "skipped",  TEST_SKIPPED },
	{ "suppressed", TEST_SKIPPED },
};
/* clang-format on */

const char *testlog_xml_attr(const char *const *atts, const char *name)
{
	for (size_t i = 0; atts[i]; i += 2)
		if (strcmp(atts[i], name) == 0)
			return atts[i + 1];
	return NULL;
}

static const struct meaning *meaning(const struct meaning *rows, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* pytest's node id of file + classname + name, NULL when the two do not belong together. */
static char *node_id(const char *file, const char *classname, const char *name)
{
	auto_buf b = BUF_INIT(4 * TESTLOG_NAME_MAX);
	size_t n = file ? strlen(file) : 0;

	if (n < 4 || n > TESTLOG_NAME_MAX || strcmp(file + n - 3, ".py") != 0)
		return NULL;
	for (size_t i = 0; i < n - 3; i++)
		if (classname[i] != (file[i] == '/' ? '.' : file[i]))
			return NULL;
	classname += n - 3;
	if (*classname && *classname != '.')
		return NULL;
	buf_adds(&b, file);
	for (; *classname; classname++)
		if (*classname == '.')
			buf_adds(&b, "::");
		else
			buf_addc(&b, *classname);
	buf_adds(&b, "::");
	buf_adds(&b, name);
	return buf_steal(&b, NULL);
}

static void on_case(struct junit *j, const char *const *atts)
{
	const char *name = testlog_xml_attr(atts, "name"),
		   *classname = testlog_xml_attr(atts, "classname");
	const struct meaning *m;

	name = name ? name : "";
	classname = classname ? classname : "";
	m = meaning(states, ARRAY_SIZE(states), testlog_xml_attr(atts, "status"));
	if (!m)
		m = meaning(states, ARRAY_SIZE(states), testlog_xml_attr(atts, "result"));
	free(j->id);
	j->id = node_id(testlog_xml_attr(atts, "file"), classname, name);
	if (!j->id)
		j->id = *classname ? mem_printf("%s::%s", classname, name) : mem_strdup(name);
	j->status = m ? m->status : TEST_PASSED;
	j->todo = false;
	j->case_depth = j->depth;
	j->from = j->base + (uint64_t)XML_GetCurrentByteIndex(j->parser);
}

/* A failure beats what came before; "todo" beats a failure (node writes both). */
static void on_child(struct junit *j, const char *name, const char *const *atts)
{
	const struct meaning *m = meaning(children, ARRAY_SIZE(children), name);
	const char *type = testlog_xml_attr(atts, "type");

	if (m) {
		if (!j->todo && j->status != TEST_ERROR)
			j->status = m->status;
		else if (j->todo)
			j->status = TEST_XFAIL;
		return;
	}
	if (strcmp(name, "skipped") != 0)
		return;
	if (str_eq(type, "pytest.xfail")) {
		j->status = TEST_XFAIL;
	} else if (str_eq(type, "todo")) {
		j->todo = true;
		j->status = j->status == TEST_FAILED || j->status == TEST_ERROR ? TEST_XFAIL
										: TEST_XPASS;
	} else if (j->status == TEST_PASSED) {
		j->status = TEST_SKIPPED;
	}
}

static void stop(struct junit *j, const char *why)
{
	if (!j->stop)
		j->stop = mem_strdup(why);
	XML_StopParser(j->parser, XML_FALSE);
}

/* A number of a header. */
static uint64_t number(const char *const *atts, const char *name, bool *ret_there)
{
	const char *s = testlog_xml_attr(atts, name);
	uint64_t v = 0;

	*ret_there = s && *s && testlog_digits(s, &v) == strlen(s);
	return *ret_there ? v : 0;
}

static void open_suite(struct junit *j, const char *const *atts)
{
	bool there;
	struct suite *s = &j->suites[j->depth];

	*s = (struct suite){ .open = true, .tests = number(atts, "tests", &there) };
	s->has_tests = there;
	s->failures = number(atts, "failures", &there);
	s->failures += number(atts, "errors", &there);
}

/* The innermost open suite above the present element, NULL when there is none. */
static struct suite *enclosing(struct junit *j)
{
	for (unsigned d = j->depth; d--;)
		if (j->suites[d].open)
			return &j->suites[d];
	return NULL;
}

static void close_suite(struct junit *j)
{
	struct suite *s = &j->suites[j->depth], *outer = enclosing(j);

	if (!s->open)
		return;
	if (s->has_tests && s->seen > s->tests)
		testlog_incomplete(j->out, "a suite holds %llu tests, but its header says %llu",
				   (unsigned long long)s->seen, (unsigned long long)s->tests);
	else if (s->failed < s->failures)
		testlog_incomplete(j->out, "a suite holds %llu failures, but its header says %llu",
				   (unsigned long long)s->failed, (unsigned long long)s->failures);
	s->open = false;
	if (outer) {
		outer->seen += s->seen;
		outer->failed += s->failed;
	}
}

/* A testcase ended: it counts in its suite. */
static void count_case(struct junit *j)
{
	struct suite *s = enclosing(j);

	if (!s)
		return;
	s->seen++;
	s->failed += j->status != TEST_PASSED && j->status != TEST_SKIPPED;
}

static void XMLCALL on_start(void *arg, const char *name, const char **atts)
{
	struct junit *j = arg;
	bool suite = strcmp(name, "testsuite") == 0 || strcmp(name, "testsuites") == 0;

	if (++j->depth > JUNIT_DEPTH_MAX) {
		stop(j, "elements nested too deep");
	} else if (j->depth == 1 && !suite) {
		stop(j, "the root element is neither testsuites nor testsuite");
	} else if (suite && !j->case_depth) {
		open_suite(j, (const char *const *)atts);
	} else if (!j->case_depth && strcmp(name, "testcase") == 0) {
		if (testlog_full(j->out))
			stop(j, "too many tests");
		else
			on_case(j, (const char *const *)atts);
	} else if (j->case_depth && j->depth == j->case_depth + 1) {
		on_child(j, name, (const char *const *)atts);
	}
}

static void XMLCALL on_end(void *arg, const char *name)
{
	struct junit *j = arg;
	struct testlog_line span;

	(void)name; /* expat has checked that it fits */
	if (j->case_depth == j->depth) {
		span = (struct testlog_line){
			.from = j->from,
			.to = j->base + (uint64_t)XML_GetCurrentByteIndex(j->parser) +
			      (uint64_t)XML_GetCurrentByteCount(j->parser),
		};
		testlog_put(j->in, j->out, j->id, strlen(j->id), j->status, &span);
		count_case(j);
		j->case_depth = 0;
	} else if (!j->case_depth) {
		close_suite(j);
	}
	if (--j->depth == 0) {
		/* What follows the root is another document, or the rest of a log. */
		j->root_closed = true;
		j->end = (uint64_t)XML_GetCurrentByteIndex(j->parser) +
			 (uint64_t)XML_GetCurrentByteCount(j->parser);
		XML_StopParser(j->parser, XML_FALSE);
	}
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *sysid, const char *pubid,
			       int has_internal)
{
	(void)name, (void)sysid, (void)pubid, (void)has_internal; /* any DTD is refused */
	stop(arg, "a document type declaration, which no runner writes");
}

/* Length of the UTF-8 sequence at @s that XML 1.0 allows (section 2.2), 0 when it is none. */
static size_t xml_char(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (len == 1)
		return s[0] >= 0x20 || s[0] == '\t' || s[0] == '\n' || s[0] == '\r';
	if (len > n || !str_utf8((const char *)s, len, NULL))
		return 0;
	/* U+FFFE and U+FFFF */
	if (len == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe)
		return 0;
	return len;
}

/* XML 1.0 section 2.2, production Char. */
static bool xml_allows(uint64_t v)
{
	return v == 9 || v == 10 || v == 13 || (v >= 0x20 && v < 0xd800) ||
	       (v >= 0xe000 && v < 0xfffe) || (v >= 0x10000 && v < 0x110000);
}

static unsigned digit(char c)
{
	char low = (char)(c | 0x20);

	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return low >= 'a' && low <= 'f' ? (unsigned)(low - 'a') + 10 : 99;
}

/* Does "&#...;" at @s name a character that XML forbids? Then its length. */
static size_t bad_reference(const char *s, size_t n)
{
	unsigned base = n > 2 && s[2] == 'x' ? 16 : 10;
	size_t i = base == 16 ? 3 : 2;
	uint64_t v = 0;

	if (n < 4 || s[0] != '&' || s[1] != '#')
		return 0;
	for (; i < n && i < 12 && s[i] != ';'; i++) {
		if (digit(s[i]) >= base)
			return 0;
		v = v * base + digit(s[i]);
	}
	return i < n && s[i] == ';' && !xml_allows(v) ? i + 1 : 0;
}

char *testlog_junit_clean(const char *s, size_t n)
{
	char *out = mem_dup(s, n);
	size_t i = 0;

	while (i < n) {
		size_t len = xml_char((const unsigned char *)s + i, n - i);
		size_t ref = s[i] == '&' ? bad_reference(s + i, n - i) : 0;

		if (ref)
			memset(out + i, '?', ref);
		else if (!len)
			out[i] = '?';
		i += ref ? ref : len ? len : 1;
	}
	return out;
}

/* The next place in [@at, @n) of the log where a document can begin: at the start of a line. @n when
 * there is none. */
static size_t find_xml(const char *log, size_t n, size_t at)
{
	static const char *const heads[] = { "<?xml ", "<testsuite" };

	while (at < n) {
		const char *angle = memchr(log + at, '<', n - at);
		size_t from = angle ? (size_t)(angle - log) : n, line = from;

		while (line && (log[line - 1] == ' ' || log[line - 1] == '\t'))
			line--;
		at = from + 1;
		if (from == n || (line && log[line - 1] != '\n' && log[line - 1] != '\r'))
			continue;
		for (size_t h = 0; h < ARRAY_SIZE(heads); h++)
			if (n - from >= strlen(heads[h]) &&
			    memcmp(log + from, heads[h], strlen(heads[h])) == 0)
				return from;
	}
	return n;
}

void testlog_xml_feed(XML_Parser p, const char *s, size_t n)
{
	size_t piece = JUNIT_PIECE, at = 0, k;

	do {
		k = n - at < piece ? n - at : piece;
		at += k;
		piece *= 2;
	} while (XML_Parse(p, s + at - k, (int)k, at == n) == XML_STATUS_OK && at < n);
}

/* Read the document at the start of [@xml, @n), which is @n clean bytes. Returns whether its root ended;
 * j->end is behind it, or where it broke. */
static bool parse(struct junit *j, const char *clean, size_t n)
{
	XML_Parser p = XML_ParserCreate("UTF-8");

	ensure(p, "expat gave no parser");
	ensure(n <= INT32_MAX, "the caller caps logs and reports");
	j->parser = p;
	j->root_closed = false;
	j->depth = j->case_depth = 0;
	memset(j->suites, 0, sizeof(j->suites));
	XML_SetUserData(p, j);
	XML_SetElementHandler(p, on_start, on_end);
	XML_SetStartDoctypeDeclHandler(p, on_doctype);
	XML_SetParamEntityParsing(p, XML_PARAM_ENTITY_PARSING_NEVER);
	testlog_xml_feed(p, clean, n);
	if (j->stop)
		testlog_incomplete(j->out, "the JUnit XML was not read: %s (line %lu)", j->stop,
				   XML_GetCurrentLineNumber(p));
	else if (!j->root_closed)
		testlog_incomplete(j->out, "the JUnit XML is broken at line %lu: %s",
				   XML_GetCurrentLineNumber(p),
				   XML_ErrorString(XML_GetErrorCode(p)));
	if (!j->root_closed) {
		XML_Index at = XML_GetCurrentByteIndex(p);

		/* A token that does not end was looked for to the end of the text. */
		j->end = XML_GetErrorCode(p) == XML_ERROR_UNCLOSED_TOKEN ? n
			 : at > 0                                        ? (uint64_t)at
									 : 0;
	}
	free(take_ptr(&j->stop));
	free(take_ptr(&j->id));
	XML_ParserFree(p);
	return j->root_closed;
}

/* All documents of the report. */
static void read_report(struct junit *j)
{
	size_t n = j->in->report_len, at = 0;
	auto_free char *clean = testlog_junit_clean(j->in->report, n);

	do {
		j->base = at;
		if (!parse(j, clean + at, n - at))
			return;
		at += j->end;
		/* a byte order mark may begin the next file */
		while (at < n && (strchr(" \t\r\n", clean[at]) ||
				  (n - at >= 3 && memcmp(clean + at, "\xef\xbb\xbf", 3) == 0)))
			at += strchr(" \t\r\n", clean[at]) ? 1 : 3;
	} while (at < n);
	if (!j->out->n)
		testlog_incomplete(j->out, "the JUnit XML holds no test");
}

/* The last document of the output. */
static void read_log(struct junit *j)
{
	struct test_results *out = j->out, last = { 0 };
	size_t n = j->in->log_len, at = find_xml(j->in->log, n, 0);
	auto_free char *clean = testlog_junit_clean(j->in->log, n);
	bool any = at < n;

	while (at < n) {
		testlog_done(&last);
		j->out = &last;
		j->base = at;
		if (parse(j, clean + at, n - at) && !last.n)
			testlog_incomplete(&last, "the JUnit XML holds no test");
		at = find_xml(j->in->log, n, at + (j->end ? j->end : 1));
	}
	j->out = out;
	*out = last;
	if (!any)
		testlog_incomplete(
			out, "no JUnit XML: the report file is missing and the output has none");
}

/* Does the command's status fit? */
static void judge(const struct testlog_input *in, struct test_results *out)
{
	static const int kills[] = { 124, 134, 137, 139, 143 };
	int failed = 0;

	for (size_t i = 0; i < out->n; i++)
		failed += out->v[i].status == TEST_FAILED || out->v[i].status == TEST_ERROR;
	for (size_t i = 0; i < ARRAY_SIZE(kills); i++)
		if (in->exit_status == kills[i] && failed != kills[i])
			testlog_incomplete(out, "the command was killed (status %d)", kills[i]);
	if (in->exit_status && !failed)
		testlog_incomplete(out, "exit status %d, but no failure is in the JUnit XML",
				   in->exit_status);
}

int testlog_read_junit(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct junit j = { .in = in, .out = out };

	(void)err; /* anything is a report; what is wrong with it is in the note */
	if (in->report)
		read_report(&j);
	else
		read_log(&j);
	judge(in, out);
	return 0;
}
