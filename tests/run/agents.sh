#!/usr/bin/env bash
# Real agents on a real task in the box, with a scripted model: they read the region, the Counter-Edit
# lands at its timing, the message is in the next request and in every later one, tokens and dollars
# are what the script served, the patch is graded.
# usage: agents.sh [AGENT...]; without names those that ./check runs
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi pi-responses pi-anthropic pi-gemini codex
task=$work/tasks/minimist__proto-1.2.5
marker="setArg now walks down to"

if ! "$top/tests/tasks/make-all.sh" "$work/tasks" minimist__proto-1.2.5 >make.log 2>&1; then
	tail -n 20 make.log | sed 's/^/# /'
	tap_ok 1 "the task can be made"
	tap_done
fi

# What the model does: looks, looks closer, sees that the place has changed, takes the change out (it
# contradicts the report), mends, tests. The second look is for agents that refuse to edit a file
# that changed since they read it.
cat >script.json <<EOF
{ "schema": "proctor.script/1",
  "usage": { "input": 1000, "output": 50 },
  "turns": [
    { "expect": { "contains": ["Function.prototype"], "lacks": ["$marker"] },
      "text": "I look at the place.",
      "tools": [ { "read": { "path": "index.js", "first": 54, "last": 97 } } ] },
    { "expect": { "contains": ["$marker"] },
      "tools": [ { "shell": "grep -n __proto__ index.js" } ] },
    { "expect": { "contains": ["$marker"] },
      "tools": [ { "read": { "path": "index.js", "first": 54, "last": 103 } } ] },
    { "expect": { "contains": ["$marker", "a dotted option may go below"] },
      "tools": [ { "edit": { "path": "index.js",
        "old": "        if (at !== argv) return setKey(at, path, value);\n        setKey(argv, key.split('.'), value);",
        "new": "        setKey(argv, key.split('.'), value);" } } ] },
    { "expect": { "contains": ["$marker"] },
      "tools": [ { "edit": { "path": "index.js",
        "old": "            var key = keys[i];\n            if (key === '__proto__') return;",
        "new": "            var key = keys[i];\n            if (key === '__proto__' || (key === 'constructor' && typeof o[key] === 'function')) return;" } } ] },
    { "expect": { "contains": ["$marker"] },
      "tools": [ { "edit": { "path": "index.js",
        "old": "        var key = keys[keys.length - 1];\n        if (key === '__proto__') return;",
        "new": "        var key = keys[keys.length - 1];\n        if (key === '__proto__' || (key === 'constructor' && typeof o[key] === 'function')) return;" } } ] },
    { "expect": { "contains": ["$marker"] },
      "tools": [ { "shell": "node node_modules/tape/bin/tape 'test/*.js' >/tmp/tests.log 2>&1; echo tests ended with \$?" } ] },
    { "expect": { "contains": ["$marker", "tests ended with 0"] },
      "text": "The options are ignored now." }
  ] }
EOF
cat >prices.json <<'EOF'
{ "schema": "proctor.prices/1",
  "prices": [ { "model": "*", "input": "2.00", "output": "10.00", "source": "this test", "date": "2026-01-01" } ] }
EOF

# look DIR: what the run's files say, one assertion a line: "ok NAME" or "not NAME: why".
look()
{
	python3 - "$1" "$marker" <<'EOF'
import json, sys

where, marker = sys.argv[1:3]
run = json.load(open(f"{where}/run.json"))
lines = [json.loads(line) for line in open(f"{where}/model.jsonl")]
trace = [json.loads(line) for line in open(f"{where}/trace.jsonl")]
fired = [json.loads(line) for line in open(f"{where}/interventions.jsonl")]


def say(good, name, why):
    print(f"ok {name}" if good else f"not {name}: {why}")


model = run.get("model") or {}
say(run["end"]["reason"] == "exited" and run["end"]["status"] == 0, "the agent ends well", run["end"])
say(run["interventions"]["fired"] == 1, "the Counter-Edit fires once", run["interventions"])
say(any(one.get("applied") and one.get("timing") == "after-command" for one in fired),
    "it is applied after the command", fired)
served = [one for one in lines if one["source"] == "script"]
main = [one for one in served if one["purpose"] == "main"]
at = [n for n, one in enumerate(main) if one["placed"]]
say(at == list(range(1, len(main))), "the message is in the second request and in every later one",
    [len(one["placed"]) for one in main])
say(all(marker in placed["text"] for one in main for placed in one["placed"]), "word for word", "")
say(not any(marker in one["request"] for one in main), "the client's own requests never hold it", "")
edits = [rec["n"] for rec in trace if rec.get("k") == "intervene"]
answers = [rec["n"] for rec in trace if rec.get("k") == "model" and rec.get("purpose") == "main"]
say(edits and len(answers) > 1 and answers[0] < min(edits) and max(edits) < answers[1],
    "the edit lands between the first answer and the second", (edits[:4], answers[:4]))
say(model.get("calls") == len(served), "model calls", (model, len(served)))
say(model.get("input_tokens") == 1000 * len(served), "input tokens", model)
say(model.get("output_tokens") == 50 * len(served), "output tokens", model)
say(model.get("micro_dollars") == 2500 * len(served), "dollars", model)
say(len(main) == 8, "eight turns", len(main))
say(model.get("unmet") == [], "every expectation of the script is met", model.get("unmet"))
EOF
}

# one AGENT CACHE: the whole of it for one agent.
one()
{
	local name=$1 out=$work/runs/$1 line
	proctor run -q --task "$task/task.json" --agent "$name" --scenario "$task/counter-edit.json" \
		--model "script:$work/script.json" --set "model.prices=$work/prices.json" --no-tty \
		--out "$out" </dev/null >out.txt 2>err.txt
	if ! tap_ok $? "$name: runs"; then
		tail -n 5 err.txt "$out/stderr.log" 2>/dev/null | sed 's/^/# /'
		return
	fi
	while IFS= read -r line; do
		if [ "${line%% *}" = ok ]; then
			tap_ok 0 "$name: ${line#ok }"
		else
			tap_ok 1 "$name: ${line#not }"
		fi
	done < <(look "$out" 2>&1 | grep . || echo "not the run can be looked at: nothing was said")
	proctor grade --run "$out" -q >grade.txt 2>&1
	tap_is "$(run_field "$out/verdict.json" verdict)" resolved "$name: the patch resolves the task" ||
		sed 's/^/# /' grade.txt
}

for name in "$@"; do
	need_agent "$name" && one "$name"
done
tap_done
