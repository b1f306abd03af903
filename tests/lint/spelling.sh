#!/usr/bin/env bash
# codespell over sources and documents; words that are right in their place stand in
# tests/lint/spelling.words. Unit tests misspell on purpose (the nearest key is named).
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
mapfile -t files < <(python3 -c '
import sys; sys.path.insert(0, "tests/lint")
from lintlib import tree
keep = (".c", ".h", ".inc", ".md", ".sh", ".py", ".build", ".json", ".1", ".supp")
print("\n".join(n for n in tree(*keep) if not n.startswith(("tests/corpus/", "tests/tasks/", "tests/unit/"))))')
tap_ok $((${#files[@]} < 20)) "${#files[@]} files"
tap_try "no spelling mistakes" codespell --ignore-words tests/lint/spelling.words "${files[@]}"
tap_done
