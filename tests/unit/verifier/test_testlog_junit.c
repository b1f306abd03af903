/* JUnit XML: dialects of the runners, broken and hostile files. */
#include "tests/unit/verifier/readers.h"

#define HEAD "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
#define SUITE(x)                                                                                   \
	HEAD "<testsuites><testsuite name=\"s\" tests=\"20\">" x "</testsuite></testsuites>"

struct row {
	const char *name, *report, *want;
};

static const struct row rows[] = {
	{ "children",
	  SUITE("<testcase classname=\"m.C\" name=\"ok\" time=\"0.1\"/>"
		"<testcase classname=\"m.C\" name=\"bad\"><failure message=\"x\">text</failure></testcase>"
		"<testcase classname=\"m.C\" name=\"err\"><system-out>o</system-out><error/></testcase>"
		"<testcase classname=\"m.C\" name=\"skip\"><skipped message=\"no\"/></testcase>"
		"<testcase classname=\"m.C\" name=\"xf\"><skipped type=\"pytest.xfail\"/></testcase>"),
	  "m.C::ok=passed\nm.C::bad=failed\nm.C::err=error\nm.C::skip=skipped\nm.C::xf=xfail\n" },
	{ "no classname, nested suites, root testsuite",
	  "<testsuite><testsuite><testcase name=\"a b\"/></testsuite><testcase name=\"c\" classname=\"\"/>"
	  "<properties><property name=\"p\"/></properties></testsuite>",
	  "a b=passed\nc=passed\n" },
	{ "pytest xunit1",
	  SUITE("<testcase classname=\"tests.test_a.TestC\" name=\"t[a b]\" file=\"tests/test_a.py\" line=\"3\"/>"
		"<testcase classname=\"tests.test_a\" name=\"u\" file=\"tests/test_a.py\"/>"
		"<testcase classname=\"tests.test_ab\" name=\"v\" file=\"tests/test_a.py\"/>"
		"<testcase classname=\"other\" name=\"w\" file=\"x.js\"/>"),
	  "tests/test_a.py::TestC::t[a b]=passed\ntests/test_a.py::u=passed\ntests.test_ab::v=passed\n"
	  "other::w=passed\n" },
	{ "passed, then an error in teardown; the same test twice",
	  SUITE("<testcase name=\"a\"><error message=\"failed on teardown\"/></testcase>"
		"<testcase name=\"b\"><failure/></testcase><testcase name=\"b\"><error/></testcase>"),
	  "a=error\nb=failed\nb #2=error\n" },
	{ "failure and error in one", SUITE("<testcase name=\"a\"><error/><failure/></testcase>"),
	  "a=error\n" },
	{ "skipped after failure", SUITE("<testcase name=\"a\"><failure/><skipped/></testcase>"),
	  "a=failed\n" },
	{ "node's todo, both orders",
	  SUITE("<testcase name=\"a\"><skipped type=\"todo\"/><failure/></testcase>"
		"<testcase name=\"b\"><failure/><skipped type=\"todo\"/></testcase>"
		"<testcase name=\"c\"><skipped type=\"todo\"/></testcase>"),
	  "a=xfail\nb=xfail\nc=xpass\n" },
	{ "reruns",
	  SUITE("<testcase name=\"flaky\"><flakyFailure/><flakyError/></testcase>"
		"<testcase name=\"gone\"><failure/><rerunFailure/></testcase>"),
	  "flaky=passed\ngone=failed\n" },
	{ "CTest",
	  "<testsuite><testcase name=\"a\" classname=\"a\" status=\"run\"/>"
	  "<testcase name=\"b\" classname=\"b\" status=\"notrun\"><skipped message=\"Unable to find\"/></testcase>"
	  "<testcase name=\"c\" classname=\"c\" status=\"fail\"><failure/></testcase>"
	  "<testcase name=\"d\" classname=\"d\" status=\"disabled\"/></testsuite>",
	  "a::a=passed\nb::b=error\nc::c=failed\nd::d=skipped\n" },
	{ "elements of the same name deeper down",
	  SUITE("<testcase name=\"a\"><system-out><failure/><testcase name=\"in\"/></system-out></testcase>"),
	  "a=passed\n" },
	{ "escapes and Unicode",
	  SUITE("<testcase name=\"a&lt;b&gt; &amp; &quot;c&quot; &#9731; &#x1F600;&#10;n\"/>"),
	  "a<b> & \"c\" \xe2\x98\x83 \xf0\x9f\x98\x80\nn=passed\n" },
	{ "bytes and references that XML forbids",
	  SUITE("<testcase name=\"a&#27;b&#0;c&#xFFFF;d&#xD800;e\"/><testcase name=\"\033[31m\xff\xc0\x80 \xed\xa0\x80\"/>"
		"<testcase name=\"\xef\xbf\xbf\x01\"/>"),
	  "a?????b????c????????d????????e=passed\n\?[31m\?\?\? \?\?\?=passed\n\?\?\?\?=passed\n" },
	{ "root path", SUITE("<testcase name=\"t[/workspace/d]\" classname=\"/workspace/a\"/>"),
	  "a::t[ROOT/d]=passed\n" },
	{ "no test", SUITE(""), "! the JUnit XML holds no test\n" },
	{ "cut off", HEAD "<testsuite><testcase name=\"a\"/><testcase name=\"b\">",
	  "a=passed\n! the JUnit XML is broken at line 1: no element found\n" },
	{ "not well formed", HEAD "<testsuite><testcase name=\"a\"/>\n<x></y></testsuite>",
	  "a=passed\n! the JUnit XML is broken at line 2: mismatched tag\n" },
	{ "empty file", "", "! the JUnit XML is broken at line 1: no element found\n" },
	{ "other root", "<html><testcase name=\"a\"/></html>",
	  "! the JUnit XML was not read: the root element is neither testsuites nor testsuite (line 1)\n" },
	{ "external entity",
	  "<!DOCTYPE t [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><testsuite><testcase name=\"&x;\"/></testsuite>",
	  "! the JUnit XML was not read: a document type declaration, which no runner writes (line 1)\n" },
	{ "nested entities",
	  "<!DOCTYPE l [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n"
	  "<testsuite><testcase name=\"&b;\"/></testsuite>",
	  "! the JUnit XML was not read: a document type declaration, which no runner writes (line 1)\n" },
	{ "undefined entity", "<testsuite><testcase name=\"&x;\"/></testsuite>",
	  "! the JUnit XML is broken at line 1: undefined entity\n" },
	{ "other encoding named",
	  "<?xml version=\"1.0\" encoding=\"UTF-16\"?><testsuite><testcase name=\"\xc3\xa9\"/></testsuite>",
	  "\xc3\xa9=passed\n" },
	{ "text behind the root", "<testsuite><testcase name=\"a\"/></testsuite>\n<oops",
	  "a=passed\n! the JUnit XML is broken at line 1: unclosed token\n" },
	{ "several files, joined",
	  SUITE("<testcase name=\"a\"/>") "\n" SUITE("") "\xef\xbb\xbf" SUITE(
		  "<testcase name=\"a\"><failure/></testcase>") "\n",
	  "a=passed\na #2=failed\n" },
	{ "several files, the second cut off", SUITE("<testcase name=\"a\"/>") "\n<testsuite>",
	  "a=passed\n! the JUnit XML is broken at line 1: no element found\n" },
	{ "several files, one with a DTD",
	  SUITE("<testcase name=\"a\"/>") "<!DOCTYPE t []><testsuite/>",
	  "a=passed\n! the JUnit XML was not read: a document type declaration, which no runner writes (line 1)\n" },
	{ "suites with the same names",
	  "<testsuites><testsuite name=\"s\"><testcase name=\"a\"/></testsuite><testsuite name=\"s\"><testcase name=\"a\"><error/></testcase>"
	  "</testsuite></testsuites>",
	  "a=passed\na #2=error\n" },
	{ "more tests than the header says",
	  "<testsuites tests=\"9\"><testsuite tests=\"1\"><testcase name=\"a\"/><testcase name=\"gone\"/></testsuite></testsuites>",
	  "a=passed\ngone=passed\n! a suite holds 2 tests, but its header says 1\n" },
	{ "inner suites count, too",
	  "<testsuite tests=\"1\"><testsuite><testcase name=\"a\"/></testsuite><testsuite><testcase name=\"b\"/></testsuite></testsuite>",
	  "a=passed\nb=passed\n! a suite holds 2 tests, but its header says 1\n" },
	{ "fewer failures than the header says",
	  "<testsuite tests=\"2\" failures=\"1\" errors=\"1\"><testcase name=\"a\"/><testcase name=\"b\"><failure/></testcase></testsuite>",
	  "a=passed\nb=failed\n! a suite holds 1 failures, but its header says 2\n" },
	{ "PHPUnit's warning", SUITE("<testcase name=\"a\"><warning/></testcase>"), "a=failed\n" },
};

static void run_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct testlog_input in = { .log = "",
					    .report = rows[i].report,
					    .report_len = strlen(rows[i].report),
					    .root = "/workspace" };
		auto_free char *got = readers_run("junit-xml", &in);

		tap_is_str(got, rows[i].want, rows[i].name);
	}
}

/* The command's exit status and the report. */
static void test_status(void)
{
	static const struct {
		const char *name;
		int status;
		const char *report, *want;
	} table[] = {
		{ "meson: a test that timed out looks like one that passed", 1,
		  SUITE("<testcase name=\"a\"/>"),
		  "a=passed\n! exit status 1, but no failure is in the JUnit XML\n" },
		{ "a failure explains the status", 8,
		  SUITE("<testcase name=\"a\"><failure/></testcase>"), "a=failed\n" },
		{ "killed", 137, SUITE("<testcase name=\"a\"><failure/></testcase>"),
		  "a=failed\n! the command was killed (status 137)\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct testlog_input in = { .log = "",
					    .report = table[i].report,
					    .report_len = strlen(table[i].report),
					    .exit_status = table[i].status };
		auto_free char *got = readers_run("junit-xml", &in);

		tap_is_str(got, table[i].want, table[i].name);
	}
}

/* Which document of the output counts. */
static void test_output(void)
{
	readers_is(
		"junit-xml",
		"<testsuite><testcase name=\"real\"><system-out><![CDATA[\n<?xml version=\"1.0\"?>\n"
		"<testsuite><testcase name=\"quoted\"/></testsuite>\n]]></system-out></testcase></testsuite>\n",
		0, "real=passed\n", "output: a quoted document is none");
	readers_is(
		"junit-xml",
		"<testsuite><![CDATA[\n<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"real\"/></testsuite>\n",
		0, "! the JUnit XML is broken at line 4: unclosed CDATA section\n",
		"output: an open quotation in front");
	readers_is(
		"junit-xml",
		"<testsuite>\n<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"real\"/></testsuite>\n",
		0, "real=passed\n", "output: an open element in front hides nothing");
	readers_is(
		"junit-xml",
		"<testsuite><testcase name=\"old\"/></testsuite>\n<testsuite><testcase name=\"new\"/>\n",
		0, "new=passed\n! the JUnit XML is broken at line 2: no element found\n",
		"output: a document that is cut off");
	readers_is("junit-xml", "says <testsuite><testcase name=\"no\"/></testsuite>\n", 0,
		   "! no JUnit XML: the report file is missing and the output has none\n",
		   "output: only at the start of a line");
}

static void test_depth(void)
{
	auto_buf deep = BUF_INIT(1u << 20);
	auto_free char *got = NULL;
	struct testlog_input in = { .log = "" };

	for (unsigned i = 0; i < 10000; i++)
		buf_adds(&deep, "<testsuite>");
	in.report = buf_str(&deep);
	in.report_len = deep.len;
	got = readers_run("junit-xml", &in);
	tap_is_str(got, "! the JUnit XML was not read: elements nested too deep (line 1)\n",
		   "depth");
}

static void live_pytest(void)
{
	auto_free char *dir = readers_mkdir(), *one = NULL, *two = NULL;

	readers_write(
		dir, "test_a.py",
		"import pytest\nclass TestC:\n    def test_m(self): pass\n"
		"@pytest.mark.parametrize('x', ['a b', 'x]y'])\ndef test_p(x): assert x == 'a b'\n");
	one = readers_live("junit-xml", dir,
			   "/usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml=o.xml "
			   "-o junit_family=xunit1 >/dev/null; cat o.xml");
	tap_is_str(one,
		   "test_a.py::TestC::test_m=passed\ntest_a.py::test_p[a b]=passed\n"
		   "test_a.py::test_p[x]y]=failed\n",
		   "pytest: xunit1, XML on the output");
	two = readers_live(
		"junit-xml", dir,
		"/usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml=o.xml >/dev/null; cat o.xml");
	tap_is_str(
		two,
		"test_a.TestC::test_m=passed\ntest_a::test_p[a b]=passed\ntest_a::test_p[x]y]=failed\n",
		"pytest: xunit2");
	readers_rmdir(dir);
}

/* 262,144 small documents take less than a second: each costs its own bytes, not all that follow it. */
static void test_many(void)
{
	static const char *const lines[] = { "<testsuite/>\n", "<testsuite!\n",
					     "<testsuite><?a\n" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		size_t n = strlen(lines[i]);
		auto_buf log = BUF_INIT(n << 18);
		struct test_results r = { 0 };
		struct testlog_input in = { 0 };

		while (buf_adds(&log, lines[i]) == 0)
			;
		in.log = buf_str(&log);
		in.log_len = log.len;
		testlog_find("junit-xml")->read(&in, &r, NULL);
		tap_ok(r.incomplete && !r.n, "262,144 of \"%.*s\"", (int)n - 1, lines[i]);
		testlog_done(&r);
	}
}

static void live_node(void)
{
	auto_free char *dir = readers_mkdir(), *got = NULL;

	readers_write(
		dir, "a.test.js",
		"const {test, describe, it} = require('node:test');\n"
		"test('ok (q) <b>', () => {});\n"
		"describe('s', () => { it('in', () => { throw new Error('\\u001b[31mred'); }); });\n"
		"test('todo', {todo: true}, () => { throw 1; });\n");
	got = readers_live("junit-xml", dir, "node --test --test-reporter=junit a.test.js");
	tap_is_str(got, "test::ok (q) <b>=passed\ntest::in=failed\ntest::todo=xfail\n",
		   "node: junit");
	readers_rmdir(dir);
}

int main(void)
{
	run_rows();
	test_depth();
	test_status();
	test_output();
	readers_is(
		"junit-xml",
		"text\n<testsuite><testcase name=\"old\"/></testsuite>\n"
		"<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"new\"/></testsuite>\nmore <text\n",
		0, "new=passed\n", "XML in the output: the last document");
	readers_is("junit-xml", "no XML here\n", 1,
		   "! no JUnit XML: the report file is missing and the output has none\n",
		   "no report");
	test_many();
	if (system("/usr/bin/python3 -c 'import pytest' 2>/dev/null") == 0)
		live_pytest();
	else
		tap_skip("pytest", "pytest: not installed");
	if (system("node --version >/dev/null 2>&1") == 0)
		live_node();
	else
		tap_skip("node", "node: not installed");
	return tap_done();
}
