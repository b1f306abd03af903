#!/usr/bin/env bash
# Files of other programs: rows of the SWE-bench family become tasks that are graded, and come back as they
# were; results are written as others read them. Everything written is checked by a reader that is not ours.
# Real rows, where PROCTOR_SWEBENCH_DATA names a directory with *.jsonl of them.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
readlog=$(dirname "$PROCTOR")/../tests/progs/readlog
calc=$top/examples/calc
tool=$top/tests/tools/formats.py
python3 "$tool" make "$calc" in || { tap_ok 1 "rows are made"; tap_done; }
mkdir -p sources/example
cp -r "$calc/repo" sources/example/duration

# run_is STATUS NAME ARGS...: proctor with that exit status; output in out.txt, err.txt.
run_is()
{
	local want=$1 name=$2 got
	shift 2
	timeout 300 "$PROCTOR" "$@" </dev/null >out.txt 2>err.txt
	got=$?
	tap_is $got "$want" "$name"
	[ $got -eq "$want" ] || sed 's/^/# /' err.txt out.txt
}

same()
{
	tap_try "$3" python3 "$tool" same "$1" "$2"
}

# back FAMILY FILE DIR: the imported tasks of DIR as the rows of FILE.
back()
{
	run_is 0 "$2: export" export "$1" "$3" --out back.jsonl
	same "$2" back.jsonl "$2: the same rows come back"
}

# graded TASK NAME [ARGS...]: the reference resolves it, the empty patch does not.
graded()
{
	run_is 0 "$2: the reference resolves it" grade --task "$1" --patch "$calc/reference.diff" --out "g-$2"
	: >empty.diff
	run_is 1 "$2: the empty patch does not" grade --task "$1" --patch empty.diff --out "g-$2-empty"
	tap_is "$(run_field "g-$2-empty/verdict.json" verdict)" unresolved "$2: it is unresolved"
}

# --- rows to tasks and back ---
for form in classic.jsonl list.json map.json; do
	run_is 0 "$form" import swe-bench "in/$form" --out "t-$form" --sources sources --spec in/spec.json --match exact
	tap_is "$(run_field "t-$form/import.json" gradable)" "$(run_field "t-$form/import.json" tasks)" "$form: all can be graded"
	back swe-bench "in/$form" "t-$form"
done
graded t-classic.jsonl/example__duration-1.task.json classic
tap_is "$(run_field t-classic.jsonl/example__duration-1.task.json workdir)" /workspace "the spec's work directory"

run_is 0 "version 5, row" import swe-bench in/five.jsonl --out t-five --sources sources --match exact
tap_is "$(run_field t-five/import.json reasons)" "[]" "version 5: nothing is missing"
back swe-bench in/five.jsonl t-five
graded t-five/example__duration-1.task.json five
for operand in in/five in/five/tasks/example__duration-1; do
	rm -rf t-dir
	run_is 0 "version 5, $operand" import swe-bench $operand --out t-dir --sources sources --match exact
	tap_is "$(run_field t-dir/example__duration-1.task.json test.command)" \
		"$(run_field t-five/example__duration-1.task.json test.command)" "the same command"
	tap_is "$(run_field t-dir/example__duration-1.task.json version)" 1.10 "a quoted version stays a text"
done
run_is 0 "task directories as rows" export swe-bench t-dir --out back.jsonl
tap_is "$(run_field back.jsonl datasets.0)" example/one "lists of task.yaml"
tap_is "$(run_field back.jsonl hints_text)" "" "an absent hints.md"

run_is 0 "Pro" import swe-bench in/pro.json --out t-pro --sources sources --scripts in/scripts
tap_is "$(run_field t-pro/import.json reasons)" "[]" "Pro: nothing is missing"
back swe-bench in/pro.json t-pro
graded t-pro/instance_example__duration-1.task.json pro

run_is 0 "compat is the default where the list was made by that harness" import swe-bench in/five.jsonl --out t-own --sources sources
tap_is "$(run_field t-own/example__duration-1.task.json test.match)" swebench-compat "swebench-compat"
tap_is "$(run_field t-own/example__duration-1.task.json test.reader)" swebench/tap "its parser"

# What a task says now comes back; what nobody touched keeps its spelling.
python3 - t-classic.jsonl/example__duration-1.task.json <<'PYTHON'
import json, sys
task = json.load(open(sys.argv[1]))
task["FAIL_TO_PASS"] = task["FAIL_TO_PASS"][:2]
json.dump(task, open(sys.argv[1], "w"))
PYTHON
run_is 0 "a changed task" export swe-bench t-classic.jsonl/example__duration-1.task.json
tap_is "$(python3 -c 'import json, sys; row = json.load(open("out.txt")); print(type(row["FAIL_TO_PASS"]).__name__, len(json.loads(row["FAIL_TO_PASS"])), len(json.loads(row["PASS_TO_PASS"])))')" \
	"str 2 13" "the list is the task's, in the row's form"
run_is 0 "a task of ours as a row" export swe-bench "$calc/task.json" --out ours.jsonl
run_is 0 "and back" import swe-bench ours.jsonl --out t-ours
tap_is "$(run_field t-ours/import.json tasks)" 1 "one task"

# --- what is missing, what is refused ---
run_is 0 "without sources and spec" import swe-bench in/list.json --out t-bare
tap_try "the repository is named" grep -q "no repository: give --sources DIR" out.txt
tap_try "the command is named" grep -q "no test-spec row is for example/duration 1.0; give --spec FILE" out.txt
run_is 0 "an empty place" import swe-bench in/list.json --out t-bare --sources in --json
tap_try "what was looked for" grep -q "looked in in for example__duration-1, example/duration, example__duration and duration" out.txt
run_is 0 "--only" import swe-bench in/classic.jsonl --out t-only --only '*-2' -q
tap_is "$(cd t-only && echo *)" "example__duration-2.extra.json example__duration-2.task.json import.json" "one of two"
run_is 0 "--rootfs" import swe-bench in/classic.jsonl --out t-root --rootfs 'dir:roots/{instance_id}' -q
tap_is "$(run_field t-root/example__duration-1.task.json environment.rootfs)" "dir:$work/roots/example__duration-1" \
	"a relative path begins where the command was given"
run_is 3 "--only that fits nothing" import swe-bench in/classic.jsonl --out none --only 'x*'
cat in/classic.jsonl in/classic.jsonl >twice.jsonl
run_is 3 "a row twice" import swe-bench twice.jsonl --out none
tap_try "it is named" grep -q "example__duration-1 stands in two rows" err.txt
printf '{"instance_id": "../x", "repo": "a/b"}\n' >bad.jsonl
run_is 3 "a name that leads out" import swe-bench in/classic.jsonl bad.jsonl --out none
tap_try "file and line" grep -q 'bad.jsonl:1: instance_id "../x"' err.txt
tap_ok $(($([ -e none ]; echo $?) == 0)) "nothing is written"
run_is 2 "an unknown format" import swe-bnch in/classic.jsonl --out none
tap_try "the nearest" grep -q 'did you mean "swe-bench"' err.txt
run_is 2 "an unknown output" export ctrv t-only
tap_try "the nearest" grep -q 'did you mean "ctrf"' err.txt
run_is 2 "a format of many files without --out" export swe-bench-report g-classic
run_is 3 "no result" export junit in/five
run_is 3 "rows of another family" export multi-swe-bench t-classic.jsonl

# --- Multi-SWE-bench: three stages ---
run_is 0 "Multi" import multi-swe-bench in/multi.jsonl --out t-multi --sources sources --spec in/spec.json
tap_is "$(run_field t-multi/import.json reasons)" '["example__duration-1: base.sha is not 40 hexadecimal digits"]' "what is missing"
back multi-swe-bench in/multi.jsonl t-multi
graded t-multi/example__duration-1.task.json multi
tap_is "$(run_field g-multi/verdict.json stages.valid)" true "three stages"
tap_is "$(run_field g-multi/verdict.json stages.class_changed)" "[]" "every class as recorded"
tap_is "$(run_field g-multi-empty/verdict.json stages.valid)" false "the empty patch fixes nothing"
run_is 0 "Multi's report" export multi-swe-bench-report g-multi --out multi
report=multi/example/duration/evals/pr-1/report.json
for row in "valid true" "number 1" "f2p_tests.too many days.run NONE" "f2p_tests.too many days.test FAIL" \
	"f2p_tests.too many days.fix PASS" "p2p_tests.seconds.run PASS" "fix_patch_result.failed_count 0" \
	"test_patch_result.failed_count 6"; do
	tap_is "$(run_field $report "${row% *}")" "${row##* }" "report.json: $row"
done
tap_is "$(run_field multi/final_report.json resolved_ids.0)" example/duration:pr-1 "final_report.json"
run_is 3 "Multi's report needs the stages" export multi-swe-bench-report g-classic --out multi

# --- results ---
run_is 0 "both tasks" import swe-bench in/classic.jsonl --out t-both --sources sources --spec in/spec.json --match exact -q
run_is 0 "predictions are graded" grade --predictions in/predictions.json --tasks t-both --out batch -q
run_is 0 "summary" export swe-bench-summary batch --tasks t-both
cp out.txt summary.json
python3 "$tool" summary summary.json >ids.txt 2>why.txt
tap_is $? 0 "its keys and counts"
sed 's/^/# /' why.txt
tap_try "resolved" grep -qx "resolved_ids: example__duration-1" ids.txt
tap_try "the empty patch" grep -qx "empty_patch_ids: example__duration-2" ids.txt
tap_try "submitted" grep -qx "submitted_ids: example__duration-1 example__duration-2" ids.txt
run_is 0 "reports" export swe-bench-report batch --out logs
report=logs/one__m/example__duration-1
tap_is "$(run_field $report/report.json example__duration-1.resolved)" true "report.json"
tap_is "$(run_field $report/report.json example__duration-1 | python3 -c 'import json, sys; print(*json.load(sys.stdin))')" \
	"patch_is_None patch_exists patch_successfully_applied resolved infra_failure tests_status" "its keys"
tap_is "$(run_field $report/report.json example__duration-1.tests_status.FAIL_TO_FAIL)" '{"success": [], "failure": []}' "all four lists"
tap_try "the log between markers" grep -qx ">>>>> Start Test Output" $report/test_output.txt
tap_try "and the patch" cmp -s $report/patch.diff batch/example__duration-1/patch.diff
run_is 0 "predictions come back" export swe-bench-predictions batch --out again.jsonl
tap_try "as they were" python3 -c '
import json
rows = [json.loads(line) for line in open("again.jsonl")]
assert rows == json.load(open("in/predictions.json")), rows'

# Names that hurt, infra and invalid.
python3 "$tool" verdict odd
for format in junit ctrf csv swe-bench-summary; do
	run_is 0 "$format of odd results" export $format odd --out "odd.$format"
done
python3 "$tool" junit odd.junit >theirs.txt 2>why.txt
tap_is $? 0 "JUnit: well-formed, counts true"
sed 's/^/# /' why.txt
tap_is "$(wc -l <theirs.txt)" 16 "JUnit: 13 tests, and three results that those do not tell"
"$readlog" junit-xml 0 / /dev/null odd.junit >ours.txt 2>why.txt
tap_is "$(grep -c '	' ours.txt)" 16 "our reader finds as many"
tap_is "$(sed -n 's/^\(failed\|error\|skipped\|passed\)	.*/\1/p' ours.txt | sed 's/failed/failure/' | sort | uniq -c | tr -s ' ' | paste -sd,)" \
	"$(cut -f1 theirs.txt | sort | uniq -c | tr -s ' ' | paste -sd,)" "the same statuses"
tap_is "$(grep -c '::esc \\\\x1b' theirs.txt)" 1 "a control byte is shown as \\x1b"
tap_try "unresolved without a failure is told" grep -q "^failure	acme__skip-1::verdict" theirs.txt
tap_try "infra is an error" grep -q "^error	acme__infra-1::verdict" theirs.txt
python3 "$tool" ctrf odd.ctrf >theirs.txt 2>why.txt
tap_is $? 0 "CTRF: counts true"
sed 's/^/# /' why.txt
tap_is "$(paste -sd, theirs.txt)" "passed 4,failed 6,skipped 4,pending 0,other 2" "CTRF: statuses"
tap_is "$(python3 -c 'import csv; rows = list(csv.DictReader(open("odd.csv", newline=""))); print(*(row["verdict"] for row in rows), repr(rows[2]["reason"]))')" \
	"infra invalid unresolved unresolved 'a \\x01 b'" "CSV"
python3 "$tool" summary odd.swe-bench-summary >ids.txt
tap_try "infra is an error, not unresolved" grep -qx "error_ids: acme__infra-1 acme__invalid-1" ids.txt
tap_try "and has its own list" grep -qx "infra_failure_ids: acme__infra-1" ids.txt

# A run directory is a result, too.
run_is 0 "a run" run --task t-list.json/example__duration-1.task.json --out ran -q -- sh -c "patch -sp1 <<'EOF'
$(cat "$calc/reference.diff")
EOF"
run_is 0 "its verdict" grade --run ran -q
run_is 0 "its prediction" export swe-bench-predictions ran --model m
tap_is "$(run_field out.txt model_patch | grep -c '^diff --git')" 1 "the patch"
run_is 0 "its report" export junit ran
tap_try "resolved" grep -q '<property name="verdict" value="resolved"/>' out.txt

# --- real rows ---
if [ -z "${PROCTOR_SWEBENCH_DATA:-}" ]; then
	tap_skip "real rows" "swe-bench-data: PROCTOR_SWEBENCH_DATA names no directory with rows of SWE-bench"
	tap_done
fi
for file in "$PROCTOR_SWEBENCH_DATA"/*.jsonl; do
	name=$(basename "$file")
	run_is 0 "$name" import swe-bench "$file" --out real -q
	run_is 0 "$name: export" export swe-bench real --out real.jsonl
	tap_try "$name: the same rows come back" python3 -c '
import json, sys
first, second = ({row["instance_id"]: list(row.items()) for row in map(json.loads, open(name))} for name in sys.argv[1:])
assert first == second' "$file" real.jsonl
	rm -rf real
done
tap_done
