"""predictions.py TASKS COUNT [--lines FILE]: so many predictions over the tasks of a directory, as JSON Lines:
reference patches, empty and null ones, patches that do not apply, that break a file, and half references, in
an order that is the same each time. The n-th prediction of a task is by model "model-N"."""

import json
import os
import random
import re
import sys


def load(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    task = json.loads(text)
    for key in ("patch",):
        value = task.get(key) or ""
        beside = os.path.join(os.path.dirname(path), value)
        if value and "\n" not in value and os.path.exists(beside):
            with open(beside, encoding="utf-8") as f:
                task[key] = f.read()
    return task


def tasks_of(top):
    found = []
    for root, dirs, files in os.walk(top):
        dirs.sort()
        found += [os.path.join(root, f) for f in sorted(files) if f == "task.json" or f.endswith(".task.json")]
        if len(root.split(os.sep)) - len(top.split(os.sep)) >= 1:
            dirs[:] = []
    return [load(path) for path in found]


def half(patch):
    """All hunks but the last one; the whole file section when it had one only."""
    at = patch.rfind("\n@@ ")
    if at < 0 or patch.count("\n@@ ") < 2:
        return ""
    start = patch.rfind("\ndiff --git ", 0, at)
    if patch.count("\n@@ ", max(start, 0), at + 1) < 1:
        return patch[:start + 1]
    return patch[:at + 1]


def broken(patch):
    return "".join("+return broken(\n" if line.startswith("+") and not line.startswith("+++") else line
                   for line in patch.splitlines(keepends=True))


KINDS = [
    ("reference", lambda p: p),
    ("empty", lambda p: ""),
    ("null", lambda p: None),
    ("garbage", lambda p: "this is no diff\n"),
    ("half", half),
    ("broken", broken),
    ("elsewhere", lambda p: p.replace("--- a/", "--- a/no/such/").replace("+++ b/", "+++ b/no/such/")),
]


def main():
    tasks, count = tasks_of(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(7)
    for i in range(count):
        task = tasks[i % len(tasks)]
        round_ = i // len(tasks)
        kind, make = KINDS[round_ % len(KINDS)] if round_ < len(KINDS) else rng.choice(KINDS)
        print(json.dumps({"instance_id": task["instance_id"], "model_name_or_path": f"model-{round_:03d}",
                          "model_patch": make(task.get("patch", "")), "kind": kind}))


main()
