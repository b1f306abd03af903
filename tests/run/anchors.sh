#!/usr/bin/env bash
# Points that a run passes by itself: what waits for them is done there and once, for a plain program and for an agent with
# a model; chains of interventions with delays.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo/tests
printf 'one\ntwo\n' >task/repo/a.txt
printf 'keep\n' >task/repo/b.txt
printf 'out: a.txt\n\tcp a.txt out\n' >task/repo/Makefile
printf 'out\n__pycache__\n' >task/repo/.gitignore
: >task/repo/tests/__init__.py
cat >task/repo/tests/test_a.py <<'END'
import os, unittest
class A(unittest.TestCase):
    def test_marks(self):
        print("in test:", *sorted(os.listdir("/home/agent/marks")))
    def test_user(self):
        self.assertIn("more", open("a.txt").read())
END
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "an-1", "problem_statement": "Add a line.", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
python3 - <<'PYTHON'
import json
names = ["start", "before-first-edit", "after-first-edit", "before-first-test", "after-first-pass", "before-submit"]
def write(name, list, **more):
    json.dump({"schema": "proctor.scenario/1", "id": "an", "interventions": [dict(order=i + 1, **one) for i, one in enumerate(list)],
               **more}, open("task/%s.json" % name, "w"), indent=1)
def at(anchor, *effects, **when):
    return {"when": {"event": "anchor", "anchor": anchor, **when}, "effects": list(effects)}
def mark(name):
    return {"place": {"path": "/home/agent/marks/" + name, "text": "x"}}
write("plain", [at(n, mark(n), *([{"place": {"path": "a.txt", "replace": [["two", "two\nby the user"]]}}] if n == "before-first-edit" else []))
                for n in names[:5]])
write("model", [at(n, mark(n), *([{"message": {"text": "Welcome."}}] if n == "start" else []),
                   *([{"place": {"path": "late.txt", "text": "at the end\n"}}] if n == "before-submit" else [])) for n in names])
write("chain", [at("start", mark("first")),
                {"when": {"event": "exec", "program": "true"}, "effects": [mark("second")]},
                {"when": {"event": "after", "all_after": [1, 2], "delay": "200ms"}, "timing": "at-touch", "effects": [mark("third")]},
                {"when": {"event": "exec", "program": "true", "all_after": [3]}, "effects": [mark("fourth")]}])
for n in names + ["fork", "elsewhere"]:
    write(n, [at(n, mark("x"))])
PYTHON

# Tests and builds before the first edit; a test that passes before it, one that fails behind it.
cat >agent.sh <<'END'
m() { echo "$1:" $(/bin/ls ~/marks); }
m begin
make -s out
python3 -m unittest -q tests.test_a.A.test_marks 2>/dev/null
m built
/bin/sed -i s/xx/yy/ b.txt
m edited
echo more >>a.txt
m again
python3 -m unittest -q tests.test_a.A.test_nothing 2>/dev/null
m failed
sh -c 'python3 -m unittest -q tests.test_a.A.test_user' 2>/dev/null
m passed
cat a.txt
END
proctor run -q --no-tty --task task/task.json --scenario task/plain.json --set watch=workspace --out plain \
	-- sh -c "$(cat agent.sh)" </dev/null >out.txt 2>err.txt
tap_is $? 0 "a plain program: the run is made" || sed 's/^/# /' err.txt
tap_is "$(cat out.txt)" "begin: start
in test: before-first-test start
built: before-first-test start
edited: after-first-edit before-first-edit before-first-test start
again: after-first-edit before-first-edit before-first-test start
failed: after-first-edit before-first-edit before-first-test start
passed: after-first-edit after-first-pass before-first-edit before-first-test start
one
two
by the user
more" "each point is passed where it should be" || sed 's/^/# /' err.txt
tap_is "$(wc -l <plain/interventions.jsonl)" 6 "once each"
tap_is "$(python3 - <<'PYTHON'
import json
edits = [one for one in map(json.loads, open("plain/trace.jsonl")) if one.get("k") == "edit"]
print([one["by"] for one in edits[:2]], edits[0]["path"])
PYTHON
)" "['user', 'agent'] a.txt" "the user's edit comes before the agent's first"

cat >script.json <<'END'
{ "schema": "proctor.script/1", "turns": [
    { "expect": { "contains": ["Welcome."] }, "tools": [ { "read": { "path": "a.txt" } } ] },
    { "tools": [ { "edit": { "path": "a.txt", "old": "two", "new": "two more" } } ] },
    { "tools": [ { "shell": "ls ~/marks" } ] },
    { "expect": { "last_contains": ["after-first-edit\nbefore-first-edit\nstart"] },
      "tools": [ { "shell": "python3 -m unittest -q tests.test_a.A.test_user; ls ~/marks" } ] },
    { "expect": { "last_contains": ["after-first-edit\nbefore-first-edit\nbefore-first-test\nstart"] },
      "tools": [ { "shell": "ls ~/marks" } ] },
    { "expect": { "last_contains": ["after-first-edit\nafter-first-pass\nbefore-first-edit\nbefore-first-test\nstart"] },
      "text": "Done." } ] }
END
proctor run -q --no-tty --task task/task.json --agent actor --model script:script.json --scenario task/model.json \
	--set watch=workspace --out model </dev/null >out.txt 2>err.txt
tap_is $? 0 "an agent with a model: the run is made" || sed 's/^/# /' err.txt
tap_is "$(run_field model/run.json model.unmet)" '[]' "each point is passed where it should be"
tap_is "$(python3 - <<'PYTHON'
import json
print([(one["order"], one["effect"]) for one in map(json.loads, open("model/interventions.jsonl")) if one["applied"]])
PYTHON
)" "[(1, 'place'), (1, 'message'), (2, 'place'), (3, 'place'), (4, 'place'), (5, 'place'), (6, 'place'), (6, 'place')]" "all six, in order"
tap_is "$(python3 - <<'PYTHON'
import json
trace = list(map(json.loads, open("model/trace.jsonl")))
fired = {one["order"]: one["at_n"] for one in map(json.loads, open("model/interventions.jsonl"))}
first = [one["n"] for one in trace if one.get("k") == "edit" and one.get("by") == "agent"][0]
asked = [one["n"] for one in trace if one.get("k") == "tool" and one.get("does") == "edit"][0]
last = [one["n"] for one in trace if one.get("k") == "model"][-1]
print(asked < fired[2] < first < fired[3], last < fired[6])
PYTHON
)" "True True" "before the edit is behind the answer that asks for it; before the end behind the last answer"
tap_like "$(grep -A1 '^+++ b/late' model/patch.diff)" 'late' "what comes at the end is in the workspace"

# Delays: the third comes by the clock, at least so long after the second, and the fourth only behind it.
# shellcheck disable=SC2016
proctor run -q --no-tty --task task/task.json --scenario task/chain.json --out chain -- sh -c '/bin/true; /bin/true
	for i in $(seq 600); do [ -e ~/marks/third ] && break; /bin/sleep 0.05; done; echo $(/bin/ls ~/marks); /bin/true; echo $(/bin/ls ~/marks)' \
	</dev/null >out.txt 2>err.txt
tap_is $? 0 "a chain: the run is made" || sed 's/^/# /' err.txt
tap_is "$(cat out.txt)" "first second third
first fourth second third" "each behind those it waits for" || sed 's/^/# /' chain/interventions.jsonl
tap_is "$(python3 - <<'PYTHON'
import json
at = {one["order"]: one["at_n"] for one in map(json.loads, open("chain/interventions.jsonl"))}
trace = {one["n"]: one["t"] for one in map(json.loads, open("chain/trace.jsonl")) if "n" in one}
time = {order: trace[n] for order, n in at.items()}
print(time[3] - time[2] >= 200e6)
PYTHON
)" True "not before its delay"

# refused REGEX NAME [ARGUMENT...]
refused()
{
	local regex=$1 name=$2
	shift 2
	proctor run -q --no-tty --task task/task.json --out refused "$@" </dev/null >out.txt 2>err.txt
	tap_is $? 3 "$name: refused"
	tap_like "$(cat err.txt)" "$regex" "$name: says why"
	rm -rf refused
}
refused 'watch=workspace' "edits that nobody follows" --scenario task/before-first-edit.json -- true
refused 'watch=workspace' "a pass that hangs on an edit" --scenario task/after-first-pass.json -- true
refused 'api' "an answer of no model" --scenario task/before-submit.json -- true
refused 'api' "a record of no model" --scenario task/fork.json -- true
refused 'no anchor "elsewhere"' "no such point" --scenario task/elsewhere.json -- true
tap_done
