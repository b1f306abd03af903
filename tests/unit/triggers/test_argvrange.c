/* What known tools show of a file, by the table, and the programs that only scan. */
#include "triggers/argvrange.h"

#include "base/buf.h"
#include "base/path.h"
#include "tests/lib/tap.h"
#include "tests/unit/triggers/table.h"
#include "triggers/scan.h"
#include "triggers/shwords.h"

#define LINES 100

static char *as_text(int known, const struct argvrange *r)
{
	auto_buf b = BUF_INIT(4096);

	if (!known)
		buf_addc(&b, '?');
	else if (!r->n)
		buf_addc(&b, '-');
	for (size_t i = 0; known && i < r->n; i++)
		buf_addf(&b, "%s%" PRIu64 "-%" PRIu64, i ? "," : "", r->v[i].first, r->v[i].last);
	return buf_steal(&b, NULL);
}

/* The process is the first command that names f.c; the command is the whole text. */
static void row(char *command, char *want)
{
	__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };
	char *const cmd_argv[] = { (char *)"sh", (char *)"-c", command, NULL };
	struct argvrange r = { .n = 0 };
	auto_free char *got = NULL;
	size_t i = 0;
	int known;

	shwords_parse(&s, command);
	while (i + 1 < s.n && !strv_has(&s.v[i].words, "f.c"))
		i++;
	known = argvrange_in(s.v[i].words.v, path_base(s.v[i].words.v[0]), cmd_argv, LINES, &r);
	got = as_text(known, &r);
	for (char *p = command; *p; p++)
		*p = *p == '\n' ? '~' : *p;
	tap_is_str(got, want, command);
}

static void test_merge(void)
{
	char script[4096] = "";
	char *const argv[] = { (char *)"sed", (char *)"-n", script, (char *)"f.c", NULL };
	struct argvrange r;

	for (unsigned i = 0; i < 200; i++)
		snprintf(script + strlen(script), 20, "%up;", 1000 - 5 * i);
	tap_ok(argvrange_of(argv, NULL, 1000, &r) == 1 && r.n <= ARGVRANGE_MAX,
	       "many ranges are merged");
	tap_ok(r.v[0].first == 5 && r.v[r.n - 1].last == 1000, "from the first to the last");
	tap_ok(argvrange_of(NULL, "sed", 100, &r) == 0, "no argv");
	tap_ok(argvrange_of(argv, NULL, 0, &r) == 1 && r.n == 0, "empty file");
}

struct scan_case {
	const char *command, *want; /* beginning of the reason; NULL = counts */
};

/* clang-format off */
static const struct scan_case scans[] = {
	{ "grep -rn foo .", "program: search" }, { "grep -R foo src", "program: search" }, { "grep --recursive foo src", "program: search" },
	{ "grep foo src/", "program: search" }, { "grep -n foo src/calc.c", NULL }, { "grep foo a.c b.c", NULL },
	{ "rgrep foo", "program: search" }, { "rg foo", "program: search" }, { "rg foo src", "program: search" },
	{ "rg foo src/calc.c", NULL }, { "rg foo a.c b.c", "program: search" }, { "ag foo", "program: search" }, { "ack foo .", "program: search" },
	{ "rg -e foo calc.c", NULL },
	{ "git status", "program: version control" }, { "git -C x status --short", "program: version control" }, { "git add -A", "program: version control" },
	{ "git stash", "program: version control" }, { "git commit -m x", "program: version control" }, { "git reset --hard", "program: version control" },
	{ "git ls-files", "program: version control" }, { "git diff", NULL }, { "git show HEAD:a.c", NULL }, { "git checkout a.c", NULL },
	{ "git restore a.c", NULL }, { "git apply x.diff", NULL }, { "git blame a.c", NULL }, { "git log -p", NULL },
	{ "find . -name x", "program: search" }, { "ctags -R", "program: indexer" }, { "cscope -b", "program: indexer" },
	{ "pytest -q", "program: test runner" }, { "python3 -m pytest", "program: test runner" }, { "python3.11 -m pytest -q tests", "program: test runner" },
	{ "python -m unittest", "program: test runner" }, { "/usr/bin/python3 /usr/bin/pytest", "program: test runner" }, { "python3 -W error -m pytest", "program: test runner" },
	{ "python3 script.py", NULL }, { "python3 -c pass pytest", NULL }, { "unittest", NULL },
	{ "tox", "program: test runner" }, { "node --test", "program: test runner" }, { "node --test tests/", "program: test runner" }, { "node app.js", NULL },
	{ "node node_modules/.bin/jest", "program: test runner" }, { "mocha", "program: test runner" }, { "vitest run", "program: test runner" },
	{ "prove -r", "program: test runner" }, { "go test ./...", "program: test runner" }, { "cargo test", "program: test runner" }, { "cargo fmt", NULL },
	{ "go fmt", NULL }, { "ctest", "program: test runner" }, { "make test", NULL },
	{ "cc1 a.c", "program: compiler" }, { "cc1plus a.cc", "program: compiler" }, { "clang -c a.c", "program: compiler" }, { "as a.s", "program: compiler" },
	{ "tsc -p .", "program: compiler" }, { "javac A.java", "program: compiler" }, { "rustc a.rs", "program: compiler" }, { "node node_modules/.bin/tsc", "program: compiler" },
	{ "wc -l a.c", NULL }, { "md5sum a.c", NULL }, { "tar cf x.tar .", "program: bulk" }, { "cp a.c b.c", NULL }, { "cp -r src dst", "program: bulk" },
	{ "rsync -a a b", "program: bulk" }, { "cat a.c", NULL }, { "sed -n 1,5p a.c", NULL }, { "vim a.c", NULL },
	{ "wc 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "program: bulk" }, { "grep x 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "program: search" },
};
/* clang-format on */

static void test_scans(void)
{
	char *const cat[] = { (char *)"cat", (char *)"a.c", NULL };
	struct access many = { .argv = cat, .exe = "cat", .files_seen = SCAN_FILES_MAX + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(scans); i++) {
		__attribute__((cleanup(shwords_done))) struct shwords s = { .v = NULL };

		shwords_parse(&s, scans[i].command);
		tap_is_str(scan_program(s.v[0].words.v, NULL), scans[i].want, scans[i].command);
	}
	tap_is_str(scan_reason(&many), "files", "many files");
	many.files_seen = SCAN_FILES_MAX;
	tap_is_str(scan_reason(&many), NULL, "not so many files");
	tap_is_str(scan_program(NULL, "pytest"), "program: test runner", "by executable only");
	tap_is_str(scan_program(NULL, NULL), NULL, "nothing known");
}

int main(int argc, char **argv)
{
	tap_ok(table_each(argc > 1 ? argv[1] : "tests/tables/argvrange.tsv", row) >= 60,
	       "60 rows or more");
	test_merge();
	test_scans();
	return tap_done();
}
