#!/usr/bin/env bash
# cargo-nextest is in no package that tests may use: the logs beside this file were written by hand after
# the forms its documentation and its own tests show (0.9.100 and later; old.log: 0.9.60), with names of
# ours.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_skip "cargo-nextest is in no package: its logs are written by hand"
