/* The parsers of SWE-bench's harness that put a result together from several lines: maven (one run
 * per test, "-Dtest=NAME" in the command that the shell shows and "BUILD SUCCESS" later),
 * gradle_custom (name and status, perhaps on lines of their own), phpunit --testdox (the class is a
 * heading), doctest (XML). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "verifier/compat_internal.h"
#include "verifier/readers/testlog_xmlrun_internal.h"

/* Pieces that wait for each other, first in, first out. */
struct queue {
	struct piece *v; /* owned */
	size_t n, cap, first;
};

static void queue_add(struct queue *q, struct piece p)
{
	MEM_GROW(q->v, q->cap, q->n + 1);
	q->v[q->n++] = p;
}

static bool queue_take(struct queue *q, struct piece *ret)
{
	if (q->first == q->n)
		return false;
	*ret = q->v[q->first++];
	return true;
}

static void maven_set(struct compat *c, struct piece name, struct piece result)
{
	compat_set(c, name, compat_ends(result, "SUCCESS") ? TEST_PASSED : TEST_FAILED);
}

/* The word behind the last "-Dtest=" that has one; empty when there is none. */
static struct piece maven_name(struct piece line)
{
	for (const char *at; (at = compat_find_last(line, "-Dtest="));) {
		struct piece value = compat_from(line, at + strlen("-Dtest="));

		if (value.n && !compat_space(value))
			return compat_word(&value);
		line = compat_before(line, at);
	}
	return (struct piece){ NULL, 0 };
}

int compat_read_maven(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, name, result;
	struct queue names = { 0 }, results = { 0 };

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		line = compat_strip(line);
		name = maven_name(line);
		if (name.n)
			queue_add(&names, name);
		if (!compat_ends(line, "BUILD SUCCESS") && !compat_ends(line, "BUILD FAILURE"))
			continue;
		if (queue_take(&names, &name))
			maven_set(&c, name, line);
		else
			queue_add(&results, line);
	}
	while (results.first < results.n && queue_take(&names, &name)) {
		queue_take(&results, &result);
		c.at = result;
		maven_set(&c, name, result);
	}
	free(names.v);
	free(results.v);
	return 0;
}

static const struct testlog_word gradle_words[] = { { "PASSED", TEST_PASSED },
						    { "FAILED", TEST_FAILED } };

/* Bytes of the UTF-8 character at the start. */
static size_t width(struct piece p)
{
	size_t n = 1;

	while (n < p.n && ((unsigned char)p.s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* "name PASSED": more than one character, not beginning with ">". */
static bool gradle_result(struct piece p, struct piece *name, enum test_status *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(gradle_words); i++) {
		struct piece front = p;
		size_t blank;

		if (!compat_ends(p, gradle_words[i].text))
			continue;
		front.n -= strlen(gradle_words[i].text);
		blank = compat_space_end(front);
		front.n -= blank;
		if (!blank || !front.n || *front.s == '>' || width(front) >= front.n)
			continue;
		*name = front;
		*s = gradle_words[i].status;
		return true;
	}
	return false;
}

/* "Class > method": three words. */
static bool gradle_name(struct piece p)
{
	struct piece first = compat_word(&p), arrow = compat_word(&p), method = compat_word(&p);

	return first.n && *first.s != '>' && compat_equal(arrow, ">") && method.n &&
	       !compat_word(&p).n;
}

int compat_read_gradle(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, name, waiting = { NULL, 0 };
	enum test_status s;

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		line = compat_strip(line);
		if (gradle_result(line, &name, &s)) {
			compat_set(&c, name, s);
			waiting.n = 0;
		} else if (gradle_name(line)) {
			waiting = line;
		} else if (waiting.n && testlog_word(gradle_words, ARRAY_SIZE(gradle_words), line.s,
						     line.n, &s)) {
			compat_set(&c, waiting, s);
			waiting.n = 0;
		}
	}
	return 0;
}

/* "Title (Class)" at the left margin: the last " (" with something in it. */
static bool phpunit_class(struct piece line, struct piece *title)
{
	const char *open;

	if (!compat_word_char(line) || !compat_ends(line, ")") || line.n < 6)
		return false;
	open = compat_find_last((struct piece){ line.s, line.n - 2 }, " (");
	if (!open || compat_before(line, open).n <= width(line))
		return false;
	*title = compat_before(line, open);
	return true;
}

int compat_read_phpunit(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	static const char *const marks[] = { "\u2714", "\u2718", "\u21a9", NULL };
	static const enum test_status statuses[] = { TEST_PASSED, TEST_FAILED, TEST_SKIPPED };
	struct compat c = compat_start(in, out);
	struct piece rest = c.text, line, title = PIECE("None");

	(void)err;
	while (compat_next(&c, &rest, &line)) {
		struct piece p = compat_lstrip(line);
		int mark;

		if (phpunit_class(line, &title))
			continue;
		mark = compat_eat_symbol(&p, marks);
		if (mark >= 0)
			compat_set2(&c, title, " > ", compat_lstrip(p), statuses[mark]);
	}
	return 0;
}

enum { DOCTEST_DEPTH_MAX = 64 };

/* The XML of doctest: cases hold subcases, subcases hold expressions and more subcases. */
struct doctest {
	struct compat *c;
	XML_Parser parser;
	char *title; /* of the case; owned */
	struct subcase {
		char *name; /* owned */
		bool failed;
	} * v;
	size_t n, cap;
	size_t open[DOCTEST_DEPTH_MAX]; /* positions of the open subcases */
	unsigned n_open, depth;
};

static void XMLCALL doctest_start(void *arg, const char *name, const char **atts)
{
	struct doctest *d = arg;
	const char *title = testlog_xml_attr((const char *const *)atts, "name"),
		   *success = testlog_xml_attr((const char *const *)atts, "success");

	if (++d->depth >= DOCTEST_DEPTH_MAX || d->n >= TESTLOG_RESULTS_MAX) {
		testlog_incomplete(d->c->out, "the XML is nested too deeply or too long");
		XML_StopParser(d->parser, XML_FALSE);
		return;
	}
	if (strcmp(name, "TestCase") == 0) {
		free(d->title);
		d->title = mem_strdup(title ? title : "None");
	} else if (strcmp(name, "SubCase") == 0 && d->title) {
		MEM_GROW(d->v, d->cap, d->n + 1);
		d->v[d->n].name = mem_printf("%.*s > %.*s", (int)TESTLOG_NAME_MAX, d->title,
					     (int)TESTLOG_NAME_MAX, title ? title : "None");
		d->v[d->n].failed = false;
		d->open[d->n_open++] = d->n++;
	} else if (strcmp(name, "Expression") == 0 && (!success || strcmp(success, "true") != 0)) {
		for (unsigned i = 0; i < d->n_open; i++)
			d->v[d->open[i]].failed = true;
	}
}

static void XMLCALL doctest_end(void *arg, const char *name)
{
	struct doctest *d = arg;

	d->depth--;
	if (strcmp(name, "SubCase") == 0 && d->n_open)
		d->n_open--;
	if (strcmp(name, "TestCase") == 0) {
		free(d->title);
		d->title = NULL;
	}
}

/* No document types, so no entities. */
static void XMLCALL doctest_doctype(void *arg, const char *name, const char *sysid,
				    const char *pubid, int internal)
{
	struct doctest *d = arg;

	(void)name;
	(void)sysid;
	(void)pubid;
	(void)internal;
	testlog_incomplete(d->c->out, "the XML has a document type");
	XML_StopParser(d->parser, XML_FALSE);
}

/* XML that is not well formed is no result there either (the parser raises an error). */
int compat_read_doctest(const struct testlog_input *in, struct test_results *out, struct err *err)
{
	struct compat c = compat_start(in, out);
	const char *start = compat_find_first(c.text, "<doctest");
	struct piece xml = start ? compat_from(c.text, start) : (struct piece){ NULL, 0 };
	const char *end = start ? compat_find_first(xml, "</doctest>") : NULL;
	struct doctest d = { .c = &c };
	bool ok;

	(void)err;
	if (!end)
		return 0;
	xml.n = (size_t)(end - xml.s) + strlen("</doctest>");
	c.at = xml;
	d.parser = XML_ParserCreate("UTF-8");
	if (!d.parser)
		return err_set(err, ERR_SYS, "no memory for an XML parser");
	XML_SetUserData(d.parser, &d);
	XML_SetElementHandler(d.parser, doctest_start, doctest_end);
	XML_SetStartDoctypeDeclHandler(d.parser, doctest_doctype);
	ok = XML_Parse(d.parser, xml.s, (int)xml.n, XML_TRUE) == XML_STATUS_OK;
	if (!ok)
		testlog_incomplete(out, "the XML is not well formed");
	for (size_t i = 0; i < d.n; i++) {
		struct piece name = { d.v[i].name, strlen(d.v[i].name) };

		if (ok)
			compat_set(&c, name, d.v[i].failed ? TEST_FAILED : TEST_PASSED);
		free(d.v[i].name);
	}
	free(d.v);
	free(d.title);
	XML_ParserFree(d.parser);
	return 0;
}
