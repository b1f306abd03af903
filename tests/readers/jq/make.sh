#!/usr/bin/env bash
# Debian's jq.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need jq

readers_log all "stdbuf -oL jq --run-tests all.test"
readers_log good "jq --run-tests good.test"
readers_log both "stdbuf -oL jq --run-tests good.test; stdbuf -oL jq --run-tests all.test"
readers_log hang "printf '\\nlast(range(1e12))\\n0\\n1\\n' >>good.test; timeout -s KILL 1 stdbuf -oL jq --run-tests good.test"
readers_log none "jq --run-tests nothing.test"
