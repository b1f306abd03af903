#!/usr/bin/env bash
# tests/run/cut.sh at every byte of every record.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
export PROCTOR=$build/supervisor/proctor
build_tree "$build" gcc -Dwerror=true
tap_try "records cut at every byte are read as far as they go" timeout 7000 python3 tests/run/lib/cut.py --all
tap_done
