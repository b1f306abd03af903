#!/usr/bin/env bash
# Real agents play the scripted actors of two scenarios: the rows come out as they do with the shipped agent.
# usage: shift_agent.sh [AGENT...]; SHIFT_AT: positions (default 0.3,0.8)
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi
cp -r "$top/examples/shift" scenarios
for agent in "$@"; do
	need_agent "$agent" || continue
	for name in F01-shipping F02-range; do
		timeout 1500 "$PROCTOR" gate "scenarios/$name/scenario.json" --agent "$agent" --at "${SHIFT_AT:-0.3,0.8}" --out "$agent" \
			</dev/null >out.txt 2>err.txt
		tap_is $? 0 "$agent: $name is admitted" || grep -v 'as expected$' out.txt err.txt | sed 's/^/# /'
	done
done
tap_done
