#!/usr/bin/env bash
# The ladder of state access: the shifted arm is told of the update in the request that waited at the fork, in the words
# of its step and no others; the clean arm is told nothing; modes without messages have no ladder.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
S=$top/examples/shift/F05-port

# told RUN TEXT: a request of the run's model record holds it.
told()
{
	python3 -c '
import json, sys
sys.exit(not any(sys.argv[2] in json.dumps(json.loads(line)) for line in open(sys.argv[1] + "/model.jsonl")))' "$1" "$2"
}

timeout 200 "$PROCTOR" run -q --no-tty --task "$S/task.json" --agent actor --model "script:$S/reference.json" \
	--scenario "$S/scenario.json" --set watch=workspace --out record </dev/null >out.txt 2>&1
tap_ok $? "the record" || sed 's/^/# /' out.txt

for step in A0 A2 A5; do
	timeout 200 "$PROCTOR" fork record --at 0.5 --ladder $step --clean-model "script:$S/unadapted.json" \
		--shifted-model "script:$S/recovery.json" --out $step >out.txt 2>&1
	tap_ok $? "$step: the pair is valid" || sed 's/^/# /' out.txt
	tap_is "$(run_field $step/pair.json ladder)" $step "$step is recorded with the pair"
	tap_is "$(run_field $step/pair.json paired)" true "$step: the recovery is a success as without it"
	tap_is "$(grep -c 'work depends on has changed' $step/shifted/interventions.jsonl)" "$([ $step = A0 ] && echo 0 || echo 1)" \
		"$step: one message of the ladder, or none"
	! grep -q 'work depends on has changed' $step/clean/interventions.jsonl $step/clean/model.jsonl 2>/dev/null
	tap_ok $? "$step: the clean arm is told nothing"
done
told A5/shifted 'port 8200: in use by legacy'
tap_ok $? "A5: how it is now reached the model"
told A5/shifted 'the other program still runs'
tap_ok $? "A5: the scenario's own words for what must be kept"
told A2/shifted '- port 8200'
tap_ok $? "A2: what changed reached the model"
! told A2/shifted 'in use by legacy'
tap_ok $? "A2: how it is now did not"
! told A0/shifted '- port 8200'
tap_ok $? "A0: nothing did"

timeout 60 "$PROCTOR" fork record --at 0.5 --ladder A1 --mode edit --model "script:$S/recovery.json" --out none >out.txt 2>&1
status=$?
tap_is $status 2 "a mode without messages has no ladder"
tap_like "$(cat out.txt)" 'no messages are sent in mode edit' "and says why"
timeout 60 "$PROCTOR" run --print-plan --task "$S/task.json" --agent actor --model "script:$S/reference.json" \
	--scenario "$S/scenario.json" --ladder A1 >plan.txt 2>&1
grep -q 'work depends on has changed' plan.txt
tap_ok $? "run --ladder: the plan says the words" || sed 's/^/# /' plan.txt
timeout 60 "$PROCTOR" run --print-plan --task "$S/task.json" --agent actor --model "script:$S/reference.json" \
	--scenario "$S/scenario.json" --ladder A9 >out.txt 2>&1
status=$?
tap_is $status 2 "an unknown step"
timeout 60 "$PROCTOR" run --print-plan --task "$S/task.json" --agent actor --model "script:$S/reference.json" --ladder A1 >out.txt 2>&1
status=$?
tap_is $status 2 "no scenario, nothing to tell of"
tap_done
