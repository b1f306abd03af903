#!/usr/bin/env bash
# A recorded run is replayed: the same answers byte for byte, the same interventions, the same workspace. A
# changed prompt is caught and named; a record's beginning can be followed by another source; records that
# are cut or no records at all.
# usage: replay.sh [AGENT...]; without names those that ./check runs
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi codex
cp -r "$top/examples/calc" calc

# Its second turn says what no two runs have in common.
cat >script.json <<'EOF_SCRIPT'
{ "schema": "proctor.script/1",
  "usage": { "input": 1000, "output": 50 },
  "turns": [
    { "text": "I look at the place.",
      "tools": [ { "read": { "path": "src/duration.c", "first": 30, "last": 75 } } ] },
    { "tools": [ { "shell": "date; date +%s; mktemp; echo pid $$; make -s test 2>&1 | tail -n 3; rm -f test_duration" } ] },
    { "tools": [ { "edit": { "path": "src/duration.c",
        "old": "\t*total += n * seconds;",
        "new": "\tif (n > DURATION_MAX / seconds || *total > DURATION_MAX - n * seconds)\n\t\treturn -1;\n\t*total += n * seconds;" } } ] },
    { "tools": [ { "shell": "grep -n DURATION_MAX src/duration.c" } ] },
    { "text": "Mended." }
  ] }
EOF_SCRIPT
# Another end, and the same again.
cat >other.json <<'EOF_SCRIPT'
{ "schema": "proctor.script/1",
  "turns": [
    { "tools": [ { "shell": "echo another end >src/end.txt" } ] },
    { "text": "Ended otherwise." }
  ] }
EOF_SCRIPT

cat >end.json <<'EOF_SCRIPT'
{ "schema": "proctor.script/1", "usage": { "input": 1000, "output": 50 }, "turns": [ { "text": "Mended." } ] }
EOF_SCRIPT

# go AGENT TASK MODEL DIR [ARGUMENT...]
go()
{
	local agent=$1 task=$2 model=$3 dir=$4
	shift 4
	timeout 200 "$PROCTOR" run -q --no-tty --task "$task" --agent "$agent" \
		--scenario calc/counter-edit.json --model "$model" --out "$dir" "$@" </dev/null >out.txt 2>err.txt
}

# answers DIR [N]: digest of the (first N) answers that a model gave.
answers()
{
	python3 - "$@" <<'PYTHON'
import hashlib, json, sys

lines = [json.loads(line) for line in open(sys.argv[1] + "/model.jsonl")]
texts = [one["answer"] for one in lines if one["source"] != "gateway"]
texts = texts[:int(sys.argv[2])] if len(sys.argv) > 2 else texts
print(len(texts), hashlib.sha256("\0".join(texts).encode()).hexdigest())
PYTHON
}

# fired DIR: what the interventions did, without when.
fired()
{
	python3 - "$1" <<'PYTHON'
import json, sys

# The plan names the source; what the agent does by itself between two calls moves numbers.
TIMES = ("plan_digest", "t", "at_n", "pid", "tid", "cmd")
for line in open(sys.argv[1] + "/interventions.jsonl"):
    one = {k: v for k, v in json.loads(line).items() if k not in TIMES}
    # A client's own errands run beside its tool calls and take command numbers as they come.
    if one.get("touch"):
        one["touch"].pop("command", None)
    print(json.dumps(one, sort_keys=True))
PYTHON
}

# same NAME DIR DIR: both runs are the same to the end.
same()
{
	tap_is "$(answers "$3")" "$(answers "$2")" "$1: the answers are the same, byte for byte"
	tap_is "$(run_field "$3/run.json" patch.sha256)" "$(run_field "$2/run.json" patch.sha256)" \
		"$1: the workspace is the same"
	tap_ok "$(cmp -s "$2/patch.diff" "$3/patch.diff"; echo $?)" "$1: and its patch"
	tap_is "$(fired "$3")" "$(fired "$2")" "$1: the interventions are the same"
	tap_is "$(run_field "$3/run.json" end.reason) $(run_field "$3/run.json" end.status)" "exited 0" "$1: it ends well" ||
		run_field "$3/run.json" end | sed 's/^/# /'
}

# differs NAME DIR REGEX: the run ended as an error that says so.
differs()
{
	tap_is "$(run_field "$2/run.json" end.reason)" error "$1: the run ends as an error"
	tap_like "$(run_field "$2/run.json" end.detail)" "$3" "$1: the first difference is named"
}

one()
{
	local agent=$1 run=$work/runs/$1 record=$work/runs/$1/first/model.jsonl
	mkdir -p "$run"
	go "$agent" calc/task.json script:script.json "$run/first"
	tap_is $? 0 "$agent: a run is recorded" || sed 's/^/# /' err.txt
	tap_is "$(run_field "$run/first/run.json" interventions.fired)" 1 "$agent: with a Counter-Edit"
	tap_is "$(run_field "$run/first/run.json" model.messages)" 1 "$agent: and its message"

	go "$agent" calc/task.json "replay:$record" "$run/again"
	tap_is $? 0 "$agent: it is replayed" || sed 's/^/# /' err.txt
	same "$agent: strict" "$run/first" "$run/again"
	tap_is "$(run_field "$run/again/run.json" model.source)" replay "$agent: by the record"
	go "$agent" calc/task.json "replay:$run/again" "$run/third"
	tap_is $? 0 "$agent: a replay is replayed, by its directory" || sed 's/^/# /' err.txt
	same "$agent: of the replay" "$run/first" "$run/third"

	sed 's/Mend src/Do mend src/' calc/task.json >calc/statement.json
	go "$agent" calc/statement.json "replay:$record" "$run/statement"
	differs "$agent: another statement" "$run/statement" 'recorded .*Mend src.*now .*Do mend src'
	go "$agent" calc/statement.json "replay-loose:$record" "$run/loose"
	tap_is $? 0 "$agent: a loose replay takes another statement" || sed 's/^/# /' err.txt
	same "$agent: loose" "$run/first" "$run/loose"

	# Both agents put this file into their prompt.
	cp -r calc/repo calc/repo2
	echo "Write all comments in rhymes." >calc/repo2/AGENTS.md
	sed 's,"repo/","repo2/",' calc/task.json >calc/prompt.json
	go "$agent" calc/prompt.json "replay:$record" "$run/prompt"
	differs "$agent: another prompt" "$run/prompt" 'recorded .*now .*(Project Context|AGENTS.md|rhymes)'
	rm -rf calc/repo2

	go "$agent" calc/task.json "replay:$record@2+script:other.json" "$run/other"
	tap_is $? 0 "$agent: the first two answers, then a script" || sed 's/^/# /' err.txt
	tap_is "$(answers "$run/other" 2)" "$(answers "$run/first" 2)" "$agent: two answers are the recorded ones"
	tap_ok "$(grep -qsx '+another end' "$run/other/patch.diff"; echo $?)" "$agent: the rest is new"
	go "$agent" calc/task.json "replay:$record@2" "$run/two"
	tap_is "$(run_field "$run/two/run.json" end.reason)" exited "$agent: two answers and no more: the agent is told and ends"
	tap_like "$(tail -n 1 "$run/two/model.jsonl")" "the first 2 answers of .* are used up" "$agent: and the record says why"

	# As a kill leaves it.
	head -c -300 "$record" >"$run/cut.jsonl"
	go "$agent" calc/task.json "replay:$run/cut.jsonl@4+script:end.json" "$run/cut"
	tap_is $? 0 "$agent: a record with a cut last line is used" || sed 's/^/# /' err.txt
	same "$agent: cut" "$run/first" "$run/cut"
	go "$agent" calc/task.json "replay:$run/cut.jsonl" "$run/short"
	differs "$agent: a record that is too short" "$run/short" 'model call 5: the record .*cut.jsonl has no more than 4 calls of purpose main'
}

for name in "$@"; do
	need_agent "$name" && one "$name"
done

# bad NAME STATUS REGEX MODEL: refused before the agent is started.
bad()
{
	go pi calc/task.json "$4" "$work/bad"
	tap_is $? "$2" "$1: refused"
	tap_like "$(cat err.txt)" "$3" "$1: says why"
	rm -rf "$work/bad"
}
if [ -n "${PROCTOR_AGENTS-}" ]; then
	bad "no such record" 3 'none.jsonl.*No such file' replay:none.jsonl
	echo '{"schema":"proctor.model/1","call":"one"}' >wrong.jsonl
	echo >>wrong.jsonl
	bad "a record with a wrong line" 3 'wrong.jsonl.*line 1|wrong.jsonl:1' replay:wrong.jsonl
	echo 'hello' >text.jsonl
	bad "no record at all" 3 'text.jsonl' replay:text.jsonl
	: >empty.jsonl
	bad "an empty record" 3 'empty.jsonl: no answer of a model is recorded' replay:empty.jsonl
	bad "two replays" 2 'a replay cannot follow a replay' replay:wrong.jsonl@1+replay:wrong.jsonl
fi
tap_done
