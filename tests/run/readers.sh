#!/usr/bin/env bash
# The readers on fresh output: each tests/readers/RUNNER/make.sh runs the real runner, and what the
# reader makes of it is compared with the saved CASE.expect. Another version of the runner may answer
# in another way: then CASE.expect.WORD beside it holds that answer, with a line "# why" on top.
# seconds: 1800
# once
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
readlog=${READLOG:-$(dirname "$PROCTOR")/../tests/progs/readlog}
only=${READERS_ONLY:-}

# field FILE KEY: a line of the head of an .expect file.
field() { sed -n "s/^$2 //p" "$1" | head -n 1; }

# in_order EXPECT: the lines as they are, or sorted when EXPECT says "# any order".
in_order()
{
	if grep -qx '# any order' "$1"; then
		LC_ALL=C sort
	else
		cat
	fi
}

# same RUNNER CASE: the fresh log reads as one of the saved answers says.
same()
{
	local base=$top/tests/readers/$1/$2 fresh=$work/$1/$2 want report=()
	local reader root
	reader=$(field "$base.expect" reader)
	root=$(field "$base.expect" root)
	[ "$(field "$base.expect" report)" = yes ] && report=("$fresh.report")
	"$readlog" "$reader" "$(cat "$fresh.exit")" "$root" "$fresh.log" ${report[@]+"${report[@]}"} \
		>"$fresh.got" 2>"$fresh.note"
	for want in "$base.expect" "$base.expect".*; do
		[ -e "$want" ] && grep -v '^# ' "$want" | in_order "$want" |
			cmp -s - <(in_order "$want" <"$fresh.got") && break
		want=
	done
	if [ -n "$want" ]; then
		tap_ok 0 "$1: $2"
	else
		tap_ok 1 "$1: $2"
		diff -u "$base.expect" "$fresh.got" | head -n 40 | sed 's/^/#   /'
		sed 's/^/#   /' "$fresh.note"
	fi
}

# Those that install from a registry or compile for minutes are run again by ./check --full alone; their saved logs
# are read on every run (unit test readers).
slow=" catch2 googletest gradle jest libtest maven mocha vitest "

for make in "$top"/tests/readers/*/make.sh; do
	runner=$(basename "$(dirname "$make")")
	[ -n "$only" ] && [ "$only" != "$runner" ] && continue
	[ -z "$only${PROCTOR_FULL-}" ] && [[ $slow == *" $runner "* ]] && continue
	bash "$make" "$work/$runner" >"$work/said" 2>&1
	status=$?
	if [ $status -eq 77 ]; then
		tap_skip "$runner" "$(tail -n 1 "$work/said")"
		continue
	fi
	tap_ok $status "$runner: the runner ran" || sed 's/^/#   /' "$work/said" | tail -n 20
	n=0
	for log in "$work/$runner"/*.log; do
		case=$(basename "$log" .log)
		if [ -e "$top/tests/readers/$runner/$case.expect" ]; then
			same "$runner" "$case"
			n=$((n + 1))
		fi
	done
	tap_ok $((n == 0)) "$runner: $n fresh logs"
done
tap_done
