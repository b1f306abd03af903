#!/usr/bin/env python3
"""Who may include whom: layers, private headers, own header first, includes from the root, cycles.

The rules are checked on the tree, and the checker itself on made-up trees, so that it cannot pass
by seeing nothing; the rows of folders that a tree does not have yet are exercised that way too.
"""
import re

from lintlib import LAYERS, Tap, text_of, tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def complaints(files):
    """files: name -> contents, names relative to the root."""
    found = []
    graph = {name: INCLUDE.findall(text) for name, text in files.items()}
    for name, includes in graph.items():
        folder = name.split("/")[0]
        for inc in includes:
            top = inc.split("/")[0]
            if "/" not in inc:
                found.append(f'{name}: include "{inc}" must be written from the root')
            elif top not in LAYERS[folder]:
                found.append(f"{name}: {folder}/ may not include {top}/ ({inc})")
            elif inc.endswith("_internal.h") and top != folder:
                found.append(f"{name}: {inc} is private to {top}/")
            elif inc not in files:
                found.append(f"{name}: no such file: {inc}")
        own = name[:-1] + "h"
        if name.endswith(".c") and own in files and includes[:1] != [own]:
            found.append(f'{name}: the first include must be "{own}"')
    return found + cycles(graph)


def cycles(graph):
    found, state = [], {}

    def visit(node, trail):
        state[node] = "open"
        for nxt in graph.get(node, []):
            if state.get(nxt) == "open":
                loop = trail[trail.index(nxt):] if nxt in trail else [nxt]
                found.append("include cycle: " + " -> ".join(loop + [nxt]))
            elif nxt in graph and nxt not in state:
                visit(nxt, trail + [nxt])
        state[node] = "done"

    for node in graph:
        if node not in state:
            visit(node, [node])
    return found


def self_test(tap):
    """Made-up trees: what must be refused and what must not."""
    def refused(name, part, **files):
        tree_of = {key.replace("__", "/").replace("_h", ".h").replace("_c", ".c"): text
                   for key, text in files.items()}
        found = complaints(tree_of)
        tap.ok(any(part in line for line in found), name, *found)

    tap.none(complaints({"base/a.h": "", "supervisor/x.c": '#include "base/a.h"\n'}),
             "the program may include everything")
    refused("triggers does not see sandbox", "may not include sandbox/",
            sandbox__a_h="", triggers__x_c='#include "sandbox/a.h"\n')
    refused("sandbox does not see triggers", "may not include triggers/",
            triggers__a_h="", sandbox__x_c='#include "triggers/a.h"\n')
    refused("gateway does not see sandbox", "may not include sandbox/",
            sandbox__a_h="", gateway__x_c='#include "sandbox/a.h"\n')
    refused("study does not see the sandbox directly", "may not include sandbox/",
            sandbox__a_h="", study__x_c='#include "sandbox/a.h"\n')
    refused("nobody sees the supervisor", "may not include supervisor/",
            supervisor__a_h="", study__x_c='#include "supervisor/a.h"\n')
    refused("a cycle of two", "include cycle: base/a.h -> base/b.h -> base/a.h",
            base__a_h='#include "base/b.h"\n', base__b_h='#include "base/a.h"\n')
    refused("a header that includes itself", "include cycle",
            base__a_h='# include "base/a.h"\n')
    refused("own header first", 'first include must be "base/a.h"',
            base__a_h="", base__b_h="", base__a_c='#include "base/b.h"\n#include "base/a.h"\n')
    refused("own header not at all", 'first include must be "base/a.h"', base__a_h="", base__a_c="")
    refused("not from the root", "written from the root", base__a_c='#include "a.h"\n')
    tap.ok(any("is private to" in line for line in complaints(
        {"base/a_internal.h": "", "profiles/x.c": '#include "base/a_internal.h"\n'})),
        "private headers stay in their folder")


def main():
    tap = Tap()
    self_test(tap)
    names = [name for folder in LAYERS for name in tree(".c", ".h", ".inc", under=folder + "/")]
    tap.ok(len(names) > 20, f"{len(names)} files looked at")
    tap.none(complaints({name: text_of(name) for name in names}), "the tree keeps its layers")
    tap.done()


if __name__ == "__main__":
    main()
