#!/bin/bash
# agents.sh NAME...: install shipped agents from npm for the tests, each in the version that its
# agent file names, below $PROCTOR_AGENT_CACHE (default ~/.cache/proctor-agents), and print that
# directory: it is what $PROCTOR_AGENTS wants. What is there is used as it is.
# Exit status: 0 all there; 77 and a line of why when the registry does not have one, or there is no
# npm; 1 when an installation failed.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${PROCTOR_AGENT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/proctor-agents}
umask 022

skip() { echo "$*" >&2; exit 77; }

# field NAME PATH DEFAULT: a value of a shipped agent file; "extends" is not followed.
field()
{
	python3 -c '
import json, re, sys
text = open(sys.argv[1]).read()
value = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))
for key in sys.argv[2].split("."):
    value = value.get(key, {}) if isinstance(value, dict) else {}
print(value if isinstance(value, str) else sys.argv[3])' "$top/profiles/data/agents/$1.json" "$2" "$3"
}

# install DIR PACKAGE
install()
{
	local tmp status
	tmp=$(mktemp -d "$cache/new-XXXXXX") || exit 1
	chmod 755 "$tmp"
	npm install --prefix "$tmp" --no-audit --no-fund --no-progress --loglevel=error "$2" \
		>"$tmp/npm.log" 2>&1 </dev/null
	status=$?
	if [ $status -ne 0 ]; then
		if grep -qE 'code (ETARGET|E404)' "$tmp/npm.log"; then
			rm -rf "$tmp"
			skip "the registry has no $2, or not all it needs"
		fi
		echo "npm install $2 failed:" >&2
		tail -n 10 "$tmp/npm.log" >&2
		rm -rf "$tmp"
		exit 1
	fi
	chmod -R u+rwX,go+rX "$tmp"
	rm -rf "$1"
	mv "$tmp" "$1"
	echo "$2" >"$1/.package"
}

[ $# -ge 1 ] || { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
for c in npm node python3 flock; do
	command -v $c >/dev/null || skip "there is no $c"
done
missing=()
for name in "$@"; do
	package=$(field "$name" install.npm "")
	dir=$cache/$(field "$name" install.name "$name")
	[ -n "$package" ] || { echo "there is no shipped agent $name with a package" >&2; exit 1; }
	[ "$(cat "$dir/.package" 2>/dev/null)" = "$package" ] || missing+=("$dir" "$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	mkdir -p "$cache" || exit 1
	exec 9>"$cache/lock"
	flock 9
	set -- "${missing[@]}"
	for (( ; $# > 0; )); do
		# Another test may have been faster.
		[ "$(cat "$1/.package" 2>/dev/null)" = "$2" ] || install "$1" "$2"
		shift 2
	done
fi
cd "$cache" && pwd
