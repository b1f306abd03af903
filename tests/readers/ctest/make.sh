#!/usr/bin/env bash
# ctest (CMake): console with and without the output of tests, JUnit.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need cmake ctest
set_up="cmake -S . -B /tmp/b -G 'Unix Makefiles' >/dev/null && cd /tmp/b"

readers_log all "$set_up && ctest"
readers_log verbose "$set_up && ctest -V"
readers_log on_failure "$set_up && ctest --output-on-failure"
readers_log good "$set_up && ctest -R 'passes|blank|dots|skips|disabled'"
readers_log repeat "$set_up && ctest -R 'flaky|passes' --repeat until-pass:3"
readers_log repeat_fail "$set_up && ctest -R 'fails|passes' --repeat until-fail:2"
readers_log stop "$set_up && ctest --stop-on-failure"
readers_log none "$set_up && ctest -R nobody"
readers_log empty "cd / && ctest --test-dir /workspace"
readers_log cut "$set_up && timeout -s KILL 1 ctest -R 'passes|times_out|with'"
readers_log junit "$set_up && ctest --output-junit /workspace/report.xml" report.xml
