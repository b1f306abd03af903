#!/usr/bin/env bash
# A whole SWE-Touch study without a model or a network: examples/swe-touch/study.sh on the package tasks, as root, and on
# some of them as an ordinary user. What it must find is in tests/tools/studycheck.py.
# Environment: STUDY_TASKS (names of tasks, default all but three), STUDY_REPEATS (default 3).
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
repeats=${STUDY_REPEATS:-3}
# Left out: the sympy tasks, which take their time; and mpmath, whose Counter-Edit is valid for the reference but does not
# concern the repair of these agents, who do not know it.
read -ra ids <<<"${STUDY_TASKS:-$(cut -d" " -f1 tests/tasks/list | grep -v -e ^sympy -e ^mpmath | tr "\n" " ")}"
few=("${ids[@]:0:2}")
export PROCTOR_TASK_CACHE=${PROCTOR_TASK_CACHE:-/var/tmp/proctor-tasks}

# The tasks are made here, with what the cache has not got fetched from the registries; the study itself runs without.
if ! tests/tasks/make-all.sh "$share/tasks" "${ids[@]}" >"$share/make.log" 2>&1; then
	tail -n 20 "$share/make.log" | sed 's/^/# /'
	tap_ok 1 "the tasks can be made"
	tap_done
fi
cp -r examples/calc "$share/tasks/example__duration-1"
chmod -R a+rX "$share"

# check WHO OUT TASK...: each line of the checker is an assertion.
check()
{
	local who=$1 out=$2 status text
	shift 2
	python3 tests/tools/studycheck.py "$out" "$repeats" "$@" >"$share/checked.txt" 2>&1
	tap_is $? 0 "$who: the results can be read" || sed 's/^/# /' "$share/checked.txt"
	while read -r status text; do
		tap_ok "$([ "$status" = ok ]; echo $?)" "$who: $text"
	done < <(grep -E '^(ok|bad) ' "$share/checked.txt")
}

# study WHO OUT TASK...: make it; status of study.sh
study()
{
	local who=$1 out=$2 status
	shift 2
	as "$who" timeout 6000 bash "$share/examples/swe-touch/study.sh" "${@/#/$share/tasks/}" --out "$out" \
		--repeats "$repeats" >"$share/$who.log" 2>&1
	status=$?
	[ $status -eq 0 ] || tail -n 30 "$share/$who.log" | sed 's/^/# /'
	return $status
}

# again WHO OUT TASK...: stopped and started again, it makes what is missing and nothing else.
again()
{
	local who=$1 out=$2 gone killed stamps
	shift 2
	gone=$(find "$out/runs" -maxdepth 1 -name '*,careless,edit,3,1' | head -n 1)
	killed=$(find "$out/runs" -maxdepth 1 -name '*,careless,message,3,1' | head -n 1)
	rm -rf "$gone"
	sed -i 's/"state":[[:space:]]*"done"/"state": "running"/' "$killed/run.json"
	find "$out" -path '*/runs/*' -name trace.jsonl ! -path "$killed/*" -printf '%p %T@\n' | sort >"$share/before.txt"
	study "$who" "$out" "$@"
	tap_ok $? "the study goes on"
	find "$out" -path '*/runs/*' -name trace.jsonl ! -path "$killed/*" ! -path "$gone/*" -printf '%p %T@\n' | sort >"$share/after.txt"
	tap_try "what was done is not made again" cmp "$share/before.txt" "$share/after.txt"
	stamps=$(grep -l '"state":[[:space:]]*"done"' "$gone/run.json" "$killed/run.json" | wc -l)
	tap_is "$stamps" 2 "what was missing, and what had been killed, is"
}

for who in $users; do
	these=("${few[@]}")
	[ "$who" = root ] && these=(example__duration-1 "${ids[@]}")
	out=$share/study-$who
	install -d "$out"
	[ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown $user: "$out"
	study "$who" "$out" "${these[@]}"
	tap_ok $? "$who: a study of ${#these[@]} tasks"
	tap_is "$(cat "$out/left-out.txt")" "" "$who: every task gives a valid Counter-Edit and a valid Co-Edit"
	check "$who" "$out" "${these[@]}"
	sed 's/^/# /' "$out/tables/5.text" "$out/tables/behaviour.text"
	[ "$who" != "${users%% *}" ] || again "$who" "$out" "${these[@]}"
done
tap_done
