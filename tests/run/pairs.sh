#!/usr/bin/env bash
# Paired runs of real clients with scripted models: one script, one scenario file, the same plan but the
# condition. A careless model never looks again: solved in vanilla, not under the Counter-Edit. A careful
# one looks at the place after its work and takes out what contradicts the report: solved in both.
# usage: pairs.sh [AGENT...]
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi codex
task=$work/tasks/minimist__proto-1.2.5
marker="setArg now walks down to"

if ! "$top/tests/tasks/make-all.sh" "$work/tasks" minimist__proto-1.2.5 >make.log 2>&1; then
	tail -n 20 make.log | sed 's/^/# /'
	tap_ok 1 "the task can be made"
	tap_done
fi

# Both scripts serve every condition: nothing in them knows of one.
python3 - <<'EOF_PY'
import json

first = {"text": "I look at the place.", "tools": [{"read": {"path": "index.js", "first": 54, "last": 97}}]}
guard = "if (key === '__proto__') return;"
better = "if (key === '__proto__' || (key === 'constructor' && typeof o[key] === 'function')) return;"
edits = [{"tools": [{"edit": {"path": "index.js", "old": f"{line}\n{pad}{guard}", "new": f"{line}\n{pad}{better}"}}]}
         for line, pad in (("            var key = keys[i];", " " * 12),
                           ("        var key = keys[keys.length - 1];", " " * 8))]
tests = {"tools": [{"shell": "node node_modules/tape/bin/tape 'test/*.js' >/tmp/tests.log 2>&1; echo tests ended with $?"}]}
again = [{"tools": [{"read": {"path": "index.js", "first": 54, "last": 103}}]},
         {"tools": [{"shell": "sed -i '/a dotted option may go below/,/return setKey(at, path/d' index.js"}]}]
done = {"text": "Done."}
for name, turns in (("careless", [first, *edits, tests, done]),
                    ("careful", [first, *edits, tests, *again, *again, *again, tests, done])):
    with open(f"{name}.json", "w") as out:
        json.dump({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": turns}, out, indent=1)
EOF_PY

# made AGENT SCRIPT NAME [OPTION...]: run and grade; "REASON FIRED VERDICT".
made()
{
	local agent=$1 script=$2 out=$work/runs/$1-$2-$3
	shift 3
	proctor run -q --task "$task/task.json" --agent "$agent" --scenario "$task/counter-edit.json" \
		--model "script:$work/$script.json" --no-tty --out "$out" "$@" </dev/null >out.txt 2>"$work/err.txt" ||
		{ echo "run failed: $(tail -n 2 "$work/err.txt")"; return; }
	proctor grade --run "$out" -q >"$work/grade.txt" 2>&1
	echo "$(run_field "$out/run.json" end.reason) $(run_field "$out/run.json" interventions.fired)" \
		"$(run_field "$out/verdict.json" verdict)"
}

# differ A B: where two plans differ, one path a line.
differ()
{
	python3 - "$1/plan.json" "$2/plan.json" <<'EOF_PY'
import json, sys


def walk(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in list(a) + [key for key in b if key not in a]:
            yield from walk(a.get(key), b.get(key), f"{at}.{key}" if at else key)
    elif a != b:
        yield at


print(" ".join(walk(*(json.load(open(name)) for name in sys.argv[1:3]))))
EOF_PY
}

one()
{
	local agent=$1 base script name
	for script in careless careful; do
		base=$work/runs/$agent-$script-vanilla
		tap_is "$(made "$agent" $script vanilla --mode vanilla)" "exited 0 resolved" "$agent, $script: vanilla"
		tap_ok $((! ($(run_field "$base/run.json" touches) > 0))) "$agent, $script: the region is watched in vanilla"
		name=edit+message
		if [ $script = careless ]; then
			tap_is "$(made "$agent" $script $name --mode $name --pair "$base")" "exited 1 unresolved" \
				"$agent, $script: Counter-Edit"
			tap_is "$(made "$agent" $script edit --mode edit --pair "$base")" "exited 1 unresolved" \
				"$agent, $script: the edit without words"
			tap_is "$(made "$agent" $script message --mode message --pair "$base")" "exited 1 resolved" \
				"$agent, $script: words without the edit"
			tap_is "$(differ "$base" "$work/runs/$agent-$script-message")" \
				"scenario.mode condition.mode condition.k" "$agent, $script: message differs in the condition alone"
		else
			tap_is "$(made "$agent" $script $name --mode $name --rounds 1 --pair "$base")" "exited 1 resolved" \
				"$agent, $script: Counter-Edit"
			tap_is "$(made "$agent" $script k3 --mode $name --rounds 3 --repeat 2 --pair "$base")" "exited 3 resolved" \
				"$agent, $script: K=3"
			tap_is "$(differ "$base" "$work/runs/$agent-$script-k3")" \
				"scenario.mode scenario.max_rounds condition.mode condition.k condition.repeat" \
				"$agent, $script: K=3 differs in the condition alone"
		fi
		name=$work/runs/$agent-$script-$name
		tap_is "$(differ "$base" "$name")" "scenario.mode condition.mode condition.k" \
			"$agent, $script: the plans differ in the condition alone"
		tap_is "$(run_field "$name/run.json" pair_digest)" "$(run_field "$base/run.json" pair_digest)" \
			"$agent, $script: and have one pair digest"
		tap_is "$(run_field "$name/run.json" condition)" '{"mode": "edit+message", "k": 1}' "$agent, $script: the condition"
		tap_ok $(($(grep -c "$marker" "$name/model.jsonl") == 0)) "$agent, $script: the message reached the model"
	done
	# Another script is another agent: no pair.
	proctor run -q --task "$task/task.json" --agent "$agent" --model "script:$work/careless.json" --no-tty \
		--out "$work/runs/$agent-none" --pair "$work/runs/$agent-careful-vanilla" </dev/null >out.txt 2>err.txt
	tap_is "$?" 3 "$agent: what is no pair is refused"
	tap_like "$(cat err.txt)" "differ in model.sha256" "$agent: the field is named"
	tap_ok $(($([ -e "$work/runs/$agent-none" ]; echo $?) == 0)) "$agent: nothing was started"
}

for agent in "$@"; do
	need_agent "$agent" && one "$agent"
done
tap_done
