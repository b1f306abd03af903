"""Makes and compares files of other programs for tests/run/formats.sh; every check is by Python's own readers.

formats.py make CALC DIR        rows of the example task in all spellings, into DIR
formats.py same A B             do two files of rows hold the same rows, keys in order?
formats.py verdict DIR          a result with names that hurt, into DIR/odd
formats.py junit FILE           well-formed, counts true; prints STATUS<TAB>NAME lines, names as they stand
formats.py ctrf FILE            counts true; prints "status n" lines
formats.py summary FILE         exact keys, counts equal lists; prints "ids: list" lines
"""
import json
import os
import re
import sys
import xml.etree.ElementTree

SUMMARY = """total_instances submitted_instances completed_instances resolved_instances unresolved_instances
infra_failure_instances ambiguous_failure_instances empty_patch_instances error_instances completed_ids incomplete_ids
empty_patch_ids submitted_ids resolved_ids unresolved_ids infra_failure_ids ambiguous_failure_ids failure_reasons error_ids
schema_version unstopped_instances unstopped_containers unremoved_images""".split()


def task_of(calc):
    text = re.sub(r"^\s*//.*", "", open(calc + "/task.json").read(), flags=re.M)
    return json.loads(text)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as out:
        out.write(text)


def make(calc, out):
    task = task_of(calc)
    fix, tests = (open(f"{calc}/{name}").read() for name in ("reference.diff", "hidden-tests.diff"))
    row = {
        "repo": "example/duration", "instance_id": "example__duration-1", "base_commit": "", "patch": fix, "test_patch": tests,
        "problem_statement": task["problem_statement"], "hints_text": "", "created_at": "2026-01-03T10:00:00Z", "version": "1.0",
        "FAIL_TO_PASS": json.dumps(task["FAIL_TO_PASS"]), "PASS_TO_PASS": json.dumps(task["PASS_TO_PASS"]),
        "environment_setup_commit": None,
    }
    line = json.dumps(row)
    write(out + "/classic.jsonl", line + "\n\n" + json.dumps({**row, "instance_id": "example__duration-2", "weight": 1.0}))
    lists = {**row, "FAIL_TO_PASS": task["FAIL_TO_PASS"], "PASS_TO_PASS": task["PASS_TO_PASS"]}
    write(out + "/list.json", json.dumps([lists], indent=1))
    write(out + "/map.json", json.dumps({"example__duration-1": lists}))
    script = "\n".join(["#!/bin/bash", "set -uxo pipefail", "cd /testbed", "git status", "git checkout 1 tests/test_duration.c",
                        "git apply -v - <<'EOF_1'", tests + "EOF_1", ": '>>>>> Start Test Output'", "make -s test",
                        ": '>>>>> End Test Output'", "git checkout 1 tests/test_duration.c", ""])
    names = {"log_parser": "tap", "eval_type": "pass_and_fail", "image": "x/y:latest"}
    write(out + "/five.jsonl", json.dumps({**row, **names, "eval_script": script}) + "\n")
    below = out + "/five/tasks/example__duration-1/"
    write(out + "/five/sweb.yaml", "datasets:\n- example/one\n")
    write(below + "task.yaml", "base_commit: ''\ncreated_at: '2026-01-03'\ndatasets:\n- example/one\neval_type: pass_and_fail\n"
          "image: x/y:latest\ninstance_id: example__duration-1\nlog_parser: tap\nrepo: example/duration\nsplit: test\n"
          "version: '1.10'\n")
    for name, text in (("gold.patch", fix), ("test.patch", tests), ("eval.sh", script),
                       ("problem_statement.md", row["problem_statement"])):
        write(below + name, text)
    write(below + "tests.json", json.dumps({"FAIL_TO_PASS": task["FAIL_TO_PASS"], "PASS_TO_PASS": task["PASS_TO_PASS"]}))
    pro = {key: value for key, value in row.items() if not key.isupper()}
    pro.update(instance_id="instance_example__duration-1", fail_to_pass=repr(task["FAIL_TO_PASS"]),
               pass_to_pass=repr(task["PASS_TO_PASS"]), before_repo_set_cmd="git checkout 1 -- tests",
               selected_test_files_to_run=repr(["tests/test_duration.c", "a b"]), repo_language="c", requirements="", interface="")
    write(out + "/pro.json", json.dumps([pro]))
    write(out + "/scripts/instance_example__duration-1/run_script.sh", 'echo "files: $1" >&2\nmake -s test\n')
    write(out + "/scripts/instance_example__duration-1/parser.py", """
import json, re, sys
found = re.findall(r"^(not )?ok [0-9]+ - (.*)$", open(sys.argv[1]).read(), re.M)
tests = [{"name": name, "status": "FAILED" if bad else "PASSED"} for bad, name in found]
json.dump({"tests": tests}, open(sys.argv[3], "w"))
""")
    test = {"run": "NONE", "test": "FAIL", "fix": "PASS"}
    multi = {
        "org": "example", "repo": "duration", "number": 1, "state": "closed", "title": "Refuse long durations", "body": None,
        "base": {"label": "example:main", "ref": "main", "sha": ""},
        "resolved_issues": [{"number": 3, "title": "367d is taken", "body": row["problem_statement"]}],
        "fix_patch": fix, "test_patch": tests, "fixed_tests": {name: test for name in task["FAIL_TO_PASS"]},
        "p2p_tests": {name: {"run": "PASS", "test": "PASS", "fix": "PASS"} for name in task["PASS_TO_PASS"]},
        "f2p_tests": {name: test for name in task["FAIL_TO_PASS"]}, "s2p_tests": {}, "n2p_tests": {},
        "run_result": {"passed_count": 0, "failed_count": 0, "skipped_count": 0, "passed_tests": [], "failed_tests": [],
                       "skipped_tests": []},
    }
    write(out + "/multi.jsonl", json.dumps(multi) + "\n")
    spec = {"repo": "example/duration", "command": "make -s test", "reader": "tap", "files": "none", "workdir": "/workspace"}
    write(out + "/spec.json", json.dumps({"schema": "proctor.test-spec/1", "rows": [spec]}))
    predictions = [{"instance_id": "example__duration-1", "model_name_or_path": "one/m", "model_patch": fix.rstrip("\n")},
                   {"instance_id": "example__duration-2", "model_name_or_path": "one/m", "model_patch": ""}]
    write(out + "/predictions.json", json.dumps(predictions))


def rows_of(path):
    text = open(path).read()
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, dict):
        value = [value] if "repo" in value else list(value.values())
    return [list(row.items()) for row in value]


def same(first, second):
    sys.exit(rows_of(first) != rows_of(second))


NAMES = ["plain", "a & b < c > \"d\" 'e'", "new\nline\ttab", "esc \x1b[31m", "bad \udcff byte", "\x85 c1", "caf\u00e9 \U0001f600",
         "]]>", "back\\slash", "\ufffe non", " blanks  "]
STATUSES = ["passed", "failed", "error", "skipped", "xfail", "xpass", "missing"]


def ours(name):
    """A text as proctor's outputs have it: a byte that is not UTF-8 as \\xNN, a backslash twice."""
    return re.sub("[\udc80-\udcff]", lambda m: f"\\x{ord(m[0]) - 0xdc00:02x}", name.replace("\\", "\\\\"))


def verdict(out):
    tests = [{"name": ours(name), "list": "PASS_TO_PASS", "status": STATUSES[i % len(STATUSES)], "log_span": None}
             for i, name in enumerate(NAMES)]
    value = {"schema": "proctor.verdict/1", "instance_id": "acme__odd-1", "verdict": "unresolved", "reason": "a \x01 b",
             "tests": tests, "patch": {"exists": True, "applied": True}, "complete": True, "exit_status": 1}
    write(out + "/odd/verdict.json", json.dumps(value))
    value = {"schema": "proctor.verdict/1", "instance_id": "acme__skip-1", "verdict": "unresolved", "reason": "skipped",
             "tests": [{"name": "a", "list": "FAIL_TO_PASS", "status": "skipped", "passed": False},
                       {"name": "b", "list": "PASS_TO_PASS", "status": "missing", "passed": True}],
             "patch": {"exists": True, "applied": True}, "complete": True, "exit_status": 0}
    write(out + "/skip/verdict.json", json.dumps(value))
    for i, kind in enumerate(("infra", "invalid")):
        value = {"schema": "proctor.verdict/1", "instance_id": f"acme__{kind}-1", "verdict": kind, "reason": f"why {kind}",
                 "tests": [], "patch": {"exists": True, "applied": False}, "exit_status": None}
        write(f"{out}/{kind}/verdict.json", json.dumps(value))


def shown(name):
    return name.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    kinds = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root.iter("testsuite"):
        count = dict.fromkeys(total, 0)
        for case in suite.iter("testcase"):
            count["tests"] += 1
            children = [child.tag for child in case]
            assert len(children) <= 1 and case.get("classname") == suite.get("name"), case.attrib
            for child in children:
                count[kinds[child]] += 1
            print((children or ["passed"])[0] + "\t" + shown(case.get("classname") + "::" + case.get("name")))
        for key, n in count.items():
            assert int(suite.get(key)) == n, (suite.attrib, key, n)
            total[key] += n
    for key, n in total.items():
        assert int(root.get(key)) == n, (root.attrib, key, n)


def ctrf(path):
    value = json.load(open(path))
    assert value["reportFormat"] == "CTRF" and value["results"]["tool"]["name"] == "proctor"
    results, count = value["results"], {}
    for test in results["tests"]:
        assert isinstance(test["name"], str) and isinstance(test["duration"], int)
        count[test["status"]] = count.get(test["status"], 0) + 1
    summary = results["summary"]
    assert summary["tests"] == len(results["tests"])
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert summary[status] == count.get(status, 0), status
        print(status, summary[status])


def summary(path):
    value = json.load(open(path))
    assert sorted(value) == sorted(SUMMARY), set(value) ^ set(SUMMARY)
    assert value["schema_version"] == 2
    for key in value:
        if key.endswith("_ids") and key != "incomplete_ids":
            assert value[key[:-4] + "_instances"] == len(value[key]), key
        if key.endswith("_ids"):
            assert value[key] == sorted(value[key]), key
            print(key + ":", " ".join(value[key]))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
