#!/usr/bin/env bash
# A recorded run is continued from nine places, undisturbed and with an update: the prefix is the recorded one
# step by step and costs nothing, what it left running is there again, limits count from the fork, and what differs
# from the record is named and makes the pair invalid.
# usage: fork.sh [AGENT...]; without names the one that ./check runs
# seconds: 1200
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi
cp -r "$top/examples/calc" calc

# The user's edit and message come at the fork.
python3 - <<'PYTHON'
import json, re
text = re.sub(r"(?m)^\s*//.*$", "", open("calc/counter-edit.json").read())
scenario = json.loads(text)
scenario.update(id="at-fork", family="F03", max_rounds=1)
scenario["interventions"][0]["when"] = {"event": "anchor", "anchor": "fork"}
json.dump(scenario, open("calc/at-fork.json", "w"))
scenario["checks"] = {"prohibited": [{"exists": {"kind": "reed"}}]}
json.dump(scenario, open("calc/bad-checks.json", "w"))

def turn(*tools, text=None, **more):
    return dict({"text": text} if text else {}, tools=list(tools), **more) if tools else dict(text=text, **more)

def script(name, *turns):
    json.dump({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": list(turns)},
              open(name, "w"))

def shell(command):
    return {"shell": command}

def read(path, first, last):
    return {"read": {"path": path, "first": first, "last": last}}

look = turn(read("src/duration.c", 30, 75), text="I look at the place.")
mend = turn({"edit": {"path": "src/duration.c", "old": "\t*total += n * seconds;",
    "new": "\tif (n > DURATION_MAX / seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n\t*total += n * seconds;"}})
test = turn(shell("make -s test 2>&1 | tail -n 3; mv test_duration /tmp/"))
script("record.json", look, turn(read("src/duration.c", 1, 29)), turn(shell("date; ls")), test,
    turn(shell("grep -rn DURATION_MAX src")), mend, test, turn(shell("git diff --stat")), turn(shell("git status --short")),
    turn(text="Mended."))
# Right from wherever it begins: whatever is there is looked at, mended when it has to be, tried.
fixed = "grep -q 'n > DURATION_MAX / seconds' src/duration.c || sed -i 's|^\\t\\*total += n \\* seconds;|\\tif (n > DURATION_MAX / seconds \\|\\| *total > DURATION_MAX - n * seconds)\\n\\t\\treturn -1;\\n&|' src/duration.c; grep -q 'if (n > DURATION_MAX)$' src/duration.c || sed -i 's|^\\t\\tn = n \\* 10 + |\\t\\tif (n > DURATION_MAX)\\n\\t\\t\\treturn -1;\\n&|' src/duration.c"
script("go-on.json", look, turn(shell(fixed)), test, turn(text="Finished."))
script("nothing.json", turn(text="Done."))
script("waits.json", turn(shell("sleep 600")), turn(text="Done."))
# One answer nearly uses the budget up, whatever a client's prompt is taken for.
json.dump({"schema": "proctor.script/1", "usage": {"input": 300000, "output": 50},
    "turns": [look, look, look, turn(text="Done.")]}, open("dear.json", "w"))
# Their prefixes can not be had again: what is printed, and what is written.
script("printed.json", look, turn(shell("cat /proc/uptime")), look, turn(text="Done."))
script("written.json", look, turn(shell("cat /proc/uptime >up.txt")), look, turn(text="Done."))
# Something runs in the background when the arms part.
script("server.json", look, turn(shell("mkdir -p /tmp/www && echo still here >/tmp/www/x && cd /tmp/www && "
    "(setsid python3 -m http.server 8099 --bind 127.0.0.1 >/dev/null 2>&1 &) ; "
    "for i in 1 2 3 4 5 6 7 8 9; do python3 -c 'import urllib.request as u; u.urlopen(\"http://127.0.0.1:8099/x\")' 2>/dev/null && break; sleep 0.3; done; echo up")),
    look, turn(text="Done."))
script("ask-server.json", turn(shell("python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8099/x\").read().decode())'")),
    turn(text="Done.", expect={"contains": ["still here"]}))
PYTHON

# record AGENT SCRIPT DIR [ARGUMENT...]
record()
{
	local agent=$1 script=$2 dir=$3
	shift 3
	timeout 200 "$PROCTOR" run -q --no-tty --task calc/task.json --agent "$agent" --scenario calc/at-fork.json \
		--model "script:$script" --out "$dir" "$@" </dev/null >out.txt 2>err.txt
}

# go STATUS NAME ARGUMENT...: fork, and the status it must have.
go()
{
	local status=$1 name=$2
	shift 2
	timeout 900 "$PROCTOR" fork "$@" </dev/null >fork.txt 2>err.txt
	tap_is $? "$status" "$name" || sed 's/^/# /' fork.txt err.txt
}

# counts DIR: "replayed asked tokens" of an arm's model.jsonl.
counts()
{
	python3 - "$1" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/model.jsonl")]
live = [one for one in lines if one["source"] == "script"]
print(sum(one["source"] == "replay" for one in lines), len(live),
      sum(one["usage"]["input"] + one["usage"]["output"] for one in live))
PYTHON
}

nine()
{
	local agent=$1 dir=$1/nine p arm call
	go 0 "$agent: nine positions, all pairs valid" "$agent/record" --at all --model script:go-on.json --out "$dir"
	tap_is "$(run_field "$dir/fork.json" valid)" 9 "$agent: nine valid pairs"
	tap_is "$(run_field "$dir/fork.json" tokens.prefix_paid)" 0 "$agent: no token of a prefix is paid again"
	for p in 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9; do
		call=$(run_field "$dir/$p/pair.json" position.call)
		for arm in clean shifted; do
			tap_is "$(run_field "$dir/$p/$arm/run.json" fork.differs)" null "$agent $p $arm: as recorded"
			tap_is "$(run_field "$dir/$p/$arm/run.json" fork.steps_compared)" $((call + 1)) \
				"$agent $p $arm: every step up to the fork was compared"
			read -r replayed asked tokens <<<"$(counts "$dir/$p/$arm")"
			tap_ok $((replayed < call || asked < 1)) "$agent $p $arm: $replayed answers of the record, then $asked others"
			tap_is "$(run_field "$dir/$p/pair.json" "arms.$arm.tokens")" "$tokens" \
				"$agent $p $arm: its tokens are those behind the fork"
		done
		tap_is "$(run_field "$dir/$p/clean/verdict.json" verdict)" resolved "$agent $p: the clean arm is resolved"
		tap_is "$(run_field "$dir/$p/shifted/run.json" interventions.fired)" 1 "$agent $p: the update came"
		tap_is "$(run_field "$dir/$p/clean/run.json" interventions.fired)" 0 "$agent $p: and not in the clean arm"
		# In the request that waited at the fork, not in a later one.
		tap_is "$(python3 - "$dir/$p/shifted" "$call" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/model.jsonl")]
main = [one for one in lines if one["purpose"] == "main" and one["source"] != "gateway"]
print([len(one["placed"]) for one in main[:int(sys.argv[2]) + 1]][-2:])
PYTHON
)" "$([ "$call" -gt 0 ] && echo '[0, 1]' || echo '[1]')" "$agent $p: the message stands in the request that waited"
	done
}

differs()
{
	local agent=$1
	record "$agent" printed.json "$agent/printed"
	go 1 "$agent: what a tool printed is different" "$agent/printed" --at 0.9 --model script:nothing.json --out "$agent/p"
	tap_is "$(run_field "$agent/p/pair.json" reason)" prefix "$agent: printed: the pair is invalid for its prefix"
	tap_like "$(run_field "$agent/p/pair.json" first_difference)" 'step 3 differs|call 3 \(main\) is not call 3' \
		"$agent: printed: the first difference is named"
	tap_is "$(run_field "$agent/p/pair.json" tokens.continuations)" 0 "$agent: printed: nothing was asked any more"
	record "$agent" written.json "$agent/written"
	go 1 "$agent: what a tool wrote is different" "$agent/written" --at 0.9 --model script:nothing.json --out "$agent/w"
	tap_like "$(run_field "$agent/w/pair.json" first_difference)" \
		'workspace at step 3 differs: up.txt: recorded [0-9a-f]{12}, now [0-9a-f]{12}' "$agent: written: the file is named"
	tap_is "$(run_field "$agent/w/pair.json" paired)" false "$agent: written: no pair"
}

background()
{
	local agent=$1 arm
	record "$agent" server.json "$agent/server"
	go 0 "$agent: a server of the prefix" "$agent/server" --at before-submit --model script:ask-server.json --no-grade \
		--out "$agent/s"
	for arm in clean shifted; do
		tap_is "$(run_field "$agent/s/$arm/run.json" model.unmet)" '[]' "$agent $arm: the server of the prefix answers"
	done
}

limits()
{
	local agent=$1
	go 0 "$agent: a budget of tokens" "$agent/record" --at 0.5 --budget 310000 --model script:dear.json --no-grade --out "$agent/b"
	tap_is "$(run_field "$agent/b/clean/run.json" end.reason)" limit:total_tokens "$agent: the budget ends the continuation"
	tap_is "$(python3 - "$agent/b/clean/run.json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
limit = next(b["limit"] for b in run["budgets"] if b["name"] == "total_tokens")
print(limit - run["fork"]["prefix"]["total_tokens"])
PYTHON
)" 310000 "$agent: it is counted from the fork"
	go 0 "$agent: an anchor, one arm" "$agent/record" --at after-first-pass --arms clean --model script:nothing.json --out "$agent/a"
	tap_is "$(run_field "$agent/a/pair.json" arms.shifted)" null "$agent: the other arm is not made"
	tap_is "$(run_field "$agent/a/pair.json" position.call)" 7 "$agent: behind the answer that asked for the passing test"
}

# What is sent to the command ends all of it, not one arm.
interrupted()
{
	local agent=$1 pid
	"$PROCTOR" fork "$agent/record" --at 0.2,0.5 --model script:waits.json --out "$agent/i" </dev/null >fork.txt 2>err.txt &
	pid=$!
	until grep -qs '"argv":\["sleep","600"' "$agent/i/0.2/clean/trace.jsonl"; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.05
	done
	kill -TERM $pid
	wait $pid
	tap_is $? 7 "$agent: interrupted: the status says that there is no result" || sed 's/^/# /' err.txt
	tap_like "$(cat err.txt)" 'interrupted in .*clean.*another --out' "$agent: interrupted: says where, and what to do"
	tap_is "$(cd "$agent/i" && find . -maxdepth 2 -mindepth 1 -type d | sort | tr '\n' ' ')" "./0.2 ./0.2/clean " \
		"$agent: interrupted: nothing was begun after it"
	tap_is "$(run_field "$agent/i/0.2/clean/run.json" end.reason)" interrupted "$agent: interrupted: the arm's own files are whole"
}

refused()
{
	local agent=$1
	go 2 "no position" "$agent/record" --at 2.5 --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'is no position' "no position: says what can be"
	go 3 "no such place" "$agent/server" --at before-first-edit --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'actions and no edit' "no such place: says what there is"
	go 3 "checks that mean nothing" "$agent/record" --at 0.5 --scenario calc/bad-checks.json --model script:nothing.json --out bad
	tap_like "$(cat err.txt)" '"reed"' "checks that mean nothing: the word is named"
	tap_is "$(find bad -mindepth 1)" "" "checks that mean nothing: nothing was started"
	go 2 "nobody answers behind the fork" "$agent/record" --at 0.5 --out no
	tap_like "$(cat err.txt)" 'give --model' "nobody answers: says what to give"
	timeout 60 "$PROCTOR" run -q --no-tty --task calc/task.json --out plain -- true </dev/null >/dev/null 2>&1
	go 3 "a run without a model" plain --at start --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'no model API' "a run without a model: says why"
	timeout 60 "$PROCTOR" run -q --no-tty --task calc/task.json --agent actor --model script:nothing.json --set steps=false \
		--out stepless </dev/null >/dev/null 2>&1
	go 3 "a run without steps" stepless --at start --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'steps.jsonl: .*has steps off' "a run without steps: says why"
	timeout 60 "$PROCTOR" run -q --no-tty --task calc/task.json --agent actor --model script:nothing.json --set steps=false \
		--scenario calc/at-fork.json --out no </dev/null >/dev/null 2>err.txt
	tap_like "$?$(cat err.txt)" '^3.*waits for a fork.*--set steps=true' "what waits for a fork is recorded with steps"
	sed -i 's/promises to refuse/must refuse/' calc/task.json
	go 3 "the task has changed since" "$agent/record" --at 0.5 --model script:nothing.json --out no
	tap_like "$(cat err.txt)" 'problem_statement' "the task has changed: the field is named"
	go 2 "no --out" "$agent/record" --at 0.5 --model script:nothing.json
}

for name in "$@"; do
	need_agent "$name" || continue
	mkdir "$name"
	record "$name" record.json "$name/record"
	tap_is $? 0 "$name: a run is recorded" || sed 's/^/# /' err.txt
	nine "$name"
	differs "$name"
	background "$name"
	limits "$name"
	interrupted "$name"
done
[ -d "$1/record" ] && refused "$1"
tap_done
