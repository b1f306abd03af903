#!/usr/bin/env python3
"""Writes logs that look like those of test runners, put together at random from pieces that parsers trip over.

    swebench_gen.py OUT COUNT [SEED [markers]]

Writes OUT/N.log and OUT/table, lines "LOG PARSER INSTANCE VERSION" for swebench_diff.py --table: COUNT logs for every
parser of SWE-bench's harness. The same seed writes the same logs. With "markers" they have those of that harness, for
swebench_diff.py --grading.
"""

import pathlib
import random
import sys

NAMES = [
    "test_a", "tests/test_a.py::test_b[x y]", "a::b[/tmp/x/y]", "a::b[//x]", "a b", "a  b", "x[1]", "x[", "[3]", "", " ",
    "adds - two", "suite: case", "(5 ms)", "a (5 ms)", "a (5ms)", "a 5ms", "a 5", "é ü", "\u00a0n", "x (1.2 s)", "in x",
    "test_x (m.C)", "a . b = .", "Error: x", "com.A > b", "\x1b[31mred\x1b[0m", "a\tb", "[skipped]", "a [skipped]",
    "MouseButton.LEFT-x", "ROOT/x", "--version is equivalent to version", "{", "}", "[", "]", "<a>", "</a>", "a:b", "ok",
]
BLANKS = ["", "", "", " ", "  ", "    ", "      ", "\t", "\u3000"]
ENDS = ["", "", "", "", " ", ")", " (5 ms)", " (0.00s)", " in x.tcl", ":", ".", " F", " ok", " E", " ...", " .", " ..F", " (1.5s)"]
PIECES = {
    "pytest": ["PASSED ", "FAILED ", "FAILED - ", "SKIPPED [1] ", "SKIPPED [1]x ", "ERROR ", "XFAIL ", "XPASS ", "PASSED",
               "ERRORS ", "FAILED a - ", "FAILED a - - ", " PASSED ", "PASSED: ", "\x1b[32mPASSED\x1b[0m ", "[32mPASSED "],
    "django": [" ... ok", " ... OK", " ...  OK", " ... skipped", " ... FAIL", " ... ERROR", "FAIL: ", "ERROR: ", "ok", " ... ",
               "\nok", " ... Testing against Django installed in ", " silenced).\nok", " silenced).\nok\n", " ... Internal Server Error: /",
               "/\nok\n", " ... System check identified no issues (0 silenced)\nok\n", "System check identified no issues (0 silenced)\nok\n",
               "Applying sites.0002_alter_domain_unique...test_no_migrations", "...\nTesting against Django installed in "],
    "sympy": ["test_", " ok", " E", " F", "____ ", " ____", "a.py:", "x.py:b ", "_", " ", "test_a ok", "test_b F", "test_c E "],
    "jest": ["\u2713 ", "\u2715 ", "\u25cb ", "\u2713", "[PASSED] ", "[FAILED] ", "\u00d7 ", "\u2193 ", "(5 ms)", " 12 ms", " 3"],
    "karma": ["Starting browser Chrome\n", "\u2714 ", "\u2716 ", "SUMMARY:\n", "\u2714", "  \u2714 ", "    ", "  ", "Starting browser"],
    "tap": ["ok 1 ", "not ok 2 ", "ok 3 - ", "ok ", "    ok 4 ", "not ok x ", "ok 5\t"],
    "go": ["--- PASS: ", "--- FAIL: ", "--- SKIP: ", "    --- PASS: ", "x--- PASS: ", " (0.00s)", " ()", " (", "(0s)"],
    "cargo": ["test ", " ... ", "ok", "FAILED", "ignored", "test a ... ok", "test a::b ... FAILED", "test a b ... ok"],
    "java": ["-Dtest=", "-Dtest=A#b ", "BUILD SUCCESS", "BUILD FAILURE", "[INFO] BUILD SUCCESS\n", "[junit] [PASS] ", "[junit] [ERR] ",
             "[junit]  [FAIL]  ", " PASSED", " FAILED", "PASSED", "> ", "A > b", "A > b\n", "PASSED\n", "mvn -Dtest=X -Dtest= y\n"],
    "ruby": ["A#b. = 0.0 s = .", ". ", "=", " = F", " = .", " .....", " .F", ": .", ":  F", ": E", ": O", ": Ox", "test: ", " - passed",
             " - failed", " - pending", "test: a: (0.1): ."],
    "c": ["[ok]: ", "[err]: ", "[skip]: ", "[ignore]: ", "[ok]", "PASS: ", "FAIL: ", "pass  ", "FAIL  ", "skip  ", "[       OK ] ", "[  FAILED  ] ",
          "3: [ OK ] ", " (0 ms)", " in tests/a.tcl", " (3 ms)", "[OK]x ("],
    "php": ["Title (A\\B)", "\u2714 ", "\u2718 ", "\u21a9 ", " \u2714 ", "(", " (", "T (", "x)"],
    "doctest": ["<doctest>", "</doctest>", '<TestCase name="a">', "</TestCase>", '<SubCase name="b">', "</SubCase>", '<Expression success="true"/>',
                '<Expression success="false"/>', '<doctest><TestCase name="c"><SubCase name="d"><Expression success="false"/></SubCase>'
                '<SubCase/></TestCase></doctest>', '<doctest><TestCase><SubCase name="s"><SubCase name="t"/></SubCase></TestCase></doctest>'],
    "calypso": ["x ./node_modules/.bin/jest y\n", "  \u2713 ", "  \u2715 ", "(5ms)", "\u2713 ", "  \u25cf x", "Test Suites", "    suite", "  suite", " (5ms)"],
    "mocha": ["  \u2713 ", "    \u2714 ", "1) ", "  2) ", "  12 passing", "(5ms)", "  suite", "    inner", "running 3 test files\n", "\u2714 a (3ms)",
              "0 passing\n", " (12ms)", " (3mmss) x"],
    "next": ["x xvfb-run y\n", "Starting browser Chrome\n", "TOTAL", "ERROR", "LOG", "  \u2713 ", "  \u2717", "    suite", "AssertionError: #",
             "\n\n", "Running: a.js (1 of 2)\n\n\n  title\n", "    1) ", "    \u2713 a (3ms)", "    \u2713 ", "(", "\nRunning: x)\n\n\n  t\n"],
    "plotly": ["  - a :", "    * b : ok", "  * b : failed", "    - c :", "  * : ok", "  - ", " : not ok", " : OK", ":", "  *  x  y  :z ok"],
    "files": ["PASS ", "FAIL ", "PASS", "FAIL", " (5.1s)", " (5.1 s)", " (12ms)", " (3 ms)", "PASS a (1s) (2s)", "FAIL\n", "PASS a.js (5.1 ms)"],
    "quarto": ["[smoke] ", "[unit] ", "...", "32mok", "31mFAILED", "34mINFO", "/tmp/abc.qmd", "/tmp/abc/", "/tmp/x/ ", "test result:", " passed", " failed",
               " steps", "failures:", "ERRORS", "[smoke] > a /tmp/q1/b.qmd ... \x1b[32mok"],
    "json": ['"fullTitle": "a",\n', '"fullTitle": "b c",\n', '  "passes": [\n', '  "failures": [\n', '"passes": [', '"failures": [', "  ],\n", "],", "]", "  }\n",
             "../..", "./node_modules/.bin/mocha --reporter json\n", '"fullTitle":"x",\n',
             './node_modules/.bin/mocha tests/run.js --reporter json\n{"failures":[{"fullTitle":"f"}],"passes":[{"fullTitle":"p \\u00e9"},{"fullTitle":"f2"}]}\n'],
    "browser": ["\x1b[2KPhantomJS 1.2 (Linux 0.0.0) ", "\x1b[2KPhantomJS 1.2 (Linux x86_64) ", "Chrome Headless 9.1 (Linux x86_64) ", "HeadlessChrome 9.1 (Linux 0.0.0) ",
                "FAILED\n", " FAILED\n", "Chrome 9.1 (Linux x86_64) ", "Chrome 9.1 (any) (thing) ", "  1) ", "\n\n2) ", "1) ", "Error:", " Error", "TypeError: x\n",
                "case a/b: mismatch", "case x:y: mismatch z", "AssertionError", "    Error\n", "Chrome Headless x (Linux x86_64) y (Linux x86_64) z FAILED\n"],
    "p5": ["  1) suite\n       inner\n         test:\n", "1) a:", "  2) a\n b:", "{", "}", "[", "]", "{ x }", "<a>", "</a>", "<b>x</b>", "<a><a></a>", " 3) x", ":", "  x {\n", "}\n"],
}
PARSERS = {
    "parse_log_pytest": "pytest", "parse_log_pytest_options": "pytest", "parse_log_pytest_v2": "pytest", "parse_log_matplotlib": "pytest",
    "parse_log_seaborn": "pytest", "parse_log_django": "django", "parse_log_sympy": "sympy", "parse_log_jest": "jest", "parse_log_jest_json": "jest",
    "parse_log_vitest": "jest", "parse_log_karma": "karma", "parse_log_tap": "tap", "parse_log_gotest": "go", "parse_log_cargo": "cargo",
    "parse_log_maven": "java", "parse_log_ant": "java", "parse_log_gradle_custom": "java", "parse_log_minitest": "ruby", "parse_log_cucumber": "ruby",
    "parse_log_ruby_unit": "ruby", "parse_log_rspec_transformed_json": "ruby", "parse_log_redis": "c", "parse_log_jq": "c",
    "parse_log_micropython_test": "c", "parse_log_googletest": "c", "parse_log_phpunit": "php", "parse_log_doctest": "doctest",
    "parse_log_calypso": "calypso", "parse_log_highlightjs": "mocha", "parse_log_lighthouse 9.5": "mocha", "parse_log_lighthouse 3.0": "files",
    "parse_log_lighthouse 2.1": "json", "parse_log_next 1.26": "next", "parse_log_next 1.27": "next", "parse_plotly_js": "plotly", "parse_log_carbon": "files",
    "parse_log_react_pdf": "files", "parse_log_grommet": "files", "parse_log_emotion": "files", "parse_log_quarto_cli": "quarto", "parse_log_prismjs": "json",
    "parse_log_cypress": "json", "parse_log_bpmn_js": "browser", "parse_log_openlayers": "browser", "parse_log_chart_js": "browser",
    "parse_log_eslint": "browser", "parse_log_marked": "browser", "parse_log_p5js": "p5",
    "parse_log_jekyll x__x-9141": "ruby", "parse_log_jekyll x__x-8761": "ruby", "parse_log_immutable_js x__x-2006": "jest", "parse_log_immutable_js x__x-2005": "jest",
}


FRONT = ["", "set up\n", "+ : '>>>>> Start Test Output'\n", ">>>>> Start Test Output\n", ">>>>> Start Test Output\n", ">>>>> End Test Output\n"]
BETWEEN = [""] * 12 + ["\n>>>>> Start Test Output\n", "\n>>>>> End Test Output\n", "\n>>>>> Test Exit Code: 0\n", "\n>>>>> Tests Timed Out\n"]
BACK = [">>>>> End Test Output\n", "\n+ : '>>>>> End Test Output'\n", "", "Tests: 3 total\n", "# tests 0\n", "3 passing\n", "\nExecuted 2 of 3\n"]
EXITS = ["", ">>>>> Test Exit Code: 0\n", ">>>>> Test Exit Code: 1\n", ">>>>> Test Exit Code:\n-2", ">>>>> Test Exit Code: x", "2 specs, 0 failures"]


def marked(pick, pieces):
    body = pick.choice(BETWEEN).join(log(pick, pieces) for _ in range(2)) if pick.random() < 0.8 else ""
    start = ">>>>> Start Test Output\n" if pick.random() < 0.7 else ""
    return pick.choice(FRONT) + start + body + pick.choice(BACK) + pick.choice(EXITS)


def log(pick, pieces):
    parts = []
    for _ in range(pick.randrange(1, 25)):
        for _ in range(pick.choice([1, 1, 2, 2, 3])):
            parts.append(pick.choice(BLANKS) + pick.choice(pieces + ["x"]) + pick.choice(NAMES) + pick.choice(ENDS))
        parts.append(pick.choice(["\n", "\n", "\n", "\n", "\r\n", "\r", ""]))
    return "".join(parts)


def main():
    out, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    pick = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    make = marked if "markers" in sys.argv[4:] else log
    out.mkdir(parents=True, exist_ok=True)
    table = []
    for entry, pieces in PARSERS.items():
        parser, *more = entry.split()
        for _ in range(count):
            path = out / f"{len(table)}.log"
            path.write_bytes(make(pick, PIECES[pieces]).encode())
            instance = more[0] if more and "__" in more[0] else "x__x-1"
            version = more[0] if more and "__" not in more[0] else "1.0"
            table.append(f"{path} {parser} {instance} {version}")
    (out / "table").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
