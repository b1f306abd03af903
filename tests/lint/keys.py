#!/usr/bin/env python3
"""docs/formats.md and the program agree: the tables of input fields name exactly what the readers
accept, the examples use nothing else, and every kind of trace record and layer is explained."""
import json
import os
import re
import subprocess

from lintlib import TOP, Tap, text_of, tree

ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| (yes|no) \|", re.M)
OPEN_TYPES = ("any", "see text", "object of strings")  # their keys are not rows


def section(text, title):
    """Text from heading "## title" to the next heading of that level."""
    found = re.search(rf"^## {re.escape(title)}\b.*?$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return found.group(1) if found else ""


def paths(value, where=""):
    """Key paths of an example, as the rows write them."""
    for key, item in value.items():
        array = isinstance(item, list) and item and isinstance(item[0], dict)
        path = f"{where}{key}" + ("[]" if array else "")
        yield path
        for below in (item if array else [item]):
            if isinstance(below, dict):
                yield from paths(below, path + ".")


def strip_comments(text):
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or "", text,
                  flags=re.S)


def unknown_keys(example, rows):
    """Keys of an example that no row reads."""
    opened = [path for path, kind in rows.items() if kind.startswith(OPEN_TYPES)]
    return [path for path in paths(example)
            if path not in rows and not any(path.startswith(o + ".") or path.startswith(o + "[]")
                                            for o in opened)]


def main():
    tap = Tap()
    tool = os.path.join(os.environ.get("BUILD", str(TOP / "build")), "tests/tools/fields")
    if not tap.ok(os.access(tool, os.X_OK), "the program tests/tools/fields is built", tool):
        tap.done()
    known = subprocess.run([tool], capture_output=True, text=True, check=True).stdout.splitlines()
    known = [line.split("\t") for line in known]
    text = text_of("docs/formats.md")
    for kind in ("task", "agent", "profile", "scenario"):
        rows = {row[1]: (row[2], row[3]) for row in known if row[0] == kind}
        documented = {m.group(1): m.group(3) for m in ROW.finditer(section(text, kind))}
        tap.ok(len(rows) > 5, f"{kind}: {len(rows)} fields are read")
        tap.none([f"not documented: {path}" for path in rows if path not in documented],
                 f"{kind}: every field is in docs/formats.md")
        tap.none([f"not read: {path}" for path in documented if path not in rows],
                 f"{kind}: docs/formats.md names nothing else")
        tap.none([f"{path}: needed? document says {documented[path]}" for path in rows
                  if path in documented and (rows[path][1] == "required") != (documented[path] == "yes")],
                 f"{kind}: the document is right about which fields must be there")
        types = {path: row[0] for path, row in rows.items()}
        blocks = re.findall(r"```json\n(.*?)```", section(text, kind), re.S)
        tap.ok(blocks, f"{kind}: has an example")
        for block in blocks:
            tap.none(unknown_keys(json.loads(strip_comments(block)), types),
                     f"{kind}: the example uses known fields")
        shipped = [name for name in tree(".json") if name.startswith(("examples/", "profiles/data/"))
                   and f'"proctor.{kind}/1"' in text_of(name)]
        for name in shipped:
            tap.none(unknown_keys(json.loads(strip_comments(text_of(name))), types),
                     f"{name} uses known fields")
    trace = section(text, "trace.jsonl")
    tap.none([row[1] for row in known if row[0] == "trace" and f"| `{row[1]}` |" not in trace],
             "every kind of trace record is explained")
    tap.none([row[1] for row in known if row[0] == "layer" and f"`{row[1]}`" not in text],
             "every layer is named")
    tap.done()


if __name__ == "__main__":
    main()
