#!/usr/bin/env bash
# tests/run/inject.sh for every n, as many as an hour holds, and once more with the process killed in place of the call
# that fails. A machine that is too slow for all says how far it came in the names of the assertions.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
export PROCTOR=$build/supervisor/proctor PROCTOR_DATADIR=$top/profiles/data
build_tree "$build" gcc -Dwerror=true
tap_try "the n-th call fails" timeout 3000 python3 tests/run/lib/inject.py --all 2600
tap_try "the process is killed at its n-th call" timeout 1200 python3 tests/run/lib/inject.py --all 900 --kill
tap_done
