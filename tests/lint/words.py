#!/usr/bin/env python3
"""Words that must not be in the tree: unfinished work, and paths of somebody's machine."""
import re

from lintlib import TOP, Tap, text_of, tree

# Written in pieces so that this file does not find itself.
UNFINISHED = re.compile(
    r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b|(?i:\bfor " r"now\b|\bnot (yet )?imple" r"mented)")
HOME = re.compile(r"/home/(?!agent\b|me\b|you\b|x\b|somebody\b)[a-z][a-z0-9_-]*/")
SOURCE = (".c", ".h", ".inc", ".py", ".sh", ".md", ".build", ".json", ".1", ".txt", ".tsv")
# TAP has a directive of that name.
DIRECTIVE = re.compile(r"\btap\b|# ?TO" r"DO|SKIP", re.I)


def unfinished(line):
    return UNFINISHED.search(line) and not DIRECTIVE.search(line)


def main():
    tap = Tap()
    names = [n for n in tree() if n.endswith(SOURCE) or n in ("check", "demo", ".ci/run")]
    names = [n for n in names if not n.startswith("tests/corpus/")]
    here = re.compile(re.escape(str(TOP)) + r"(?![\w-])")
    words, paths = [], []
    for name in names:
        for number, line in enumerate(text_of(name).splitlines(), 1):
            place = f"{name}:{number}: {line.strip()[:80]}"
            if unfinished(line):
                words.append(place)
            if (len(TOP.parts) > 2 and here.search(line)) or HOME.search(line):
                paths.append(place)
    tap.ok(len(names) > 50, f"{len(names)} files looked at")
    tap.ok(unfinished("/* TO" "DO: x */") and unfinished("ok for " "now") and
           not unfinished("mktemp /tmp/a.XXXXXX"), "the words are known")
    tap.none(words, "no unfinished work")
    tap.none(paths, "no path of a developer's machine")
    tap.done()


if __name__ == "__main__":
    main()
