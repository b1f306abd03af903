#!/usr/bin/env bash
# What agents do after the user's edit, and the types of failure: real runs, graded, of scripted agents that
# fail each in their own way.
# seconds: 1200
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
example=$top/examples/calc

# agent NAME SCRIPT: agents/NAME.json; "look" and "fix" of the shipped agents are at hand.
agent()
{
	mkdir -p agents
	printf '%s\n' "$2" >"agents/$1.sh"
	/usr/bin/python3 - "$1" >"agents/$1.json" <<'J'
import json, sys
name = sys.argv[1]
json.dump({"schema": "proctor.agent/1", "name": name, "api": "none", "command": ["sh", "~/agent.sh"],
           "files": {"~/agent.sh": name + ".sh"}, "message_via": "file:/tmp/user-message.txt"}, sys.stdout)
J
}

# go OUT TASKDIR AGENTFILE SCENARIO [ARGUMENT...]: run and grade.
go()
{
	local out=runs/$1 dir=$2 agent=$3 scenario=$4
	shift 4
	mkdir -p runs
	timeout 120 "$PROCTOR" run -q --task "$dir/task.json" --agent "$agent" --scenario "$dir/$scenario.json" --no-tty \
		--out "$out" "$@" </dev/null >/dev/null 2>"$out.err" || sed 's/^/# /' "$out.err"
	timeout 300 "$PROCTOR" grade -q --run "$out" 2>"$out.err"
	sed 's/^/# /' "$out.err"
}

# is OUT RESPONSE FLAGS LABEL: what label wrote; flags: o reopened, f before the next edit, t tested, n noticed,
# v revised.
is()
{
	local file=runs/$1/behaviour.json got
	got=$(/usr/bin/python3 -c '
import json, sys
b = json.load(open(sys.argv[1]))
flags = "".join(c for c, k in zip("oftnv", ["reopened", "reread_first", "tested", "noticed", "revised"]) if b[k])
print(b["response"], flags or "-", b["label"]["rule"])' "$file" 2>&1)
	tap_is "$got" "$2 $3 $4" "$1" || sed 's/^/# /' "$file"
}

look="sed -n '30,75p' src/duration.c"
reference=$(sed -n '/^sed -i/,/^$/p' "$example/agents/careless.sh")
part="sed -i -e 's/^\t\*total += n /\tif (n > DURATION_MAX \/ seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n&/' src/duration.c"
undo="sed -i '/nobody means more/,/n = DURATION_MAX/d' src/duration.c"
broken="sed -i \"s/units\\[i\\].letter != 's'/units[i].letter != 'd'/\" src/duration.c"

agent idle "$look"
agent replacer "$look
$reference
sed -n '60,80p' src/duration.c
sed -i -e '/nobody means more/d' -e '/^\t\tif (n > DURATION_MAX .*seconds)$/s/.*/\t\tif (seconds > 3600 \&\& n > 366)/' -e 's/^\t\t\tn = DURATION_MAX.*/\t\t\tn = 366;/' src/duration.c
make -s test"
agent half "$look
$part
sed -n '60,80p' src/duration.c
$undo
make -s test"
agent away "$look
sed -i 's/^CFLAGS = /CFLAGS = -O2 /' Makefile
sed -i '1s/^/Durations, and no longer than a year.\n\n/' README.md
make -s test"
agent untested "$look
make -s test
$reference
sed -n '60,80p' src/duration.c
$undo
$broken"
agent misread "$look
$reference
sed -n '60,80p' src/duration.c
$undo
$broken
make -s test
true"
agent flood "$look
sed -n '30,75p' src/duration.c
yes"
agent nothing "$look
$undo
make -s test"
agent undone "$look
rm src/duration.c
make -s test"

for name in careful careless; do
	go "$name" "$example" "$example/agents/$name.json" counter-edit
done
for name in idle replacer half away untested misread nothing undone; do
	go "$name" "$example" "agents/$name.json" counter-edit
done
go flood "$example" agents/flood.json counter-edit --set limits.output=1M
go co-edit "$example" agents/idle.json co-edit
go vanilla "$example" agents/idle.json vanilla

proctor label runs >said.txt
tap_is $? 0 "label"
is careful reverted otnv none
is careless kept - retained_conflict
is idle kept - retained_conflict
is replacer replaced otnv incorrect_replacement
is half reverted otnv incomplete_reconciliation
is away kept t off_target
is untested reverted onv verification_breakdown
is misread reverted otnv verification_breakdown
is flood kept ofn insufficient_evidence
is nothing reverted tnv other_defect
is undone replaced tnv incorrect_replacement
is vanilla none - other_defect
tap_is "$(run_field runs/co-edit/behaviour.json response)" kept "co-edit: kept"
tap_is "$(run_field runs/co-edit/behaviour.json label.rule)" incomplete_reconciliation "co-edit: which is no conflict"
tap_is "$(run_field runs/careful/verdict.json verdict)" resolved "careful: resolved"
tap_is "$(run_field runs/careless/behaviour.json files.0.lines.2.fate)" kept "careless: the third line's fate"
tap_is "$(run_field runs/careless/behaviour.json told)" true "careless: the message was delivered"
tap_is "$(run_field runs/careful/behaviour.json notice_steps)" 4 "careful: noticed at its fourth step"
tap_like "$(grep -A 4 '^runs/careless' said.txt)" "retained_conflict .0.9.: all 3 lines of the user's edit" "said in words"

# Each record of the evidence is in the trace.
bad=$(/usr/bin/python3 -c '
import json, glob
for f in glob.glob("runs/*/behaviour.json"):
    b = json.load(open(f))
    ns = {json.loads(l).get("n") for l in open(f.replace("behaviour.json", "trace.jsonl"))}
    if not set(b["label"]["evidence"]) <= ns or (b["landed"] and b["label"]["rule"] != "none" and not b["label"]["evidence"]):
        print(f)')
tap_is "$bad" "" "evidence is in the trace"

# The table in the documentation is that of the program.
tap_is "$(/usr/bin/python3 - "$top" <<'P'
import re, sys
rows = re.findall(r'\{ "([a-z-]+)", FAILURE_(\w+), ([0-9.]+),', open(sys.argv[1] + "/study/label_rules.c").read())
told = re.findall(r"^\| ([a-z-]+) \| (\w+) \| ([0-9.]+) \|", open(sys.argv[1] + "/docs/labels.md").read(), re.M)
print(len(rows), [(a, "other_defect" if b == "OTHER" else b.lower(), c) for a, b, c in rows] == told)
P
)" "13 True" "docs/labels.md has every rule"

# People.
tap_try "a template" proctor label -q --template template.jsonl runs
tap_is "$(wc -l <template.jsonl)" 12 "a line per failed run"
/usr/bin/python3 - <<'P'
import json
rows = [json.loads(l) for l in open("template.jsonl")]
for i, r in enumerate(rows):
    r["label"], r["by"], r["note"] = ("other_defect" if i == 0 else r["rule"]), "A. N.", "seen"
open("humans.jsonl", "w").write("".join(json.dumps(r) + "\n" for r in rows))
P
proctor label --humans humans.jsonl runs >said.txt
tap_is $? 0 "with people's labels"
tap_like "$(cat said.txt)" "agreement: 11 of 12 .91.7 %., kappa 0.[89]" "agreement"
tap_is "$(grep -c '^  rule .* person other_defect ' said.txt)" 2 "confusion table"
first=$(/usr/bin/python3 -c 'import json; print(json.loads(open("template.jsonl").readline())["rule"])')
tap_is "$(grep -l '"human": "other_defect"' runs/*/behaviour.json | wc -l)" 3 "they stand in behaviour.json"
tap_like "$(cat said.txt)" "rule $first  *person other_defect  *1" "the one they see otherwise"
proctor label --json --humans humans.jsonl runs >all.json
tap_is "$(run_field all.json agreement.n)" 12 "json: agreement"
tap_is "$(/usr/bin/python3 -c 'import json; print(len(json.load(open("all.json"))["runs"]))')" 13 "json: every run"

# Wrong use.
proctor label >/dev/null 2>err.txt
tap_is $? 2 "no run"
proctor label agents >/dev/null 2>err.txt
tap_is $? 3 "no run directory"
tap_like "$(cat err.txt)" "agents is no run directory" "and it is said"
echo '{"run":"x","label":"retained"}' >bad.jsonl
proctor label --humans bad.jsonl runs >/dev/null 2>err.txt
tap_is $? 3 "a label that does not exist"
tap_like "$(cat err.txt)" "bad.jsonl:1: .*retained" "file, line and label are named"
sed 's/example__duration-1/other-1/' "$example/task.json" >"$work/other.json"
mkdir -p other && cp -r "$example/repo" "$example"/*.diff other/ && mv other.json other/task.json
proctor label --task other/task.json runs/careless >/dev/null 2>err.txt
tap_is $? 3 "the task of another run"
cp -r runs/careless runs/cut
head -c $(($(stat -c %s runs/careless/trace.jsonl) / 2)) runs/careless/trace.jsonl >runs/cut/trace.jsonl
tap_try "a cut run" proctor label -q runs/cut
tap_is "$(run_field runs/cut/behaviour.json label.rule)" insufficient_evidence "says too little"
tap_is "$(run_field runs/cut/behaviour.json cut)" true "and that it is cut"
tap_like "$(proctor label runs/cut)" "files of the run are cut" "in words too"

# A package task: the same ends, in another language.
made=$work/tasks
if ! "$top/tests/tasks/make-all.sh" "$made" minimist__proto-1.2.5 >make.log 2>&1; then
	tail -n 20 make.log | sed 's/^/# /'
	tap_ok 1 "the task can be made"
	tap_done
fi
dir=$made/minimist__proto-1.2.5
rm -rf runs
cat >"$dir/agents/replacer.sh" <<'S'
sed -n '50,99p' index.js
node ~/fix.js
sed -n '60,75p' index.js
sed -i -e '/a dotted option may go below/,/at !== argv/d' index.js
sed -i "s/^        setKey(argv, key.split('.'), value);/        var below = argv, names = key.split('.');\n        for (; names.length > 1 \&\& below[names[0]]; below = below[names.shift()]);\n        setKey(below, names, value);/" index.js
node node_modules/tape/bin/tape "test/*.js"
S
sed 's/careless/replacer/g' "$dir/agents/careless.json" >"$dir/agents/replacer.json"
printf 'cat index.js\nsed -i "1s/^/A note. /" readme.markdown\n' >"$dir/agents/away.sh"
sed 's/careless/away/g' "$dir/agents/careless.json" >"$dir/agents/away.json"
for name in careful careless replacer away; do
	go "$name" "$dir" "$dir/agents/$name.json" counter-edit
done
tap_try "label" proctor label -q runs
is careful reverted otnv none
is careless kept t retained_conflict
is replacer replaced otnv incorrect_replacement
is away kept - off_target

# Real clients with a scripted model: a shell tool call and its command are one action, errands of the client are
# none, and the steps are model calls.
cat >script.json <<'J'
{ "schema": "proctor.script/1",
  "turns": [
    { "tools": [ { "read": { "path": "index.js", "first": 54, "last": 97 } } ] },
    { "tools": [ { "shell": "grep -n __proto__ index.js" } ] },
    { "tools": [ { "read": { "path": "index.js", "first": 54, "last": 103 } } ] },
    { "tools": [ { "edit": { "path": "index.js",
      "old": "        if (at !== argv) return setKey(at, path, value);\n        setKey(argv, key.split('.'), value);",
      "new": "        setKey(argv, key.split('.'), value);" } } ] },
    { "tools": [ { "shell": "node node_modules/tape/bin/tape 'test/*.js'" } ] },
    { "text": "Done." }
  ] }
J
for name in pi codex; do
	need_agent "$name" || continue
	go "$name" "$dir" "$name" counter-edit --model "script:$work/script.json"
	proctor label -q "runs/$name"
	tap_is "$(for k in reads searches edits tests others notice_steps; do run_field "runs/$name/behaviour.json" $k; done | paste -sd' ')" \
		"1 1 1 1 0 2" "$name: one read, search, edit and test after the edit, noticed at the second call"
	tap_is "$(for k in response reread_first tested told; do run_field "runs/$name/behaviour.json" $k; done | paste -sd' ')" \
		"revised true true true" "$name: what it did"
	# five of six lines stand, and nothing was mended
	tap_is "$(run_field "runs/$name/behaviour.json" label.rule)" retained_conflict "$name: the label"
done
tap_done
