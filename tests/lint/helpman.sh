#!/usr/bin/env bash
# Help, man pages and completion are made from the same rows: they name the same options, the man
# pages are clean for mandoc, and the program's own list of commands is complete everywhere.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
export PROCTOR_DATADIR=$PWD/profiles/data
proctor=${BUILD:-$PWD/build}/supervisor/proctor
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

mapfile -t commands < <("$proctor" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')
tap_ok $((${#commands[@]} < 4)) "${#commands[@]} commands"
"$proctor" help --completion >"$work/completion" 2>/dev/null
tap_try "the completion is valid bash" bash -n "$work/completion"
for command in "${commands[@]}"; do
	tap_try "$command --help" "$proctor" "$command" --help
	"$proctor" "$command" --help | grep -oE '^ .{0,6}--[a-z-]+' | grep -oE -- '--[a-z-]+' |
		grep -vx -- --help | sort -u >"$work/help"
	tap_try "$command has a man page" "$proctor" help --man "$command"
	"$proctor" help --man "$command" >"$work/$command.1"
	sed 's/\\f[BIR]//g; s/[\\]//g' "$work/$command.1" | grep -oE '^(-., )?--[a-z-]+' |
		grep -oE -- '--[a-z-]+' | sort -u >"$work/man"
	tap_is "$(cat "$work/man")" "$(cat "$work/help")" "$command: man page and help name the same options"
	sed -n "/^\t$command) words/s/.*words='\([^']*\)'.*/\1/p" "$work/completion" | tr ' ' '\n' |
		grep -vx -- --help | grep . | sort -u >"$work/comp"
	tap_is "$(cat "$work/comp")" "$(cat "$work/help")" "$command: so does the completion"
	tap_is "$(mandoc -T lint -W warning "$work/$command.1" 2>&1 | grep -v 'missing date')" "" \
		"$command: mandoc has no complaint"
	grep -qF "proctor-$command" docs/man/proctor.1 || grep -q "^\.B $command" docs/man/proctor.1
	tap_ok $? "$command is in proctor.1"
done
tap_is "$(mandoc -T lint -W warning docs/man/proctor.1 2>&1)" "" "proctor.1: mandoc has no complaint"
tap_done
