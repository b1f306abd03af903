#!/usr/bin/env bash
# clang-tidy with the checks of .clang-tidy. It reads the compile commands of the clang build, as
# it does not know every gcc flag.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
build_tree "$build-clang" clang -Dwerror=true >/dev/null
for source in "${sources[@]}"; do
	tap_try "$source" clang-tidy --quiet -p "$build-clang" --warnings-as-errors='*' "$source"
done
tap_done
