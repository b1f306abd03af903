#!/usr/bin/env bash
# Debian's package check (libcheck): console, TAP and its own XML.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need gcc
[ -e /usr/include/check.h ] || readers_skip "check is not installed"
tree=$(mktemp -d /tmp/readers-check-XXXXXX) || exit 1
trap 'rm -rf "$tree"' EXIT
(cd "$here/project" && gcc -Wno-format-extra-args -o "$tree/all_test" all_test.c -lcheck -lsubunit -lrt -lm -pthread) || exit 1
readers_bind "$tree" checked

readers_log verbose "CK_VERBOSITY=verbose /checked/all_test"
readers_log normal "CK_VERBOSITY=normal /checked/all_test"
readers_log minimal "CK_VERBOSITY=minimal /checked/all_test"
readers_log one "CK_RUN_CASE=broken CK_VERBOSITY=verbose /checked/all_test"
readers_log crash "NOFORK=1 CK_VERBOSITY=verbose /checked/all_test"
readers_log tap "CK_VERBOSITY=silent CK_TAP_LOG_FILE_NAME=report.tap /checked/all_test; status=\$?; cat report.tap; exit \$status"
readers_log xml "CK_VERBOSITY=silent CK_XML_LOG_FILE_NAME=report.xml /checked/all_test" report.xml
