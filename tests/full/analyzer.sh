#!/usr/bin/env bash
# gcc -fanalyzer over the program: the one analyzer that is right about cleanup attributes. It
# runs on its own build, and a warning is an error.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
tap_try "gcc -fanalyzer finds nothing" build_tree "$build-analyzer" gcc -Dwerror=true \
	-Dc_args=-fanalyzer
tap_done
