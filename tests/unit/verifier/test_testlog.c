/* Rows, names, repetition, line cleaning, hard maxima, and the exit-code reader. */
#include "verifier/readers/testlog_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/verifier/readers.h"

static void test_rows(void)
{
	tap_ok(!testlog_find("nope") && !testlog_find(NULL), "unknown readers are not found");
	for (const struct testlog_reader *r = testlog_readers; r->name; r++)
		tap_ok(testlog_find(r->name) == r && r->doc[0], "row %s", r->name);
	tap_is_str(test_status_name(TEST_XPASS), "xpass", "status name");
	tap_is_str(test_status_name((enum test_status)99), "missing", "status out of range");
}

static void test_names(void)
{
	static const struct {
		const char *in, *root, *want;
	} rows[] = {
		{ "/workspace/t/a.py::x", "/workspace", "t/a.py::x" },
		{ "/workspace/t/a.py::x", "/workspace/", "t/a.py::x" },
		{ "t.py::x[/workspace/d/f]", "/workspace", "t.py::x[ROOT/d/f]" },
		{ "t.py::x[/workspaces/d]", "/workspace", "t.py::x[/workspaces/d]" },
		{ "t.py::x[ROOT/d/f]", "/workspace", "t.py::x[ROOT/d/f]" },
		{ "/workspace", "/workspace", "/workspace" },
		{ "plain", NULL, "plain" },
		{ "", "/workspace", "" },
	};
	auto_free char *nul = testlog_name("a\0b", 3, NULL);
	auto_free char *big = mem_zalloc(10001, 1), *cut = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = testlog_name(rows[i].in, strlen(rows[i].in), rows[i].root);

		tap_is_str(got, rows[i].want, rows[i].in);
	}
	tap_is_str(nul, "a?b", "NUL in a name");
	memset(big, 'x', 10000);
	cut = testlog_name(big, 10000, "/workspace");
	tap_is_u64(strlen(cut), TESTLOG_NAME_MAX, "a long name is cut");
}

static void test_repeat(void)
{
	struct test_results r = { 0 };
	auto_free char *got = NULL;

	testlog_add(&r, "a #2", 4, TEST_PASSED, 0, 1);
	testlog_add(&r, "a", 1, TEST_PASSED, 0, 1);
	testlog_add(&r, "a", 1, TEST_FAILED, 0, 1);
	testlog_add(&r, "a", 1, TEST_SKIPPED, 0, 1);
	testlog_add(&r, "", 0, TEST_PASSED, 0, 1);
	testlog_add(&r, "", 0, TEST_PASSED, 0, 1);
	got = readers_dump(&r);
	tap_is_str(got, "a #2=passed\na=passed\na #3=failed\na #4=skipped\n=passed\n #2=passed\n",
		   "repeated names are numbered, real ones are not taken");
	tap_ok(testlog_get(&r, "a #3") == &r.v[2], "lookup");
	tap_ok(!testlog_get(&r, "b"), "lookup of nothing");
	testlog_done(&r);
	testlog_done(&r);
	tap_ok(!testlog_get(&r, "a"), "empty results");
}

static void test_maxima(void)
{
	struct test_results r = { 0 };
	auto_free char *name = mem_zalloc(4097, 1);
	uint64_t start = clock_mono();

	memset(name, 'n', 4096);
	for (unsigned i = 0; i < 20000; i++)
		testlog_add(&r, name, 4096, TEST_PASSED, 0, 0);
	tap_ok(r.incomplete && r.bytes <= TESTLOG_NAMES_MAX, "bytes of names are bounded: %zu",
	       r.bytes);
	testlog_done(&r);
	for (unsigned i = 0; i < TESTLOG_RESULTS_MAX + 100; i++)
		testlog_add(&r, "x", 1, TEST_PASSED, 0, 0);
	tap_ok(r.incomplete && r.n == TESTLOG_RESULTS_MAX, "number of results is bounded: %zu",
	       r.n);
	testlog_done(&r);
	tap_diag("%llu ms", (unsigned long long)((clock_mono() - start) / CLOCK_MS));
}

static void test_lines(void)
{
	static const char log[] = "a\033[31mred\033[0m\r\n"
				  "50%\r100%\n"
				  "\033]0;title\aosc\033]8;;u\033\\link\n"
				  "\033]never ended\n"
				  "nul\0here\n"
				  "\n"
				  "\033[\n\033\n"
				  "\033(Bcharset\n"
				  "last";
	static const char *const want[] = { "ared", "100%", "osclink", "never ended", "nul?here",
					    "",     "",     "",        "charset",     "last" };
	struct testlog_lines it = TESTLOG_LINES(log, sizeof(log) - 1);
	struct testlog_line line;
	size_t i = 0;

	while (testlog_next(&it, &line) && i < ARRAY_SIZE(want)) {
		tap_is_str(line.s, want[i], want[i]);
		i++;
	}
	tap_is_u64(i, ARRAY_SIZE(want), "number of lines");
	tap_is_u64(line.to, sizeof(log) - 1, "span of the last line");
	buf_done(&it.text);
}

/* Nothing that fits into a log may take long: each pattern aims at one loop. */
static void test_hostile_speed(void)
{
	static const char *const patterns[] = { "\033]",
						"\033[",
						"ok 1 - x\n",
						"    ok {\n",
						"1..9\n",
						"# t\nok\n",
						"PASSED a::b - ",
						"a::b PASSED (",
						"\xe2\x9c\x94 x\n",
						"&#0;<",
						"<testcase ",
						" - ",
						"\xe2\x96\xb6 x\n",
						"  ---\n",
						"[gw0] " };
	size_t len = 1u << 20;
	auto_free char *log = mem_alloc(len + 64);

	for (size_t p = 0; p < ARRAY_SIZE(patterns); p++) {
		size_t n = strlen(patterns[p]), at = 0;
		uint64_t start = clock_mono(), ms;

		for (; at + n < len; at += n)
			memcpy(log + at, patterns[p], n);
		for (const struct testlog_reader *r = testlog_readers; r->name; r++) {
			struct testlog_input in = { .log = log,
						    .log_len = at,
						    .root = "/workspace" };
			auto_free char *got = NULL;

			in.report = strcmp(r->name, "junit-xml") == 0 ? log : NULL;
			in.report_len = at;
			got = readers_run(r->name, &in);
		}
		ms = (clock_mono() - start) / CLOCK_MS;
		tap_ok(ms < 10000, "1 MiB of pattern %zu: %llu ms in all readers", p,
		       (unsigned long long)ms);
	}
}

int main(void)
{
	test_rows();
	test_names();
	test_repeat();
	test_maxima();
	test_lines();
	readers_is("exit-code", "whatever", 0, "exit-code=passed\n", "status 0");
	readers_is("exit-code", "", 1, "exit-code=failed\n", "status 1");
	readers_is("exit-code", "ok 1 - forged\n", 139, "exit-code=failed\n", "a signal");
	test_hostile_speed();
	return tap_done();
}
