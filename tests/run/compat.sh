#!/usr/bin/env bash
# test.match "swebench-compat": the example graded by SWE-bench's rules with the exact verdict beside it, and logs that
# somebody kept, alone and as that harness' directories.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
export TMPDIR=$work
cp -r "$top/examples/calc" calc
: >empty.diff

# task NAME KEY=JSON...: a task beside the example's; a key of "test" or, in capitals, of the task.
task()
{
	python3 -c '
import json, re, sys
task = json.loads(re.sub(r"^\s*//.*", "", open("calc/task.json").read(), flags=re.M))
for pair in sys.argv[2:]:
    key, value = pair.split("=", 1)
    (task if key.isupper() else task["test"])[key] = json.loads(value)
json.dump(task, open(sys.argv[1], "w"))' "calc/$1.json" "${@:2}"
}

# graded STATUS NAME ARGUMENT...: proctor grade with that exit status; output in out.txt, err.txt, verdict in out/.
graded()
{
	local want=$1 name=$2 got
	shift 2
	rm -rf out
	timeout 300 "$PROCTOR" grade "$@" --out out >out.txt 2>err.txt </dev/null
	got=$?
	tap_is $got "$want" "$name" || sed 's/^/# /' out.txt err.txt
}

field_is()
{
	tap_is "$(run_field out/verdict.json "$1")" "$2" "$3"
}

# The same lists by the log parser "tap" of that harness: its names begin with "- ".
named=$(python3 -c '
import json, re
task = json.loads(re.sub(r"^\s*//.*", "", open("calc/task.json").read(), flags=re.M))
print(*(json.dumps(["- " + name for name in task[key]]) for key in ["FAIL_TO_PASS", "PASS_TO_PASS"]), sep="\n")')
task compat 'match="swebench-compat"' 'reader="swebench/tap"' "FAIL_TO_PASS=${named%%$'\n'*}" "PASS_TO_PASS=${named#*$'\n'}"

graded 0 "the reference, counted as SWE-bench does" --task calc/compat.json --patch calc/reference.diff
field_is verdict resolved "verdict"
field_is match.mode swebench-compat "mode"
field_is match.reader swebench/tap "log parser"
field_is match.exact_reader tap "exact reader"
field_is match.exact_verdict unresolved "the names are no names of the runner"
field_is match.differences "$(run_field out/verdict.json tests | grep -o '"name"' | wc -l)" "every test differs"
field_is tests.0.how exact "how"
field_is tests.0.exact.passed false "not passed exactly"
tap_like "$(run_field out/verdict.json tests.0.why)" "name:*" "why"
tap_try "the exact verdict is printed beside it" grep -q "^example__duration-1: exact: unresolved" out.txt
tap_is "$(run_field out/report.json example__duration-1.resolved)" true "SWE-bench's report says the same"
graded 1 "the empty patch" --task calc/compat.json --patch empty.diff
field_is verdict unresolved "verdict of the empty patch"

task plain 'match="swebench-compat"'
graded 0 "results of the exact reader by those rules" --task calc/plain.json --patch calc/reference.diff
field_is match.exact_verdict resolved "both agree"
field_is match.differences 0 "in every test"

graded 0 "exact mode says how, too" --task calc/task.json --patch calc/reference.diff
field_is match.mode exact "mode of the task as it is"
field_is tests.0.how exact "how of the task as it is"
cp out/test.log kept.log

# Nothing is run for a log; the source of the task need not even be there.
rm -rf calc/repo
graded 0 "the log that was kept" --task calc/task.json --log kept.log --exit 0
field_is exit_status 0 "its status"
graded 0 "without its status" --task calc/task.json --log kept.log
field_is exit_status null "which is then not known"
timeout 60 "$PROCTOR" grade --task calc/task.json --log - -q <kept.log
tap_is $? 0 "from standard input"
mkdir instance
{
	echo "+ git checkout 1234"
	echo ">>>>> Start Test Output"
	cat kept.log
	echo ">>>>> End Test Output"
	echo ">>>>> Test Exit Code: 0"
} >instance/test_output.txt
graded 0 "a directory of that harness" --task calc/compat.json --log instance
field_is verdict resolved "resolved"
cp out/report.json instance/
graded 0 "with its report" --task calc/compat.json --log instance
field_is published.same true "which says the same"
tap_try "and that is printed" grep -q "report.json says the same of 19 tests" out.txt
sed -i 's/"resolved": true/"resolved": false/' instance/report.json
graded 0 "with a report that says otherwise" --task calc/compat.json --log instance
field_is published.same false "it does not say the same"
tap_try "and that is printed" grep -q "report.json says unresolved" out.txt
sed -i 's/example__duration-1/example__duration-2/' instance/report.json
graded 3 "a report of another task" --task calc/compat.json --log instance
tap_try "is refused" grep -q "it belongs to another task" err.txt
rm instance/report.json
echo ">>>>> Tests Timed Out" >>instance/test_output.txt
graded 1 "a log that says that time ran out" --task calc/compat.json --log instance
tap_like "$(run_field out/verdict.json reason)" "no results: *" "no results"

task only 'match="swebench-compat"' 'reader="swebench/marked"' 'eval_type="fail_only"'
printf '>>>>> Start Test Output\n12 specs, 0 failures\n>>>>> End Test Output\n' >none.log
graded 0 "fail_only: what is not there has passed" --task calc/only.json --log none.log
field_is tests.0.rule absent-passes "by this rule"
tap_try "without an exact verdict" grep -q ": exact: none:" out.txt
printf '>>>>> Start Test Output\nno browser\n>>>>> End Test Output\n' >none.log
graded 1 "fail_only: nothing ran" --task calc/only.json --log none.log

# Refusals.
task exit 'reader="exit-code"'
graded 3 "an exit status that nobody knows" --task calc/exit.json --log kept.log
task exit 'reader="exit-code"' 'FAIL_TO_PASS=["exit-code"]' 'PASS_TO_PASS=[]'
graded 0 "and one that is given" --task calc/exit.json --log kept.log --exit 0
graded 1 "which is another" --task calc/exit.json --log kept.log --exit 1
graded 2 "--exit without --log" --task calc/exit.json --patch empty.diff --exit 1
graded 2 "--log without a task" --log kept.log
task bad 'match="swebench-compt"'
graded 3 "a mode that is none" --task calc/bad.json --log kept.log
tap_try "with the nearest one" grep -q 'did you mean "swebench-compat"' err.txt
tap_done
