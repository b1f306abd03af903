#!/usr/bin/env bash
# The shipped agent on a real task: its four tools do what the script says and are seen as what they are, the same
# answers give the same requests byte for byte, it runs where there is nothing but itself, and it ends in order
# when the model fails.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
cp -r "$top/examples/calc" calc

cat >script.json <<'SCRIPT'
{ "schema": "proctor.script/1",
  "usage": { "input": 1000, "output": 50 },
  "turns": [
    { "expect": { "contains": ["duration_parse() promises"], "tools_offered": ["shell", "read", "edit", "write"] },
      "text": "I look at the place.",
      "tools": [ { "read": { "path": "src/duration.c", "first": 30, "last": 75 } } ] },
    { "expect": { "last_contains": ["*total += n * seconds;"] },
      "tools": [ { "edit": { "path": "src/duration.c",
        "old": "\t*total += n * seconds;",
        "new": "\tif (n > DURATION_MAX / seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n\t*total += n * seconds;" } } ] },
    { "expect": { "last_contains": ["edited"] },
      "tools": [ { "write": { "path": "notes/done.txt", "content": "mended\n" } },
                 { "shell": "sed -i 's|^\\t\\tn = n \\* 10 + |\\t\\tif (n > DURATION_MAX)\\n\\t\\t\\treturn -1;\\n&|' src/duration.c; cat notes/done.txt; exit 3" } ] },
    { "expect": { "contains": ["wrote 7 bytes"], "last_contains": ["mended", "[exit status 3]"] },
      "tools": [ { "edit": { "path": "src/duration.c", "old": "no such text", "new": "x" } } ] },
    { "expect": { "last_contains": ["does not stand in it"] },
      "tools": [ { "shell": "make -s test 2>&1 | tail -n 3; mv test_duration /tmp/" } ] },
    { "text": "Mended." }
  ] }
SCRIPT

# go MODEL DIR [ARGUMENT...]
go()
{
	local model=$1 dir=$2
	shift 2
	timeout 200 "$PROCTOR" run -q --no-tty --agent actor --model "$model" --out "$dir" "$@" </dev/null >out.txt 2>err.txt
}

go script:script.json one --task calc/task.json --set watch=workspace
tap_is $? 0 "the run is made" || sed 's/^/# /' err.txt
tap_is "$(run_field one/run.json end.status)" 0 "the agent ends well" || sed 's/^/# /' one/stderr.log
tap_is "$(run_field one/run.json model.unmet)" '[]' "every result is what the script expects"
tap_is "$(cat one/stdout.log)" "$(printf 'I look at the place.\nMended.')" "what the model says is printed"
tap_is "$(run_count one tool)" 6 "six tool calls"
tap_is "$(run_count one tool tool=read)$(run_count one tool tool=edit)$(run_count one tool tool=write)$(run_count one tool tool=shell)" \
	1212 "by their names"
tap_is "$(run_field one/run.json commands)" 2 "two of them are commands, the others the agent's own doing"
tap_is "$(python3 - <<'PYTHON'
import json
found = set()
for line in open("one/trace.jsonl"):
    rec = json.loads(line)
    if rec.get("k") in ("read", "edit") and str(rec.get("path", "")).endswith(("duration.c", "done.txt")):
        found.add((rec["k"], rec["path"].split("/")[-1], "own" if not rec.get("cmd") else "command"))
print(sorted(found & {("edit", "duration.c", "own"), ("edit", "duration.c", "command"), ("read", "duration.c", "own"),
                      ("edit", "done.txt", "own")}))
PYTHON
)" "[('edit', 'done.txt', 'own'), ('edit', 'duration.c', 'command'), ('edit', 'duration.c', 'own'), ('read', 'duration.c', 'own')]" \
	"reads and edits are put down to the agent or to its command"
proctor grade --run one </dev/null >out.txt 2>&1
tap_like "$(cat out.txt)" ': resolved' "the patch is resolved" || sed 's/^/# /' out.txt

# requests DIR: what the agent sent, digests step by step.
requests()
{
	python3 - "$1" <<'PYTHON'
import json, sys
print([(one["call"], one["request"], one["workspace"]) for one in map(json.loads, open(sys.argv[1] + "/steps.jsonl"))])
PYTHON
}
go script:script.json two --task calc/task.json --set watch=workspace
tap_is "$(requests two)" "$(requests one)" "the same answers: the same requests, the same workspace"
tap_is "$(python3 -c 'import json; print(len([1 for _ in open("one/steps.jsonl")]))')" 6 "six requests"

# Nothing but the agent: no libraries, no shell.
mkdir -p bare/{proc,sys,dev,tmp,run,home,opt,workspace} source
echo hello >source/a.txt
cat >bare.json <<EOF_TASK
{ "schema": "proctor.task/1", "instance_id": "bare", "problem_statement": "Look.", "source": "$work/source",
  "environment": { "rootfs": "dir:$work/bare" } }
EOF_TASK
cat >look.json <<'SCRIPT'
{ "schema": "proctor.script/1", "turns": [
    { "tools": [ { "read": { "path": "a.txt" } } ] },
    { "expect": { "last_contains": ["hello"] }, "tools": [ { "shell": "true" } ] },
    { "expect": { "last_contains": ["[exit status 127]"] }, "tools": [ { "edit": { "path": "a.txt", "old": "hello", "new": "there" } } ] },
    { "text": "Seen." } ] }
SCRIPT
go script:look.json bare-run --task bare.json
tap_is $? 0 "a root file system without anything" || sed 's/^/# /' err.txt
tap_is "$(run_field bare-run/run.json model.unmet)" '[]' "it reads, edits, and says that there is no shell" ||
	sed 's/^/# /' bare-run/stderr.log
tap_like "$(cat bare-run/patch.diff)" '\+there' "what it edited is in the patch"

# A model that cannot be asked.
cat >broken.json <<'SCRIPT'
{ "schema": "proctor.script/1", "turns": [ { "fault": { "status": 400, "message": "no more credit" } } ] }
SCRIPT
go script:broken.json broken --task calc/task.json
tap_is $? 0 "a model that refuses: the run is made"
tap_is "$(run_field broken/run.json end.status)" 1 "the agent ends with an error"
tap_like "$(cat broken/stderr.log)" '^actor: .*status 400.*no more credit' "it says why"
tap_done
