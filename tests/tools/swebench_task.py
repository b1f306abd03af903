#!/usr/bin/env python3
"""Makes task directories from SWE-bench style records and clones of the upstream repositories.

    swebench_task.py RECORDS.jsonl --git OWNER/NAME=GITDIR... --out DIR
                     [--env PREFIX:KEY=VALUE]... [--before PREFIX:COMMAND]... [ID...]

Each record needs instance_id, repo, base_commit, FAIL_TO_PASS, PASS_TO_PASS, and either patch and
test_patch, or fix_commit and test_files: then the reference is "git diff base_commit fix_commit" without
test_files, and the test patch is the same diff of test_files alone. test_cmd and log_parser become
test.command and test.reader. Written for each: DIR/ID/task.json, reference.diff, hidden-tests.diff and
source.tar, the files of the base commit.

A test_cmd may use $PY; --env PREFIX:PY=/path/to/python sets it for all tasks whose name begins with
PREFIX (an empty one: for all), likewise PYTHONPATH and others. --before puts a command in front of the
tests, for files that a build would have made.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def git(gitdir, *args):
    run = subprocess.run(["git", "--git-dir", str(gitdir), *args], stdout=subprocess.PIPE, check=True)
    return run.stdout


def diff(gitdir, record, paths):
    """Binary-safe diff of the fix, of @paths (pathspecs)."""
    return git(
        gitdir, "-c", "core.abbrev=40", "diff", "--binary", "--no-color", "--no-ext-diff",
        "--src-prefix=a/", "--dst-prefix=b/",
        record["base_commit"], record["fix_commit"], "--", *paths,
    ).decode("utf-8", "surrogateescape")


def patches(gitdir, record):
    """The reference and the hidden tests, as the record gives them or from the fix commit."""
    if "patch" in record and "test_patch" in record:
        return record["patch"], record["test_patch"]
    tests = record["test_files"]
    return diff(gitdir, record, ["."] + [f":(exclude){t}" for t in tests]), diff(gitdir, record, tests)


def archive(gitdir, commit, target):
    """The files of @commit, without history."""
    target.write_bytes(git(gitdir, "archive", "--format=tar", commit))


def as_list(value):
    return json.loads(value) if isinstance(value, str) else value


def task(record, env, before, out, gitdir):
    where = out / record["instance_id"]
    where.mkdir(parents=True, exist_ok=True)
    reference, tests = patches(gitdir, record)
    (where / "reference.diff").write_text(reference, "utf-8", "surrogateescape")
    (where / "hidden-tests.diff").write_text(tests, "utf-8", "surrogateescape")
    archive(gitdir, record["base_commit"], where / "source.tar")
    made = {
        "schema": "proctor.task/1",
        "instance_id": record["instance_id"],
        "repo": record["repo"],
        "version": record.get("version", ""),
        "problem_statement": record.get("problem_statement", "See " + record["instance_id"] + "."),
        "source": "source.tar",
        "environment": {
            "rootfs": "host",
            "env": env,
            "packages": record.get("environment_setup", {}).get("apt", []),
        },
        "patch": "reference.diff",
        "test_patch": "hidden-tests.diff",
        "test": {
            "command": "".join(b + "; " for b in before) + record["test_cmd"],
            "reader": record["log_parser"],
            "timeout": "30m",
            "hidden": record.get("test_files", []),
        },
        "FAIL_TO_PASS": as_list(record["FAIL_TO_PASS"]),
        "PASS_TO_PASS": as_list(record["PASS_TO_PASS"]),
    }
    (where / "task.json").write_text(json.dumps(made, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--git", action="append", default=[], metavar="OWNER/NAME=GITDIR")
    parser.add_argument("--env", action="append", default=[], metavar="PREFIX:KEY=VALUE")
    parser.add_argument("--before", action="append", default=[], metavar="PREFIX:COMMAND")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    opts = parser.parse_args()
    repos = dict(entry.split("=", 1) for entry in opts.git)
    made = 0
    for line in opts.records.read_text().splitlines():
        record = json.loads(line)
        name = record["instance_id"]
        if (opts.ids and name not in opts.ids) or record["repo"] not in repos:
            continue
        env = {}
        for entry in opts.env:
            prefix, pair = entry.split(":", 1)
            if name.startswith(prefix):
                key, value = pair.split("=", 1)
                env[key] = value
        before = [c for p, c in (b.split(":", 1) for b in opts.before) if name.startswith(p)]
        task(record, env, before, opts.out, repos[record["repo"]])
        made += 1
    print(f"{made} tasks in {opts.out}")
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
