#!/usr/bin/env bash
# Unity is in no package: READERS_UNITY=DIR is the folder of its unity.c and unity.h.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need gcc cmake ctest
[ -e "${READERS_UNITY:-}/unity.c" ] || readers_skip "READERS_UNITY does not name the folder of unity.c"
tree=$(mktemp -d /tmp/readers-unity-XXXXXX) || exit 1
trap 'rm -rf "$tree"' EXIT
gcc "-ffile-prefix-map=$here/project=/workspace" "-fmacro-prefix-map=$here/project=/workspace" \
	-I"$READERS_UNITY" -o "$tree/all_test" "$here/project/all_test.c" "$READERS_UNITY/unity.c" || exit 1
readers_bind "$tree" unity

readers_log all /unity/all_test
readers_log good "GOOD=1 /unity/all_test"
readers_log forge "FORGE=1 /unity/all_test"
readers_log crash "CRASH=1 stdbuf -oL /unity/all_test"
readers_log hang "HANG=1 timeout -s KILL 1 stdbuf -oL /unity/all_test"
readers_log leave "LEAVE=1 GOOD=1 stdbuf -oL /unity/all_test"
readers_log under_ctest "cmake -S . -B /tmp/b -G 'Unix Makefiles' >/dev/null && cd /tmp/b && ctest -V"
readers_log good_under_ctest "cmake -S . -B /tmp/b -G 'Unix Makefiles' >/dev/null && cd /tmp/b && ctest -V -R good"
