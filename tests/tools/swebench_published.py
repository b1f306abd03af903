#!/usr/bin/env python3
"""Grades published logs of SWE-bench's harness (version 1) with the lists of its own report, by hand.

    swebench_published.py --proctor PROGRAM --summary summary.json --out DIR LOG...

summary.json is what that harness wrote: below "Patch Apply Success" and "cases" an object {LOG NAME: {FAIL_TO_PASS:
{success: [], failure: []}, PASS_TO_PASS: ...}} for each log. For every LOG it names, a task with these lists and the
parser of its repository is made, and "proctor grade --log" must say of every test what the report says. Prints the
tests of which it does not, and how often exact mode differs, by the reason given.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"(([A-Za-z0-9_.-]+?)__([A-Za-z0-9_.-]+?)-\d+)\.")
LISTS = ["FAIL_TO_PASS", "PASS_TO_PASS"]


def plain(text):
    """Undoes what docs/formats.md says of bytes that are not UTF-8 and of backslashes."""
    return re.sub(r"\\(\\|x[0-9a-f]{2})", lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), text)


def cases(node):
    """All {log name: lists} objects, wherever they stand."""
    if isinstance(node, list):
        for item in node:
            yield from cases(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, dict) and "FAIL_TO_PASS" in value:
                yield key, value
            else:
                yield from cases(value)


def grade(opts, log, lists):
    named = NAME.match(log.name)
    where = opts.out / named[1]
    where.mkdir(parents=True, exist_ok=True)
    task = {
        "schema": "proctor.task/1",
        "instance_id": named[1],
        "repo": f"{named[2]}/{named[3]}",
        "problem_statement": "See the log.",
        "source": "/nowhere",
        "test": {"reader": opts.parsers[f"{named[2]}/{named[3]}".lower()], "match": "swebench-compat"},
    }
    for name in LISTS:
        task[name] = lists[name]["success"] + lists[name]["failure"]
    (where / "task.json").write_text(json.dumps(task))
    run = subprocess.run(
        [opts.proctor, "grade", "--log", str(log), "--task", str(where / "task.json"), "--json"],
        stdout=subprocess.PIPE, check=False, timeout=120,
    )
    verdict = json.loads(run.stdout)
    (where / "verdict.json").write_bytes(run.stdout)
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proctor", required=True)
    parser.add_argument("--summary", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("logs", type=pathlib.Path, nargs="+")
    opts = parser.parse_args()
    opts.parsers = collections.defaultdict(lambda: "swebench/pytest")
    opts.parsers.update({
        "django/django": "swebench/django", "sympy/sympy": "swebench/sympy", "mwaskom/seaborn": "swebench/seaborn",
        "matplotlib/matplotlib": "swebench/matplotlib", "astropy/astropy": "swebench/pytest_v2",
        "scikit-learn/scikit-learn": "swebench/pytest_v2", "sphinx-doc/sphinx": "swebench/pytest_v2",
        "psf/requests": "swebench/pytest_options", "pydicom/pydicom": "swebench/pytest_options",
        "pylint-dev/pylint": "swebench/pytest_options",
    })
    lists = dict(cases(json.loads(opts.summary.read_text())))
    sums, whys, hows = collections.Counter(), collections.Counter(), collections.Counter()
    for log in opts.logs:
        if log.name not in lists:
            continue
        verdict = grade(opts, log, lists[log.name])
        sums["logs"] += 1
        resolved = not any(lists[log.name][name]["failure"] for name in LISTS)
        sums["resolved there"] += resolved
        sums["resolved here"] += verdict["verdict"] == "resolved"
        sums["resolved exactly"] += verdict["match"]["exact_verdict"] == "resolved"
        if resolved != (verdict["verdict"] == "resolved"):
            print(f"differs: {log.name}: {verdict['verdict']} ({verdict['reason']})")
            sums["different verdicts"] += 1
        if verdict["verdict"] == "resolved" and verdict["match"]["exact_verdict"] != "resolved":
            print(f"exact: {log.name}: {verdict['match']['exact_reason']} {verdict['match']['exact_note'] or ''}")
        for test in verdict["tests"]:
            sums["tests"] += 1
            hows[test["how"]] += 1
            there = plain(test["name"]) in lists[log.name][test["list"]]["success"]
            if there != test["passed"]:
                sums["different tests"] += 1
                print(f"    {log.name}: {test['name']!r}: {test['status']} ({test['how']}), there {'passed' if there else 'failed'}")
            if test["why"]:
                whys[test["why"]] += 1
    print(*(f"{key} {value}" for key, value in sums.items()), sep="\n")
    print(*(f"found by {key}: {value}" for key, value in hows.items()), sep="\n")
    print(*(f"exact differs, {key}: {value}" for key, value in whys.most_common()), sep="\n")
    return 1 if sums["different tests"] or sums["different verdicts"] else 0


if __name__ == "__main__":
    sys.exit(main())
