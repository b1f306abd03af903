#!/usr/bin/env python3
"""Each header compiles alone, and every prototype in it has a comment above it or behind it."""
import re
import subprocess

from lintlib import LAYERS, TOP, Tap, text_of, tree

PACKAGES = ["libcjson", "libseccomp", "libgit2", "libcap", "libarchive", "libmd"]
COMMENT = re.compile(r"/\*.*?\*/", re.S)
GUARD = re.compile(r"#ifndef (\w+)\n#define \1\n")


def blank(match):
    """A comment becomes a mark that keeps its lines."""
    return "\u27e6" + "\n" * match.group(0).count("\n") + "\u27e7"


def undocumented(text):
    """Names of prototypes without a comment. A comment above counts when nothing but it lies
    between the prototype and what came before; one behind it, when it begins on its last line."""
    text = COMMENT.sub(blank, text)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", "", text, flags=re.M)  # preprocessor, with continuations
    missing, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "}" and depth == 0 and text[i + 1:].lstrip("\u27e6\u27e7 \t\n")[:1] not in ";,*":
            follow = text[i + 1:].lstrip(" \t\n\u27e6\u27e7")
            if not re.match(r"\w*\s*(__attribute__|;)", follow):
                start = i + 1  # the end of an inline function
            continue
        if char != ";" or depth:
            continue
        piece, start = text[start:i], i + 1
        name = prototype(piece)
        if name and "\u27e7" not in piece and not re.match("[ \t]*\u27e6", text[i + 1:]):
            missing.append(name)
        # A comment behind the last one does not document the next one.
        if re.match("[ \t]*\u27e6", text[i + 1:]):
            start = text.index("\u27e7", i + 1) + 1
    return missing


def prototype(piece):
    """The function's name when the declaration is a prototype."""
    code = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*", "", re.sub("[\u27e6\u27e7]", "", piece),
                  flags=re.S).strip()
    if not code.endswith(")") or "{" in code or code.startswith(("typedef", "struct {")):
        return None
    found = re.match(r"[\w\s\*]*?\b(\w+)\s*\(", code)
    return found.group(1) if found else None


def self_test(tap):
    good = ("/* a */\nint a(void);\n\nint b(int x); /* b */\n"
            "/* c,\n * two lines */\nint c(int x,\n\tint y) __attribute__((format(printf, 1, 2)));\n"
            "struct s {\n\tint (*f)(void);\n};\n/* in */\nstatic inline int d(void)\n{\n\treturn 1;\n}\n"
            "extern const int rows[];\n#define M(x) \\\n\tf(x);\n")
    tap.none(undocumented(good), "documented prototypes are accepted")
    tap.ok(undocumented("int a(void);\n") == ["a"], "a bare prototype is found")
    tap.ok(undocumented("/* a */\nint a(void);\nint *b(void);\n") == ["b"],
           "one comment does not cover two")
    tap.ok(undocumented("int a(void); /* a */\nint b(void);\n") == ["b"],
           "a comment behind one does not cover the next")
    tap.ok(undocumented("struct s {\n\tint x;\n};\nint b(void)\n\t__attribute__((noreturn));\n")
           == ["b"], "attributes are seen through")


def main():
    tap = Tap()
    self_test(tap)
    flags = subprocess.run(["pkg-config", "--cflags", *PACKAGES], capture_output=True, text=True,
                           check=True).stdout.split()
    headers = [name for folder in LAYERS for name in tree(".h", under=folder + "/")]
    for name in headers:
        cmd = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               "-I", str(TOP), *flags, "-x", "c", "-include", str(TOP / name), "/dev/null"]
        done = subprocess.run(cmd, capture_output=True, text=True, check=False)
        text = text_of(name)
        guard = re.sub(r"\W", "_", name).upper()
        found = GUARD.search(text)
        tap.ok(done.returncode == 0, f"{name} compiles alone", *done.stderr.splitlines()[:10])
        tap.none([f"{what}(): no comment" for what in undocumented(text)],
                 f"{name}: every prototype has a comment")
        tap.ok(text.startswith("/*") and found and found.group(1) == guard,
               f"{name} says what it is for and has the guard {guard}")
    tap.done()


if __name__ == "__main__":
    main()
