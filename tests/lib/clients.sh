# shellcheck shell=bash
# For stages of ./check --full that run a whole-run test with clients that ./check leaves out: source this behind lib.sh.
# The tree may lie where the test user cannot go: root and user get the same copy, $share.
# shellcheck disable=SC2154 # build: of lib.sh
user=proctor-test
build_tree "$build" gcc -Dwerror=true >/dev/null
share=$(mktemp -d /var/tmp/clients-XXXXXX) || exit 1
trap 'rm -rf "$share"' EXIT
chmod 755 "$share"
tar -c --exclude=./build\* --exclude=./.git . | tar -x -C "$share" --no-same-owner
mkdir -p "$share/bin"
cp "$build/supervisor/proctor" "$share/bin/"
chmod -R a+rX "$share"
export PROCTOR=$share/bin/proctor PROCTOR_DATADIR=$share/profiles/data
export PROCTOR_AGENT_CACHE=${PROCTOR_AGENT_CACHE:-/var/tmp/proctor-agents}

users=user
if [ "$(id -u)" -eq 0 ]; then
	id $user >/dev/null 2>&1 || useradd -m $user || exit 1
	users="root user"
fi

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

# with_clients TEST SECONDS CLIENT...: tests/run/TEST for each client by itself, one assertion each as root
# and as user; what the registry does not have is skipped. How many were well is in good[WHO].
declare -A good
with_clients()
{
	local test=$1 seconds=$2 name who out status
	shift 2
	for name in "$@"; do
		# Installed once, by whoever runs this; others only read it.
		"$share/tests/tools/agents.sh" "$name" >/dev/null 2>&1
		for who in $users; do
			out=$(as "$who" timeout "$seconds" bash "$share/tests/run/$test" "$name" 2>&1)
			status=$?
			if grep -q '# SKIP' <<<"$out"; then
				tap_skip "$name ($who)" "$(sed -n 's/.*# SKIP //p' <<<"$out" | head -n 1)"
			else
				if tap_ok $status "$name ($who)"; then
					good[$who]=$((${good[$who]:-0} + 1))
				else
					grep -v '^ok' <<<"$out" | head -n 40 | sed 's/^/#   /'
				fi
			fi
		done
	done
}
