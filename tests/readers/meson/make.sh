#!/usr/bin/env bash
# meson test: console, testlog.json, JUnit.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need meson ninja
set_up="meson setup /tmp/b >/dev/null 2>&1 && cd /tmp/b"
run="meson test --num-processes 1"

readers_log all "$set_up && $run"
readers_log errorlogs "$set_up && $run --print-errorlogs"
readers_log verbose "$set_up && $run -v passes fails skips forges tap 'tap passes' 'half a line'"
readers_log quiet "$set_up && $run -q"
readers_log good "$set_up && $run passes skips 'should fail' 'tap passes'"
readers_log suite "$set_up && $run --suite first"
readers_log none "$set_up && $run nobody"
readers_log repeat "$set_up && $run --repeat 2 passes twice"
readers_log stop "$set_up && $run --maxfail 1"
readers_log cut "$set_up && timeout -s KILL 1 $run -t 10 passes 'times out' twice"
readers_log json "$set_up && $run --quiet; cp meson-logs/testlog.json /workspace" testlog.json
readers_log junit "$set_up && $run --quiet; cp meson-logs/testlog.junit.xml /workspace" testlog.junit.xml
