#!/usr/bin/env bash
# Released records as scenarios: counts, what is left out and why, names of tasks, refusals with file and
# line, and the gate over what was imported. The 250 published records, where PROCTOR_SWETOUCH_DATA names
# their directory.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
records=$top/tests/corpus/swetouch_record
export TMPDIR=$work
cat "$records"/{verified,conflict,text-only,pro,deepswe}.json >records.jsonl

# import_is STATUS NAME ARGS...: proctor import swe-touch with that exit status; output in out.txt, err.txt.
import_is()
{
	local want=$1 name=$2 got
	shift 2
	timeout 60 "$PROCTOR" import "$@" >out.txt 2>err.txt
	got=$?
	tap_is $got "$want" "$name"
	[ $got -eq "$want" ] || sed 's/^/# /' err.txt
}

# err_has TEXT NAME
err_has()
{
	tap_try "$2" grep -qF -- "$1" err.txt
}

import_is 0 "five records" swe-touch records.jsonl --out one
for row in "benchmarks.0.records 3" "benchmarks.0.with_patch 2" "benchmarks.0.text_only 1" "benchmarks.0.imported 2" \
	"benchmarks.0.statuses.validated_counter_edit 1" "benchmarks.0.statuses.reference_repair_apply_conflict 1" \
	"benchmarks.0.fallback_reasons.reference_repair_failed 1" "benchmarks.0.distinct_rounds.1 2" \
	"benchmarks.1.benchmark swe_bench_pro" "benchmarks.1.distinct_rounds.3 1" "benchmarks.2.distinct_rounds.2 1" \
	"scenarios 4" "co_edits 1" "left_out.apply_conflict.0 example__conflict-2"; do
	tap_is "$(run_field one/import.json "${row% *}")" "${row#* }" "import.json: $row"
done
tap_is "$(cd one && echo *)" "deepswe_example-5.scenario.json example__duration-1.co-edit.json example__duration-1.scenario.json example__text-3.scenario.json import.json swebenchpro_example__duration-4.scenario.json" "the files"
tap_try "the conflict is named" grep -q example__conflict-2 out.txt

import_is 0 "conflicts on request" swe-touch records.jsonl --out two --accept-apply-conflict --json
tap_is "$(run_field two/import.json scenarios)" 5 "all five"
tap_try "--json prints import.json" cmp -s out.txt two/import.json

import_is 0 "another mode and K" swe-touch records.jsonl --out three --mode edit --rounds 2 -q
tap_is "$(run_field three/example__duration-1.scenario.json mode)" edit "the mode"
tap_is "$(run_field three/example__duration-1.scenario.json max_rounds)" 2 "K"
tap_is "$(run_field three/import.json left_out.no_message.0)" example__text-3 "a text-only record has nothing to do in mode edit"
tap_is "$(cat out.txt)" "" "-q prints nothing"

# Tasks: exact names, with the release's prefixes taken off.
mkdir -p tasks/a tasks/b
for pair in a:example__duration-4 b:example-5; do
	printf '{ "schema": "proctor.task/1", "instance_id": "%s" }\n' "${pair#*:}" >"tasks/${pair%:*}/task.json"
done
import_is 0 "only records of these tasks" swe-touch records.jsonl --out four --tasks tasks
tap_is "$(run_field four/swebenchpro_example__duration-4.scenario.json instance_id)" example__duration-4 "swebenchpro_ is dropped"
tap_is "$(run_field four/deepswe_example-5.scenario.json instance_id)" example-5 "deepswe_ is dropped"
tap_is "$(run_field four/import.json left_out.no_task)" '["example__duration-1", "example__text-3"]' "the others are named"
mkdir tasks/c
printf '{ "schema": "proctor.task/1", "instance_id": "deepswe_example-5" }\n' >tasks/c/task.json
import_is 3 "two tasks that fit" swe-touch records.jsonl --out five --tasks tasks
err_has "records.jsonl:5: deepswe_example-5 fits two tasks" "says which"
tap_ok $(($([ -e five ]; echo $?) == 0)) "and nothing is written"
import_is 3 "no task at all" swe-touch records.jsonl --out five --tasks "$work/one"

# Refusals.
sed '2s/"split"/"splot"/' records.jsonl >bad.jsonl
import_is 3 "an unknown field" swe-touch bad.jsonl --out bad
err_has 'bad.jsonl:2: $: unknown key "splot", did you mean "split"?' "file, line, place and the nearest field"
tap_ok $(($([ -e bad ]; echo $?) == 0)) "nothing is written"
sed '3s/"1.0.0"/"1.1.0"/' records.jsonl >bad.jsonl
import_is 3 "another version" swe-touch bad.jsonl --out bad
err_has 'bad.jsonl:3: $.schema_version' "file and line"
cat records.jsonl records.jsonl >bad.jsonl
import_is 3 "an instance twice" swe-touch bad.jsonl --out bad
err_has "stands in two records" "said so"
{ cat "$records/verified.json"; head -c 1100000 /dev/zero | tr '\0' ' '; } >bad.jsonl
import_is 3 "a line without end" swe-touch bad.jsonl --out bad
: >bad.jsonl
import_is 3 "no record" swe-touch bad.jsonl --out bad
import_is 3 "no file" swe-touch nothere.jsonl --out bad
import_is 2 "no --out" swe-touch records.jsonl
import_is 2 "an unknown format" swe-tuch records.jsonl --out bad
err_has 'did you mean "swe-touch"?' "the nearest"
import_is 2 "an unknown mode" swe-touch records.jsonl --out bad --mode edits
import_is 2 "no operand" --out bad
tap_try "from standard input" sh -c "'$PROCTOR' import swe-touch - --out stdin -q <records.jsonl"

# The gate takes what was imported: the invented records are about the shipped example.
calc=$top/examples/calc
timeout 300 "$PROCTOR" gate --task "$calc/task.json" --out gate -n 2 one/example__duration-1.scenario.json >out.txt 2>err.txt
tap_is $? 0 "the imported Counter-Edit is valid"
sed 's/^/# /' out.txt err.txt
tap_is "$(run_field gate/example__duration-1.counter-edit.gate.json verdict)" valid "gate.json"
tap_is "$(run_field gate/example__duration-1.counter-edit.gate.json checks.2.method)" "$(sed -n 's/^  user_edit_plus_reference.* //p' out.txt | head -n 1)" "the step of the ladder is told"
for check in user_edit_only reference_only user_edit_plus_reference; do
	for run in 1 2; do
		tap_try "log of $check, run $run" test -s "gate/example__duration-1.counter-edit.$check.$run.log"
	done
done
timeout 300 "$PROCTOR" gate --task "$calc/task.json" one/example__duration-1.co-edit.json >out.txt 2>&1
tap_is $? 0 "the imported Co-Edit is valid"
mkdir -p set/calc
sed "s,\"source\": \"repo/\",\"source\": \"$calc/repo\",; s,\"reference.diff\",\"$calc/reference.diff\",; s,\"hidden-tests.diff\",\"$calc/hidden-tests.diff\"," \
	"$calc/task.json" >set/calc/task.json
timeout 300 "$PROCTOR" gate --task set one/example__duration-1.scenario.json >out.txt 2>&1
tap_is $? 0 "the task is found among others by its name"
timeout 60 "$PROCTOR" gate --task set one/example__text-3.scenario.json >out.txt 2>err.txt
tap_is $? 3 "no task of that name"
timeout 60 "$PROCTOR" gate --task "$calc/task.json" one/example__text-3.scenario.json >out.txt 2>err.txt
tap_is $? 3 "messages alone have nothing to gate"
err_has "nothing to gate" "and it says so"
timeout 60 "$PROCTOR" gate --task "$calc/task.json" -n 1000 one/example__duration-1.scenario.json >out.txt 2>err.txt
tap_is $? 2 "too many repeats"

# The imported scenario is one that a run takes.
timeout 60 "$PROCTOR" run --task "$calc/task.json" --scenario one/example__duration-1.scenario.json --print-plan -- true >plan.txt 2>err.txt
tap_is $? 0 "a plan with it"
tap_try "the plan has the trigger" grep -q '"swe-touch-1.0"' plan.txt

# The published records.
if [ -z "${PROCTOR_SWETOUCH_DATA:-}" ]; then
	tap_skip "the 250 records" "swe-touch-data: PROCTOR_SWETOUCH_DATA names no directory with the released records"
	tap_done
fi
import_is 0 "the 250 records" swe-touch "$PROCTOR_SWETOUCH_DATA"/{swe_bench_verified,swe_bench_pro,deepswe}.jsonl --out all --accept-apply-conflict
for row in "0.records 200" "0.with_patch 192" "0.text_only 8" "0.statuses.validated_counter_edit 150" \
	"0.statuses.reference_repair_apply_conflict 42" "0.fallback_reasons.reference_repair_failed 4" \
	"0.fallback_reasons.reference_repair_overrides_edit 3" "0.fallback_reasons.invalid_counter_edit 1" \
	"0.distinct_rounds.1 192" "0.co_edits 160" "0.imported 200" \
	"1.records 25" "1.with_patch 25" "1.distinct_rounds.3 22" "1.distinct_rounds.2 1" "1.distinct_rounds.1 2" \
	"2.records 25" "2.with_patch 25" "2.distinct_rounds.3 21" "2.distinct_rounds.2 4"; do
	tap_is "$(run_field all/import.json "benchmarks.${row% *}")" "${row#* }" "published: $row"
done
tap_is "$(find all -name '*.scenario.json' | wc -l)" 250 "250 scenarios"
import_is 0 "without conflicts" swe-touch "$PROCTOR_SWETOUCH_DATA"/swe_bench_verified.jsonl --out some -q
tap_is "$(find some -name '*.scenario.json' | wc -l)" 158 "158 of Verified"
tap_is "$(run_field some/import.json left_out.apply_conflict | tr , '\n' | wc -l)" 42 "42 left out"
tap_done
