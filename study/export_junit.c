/* JUnit XML: a suite per result, a testcase per listed test, classname = the task's name.
 *
 * Strict readers refuse a file for one byte that XML 1.0 does not have, so such bytes, and those that are not
 * UTF-8, stand as \xNN. A listed test that the output did not show is a failure of type "missing"; a
 * skipped or xfail one is skipped; one that passed unexpectedly has passed. A result without tests (infra, a
 * patch that does not apply, ...) has one testcase "verdict", so that it cannot be taken for success. */
#include "study/export_internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* Bytes of the character at @s that XML 1.0 can hold; 0 when there is none. */
static size_t xml_char(const char *s)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (n == 1)
		return c >= 0x20 && c != 0x7f;
	if (strnlen(s, n) < n || !str_utf8(s, n, NULL))
		return 0;
	/* U+0080 to U+009F are allowed but discouraged; U+FFFE and U+FFFF are not allowed. */
	if (c == 0xc2 && (unsigned char)s[1] < 0xa0)
		return 0;
	return c == 0xef && (unsigned char)s[1] == 0xbf && (unsigned char)s[2] >= 0xbe ? 0 : n;
}

/* Text of an attribute or an element. */
static void xml_text(struct buf *out, const char *s)
{
	static const struct {
		char c;
		const char *entity;
	} rows[] = { { '&', "&amp;" },  { '<', "&lt;" },  { '>', "&gt;" },  { '"', "&quot;" },
		     { '\n', "&#10;" }, { '\t', "&#9;" }, { '\r', "&#13;" } };

	while (*s) {
		size_t n = xml_char(s), i = 0;

		while (i < ARRAY_SIZE(rows) && rows[i].c != *s)
			i++;
		if (i < ARRAY_SIZE(rows)) {
			buf_adds(out, rows[i].entity);
			s++;
		} else if (n) {
			buf_add(out, s, n);
			s += n;
		} else {
			buf_addf(out, "\\x%02x", (unsigned)(unsigned char)*s++);
		}
	}
}

static void attribute(struct buf *out, const char *name, const char *value)
{
	buf_addf(out, " %s=\"", name);
	xml_text(out, value);
	buf_addc(out, '"');
}

/* How a status stands in the file. */
static const struct outcome {
	const char *element; /* NULL = passed */
	const char *type;
} outcomes[] = {
	[TEST_PASSED] = { NULL, NULL },
	[TEST_FAILED] = { "failure", "failed" },
	[TEST_ERROR] = { "error", "error" },
	[TEST_SKIPPED] = { "skipped", "skipped" },
	[TEST_XFAIL] = { "skipped", "xfail" },
	[TEST_XPASS] = { NULL, NULL },
	[TEST_MISSING] = { "failure", "missing" },
};

static void testcase(struct buf *out, const char *suite, const char *name, const struct outcome *o,
		     const char *message)
{
	buf_adds(out, "    <testcase");
	attribute(out, "classname", suite);
	attribute(out, "name", name);
	attribute(out, "time", "0");
	if (!o->element) {
		buf_adds(out, "/>\n");
		return;
	}
	buf_addf(out, "><%s", o->element);
	attribute(out, "message", message);
	/* The widely used schema knows no type of a skip. */
	if (strcmp(o->element, "skipped") != 0)
		attribute(out, "type", o->type);
	buf_adds(out, "/></testcase>\n");
}

struct counts {
	size_t tests, failures, errors, skipped;
};

static void count(struct counts *c, const struct outcome *o)
{
	c->tests++;
	if (!o->element)
		return;
	c->failures += strcmp(o->element, "failure") == 0;
	c->errors += strcmp(o->element, "error") == 0;
	c->skipped += strcmp(o->element, "skipped") == 0;
}

/* Where a mode of counting lets a failed or missing test pass, it has passed. */
static const struct outcome *outcome_of(const struct verdict_test *t)
{
	const struct outcome *o = &outcomes[t->status];
	bool red = o->element && strcmp(o->element, "skipped") != 0;

	return red && verdict_passed(t) ? &outcomes[TEST_PASSED] : o;
}

/* Is the result told by its tests alone? An unresolved one without a failure (a skipped test of
 * FAIL_TO_PASS, incomplete results) is not, and neither is one without a result. */
static bool told_by_tests(const struct export_item *it, const struct counts *c)
{
	bool red = c->failures || c->errors;

	return it->graded && it->v.n_tests && it->v.kind <= VERDICT_UNRESOLVED &&
	       red == (it->v.kind == VERDICT_UNRESOLVED);
}

static const struct outcome verdict_outcomes[] = {
	{ NULL, NULL }, { "failure", "unresolved" }, { "error", "invalid" }, { "error", "infra" }
};

static void property(struct buf *out, const char *name, const char *value)
{
	buf_adds(out, "      <property");
	attribute(out, "name", name);
	attribute(out, "value", value);
	buf_adds(out, "/>\n");
}

static void suite(struct buf *out, const struct export_item *it, struct counts *sum)
{
	const struct verdict_file *v = &it->v;
	const char *reason = v->reason ? v->reason : "";
	const struct outcome *o = &verdict_outcomes[it->graded ? v->kind : VERDICT_INFRA];
	auto_buf cases = BUF_INIT(EXPORT_TEXT_MAX);
	struct counts c = { 0 };

	for (size_t i = 0; i < v->n_tests; i++) {
		const struct outcome *t = outcome_of(&v->tests[i]);

		testcase(&cases, v->instance_id, v->tests[i].name, t,
			 test_status_name(v->tests[i].status));
		count(&c, t);
	}
	if (!told_by_tests(it, &c)) {
		testcase(&cases, v->instance_id, "verdict", o, it->graded ? reason : "not graded");
		count(&c, o);
	}
	buf_adds(out, "  <testsuite");
	attribute(out, "name", v->instance_id);
	buf_addf(out,
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
		 c.tests, c.failures, c.errors, c.skipped, (double)v->wall_ns / (double)CLOCK_SEC);
	buf_adds(out, "    <properties>\n");
	property(out, "verdict", it->graded ? verdict_name(v->kind) : "none");
	property(out, "reason", reason);
	property(out, "model", it->model);
	buf_adds(out, "    </properties>\n");
	buf_add(out, buf_str(&cases), cases.len);
	buf_adds(out, "  </testsuite>\n");
	if (cases.full)
		out->full = true;
	sum->tests += c.tests;
	sum->failures += c.failures;
	sum->errors += c.errors;
	sum->skipped += c.skipped;
}

int export_junit(const struct export_job *job, struct buf *out, struct err *err)
{
	auto_buf suites = BUF_INIT(EXPORT_TEXT_MAX);
	struct export_items items;
	struct counts sum = { 0 };
	int rc = export_gather(job, false, &items, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < items.n; i++)
		suite(&suites, &items.v[i], &sum);
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
	attribute(out, "name", job->run_id ? job->run_id : "proctor");
	buf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
		 sum.tests, sum.failures, sum.errors, sum.skipped);
	buf_add(out, buf_str(&suites), suites.len);
	buf_adds(out, "</testsuites>\n");
	if (suites.full)
		out->full = true;
	export_items_done(&items);
	return 0;
}
