#!/usr/bin/env python3
"""Sizes: a file has at most 600 lines, a function at most 100 (60 is the aim: longer ones are
listed) and a cyclomatic complexity of at most 20. No exceptions."""
import subprocess

from lintlib import LAYERS, TOP, Tap, text_of, tree

FILE_MAX, FUNCTION_MAX, FUNCTION_AIM, COMPLEXITY_MAX = 600, 100, 60, 20


def functions(names):
    """(lines, file, function) by universal-ctags."""
    cmd = ["ctags", "-L", "-", "--languages=C", "--kinds-C=f", "--fields=+ne", "-o", "-"]
    done = subprocess.run(cmd, input="\n".join(names), cwd=TOP, capture_output=True, text=True,
                          check=True)
    for line in done.stdout.splitlines():
        if line.startswith("!"):
            continue
        parts = line.split("\t")
        place = dict(field.split(":", 1) for field in parts[3:] if ":" in field)
        if "line" in place and "end" in place:
            yield int(place["end"]) - int(place["line"]) + 1, parts[1], parts[0]


def complexities(names):
    """(complexity, file, function) by pmccabe."""
    done = subprocess.run(["pmccabe", *names], cwd=TOP, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        parts = line.split("\t")
        if len(parts) >= 6:
            yield int(parts[0]), parts[5].split("(")[0], parts[-1].split(" ")[-1]


def main():
    tap = Tap()
    source = tree(".c", ".h", ".inc", ".py", ".sh", "check", "demo")
    long_files = [f"{name}: {text_of(name).count(chr(10))} lines" for name in source
                  if text_of(name).count("\n") > FILE_MAX]
    tap.none(long_files, f"{len(source)} files have at most {FILE_MAX} lines")

    names = [name for folder in (*LAYERS, "tests") for name in tree(".c", under=folder + "/")]
    rows = sorted(functions(names), reverse=True)
    tap.ok(len(rows) > 100, f"{len(rows)} functions seen")
    tap.none([f"{where}: {what}() has {n} lines" for n, where, what in rows if n > FUNCTION_MAX],
             f"functions have at most {FUNCTION_MAX} lines")
    for n, where, what in rows:
        if FUNCTION_AIM < n <= FUNCTION_MAX:
            print(f"# longer than {FUNCTION_AIM}: {where}: {what}() has {n} lines")

    names = [name for name in names if not name.startswith("tests/")]
    worst = sorted(complexities(names), reverse=True)
    tap.ok(len(worst) > 50, f"{len(worst)} functions measured")
    tap.none([f"{where}: {what}() has complexity {n}" for n, where, what in worst
              if n > COMPLEXITY_MAX], f"complexity is at most {COMPLEXITY_MAX}")
    tap.done()


if __name__ == "__main__":
    main()
