#include "supervisor/classify.h"

#include "tests/lib/tap.h"

static const struct {
	const char *argv[8];
	const char *cls;
} rows[] = {
	{ { "cat", "a.c" }, "read" },
	{ { "/usr/bin/sed", "-n", "1,5p", "a.c" }, "read" },
	{ { "sed", "-i", "s/a/b/", "a.c" }, "edit" },
	{ { "sed", "-Ei.bak", "s/a/b/", "a.c" }, "edit" },
	{ { "grep", "-rn", "x", "." }, "search" },
	{ { "rg", "x" }, "search" },
	{ { "git", "status" }, "vcs" },
	{ { "git", "apply", "x.diff" }, "edit" },
	{ { "git", "push" }, "network" },
	{ { "make", "-j2" }, "build" },
	{ { "make", "test" }, "test" },
	{ { "npm", "ci" }, "package" },
	{ { "npm", "run", "test:unit" }, "package" },
	{ { "npm", "test" }, "test" },
	{ { "python3.11", "-m", "pytest", "-q" }, "test" },
	{ { "python3", "setup.py" }, "other" },
	{ { "node", "--test", "a.js" }, "test" },
	{ { "go", "test", "./..." }, "test" },
	{ { "go", "build" }, "build" },
	{ { "curl", "http://localhost" }, "network" },
	{ { "sh", "-c", "true" }, "other" },
	{ { NULL }, "other" },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[8];

		for (size_t k = 0; k < 8; k++)
			argv[k] = (char *)(uintptr_t)rows[i].argv[k];
		tap_is_str(classify_name(classify_argv(argv)), rows[i].cls,
			   rows[i].argv[0] ? rows[i].argv[0] : "nothing");
	}
	return tap_done();
}
