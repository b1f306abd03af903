#!/usr/bin/env bash
# Every shell script of the tree through shellcheck, told by name or by its first line.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
mapfile -t files < <(python3 -c '
import re, sys; sys.path.insert(0, "tests/lint")
from lintlib import TOP, tree
for name in tree():
    first = (TOP / name).open("rb").readline(100)
    if name.endswith(".sh") or re.match(rb"#! ?/\S+[ /](ba)?sh\b", first):
        print(name)')
tap_ok $((${#files[@]} < 5)) "${#files[@]} scripts"
for file in "${files[@]}"; do
	tap_try "$file" shellcheck -x -P SCRIPTDIR -P . "$file"
done
tap_done
