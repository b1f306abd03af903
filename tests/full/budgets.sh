#!/usr/bin/env bash
# tests/run/budgets.sh for the two clients that ./check leaves out, as root and as an ordinary user.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
user=proctor-test
build_tree "$build" gcc -Dwerror=true >/dev/null
share=$(mktemp -d /var/tmp/budgets-XXXXXX) || exit 1
trap 'rm -rf "$share"' EXIT
chmod 755 "$share"

# The user may not be able to enter the tree: both get the same copy.
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

users=user
if [ "$(id -u)" -eq 0 ]; then
	id $user >/dev/null 2>&1 || useradd -m $user || exit 1
	users="root user"
fi
for name in claude gemini; do
	# Installed once, by whoever runs this; others only read it.
	"$share/tests/tools/agents.sh" "$name" >/dev/null 2>&1
	for who in $users; do
		out=$(as "$who" timeout 1800 bash "$share/tests/run/budgets.sh" "$name" 2>&1)
		status=$?
		if grep -q '# SKIP' <<<"$out"; then
			tap_skip "$name ($who)" "$(sed -n 's/.*# SKIP //p' <<<"$out" | head -n 1)"
		else
			tap_ok $status "$name ($who)" || grep -v '^ok' <<<"$out" | head -n 40 | sed 's/^/#   /'
		fi
	done
done
tap_done
