/* Test-spec rows: which one counts, what is refused; the shipped file. */
#include "profiles/testspec.h"

#include "tests/lib/tap.h"

static void test_find(void)
{
	static const char text[] =
		"{ \"schema\": \"proctor.test-spec/1\", \"rows\": ["
		"{ \"repo\": \"a/b\", \"command\": \"all\", \"reader\": \"tap\" },"
		"{ \"repo\": \"a/b\", \"versions\": [\"1.10\"], \"command\": \"one\", \"reader\": \"tap\","
		"  \"files\": \"django\", \"env\": { \"A\": \"b\" }, \"timeout\": \"10m\" },"
		"{ \"repo\": \"c/d\", \"versions\": [\"2\"], \"command\": \"two\", \"reader\": \"tap\" } ] }";
	struct testspec s;
	struct err err = { 0 };
	const struct testspec_row *row;

	tap_ok(testspec_parse("f", text, strlen(text), &s, &err) == 0, "rows %s", err.text);
	row = testspec_find(&s, "a/b", "1.10");
	tap_is_str(row ? row->command : NULL, "one", "the row of the version");
	tap_ok(row && row->files == TESTSPEC_DJANGO && row->timeout == 600000000000ull,
	       "its fields");
	row = testspec_find(&s, "a/b", "1.1");
	tap_is_str(row ? row->command : NULL, "all", "the row of all versions");
	row = testspec_find(&s, "a/b", NULL);
	tap_is_str(row ? row->command : NULL, "all", "an unknown version");
	tap_ok(!testspec_find(&s, "c/d", "3"), "no row for another version");
	tap_ok(!testspec_find(&s, "e/f", "1"), "no row for another repository");
	testspec_done(&s);
}

static void refused(const char *text, const char *want)
{
	struct testspec s;
	struct err err = { 0 };

	tap_ok(testspec_parse("f", text, strlen(text), &s, &err) == -ERR_INPUT, "refused");
	tap_is_str(err.text, want, "where and why");
}

static void test_refusals(void)
{
	refused("{ \"schema\": \"proctor.test-spec/1\" }",
		"f: $: \"rows\" is missing: rows by repository and version");
	refused("{ \"schema\": \"proctor.test-spec/1\", \"rows\": [ { \"repo\": \"a/b\", \"reader\": \"tap\", "
		"\"comand\": \"x\" } ] }",
		"f: $.rows[0]: unknown key \"comand\", did you mean \"command\"?");
	refused("{ \"schema\": \"proctor.test-spec/1\", \"rows\": [ { \"repo\": \"a/b\", \"reader\": \"tap\", "
		"\"command\": null } ] }",
		"f: $.rows[0]: \"repo\", \"command\" and \"reader\" must be strings");
}

static void test_shipped(void)
{
	struct testspec s = { .v = NULL };
	struct err err = { 0 };
	const struct testspec_row *row;

	tap_ok(testspec_load(NULL, &s, &err) == 0, "the shipped rows %s", err.text);
	row = testspec_find(&s, "django/django", "3.0");
	tap_ok(row && row->files == TESTSPEC_DJANGO && row->env.n, "Django 3.0");
	row = testspec_find(&s, "sympy/sympy", "1.7");
	tap_is_str(row ? row->reader : NULL, "parse_log_sympy", "sympy's parser");
	testspec_done(&s);
}

int main(void)
{
	test_find();
	test_refusals();
	test_shipped();
	return tap_done();
}
