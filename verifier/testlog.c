#include "verifier/testlog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/compat.h"
#include "verifier/readers/testlog_internal.h"

/* clang-format off */
const struct testlog_reader testlog_readers[] = {
	{ "exit-code", testlog_read_exit,   "one result, \"exit-code\": passed when the command ends with status 0" },
	{ "tap",       testlog_read_tap,    "TAP 12 to 14 on the output, tape and prove -v included" },
	{ "junit-xml", testlog_read_junit,  "JUnit XML from test.report, or on the output" },
	{ "pytest",    testlog_read_pytest, "pytest with -rA or -v" },
	{ "node-test", testlog_read_node,   "node --test, reporter spec or tap" },
	{ "mocha",     testlog_read_mocha,  "mocha, reporter spec, or json (test.report, or on the output)" },
	{ "jest",      testlog_read_jest,   "jest with --verbose, or --json (test.report, or on the output)" },
	{ "vitest",    testlog_read_vitest, "vitest, reporter verbose, or json (test.report, or on the output)" },
	{ "maven",     testlog_read_maven,  "Maven surefire: XML from test.report, or the console" },
	{ "gradle",    testlog_read_gradle, "Gradle's test task: XML from test.report, or the console" },
	{ "unittest",  testlog_read_unittest, "python -m unittest -v, Django's runtests.py --verbosity 2" },
	{ "bats",      testlog_read_bats,   "bats: TAP as bats writes it, or its pretty form" },
	{ "prove",     testlog_read_prove,  "perl's prove: files, with -v their tests as well" },
	{ "minitest",  testlog_read_minitest, "Ruby's minitest with -v" },
	{ "test-unit", testlog_read_testunit, "Ruby's test-unit with -v" },
	{ "rspec",     testlog_read_rspec,  "RSpec with --format documentation or json (test.report, or on the output)" },
	{ "phpunit",   testlog_read_phpunit, "PHPUnit with --testdox, or with --debug -v" },
	{ "sympy",     testlog_read_sympy,  "sympy's bin/test --verbose" },
	{ "reward",    testlog_read_reward, "Harbor's reward.txt or reward.json (and ctrf.json) in directory test.report", testlog_reward_files },
	{ "gotest",    testlog_read_gotest, "go test -v" },
	{ "gotest-json", testlog_read_gotest_json, "go test -json" },
	{ "libtest",   testlog_read_libtest, "cargo test" },
	{ "libtest-json", testlog_read_libtest_json, "cargo test -- -Zunstable-options --format json, or nextest's libtest-json" },
	{ "nextest",   testlog_read_nextest, "cargo nextest on the console" },
	{ "ctest",     testlog_read_ctest,  "ctest on the console, also with -V" },
	{ "meson",     testlog_read_meson,  "meson test: console, or meson-logs/testlog.json from test.report" },
	{ "googletest", testlog_read_googletest, "GoogleTest: --gtest_output=json or xml from test.report, or the console, also under ctest -V" },
	{ "cmocka",    testlog_read_cmocka, "cmocka on the console, also under ctest -V" },
	{ "catch2",    testlog_read_catch2, "Catch2 with -r xml, from test.report or on the output" },
	{ "check",     testlog_read_check,  "libcheck with CK_VERBOSITY=verbose, or its XML from test.report" },
	{ "unity",     testlog_read_unity,  "Unity (C), also under ctest -V" },
	{ "jq",        testlog_read_jq,     "jq --run-tests" },
	{ "redis-tcl", testlog_read_redis,  "Redis' runtest" },
	{ "pro-json",  testlog_read_pro,    "SWE-bench Pro's output.json of the task's own parser, from test.report" },
	{ NULL },
};

/* Name, and how bad it is when a runner reports one test more than once. */
static const struct {
	const char *name;
	unsigned rank;
} statuses[] = {
	[TEST_PASSED]  = { "passed",  0 },
	[TEST_FAILED]  = { "failed",  4 },
	[TEST_ERROR]   = { "error",   5 },
	[TEST_SKIPPED] = { "skipped", 3 },
	[TEST_XFAIL]   = { "xfail",   2 },
	[TEST_XPASS]   = { "xpass",   1 },
	[TEST_MISSING] = { "missing", 6 },
};
/* clang-format on */

const char *test_status_name(enum test_status s)
{
	return (size_t)s < ARRAY_SIZE(statuses) ? statuses[s].name : "missing";
}

const struct testlog_reader *testlog_find(const char *name)
{
	for (const struct testlog_reader *r = testlog_readers; r->name; r++)
		if (str_eq(r->name, name))
			return r;
	return name && str_starts(name, COMPAT_PREFIX) ? compat_find(name) : NULL;
}

/* FNV-1a from a secret start: a log cannot be made to fall into one bucket. */
static uint64_t hash(const struct test_results *r, const char *s)
{
	uint64_t h = r->seed;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h ? h : 1;
}

struct test_result *testlog_get(const struct test_results *r, const char *name)
{
	void *at;

	/* Two names under one hash sit at consecutive keys. */
	for (uint64_t key = hash(r, name); (at = map_get(&r->index, key)); key++) {
		struct test_result *t = &r->v[(uintptr_t)at - 1];

		if (strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}

void testlog_incomplete(struct test_results *r, const char *fmt, ...)
{
	va_list ap;

	r->incomplete = true;
	if (r->note)
		return;
	va_start(ap, fmt);
	r->note = mem_vprintf(fmt, ap);
	va_end(ap);
}

/* Append under a name that is not there yet. Owns @name. */
static void append(struct test_results *r, char *name, enum test_status s, uint64_t from,
		   uint64_t to)
{
	uint64_t key = hash(r, name);

	while (map_get(&r->index, key))
		key++;
	MEM_GROW(r->v, r->cap, r->n + 1);
	r->v[r->n] = (struct test_result){ .name = name, .status = s, .from = from, .to = to };
	r->bytes += strlen(name) + 1;
	r->n++;
	map_put(&r->index, key, (void *)(uintptr_t)r->n); // NOLINT: a position, not an address
}

bool testlog_full(struct test_results *r)
{
	if (r->n < TESTLOG_RESULTS_MAX && r->bytes + 2 * TESTLOG_NAME_MAX < TESTLOG_NAMES_MAX)
		return false;
	testlog_incomplete(r, "more than %u results or %u bytes of names", TESTLOG_RESULTS_MAX,
			   TESTLOG_NAMES_MAX);
	return true;
}

void testlog_add(struct test_results *r, const char *name, size_t n, enum test_status s,
		 uint64_t from, uint64_t to)
{
	auto_free char *id = mem_strndup(name, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX);
	struct test_result *first;
	size_t at;

	if (testlog_full(r))
		return;
	while (!r->seed)
		if (getrandom(&r->seed, sizeof(r->seed), 0) != sizeof(r->seed))
			r->seed = (uint64_t)(uintptr_t)r;
	first = testlog_get(r, id);
	if (!first) {
		append(r, take_ptr(&id), s, from, to);
		return;
	}
	at = (size_t)(first - r->v);
	for (;;) {
		auto_free char *again = mem_printf("%s #%u", id, ++r->v[at].again + 1);

		/* A test may really be called "x #2": then the repetition is "x #3". */
		if (!testlog_get(r, again)) {
			append(r, take_ptr(&again), s, from, to);
			return;
		}
	}
}

char *testlog_name(const char *s, size_t n, const char *root)
{
	auto_buf out = BUF_INIT(2 * TESTLOG_NAME_MAX);
	size_t root_len = root ? strlen(root) : 0, i = 0;
	char *ret;

	while (root_len && root[root_len - 1] == '/')
		root_len--;
	while (i < n && out.len < TESTLOG_NAME_MAX) {
		if (root_len && n - i > root_len && s[i + root_len] == '/' &&
		    memcmp(s + i, root, root_len) == 0) {
			if (i)
				buf_adds(&out, "ROOT/");
			i += root_len + 1;
			continue;
		}
		buf_addc(&out, s[i] ? s[i] : '?');
		i++;
	}
	ret = buf_steal(&out, &i);
	if (i > TESTLOG_NAME_MAX)
		ret[TESTLOG_NAME_MAX] = '\0';
	return ret;
}

void testlog_put(const struct testlog_input *in, struct test_results *out, const char *name,
		 size_t n, enum test_status s, const struct testlog_line *line)
{
	auto_free char *id = testlog_name(name, n, in->root);

	testlog_add(out, id, strlen(id), s, line->from, line->to);
}

bool testlog_worse(enum test_status s, enum test_status than)
{
	return statuses[s].rank > statuses[than].rank;
}

void testlog_add_worse(struct test_results *r, const char *name, size_t n, enum test_status s,
		       uint64_t from, uint64_t to)
{
	auto_free char *id = mem_strndup(name, n < TESTLOG_NAME_MAX ? n : TESTLOG_NAME_MAX);
	struct test_result *old = testlog_get(r, id);

	if (!old) {
		testlog_add(r, id, strlen(id), s, from, to);
	} else if (testlog_worse(s, old->status)) {
		old->status = s;
		old->from = from;
		old->to = to;
	}
}

void testlog_join(const struct test_results *from, struct test_results *to)
{
	for (size_t i = 0; i < from->n && !testlog_full(to); i++) {
		const struct test_result *t = &from->v[i];
		struct test_result *there;

		testlog_add_worse(to, t->name, strlen(t->name), t->status, t->from, t->to);
		there = testlog_get(to, t->name);
		if (there && there->again < t->again)
			there->again = t->again;
	}
	if (from->incomplete)
		testlog_incomplete(to, "%s", from->note);
}

bool testlog_any_failed(const struct test_results *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].status == TEST_FAILED || r->v[i].status == TEST_ERROR)
			return true;
	return false;
}

void testlog_check_exit(const struct testlog_input *in, const char *runner, int max, bool failed,
			struct test_results *out)
{
	if (in->exit_status > max)
		testlog_incomplete(out, "%s ended with status %d", runner, in->exit_status);
	else if (in->exit_status && !failed)
		testlog_incomplete(out, "exit status %d, but no failure is counted",
				   in->exit_status);
}

void testlog_run_exit(const struct testlog_input *in, struct test_results *out)
{
	if (in->exit_status && !testlog_any_failed(out))
		testlog_incomplete(out, "no test failed, but the command ended with status %d",
				   in->exit_status);
}

void testlog_merge(const struct testlog_input *in, struct test_results *out, const char *name,
		   size_t n, enum test_status s, const struct testlog_line *line)
{
	auto_free char *id = testlog_name(name, n, in->root);

	testlog_add_worse(out, id, strlen(id), s, line->from, line->to);
}

void testlog_done(struct test_results *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].name);
	free(r->v);
	free(r->note);
	map_done(&r->index);
	*r = (struct test_results){ 0 };
}

/* Length of a control string (OSC, DCS, APC, PM) that begins at @s and ends with BEL or ST. */
static size_t string_len(const char *s, size_t n)
{
	for (size_t i = 2; i < n; i++) {
		if (s[i] == '\a')
			return i + 1;
		/* Any other ESC means that this one never ended: only the introducer goes, and
		 * no byte is looked at twice. */
		if (s[i] == '\033')
			return i + 1 < n && s[i + 1] == '\\' ? i + 2 : 2;
	}
	return 2;
}

/* Length of the escape sequence at @s (ECMA-48: control strings, CSI, and the short ones), at
 * least 1. */
static size_t escape_len(const char *s, size_t n)
{
	size_t i = 2;

	if (n < 2)
		return n;
	if (strchr("]P_^", s[1]) && s[1])
		return string_len(s, n);
	if (s[1] == '(' || s[1] == ')')
		return n > 2 ? 3 : n;
	if (s[1] != '[')
		return 2;
	while (i < n && s[i] >= 0x20 && s[i] < 0x40)
		i++;
	return i < n && s[i] >= 0x40 && s[i] < 0x7f ? i + 1 : i;
}

/* Length of the line of @n bytes at @s when a return inside it (not those at its end) ends it. */
static size_t until_return(const char *s, size_t n)
{
	const char *cr = s;
	size_t end = n;

	while (end && s[end - 1] == '\r')
		end--;
	while (cr && (cr = memchr(cr, '\r', end - (size_t)(cr - s))) && cr == s)
		cr++;
	return cr ? (size_t)(cr - s) : n;
}

bool testlog_next(struct testlog_lines *it, struct testlog_line *ret)
{
	const char *s = it->log + it->at, *nl;
	size_t n, i = 0;

	if (it->at >= it->len)
		return false;
	nl = memchr(s, '\n', it->len - it->at);
	n = nl ? (size_t)(nl - s) : it->len - it->at;
	if (it->returns)
		n = until_return(s, n);
	ret->from = it->at;
	ret->to = it->at + n;
	it->at += n + 1;
	while (n && s[n - 1] == '\r')
		n--;
	if (n > TESTLOG_LINE_MAX)
		n = TESTLOG_LINE_MAX;
	buf_clear(&it->text);
	while (i < n) {
		if (s[i] == '\033') {
			i += escape_len(s + i, n - i);
			continue;
		}
		/* A return inside the line: what follows overwrites it on a terminal. */
		if (s[i] == '\r')
			buf_clear(&it->text);
		else
			buf_addc(&it->text, s[i] ? s[i] : '?');
		i++;
	}
	ret->s = buf_str(&it->text);
	ret->n = it->text.len;
	return true;
}

bool testlog_starts(const struct testlog_line *line, const char *prefix)
{
	size_t n = strlen(prefix);

	return line->n >= n && memcmp(line->s, prefix, n) == 0;
}

bool testlog_word(const struct testlog_word *rows, size_t n_rows, const char *s, size_t n,
		  enum test_status *ret)
{
	for (size_t i = 0; i < n_rows; i++)
		if (strlen(rows[i].text) == n && memcmp(s, rows[i].text, n) == 0) {
			*ret = rows[i].status;
			return true;
		}
	return false;
}
