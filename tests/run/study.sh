#!/usr/bin/env bash
# A study of 24 cells, once undisturbed and once killed again and again, comes to the same; what is wrong with a plan is said
# before anything starts; limits of the whole, faults of the host, Ctrl-C, two calls at once, a changed plan, the early look.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
lib=$top/tests/run/lib/study.py
cp -r "$top/examples/calc" "$top/examples/shift/F08-count" .
mkdir -p shift && mv F08-count shift/ && cp -r "$top/examples/shift/repos" shift/ 2>/dev/null
mv shift/F08-count F08-count && cp -r "$top/examples/shift/repos" .
# The habit of examples/swe-touch that keeps what a user says was meant, with what it knows of this task.
cp "$top"/examples/swe-touch/agents/* calc/study/* calc/agents/ 2>/dev/null
{
	printf '{ "schema": "proctor.agent/1", "name": "follower", "command": ["sh", "~/agent"], "api": "none",\n  "files": { "~/agent": "follower.sh"'
	for f in hand.sh files own.diff report.sh see.sh tests.sh; do printf ', "~/%s": "%s"' $f $f; done
	printf ' }, "message_via": "file:/tmp/user-message.txt" }\n'
} >calc/agents/follower.json
cp "$top"/examples/calc/agents/care* calc/agents/

# 3 agents x 3 conditions x 2 repeats, and a record with two positions twice: 18 + 2 + 4
cat >plan.json <<'JSON'
{ "schema": "proctor.study/1", "name": "small", "tasks": ["calc/task.json", "F08-c*"],
  "agents": [
    { "agent": "{task_dir}/agents/careful.json", "tasks": ["example__*"] },
    { "agent": "{task_dir}/agents/careless.json", "tasks": ["example__*"] },
    { "agent": "{task_dir}/agents/follower.json", "tasks": ["example__*"] },
    { "name": "player", "agent": "actor", "model": "script:{task_dir}/reference.json", "tasks": ["F*"] } ],
  "conditions": [
    { "name": "vanilla", "scenario": "{task_dir}/vanilla.json", "tasks": ["example__*"] },
    { "name": "counter", "scenario": "{task_dir}/counter-edit.json", "pair": "vanilla", "tasks": ["example__*"] },
    { "name": "co", "scenario": "{task_dir}/co-edit.json", "tasks": ["example__*"] },
    { "name": "record", "scenario": "{task_dir}/scenario.json", "set": ["watch=workspace"], "tasks": ["F*"] },
    { "name": "shift", "fork": "record", "at": ["0.3", "0.5"], "model": "script:{task_dir}/recovery.json", "tasks": ["F*"] } ],
  "repeats": 2, "label": true, "retries": { "infra": 2, "backoff": "100ms" } }
JSON

study() # PLAN OUT ARG...
{
	local plan=$1 out=$2
	shift 2
	timeout 300 "$PROCTOR" study "$plan" --out "$out" --jobs 2 "$@" </dev/null >out.txt 2>err.txt
}

count() # OUT SQL
{
	python3 "$lib" count "$1/journal.db" "$2"
}

# killed HOW EVENTS [PLAN [OUT]]: start it and kill it.
killed()
{
	timeout 300 python3 "$lib" kill "$1" "$2" "$PROCTOR" study "${3:-plan.json}" --out "${4:-killed}" --jobs 2 >kill.txt 2>&1
	tap_is "$(python3 "$lib" sound "${4:-killed}/journal.db")" sound "$1, behind $2 cells: the journal holds nothing that cannot be"
	sed -n 's/^# /# /p' kill.txt
}

# --- nothing is started ---
study plan.json plain --plan
tap_is $? 0 "the plan is shown"
tap_like "$(cat out.txt)" "24 cells, 24 without a result" "with its cells"
test -e plain
tap_ok $(($? == 0)) "and nothing is made"

# --- undisturbed, and killed four times ---
study plan.json plain
tap_is $? 0 "an undisturbed study of 24 cells" || sed 's/^/# /' out.txt err.txt
tap_is "$(python3 "$lib" sound plain/journal.db)" sound "its journal holds nothing that cannot be"
tap_is "$(count plain "SELECT count(*) FROM attempt WHERE outcome = 'done'")" 24 "every cell has a result at its first attempt"
tap_is "$(wc -l <plain/results.jsonl)" 20 "20 of them are runs"
tap_is "$(grep -cv scenario plain/pairs.tsv)" 4 "4 are pairs"

killed study 2
killed all 5
killed later 4
killed cell 3
tap_like "$(cat kill.txt)" "infra: its process was killed by signal 9" "a cell that is killed alone is a fault of the host, and tried again"
study plan.json killed
tap_is $? 0 "the study goes on to its end" || sed 's/^/# /' out.txt err.txt
tap_is "$(python3 "$lib" sound killed/journal.db)" sound "the journal is sound"
tap_try "what it came to is what the undisturbed one came to" cmp plain/results.jsonl killed/results.jsonl
tap_try "the pairs, too" cmp plain/pairs.tsv killed/pairs.tsv
tap_is "$(count killed "SELECT count(*) FROM attempt WHERE outcome = 'done'")" 24 "nothing was run twice"
tap_is "$(find killed/cells -path '*/run/run.json' | wc -l)" 20 "and each run has its directory"
before=$(count killed "SELECT count(*) FROM attempt")
study plan.json killed
tap_is "$? $(count killed "SELECT count(*) FROM attempt")" "0 $before" "called again there is nothing to do"

# --- the early look ---
killed all 6 plan.json early
proctor report --table study --format json early >report.json
tap_is $? 0 "a study that is not at its end is reported on"
tap_is "$(python3 - <<'PYTHON'
import json
rows = json.load(open("report.json"))["tables"][0]["rows"]
print(sum(r["cells_all"] for r in rows), sum(r["cells_done"] + r["no_result_not_run"] + r["no_result_running"] for r in rows),
      0 < sum(r["cells_done"] for r in rows) < 24)
PYTHON
)" "24 24 True" "cells without a result stand beside the means"
proctor report --table runs early >out.txt 2>err.txt
tap_like "$(cat out.txt)" "of 24 cells [0-9]+ have a result" "the other tables say so as well"
proctor top --once early >out.txt
tap_is $? 0 "top shows it"
tap_like "$(head -n 2 out.txt)" "small: 24 cells.*\[[#.]{24}\] [0-9]+/24" "with the whole above"
tap_is "$(grep -cE '^(waiting|running|done|infra|given-up) ' out.txt)" 24 "and a line for each cell"
proctor top early --once --cell "example__duration-1,careful,co,r1" >out.txt
tap_like "$(cat out.txt)" "directory: early/cells/example__duration-1,careful,co,r1/" "a cell's details"
proctor top early --once --cell "example__duration-1,careful,co,r7" >out.txt 2>err.txt
tap_is "$? $(grep -c 'did you mean' err.txt)" "3 1" "a cell that is not there, with the nearest"
proctor top . >out.txt 2>err.txt
tap_is $? 3 "a directory that is no study"

# --- a changed plan ---
sed 's/"repeats": 2/"repeats": 3/' plan.json >more.json
study more.json plain
tap_is "$? $(grep -c 'r3 is in the plan and not in the journal; say --extend' err.txt)" "3 1" "more cells are refused, the first is named"
sed 's/"repeats": 2/"repeats": 1/' plan.json >fewer.json
study fewer.json plain --extend
tap_is "$? $(grep -c 'is in the journal and not in the plan' err.txt)" "3 1" "fewer cells are refused in any case"
sed 's/"label": true/"label": false/' plan.json >other.json
study other.json plain --extend
tap_is "$? $(grep -c 'is another cell than the study was begun with' err.txt)" "3 1" "so is a cell that is made in another way"
cp calc/agents/careless.sh kept.sh
echo '# more' >>calc/agents/careless.sh
study plan.json plain
tap_is "$? $(grep -c 'the files of .*careless.* are no longer those' err.txt)" "3 1" "and one whose files changed"
cp kept.sh calc/agents/careless.sh
sed 's/"repeats": 2/"repeats": 2, "seed": 5/' plan.json >seed.json
study seed.json plain
tap_is "$? $(grep -c 'settings of the study were' err.txt)" "3 1" "other settings are named"

# --- plans that are wrong: the place, and the nearest choice ---
wrong() # SED REGEX NAME
{
	sed "$1" plan.json >wrong.json
	study wrong.json wrong
	tap_is $? 3 "$3"
	tap_like "$(cat err.txt)" "$2" "$3: it is said where, and what to do"
	test -e wrong
	tap_ok $(($? == 0)) "$3: nothing is made"
}
wrong 's/"repeats"/"repaets"/' '\$: unknown key "repaets", did you mean "repeats"' "a key"
wrong 's/"pair": "vanilla"/"pair": "vanila"/' '\$.conditions\[1\].*did you mean "vanilla"' "a condition that is not there"
wrong 's/"scenario": "{task_dir}\/co-edit.json"/"mode": "co-edti"/' 'unknown mode "co-edti", did you mean "co-edit"' "a mode"
wrong 's/"name": "co",/"name": "counter",/' 'a second condition called "counter"' "a name twice"
wrong 's/"watch=workspace"/"wacth=workspace"/' 'F08-count, player, record.*wacth' "a field of the profile"
wrong 's/careful.json/curious.json/' 'example__duration-1, curious, vanilla.*curious.json' "an agent file that is not there"
wrong 's/"F08-c\*"/"F99-*"/' 'nothing fits "F99' "tasks that are not there"
wrong 's/"at": \["0.3", "0.5"\], //' '"fork" needs "at"' "a fork without positions"
wrong 's/"repeats": 2/"repeats": 0/' 'must be 1 to' "no repeats"
wrong 's/"name": "record",/"name": "record", "agents": ["careful"],/' 'needs F08-count,player,record,r1, which is not in the plan' "a record that no agent makes"
study plan.json wrong --jobs 100000
tap_is $? 2 "too many jobs"

# --- limits of the whole: 10,320 tokens a run ---
cat >tokens.json <<'JSON'
{ "schema": "proctor.study/1", "name": "tokens", "tasks": ["F08-count"],
  "agents": [ { "name": "player", "agent": "actor", "model": "script:{task_dir}/reference.json" } ],
  "conditions": [ { "name": "record", "scenario": "{task_dir}/scenario.json" } ],
  "repeats": 4, "grade": false, "limits": { "tokens": 25000 } }
JSON
timeout 100 "$PROCTOR" study tokens.json --out tokens --jobs 1 </dev/null >out.txt 2>err.txt
tap_is $? 6 "a limit of the study ends it"
tap_is "$(count tokens "SELECT count(*) FROM cell WHERE state = 'done'") $(count tokens "SELECT count(*) FROM cell WHERE state = 'waiting'")" "2 2" \
	"no cell is started that would pass it"
tap_is "$(count tokens "SELECT count(*) FROM event WHERE what = 'budget'")" 1 "the journal says so"
sed 's/25000/50000/' tokens.json >tokens2.json
timeout 100 "$PROCTOR" study tokens2.json --out tokens --jobs 1 --extend </dev/null >out.txt 2>err.txt
tap_is "$? $(count tokens "SELECT count(*) FROM cell WHERE state = 'done'")" "0 4" "with a higher one it goes on"
sed 's/"tokens": 25000/"cells": 1/' tokens.json >cells.json
study cells.json cells
tap_is "$? $(count cells "SELECT count(*) FROM cell WHERE state = 'done'")" "6 1" "a limit on cells"

# A model that would go on for minutes, and uses 1,000 tokens a turn.
python3 - <<'PYTHON'
import json
turns = [{"tools": [{"shell": "true"}], "delay": "200ms"} for _ in range(400)]
json.dump({"schema": "proctor.script/1", "usage": {"input": 900, "output": 100}, "turns": turns}, open("F08-count/long.json", "w"))
PYTHON
sed 's/reference.json/long.json/; s/"repeats": 4/"repeats": 2/; s/"tokens": 25000/"tokens": 4000/; s/"grade": false/"grade": false, "on_budget": "kill"/' \
	tokens.json >kill.json
study kill.json budget
tap_is "$? $(count budget "SELECT count(*) FROM attempt WHERE outcome = 'budget'")" "6 2" "running cells are ended by the limit when the plan says so"
tap_is "$(count budget "SELECT count(*) FROM attempt WHERE tokens >= 1000 AND outcome = 'budget'")" 2 "what they had used is counted"
tap_is "$(count budget "SELECT count(*) FROM cell WHERE state = 'waiting'")" 2 "and they wait"

# --- faults of the host are tried again, and nothing else ---
sed 's/"repeats": 4/"repeats": 2, "retries": { "infra": 2, "backoff": "100ms" }/' tokens2.json >faults.json
PROCTOR_SCRATCH=$work/no-such-directory study faults.json faults
tap_is $? 1 "cells that the host cannot carry out are given up" || sed 's/^/# /' out.txt err.txt
tap_is "$(count faults "SELECT min(n) || ' ' || max(n) || ' ' || count(*) FROM (SELECT count(*) n FROM attempt WHERE outcome = 'infra' GROUP BY cell)")" \
	"3 3 2" "each was tried three times"
tap_like "$(cat out.txt)" "given-up: run ended with status 4: proctor: cannot use .*no-such-directory" "and it is said why"
study faults.json faults
tap_is "$? $(count faults "SELECT count(*) FROM attempt")" "1 6" "called again they stay so"
study faults.json faults --retry
tap_is "$? $(count faults "SELECT count(*) FROM cell WHERE state = 'done'")" "0 2" "unless it is asked for"

# --- Ctrl-C ---
cat >slow.json <<'JSON'
{ "schema": "proctor.study/1", "name": "slow", "tasks": ["F08-count"],
  "agents": [ { "name": "slow", "agent": "actor", "model": "script:{task_dir}/long.json" } ],
  "conditions": [ { "name": "one", "set": ["limits.wall=SECONDS"] } ], "repeats": 3, "grade": false }
JSON
sed 's/SECONDS/3s/' slow.json >once.json
timeout 100 python3 "$lib" interrupt 1 2 "$PROCTOR" study once.json --out once --jobs 2 >out.txt 2>&1
tap_is "$(tail -n 1 out.txt) $(count once "SELECT count(*) FROM attempt WHERE outcome = 'done'") $(count once "SELECT count(*) FROM attempt")" \
	"status 7 2 2" "once: what runs comes to its end, and nothing else is started" || sed 's/^/# /' out.txt
sed 's/SECONDS/200s/' slow.json >twice.json
timeout 100 python3 "$lib" interrupt 2 2 "$PROCTOR" study twice.json --out twice --jobs 2 >out.txt 2>&1
tap_is "$(tail -n 1 out.txt) $(count twice "SELECT count(*) FROM attempt WHERE outcome = 'stopped'") $(count twice "SELECT count(*) FROM cell WHERE state = 'waiting'")" \
	"status 7 2 3" "twice: what runs is ended, and waits for the next call" || sed 's/^/# /' out.txt
timeout 100 python3 "$lib" interrupt 1 0 "$PROCTOR" study once.json --out room --jobs 2 --keep-memory 1000T >out.txt 2>&1
tap_is "$(tail -n 1 out.txt) $(count room "SELECT count(*) FROM attempt")" "status 7 0" "without room nothing is started"
tap_like "$(cat out.txt)" "waiting: memory: another cell needs about .* is free" "and it is said why"

# --- two calls at once ---
mkdir locked
flock locked timeout 60 "$PROCTOR" study cells.json --out locked </dev/null >out.txt 2>err.txt
tap_is "$? $(grep -c 'another call works on this study' err.txt)" "3 1" "a second call on the same study is refused"

# --- for programs ---
study tokens2.json json --json
tap_is $? 0 "--json" || sed 's/^/# /' err.txt
tap_is "$(python3 - <<'PYTHON'
import json
events = [json.loads(line) for line in open("out.txt")]
print(sum(e["event"] == "started" for e in events), sum(e["event"] == "ended" for e in events), {e["schema"] for e in events} == {"proctor.study-event/1"})
PYTHON
)" "4 4 True" "each event is an object"

# --- no space ---
if [ "$(id -u)" -eq 0 ]; then
	mkdir small
	# shellcheck disable=SC2016  # expanded by the shell inside
	unshare -m bash -c '
		mount -t tmpfs -o size=400k none small || exit 99
		timeout 100 python3 "$2" interrupt 1 0 "$1" study tokens2.json --out small/study --jobs 1 >full.txt 2>&1
		mount -o remount,size=400m small
		timeout 100 "$1" study tokens2.json --out small/study --jobs 1 --keep-disk 1K </dev/null >out.txt 2>err.txt; echo $? >room.status
		python3 "$2" sound small/study/journal.db >sound.txt' -- "$PROCTOR" "$lib"
	tap_like "$(cat full.txt)" "waiting: disk: another cell needs about .*status 7" "on a full disk a study waits, and says for what" || sed 's/^/# /' full.txt
	tap_is "$(cat room.status) $(cat sound.txt)" "0 sound" "and goes on when there is room" || sed 's/^/# /' out.txt err.txt
fi
tap_done
