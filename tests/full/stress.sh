#!/usr/bin/env bash
# tests/run/stress.sh for ten minutes.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
export PROCTOR=$build/supervisor/proctor
build_tree "$build" gcc -Dwerror=true
tap_try "ten minutes of stress-ng in the box" timeout 3000 python3 tests/run/lib/stress.py 600
tap_done
