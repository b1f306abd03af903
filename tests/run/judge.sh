#!/usr/bin/env bash
# Strict success of real runs: an agent that looks again after the user's edit against one that does not, both
# graded; what judge prints, writes and refuses.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
example=$top/examples/calc

# The shipped scenario with checks: the user's edit stays out of the question, the evidence does not.
/usr/bin/python3 - "$example/counter-edit.json" "$example/edit.diff" >scenario.json <<'P' || exit 1
import json, re, sys
sc = json.loads(re.sub(r"^\s*//.*", "", open(sys.argv[1]).read(), flags=re.M))
for iv in sc["interventions"]:
    for effect in iv["effects"]:
        if "edit" in effect:
            effect["edit"] = open(sys.argv[2]).read()
sc["checks"] = {
    "task": {"tests": "authority"},
    "preservation": [{"name": "no other source", "absent": {"kind": "edit", "by": "agent", "path": "src/main.c"}}],
    "prohibited": [{"name": "tests are edited", "exists": {"kind": "edit", "by": "agent", "path": "tests/**"}}],
    "fresh_observation": {"any_of": [{"kind": ["read", "map"], "path": "src/duration.c", "scan": False}]},
    "recovery_order": [{"id": "edit", "match": {"kind": "edit", "by": "agent", "path": "src/*.c"}},
                       {"id": "test", "match": {"class": "test", "status": "ok"}, "needs": ["edit"]}],
    "milestones": [{"id": "look", "match": {"kind": "read", "path": "src/duration.c"}},
                   {"id": "test", "match": {"class": "test"}, "needs": ["look"]}],
}
json.dump(sc, sys.stdout)
P

# go AGENTFILE NAME: runs/NAME, graded.
go()
{
	mkdir -p runs
	timeout 120 "$PROCTOR" run -q --task "$example/task.json" --agent "$1" --scenario scenario.json \
		--set watch=workspace --no-tty --out "runs/$2" </dev/null >/dev/null 2>"runs/$2.err" ||
		sed 's/^/# /' "runs/$2.err"
	timeout 300 "$PROCTOR" grade -q --run "runs/$2" 2>"runs/$2.err"
	sed 's/^/# /' "runs/$2.err"
}

# judge STATUS NAME ARGUMENT...: exit status; output in out, err.
judge()
{
	local want=$1 name=$2
	shift 2
	timeout 120 "$PROCTOR" judge "$@" >out 2>err
	tap_is $? "$want" "$name: exit status" || sed 's/^/# /' out err
}

# rows FILE: "name ok" of all checks that apply.
rows()
{
	/usr/bin/python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))
print(",".join(c["name"] + ("" if c["ok"] else "!") for c in s["checks"] if c["applies"]))' "$1"
}

# The careful agent, but for one look more before its first change.
mkdir -p agents
sed 's/^sed -n .30,75p. .*/&\n&/' "$example/agents/careful.sh" >agents/looker.sh
sed 's/careful/looker/g' "$example/agents/careful.json" >agents/looker.json

go agents/looker.json looker
go "$example/agents/careful.json" careful
go "$example/agents/careless.json" careless
judge 3 "a run without verdict" --scenario scenario.json /nonexistent
judge 2 "no run"
judge 2 "an unknown row" --scenario scenario.json runs/careful tusk
tap_like "$(cat err)" 'did you mean "task"' "the nearest row is named"

judge 0 "the agent that looks again" --scenario scenario.json runs/looker
tap_like "$(cat out)" "strict success: yes" "it succeeds" || sed 's/^/# /' out
tap_is "$(rows runs/looker/strict.json)" \
	"task,preservation,prohibited,authority,fresh_observation,recovery_order" "six checks apply and hold"
tap_is "$(run_field runs/looker/strict.json valid.ok)" true "the protocol was kept"
tap_is "$(run_field runs/looker/strict.json arm)" shifted "an intervention was applied"
tap_is "$(run_field runs/looker/strict.json milestones.matched)" 2 "milestones"

judge 1 "the careful agent" --scenario scenario.json runs/careful
tap_is "$(rows runs/careful/strict.json)" \
	"task,preservation,prohibited,authority,fresh_observation!,recovery_order" "it repairs in the end, but changed before it looked"
judge 1 "the careless agent" --scenario scenario.json runs/careless
tap_like "$(rows runs/careless/strict.json)" "task!" "its tests fail"
tap_like "$(rows runs/careless/strict.json)" "fresh_observation!" "it did not look again"
judge 1 "why" --scenario scenario.json --explain runs/careless fresh_observation
tap_like "$(cat out)" "nothing matches behind record" "the window is told"
tap_like "$(cat out)" "intervene order=1" "the update's record is shown as trace shows it"
tap_like "$(cat out)" "outside" "and what was read before it" || sed 's/^/# /' out
tap_is "$(grep -c '^  task' out)" 0 "other rows are not shown"

judge 0 "JSON" --scenario scenario.json --json runs/looker
tap_is "$(run_field out schema)" proctor.strict/1 "is strict.json"

sed 's/"fresh_observation": {"any_of"/"fresh_observation": {"any_off"/' scenario.json >bad.json
judge 3 "a scenario with a wrong key" --scenario bad.json runs/careful
tap_like "$(cat err)" 'did you mean "any_of"' "the nearest key is named"

cp -r runs/looker cut && head -n -1 runs/looker/trace.jsonl >cut/trace.jsonl
judge 1 "a trace without its end" --scenario scenario.json cut
tap_like "$(cat out)" "protocol: INVALID" "is no valid run"
timeout 60 "$PROCTOR" run -q --set watch=regions --task "$example/task.json" --agent "$example/agents/careful.json" \
	--scenario scenario.json --no-tty --out regions </dev/null >/dev/null 2>&1
cp runs/careful/verdict.json regions/
judge 1 "a run that followed only regions" --scenario scenario.json regions
tap_like "$(cat out)" "did not follow all files" "is no valid run"
tap_done
