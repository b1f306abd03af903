#!/usr/bin/env bash
# tests/run/fork.sh with five real agents: every recorded run continues from nine positions without a difference;
# tests/run/fork_resume.sh with three that take up sessions of their own.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
for who in $users; do
	tap_try "five agents, nine positions ($who)" as "$who" env PROCTOR_AGENT_CACHE="$PROCTOR_AGENT_CACHE" \
		timeout -k 30 5400 "$share/tests/run/fork.sh" pi codex claude opencode qwen
	tap_try "three agents, sessions of their own ($who)" as "$who" env PROCTOR_AGENT_CACHE="$PROCTOR_AGENT_CACHE" \
		timeout -k 30 3600 "$share/tests/run/fork_resume.sh" pi codex claude
done
tap_done
