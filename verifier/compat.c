#include "verifier/compat.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "verifier/compat_internal.h"

#define FAILURES "failures only: what is not there has passed (eval_type fail_only)"

/* clang-format off */
const struct testlog_reader compat_readers[] = {
	{ "swebench/pytest",          compat_read_pytest,         "pytest -rA; ids are cut at the first blank" },
	{ "swebench/pytest_options",  compat_read_pytest_options, "as pytest; \"[/a/b]\" becomes \"[/b]\"" },
	{ "swebench/pytest_v2",       compat_read_pytest_v2,      "pytest -rA or -v; ids keep single blanks" },
	{ "swebench/matplotlib",      compat_read_matplotlib,     "as pytest; MouseButton.LEFT and RIGHT are 1 and 3" },
	{ "swebench/seaborn",         compat_read_seaborn,        "pytest, passed and failed only" },
	{ "swebench/sympy",           compat_read_sympy,          "sympy's bin/test --verbose, names without files" },
	{ "swebench/django",          compat_read_django,         "Django's runtests.py --verbosity 2; docstrings are names" },
	{ "swebench/jest",            compat_read_jest,           "jest --verbose, names without suites" },
	{ "swebench/jest_json",       compat_read_jest_json,      "\"[PASSED] name\" lines made from jest --json" },
	{ "swebench/vitest",          compat_read_vitest,         "vitest --reporter=verbose" },
	{ "swebench/karma",           compat_read_karma,          "karma-spec-reporter" },
	{ "swebench/tap",             compat_read_tap,            "TAP lines; directives are part of names" },
	{ "swebench/gotest",          compat_read_gotest,         "go test -v, names without packages" },
	{ "swebench/cargo",           compat_read_cargo,          "cargo test, names of one word without targets" },
	{ "swebench/maven",           compat_read_maven,          "one mvn -Dtest=NAME per test, BUILD SUCCESS or FAILURE" },
	{ "swebench/ant",             compat_read_ant,            "\"[junit] [PASS] name\" lines" },
	{ "swebench/gradle_custom",   compat_read_gradle,         "gradle, \"Class > method PASSED\" lines" },
	{ "swebench/phpunit",         compat_read_phpunit,        "phpunit --testdox" },
	{ "swebench/minitest",        compat_read_minitest,       "\"name. = 0.00 s = .\" lines" },
	{ "swebench/cucumber",        compat_read_cucumber,       "cucumber --format progress" },
	{ "swebench/ruby_unit",       compat_read_ruby_unit,      "test-unit, verbose" },
	{ "swebench/rspec_transformed_json", compat_read_rspec,   "\"name - passed\" lines made from rspec's JSON" },
	{ "swebench/jekyll",          compat_read_jekyll,         "minitest or cucumber, by the task" },
	{ "swebench/googletest",      compat_read_googletest,     "googletest, perhaps behind ctest's numbers" },
	{ "swebench/doctest",         compat_read_doctest,        "doctest -s -r=xml, subcases" },
	{ "swebench/redis",           compat_read_redis,          "runtest of Redis and Valkey" },
	{ "swebench/jq",              compat_read_jq,             "automake, \"PASS: name\" lines" },
	{ "swebench/micropython_test", compat_read_micropython,   "run-tests.py of MicroPython" },
	{ "swebench/calypso",         compat_read_calypso,        "jest behind its command line, suites joined by \" - \"" },
	{ "swebench/highlightjs",     compat_read_highlightjs,    "mocha's spec reporter" },
	{ "swebench/next",            compat_read_next,           "karma, or cypress for version 1.27" },
	{ "swebench/plotly_js",       compat_read_plotly,         "tape's tree" },
	{ "swebench/carbon",          compat_read_jest_files,     "jest, one result per file" },
	{ "swebench/grommet",         compat_read_grommet,        "jest, one result per file, passed counts" },
	{ "swebench/emotion",         compat_read_emotion,        "jest, one result per file with its time" },
	{ "swebench/lighthouse",      compat_read_lighthouse,     "mocha or jest, by the version" },
	{ "swebench/quarto_cli",      compat_read_quarto_cli,     "deno test of Quarto" },
	{ "swebench/prismjs",         compat_read_prismjs,        "mocha --reporter json" },
	{ "swebench/cypress",         compat_read_cypress,        "mocha --reporter json in several parts" },
	{ "swebench/immutable_js",    compat_read_immutable_js,   "jest or jest_json, by the task" },
	{ "swebench/bpmn_js",         compat_read_bpmn_js,        FAILURES },
	{ "swebench/openlayers",      compat_read_openlayers,     FAILURES },
	{ "swebench/chart_js",        compat_read_chart_js,       FAILURES },
	{ "swebench/eslint",          compat_read_eslint,         FAILURES },
	{ "swebench/marked",          compat_read_marked,         FAILURES },
	{ "swebench/p5js",            compat_read_p5js,           FAILURES },
	{ NULL },
};

/* Names for the same thing. */
static const struct {
	const char *name, *row;
} aliases[] = {
	{ "astroid", "pytest" },        { "flask", "pytest" },     { "marshmallow", "pytest" },
	{ "pvlib", "pytest" },          { "pyvista", "pytest" },   { "sqlfluff", "pytest" },
	{ "xarray", "pytest" },         { "pydicom", "pytest_options" },
	{ "requests", "pytest_options" }, { "pylint", "pytest_options" },
	{ "astropy", "pytest_v2" },     { "scikit", "pytest_v2" }, { "sphinx", "pytest_v2" },
	{ "react_pdf", "carbon" },      { "prettier", "carbon" },  { "scratch_gui", "carbon" },
	{ "lighthouse_jest", "carbon" }, { "micropython", "micropython_test" },
	{ "plotly", "plotly_js" },
};

/* The reader of testlog.c for the same runner. */
static const struct {
	const char *row, *exact;
} exacts[] = {
	{ "pytest", "pytest" },   { "pytest_options", "pytest" }, { "pytest_v2", "pytest" },
	{ "matplotlib", "pytest" }, { "seaborn", "pytest" },      { "sympy", "sympy" },
	{ "django", "unittest" }, { "jest", "jest" },             { "vitest", "vitest" },
	{ "tap", "tap" },         { "gotest", "gotest" },         { "cargo", "libtest" },
	{ "gradle_custom", "gradle" }, { "phpunit", "phpunit" },  { "minitest", "minitest" },
	{ "googletest", "googletest" }, { "calypso", "jest" },    { "highlightjs", "mocha" },
	{ "redis", "redis-tcl" }, { "ruby_unit", "test-unit" },
};

/* Repositories of SWE-bench and of its multilingual and multimodal sets. */
static const struct {
	const char *repo, *row;
} repos[] = {
	{ "astropy/astropy", "pytest_v2" },            { "django/django", "django" },
	{ "marshmallow-code/marshmallow", "pytest" },  { "matplotlib/matplotlib", "matplotlib" },
	{ "mwaskom/seaborn", "seaborn" },              { "pallets/flask", "pytest" },
	{ "psf/requests", "pytest_options" },          { "pvlib/pvlib-python", "pytest" },
	{ "pydata/xarray", "pytest" },                 { "pydicom/pydicom", "pytest_options" },
	{ "pylint-dev/astroid", "pytest" },            { "pylint-dev/pylint", "pytest_options" },
	{ "pytest-dev/pytest", "pytest" },             { "pyvista/pyvista", "pytest" },
	{ "scikit-learn/scikit-learn", "pytest_v2" },  { "sqlfluff/sqlfluff", "pytest" },
	{ "sphinx-doc/sphinx", "pytest_v2" },          { "sympy/sympy", "sympy" },
	{ "Automattic/wp-calypso", "calypso" },        { "chartjs/Chart.js", "chart_js" },
	{ "markedjs/marked", "marked" },               { "processing/p5.js", "p5js" },
	{ "diegomura/react-pdf", "carbon" },           { "babel/babel", "jest" },
	{ "vuejs/core", "vitest" },                    { "facebook/docusaurus", "jest" },
	{ "immutable-js/immutable-js", "immutable_js" }, { "mrdoob/three.js", "tap" },
	{ "preactjs/preact", "karma" },                { "axios/axios", "tap" },
	{ "alibaba-fusion/next", "next" },             { "bpmn-io/bpmn-js", "bpmn_js" },
	{ "carbon-design-system/carbon", "carbon" },   { "cypress-io/cypress", "cypress" },
	{ "emotion-js/emotion", "emotion" },           { "eslint/eslint", "eslint" },
	{ "GoogleChrome/lighthouse", "lighthouse" },   { "grommet/grommet", "grommet" },
	{ "highlightjs/highlight.js", "highlightjs" }, { "openlayers/openlayers", "openlayers" },
	{ "plotly/plotly.js", "plotly_js" },           { "prettier/prettier", "carbon" },
	{ "PrismJS/prism", "prismjs" },                { "quarto-dev/quarto-cli", "quarto_cli" },
	{ "scratchfoundation/scratch-gui", "carbon" }, { "redis/redis", "redis" },
	{ "jqlang/jq", "jq" },                         { "nlohmann/json", "doctest" },
	{ "micropython/micropython", "micropython_test" }, { "valkey-io/valkey", "redis" },
	{ "fmtlib/fmt", "googletest" },                { "caddyserver/caddy", "gotest" },
	{ "hashicorp/terraform", "gotest" },           { "prometheus/prometheus", "gotest" },
	{ "gohugoio/hugo", "gotest" },                 { "gin-gonic/gin", "gotest" },
	{ "google/gson", "maven" },                    { "apache/druid", "maven" },
	{ "javaparser/javaparser", "maven" },          { "projectlombok/lombok", "ant" },
	{ "apache/lucene", "gradle_custom" },          { "reactivex/rxjava", "gradle_custom" },
	{ "phpoffice/phpspreadsheet", "phpunit" },     { "laravel/framework", "phpunit" },
	{ "php-cs-fixer/php-cs-fixer", "phpunit" },    { "briannesbitt/carbon", "phpunit" },
	{ "jekyll/jekyll", "jekyll" },                 { "fluent/fluentd", "ruby_unit" },
	{ "fastlane/fastlane", "rspec_transformed_json" }, { "jordansissel/fpm", "rspec_transformed_json" },
	{ "faker-ruby/faker", "ruby_unit" },           { "rubocop/rubocop", "rspec_transformed_json" },
	{ "burntsushi/ripgrep", "cargo" },             { "sharkdp/bat", "cargo" },
	{ "astral-sh/ruff", "cargo" },                 { "tokio-rs/tokio", "cargo" },
	{ "uutils/coreutils", "cargo" },               { "nushell/nushell", "cargo" },
	{ "tokio-rs/axum", "cargo" },
};
/* clang-format on */

static const char *bare(const char *name)
{
	static const char *const prefixes[] = { COMPAT_PREFIX, "parse_log_", "parse_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(name, prefixes[i]))
			return name + strlen(prefixes[i]);
	return name;
}

const struct testlog_reader *compat_find(const char *name)
{
	if (!name)
		return NULL;
	name = bare(name);
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			name = aliases[i].row;
	for (const struct testlog_reader *r = compat_readers; r->name; r++)
		if (strcmp(bare(r->name), name) == 0)
			return r;
	return NULL;
}

const struct testlog_reader *compat_of_repo(const char *repo)
{
	for (size_t i = 0; repo && i < ARRAY_SIZE(repos); i++)
		if (strcasecmp(repos[i].repo, repo) == 0)
			return compat_find(repos[i].row);
	return NULL;
}

const char *compat_exact(const struct testlog_reader *row)
{
	for (size_t i = 0; row && i < ARRAY_SIZE(exacts); i++)
		if (strcmp(exacts[i].row, bare(row->name)) == 0)
			return exacts[i].exact;
	return NULL;
}

const char *compat_plain(const char *reader)
{
	const char *exact = reader && str_starts(reader, COMPAT_PREFIX)
				    ? compat_exact(compat_find(reader))
				    : NULL;

	return exact ? exact : reader;
}
