#!/usr/bin/env python3
"""docs/security-tests.md says what the tables of the tests say: families and their rows, ways of evading the trace, and the
test that stands for each known hole."""
import re

from lintlib import TOP, Tap, text_of


def rows(name):
    return [line.split("\t") for line in text_of(f"tests/tables/{name}.tsv").splitlines() if not line.startswith("#")]


def section(text, title):
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def table(text):
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return lines[1:]


def complaints(text, escapes, ways):
    found = []
    told = {cells[0].strip("`"): cells[1] for cells in table(section(text, "Escapes"))}
    count = {}
    for row in escapes:
        count[row[1]] = count.get(row[1], 0) + 1
    found += [f"family {f}: {n} rows, the document says {told.get(f)}" for f, n in count.items() if told.get(f) != str(n)]
    found += [f"no family {f}" for f in told if f not in count]
    told = {cells[0].strip("`") for cells in table(section(text, "Evasion of the trace"))}
    found += [f"way {w}: only one of table and document has it" for w in told ^ {row[0] for row in ways}]
    holes = {}
    for hole, _, test in table(section(text, "Known holes and the test that stands for each")):
        for number in hole.split(", "):
            holes[number] = test
    ids = {row[0] for row in escapes}
    for row in escapes:
        if row[2] != "-" and f"`{row[0]}`" not in holes.get(row[2], ""):
            found.append(f"{row[2]}: {row[0]} stands for it by the table and not by the document")
    for hole, test in holes.items():
        for name in re.findall(r"`([^`]+)`", test):
            if "/" in name and not name.startswith("/") and not (TOP / name).exists():
                found.append(f"{hole}: no file {name}")
            elif "/" not in name and name not in ids:
                found.append(f"{hole}: no attempt {name}")
        if not re.search("`|has none", test):
            if "cannot be refused" not in test:
                found.append(f"{hole}: no test")
    return found


def main():
    tap = Tap()
    text, escapes, ways = text_of("docs/security-tests.md"), rows("escape"), rows("evasion")
    tap.none(complaints(text, escapes, ways), f"{len(escapes)} attempts and {len(ways)} ways are as the document says")
    # The checker sees what is wrong.
    for name, wrong in (("a row more", (text, escapes + [["x", "files", "-"]], ways)),
                        ("a way more", (text, escapes, ways + [["x"]])),
                        ("a hole more", (text, escapes + [["x", "files", "CVE-1-1"]], ways)),
                        ("a test that is none", (text.replace("`setuid-program`", "`no-such-row`"), escapes, ways)),
                        ("a file that is none", (text.replace("tests/run/key.sh", "tests/run/none.sh"), escapes, ways))):
        tap.ok(complaints(*wrong), f"seen: {name}")
    tap.done()


main()
