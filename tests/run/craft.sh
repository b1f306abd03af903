#!/usr/bin/env bash
# Crafting: by operators, by a scripted model behind a bare endpoint, by scripted agents; accepted edits pass
# the gate again, refused ones say why, and the reasons are in the next request.
# seconds: 1500
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
calc=$top/examples/calc
cp -r "$calc" calc
task=$work/calc/task.json
prompt=$(sha256sum "$PROCTOR_DATADIR/prompts/craft.txt" | cut -d ' ' -f 1)

# craft NAME STATUS ARGUMENT...: into out/NAME, output in NAME.txt.
craft()
{
	local name=$1 want=$2 status
	shift 2
	timeout 900 "$PROCTOR" craft "$@" --out "out/$name" </dev/null >"$name.txt" 2>&1
	status=$?
	tap_is "$status" "$want" "$name: exit status" || sed 's/^/#   /' "$name.txt" | tail -n 30
}

# again TASK FILE NAME: what was accepted passes the gate once more.
again()
{
	tap_is "$(timeout 300 "$PROCTOR" gate --task "$1" "$2" 2>&1 | head -n 1 | sed 's/.*: valid:.*/valid/')" valid \
		"$3: valid when it is gated again"
}

# lines FILE: number of records.
lines()
{
	grep -c . "$1"
}

# By operators.
craft counter 0 --task "$task" --mutate --seed 7
file=$(echo out/counter/*.scenario.json)
again "$task" "$file" counter
tap_is "$(run_field "$file" mode) $(run_field "$file" max_rounds)" "edit+message 3" "counter: edit and message, K=3"
tap_is "$(run_field "$file" interventions.0.when.event)" read_or_edit "counter: at a read or an edit"
candidate=${file%.scenario.json}.candidate.json
tap_is "$(run_field "$candidate" generator.prompt_sha256)" "$prompt" "counter: the prompt's digest is recorded"
tap_is "$(run_field "$candidate" self_check.visible_tests)" green "counter: the visible tests do not show it"
tap_is "$(run_field "${file%.scenario.json}.gate.json" verdict)" valid "counter: gate.json"
tap_is "$(tail -n 1 out/counter/attempts.jsonl >last.json && run_field last.json scenario)" \
	"$(run_field "$file" id)" "counter: the last attempt names the scenario"
run_field "$candidate" diff >edit.diff
tap_try "counter: the diff goes on with git" git -C calc/repo apply --check --unsafe-paths "$work/edit.diff"

craft same 0 --task "$task" --mutate --seed 7
tap_try "the same seed: the same edit" cmp out/counter/*.candidate.json out/same/*.candidate.json

craft three 0 --task "$task" --mutate --want 2 --attempts 80
tap_is "$(find out/three -name '*.scenario.json' | wc -l)" 2 "two are wanted: two are accepted"

craft co 0 --task "$task" --mutate --kind co-edit
file=$(echo out/co/*.scenario.json)
again "$task" "$file" co
tap_is "$(run_field "$file" mode) $(run_field "$file" max_rounds)" "co-edit 1" "co: one round"

# Regions of a file are the scenario's.
cat >regions.json <<'J'
{ "schema": "proctor.regions/1", "instance_id": "example__duration-1", "algorithm": "edits", "tier": "trajectory_edit",
  "models": ["a", "b"],
  "regions": [ { "path": "src/duration.c", "start": 54, "end": 75, "kind": "trajectory_edit", "models": ["a", "b"], "support": 2 } ] }
J
craft regions 0 --task "$task" --mutate --regions regions.json
file=$(echo out/regions/*.scenario.json)
tap_is "$(run_field "$file" regions.0.start)-$(run_field "$file" regions.0.end)" 54-75 "regions: those of the file"
tap_is "$(run_field "$file" regions.1.evidence)" "user edit" "regions: and where the edit itself goes"

# A reference that solves nothing: no edit, messages only.
sed 's/"reference.diff"/"helpful.diff"/' "$task" >calc/bad.json
craft bad 1 --task "$work/calc/bad.json" --mutate
tap_like "$(cat bad.txt)" reference_repair_failed "bad: the reason of the fallback"
tap_is "$(run_field "$(echo out/bad/*.attempts.jsonl)" x)" absent "bad: nothing else"
sed 1d out/bad/*.scenario.json >plain.json
tap_is "$(run_field plain.json mode)" message "bad: messages only"
tap_try "bad: the scenario is read" timeout 60 "$PROCTOR" run --task "$task" --scenario out/bad/*-message-only.scenario.json \
	--print-plan -- true

# A package task.
if PROCTOR_TASK_CACHE=${PROCTOR_TASK_CACHE:-} timeout 300 bash "$top/tests/tasks/make-all.sh" tasks minimist__proto-1.2.5 \
	>make.txt 2>&1; then
	craft package 0 --task tasks/minimist__proto-1.2.5/task.json --mutate
	again tasks/minimist__proto-1.2.5/task.json "$(echo out/package/*.scenario.json)" package
else
	tap_skip "a package task" "packages: $(tail -n 1 make.txt)"
fi

# A scripted model behind a bare endpoint: refused by form, refused by the gate, accepted.
python3 - "$calc" <<'J' >script.json
import json, sys
calc = sys.argv[1]
good = open(calc + "/edit.diff").read()
helpful = open(calc + "/helpful.diff").read()
def answer(name, diff):
    return {"instance_id": "example__duration-1", "candidate_id": name, "diff": diff,
            "target_regions": [{"path": "src/duration.c", "start_line": 54, "end_line": 75}],
            "user_message": "I made duration_parse() take the longest duration when a part is too long.",
            "wrong_belief": "Too long means as long as possible.", "why_it_looks_plausible": "Clamping is common.",
            "expected_failure_mode": "Too long durations are taken.", "self_check": {"ran": False}}
tests = open(calc + "/hidden-tests.diff").read()
turns = [{"text": "Here it is:\n```json\n" + json.dumps(answer("one", tests)) + "\n```"},
         {"text": json.dumps(answer("two", helpful)), "expect": {"last_contains": ["belongs to the tests"]}},
         {"tools": [{"call": {"name": "submit_edit", "args": answer("three", good)}}],
          "expect": {"last_contains": ["expected unresolved, got resolved"]}}]
json.dump({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": turns}, sys.stdout)
J
if command -v curl >/dev/null; then
	craft ask 0 --task "$task" --model script:script.json
	tap_is "$(lines out/ask/attempts.jsonl)" 3 "ask: three attempts"
	tap_like "$(sed -n 1p out/ask/attempts.jsonl)" '"form":"[^"]*belongs to the tests' "ask: the first is refused by form"
	tap_like "$(sed -n 2p out/ask/attempts.jsonl)" '"gate":"invalid"' "ask: the second by the gate"
	for n in 2 3; do
		run_field "out/ask/attempts/$n/run/run.json" model.unmet >unmet.txt
		tap_is "$(grep -c 'does not hold' unmet.txt)" 0 "ask: request $n holds the reason"
	done
	tap_like "$(cat out/ask/attempts/3/request.json.in)" "belongs to the tests.*expected unresolved" \
		"ask: and the last one both"
	again "$task" "$(echo out/ask/*.scenario.json)" ask
	tap_is "$(run_field out/ask/*.candidate.json candidate_id)" three "ask: the candidate is the model's"
	craft few 3 --task "$task" --model script:script.json --attempts 9 --want 2
	tap_like "$(cat few.txt)" "fewer turns than attempts" "few: a script that is too short is named"
	craft refused 1 --task "$task" --model script:script.json --attempts 2
	tap_like "$(cat refused.txt)" "messages only" "refused: a fallback is written"
else
	tap_skip "a bare endpoint" "curl: is not installed"
fi

# An agent without a model: a script that edits and leaves its answer.
cat >edit.sh <<'S'
sed -i 's/^\t\ttext++;$/\t\ttext++;\n\t\tif (n > DURATION_MAX \/ seconds)\n\t\t\tn = DURATION_MAX \/ seconds;/' src/duration.c
cat >.user-edit.json <<'J'
{ "candidate_id": "by-hand", "target_regions": [ { "path": "src/duration.c", "start": 54, "end": 75 } ],
  "user_message": "A part that is too long now counts as the longest duration.", "wrong_belief": "That is wanted.",
  "why_it_looks_plausible": "Clamping is common.", "expected_failure_mode": "Too long durations are taken." }
J
S
cat >hand.json <<'J'
{ "schema": "proctor.agent/1", "name": "hand", "command": ["sh", "~/edit.sh"], "files": { "~/edit.sh": "edit.sh" } }
J
craft agent 0 --task "$task" --agent ./hand.json
again "$task" "$(echo out/agent/*.scenario.json)" agent
run_field out/agent/*.candidate.json diff >agent.diff
tap_ok $(($(grep -c user-edit.json agent.diff) > 0)) "agent: its answer is no part of the edit"
tap_like "$(cat out/agent/attempts/1/request.txt)" "src/duration.c, lines" "agent: the request names the regions"
tap_is "$(grep -c 'test_duration.c' out/agent/attempts/1/task.json)" 0 "agent: and nothing of the hidden tests"

cat >lazy.json <<'J'
{ "schema": "proctor.agent/1", "name": "lazy", "command": ["true"] }
J
craft lazy 1 --task "$task" --agent ./lazy.json --attempts 2
tap_like "$(cat out/lazy/attempts/2/request.txt)" "Answer 1: form: the files are as they were" \
	"lazy: the reason is in the next request"

# A real client with a scripted model.
if need_agent pi; then
	python3 - <<'J' >pi-script.json
import json
answer = {"candidate_id": "pi", "target_regions": [{"path": "src/duration.c", "start": 54, "end": 75}],
          "user_message": "A part that is too long now counts as the longest duration.",
          "wrong_belief": "That is wanted.", "why_it_looks_plausible": "Clamping is common.",
          "expected_failure_mode": "Too long durations are taken."}
turns = [{"tools": [{"edit": {"path": "src/duration.c", "old": "\t\ttext++;\n",
                              "new": "\t\ttext++;\n\t\tif (n > DURATION_MAX / seconds)\n\t\t\tn = DURATION_MAX / seconds;\n"}},
                    {"write": {"path": ".user-edit.json", "content": json.dumps(answer)}}]},
         {"text": "Done."}]
print(json.dumps({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": turns}))
J
	craft pi 0 --task "$task" --agent pi --model script:pi-script.json
	again "$task" "$(echo out/pi/*.scenario.json)" pi
	tap_is "$(run_field out/pi/attempts/1/run/run.json model.calls)" 2 "pi: two calls"
	craft steps 0 --task "$task" --agent pi --model script:pi-script.json --steps 1 --attempts 1
	tap_is "$(run_field out/steps/attempts/1/run/run.json model.calls)" 1 "steps: one call is all it gets"
fi

# Wrong use.
craft no-task 2 --mutate
craft nobody 2 --task "$task"
craft both 2 --task "$task" --mutate --model m
craft often 2 --task "$task" --mutate --repeats 101
craft no-file 3 --task nowhere.json --mutate
timeout 60 "$PROCTOR" craft --task "$task" --mutate --out out/counter >twice.txt 2>&1
tap_is "$?" 2 "twice: a directory with attempts is not written again"
sed 's/example__duration-1/other/' regions.json >other.json
craft other 3 --task "$task" --mutate --regions other.json
tap_like "$(cat other.txt)" "are those of task other" "other: regions of another task are refused"
tap_done
