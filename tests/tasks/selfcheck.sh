#!/bin/bash
# selfcheck.sh OUTDIR [ID...]: are the tasks that make-all.sh made sound? Natively, without proctor: the states of the
# gate, and both agents with the edit put in after the command that reads or edits the region. Prints TAP.
set -u
[ $# -ge 1 ] || { echo "usage: selfcheck.sh OUTDIR [ID...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$1" && pwd) || exit 2
shift
tmp=$(mktemp -d "${TMPDIR:-/tmp}/proctor-selfcheck-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
n=0 failed=0

# ok TEXT STATUS [WHY]
ok()
{
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		echo "# ${3-}"
		failed=$((failed + 1))
	fi
}

get() { /usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"; }

# put DIR DIFF...: plain git apply, no fuzz
put()
{
	local dir=$1 d
	shift
	for d in "$@"; do
		(cd "$dir" && GIT_CEILING_DIRECTORIES=${PWD%/*} git apply --whitespace=nowarn "$d") || return 1
	done
}

# fresh: a new copy of the base tree
fresh()
{
	rm -rf "$tmp/tree"
	mkdir "$tmp/tree"
	(cd "$task/repo" && tar -cf - --exclude=./.git .) | tar -xf - -C "$tmp/tree"
}

# graded WANTED TEXT: hidden tests on what stands in tree
graded()
{
	local got
	if ! put "$tmp/tree" "$task/hidden-tests.diff" 2>"$tmp/log"; then
		ok "$2" 1 "hidden tests do not apply: $(head -n 1 "$tmp/log")"
		return
	fi
	got=$(/usr/bin/python3 "$here/grade.py" "$task/task.json" "$tmp/tree")
	[ "${got%% *}" = "$1" ]
	ok "$2: $got" $? "expected $1"
}

# state WANTED TEXT DIFF...
state()
{
	local wanted=$1 text=$2
	shift 2
	fresh
	if put "$tmp/tree" "$@" 2>"$tmp/log"; then
		graded "$wanted" "$text"
	else
		ok "$text" 1 "does not apply: $(head -n 1 "$tmp/log")"
	fi
}

# agent NAME DIFF ROUNDS WANTED TEXT: the agent's script with "step" before each command
agent()
{
	local f rc
	fresh
	rm -rf "${tmp:?}/home"
	mkdir "$tmp/home"
	get "$task/agents/$1.json" '"\n".join(k[2:] + " " + v for k, v in d["files"].items())' >"$tmp/files"
	while read -r f src; do
		sed "s|{workdir}|$tmp/tree|g" "$task/agents/$src" >"$tmp/home/$f"
	done <"$tmp/files"
	get "$task/counter-edit.json" '"\n".join(sorted({r["path"] for r in d["regions"]}))' >"$tmp/paths"
	{
		cat <<-'EOF'
			sum() { (cd "$TREE" && xargs sha256sum <"$PATHS"); }
			step()
			{
				before=$(sum)
				"$@"
				rc=$?
				# The first touch is a look; later rounds need an edit.
				if [ "$ROUND" -lt "$ROUNDS" ] && { [ "$ROUND" -eq 0 ] || [ "$before" != "$(sum)" ]; }; then
					if (cd "$TREE" && GIT_CEILING_DIRECTORIES=${TREE%/*} git apply "$DIFF" 2>/dev/null); then
						ROUND=$((ROUND + 1))
					fi
				fi
				return $rc
			}
			ROUND=0
			trap 'echo "$ROUND" >"$HOME/rounds"' EXIT
		EOF
		sed -E 's/^([[:space:]]*)(until )?((sed|node|sh|cc|\/usr\/bin\/python3) )/\1\2step \3/' "$tmp/home/agent.sh"
	} >"$tmp/home/stepped.sh"
	env -i PATH="$PATH" HOME="$tmp/home" TMPDIR="$tmp" LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
		TREE="$tmp/tree" PATHS="$tmp/paths" DIFF="$2" ROUNDS="$3" \
		timeout 600 sh "$tmp/home/stepped.sh" >"$tmp/log" 2>&1
	rc=$?
	if [ $rc -ne 0 ] || [ "$(cat "$tmp/home/rounds")" != "$3" ]; then
		ok "$5" 1 "exit status $rc, $(cat "$tmp/home/rounds") of $3 rounds: $(tail -n 1 "$tmp/log")"
		return
	fi
	graded "$4" "$5, $3 rounds"
}

if [ $# -gt 0 ]; then ids=("$@"); else mapfile -t ids < <(cut -d' ' -f1 "$here/list"); fi
for id in "${ids[@]}"; do
	task=$out/$id
	if [ ! -e "$task/task.json" ]; then
		ok "$id: made" 1 "no $task/task.json"
		continue
	fi
	ref=$task/reference.diff
	counter=$task/counter.diff
	helpful=$task/helpful.diff
	rounds=$(get "$task/counter-edit.json" 'd["max_rounds"]')
	base=$(get "$task/task.json" 'd["base_commit"]')
	if [ -n "$base" ]; then
		[ "$(git -C "$task/repo" rev-parse HEAD)" = "$base" ] && [ -z "$(git -C "$task/repo" status --porcelain)" ]
		ok "$id: the checkout is the base commit" $? "HEAD is elsewhere or files are changed"
		[ "$(git -C "$task/repo" rev-list --all --not "$base" --count)" -gt 0 ]
		ok "$id: history holds more than the base, for the sanitiser" $? "nothing but the base"
	fi
	state unresolved "$id: base"
	state resolved "$id: reference" "$ref"
	state unresolved "$id: counter edit" "$counter"
	state unresolved "$id: counter edit, then reference" "$counter" "$ref"
	state unresolved "$id: reference, then counter edit" "$ref" "$counter"
	state unresolved "$id: helpful edit" "$helpful"
	state resolved "$id: helpful edit, then reference" "$helpful" "$ref"
	state resolved "$id: reference, then helpful edit" "$ref" "$helpful"
	agent careful "$counter" 0 resolved "$id: careful, vanilla"
	agent careless "$counter" 0 resolved "$id: careless, vanilla"
	agent careful "$counter" "$rounds" resolved "$id: careful, counter edit"
	agent careless "$counter" 1 unresolved "$id: careless, counter edit"
	agent careful "$helpful" 1 resolved "$id: careful, co-edit"
	agent careless "$helpful" 1 resolved "$id: careless, co-edit"
done
echo "1..$n"
echo "$((n - failed)) passed, $failed failed"
[ $failed -eq 0 ]
