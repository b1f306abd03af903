/* Paths that hold no implementation. Rows: the first one that fits names the kind. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "study/mine.h"

/* clang-format off */
static const struct {
	const char *glob, *kind;
} rows[] = {
	{ "**/package-lock.json", "lock file" }, { "**/*.lock", "lock file" },
	{ "**/pnpm-lock.yaml", "lock file" }, { "**/go.sum", "lock file" },
	{ "**/npm-shrinkwrap.json", "lock file" }, { "**/bun.lockb", "lock file" },
	{ "**/test/**", "tests" }, { "**/tests/**", "tests" }, { "**/testing/**", "tests" },
	{ "**/__tests__/**", "tests" }, { "**/spec/**", "tests" }, { "**/specs/**", "tests" },
	{ "**/testdata/**", "tests" }, { "**/fixtures/**", "tests" }, { "**/e2e/**", "tests" },
	{ "**/test_*", "tests" }, { "**/*_test.*", "tests" }, { "**/*_tests.*", "tests" },
	{ "**/*.test.*", "tests" }, { "**/*.spec.*", "tests" }, { "**/*_spec.rb", "tests" },
	{ "**/*Test.java", "tests" }, { "**/*Tests.java", "tests" }, { "**/conftest.py", "tests" },
	{ "**/tests.py", "tests" }, { "**/test.*", "tests" },
	{ "**/doc/**", "docs" }, { "**/docs/**", "docs" }, { "**/documentation/**", "docs" },
	{ "**/examples/**", "docs" }, { "**/*.md", "docs" }, { "**/*.rst", "docs" },
	{ "**/*.txt", "docs" }, { "**/*.adoc", "docs" }, { "**/CHANGES", "docs" },
	{ "**/CHANGELOG", "docs" }, { "**/README", "docs" }, { "**/LICENSE", "docs" },
	{ "**/AUTHORS", "docs" }, { "**/NEWS", "docs" },
	{ "**/node_modules/**", "build output" }, { "**/build/**", "build output" },
	{ "**/dist/**", "build output" }, { "**/target/**", "build output" },
	{ "**/out/**", "build output" }, { "**/__pycache__/**", "build output" },
	{ "**/*.egg-info/**", "build output" }, { "**/*.o", "build output" },
	{ "**/*.pyc", "build output" }, { "**/*.class", "build output" },
	{ "**/*.min.js", "generated" }, { "**/*.map", "generated" }, { "**/*.snap", "generated" },
	{ "**/*.pb.go", "generated" }, { "**/*_pb2.py", "generated" }, { "**/*.generated.*", "generated" },
	{ "**/*.po", "generated" }, { "**/*.pot", "generated" },
	{ ".*/**", "metadata" }, { "**/.*", "metadata" }, { "**/setup.py", "metadata" },
	{ "**/setup.cfg", "metadata" }, { "**/pyproject.toml", "metadata" },
	{ "**/tox.ini", "metadata" }, { "**/MANIFEST.in", "metadata" },
	{ "**/package.json", "metadata" }, { "**/tsconfig*.json", "metadata" },
	{ "**/go.mod", "metadata" }, { "**/Cargo.toml", "metadata" }, { "**/pom.xml", "metadata" },
	{ "**/Gemfile", "metadata" }, { "**/*.gemspec", "metadata" }, { "**/CODEOWNERS", "metadata" },
	{ "**/version.py", "metadata" }, { "**/_version.py", "metadata" },
};
/* clang-format on */

/* Scripts that agents make at the root to see a fault are theirs, not the project's. */
static bool is_scratch(const char *path)
{
	static const char *const globs[] = { "reproduce*", "repro_*", "repro.*", "debug_*",
					     "tmp*" };

	for (size_t i = 0; i < ARRAY_SIZE(globs); i++)
		if (str_path_glob(globs[i], path))
			return true;
	return false;
}

const char *mine_noise(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_path_glob(rows[i].glob, path))
			return rows[i].kind;
	return is_scratch(path) ? "scratch" : NULL;
}
