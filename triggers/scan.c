#include "triggers/scan.h"

#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

/* A program with its words, interpreters resolved. */
struct program {
	const char *name;  /* base name */
	char *const *args; /* words behind it, NULL-terminated */
	bool module;       /* python -m NAME */
};

static size_t operand_count(char *const *args)
{
	size_t n = 0;

	for (size_t i = 0; args[i]; i++)
		n += args[i][0] != '-';
	return n;
}

static bool has_arg(char *const *args, const char *what)
{
	for (size_t i = 0; args[i]; i++)
		if (str_eq(args[i], what))
			return true;
	return false;
}

/* A letter among the short options. */
static bool has_letter(char *const *args, char letter)
{
	for (size_t i = 0; args[i]; i++)
		if (args[i][0] == '-' && args[i][1] != '-' && strchr(args[i] + 1, letter))
			return true;
	return false;
}

static bool always(char *const *args)
{
	(void)args; /* the program's name says it all */
	return true;
}

static bool many(char *const *args)
{
	return operand_count(args) > SCAN_FILES_MAX;
}

/* grep: over a tree, or over more files than anybody reads. "." and "dir/" are directories by
 * their looks; others show when grep -r or the number of files does. */
static bool grep_tree(char *const *args)
{
	if (has_letter(args, 'r') || has_letter(args, 'R') || has_arg(args, "--recursive") ||
	    has_arg(args, "--dereference-recursive"))
		return true;
	for (size_t i = 0; args[i]; i++)
		if (str_eq(args[i], ".") || str_eq(args[i], "..") || str_ends(args[i], "/"))
			return true;
	return operand_count(args) > SCAN_FILES_MAX + 1; /* the pattern is one */
}

/* rg, ag, ack search trees unless told exactly one file. */
static bool search_tree(char *const *args)
{
	size_t n = operand_count(args);
	const char *last = NULL;

	for (size_t i = 0; args[i]; i++)
		if (args[i][0] != '-')
			last = args[i];
	if (has_letter(args, 'e') || has_letter(args, 'f'))
		return n != 2; /* the option's word, and the file */
	return n != 2 || str_eq(last, ".") || str_ends(last, "/") || !strchr(path_base(last), '.');
}

static const char *subcommand(char *const *args)
{
	size_t i = 0;

	while (args[i] && args[i][0] == '-') {
		bool takes = str_eq(args[i], "-C") || str_eq(args[i], "-c");

		i += 1 + (takes && args[i + 1]);
	}
	return args[i] ? args[i] : "";
}

/* git subcommands that read the tree for themselves. diff, show, checkout, restore, apply, blame
 * and log show or change contents and count. */
static bool git_keeping(char *const *args)
{
	static const char *const quiet[] = { "status",   "add",         "stash",     "commit",
					     "ls-files", "rev-parse",   "gc",        "fsck",
					     "clone",    "fetch",       "reset",     "grep",
					     "clean",    "repack",      "prune",     "update-index",
					     "describe", "hash-object", "write-tree" };
	const char *sub = subcommand(args);

	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		if (str_eq(sub, quiet[i]))
			return true;
	return false;
}

static bool sub_test(char *const *args)
{
	const char *sub = subcommand(args);

	return str_eq(sub, "test") || str_eq(sub, "bench") || str_eq(sub, "nextest");
}

static bool sub_build(char *const *args)
{
	const char *sub = subcommand(args);

	return sub_test(args) || str_eq(sub, "build") || str_eq(sub, "vet") || str_eq(sub, "run") ||
	       str_eq(sub, "check") || str_eq(sub, "clippy") || str_eq(sub, "install");
}

static bool node_test(char *const *args)
{
	return has_arg(args, "--test");
}

static bool copy_tree(char *const *args)
{
	return has_letter(args, 'r') || has_letter(args, 'R') || has_letter(args, 'a') ||
	       has_arg(args, "--recursive") || has_arg(args, "--archive") || many(args);
}

/* clang-format off */
#define SEARCH	 "program: search"
#define VCS	 "program: version control"
#define TESTS	 "program: test runner"
#define COMPILER "program: compiler"
#define INDEXER	 "program: indexer"
#define BULK	 "program: bulk"

struct scan_row {
	const char *name;
	bool (*is)(char *const *args);
	const char *reason;
	bool module; /* as python -m NAME only */
};

static const struct scan_row rows[] = {
	{ "grep", grep_tree, SEARCH }, { "egrep", grep_tree, SEARCH }, { "fgrep", grep_tree, SEARCH },
	{ "rgrep", always, SEARCH }, { "zgrep", grep_tree, SEARCH },
	{ "rg", search_tree, SEARCH }, { "ag", search_tree, SEARCH }, { "ack", search_tree, SEARCH },
	{ "ack-grep", search_tree, SEARCH }, { "ugrep", search_tree, SEARCH },
	{ "find", always, SEARCH }, { "fd", always, SEARCH }, { "fdfind", always, SEARCH }, { "locate", always, SEARCH },
	{ "git", git_keeping, VCS }, { "hg", always, VCS }, { "svn", always, VCS },
	{ "git-remote-https", always, VCS },
	{ "pytest", always, TESTS }, { "py.test", always, TESTS }, { "tox", always, TESTS }, { "nox", always, TESTS },
	{ "nosetests", always, TESTS }, { "nose2", always, TESTS }, { "unittest", always, TESTS, true },
	{ "nose", always, TESTS, true }, { "coverage", always, TESTS }, { "trial", always, TESTS }, { "doctest", always, TESTS, true },
	{ "node", node_test, TESTS }, { "mocha", always, TESTS }, { "_mocha", always, TESTS }, { "jest", always, TESTS },
	{ "vitest", always, TESTS }, { "ava", always, TESTS }, { "tape", always, TESTS }, { "tap", always, TESTS },
	{ "mocha.js", always, TESTS }, { "jest.js", always, TESTS }, { "vitest.mjs", always, TESTS },
	{ "prove", always, TESTS }, { "rspec", always, TESTS }, { "phpunit", always, TESTS }, { "ctest", always, TESTS },
	{ "bats", always, TESTS }, { "cargo-nextest", always, TESTS }, { "gotestsum", always, TESTS },
	{ "go", sub_build, TESTS }, { "cargo", sub_build, TESTS },
	{ "cc1", always, COMPILER }, { "cc1plus", always, COMPILER }, { "cc1obj", always, COMPILER }, { "gcc", always, COMPILER },
	{ "g++", always, COMPILER }, { "cc", always, COMPILER }, { "c++", always, COMPILER }, { "cpp", always, COMPILER },
	{ "clang", always, COMPILER }, { "clang++", always, COMPILER }, { "as", always, COMPILER }, { "ld", always, COMPILER },
	{ "ld.bfd", always, COMPILER }, { "ld.gold", always, COMPILER }, { "ld.lld", always, COMPILER }, { "lld", always, COMPILER },
	{ "collect2", always, COMPILER }, { "lto1", always, COMPILER }, { "lto-wrapper", always, COMPILER },
	{ "tsc", always, COMPILER }, { "esbuild", always, COMPILER }, { "swc", always, COMPILER }, { "webpack", always, COMPILER },
	{ "javac", always, COMPILER }, { "kotlinc", always, COMPILER }, { "scalac", always, COMPILER },
	{ "rustc", always, COMPILER }, { "compile", always, COMPILER }, { "asm", always, COMPILER }, { "link", always, COMPILER },
	{ "vet", always, COMPILER }, { "py_compile", always, COMPILER, true }, { "compileall", always, COMPILER, true },
	{ "ccache", always, COMPILER }, { "gfortran", always, COMPILER }, { "f951", always, COMPILER }, { "ghc", always, COMPILER },
	{ "ctags", always, INDEXER }, { "etags", always, INDEXER }, { "cscope", always, INDEXER }, { "gtags", always, INDEXER },
	{ "clangd", always, INDEXER }, { "gopls", always, INDEXER }, { "rust-analyzer", always, INDEXER }, { "pyright", always, INDEXER },
	{ "pyright-langserver", always, INDEXER }, { "tsserver", always, INDEXER }, { "tsserver.js", always, INDEXER },
	{ "pylsp", always, INDEXER }, { "jedi-language-server", always, INDEXER }, { "mypy", always, INDEXER }, { "pylint", always, INDEXER },
	{ "flake8", always, INDEXER }, { "ruff", always, INDEXER }, { "eslint", always, INDEXER }, { "cloc", always, INDEXER },
	{ "tokei", always, INDEXER }, { "watchman", always, INDEXER },
	{ "wc", many, BULK }, { "md5sum", many, BULK }, { "sha1sum", many, BULK }, { "sha256sum", many, BULK },
	{ "sha512sum", many, BULK }, { "b2sum", many, BULK }, { "cksum", many, BULK }, { "tar", always, BULK }, { "zip", copy_tree, BULK },
	{ "rsync", always, BULK }, { "cp", copy_tree, BULK }, { "mv", always, BULK }, { "cpio", always, BULK }, { "du", always, BULK },
	{ "install", many, BULK }, { "gzip", many, BULK }, { "xz", many, BULK }, { "file", many, BULK },
};
/* clang-format on */

static bool is_interpreter(const char *name)
{
	static const char *const names[] = { "python", "node", "nodejs", "perl", "ruby",
					     "bun",    "deno", "php",    "pypy", "pypy3" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i]))
			return true;
	/* python3, python3.11 */
	return str_starts(name, "python") && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

/* The script that an interpreter runs. */
static struct program resolve(const char *name, char *const *args)
{
	struct program p = { name, args, false };

	if (!is_interpreter(name))
		return p;
	for (size_t i = 0; args[i]; i++) {
		if (str_eq(args[i], "-m") && args[i + 1])
			return (struct program){ args[i + 1], args + i + 2, true };
		if (str_eq(args[i], "-c") || str_eq(args[i], "-e"))
			return p;
		if (str_eq(args[i], "-W") || str_eq(args[i], "-X") || str_eq(args[i], "-r")) {
			i += args[i + 1] != NULL;
			continue;
		}
		/* node --test is the interpreter's own */
		if (str_eq(args[i], "--test"))
			return p;
		if (args[i][0] != '-')
			return (struct program){ path_base(args[i]), args + i + 1, false };
	}
	return p;
}

static const char *by_rows(const struct program *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(rows[i].name, p->name) && (!rows[i].module || p->module) &&
		    rows[i].is(p->args))
			return rows[i].reason;
	return NULL;
}

const char *scan_program(char *const *argv, const char *exe)
{
	static char *const none[] = { NULL };
	char *const *args = argv && argv[0] ? argv + 1 : none;
	const char *r = NULL;
	struct program p;

	if (argv && argv[0]) {
		p = resolve(path_base(argv[0]), args);
		r = by_rows(&p);
	}
	if (r || !exe)
		return r;
	p = resolve(exe, args);
	return by_rows(&p);
}

const char *scan_reason(const struct access *a)
{
	const char *r = scan_program(a->argv, a->exe);

	if (r)
		return r;
	return a->files_seen > SCAN_FILES_MAX ? "files" : NULL;
}
