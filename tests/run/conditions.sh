#!/usr/bin/env bash
# One scenario file in every condition: modes and K, several interventions, words alone, a schedule by progress
# with its reference runs, repetitions, the digests of messages, and runs that are no pair.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p repo/src
seq -f 'line%g' 40 >repo/src/a.txt

# The agent: shows the place, then puts everything back to what it was but for line 12, six times, each a command
# of its own.
cat >agent.sh <<'EOF_SH'
cd /workspace || exit 1
cp src/a.txt /tmp/first
sed -n '10,20p' src/a.txt
for i in 1 2 3 4 5 6; do
	sh -c "sed '12s/\$/ by me $i/' /tmp/first >/tmp/next; cat /tmp/next >src/a.txt"
done
EOF_SH
cat >agent.json <<'EOF_JSON'
{ "schema": "proctor.agent/1", "name": "undoer", "command": ["sh", "~/agent.sh"],
  "files": { "~/agent.sh": "agent.sh" }, "message_via": "file:/tmp/told" }
EOF_JSON
cat >task.json <<'EOF_JSON'
{ "schema": "proctor.task/1", "instance_id": "undo-1", "problem_statement": "Undo.", "source": "repo" }
EOF_JSON

diff_of() # LINE
{
	printf -- '--- a/src/a.txt\\n+++ b/src/a.txt\\n@@ -%d,1 +%d,1 @@\\n-line%d\\n+user%d\\n' "$1" "$1" "$1" "$1"
}

# scenario NAME MORE WHEN LINE...: an intervention for each line.
scenario()
{
	local name=$1 more=$2 when=$3 n=0 sep="" line
	shift 3
	{
		printf '{ "schema": "proctor.scenario/1", "id": "%s", "instance_id": "undo-1", %s\n' "$name" "$more"
		printf '  "regions": [ { "path": "src/a.txt", "start": 10, "end": 30 } ],\n  "interventions": ['
		for line in "$@"; do
			n=$((n + 1))
			printf '%s\n    { "order": %d, "when": { %s }, "effects": [ { "edit": "%s" },\n' "$sep" $n "$when" "$(diff_of "$line")"
			printf '      { "message": { "claim": "Line %d holds a name now" } } ] }' "$line"
			sep=,
		done
		printf ' ] }\n'
	} >"$name.json"
}

# go NAME SCENARIO [OPTION...]: run it; the status.
go()
{
	local name=$1 scenario=$2
	shift 2
	proctor run -q --task task.json --agent agent.json ${scenario:+--scenario "$scenario"} --no-tty --out "$work/$name" \
		"$@" </dev/null >out.txt 2>err.txt
}

# fired NAME [KIND]: "ORDER.ROUND ..." of what was applied.
fired()
{
	python3 - "$work/$1/interventions.jsonl" "${2:-edit}" <<'EOF_PY'
import json, sys

lines = [json.loads(line) for line in open(sys.argv[1])]
print(" ".join(f"{one['order']}.{one['round']}" for one in lines if one["applied"] and one["effect"] == sys.argv[2]))
EOF_PY
}

# applied_at NAME: "ORDER.ROUND@COMMAND ..." of edits.
applied_at()
{
	python3 - "$work/$1/trace.jsonl" <<'EOF_PY'
import json, sys

trace = [json.loads(line) for line in open(sys.argv[1])]
print(" ".join(f"{rec['order']}.{rec['round']}@{rec['cmd']}" for rec in trace
               if rec.get("k") == "intervene" and rec["effect"] == "edit" and rec["applied"]))
EOF_PY
}

touch='"event": "read_or_edit", "touch": "bytes"'
scenario one '' "$touch" 15
scenario three '' "$touch" 15 20 25

while read -r name file options want; do
	# shellcheck disable=SC2086 # options are words
	go "$name" "$file" ${options//,/ }
	tap_ok $? "$name: runs" || sed 's/^/# /' err.txt
	kind=edit
	[ "${name#words}" = "$name" ] || kind=message
	tap_is "$(fired "$name" $kind)" "${want//,/ }" "$name: rounds"
done <<'EOF_ROWS'
k1 one.json --rounds,1 1.1
k3 one.json --rounds,3 1.1,1.2,1.3
k5 one.json --rounds,5 1.1,1.2,1.3,1.4,1.5
said one.json -q 1.1,1.2,1.3
three-1 three.json --rounds,1 1.1
three-3 three.json -q 1.1,2.2,3.3
three-5 three.json --rounds,5 1.1,2.2,3.3,3.4,3.5
silent three.json --mode,edit 1.1,2.2,3.3
words one.json --mode,message,--rounds,3 1.1,1.2,1.3
words-5 three.json --mode,message,--rounds,5 1.1,2.2,3.3,3.4,3.5
co one.json --mode,co-edit 1.1
EOF_ROWS
tap_is "$(fired silent message)" "" "mode edit: not a word"
tap_is "$(fired words edit)" "" "mode message: no edit"
tap_is "$(run_field k5/run.json condition)" '{"mode": "edit+message", "k": 5}' "the condition of K=5"
tap_is "$(run_field co/run.json condition)" '{"mode": "co-edit", "k": 1}' "of a Co-Edit"

# Vanilla: watched all the same, and a pair of all others.
go vanilla one.json --mode vanilla --repeat 2
tap_ok $? "vanilla runs" || sed 's/^/# /' err.txt
tap_is "$(fired vanilla)" "" "vanilla: nothing fires"
tap_ok $((! ($(run_field vanilla/run.json touches) >= 7))) "but touches are recorded: $(run_field vanilla/run.json touches)"
tap_is "$(run_field vanilla/run.json condition)" '{"mode": "vanilla", "k": 0}' "its condition"
tap_is "$(run_field vanilla/run.json repeat)" 2 "its repetition"
go none ""
tap_ok $? "a run without a scenario" || sed 's/^/# /' err.txt
for name in k1 k5 three-5 words co none; do
	tap_is "$(run_field $name/run.json pair_digest)" "$(run_field vanilla/run.json pair_digest)" "$name pairs with vanilla"
done
tap_is "$(python3 -c '
import hashlib, json
print(hashlib.sha256(open("k3/plan.json", "rb").read()).hexdigest() == json.load(open("k3/run.json"))["plan_digest"])')" \
	True "plan.json is what the plan digest is of"

# No pair: exit status 3, the field, and no run.
go other one.json --pair vanilla --set limits.wall=59m
tap_is "$?" 3 "another limit is no pair"
tap_like "$(cat err.txt)" 'profile\.limits\.wall: "59m" and "1h"' "the field is named with both values"
tap_ok $(($([ -e other ]; echo $?) == 0)) "and nothing was started"
go pair one.json --pair vanilla --rounds 5
tap_ok $? "another K is one" || sed 's/^/# /' err.txt
go nopair one.json --pair repo
tap_is "$?" 3 "what is no run cannot be paired with"

# Messages: stages by round, with the claim; digests of the words and of the template.
python3 - >stages.txt <<'EOF_PY'
import hashlib, json

lines = [json.loads(line) for line in open("k5/interventions.jsonl")]
told = [one for one in lines if one["effect"] == "message"]
print(" ".join(one["message_source"] for one in told))
print(all(one["message_sha256"] == hashlib.sha256(one["message"].encode()).hexdigest() for one in told))
print(len({one["template_sha256"] for one in told}), all(len(one["template_sha256"]) == 64 for one in told))
print(all(" Line 15 holds a name now. " in one["message"] and "src/a.txt" in one["message"] for one in told))
print(all(one["message_sha256"] is None and one["template_sha256"] is None for one in lines if one["effect"] == "edit"))
EOF_PY
tap_is "$(cat stages.txt)" "template:1 template:2 template:3 template:4 template:4
True
4 True
True
True" "messages of five rounds"

# The state of a region: who waits for the agent to edit what an intervention wrote, in a file without a region too.
{
	printf '{ "schema": "proctor.scenario/1", "id": "state", "mode": "edit", "interventions": [\n'
	printf '{ "order": 1, "when": { "event": "command_count", "n": 1 }, "effects": [ { "edit": "%s" } ] },\n' \
		"$(diff_of 5 | sed s/a.txt/b.txt/g)"
	printf '{ "order": 2, "when": { "event": "region_state_changed", "after": 1 }, "effects": [ { "edit": "%s" } ] } ] }\n' \
		"$(diff_of 15)"
} >state.json
cp repo/src/a.txt repo/src/b.txt
cat >state.sh <<'EOF_SH'
cd /workspace || exit 1
cat src/b.txt
sed -i 1s/line/mine/ src/b.txt
cat src/b.txt
sed -i 5s/user/mine/ src/b.txt
cat src/b.txt
EOF_SH
sed 's/agent\.sh" }/state.sh" }/' agent.json >state-agent.json
tap_try "the state of a region: runs" proctor run -q --task task.json --agent state-agent.json --scenario state.json \
	--no-tty --out "$work/state"
tap_is "$(applied_at state)" "1.1@1 2.2@4" "it fires at the edit of the user's line, not at another, nor at a read"
rm repo/src/b.txt

# A schedule by progress: measured on vanilla, on the median, on the file; shown in the plan.
scenario sched '' '"event": "progress"' 15
n=$(run_field vanilla/run.json commands)
tap_is "$n" 8 "commands of the reference run"
go progress sched.json --reference vanilla
tap_ok $? "progress of a reference run" || sed 's/^/# /' err.txt
tap_is "$(fired progress)" "1.1 1.2 1.3" "three rounds"
tap_is "$(run_field progress/plan.json scenario.interventions.0.when.points)" "[2, 4, 6]" "at a quarter, half and three quarters"
tap_is "$(run_field progress/plan.json scenario.interventions.0.when.n_from)" run "of that run"
tap_is "$(applied_at progress)" "1.1@2 1.2@4 1.3@6" "after these commands"
tap_is "$(run_field progress/run.json pair_digest)" "$(run_field vanilla/run.json pair_digest)" "still a pair"
go median sched.json --reference vanilla --reference k1 --reference none --rounds 1
tap_is "$(run_field median/plan.json scenario.interventions.0.when.n_from)" median "of several: the median"
go lost sched.json
tap_is "$?" 3 "no length, no model: refused"
tap_like "$(cat err.txt)" "reference RUN" "with what to do"
go wrong one.json --mode edti
tap_is "$?" 2 "an unknown mode is a usage error"
go wrong "" --mode edit
tap_is "$?" 2 "so is a mode without a scenario"
tap_done
