#!/usr/bin/env bash
# tests/run/agents.sh for every shipped client, as root and as an ordinary user. Nine of the eleven
# must work; what the registry does not have is skipped by name.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
user=proctor-test
clients="pi codex claude gemini continue copilot grok qwen opencode kilo cline"
build_tree "$build" gcc -Dwerror=true >/dev/null
share=$(mktemp -d /var/tmp/agents-XXXXXX) || exit 1
trap 'rm -rf "$share"' EXIT
chmod 755 "$share"

# The caller's view, or that of a user who may not enter the tree: both get the same copy.
tar -c --exclude=./build\* --exclude=./.git . | tar -x -C "$share" --no-same-owner
mkdir -p "$share/bin"
cp "$build/supervisor/proctor" "$share/bin/"
chmod -R a+rX "$share"
export PROCTOR=$share/bin/proctor PROCTOR_DATADIR=$share/profiles/data
export PROCTOR_AGENT_CACHE=${PROCTOR_AGENT_CACHE:-/var/tmp/proctor-agents}

# as WHO COMMAND...
as()
{
	local who=$1
	shift
	if [ "$who" = user ] && [ "$(id -u)" -eq 0 ]; then
		mkdir -p "$share/home"
		chown $user: "$share/home"
		HOME=$share/home setpriv --reuid=$user --regid=$user --clear-groups "$@"
	else
		"$@"
	fi
}

# client WHO NAME: 0 all well, 77 skipped.
client()
{
	local out status
	out=$(as "$1" timeout 900 bash "$share/tests/run/agents.sh" "$2" 2>&1)
	status=$?
	if grep -q '# SKIP' <<<"$out"; then
		tap_skip "$2 ($1)" "$(sed -n 's/.*# SKIP //p' <<<"$out" | head -n 1)"
		return 77
	fi
	tap_ok $status "$2 ($1)" || grep -v '^ok' <<<"$out" | head -n 40 | sed 's/^/#   /'
	return $status
}

users=user
if [ "$(id -u)" -eq 0 ]; then
	id $user >/dev/null 2>&1 || useradd -m $user || exit 1
	users="root user"
fi
for name in $clients; do
	# Installed once, by whoever runs this; others only read it.
	"$share/tests/tools/agents.sh" "$name" >/dev/null 2>&1
done
for who in $users; do
	good=0
	for name in $clients; do
		client "$who" "$name" && good=$((good + 1))
	done
	tap_ok $((good < 9)) "nine or more of eleven work ($who): $good"
done
tap_done
