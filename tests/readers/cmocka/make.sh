#!/usr/bin/env bash
# Debian's libcmocka-dev: its console, TAP and XML.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need gcc
[ -e /usr/include/cmocka.h ] || readers_skip "libcmocka-dev is not installed"
tree=$(mktemp -d /tmp/readers-cmocka-XXXXXX) || exit 1
trap 'rm -rf "$tree"' EXIT
gcc "-ffile-prefix-map=$here/project=/workspace" -o "$tree/all_test" "$here/project/all_test.c" -lcmocka || exit 1
readers_bind "$tree" cmocka

readers_log all /cmocka/all_test
readers_log second "SECOND=1 /cmocka/all_test"
readers_log crash "SECOND=1 CRASH=1 /cmocka/all_test"
readers_log hang "SECOND=1 HANG=1 timeout -s KILL 1 /cmocka/all_test"
readers_log leave "SECOND=1 LEAVE=1 /cmocka/all_test"
readers_log tap "CMOCKA_MESSAGE_OUTPUT=tap /cmocka/all_test"
readers_log xml "SECOND=1 CMOCKA_MESSAGE_OUTPUT=xml CMOCKA_XML_FILE=report.xml /cmocka/all_test" report.xml
