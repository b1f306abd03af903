#!/usr/bin/env bash
# All shipped SWE-Shift scenarios at nine positions with all mutations, and two of them with real agents that play the same
# scripts.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
mapfile -t names < <(cd examples/shift && printf '%s\n' F*/ | tr -d /)
for who in $users; do
	tap_try "${#names[@]} scenarios, nine positions, all mutations ($who)" as "$who" env SHIFT_AT=all \
		timeout -k 30 5400 "$share/tests/run/shift.sh" "${names[@]}"
	for agent in pi codex; do
		tap_try "two scenarios, nine positions, played by $agent ($who)" as "$who" env SHIFT_AT=all \
			PROCTOR_AGENT_CACHE="$PROCTOR_AGENT_CACHE" timeout -k 30 5400 "$share/tests/run/shift_agent.sh" "$agent"
	done
done
tap_done
