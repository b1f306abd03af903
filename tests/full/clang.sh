#!/usr/bin/env bash
# The second compiler: builds without a warning and passes the unit tests.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
tap_try "clang builds it without a warning" build_tree "$build-clang" clang -Dwerror=true
while read -r program; do
	tap_try "${program#"$build"-clang/}" "$program"
done < <(unit_programs "$build-clang")
tap_done
