#!/usr/bin/env bash
# Tasks of SWE-bench Verified, by hand: the reference is resolved and the empty patch is not. Nothing of them is part
# of this repository, so all of it comes from the environment; what is not given is skipped by name.
# seconds: 7200
# Environment:
#   VERIFIED_RECORDS   records for tests/tools/swebench_task.py (JSON Lines)
#   VERIFIED_GIT       directory of clones: OWNER+NAME/repo
#   VERIFIED_PYTHON    a Python 3.9 that every user can read, outside private homes
#   VERIFIED_OUT       where tasks and verdicts are kept (default: nowhere)
#   VERIFIED_NEWER     a newer Python (3.10 to 3.12) for Django 5, which the packages below suit, too
#   VERIFIED_PACKAGES  directory with what pip put there for it: django (asgiref, sqlparse, pytz), sympy (mpmath below
#                      1.4), pytest (pytest 7.2) and pytestdeps (what pytest 5.4 needs)
#   SWEBENCH           a checkout of SWE-bench 5, to run its log parsers beside ours on the logs made here and on
#                      random ones
#   SWEBENCH_LOGS      logs that its harness kept ("OWNER__NAME-NUMBER..."), for the same
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
share=$(mktemp -d /var/tmp/verified-XXXXXX) || exit 1
trap 'rm -rf "$share"' EXIT
proctor=$build/supervisor/proctor
kept=${VERIFIED_OUT:-$share/tasks}

# graded TASK NAME WANT ARGUMENT...: one verdict of "proctor grade".
graded()
{
	local task=$1 name=$2 want=$3
	shift 3
	timeout 1900 "$proctor" grade --profile "$share/see.json" --task "$kept/$task/task.json" "$@" --out "$kept/$task/$name" \
		>"$kept/$task/$name.txt" 2>&1 </dev/null
	tap_is "$(sed -n 's/.*"verdict": "\([a-z]*\)".*/\1/p' "$kept/$task/$name/verdict.json" | head -n 1)" "$want" \
		"$task: $name" || sed 's/^/# /' "$kept/$task/$name.txt"
}

# Upstream repositories of the records of Verified, and their clones, which may be forks: any *+NAME.
repos="django/django sympy/sympy psf/requests pytest-dev/pytest"

tasks()
{
	local git=() ids repo packages=$VERIFIED_PACKAGES
	for repo in $repos; do
		git+=(--git "$repo=$(find "$VERIFIED_GIT" -maxdepth 2 -path "*+${repo#*/}/repo" | head -n 1)")
	done
	mapfile -t ids < <(sed -n 's/^{"instance_id": "\([^"]*\)", "repo": "\([^"]*\)".*/\2 \1/p' "$VERIFIED_RECORDS" |
		grep -E "^(${repos// /|}) " | cut -d" " -f2)
	python3 tests/tools/swebench_task.py "$VERIFIED_RECORDS" "${ids[@]}" "${git[@]}" --out "$kept" \
		--env ":PY=$VERIFIED_PYTHON" --env ":LD_LIBRARY_PATH=$prefix/lib" --env ":PYTHONDONTWRITEBYTECODE=1" \
		--env "django__django-16569:PY=${VERIFIED_NEWER:-/usr/bin/python3}" \
		--env "django:PYTHONPATH=/workspace:$packages/django" --env "sympy:PYTHONPATH=/workspace:$packages/sympy" \
		--env "psf:PYTHONPATH=/workspace:$packages/pytest" --env "pytest-dev:PYTHONPATH=/workspace/src:$packages/pytestdeps" \
		--before 'pytest-dev:echo "version = \"5.4.2\"" >src/_pytest/_version.py'
}

if [ -n "${VERIFIED_RECORDS-}" ] && [ -n "${VERIFIED_GIT-}" ] && [ -n "${VERIFIED_PYTHON-}" ] && [ -n "${VERIFIED_PACKAGES-}" ]; then
	prefix=$(dirname "$(dirname "$VERIFIED_PYTHON")")
	tasks >"$share/tasks.txt" 2>&1
	tap_ok $? "tasks can be made" || sed 's/^/# /' "$share/tasks.txt"
	: >"$share/empty.diff"
	printf '{"schema": "proctor.profile/1", "extends": "verify", "filesystem": {"read": ["%s", "%s"]}}\n' \
		"$prefix" "$VERIFIED_PACKAGES" >"$share/see.json"
	for task in "$kept"/*/task.json; do
		task=$(basename "$(dirname "$task")")
		graded "$task" reference resolved --patch "$kept/$task/reference.diff"
		graded "$task" empty unresolved --patch "$share/empty.diff"
	done
else
	tap_skip "reference and empty patch" "swe-bench-data: no VERIFIED_RECORDS, VERIFIED_GIT, VERIFIED_PYTHON or VERIFIED_PACKAGES"
fi
# What other programs printed, read by both: no log may differ in any result.
same()
{
	python3 tests/tools/swebench_diff.py --swebench "$SWEBENCH" --program "$build/tests/progs/compatlog" "$@" >"$share/diff.txt" 2>&1
	local status=$?
	grep -E '^(differs|    )|^parse_' "$share/diff.txt" | head -n 60 | sed 's/^/# /'
	return $status
}

if [ -n "${SWEBENCH-}" ]; then
	seed=${SEED:-$RANDOM}
	echo "# seed $seed"
	python3 tests/tools/swebench_gen.py "$share/random" 60 "$seed"
	same --table "$share/random/table"
	tap_ok $? "random logs are read as SWE-bench's parsers read them"
	python3 tests/tools/swebench_gen.py "$share/marked" 60 "$seed" markers
	same --grading --table "$share/marked/table"
	tap_ok $? "random logs with markers, too"
	for log in "$kept"/*/*/test.log; do
		[ -e "$log" ] || continue
		task=$(dirname "$(dirname "$log")")
		cp "$log" "$share/$(basename "$task").$(basename "$(dirname "$log")").log"
	done
	for log in "$share"/*__*.log ${SWEBENCH_LOGS:+"$SWEBENCH_LOGS"/*__*}; do
		[ -f "$log" ] && printf '%s\0' "$log"
	done >"$share/logs"
	if [ -s "$share/logs" ]; then
		mapfile -d "" -t logs <"$share/logs"
		same "${logs[@]}"
		tap_ok $? "${#logs[@]} logs of real runs are read as there"
	else
		tap_skip "logs of real runs" "swe-bench-data: no tasks were graded and no SWEBENCH_LOGS"
	fi
else
	tap_skip "comparison with the parsers of SWE-bench" "swe-bench-data: no SWEBENCH"
fi
tap_done
