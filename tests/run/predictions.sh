#!/usr/bin/env bash
# grade --predictions: what is written, resume after kill -9 at chance moments, nothing twice, nothing
# left, infra apart, bad input named. COUNT predictions over the tasks of TASKS with KILLS kills; ./check uses
# the shipped example, ./check --full real tasks and 500.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
tasks=${PREDICTIONS_TASKS:-$top/examples/calc}
count=${PREDICTIONS_COUNT:-35}
kills=${PREDICTIONS_KILLS:-3}
jobs=2
mkdir -p scratch
export PROCTOR_SCRATCH=$work/scratch

python3 "$top/tests/tools/predictions.py" "$tasks" "$count" >all.jsonl || { tap_ok 1 "predictions are made"; tap_done; }
total=$(wc -l <all.jsonl)
tap_is "$total" "$count" "predictions are made"

grade()
{
	proctor grade --predictions "$1" --tasks "$tasks" --out "$2" --jobs $jobs "${@:3}"
}

# settled DIR: what stands of a broken-off batch: "path inode mtime" of each verdict that graded.json vouches for.
settled()
{
	find "$1" -name graded.json -printf '%h\n' 2>/dev/null | sort | while read -r dir; do
		stat -c '%n %i %Y %y' "$dir/verdict.json" 2>/dev/null
	done
}

# Processes and janitors of the killed batch are gone; bounded.
no_children()
{
	local i
	for ((i = 0; i < 300; i++)); do
		pgrep -f -- "--out $work/killed" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}

empty_dir()
{
	local i
	for ((i = 0; i < 300; i++)); do
		[ -z "$(ls -A "$1")" ] && return 0
		sleep 0.1
	done
	find "$1" -mindepth 1 -maxdepth 1 >&2
	return 1
}

begun=$(date +%s)
grade all.jsonl "$work/calm" --progress always >calm.txt 2>calm.err </dev/null
tap_is "$?" 0 "an undisturbed batch ends with 0" || tail -n 5 calm.err | tr '\r' '\n' | sed 's/^/# /'
took=$(($(date +%s) - begun))
tap_is "$(wc -l <calm/results.jsonl)" "$count" "a line for each prediction"
tap_is "$(python3 - calm/results.jsonl all.jsonl <<'END'
import json, sys
got = [json.loads(line) for line in open(sys.argv[1])]
given = [json.loads(line) for line in open(sys.argv[2])]
bad = []
for g, p in zip(got, given):
    if (g["instance_id"], g["model"]) != (p["instance_id"], p["model_name_or_path"]):
        bad.append(("order", g["instance_id"]))
    want = "resolved" if p["kind"] == "reference" else "unresolved"
    # Half of a reference may be all that the tests look at.
    if g["verdict"] != want and p["kind"] != "half":
        bad.append((p["kind"], g["instance_id"], g["verdict"], g["reason"]))
print(bad[:5] or "as made")
END
)" "as made" "results in the order of the file, verdicts as the patches were made"
tap_like "$(tr '\r' '\n' <calm.err)" "\[#+\.*\] [0-9]+/$count" "a bar on standard error"
tap_like "$(tail -n 6 calm.txt)" "$count predictions: [0-9]+ resolved, [0-9]+ unresolved, 0 invalid, 0 infra" "totals"
tap_ok "$(empty_dir scratch; echo $?)" "nothing is left in the scratch directory"

n=0
for ((k = 0; k < kills; k++)); do
	before=$(settled killed)
	"$PROCTOR" grade --predictions all.jsonl --tasks "$tasks" --out "$work/killed" --jobs $jobs -q \
		--progress never </dev/null 2>>killed.err &
	pid=$!
	# Somewhere in the middle third of what is left, at the pace of the calm run.
	sleep "$(python3 -c "import random; print(max(0.2, $took / ($kills + 1) * random.uniform(0.5, 1.2)))")"
	kill -9 "$pid" 2>/dev/null && n=$((n + 1))
	wait "$pid" 2>/dev/null
	tap_ok "$(no_children; echo $?)" "kill $k: no process stays"
	tap_is "$(comm -23 <(sort <<<"$before") <(settled killed | sort))" "" "kill $k: what stood was not graded again"
done
tap_ok "$((n == 0))" "at least one kill came before the end"
before=$(settled killed)
grade all.jsonl "$work/killed" --progress never >killed.txt 2>>killed.err </dev/null
tap_is "$?" 0 "the last call ends with 0"
tap_is "$(comm -23 <(sort <<<"$before") <(settled killed | sort))" "" "what stood was not graded again at the end"
kept=$(grep -c . <<<"$before")
[ -n "$before" ] || kept=0
tap_is "$(sed -n 's/^graded by an earlier call: //p' killed.txt)" "$([ "$kept" -gt 0 ] && echo "$kept")" "it says how many stood"
tap_try "the same result file as the undisturbed run" cmp calm/results.jsonl killed/results.jsonl
tap_try "the same summary" cmp calm/summary.json killed/summary.json
tap_is "$(find killed -name '*.tmp*')" "" "no half-written file is left"
tap_ok "$(empty_dir scratch; echo $?)" "nothing is left in the scratch directory after the kills"

# A call on a finished batch grades nothing; a changed patch is graded anew, alone.
before=$(settled killed)
grade all.jsonl "$work/killed" -q --progress never </dev/null
tap_is "$(settled killed)" "$before" "a finished batch is left alone"
python3 - all.jsonl >changed.jsonl <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
rows[0]["model_patch"] = (rows[0]["model_patch"] or "") + "\n"
print("\n".join(json.dumps(r) for r in rows))
END
grade changed.jsonl "$work/killed" -q --progress never </dev/null
tap_is "$(comm -13 <(sort <<<"$before") <(settled killed | sort) | wc -l)" 1 "a changed patch alone is graded again"

# One model: a directory for each instance. Forms of the file.
head -n 1 all.jsonl >one.jsonl
id=$(run_field one.jsonl instance_id)
proctor grade --predictions - --tasks "$tasks" --out "$work/one" --json <one.jsonl >one.json 2>one.err
tap_is "$? $(run_field one.json resolved)" "0 1" "predictions on standard input, summary as JSON"
tap_is "$(run_field "one/$id/verdict.json" verdict)" resolved "one model: OUT/INSTANCE/verdict.json"
tap_is "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["resolved"])' "one/$id/report.json" "$id")" \
	True "and SWE-bench's report" # an id may hold dots
printf '{"schema": "proctor.profile/1", "extends": "verify", "filesystem": {"read": ["/usr/share"]}}' >wider.json
before=$(settled one)
grade one.jsonl "$work/one" -q --progress never --profile "$work/wider.json" </dev/null
tap_is "$([ "$(settled one)" != "$before" ]; echo $?)" 0 "another policy: graded again"

# Bad input.
sed 's/"instance_id": "[^"]*/&-no/' one.jsonl >wrong.jsonl
grade wrong.jsonl "$work/wrong" 2>err.txt </dev/null
tap_is "$?" 3 "a prediction without a task is refused"
tap_like "$(cat err.txt)" "no task for 1 of 1 predictions: $id-no .*nearest to the first: $id" "with the nearest name"
tap_ok "$([ ! -e wrong ]; echo $?)" "before anything is written"
sed 's/"instance_id": "[^"]*/"instance_id": "..\/up/' one.jsonl >wrong.jsonl
grade wrong.jsonl "$work/wrong" 2>err.txt </dev/null
tap_is "$?" 3 "an instance_id with a path is refused"
proctor grade --predictions one.jsonl --out "$work/wrong" 2>err.txt </dev/null
tap_is "$?" 2 "without --tasks: usage"
proctor grade --predictions one.jsonl --patch x 2>err.txt </dev/null
tap_is "$?" 2 "two things to grade: usage"
grade all.jsonl "$work/none" --only 'nothing*' 2>err.txt </dev/null
tap_is "$?" 3 "--only that leaves nothing is said"

# "a/b" and "a__b" would share a directory, and one result be lost.
for model in a/b a__b; do
	printf '{"instance_id": "%s", "model_name_or_path": "%s", "model_patch": ""}\n' "$id" "$model"
done >twins.jsonl
grade twins.jsonl "$work/wrong" 2>err.txt </dev/null
tap_is "$?" 3 "two models with one directory are refused"
tap_like "$(cat err.txt)" '"a/b" and "a__b".* rename one' "and named"
tap_ok "$([ ! -e wrong ]; echo $?)" "nothing is written for any of them"

# One call at a time: what another one grades is not graded twice.
mkdir busy
exec 9<busy
flock 9
grade one.jsonl "$work/busy" 2>err.txt </dev/null
tap_is "$?" 3 "a directory that another call grades into is refused"
tap_like "$(cat err.txt)" 'another call grades into this directory' "and why"
tap_is "$(ls -A busy)" "" "nothing is written there"
exec 9<&-
grade one.jsonl "$work/busy" -q 2>err.txt </dev/null
tap_is "$?" 0 "once it has ended, it is taken"

# A task that cannot be read makes its predictions invalid and stops nobody else.
mkdir -p mixed
cp -r "$top/examples/calc" mixed/calc
printf '{"schema": "proctor.task/1", "instance_id": "broken__task-1", "problem_statement": "x", "source": "/nowhere/at/all", "test": {"command": "true"}, "FAIL_TO_PASS": ["exit-code"], "PASS_TO_PASS": []}' >mixed/broken.task.json
{
	printf '{"instance_id": "broken__task-1", "model_patch": ""}\n'
	printf '{"instance_id": "example__duration-1", "model_patch": ""}\n'
} >mixed.jsonl
proctor grade --predictions mixed.jsonl --tasks mixed --out "$work/mix" >mix.txt 2>&1 </dev/null
tap_is "$?" 1 "an invalid one ends with 1"
tap_is "$(run_field mix/summary.json invalid) $(run_field mix/summary.json unresolved) $(run_field mix/summary.json resolved_share)" \
	"1 1 0" "it is counted beside the share, not in it" || sed 's/^/# /' mix.txt
tap_done
