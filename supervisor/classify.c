#include "supervisor/classify.h"

#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

static const char *const names[CLASS_MAX] = {
	[CLASS_OTHER] = "other",     [CLASS_READ] = "read",   [CLASS_SEARCH] = "search",
	[CLASS_EDIT] = "edit",       [CLASS_VCS] = "vcs",     [CLASS_NETWORK] = "network",
	[CLASS_PACKAGE] = "package", [CLASS_BUILD] = "build", [CLASS_TEST] = "test",
};

/* First row that fits wins: program glob, then (when given) a word that some later argument must
 * match. */
static const struct {
	const char *program, *word;
	enum cmd_class cls;
} rows[] = {
	/* clang-format off */
	{ "sed", "-i*", CLASS_EDIT },	      { "sed", "--in-place*", CLASS_EDIT },
	{ "sed", "-[a-zA-Z]i*", CLASS_EDIT },
	{ "perl", "-*i*", CLASS_EDIT },	      { "patch", NULL, CLASS_EDIT },
	{ "tee", NULL, CLASS_EDIT },	      { "cp", NULL, CLASS_EDIT },
	{ "mv", NULL, CLASS_EDIT },	      { "rm", NULL, CLASS_EDIT },
	{ "install", NULL, CLASS_EDIT },      { "truncate", NULL, CLASS_EDIT },
	{ "ed", NULL, CLASS_EDIT },	      { "ex", NULL, CLASS_EDIT },
	{ "vi", NULL, CLASS_EDIT },	      { "vim*", NULL, CLASS_EDIT },
	{ "cat", NULL, CLASS_READ },	      { "sed", NULL, CLASS_READ },
	{ "head", NULL, CLASS_READ },	      { "tail", NULL, CLASS_READ },
	{ "nl", NULL, CLASS_READ },	      { "less", NULL, CLASS_READ },
	{ "more", NULL, CLASS_READ },	      { "awk", NULL, CLASS_READ },
	{ "mawk", NULL, CLASS_READ },	      { "gawk", NULL, CLASS_READ },
	{ "wc", NULL, CLASS_READ },	      { "od", NULL, CLASS_READ },
	{ "xxd", NULL, CLASS_READ },	      { "hexdump", NULL, CLASS_READ },
	{ "cut", NULL, CLASS_READ },	      { "dd", NULL, CLASS_READ },
	{ "diff", NULL, CLASS_READ },	      { "cmp", NULL, CLASS_READ },
	{ "ls", NULL, CLASS_READ },	      { "stat", NULL, CLASS_READ },
	{ "file", NULL, CLASS_READ },	      { "tree", NULL, CLASS_READ },
	{ "*grep", NULL, CLASS_SEARCH },      { "rg", NULL, CLASS_SEARCH },
	{ "ag", NULL, CLASS_SEARCH },	      { "ack", NULL, CLASS_SEARCH },
	{ "find", NULL, CLASS_SEARCH },	      { "fd", NULL, CLASS_SEARCH },
	{ "locate", NULL, CLASS_SEARCH },
	{ "git", "apply", CLASS_EDIT },	      { "git", "merge-file", CLASS_EDIT },
	{ "git", "grep", CLASS_SEARCH },
	{ "git", "clone", CLASS_NETWORK },    { "git", "fetch", CLASS_NETWORK },
	{ "git", "pull", CLASS_NETWORK },     { "git", "push", CLASS_NETWORK },
	{ "git", NULL, CLASS_VCS },	      { "hg", NULL, CLASS_VCS },
	{ "svn", NULL, CLASS_VCS },
	{ "curl", NULL, CLASS_NETWORK },      { "wget", NULL, CLASS_NETWORK },
	{ "ssh", NULL, CLASS_NETWORK },	      { "scp", NULL, CLASS_NETWORK },
	{ "nc", NULL, CLASS_NETWORK },	      { "ping", NULL, CLASS_NETWORK },
	{ "npm", "test", CLASS_TEST },	      { "npm", "t", CLASS_TEST },
	{ "npm", "run*test*", CLASS_TEST },   { "npm", NULL, CLASS_PACKAGE },
	{ "yarn", "test", CLASS_TEST },	      { "yarn", NULL, CLASS_PACKAGE },
	{ "pnpm", "test", CLASS_TEST },	      { "pnpm", NULL, CLASS_PACKAGE },
	{ "pip*", NULL, CLASS_PACKAGE },      { "apt*", NULL, CLASS_PACKAGE },
	{ "dpkg*", NULL, CLASS_PACKAGE },     { "gem", NULL, CLASS_PACKAGE },
	{ "pytest*", NULL, CLASS_TEST },      { "py.test*", NULL, CLASS_TEST },
	{ "python*", "pytest", CLASS_TEST },  { "python*", "unittest", CLASS_TEST },
	{ "python*", "*runtests*", CLASS_TEST }, { "python*", "*/pytest", CLASS_TEST },
	{ "tox", NULL, CLASS_TEST },	      { "nosetests*", NULL, CLASS_TEST },
	{ "node", "--test*", CLASS_TEST },    { "node", "*mocha*", CLASS_TEST },
	{ "node", "*jest*", CLASS_TEST },     { "node", "*vitest*", CLASS_TEST },
	{ "node", "*tape*", CLASS_TEST },     { "node", "*/tap", CLASS_TEST },
	{ "mocha", NULL, CLASS_TEST },	      { "jest", NULL, CLASS_TEST },
	{ "vitest", NULL, CLASS_TEST },	      { "tape", NULL, CLASS_TEST },
	{ "prove", NULL, CLASS_TEST },	      { "ctest", NULL, CLASS_TEST },
	{ "bats", NULL, CLASS_TEST },	      { "rspec", NULL, CLASS_TEST },
	{ "phpunit", NULL, CLASS_TEST },      { "go", "test", CLASS_TEST },
	{ "cargo", "test", CLASS_TEST },      { "cargo", "nextest", CLASS_TEST },
	{ "make", "*test*", CLASS_TEST },     { "make", "*check*", CLASS_TEST },
	{ "ninja", "*test*", CLASS_TEST },    { "meson", "test", CLASS_TEST },
	{ "mvn", "test", CLASS_TEST },	      { "gradle*", "test", CLASS_TEST },
	{ "go", NULL, CLASS_BUILD },	      { "cargo", NULL, CLASS_BUILD },
	{ "make", NULL, CLASS_BUILD },	      { "ninja", NULL, CLASS_BUILD },
	{ "meson", NULL, CLASS_BUILD },	      { "cmake", NULL, CLASS_BUILD },
	{ "gcc*", NULL, CLASS_BUILD },	      { "g++*", NULL, CLASS_BUILD },
	{ "cc", NULL, CLASS_BUILD },	      { "c++", NULL, CLASS_BUILD },
	{ "cc1*", NULL, CLASS_BUILD },	      { "clang*", NULL, CLASS_BUILD },
	{ "rustc", NULL, CLASS_BUILD },	      { "javac", NULL, CLASS_BUILD },
	{ "tsc", NULL, CLASS_BUILD },	      { "mvn", NULL, CLASS_BUILD },
	{ "gradle*", NULL, CLASS_BUILD },     { "as", NULL, CLASS_BUILD },
	{ "ld", NULL, CLASS_BUILD },	      { "collect2", NULL, CLASS_BUILD },
	/* clang-format on */
};

const char *classify_name(enum cmd_class c)
{
	return c < CLASS_MAX ? names[c] : "other";
}

static int has_word(char *const *argv, const char *word)
{
	for (char *const *a = argv + 1; *a; a++) {
		if (fnmatch(word, *a, 0) == 0)
			return 1;
	}
	return 0;
}

enum cmd_class classify_argv(char *const *argv)
{
	const char *program;

	if (!argv || !argv[0])
		return CLASS_OTHER;
	program = path_base(argv[0]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (fnmatch(rows[i].program, program, 0) == 0 &&
		    (!rows[i].word || has_word(argv, rows[i].word)))
			return rows[i].cls;
	}
	return CLASS_OTHER;
}
