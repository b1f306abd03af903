#!/usr/bin/env bash
# The test runner itself: it must count right, and must not be fooled by a test that hangs, dies,
# says too little, skips, or leaves something behind.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh

# counts NAME WANT MUST_WORK COMMAND: last line of a run with this one test.
counts()
{
	local out
	out=$(printf 'x\t-\t%s\n' "$4" | MUST_WORK=$3 python3 tests/lib/taprun.py -t 2 -)
	tap_is "$(tail -n 1 <<<"$out")" "$2" "$1" || printf '%s\n' "$out" | sed 's/^/#   /'
}

# Two assertions of every run are about mounts and control groups.
counts "good" "4 passed, 0 failed, 0 skipped" 0 'printf "ok 1 - a\nok 2\n1..2\n"'
counts "bad" "3 passed, 1 failed, 0 skipped" 0 'printf "ok 1 - a\nnot ok 2 - b\n1..2\n"'
counts "plan first" "3 passed, 0 failed, 0 skipped" 0 'printf "1..1\nok 1\n"'
counts "no plan" "3 passed, 1 failed, 0 skipped" 0 'printf "ok 1\n"'
counts "plan not met" "3 passed, 1 failed, 0 skipped" 0 'printf "ok 1\n1..2\n"'
counts "no output" "2 passed, 1 failed, 0 skipped" 0 'true'
counts "exit status" "3 passed, 1 failed, 0 skipped" 0 'sh -c "echo ok 1; echo 1..1; exit 3"'
counts "killed" "3 passed, 1 failed, 0 skipped" 0 "sh -c 'echo ok 1; echo 1..1; kill -9 \$\$'"
counts "bail out" "3 passed, 1 failed, 0 skipped" 0 'printf "ok 1\nBail out! no\n1..1\n"'
counts "expected skip" "2 passed, 0 failed, 1 skipped" 1 'printf "ok 1 - a # SKIP ia32: no\n1..1\n"'
counts "unexpected skip" "2 passed, 1 failed, 0 skipped" 1 'printf "ok 1 - a # SKIP tired\n1..1\n"'
counts "skips are fine otherwise" "2 passed, 0 failed, 1 skipped" 0 \
	'printf "ok 1 - a # skip tired\n1..1\n"'
counts "all skipped" "2 passed, 0 failed, 1 skipped" 1 'printf "1..0 # SKIP x32: no\n"'
counts "no such program" "2 passed, 1 failed, 0 skipped" 0 '/no/such/program'
counts "hangs" "3 passed, 2 failed, 0 skipped" 0 'sh -c "echo ok 1; sleep 1000 & sleep 1000"'
counts "leaves a process" "3 passed, 1 failed, 0 skipped" 0 \
	'sh -c "setsid sleep 1000 & echo ok 1; echo 1..1"'
counts "leaves a scratch directory" "3 passed, 1 failed, 0 skipped" 0 \
	"sh -c 'mkdir \$TMPDIR/proctor-x; echo ok 1; echo 1..1'"
tap_done
