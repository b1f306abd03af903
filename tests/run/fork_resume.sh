#!/usr/bin/env bash
# Agents take up sessions of their own: five positions of one record, both arms; the files of the step are there, the
# first request goes on with the recorded conversation and is the same in both arms; a snapshot that was changed, a
# session that was changed, a live process and an agent that cannot are named.
# usage: fork_resume.sh [AGENT...]; without names the one that ./check runs
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi
cp -r "$top/examples/calc" calc

python3 - <<'PYTHON'
import json, re
text = re.sub(r"(?m)^\s*//.*$", "", open("calc/counter-edit.json").read())
scenario = json.loads(text)
scenario.update(id="at-fork", family="F03", max_rounds=1)
scenario["interventions"][0]["when"] = {"event": "anchor", "anchor": "fork"}
json.dump(scenario, open("calc/at-fork.json", "w"))

def turn(*tools, text=None, **more):
    return dict({"text": text} if text else {}, tools=list(tools), **more) if tools else dict(text=text, **more)

def script(name, *turns):
    json.dump({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": list(turns)},
              open(name, "w"))

def shell(command):
    return {"shell": command}

look = turn({"read": {"path": "src/duration.c", "first": 30, "last": 75}}, text="I look at the place.")
# Kinds of files in the workspace, in HOME and elsewhere; a directory made anew; a commit; a date that no
# second run could print again.
script("record.json", look,
    turn(shell("date +%s.%N >stamp.txt; cat stamp.txt; mkdir -p made/in; echo x >made/in/x; ln -s x made/in/l; mkfifo -m 600 made/p; rm README.md")),
    turn(shell("cat /proc/uptime; echo t >/tmp/t; echo h >~/h; chmod 640 made/in/x; touch -d @1500000000 made/in/x")),
    turn(shell("git add made; git -c user.name=a -c user.email=a@b commit -qm half; rm -r tests; mkdir tests; echo only >tests/only")),
    turn({"edit": {"path": "src/duration.c", "old": "\t*total += n * seconds;",
        "new": "\tif (n > DURATION_MAX / seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n\t*total += n * seconds;"}}),
    turn(shell("git status --short; git log --oneline | wc -l")),
    turn(text="Mended."))
# What the agent finds behind each position tells what was restored.
script("go-on.json", turn(shell("ls -A . made/in tests /tmp ~ 2>/dev/null; cat stamp.txt made/in/l /tmp/t ~/h 2>/dev/null; "
    "git log --oneline | wc -l; find made -printf '%p %y %m %Ts\\n' 2>/dev/null | grep -w -e x -e p; grep -c 'n > DURATION_MAX' src/duration.c; true")),
    turn(text="Finished."))
# The agent finds its own former words and results in its session.
script("remembers.json", turn(shell("true")), turn(text="Done.", expect={"contains": ["DURATION_MAX", "Go on with the task."]}))
script("nothing.json", turn(text="Done."))
script("server.json", look, turn(shell("(setsid sleep 654 >/dev/null 2>&1 &) ; true")), look, turn(text="Done."))
PYTHON

# record AGENT SCRIPT DIR [ARGUMENT...]
record()
{
	local agent=$1 script=$2 dir=$3
	shift 3
	timeout 200 "$PROCTOR" run -q --no-tty --task calc/task.json --agent "$agent" --scenario calc/at-fork.json \
		--set checkpoints=requests --model "script:$script" --out "$dir" "$@" </dev/null >out.txt 2>err.txt
}

# go STATUS NAME ARGUMENT...: fork with resume, and the status it must have.
go()
{
	local status=$1 name=$2
	shift 2
	timeout 600 "$PROCTOR" fork --resume native "$@" </dev/null >fork.txt 2>err.txt
	tap_is $? "$status" "$name" || sed 's/^/# /' fork.txt err.txt
}

# first DIR: digest of the first main request of an arm, and of the workspace there.
first()
{
	python3 -c 'import json, sys
step = json.loads(open(sys.argv[1] + "/steps.jsonl").readline())
print(step["request"], step["workspace"])' "$1"
}

# step RECORD CALL: digest of the workspace at that request of the record.
step()
{
	python3 -c 'import json, sys
print(next(s["workspace"] for s in map(json.loads, open(sys.argv[1] + "/steps.jsonl")) if s["call"] == int(sys.argv[2])))' "$1" "$2"
}

# said DIR: the last result that the agent had, as its canonical request tells it; random parts are left out there.
said()
{
	python3 - "$1" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/model.jsonl")]
main = [one for one in lines if one["purpose"] == "main" and one["source"] != "gateway"]
print(main[-1]["request"].replace("\\\\n", "\n").replace("\\n", "\n"))
PYTHON
}

five()
{
	local agent=$1 dir=$1/five p arm call
	go 0 "$agent: five positions, all pairs valid" "$agent/record" --at 0.2,0.4,0.6,0.8,before-submit \
		--model script:go-on.json --no-grade --out "$dir"
	tap_is "$(run_field "$dir/fork.json" valid)" 5 "$agent: five valid pairs"
	tap_is "$(run_field "$dir/fork.json" tokens.prefix_paid)" 0 "$agent: no token of a prefix is paid"
	for p in 0.2 0.4 0.6 0.8 before-submit; do
		call=$(run_field "$dir/$p/pair.json" position.call)
		tap_is "$(run_field "$dir/$p/pair.json" prefix)" resumed "$agent $p: the pair says how"
		tap_is "$(first "$dir/$p/clean")" "$(first "$dir/$p/shifted")" "$agent $p: both arms begin with the same request and files"
		for arm in clean shifted; do
			tap_is "$(run_field "$dir/$p/$arm/run.json" fork.prefix.by)" resumed "$agent $p $arm: the run says how"
			tap_is "$(run_field "$dir/$p/$arm/run.json" fork.differs)" null "$agent $p $arm: nothing differs"
			tap_is "$(first "$dir/$p/$arm" | cut -d ' ' -f 2)" "$(step "$agent/record" $((call + 1)))" \
				"$agent $p $arm: the workspace is that of the step"
			tap_is "$(run_field "$dir/$p/$arm/run.json" fork.continuation.total_tokens)" 2100 \
				"$agent $p $arm: two answers were paid"
		done
		tap_is "$(run_field "$dir/$p/shifted/run.json" interventions.fired)" 1 "$agent $p: the update came"
		tap_is "$(run_field "$dir/$p/clean/run.json" interventions.fired)" 0 "$agent $p: and not in the clean arm"
		tap_is "$(python3 - "$dir/$p/shifted" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/model.jsonl")]
print([len(one["placed"]) for one in lines if one["purpose"] == "main" and one["source"] != "gateway"])
PYTHON
)" "[1, 1]" "$agent $p: its message stands in the first request"
	done
}

# What each step had is there again, and what came later is not.
files()
{
	local agent=$1 dir=$1/five/before-submit/clean
	tap_like "$(said "$dir")" "made/in/x f 640 1500000000" "$agent: mode and time of a file"
	tap_like "$(said "$dir")" "made/p p 600" "$agent: a pipe"
	tap_like "$(said "$dir")" "$(cat "$agent/stamp")" "$agent: contents that no second run would make"
	tap_like "$(said "$dir")" '
only
' "$agent: a directory that was made anew holds what it held"
	tap_like "$(said "$dir")" '
t
h
2
' "$agent: files of /tmp and HOME, and the commit"
	tap_ok "$(cmp -s "$dir/patch.diff" "$agent/record/patch.diff"; echo $?)" "$agent: the patch is that of the whole work"
	tap_is "$(said "$agent/five/0.2/clean" | grep -c 'made/in/x f 640')" 0 "$agent: an earlier step lacks what came later"
}

# The store of the record: one byte of a file, and of the session.
changed()
{
	local agent=$1 which
	cp -r "$agent/record" "$agent/other"
	which=$(python3 - "$agent/other" stamp.txt <<'PYTHON'
import json, sys
for line in open(sys.argv[1] + "/checkpoints.jsonl"):
    for one in json.loads(line)["changed"]:
        if one["path"] == sys.argv[2]:
            digest = one["sha256"]
print(sys.argv[1] + "/checkpoints/" + digest[:2] + "/" + digest[2:])
PYTHON
)
	cp "$which" kept
	sed 's/\./,/' kept >"$which"
	go 1 "$agent: a changed file of the snapshot" "$agent/other" --at 0.8 --model script:nothing.json --no-grade --out "$agent/c"
	tap_is "$(run_field "$agent/c/pair.json" reason)" run "$agent: the pair is invalid"
	tap_like "$(run_field "$agent/c/pair.json" detail)" 'contents of stamp.txt were changed since: recorded [0-9a-f]{12}, now' \
		"$agent: the file is named"
	tap_is "$(run_field "$agent/c/pair.json" tokens.continuations)" 0 "$agent: nothing was asked"
	cp kept "$which"
	# A session that tells another story, with a digest that fits it.
	python3 - "$agent/other" <<'PYTHON'
import hashlib, json, os, sys
base = sys.argv[1]
lines = [json.loads(line) for line in open(base + "/checkpoints.jsonl")]
for line in lines:
    for one in line["changed"]:
        if one["area"] != "box" or not one["path"].endswith(".jsonl") or one["kind"] != "f":
            continue
        data = open(base + "/checkpoints/" + one["sha256"][:2] + "/" + one["sha256"][2:], "rb").read()
        data = data.replace(b"read_number", b"read_nimber")
        digest = hashlib.sha256(data).hexdigest()
        os.makedirs(base + "/checkpoints/" + digest[:2], exist_ok=True)
        open(base + "/checkpoints/" + digest[:2] + "/" + digest[2:], "wb").write(data)
        one.update(sha256=digest, size=len(data))
open(base + "/checkpoints.jsonl", "w").write("".join(json.dumps(line) + "\n" for line in lines))
PYTHON
	go 1 "$agent: a changed session" "$agent/other" --at 0.8 --model script:nothing.json --no-grade --out "$agent/s"
	tap_is "$(run_field "$agent/s/pair.json" reason)" prefix "$agent: another conversation is invalid for its prefix"
	tap_like "$(run_field "$agent/s/pair.json" first_difference)" 'entry [0-9]+.*read_number.*read_nimber' "$agent: the entry is named"
	tap_is "$(run_field "$agent/s/pair.json" tokens.continuations)" 0 "$agent: another conversation costs nothing"
}

background()
{
	local agent=$1
	record "$agent" server.json "$agent/server"
	go 3 "$agent: a live process" "$agent/server" --at before-submit --model script:nothing.json --out "$agent/no"
	tap_like "$(cat err.txt)" 'process: sleep 654' "$agent: a live process is named"
	tap_like "$(cat err.txt)" 'resume replay' "$agent: and what to do"
	tap_is "$(find "$agent/no" 2>/dev/null)" "" "$agent: nothing was started"
	go 0 "$agent: a step in front of it" "$agent/server" --at 1 --model script:remembers.json --no-grade --out "$agent/before"
	tap_is "$(run_field "$agent/before/clean/run.json" model.unmet)" '[]' "$agent: it remembers its work, and has the prompt"
	go 0 "$agent: left behind by order" "$agent/server" --at before-submit --leave-behind --model script:nothing.json \
		--no-grade --out "$agent/left"
	tap_like "$(run_field "$agent/left/pair.json" left_behind)" 'process: sleep 654' "$agent: the pair says what was left behind"
}

refused()
{
	local agent=$1
	go 3 "in front of the first answer" "$agent/record" --at start --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'no session to take up.*resume replay' "in front of the first answer: says why"
	timeout 200 "$PROCTOR" run -q --no-tty --task calc/task.json --agent actor --scenario calc/at-fork.json --set checkpoints=requests \
		--model script:record.json --out actor </dev/null >/dev/null 2>&1
	go 3 "an agent that cannot" actor --at 0.5 --model script:nothing.json --out no2
	tap_like "$(cat err.txt)" 'agent "actor" has no "resume".*claude.*codex.*opencode.*pi.*qwen' "an agent that cannot: those that can are named"
	timeout 200 "$PROCTOR" run -q --no-tty --task calc/task.json --agent actor --scenario calc/at-fork.json \
		--model script:record.json --out plain </dev/null >/dev/null 2>&1
	go 3 "a record without checkpoints" plain --at 0.5 --model script:nothing.json --out no3
	tap_like "$(cat err.txt)" 'set checkpoints=requests' "a record without checkpoints: says how to make one"
	timeout 60 "$PROCTOR" run -q --no-tty --task calc/task.json --set checkpoints=requests --out bare -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 2 "checkpoints without a model"
	tap_like "$(cat err.txt)" 'checkpoints are made at requests to the model' "checkpoints without a model: says why"
	timeout 60 "$PROCTOR" fork "$agent/record" --at 0.5 --leave-behind --model script:nothing.json --out no4 </dev/null >/dev/null 2>err.txt
	tap_is $? 2 "--leave-behind alone"
}

# Pairs of both kinds stand apart.
apart()
{
	local agent=$1
	timeout 600 "$PROCTOR" fork "$agent/server" --at 1 --model script:nothing.json --out mixed/replay </dev/null >fork.txt 2>err.txt
	tap_is $? 0 "$agent: the same place by replay" || sed 's/^/# /' fork.txt err.txt
	go 0 "$agent: and graded, by resume" "$agent/server" --at 1 --model script:nothing.json --out mixed/resume
	"$PROCTOR" report --table pairs --format csv mixed >report.txt 2>err.txt
	tap_like "$(cat report.txt)" "${agent}[^,]*,replayed,1,1," "$agent: a row of pairs by replay" || sed 's/^/# /' report.txt err.txt
	tap_like "$(cat report.txt)" "${agent}[^,]*,resumed,1,1," "$agent: and one of pairs by resume"
}

for name in "$@"; do
	need_agent "$name" || continue
	mkdir "$name"
	record "$name" record.json "$name/record"
	tap_is $? 0 "$name: a run is recorded" || sed 's/^/# /' err.txt
	tap_is "$(run_field "$name/record/run.json" checkpoints.taken)" "$(run_field "$name/record/run.json" model.main_calls)" \
		"$name: a checkpoint at every request"
	tap_is "$(run_field "$name/record/run.json" checkpoints.incomplete)" 0 "$name: all of them whole"
	python3 - "$name/record" <<'PYTHON' >"$name/stamp"
import re, sys
print(re.search(r"\+([0-9]+\.[0-9]+)", open(sys.argv[1] + "/patch.diff").read()).group(1))
PYTHON
	five "$name"
	files "$name"
	changed "$name"
	background "$name"
done
if [ -d "$1/record" ]; then
	refused "$1"
	apart "$1"
fi
tap_done
