#!/usr/bin/env bash
# Redis' runtest needs its source tree and a built server: the logs beside this file were written by hand
# after what tests/test_helper.tcl prints, with names of ours.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_skip "Redis' runtest needs its source tree: its logs are written by hand"
