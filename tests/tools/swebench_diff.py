#!/usr/bin/env python3
"""Compares our readers "swebench/NAME" with SWE-bench's own log parsers, by hand (tests/full/verified.sh).

    swebench_diff.py --swebench DIR --program COMPATLOG [--grading] [--parser NAME | --table FILE] LOG...

DIR is a checkout of SWE-bench 5, whose parsers are run beside ours on every log; COMPATLOG is
tests/progs/compatlog of a build. --parser names one parser for all logs. Without it the parser is the one
that the harness' maps give to the repository, told by the name of the log ("django__django-11099..."); --table has
lines "LOG PARSER [INSTANCE [VERSION]]". With --grading the logs are read with markers and the rules about whole
logs, otherwise every parser is given the whole text.

Prints a line for each log that differs and a summary by parser; ends with 1 when anything differs.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import types

STATUSES = {"PASSED": "passed", "FAILED": "failed", "SKIPPED": "skipped", "ERROR": "error", "XFAIL": "xfail"}
REPO = re.compile(r"([A-Za-z0-9_.-]+?)__([A-Za-z0-9_.-]+?)-\d+")


def unescape(text):
    """Undoes the form of tests/lib/readlog.h."""
    return re.sub(
        r"\\(n|t|\\|x[0-9A-F]{2})",
        lambda m: {"n": "\n", "t": "\t", "\\": "\\"}.get(m[1]) or chr(int(m[1][1:], 16)),
        text,
    )


def ours(program, parser, log, instance, version, grading):
    command = [program, parser if grading else "-" + parser, str(log), instance, version]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120)
    lines = run.stdout.decode("utf-8", "surrogateescape").split("\n")
    pairs = [line.split("\t", 1) for line in lines[1:] if line]
    return lines[0], {unescape(name): status for status, name in pairs}


def cut(name):
    """As our names are: at most 4096 bytes, NUL replaced."""
    raw = name.encode("utf-8", "surrogateescape").replace(b"\0", b"?")[:4096]
    return raw.decode("utf-8", "surrogateescape")


def theirs(harness, parser, log, instance, version, grading):
    spec = types.SimpleNamespace(instance_id=instance, version=version, log_parser=parser)
    if grading:
        found, ok = harness.get_logs_eval(spec, str(log))
    else:
        found, ok = harness.parsers[parser](pathlib.Path(log).read_text(), spec), True
    names = {cut(name): STATUSES.get(status, "missing") for name, status in found.items()}
    return ("found yes" if ok else "found no"), names


def unmarked(log):
    """Has the log none of the two markers of the test output?"""
    data = pathlib.Path(log).read_bytes()
    return b">>>>> Start Test Output" not in data and b">>>>> End Test Output" not in data


def load(directory):
    """SWE-bench's parsers without what they do not need (datasets, docker)."""
    sys.path.insert(0, str(directory))
    for name in ["swebench", "swebench.harness"]:
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(directory, *name.split(".")))]
        sys.modules[name] = package
    utils = types.ModuleType("swebench.utils")
    escape = re.compile(r"\x1B(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
    utils.ansi_escape = lambda text: escape.sub("", text)
    sys.modules["swebench.utils"] = utils
    from swebench.harness import grading
    from swebench.harness.log_parsers import c, go, java, javascript, php, python, ruby, rust

    maps = {}
    for module in [c, go, java, javascript, php, python, ruby, rust]:
        for name, value in vars(module).items():
            if name.startswith("MAP_REPO_TO_PARSER"):
                maps.update({repo.lower(): parser for repo, parser in value.items()})
    every = {}
    for module in [c, go, java, javascript, php, python, ruby, rust]:
        every.update({n: f for n, f in vars(module).items() if n.startswith("parse_") and callable(f)})
    names = {function: name for name, function in reversed(list(every.items()))}
    grading.PARSER_REGISTRY.update(every)
    return types.SimpleNamespace(
        parsers=every,
        maps={repo: names[function] for repo, function in maps.items()},
        get_logs_eval=grading.get_logs_eval,
    )


def rows(opts, harness):
    if opts.table:
        for line in opts.table.read_text().splitlines():
            log, parser, *rest = line.split()
            yield log, parser, *(rest + ["", ""])[:2]
        return
    for log in opts.logs:
        named = REPO.search(pathlib.Path(log).name)
        repo = f"{named[1]}/{named[2]}".lower() if named else ""
        parser = opts.parser or harness.maps.get(repo)
        if parser:
            yield log, parser, named[0] if named else "", ""
        else:
            print(f"skipped: {log}: no parser for {repo!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--swebench", type=pathlib.Path, required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--grading", action="store_true")
    parser.add_argument("--parser")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("logs", nargs="*")
    opts = parser.parse_args()
    harness = load(opts.swebench)
    count = collections.defaultdict(collections.Counter)
    for log, name, instance, version in rows(opts, harness):
        sums = count[name]
        sums["logs"] += 1
        try:
            their_head, their = theirs(harness, name, log, instance, version, opts.grading)
        except Exception as error:  # whatever their parser raises is a result, too
            sums["raised"] += 1
            print(f"raised: {name} {log}: {type(error).__name__}: {error}")
            continue
        our_head, our = ours(opts.program, name, log, instance, version, opts.grading)
        sums["results"] += len(their)
        if opts.grading and our_head == "found yes" and unmarked(log):
            sums["without markers"] += 1  # refused there, read as a whole here: the one rule that differs
            continue
        if not our_head.startswith(their_head):
            sums["different"] += 1
            print(f"differs: {name} {log}: {our_head!r} here, {their_head!r} there")
        elif list(our.items()) != list(their.items()):
            sums["different"] += 1
            print(f"differs: {name} {log}: {len(our)} here, {len(their)} there")
            for key in [*their, *(k for k in our if k not in their)]:
                if our.get(key) != their.get(key):
                    print(f"    {key!r}: {our.get(key)} here, {their.get(key)} there")
    for name in sorted(count):
        print(name, *(f"{key} {count[name][key]}" for key in ["logs", "results", "raised", "without markers", "different"]))
    return 1 if any(sums["different"] for sums in count.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
