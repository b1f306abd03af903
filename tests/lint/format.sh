#!/usr/bin/env bash
# Every C file looks as .clang-format says; row tables stand between "clang-format off" and "on". Sample projects
# under test are as other people write, and their line numbers are in logs.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
mapfile -t files < <(python3 -c '
import sys; sys.path.insert(0, "tests/lint")
from lintlib import tree
print("\n".join(f for f in tree(".c", ".h")
                if not str(f).startswith(("tests/readers/", "tests/hacks/", "tests/harbor/"))))')
tap_ok $((${#files[@]} < 20)) "${#files[@]} files"
for file in "${files[@]}"; do
	tap_try "$file" clang-format --dry-run -Werror "$file"
done
tap_done
