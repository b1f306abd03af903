#!/usr/bin/env bash
# Debian's libgtest-dev.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need g++
[ -e /usr/include/gtest/gtest.h ] || readers_skip "libgtest-dev is not installed"
tree=$(mktemp -d /tmp/readers-gtest-XXXXXX) || exit 1
trap 'rm -rf "$tree"' EXIT
timeout 300 g++ "-ffile-prefix-map=$here/project=/workspace" -o "$tree/all_test" "$here/project/all_test.cc" -lgtest -lgtest_main -pthread || exit 1
readers_bind "$tree" gtest

readers_log all /gtest/all_test
readers_log some "/gtest/all_test --gtest_filter='Plain.P*:Typed*'"
readers_log none "/gtest/all_test --gtest_filter=Nobody.*"
readers_log crash "CRASH=1 /gtest/all_test --gtest_filter='ZCrash.*:Plain.Passes'"
readers_log hang "HANG=1 timeout -s KILL 1 /gtest/all_test --gtest_filter='ZCrash.*:Plain.Passes'"
readers_log leave "LEAVE=1 /gtest/all_test --gtest_filter='ZCrash.*:Plain.Passes'"
readers_log twice "/gtest/all_test --gtest_filter=Plain.Passes; /gtest/all_test --gtest_filter='Plain.F*'"
readers_log repeat "/gtest/all_test --gtest_filter=Plain.Passes --gtest_repeat=2"
readers_log brief "/gtest/all_test --gtest_filter='Plain.P*:Plain.F*' --gtest_brief=1"
readers_log json "/gtest/all_test --gtest_output=json:report.json" report.json
readers_log json_crash "CRASH=1 /gtest/all_test --gtest_output=json:report.json --gtest_filter='ZCrash.*'; touch report.json" report.json
readers_log xml "/gtest/all_test --gtest_output=xml:report.xml" report.xml
