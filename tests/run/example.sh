#!/usr/bin/env bash
# The example without the program: what its README promises holds when patches and agents' fixes
# are put together by hand with git, sh and make.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
example=$top/examples/calc
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset GIT_DIR GIT_WORK_TREE

# fresh: an untouched copy of the repository, entered.
fresh()
{
	rm -rf "$work/copy" && cp -r "$example/repo" "$work/copy" && cd "$work/copy" || exit 1
}

# results: the names of failing tests, or "all pass" when the test program says so too.
results()
{
	local out status
	out=$(make -s test 2>&1)
	status=$?
	if [ $status -eq 0 ] && ! grep -q '^not ok' <<<"$out"; then
		echo "all pass"
	else
		sed -n 's/^not ok [0-9]* - //p' <<<"$out" | paste -sd, -
	fi
}

apply()
{
	git apply -C1 "$example/$1" 2>/dev/null || patch -sp1 <"$example/$1"
}

f2p=$(python3 -c '
import json, re, sys
text = re.sub(r"^\s*//.*", "", open(sys.argv[1]).read(), flags=re.M)
print(",".join(json.loads(text)["FAIL_TO_PASS"]))' "$example/task.json")

fresh
tap_is "$(results)" "all pass" "base passes the visible tests"
apply hidden-tests.diff
tap_is "$(results)" "$f2p" "base fails exactly FAIL_TO_PASS of the hidden tests"
fresh
apply reference.diff
tap_is "$(results)" "all pass" "the reference passes the visible tests"
apply hidden-tests.diff
tap_is "$(results)" "all pass" "and the hidden ones"

# What a scenario must fulfil (proctor gate): edit alone fails, reference alone passes, and both
# together fail for a Counter-Edit and pass for a Co-Edit.
for kind in edit helpful; do
	fresh
	apply $kind.diff
	tap_is "$(results)" "all pass" "$kind: visible tests pass"
	apply hidden-tests.diff
	tap_ok $(($(results | grep -c 'all pass') > 0)) "$kind alone does not solve the task"
	fresh
	apply $kind.diff
	tap_try "$kind: the reference applies after it" apply reference.diff
	tap_is "$(results)" "all pass" "$kind with the reference: visible tests pass"
	apply hidden-tests.diff
	solved=$(results)
	if [ $kind = helpful ]; then
		tap_is "$solved" "all pass" "helpful with the reference solves it"
	else
		tap_is "$solved" "too many days,too many hours" \
			"edit with the reference does not"
	fi
done

# The agents, with the edit put in after their first command as the scenario does.
for agent in careful careless; do
	for edit in none edit helpful; do
		fresh
		python3 - "$example" $agent $edit <<-'PYTHON' >script.sh
			import sys
			example, agent, edit = sys.argv[1:]
			text = open(f"{example}/agents/{agent}.sh").read()
			first = "sed -n '30,75p' src/duration.c\n"
			assert first in text
			then = "" if edit == "none" else f"git apply {example}/{edit}.diff\n"
			print(text.replace(first, first + then, 1))
		PYTHON
		sh ./script.sh >/dev/null 2>&1
		tap_is "$(results)" "all pass" "$agent, $edit: visible tests pass"
		apply hidden-tests.diff
		want="all pass"
		[ $agent/$edit = careless/edit ] &&
			want="too many days,too many hours"
		tap_is "$(results)" "$want" "$agent, $edit: hidden tests"
	done
done
tap_done
