#!/usr/bin/env bash
# tests/run/agents.sh for every shipped client, as root and as an ordinary user. Nine of the eleven
# must work; what the registry does not have is skipped by name.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
with_clients agents.sh 900 pi codex claude gemini continue copilot grok qwen opencode kilo cline
for who in $users; do
	tap_ok $((${good[$who]:-0} < 9)) "nine or more of eleven work ($who): ${good[$who]:-0}"
done
tap_done
