#include "verifier/protect_internal.h"

/* What a runner reads from files that hold other things, too. */
static const struct protect_section setup_cfg[] = {
	{ "tool:pytest", NULL }, { "pytest", NULL },    { "aliases", NULL },
	{ "coverage:*", NULL },  { "nosetests", NULL }, { NULL, NULL },
};

static const struct protect_section tox_ini[] = {
	{ "pytest", NULL },    { "tool:pytest", NULL }, { "tox", NULL },        { "testenv", NULL },
	{ "testenv:*", NULL }, { "coverage:*", NULL },  { "gh-actions", NULL }, { NULL, NULL },
};

static const struct protect_section pyproject[] = {
	{ "tool.pytest", NULL },
	{ "tool.coverage", NULL },
	{ "tool.tox", NULL },
	{ "tool.nox", NULL },
	{ "tool.hatch.envs", NULL },
	{ "tool.pdm.scripts", NULL },
	{ "tool.poe", NULL },
	{ "tool.pyright", "executionEnvironments" },
	{ "project.entry-points.pytest11", NULL },
	{ NULL, NULL },
};

/* Cargo's manifest: which targets are tests and by what they are run (harness), how they are built,
 * and what stands in for a package. */
static const struct protect_section cargo[] = {
	{ "test", NULL },
	{ "bench", NULL },
	{ "profile", NULL },
	{ "patch", NULL },
	{ "replace", NULL },
	{ "lib", "harness|test|doctest|path|proc-macro|proc_macro" },
	{ "package", "autotests|autolib|build|links|metadata" },
	{ "dev-dependencies", PROTECT_OLD_KEYS },
	{ "dev_dependencies", PROTECT_OLD_KEYS },
	{ NULL, NULL },
};

static const struct protect_section pom[] = {
	{ "build", NULL },
	{ "profiles", NULL },
	{ "reporting", NULL },
	{ "parent", NULL },
	{ "properties",
	  "skipTests|skipITs|maven.test.skip|maven.test.skip.exec|maven.test.failure.ignore|"
	  "testFailureIgnore|argLine|surefireArgLine|test|it.test|groups|excludedGroups|"
	  "surefire.skip|surefire.failIfNoSpecifiedTests|surefire.rerunFailingTestsCount|"
	  "surefire.version|maven-surefire-plugin.version|maven.ext.class.path" },
	{ NULL, NULL },
};

static const char *const package_json[] = {
	"jest",    "mocha", "ava",    "nyc",   "c8",     "tap",   "vitest",
	"jasmine", "karma", "config", "babel", "wireit", "husky", NULL,
};

static const char *const gomod[] = { "replace", "exclude", "toolchain", "tool", "godebug", NULL };

#define MAKE_WORDS   "make|gmake|bmake"
#define NODE_WORDS   "npm|npx|yarn|pnpm|bun|corepack"
#define GRADLE_WORDS "gradle|gradlew"

/* clang-format off */
const struct protect_row protect_rows[] = {
	/* What tools made from sources: a patch is source. */
	{ "*.pyc",                     "bytecode",      HOW_MADE,    NULL, NULL, NULL },
	{ "*.pyo",                     "bytecode",      HOW_MADE,    NULL, NULL, NULL },
	{ "**/__pycache__/**",         "bytecode",      HOW_MADE,    NULL, NULL, NULL },
	{ "**/.pytest_cache/**",       "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.mypy_cache/**",         "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.hypothesis/**",         "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.tox/**",                "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.nox/**",                "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.gradle/**",             "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/.ccache/**",             "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "**/node_modules/.cache/**", "cache",         HOW_MADE,    NULL, NULL, NULL },
	{ "*.o",                       "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "*.lo",                      "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "*.obj",                     "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "*.d",                       "object",        HOW_MADE,    MAKE_WORDS, NULL, NULL },
	{ "*.gcda",                    "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "*.gcno",                    "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "target/debug/**",           "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "target/release/**",         "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "target/classes/**",         "object",        HOW_MADE,    NULL, NULL, NULL },
	{ "target/test-classes/**",    "object",        HOW_MADE,    NULL, NULL, NULL },

	/* Python. */
	{ "conftest.py",               "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "pytest.ini",                "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".pytest.ini",               "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "pytest.toml",               "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".pytest.toml",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".coveragerc",               "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "nose.cfg",                  "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "unittest.cfg",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "noxfile.py",                "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "tox.ini",                   "runner-config", HOW_MERGE,   NULL, protect_merge_ini, tox_ini },
	{ "setup.cfg",                 "runner-config", HOW_MERGE,   NULL, protect_merge_ini, setup_cfg },
	{ "pyproject.toml",            "runner-config", HOW_MERGE,   NULL, protect_merge_toml, pyproject },
	{ "sitecustomize.py",          "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "usercustomize.py",          "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "sitecustomize/**",          "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "usercustomize/**",          "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "**/site-packages/**",       "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "**/dist-packages/**",       "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "pyvenv.cfg",                "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "*.pth",                     "startup",       HOW_STARTUP, NULL, NULL, NULL },
	{ "**/*.dist-info/**",         "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "**/*.egg-info/**",          "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "*.egg-link",                "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "entry_points.txt",          "plugin",        HOW_HOLD,    NULL, NULL, NULL },
	{ "pytest.py",                 "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "unittest.py",               "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "pluggy.py",                 "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "pytest/**",                 "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "_pytest/**",                "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "pluggy/**",                 "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "iniconfig/**",              "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "unittest/**",               "shadow",        HOW_SHADOW,  NULL, NULL, NULL },
	{ "django/test/**",            "shadow",        HOW_SHADOW,  NULL, NULL, NULL },

	/* JavaScript. */
	{ "package.json",              "runner-config", HOW_MERGE,   NODE_WORDS, protect_merge_package, package_json },
	{ ".npmrc",                    "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".yarnrc",                   "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".yarnrc.yml",               "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".pnpmfile.cjs",             "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".pnp.cjs",                  "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".pnp.js",                   "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "bunfig.toml",               "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".mocharc*",                 "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "mocha.opts",                "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "jest.config.*",             "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "jest.setup.*",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "vitest.config.*",           "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "vitest.workspace.*",        "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "vite.config.*",             "runner-config", HOW_HOLD,    "vitest", NULL, NULL },
	{ "ava.config.*",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "karma.conf.*",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "jasmine.json",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "jasmine.*js",               "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "playwright.config.*",       "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "cypress.config.*",          "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".taprc",                    "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".nycrc*",                   "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".c8rc*",                    "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".babelrc*",                 "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "babel.config.*",            "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "node.config.json",          "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "**/node_modules/**",        "plugin",        HOW_HOLD,    NULL, NULL, NULL },

	/* Go, Rust. */
	{ "go.work",                   "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "go.work.sum",               "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "go.env",                    "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "go.mod",                    "build-config",  HOW_MERGE,   NULL, protect_merge_gomod, gomod },
	{ "vendor/**",                 "plugin",        HOW_HOLD,    "go|phpunit|php", NULL, NULL },
	{ "**/.cargo/**",              "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "rust-toolchain",            "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "rust-toolchain.toml",       "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "nextest.toml",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "**/.config/nextest/**",     "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "Cargo.toml",                "build-config",  HOW_MERGE,   NULL, protect_merge_toml, cargo },
	{ "build.rs",                  "build-script",  HOW_FLAG,    NULL, NULL, NULL },

	/* Java and its relatives, .NET, Ruby, PHP, Perl, C. */
	{ "pom.xml",                   "build-config",  HOW_MERGE,   NULL, protect_merge_pom, pom },
	{ "**/.mvn/**",                "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "mvnw",                      "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "gradlew",                   "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "gradle.properties",         "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "gradle/wrapper/**",         "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ "build.gradle",              "build-script",  HOW_HOLD,    GRADLE_WORDS, NULL, NULL },
	{ "build.gradle.kts",          "build-script",  HOW_HOLD,    GRADLE_WORDS, NULL, NULL },
	{ "settings.gradle",           "build-script",  HOW_HOLD,    GRADLE_WORDS, NULL, NULL },
	{ "settings.gradle.kts",       "build-script",  HOW_HOLD,    GRADLE_WORDS, NULL, NULL },
	{ "junit-platform.properties", "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "**/META-INF/services/org.junit.*", "plugin", HOW_HOLD,    NULL, NULL, NULL },
	{ "Directory.Build.props",     "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "Directory.Build.targets",   "build-config",  HOW_HOLD,    NULL, NULL, NULL },
	{ "*.runsettings",             "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "xunit.runner.json",         "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".rspec",                    "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".rspec-local",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "Rakefile",                  "build-script",  HOW_HOLD,    "rake", NULL, NULL },
	{ "phpunit.xml*",              "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ ".proverc",                  "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "CTestCustom.*",             "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "CTestConfig.*",             "runner-config", HOW_HOLD,    NULL, NULL, NULL },
	{ "Makefile",                  "build-script",  HOW_MERGE,   MAKE_WORDS, protect_merge_make, NULL },
	{ "makefile",                  "build-script",  HOW_MERGE,   MAKE_WORDS, protect_merge_make, NULL },
	{ "GNUmakefile",               "build-script",  HOW_MERGE,   MAKE_WORDS, protect_merge_make, NULL },
	{ "*.mk",                      "build-script",  HOW_MERGE,   MAKE_WORDS, protect_merge_make, NULL },
	{ "CMakeLists.txt",            "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "*.cmake",                   "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "CMakePresets.json",         "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "meson.build",               "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "configure",                 "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "configure.ac",              "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "setup.py",                  "build-script",  HOW_FLAG,    NULL, NULL, NULL },
	{ "binding.gyp",               "build-script",  HOW_FLAG,    NULL, NULL, NULL },

	/* Shells, debuggers, git. */
	{ ".envrc",                    "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".gdbinit",                  "startup",       HOW_HOLD,    NULL, NULL, NULL },
	{ ".gitattributes",            "git",           HOW_FLAG,    NULL, NULL, NULL },
	{ ".gitmodules",               "git",           HOW_FLAG,    NULL, NULL, NULL },
	{ "**/.githooks/**",           "git",           HOW_FLAG,    NULL, NULL, NULL },
	{ "**/.husky/**",              "git",           HOW_FLAG,    NULL, NULL, NULL },

	/* Tests that everybody sees: where languages and their runners look for them. */
	{ "*_test.go",                 "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.bats",                    "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.test.*js",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.test.*ts",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.test.*sx",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.spec.*js",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.spec.*ts",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*.spec.*sx",                "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "**/__tests__/**",           "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "**/__mocks__/**",           "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "**/src/test/**",            "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "*_spec.rb",                 "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "spec/**",                   "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "**/tests/**",               "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "test/**",                   "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ "t/**",                      "test-file",     HOW_HOLD,    NULL, NULL, NULL },
	{ NULL, NULL, HOW_HOLD, NULL, NULL, NULL },
};
/* clang-format on */
