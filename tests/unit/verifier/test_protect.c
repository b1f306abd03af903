/* Files that steer the tests: what becomes of a change, and how mixed files are put together. */
#include "verifier/protect.h"

#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

#define PY   "python3 -m pytest tests"
#define MAKE "make -s test"
#define NPM  "npm test"
#define LINK 0120000u

struct row {
	const char *command, *path, *before, *after; /* NULL = not there */
	enum protect_action action;
	const char *kind;
	const char *text; /* with PROTECT_MERGED */
};

#define PYPROJECT                                                                                   \
	"[project]\nversion = \"1\"\n\n[tool.pytest.ini_options]\ntestpaths = [\n  \"[a]\",\n]\n\n" \
	"[tool.black]\nx = 1\n"
#define MAKEFILE "CC = cc\nSRC = a.c b.c\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n"
#define PACKAGE                                                                                    \
	"{\n  \"name\": \"x\",\n  \"scripts\": { \"test\": \"node --test\" },\n  \"jest\": {\"a\": 1}\n}\n"
#define CARGO                                                                                      \
	"[package]\nname = \"x\"\nversion = \"1.0.0\"\n\n[lib]\nname = \"x\"\n\n[dependencies]\n"
#define POM                                                                                        \
	"<project>\n<version>1</version>\n<build><plugins/></build>\n<dependencies/>\n</project>\n"
#define GOMOD "module x\n\ngo 1.19\n\nreplace a => b v1\n\nrequire (\n\tc v1\n)\n"

/* clang-format off */
static const struct row rows[] = {
	/* whole files */
	{ PY, "conftest.py", NULL, "x", PROTECT_QUARANTINED, "runner-config", NULL },
	{ PY, "a/b/conftest.py", "x", "y", PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "conftest.py", "x", NULL, PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "conftest.py.txt", NULL, "x", PROTECT_NONE, NULL, NULL },
	{ PY, "myconftest.py", NULL, "x", PROTECT_NONE, NULL, NULL },
	{ PY, "sitecustomize.py", NULL, "x", PROTECT_QUARANTINED, "startup", NULL },
	{ PY, "sitecustomize/__init__.py", NULL, "x", PROTECT_QUARANTINED, "startup", NULL },
	{ PY, "x.dist-info/entry_points.txt", NULL, "x", PROTECT_QUARANTINED, "plugin", NULL },
	{ PY, "docs/x.pth", NULL, "import x", PROTECT_QUARANTINED, "startup", NULL },
	{ PY, "__pycache__/x", NULL, "x", PROTECT_QUARANTINED, "bytecode", NULL },
	{ PY, "a/__pycache__/x", "x", NULL, PROTECT_NONE, NULL, NULL },
	{ PY, "a/x.pyc", "x", "y", PROTECT_RESTORED, "bytecode", NULL },
	{ PY, "pycache/x", NULL, "x", PROTECT_NONE, NULL, NULL },
	{ PY, "pytest.py", NULL, "x", PROTECT_QUARANTINED, "shadow", NULL },
	{ PY, "node_modules/a/index.js", NULL, "x", PROTECT_QUARANTINED, "plugin", NULL },
	{ PY, "node_modules/.cache/a", NULL, "x", PROTECT_QUARANTINED, "cache", NULL },
	{ PY, "tests/test_a.py", "x", "y", PROTECT_RESTORED, "test-file", NULL },
	{ PY, "pkg/tests/helper.py", NULL, "y", PROTECT_QUARANTINED, "test-file", NULL },
	{ PY, "pkg/test/helper.py", NULL, "y", PROTECT_NONE, NULL, NULL },
	{ PY, "pkg/test_listed.py", "x", "y", PROTECT_RESTORED, "test-file", NULL },
	{ PY, "pkg/test_other.py", "x", "y", PROTECT_NONE, NULL, NULL },
	{ PY, "a_test.go", NULL, "y", PROTECT_QUARANTINED, "test-file", NULL },
	{ PY, "a.spec.tsx", NULL, "y", PROTECT_QUARANTINED, "test-file", NULL },
	{ PY, "build.rs", NULL, "y", PROTECT_KEPT, "build-script", NULL },
	{ PY, "own/x", "a", "b", PROTECT_RESTORED, "protected", NULL },
	{ PY, "free/conftest.py", NULL, "b", PROTECT_KEPT, "runner-config", NULL },
	{ PY, "free/x.pyc", NULL, "b", PROTECT_QUARANTINED, "bytecode", NULL },
	{ PY, "ref/conftest.py", "a", "b", PROTECT_KEPT, "runner-config", NULL },
	{ PY, "src/a.py", "a", "b", PROTECT_NONE, NULL, NULL },
	/* INI */
	{ PY, "setup.cfg", "[a]\nx=1\n[tool:pytest]\ny=1\n", "[a]\nx=2\n[tool:pytest]\ny=1\n", PROTECT_NONE, NULL, NULL },
	{ PY, "setup.cfg", "[a]\nx=1\n[tool:pytest]\ny=1\n", "[a]\nx=2\n[tool:pytest]\ny=2\n", PROTECT_MERGED, "runner-config", "[a]\nx=2\n[tool:pytest]\ny=1\n" },
	{ PY, "setup.cfg", "[a]\nx=1\n[tool:pytest]\ny=1\n", "[a]\nx=2\n", PROTECT_MERGED, "runner-config", "[a]\nx=2\n[tool:pytest]\ny=1\n" },
	{ PY, "setup.cfg", "[a]\nx=1\n", "[a]\nx=1\n[tool:pytest]\ny=2", PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "setup.cfg", "[a]\nx=1\n", "[tool:pytest]\ny=2\n[a]\nx=2\n[tool:pytest]\nz=1\n", PROTECT_MERGED, "runner-config", "[a]\nx=2\n" },
	{ PY, "tox.ini", NULL, "[pytest]\naddopts = -p evil\n", PROTECT_QUARANTINED, "runner-config", NULL },
	{ PY, "tox.ini", NULL, "[flake8]\nx = 1\n[testenv:a]\ny=1\n", PROTECT_MERGED, "runner-config", "[flake8]\nx = 1\n" },
	{ PY, "tox.ini", "[pytest]\n", NULL, PROTECT_RESTORED, "runner-config", NULL },
	/* TOML: by what it means */
	{ PY, "pyproject.toml", PYPROJECT, "[project]\nversion = \"2\"\n\n[tool.pytest.ini_options]\ntestpaths = [\n  \"[a]\",\n]\n\n[tool.black]\nx = 2\n", PROTECT_NONE, NULL, NULL },
	{ PY, "pyproject.toml", PYPROJECT, "[project]\nversion = \"2\"\n\n[tool.pytest.ini_options]\naddopts = \"-p x\"\n\n[tool.black]\nx = 2\n", PROTECT_MERGED, "runner-config",
	  "[project]\nversion = \"2\"\n\n[tool.pytest.ini_options]\ntestpaths = [\n  \"[a]\",\n]\n\n[tool.black]\nx = 2\n" },
	{ PY, "pyproject.toml", PYPROJECT, PYPROJECT "[ tool . \"pytest\" ]\nx = 1\n", PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "pyproject.toml", PYPROJECT, "tool.pytest.x = 1\n" PYPROJECT, PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "pyproject.toml", NULL, "tool = { pytest = { x = 1 } }\n", PROTECT_QUARANTINED, "runner-config", NULL },
	{ PY, "pyproject.toml", NULL, "[project]\nname = \"x\"\n", PROTECT_NONE, NULL, NULL },
	{ PY, "pyproject.toml", PYPROJECT, "not = toml = at all\n", PROTECT_RESTORED, "runner-config", NULL },
	{ PY, "pyproject.toml", NULL, "x = \"\"\"\n[tool.pytest]\n\"\"\"\n", PROTECT_NONE, NULL, NULL },
	{ PY, "pyproject.toml", NULL, "x = '''\n'''\n[tool.pytest]\ny = 1\n", PROTECT_MERGED, "runner-config", "x = '''\n'''\n" },
	{ PY, "Cargo.toml", CARGO, CARGO "serde = \"1\"\n", PROTECT_NONE, NULL, NULL },
	{ PY, "Cargo.toml", CARGO, CARGO "serde = \"1\"\n\n[[test]]\nname = \"a\"\nharness = false\n", PROTECT_MERGED, "build-config", CARGO "serde = \"1\"\n\n" },
	{ PY, "Cargo.toml", CARGO, "[package]\nname = \"x\"\nversion = \"1.1.0\"\nautotests = false\n\n[lib]\nname = \"x\"\nharness = false\n", PROTECT_MERGED, "build-config",
	  "[package]\nname = \"x\"\nversion = \"1.1.0\"\n\n[lib]\nname = \"x\"\n" },
	{ PY, "Cargo.toml", CARGO, CARGO "\n[dev-dependencies]\nx = \"1\"\n", PROTECT_NONE, NULL, NULL },
	{ PY, "Cargo.toml", CARGO "[dev-dependencies]\nx = \"1\"\n", CARGO "[dev-dependencies]\nx = { path = \"fake\" }\ny = \"1\"\n", PROTECT_MERGED, "build-config",
	  CARGO "[dev-dependencies]\nx = \"1\"\ny = \"1\"\n" },
	{ PY, "Cargo.toml", CARGO "[dev-dependencies.x]\nversion = \"1\"\n", CARGO "[dev-dependencies.x]\nversion = \"1\"\npath = \"fake\"\n", PROTECT_RESTORED, "build-config", NULL },
	/* package.json */
	{ NPM, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"node --test\" },\n  \"jest\": {\"a\": 1}\n}\n", PROTECT_NONE, NULL, NULL },
	{ NPM, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"true\" },\n  \"jest\": {\"a\": 1}\n}\n", PROTECT_MERGED, "runner-config",
	  "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"node --test\" },\n  \"jest\": {\"a\": 1}\n}\n" },
	{ PY, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"true\" },\n  \"jest\": {\"a\": 1}\n}\n", PROTECT_NONE, NULL, NULL },
	{ PY, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"true\" },\n  \"jest\": {\"a\": 2}\n}\n", PROTECT_MERGED, "runner-config",
	  "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"true\" },\n  \"jest\": {\"a\": 1}\n}\n" },
	{ NPM, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"pretest\": \"x\", \"test\": \"node --test\", \"b\": \"c\" },\n  \"jest\": {\"a\": 1}\n}\n", PROTECT_MERGED, "runner-config",
	  "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"node --test\", \"b\": \"c\" },\n  \"jest\": {\"a\": 1}\n}\n" },
	{ NPM, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"node --test\", \"posttest\": \"x\" },\n  \"jest\": {\"a\": 1}, \"mocha\": 1\n}\n", PROTECT_MERGED, "runner-config",
	  "{\n  \"name\": \"y\",\n  \"scripts\": { \"test\": \"node --test\" },\n  \"jest\": {\"a\": 1}\n}\n" },
	{ NPM, "package.json", PACKAGE, "{\n  \"name\": \"y\",\n  \"scripts\": {}, \"jest\": {\"a\": 1} }\n", PROTECT_MERGED, "runner-config",
	  "{\n  \"name\": \"y\",\n  \"scripts\": {\n  \"test\": \"node --test\"}, \"jest\": {\"a\": 1} }\n" },
	{ NPM, "package.json", PACKAGE, "{ \"name\": \"y\" }", PROTECT_MERGED, "runner-config",
	  "{\n  \"jest\": {\"a\": 1},\n  \"scripts\": { \"test\": \"node --test\" }, \"name\": \"y\" }" },
	{ NPM, "package.json", PACKAGE, "{ \"scripts\": { \"test\": \"node --test\" }, \"jest\": {\"a\": 1}, \"scripts\": { \"test\": \"true\" } }", PROTECT_RESTORED, "runner-config", NULL },
	{ NPM, "package.json", PACKAGE, "{ \"\\u0073cripts\": { \"test\": \"true\" }, \"jest\": {\"a\": 1} }", PROTECT_MERGED, "runner-config",
	  "{ \"\\u0073cripts\": { \"test\": \"node --test\" }, \"jest\": {\"a\": 1} }" },
	{ NPM, "package.json", PACKAGE, "not json", PROTECT_RESTORED, "runner-config", NULL },
	{ NPM, "package.json", NULL, "{ \"name\": \"y\" }", PROTECT_NONE, NULL, NULL },
	/* pom.xml */
	{ PY, "pom.xml", POM, "<project>\n<version>2</version>\n<build><plugins/></build>\n<dependencies><x/></dependencies>\n</project>\n", PROTECT_NONE, NULL, NULL },
	{ PY, "pom.xml", POM, "<project>\n<version>2</version>\n<build><x/></build>\n<dependencies/>\n</project>\n", PROTECT_MERGED, "build-config",
	  "<project>\n<version>2</version>\n<build><plugins/></build>\n\n<dependencies/>\n</project>\n" },
	{ PY, "pom.xml", POM, "<project>\n<version>2</version>\n</project>\n", PROTECT_MERGED, "build-config", "<project>\n<version>2</version>\n<build><plugins/></build>\n</project>\n" },
	{ PY, "pom.xml", POM, "<project>\n<version>1</version>\n<build><plugins/></build>\n<profiles><p/></profiles><dependencies/>\n</project>\n", PROTECT_RESTORED, "build-config", NULL },
	{ PY, "pom.xml", POM, "<project><properties><skipTests>true</skipTests></properties></project>", PROTECT_RESTORED, "build-config", NULL },
	{ PY, "pom.xml", POM, "<!DOCTYPE project [<!ENTITY x 'y'>]><project>&x;</project>", PROTECT_RESTORED, "build-config", NULL },
	{ PY, "pom.xml", POM, "<project>", PROTECT_RESTORED, "build-config", NULL },
	/* go.mod */
	{ PY, "go.mod", GOMOD, "module x\n\ngo 1.20\n\nreplace a => b v1\n\nrequire (\n\tc v2\n\td v1\n)\n", PROTECT_NONE, NULL, NULL },
	{ PY, "go.mod", GOMOD, "module x\n\ngo 1.19\n\nreplace (\n\tc => ./fake\n)\n\nrequire c v2\n", PROTECT_MERGED, "build-config", "module x\n\ngo 1.19\n\n\nrequire c v2\nreplace a => b v1\n" },
	{ PY, "go.mod", GOMOD, GOMOD "\treplace c => ./fake\n", PROTECT_MERGED, "build-config", "module x\n\ngo 1.19\n\n\nrequire (\n\tc v1\n)\nreplace a => b v1\n" },
	/* Makefile */
	{ PY, "Makefile", MAKEFILE, "test:\n\ttrue\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "test:\n\ttrue\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c b.c new.c\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c b.c $(NEW)\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c \\\n\tb.c \\\n\tnew.c\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c b.c x.sh\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c b.c\n\ntest: $(SRC) new.h\n\t$(CC) -o t a.c b.c new.c\n\t./t\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc x.c\nSRC = a.c b.c\n\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t x.c\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "new.o: new.c\n\t$(CC) -c -o $@ $<\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "new.o: new.c\n\t$(CC) -c -o $@ $<; true\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "a.o: new.h\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "NEW := 1\nbench:\n\t./bench | tee log\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "tests-new:\n\t./bench\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "\t./more\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "\n# comment\n\t./more\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "%.o: %.c\n\t$(CC) -c $<\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "ifdef X\ntest:\n\ttrue\nendif\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "SHELL = x\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "X != true\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "X := `true`\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "$(info x)\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE ".IGNORE:\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE ".PHONY: bench\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "test: SRC = x.c\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "SRC += new.c\n", PROTECT_KEPT, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, MAKEFILE "CC += new.c\n", PROTECT_RESTORED, "build-script", NULL },
	{ MAKE, "Makefile", MAKEFILE, "bench:\n\ttrue\n" MAKEFILE, PROTECT_MERGED, "build-script", MAKEFILE "bench:\n\ttrue\n" },
	{ MAKE, "Makefile", MAKEFILE, "CC = cc\nSRC = a.c b.c new.c\n# x \\", PROTECT_MERGED, "build-script", "CC = cc\nSRC = a.c b.c new.c\ntest: $(SRC)\n\t$(CC) -o t a.c b.c\n\t./t\n" },
	{ MAKE, "Makefile", NULL, MAKEFILE, PROTECT_QUARANTINED, "build-script", NULL },
	{ MAKE, "GNUmakefile", NULL, MAKEFILE, PROTECT_QUARANTINED, "build-script", NULL },
	{ MAKE, "sub/Makefile", NULL, MAKEFILE, PROTECT_KEPT, "build-script", NULL },
	{ "sh run.sh", "Makefile", MAKEFILE, "test:\n\ttrue\n", PROTECT_RESTORED, "build-script", NULL },
};
/* clang-format on */

static void judge(const struct protect_rules *rules, const struct row *r)
{
	const struct protect_file f = {
		.path = r->path,
		.before = r->before,
		.before_len = r->before ? strlen(r->before) : 0,
		.mode = r->after ? 0100644 : 0,
		.after = r->after,
		.after_len = r->after ? strlen(r->after) : 0,
	};
	struct protect_end end;
	bool good;

	protect_judge(rules, &f, &end);
	good = end.action == r->action &&
	       (r->kind ? end.kind && strcmp(end.kind, r->kind) == 0 : !end.kind) &&
	       (!r->text || strcmp(buf_str(&end.text), r->text) == 0);
	tap_ok(good, "%s: %s %s", r->path, protect_action_name(r->action), r->kind ? r->kind : "");
	if (!good)
		tap_diag("%s %s\n%s\nfrom\n%s", protect_action_name(end.action),
			 end.kind ? end.kind : "", buf_str(&end.text),
			 r->after ? r->after : "nothing");
	protect_end_done(&end);
}

static void test_other(const struct protect_rules *rules)
{
	static const char weights[] = "\x80\0import x\n";
	struct protect_file f = {
		.path = "m.pth", .mode = 0100644, .after = weights, .after_len = sizeof(weights) - 1
	};
	struct protect_end end;

	protect_judge(rules, &f, &end);
	tap_ok(end.action == PROTECT_NONE, "binary data called .pth");
	f = (struct protect_file){
		.path = "pyproject.toml", .mode = LINK, .after = "x", .after_len = 1
	};
	protect_judge(rules, &f, &end);
	tap_ok(end.action == PROTECT_QUARANTINED, "a link in place of a mixed file");
	f.before = "[a]\n";
	f.before_len = 4;
	protect_judge(rules, &f, &end);
	tap_ok(end.action == PROTECT_RESTORED, "where the base had one");
	f = (struct protect_file){ .path = "_pytest/new.py",
				   .mode = 0100644,
				   .after = "x",
				   .after_len = 1,
				   .top_known = true };
	protect_judge(rules, &f, &end);
	tap_ok(end.action == PROTECT_NONE, "a module of pytest's own repository");
	tap_ok(protect_held(rules, "tests/a.py") && protect_held(rules, "a/conftest.py") &&
		       !protect_held(rules, "src/a.py") && !protect_held(rules, "Makefile") &&
		       !protect_held(rules, "ref/conftest.py"),
	       "what is held whatever it is");
}

static void test_files(void)
{
	struct strv names = { 0 }, files = { 0 };

	strv_add(&names, "tests/test_a.py::test_one[x::y]");
	strv_add(&names, "tests/test_a.py::test_two");
	strv_add(&names, "src/a.test.js > adds > b::c");
	strv_add(&names, "mod::tests::case");
	strv_add(&names, "/etc/x.py::t");
	strv_add(&names, "../x.py::t");
	strv_add(&names, "TestX");
	strv_add(&names, "::x");
	protect_test_files(&names, &files);
	tap_ok(files.n == 2 && strcmp(files.v[0], "tests/test_a.py") == 0 &&
		       strcmp(files.v[1], "src/a.test.js") == 0,
	       "files of test names");
	strv_done(&names);
	strv_done(&files);
}

int main(void)
{
	struct strv own = { 0 }, allow = { 0 }, honest = { 0 }, files = { 0 };
	struct protect_rules rules = {
		.globs = &own, .allow = &allow, .honest = &honest, .files = &files
	};

	strv_add(&own, "own/**");
	strv_add(&allow, "free/**");
	strv_add(&honest, "ref/conftest.py");
	strv_add(&files, "pkg/test_listed.py");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		rules.command = rows[i].command;
		judge(&rules, &rows[i]);
	}
	test_other(&rules);
	test_files();
	strv_done(&own);
	strv_done(&allow);
	strv_done(&honest);
	strv_done(&files);
	return tap_done();
}
