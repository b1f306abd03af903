/* Two XML dialects of their own: Catch2's reporter "xml" (versions 2 and 3), and libcheck's.
 *
 * Catch2. Ids: the names of test cases; sections belong to their case. "success" decides: a case with
 * [!mayfail] or [!shouldfail] that failed has it. From the report, or from the output, where each
 * document begins with "<?xml". Complete means: well formed to the end of the root, the numbers of
 * cases agree with OverallResultsCases, and status 0 unless one failed. So text that a test wrote into
 * the document shows.
 *
 * As for all XML here: no document type (so no entities), a limit of depth, bytes that XML forbids are
 * replaced first. */
#include "verifier/readers/testlog_xmlrun_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define DEPTH_MAX 64

struct xml {
	const struct testlog_input *in;
	struct test_results *out;
	XML_Parser parser;
	unsigned depth, case_depth; /* case_depth 0 = outside a test case */
	bool closed;                /* the root */
	uint64_t base, from;
	const char *stop; /* why we ended the parser */

	char *id; /* owned: Catch2's name */
	bool decided;
	enum test_status status;
	uint64_t seen[3], told[3]; /* passed, failed, skipped */
	bool told_any;

	struct buf text; /* libcheck: of the element that is open */
	char *field[3];  /* owned: tcase, test, iteration */
};

static uint64_t number(const char **atts, const char *name)
{
	const char *s = testlog_xml_attr((const char *const *)atts, name);
	uint64_t v = 0;

	if (s)
		testlog_digits(s, &v);
	return v;
}

static void stop(struct xml *x, const char *why)
{
	if (!x->stop)
		x->stop = why;
	XML_StopParser(x->parser, XML_FALSE);
}

static void XMLCALL on_doctype(void *arg, const char *name, const char *sysid, const char *pubid,
			       int has_internal)
{
	(void)name, (void)sysid, (void)pubid, (void)has_internal; /* any is refused */
	stop(arg, "a document type declaration, which no runner writes");
}

/* What both dialects do at a start tag. Returns whether the element is to be looked at. */
static bool enter(struct xml *x, const char *name, const char *const *roots)
{
	if (++x->depth > DEPTH_MAX) {
		stop(x, "elements nested too deep");
		return false;
	}
	if (x->depth > 1)
		return true;
	for (; *roots; roots++)
		if (strcmp(name, *roots) == 0)
			return false;
	stop(x, "the root element is another one");
	return false;
}

static void leave(struct xml *x)
{
	if (--x->depth == 0) {
		x->closed = true;
		XML_StopParser(x->parser, XML_FALSE);
	}
}

static struct testlog_line span(struct xml *x)
{
	return (struct testlog_line){ .from = x->base + x->from,
				      .to = x->base + (uint64_t)XML_GetCurrentByteIndex(x->parser) +
					    (uint64_t)XML_GetCurrentByteCount(x->parser) };
}

static void XMLCALL catch_start(void *arg, const char *name, const char **atts)
{
	static const char *const roots[] = { "Catch", "Catch2TestRun", NULL };
	struct xml *x = arg;
	const char *s;

	if (!enter(x, name, roots))
		return;
	if (!x->case_depth && strcmp(name, "TestCase") == 0) {
		if (testlog_full(x->out)) {
			stop(x, "too many tests");
			return;
		}
		s = testlog_xml_attr((const char *const *)atts, "name");
		free(x->id);
		x->id = mem_strdup(s ? s : "");
		x->case_depth = x->depth;
		x->decided = false;
		x->from = (uint64_t)XML_GetCurrentByteIndex(x->parser);
	} else if (x->case_depth && x->depth == x->case_depth + 1 &&
		   strcmp(name, "OverallResult") == 0) {
		s = testlog_xml_attr((const char *const *)atts, "success");
		if (!str_eq(s, "true"))
			x->status = TEST_FAILED;
		else if (!x->decided)
			x->status = number(atts, "skips") ? TEST_SKIPPED : TEST_PASSED;
		x->decided = true;
	} else if (x->depth == 2 && strcmp(name, "OverallResultsCases") == 0) {
		x->told[0] = number(atts, "successes") + number(atts, "expectedFailures");
		x->told[1] = number(atts, "failures");
		x->told[2] = number(atts, "skips");
		x->told_any = true;
	}
}

static void XMLCALL catch_end(void *arg, const char *name)
{
	struct xml *x = arg;

	(void)name; /* expat has checked that it fits */
	if (x->case_depth == x->depth) {
		enum test_status s = x->decided ? x->status : TEST_ERROR;
		struct testlog_line at = span(x);

		testlog_merge(x->in, x->out, x->id, strlen(x->id), s, &at);
		x->seen[s == TEST_PASSED ? 0 : s == TEST_SKIPPED ? 2 : 1]++;
		x->case_depth = 0;
	}
	leave(x);
}

static const struct testlog_word results[] = {
	/* clang-format off */
	{ "success", TEST_PASSED },
	{ "failure", TEST_FAILED },
	{ "error",   TEST_ERROR },
	/* clang-format on */
};

static void XMLCALL check_start(void *arg, const char *name, const char **atts)
{
	static const char *const roots[] = { "testsuites", NULL };
	struct xml *x = arg;
	const char *s;

	buf_clear(&x->text);
	if (!enter(x, name, roots) || x->case_depth || strcmp(name, "test") != 0)
		return;
	if (testlog_full(x->out)) {
		stop(x, "too many tests");
		return;
	}
	s = testlog_xml_attr((const char *const *)atts, "result");
	x->status = TEST_ERROR;
	if (s)
		testlog_word(results, ARRAY_SIZE(results), s, strlen(s), &x->status);
	x->case_depth = x->depth;
	x->from = (uint64_t)XML_GetCurrentByteIndex(x->parser);
}

static void XMLCALL check_text(void *arg, const char *s, int n)
{
	struct xml *x = arg;

	buf_add(&x->text, s, (size_t)n);
}

static void XMLCALL check_end(void *arg, const char *name)
{
	static const char *const fields[] = { "description", "id", "iteration" };
	struct xml *x = arg;

	for (size_t i = 0; x->case_depth && i < ARRAY_SIZE(fields); i++)
		if (x->depth == x->case_depth + 1 && strcmp(name, fields[i]) == 0) {
			free(x->field[i]);
			x->field[i] = mem_strdup(buf_str(&x->text));
		}
	if (x->case_depth == x->depth) {
		struct testlog_line at = span(x);
		const char *i = x->field[2];
		auto_free char *id =
			mem_printf("%s:%s%s%s", x->field[0] ? x->field[0] : "",
				   x->field[1] ? x->field[1] : "", !i || str_eq(i, "0") ? "" : ":",
				   !i || str_eq(i, "0") ? "" : i);

		testlog_put(x->in, x->out, id, strlen(id), x->status, &at);
		x->case_depth = 0;
		for (size_t k = 0; k < ARRAY_SIZE(x->field); k++)
			free(take_ptr(&x->field[k]));
	}
	leave(x);
}

/* One document of @n clean bytes. Returns whether its root ended. */
static bool parse(struct xml *x, const char *clean, size_t n, bool check)
{
	XML_Parser p = XML_ParserCreate("UTF-8");

	ensure(p, "expat gave no parser");
	ensure(n <= INT32_MAX, "the caller caps logs and reports");
	x->parser = p;
	x->depth = x->case_depth = 0;
	x->closed = false;
	XML_SetUserData(p, x);
	XML_SetElementHandler(p, check ? check_start : catch_start, check ? check_end : catch_end);
	if (check)
		XML_SetCharacterDataHandler(p, check_text);
	XML_SetStartDoctypeDeclHandler(p, on_doctype);
	XML_SetParamEntityParsing(p, XML_PARAM_ENTITY_PARSING_NEVER);
	testlog_xml_feed(p, clean, n);
	if (x->stop)
		testlog_incomplete(x->out, "the XML was not read: %s (line %lu)", x->stop,
				   XML_GetCurrentLineNumber(p));
	else if (!x->closed)
		testlog_incomplete(x->out, "the XML is broken at line %lu: %s",
				   XML_GetCurrentLineNumber(p),
				   XML_ErrorString(XML_GetErrorCode(p)));
	XML_ParserFree(p);
	return x->closed && !x->stop;
}

static void done(struct xml *x)
{
	free(x->id);
	buf_done(&x->text);
	for (size_t i = 0; i < ARRAY_SIZE(x->field); i++)
		free(x->field[i]);
}

void testlog_xmlrun_check(const struct testlog_input *in, struct test_results *out)
{
	struct xml x = { .in = in, .out = out, .text = BUF_INIT(TESTLOG_NAME_MAX) };
	auto_free char *clean = testlog_junit_clean(in->report, in->report_len);

	if (parse(&x, clean, in->report_len, true) && !out->n)
		testlog_incomplete(out, "the XML holds no test");
	testlog_run_exit(in, out);
	done(&x);
}

static void agree(struct xml *x)
{
	if (!x->told_any)
		testlog_incomplete(x->out, "the XML has no OverallResultsCases");
	else if (memcmp(x->seen, x->told, sizeof(x->seen)) != 0)
		testlog_incomplete(
			x->out,
			"OverallResultsCases: %llu passed, %llu failed; the cases: %llu, %llu",
			(unsigned long long)x->told[0], (unsigned long long)x->told[1],
			(unsigned long long)x->seen[0], (unsigned long long)x->seen[1]);
	memset(x->seen, 0, sizeof(x->seen));
	x->told_any = false;
}

int testlog_read_catch2(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char head[] = "<?xml ";
	struct xml x = { .in = in, .out = out };
	const char *s = in->report ? in->report : in->log;
	size_t n = in->report ? in->report_len : in->log_len, k = sizeof(head) - 1;
	auto_free char *clean = testlog_junit_clean(s, n);
	const char *at = memmem(clean, n, head, k), *end = clean + n;
	bool good = true, any = at != NULL;

	(void)err; /* anything is a report; what is wrong with it is in the note */
	while (at && good) {
		const char *next = memmem(at + k, (size_t)(end - at) - k, head, k);

		x.base = (uint64_t)(at - clean);
		good = parse(&x, at, (size_t)((next ? next : end) - at), false);
		if (good)
			agree(&x);
		at = next;
	}
	if (!any)
		testlog_incomplete(out, "no XML of Catch2: run with \"-r xml\"");
	testlog_run_exit(in, out);
	done(&x);
	return 0;
}
