#!/usr/bin/env bash
# Debian's catch2 (2.13 in Debian 12; version 3 works as well): its XML.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need g++
[ -d /usr/include/catch2 ] || readers_skip "catch2 is not installed"
tree=$(mktemp -d /tmp/readers-catch2-XXXXXX) || exit 1
trap 'rm -rf "$tree"' EXIT
libs=
[ -e /usr/include/catch2/catch_all.hpp ] && libs="-lCatch2Main -lCatch2"
# shellcheck disable=SC2086 # words on purpose
(cd "$here/project" && timeout 300 g++ -o "$tree/all_test" all_test.cc $libs) || exit 1
readers_bind "$tree" caught

readers_log all "/caught/all_test -r xml"
readers_log report "/caught/all_test -r xml -o report.xml" report.xml
readers_log some "/caught/all_test -r xml passes,warns"
readers_log none "/caught/all_test -r xml nobody"
readers_log crash "CRASH=1 /caught/all_test -r xml 'z*'"
readers_log hang "HANG=1 timeout -s KILL 1 /caught/all_test -r xml 'z*'"
readers_log leave "LEAVE=1 /caught/all_test -r xml 'z*'"
readers_log forge "FORGE=1 /caught/all_test -r xml 'z*'"
readers_log console "/caught/all_test"
readers_log junit "/caught/all_test -r junit -o report.xml" report.xml
