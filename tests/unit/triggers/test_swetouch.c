/* swe-touch-1.0: the table of commands, output-derived reads, and paths. */
#include "triggers/swetouch.h"

#include "base/buf.h"
#include "tests/lib/tap.h"
#include "tests/unit/triggers/table.h"
#include "triggers/shwords.h"

static char *as_text(const struct swetouch *t)
{
	auto_buf b = BUF_INIT(1u << 20);

	for (size_t i = 0; i < t->n; i++) {
		buf_addf(&b, "%s%s %s", i ? " " : "", t->v[i].edit ? "E" : "R", t->v[i].path);
		if (t->v[i].first)
			buf_addf(&b, ":%" PRIu64 "-%" PRIu64, t->v[i].first, t->v[i].last);
	}
	if (!t->n)
		buf_addc(&b, '-');
	return buf_steal(&b, NULL);
}

static void row(char *command, char *want)
{
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	char *const argv[] = { (char *)"bash", (char *)"-c", command, NULL };
	auto_free char *got = NULL;

	swetouch_command(&t, argv);
	got = as_text(&t);
	for (char *p = command; *p; p++)
		*p = *p == '\n' || *p == '#' ? '~' : *p;
	tap_is_str(got, want, command);
}

static void output(const char *name, char *const *argv, const char *data, const char *want)
{
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	auto_free char *got = NULL;

	swetouch_output(&t, argv, data, strlen(data));
	got = as_text(&t);
	tap_is_str(got, want, name);
}

/* The wrapper of a client is not the command. */
static void client(const char *text, const char *want, const char *events)
{
	char *const argv[] = { (char *)"bash", (char *)"-c", (char *)(uintptr_t)text, NULL };
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	auto_free char *inner = shwords_client(text), *got = NULL;

	tap_is_str(inner ? inner : "none", want, text);
	swetouch_command(&t, argv);
	got = as_text(&t);
	tap_is_str(got, events, "and its events");
}

static void clients(void)
{
	client("source /h/.c/shell-snapshots/s.sh 2>/dev/null || true && eval 'cat a.c | head -n 3' < /dev/null "
	       "&& pwd -P >| /tmp/cwd",
	       "cat a.c | head -n 3", "R a.c");
	client("source /h/.c/shell-snapshots/s.sh && eval 'sed -n '\"'\"'2,3p'\"'\"' a.c' && pwd -P >| /tmp/cwd",
	       "sed -n '2,3p' a.c", "R a.c:2-3");
	client("eval 'cat a.c'", "none", "-");
	client("source ./env && eval 'cat a.c'", "none", "-");
	client("source /h/shell-snapshots/s.sh; cat a.c", "none", "R a.c");
	client("", "none", "-");
}

int main(int argc, char **argv)
{
	char *const plain[] = { (char *)"sed", (char *)"-n", (char *)"3,4p", (char *)"a b.c",
				NULL };
	char *const grep[] = { (char *)"sh", (char *)"-c", (char *)"grep -rn foo .", NULL };
	char *const catn[] = { (char *)"sh", (char *)"-c", (char *)"cat -n a.c | sed -n 5,7p",
			       NULL };
	char *const two[] = { (char *)"sh", (char *)"-c", (char *)"cat -n a.c b.c", NULL };
	__attribute__((cleanup(swetouch_done))) struct swetouch t = { .v = NULL };
	auto_free char *got = NULL;

	tap_ok(table_each(argc > 1 ? argv[1] : "tests/tables/swetouch.tsv", row) >= 120,
	       "120 rows or more");
	swetouch_command(&t, plain);
	got = as_text(&t);
	tap_is_str(got, "R a b.c:3-4", "plain argv");
	clients();
	output("grep output", grep, "src/a.c:12:foo\n./b.c:3:  foo\nno match\nx:y:z\n",
	       "R src/a.c:12-12 R b.c:3-3");
	output("cat -n output", catn, "     5\tint a;\n     6\tint b;\n     7\t}\n", "R a.c:5-7");
	output("cat -n of two files", two, "     5\tint a;\n", "-");
	output("numbers of something else", grep, "  5\tx\n", "-");
	tap_ok(swetouch_same_path("src/a.c", "src/a.c", NULL), "relative path");
	tap_ok(swetouch_same_path("/w/src/a.c", "src/a.c", NULL), "absolute path by its end");
	tap_ok(swetouch_same_path("/w/src/a.c", "src/a.c", "/w/"),
	       "absolute path in the workspace");
	tap_ok(!swetouch_same_path("/tmp/src/a.c", "src/a.c", "/w"), "absolute path elsewhere");
	tap_ok(!swetouch_same_path("a.c", "src/a.c", NULL), "another file");
	tap_ok(!swetouch_same_path("/xsrc/a.c", "src/a.c", NULL), "half a component");
	return tap_done();
}
