#!/usr/bin/env bash
# Messages that a simulated user writes: by an endpoint, a script or a record, in stages; what the agent's
# model sees of them; the template in place of what must not be said or does not come; the key and the
# budgets kept apart; agents without a model API.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir repo
seq 1 20 >repo/f.txt
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "example__sim-1", "repo": "example/sim",
  "problem_statement": "Line 5 of f.txt is wrong. Mend it.", "source": "repo",
  "FAIL_TO_PASS": ["test_line_five"] }
J
cat >edit.diff <<'D'
diff --git a/f.txt b/f.txt
--- a/f.txt
+++ b/f.txt
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
D
# scenario MODE K
scenario()
{
	cat <<J
{ "schema": "proctor.scenario/1", "id": "sim", "instance_id": "example__sim-1", "mode": "$1", "max_rounds": $2,
  "regions": [ { "path": "f.txt", "start": 5, "end": 6 } ],
  "interventions": [ { "order": 1, "when": { "event": "read_or_edit", "regions": [0] }, "timing": "after-command",
    "effects": [ { "edit": "edit.diff" }, { "message": { "claim": "Line 5 is a word." } } ] } ] }
J
}
scenario edit+message 3 >scenario.json

# An agent with a model API: a shell tool, and what the model says is done.
cat >agent.py <<'J'
import json, os, subprocess, sys, urllib.request

messages = [{"role": "user", "content": sys.argv[1]}]
tools = [{"type": "function", "function": {"name": "shell", "parameters": {
    "type": "object", "properties": {"command": {"type": "string"}}}}}]
while True:
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
                                     json.dumps({"model": "m", "messages": messages, "tools": tools}).encode(),
                                     {"Content-Type": "application/json",
                                      "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        out = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        messages.append({"role": "tool", "tool_call_id": call["id"],
                         "content": out.stdout.decode("utf-8", "replace")})
J
cat >own.json <<'J'
{ "schema": "proctor.agent/1", "name": "own", "api": "openai-chat",
  "command": ["/usr/bin/python3", "~/agent.py", "{problem_statement}"],
  "base_url_env": "OPENAI_BASE_URL", "key_env": "OPENAI_API_KEY", "files": { "~/agent.py": "agent.py" },
  "tools": { "shell": { "name": "shell", "args": { "command": "{command}" } } }, "message_via": "gateway" }
J
# The agent takes the user's word out again, each time with another command.
cat >model.json <<'J'
{ "schema": "proctor.script/1", "usage": { "input": 1000, "output": 50 }, "turns": [
  { "tools": [ { "shell": "env >env.txt; cat /proc/*/environ >environ.txt 2>/dev/null; sed -n 4,6p f.txt" } ] },
  { "expect": { "last_contains": ["@1@"] }, "tools": [ { "shell": "sed -i s/five/5/ f.txt; echo first" } ] },
  { "expect": { "contains": ["@1@"], "last_contains": ["@2@"] }, "tools": [ { "shell": "sed -i s/five/5/ f.txt; echo second" } ] },
  { "expect": { "contains": ["@1@", "@2@"], "last_contains": ["@3@"] }, "text": "Done." } ] }
J
one="I made line 5 a word, it reads better that way. Please keep it."
two="My line 5 went missing. I thought about it, so leave it as it is."
three="I put line 5 back again. Stop changing it."

# heard FILE TEXT...: a model's script that expects these messages.
heard()
{
	python3 - "$@" <<'J'
import sys
text = open("model.json").read()
for i, said in enumerate(sys.argv[2:], 1):
    text = text.replace(f"@{i}@", said)
open(sys.argv[1], "w").write(text)
J
}
heard script.json "$one" "$two" "$three"

sim_pid='' url=''
trap 'sim_stop; chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT

# sim_start TURNS [OPTION...]: an endpoint with these answers; sets url.
sim_start()
{
	local line
	printf '%s\n' "$1" >turns.json
	shift
	mkfifo up.in up.out
	python3 "$top/tests/tools/fakemodel.py" --turns turns.json "$@" <up.in >up.out 2>up.err &
	sim_pid=$!
	exec 7>up.in
	read -r line <up.out
	rm -f up.in up.out
	url=http://127.0.0.1:${line#port }
}

# sim_stop: what it was asked goes to asked.json.
sim_stop()
{
	[ -n "$sim_pid" ] || return 0
	python3 -c 'import sys, urllib.request
sys.stdout.write(urllib.request.urlopen(sys.argv[1] + "/log").read().decode())' "$url" >asked.json 2>/dev/null
	exec 7>&-
	wait "$sim_pid"
	sim_pid=''
}

# go OUT SIMULATOR [OPTION...]: a run of our agent.
go()
{
	local out=$1 sim=$2
	shift 2
	timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent own.json --scenario scenario.json \
		--model script:script.json --simulator "$sim" --out "$out" "$@" </dev/null >/dev/null 2>err.txt
}

# said OUT FIELD: a field of the messages of interventions.jsonl, one a line.
said()
{
	python3 - "$@" <<'J'
import json, sys
for line in open(sys.argv[1] + "/interventions.jsonl"):
    one = json.loads(line)
    if one["effect"] == "message":
        print(one.get(sys.argv[2]))
J
}

# ok_run OUT NAME STATUS: it was made, and the model's expectations were met.
ok_run()
{
	tap_is "$3" 0 "$2: runs" || sed 's/^/# /' err.txt
	tap_is "$(run_field "$1/run.json" end.reason)" exited "$2: to its end"
	tap_is "$(run_field "$1/run.json" model.unmet)" "[]" "$2: the model sees each message at its place, word for word"
}

# --- an endpoint, three stages -------------------------------------------------------------------

key=simkey$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
sim_start "[{\"text\": \" $one\\n\"}, {\"text\": \"$two\"}, {\"text\": \"$three\"}]"
PROCTOR_SIMULATOR_KEY=$key go o-live "$url/v1#sim-1" --set limits.model_calls=4
ok_run o-live endpoint $?
sim_stop
tap_is "$(said o-live message)" "$one
$two
$three" "endpoint: what it wrote was said, without blanks around it"
tap_is "$(said o-live message_source | sort -u)" simulator "endpoint: and is known as its words"
tap_is "$(said o-live applied | sort -u)" True "endpoint: each was said"
tap_is "$(said o-live round | tr '\n' ' ')" "1 2 3 " "endpoint: in three rounds"
why=$(python3 - "$key" <<'J'
import hashlib, json, sys
key = sys.argv[1]
asked = [e for e in json.load(open("asked.json")) if e["method"] == "POST"]
lines = [json.loads(line) for line in open("o-live/interventions.jsonl")]
lines = [one for one in lines if one["effect"] == "message"]
sha = lambda text: hashlib.sha256(text.encode()).hexdigest()
if len(asked) != 3:
    print("asked", len(asked))
commands = ["sed -n 4,6p f.txt", "echo first", "echo second"]
outputs = ["[What it printed]\n4\n5\n6\n", "[What it printed]\nfirst\n", "[What it printed]\nsecond\n"]
for i, e in enumerate(asked):
    body = json.loads(e["body"])
    system, user = body["messages"]
    text, line = user["content"], lines[i]
    if e["headers"].get("authorization") != "Bearer " + key:
        print("key", e["headers"])
    if (body["model"], body["temperature"], body["max_tokens"], body["stream"]) != ("sim-1", 0.2, 220, False):
        print("body", body)
    if sha(system["content"]) != line["prompt_sha256"] or sha(text) != line["context_sha256"]:
        print("digests", line)
    if sha(line["message"]) != line["message_sha256"] or line["model"] != "sim-1" or not isinstance(line["ms"], int):
        print("line", line)
    if (line["raw_sha256"] == line["message_sha256"]) != (i > 0):  # the first one had blanks around it
        print("raw digest", line)
    for want in ("Repository: example/sim\n", "Task: example__sim-1\n", f"Number of this message: {i + 1}\n",
                 "Line 5 of f.txt is wrong", "f.txt:5-", "Line 5 is a word.", "-5\n+five\n", commands[i], outputs[i]):
        if want not in text:
            print(i, "lacks", repr(want), text)
    if f"{i}. " not in text and i:
        print("events", text)
    if "test_line_five" in text:
        print("the test is named")
J
)
tap_is "$why" "" "endpoint: it is asked with prompt, context, values and key; all is on record by digest"
tap_is "$(run_field o-live/run.json simulator.calls)/$(run_field o-live/run.json simulator.fallbacks)/$(run_field o-live/run.json simulator.input_tokens)/$(run_field o-live/run.json simulator.output_tokens)/$(run_field o-live/run.json simulator.micro_dollars)" \
	3/0/300/21/null "endpoint: its calls are counted, of an unknown price"
tap_is "$(run_field o-live/run.json model.calls)/$(run_field o-live/run.json model.input_tokens)" 4/4000 \
	"endpoint: apart from the agent's, whose budget of calls they do not touch"
tap_is "$(grep -rlF "$key" o-live | head -n 3)" "" "endpoint: the key is in no file of the run"
tap_like "$(cat o-live/patch.diff)" '\+OPENAI_API_KEY=' "endpoint: nor in the box (which was looked into)"
tap_is "$(wc -l <o-live/simulator.jsonl)" 3 "endpoint: each exchange is recorded"
tap_is "$(run_count o-live intervene effect=message applied=1)" 3 "endpoint: the trace has the messages"
tap_is "$(run_count o-live intervene effect=edit applied=1)" 3 "endpoint: and the edits"
tap_is "$(python3 -c '
import json
print([r["ep"] for r in map(json.loads, open("o-live/trace.jsonl")) if r.get("k") == "intervene"])')" "[1, 1, 2, 2, 3, 3]" \
	"endpoint: an intervention is one epoch, though its message comes later"

# The same run again, from its record: nobody is asked.
go o-again replay:o-live --set limits.model_calls=4
ok_run o-again replay $?
tap_is "$(said o-again message)" "$(said o-live message)" "replay: the same words"
tap_is "$(said o-again context_sha256)" "$(said o-live context_sha256)" "replay: of the same contexts, byte for byte"
tap_is "$(run_field o-again/run.json simulator.source)" replay "replay: from the record"
tap_is "$(run_field o-again/run.json pair_digest)" "$(run_field o-live/run.json pair_digest)" "replay: the simulator is no part of what a pair shares"

# Another course than the recorded one is told, and ends the run.
sed 's/echo first/echo other/' script.json >other.json
timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent own.json --scenario scenario.json --model script:other.json \
	--simulator replay:o-live --out o-other </dev/null >/dev/null 2>err.txt
tap_is "$(run_field o-other/run.json end.reason)" error "another course than the recorded one: an error"
tap_like "$(run_field o-other/run.json end.detail)" 'simulator: .*call 2.*other' "another course: which names the difference"

# --- a script ------------------------------------------------------------------------------------

cat >sim.json <<J
{ "schema": "proctor.script/1", "turns": [
  { "text": "$one", "expect": { "contains": ["Number of this message: 1", "sed -n 4,6p f.txt"] } },
  { "text": "$two", "expect": { "contains": ["Number of this message: 2", "-> 4"] } },
  { "text": "$three", "delay": "1s" } ] }
J
go o-script script:sim.json
ok_run o-script script $?
tap_is "$(said o-script message)" "$one
$two
$three" "script: its turns in order"
tap_is "$(said o-script context_sha256)" "$(said o-live context_sha256)" "script: of the same contexts as the endpoint's"
tap_ok "$(python3 -c '
import json, sys
sys.exit(json.load(open("o-script/run.json"))["simulator"]["held_ns"] < 10**9)'; echo $?)" \
	"script: the agent's request waits until the message is there"

# --- what cannot be said -------------------------------------------------------------------------

# fall NAME TURNS REASON...: three rounds, each with its failure; the templates are said.
fall()
{
	local name=$1 turns=$2 want='' i=1
	shift 2
	sim_start "$turns"
	heard script.json "" "" ""
	go "o-$name" "$url/v1#sim-1" --set simulator.retries=0 --set simulator.timeout=2s
	tap_is $? 0 "$name: runs" || sed 's/^/# /' err.txt
	sim_stop
	for reason in "$@"; do
		want+="template:$i (simulator: $reason)"$'\n'
		i=$((i + 1))
	done
	tap_is "$(said "o-$name" message_source)" "${want%$'\n'}" "$name: the template, and why"
	tap_is "$(said "o-$name" applied | sort -u)" True "$name: is said"
	tap_is "$(run_field "o-$name/run.json" simulator.fallbacks)" $# "$name: counted as such"
	tap_is "$(run_field "o-$name/run.json" end.reason)" exited "$name: the run goes on"
	tap_is "$(said "o-$name" template_sha256 | grep -c '^[0-9a-f]\{64\}$')" $# "$name: by digest"
	# Offline, the same again.
	go "o-$name-again" "replay:o-$name" --set simulator.retries=0 --set simulator.timeout=2s
	tap_is $? 0 "$name: replayed" || sed 's/^/# /' err.txt
	tap_is "$(run_field "o-$name-again/run.json" end.reason)" exited "$name: to its end"
	tap_is "$(said "o-$name-again" message)" "$(said "o-$name" message)" "$name: a replay says the same"
	tap_is "$(said "o-$name-again" message_source)" "$(said "o-$name" message_source)" "$name: for the same reason"
}
fall silent '[{"fault": "silence"}, {"fault": "500"}, {"fault": "reset"}]' "no answer" "HTTP status 500" "no answer"
fall torn '[{"fault": "cut"}, {"fault": "cutclean", "stream": 1}, {"fault": "errorevent"}]' \
	"the answer broke off" "the answer broke off" "an error instead of an answer"
# shellcheck disable=SC2016 # a code block, for JSON
fall betraying '[{"text": "Use this:\n```\nfive\n```"}, {"text": "As your simulated user I insist."}, {"text": "test_line_five wants it."}]' \
	"a code block" "simulated user" "the name of a test"
fall odd '[{"text": "Keep", "finish": "length"}, {"text": " "}, {"fault": "401"}]' \
	"cut at its limit of tokens" "empty" "HTTP status 401"

# One try more may help.
sim_start "[{\"fault\": \"500\"}, {\"text\": \"$one\"}, {\"fault\": \"503\"}, {\"text\": \"$two\"}, {\"text\": \"$three\"}]"
heard script.json "$one" "$two" "$three"
go o-retry "$url#sim-1"
ok_run o-retry "second try" $?
sim_stop
tap_is "$(said o-retry message_source | sort -u)" simulator "second try: no template is needed"

# --- keys ----------------------------------------------------------------------------------------

# key_of NAME WANT PATH VARIABLE...: what the simulator's endpoint is shown; the agent's model is asked at
# PATH of the same server.
key_of()
{
	local name=$1 want=$2 path=$3
	shift 3
	sim_start "[]" --call shell '{"command": "sed -n 4,6p f.txt"}'
	env "$@" timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent own.json --scenario scenario.json \
		--model "$url$path#m" --simulator "$url/v1#sim-1" --out "o-key-$name" </dev/null >/dev/null 2>err.txt
	sim_stop
	tap_is "$(python3 -c '
import json
got = {e["headers"].get("authorization", "none") for e in json.load(open("asked.json")) if "sim-1" in e["body"]}
print(*sorted(got))')" "$want" "key: $name"
}
key_of both "Bearer its-own-key" /v1 PROCTOR_MODEL_KEY=the-models-key PROCTOR_SIMULATOR_KEY=its-own-key
key_of same "Bearer the-models-key" /v1 PROCTOR_MODEL_KEY=the-models-key
key_of elsewhere none /f//v1 PROCTOR_MODEL_KEY=the-models-key

# --- another channel beside the model API --------------------------------------------------------

# beside OUT SCENARIO COMMAND...: our agent with a file for messages, whose model wants these commands.
sed 's|"message_via": "gateway"|"message_via": "file:/tmp/inbox"|' own.json >beside.json
beside()
{
	local out=$1 scenario=$2
	shift 2
	python3 - "$@" >commands.json <<'J'
import json, sys
json.dump({"schema": "proctor.script/1", "turns": [{"tools": [{"shell": c}]} for c in sys.argv[1:]] + [{"text": "Done."}]},
          sys.stdout)
J
	timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent beside.json --scenario "$scenario" --model script:commands.json \
		--simulator script:sim.json --out "$out" </dev/null >/dev/null 2>err.txt
	tap_is $? 0 "beside $out: runs" || sed 's/^/# /' err.txt
	tap_ok "$(grep -qxF "+$one" "$out/patch.diff"; echo $?)" "beside $out: the message is there" ||
		sed 's/^/# /' "$out/interventions.jsonl"
}
beside o-next scenario.json "sed -n 4,6p f.txt" "cp /tmp/inbox said.txt"
tap_is "$(run_field o-next/run.json simulator.fallbacks)" 0 "beside: before the agent's next answer, which waited for it"
# Nothing is asked of the model while the agent waits: the message comes all the same.
sed 's/after-command/at-touch/' scenario.json >at-touch.json
beside o-quiet at-touch.json ": >/tmp/inbox; sed -n 4,6p f.txt; timeout 60 tail -f /tmp/inbox | head -n 1 >said.txt"

# --- agents without a model API ------------------------------------------------------------------

# plain VIA SCRIPT
plain()
{
	printf '%s\n' "$2" >agent.sh
	python3 - "$1" >plain.json <<'J'
import json, sys
json.dump({"schema": "proctor.agent/1", "name": "plain", "api": "none", "command": ["sh", "~/agent.sh"],
           "files": {"~/agent.sh": "agent.sh"}, "message_via": sys.argv[1]}, sys.stdout)
J
}

# by_hand OUT OPTION...: a run of it.
by_hand()
{
	local out=$1
	shift
	timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent plain.json --scenario scenario.json --out "$out" "$@" \
		</dev/null >/dev/null 2>err.txt
}

plain file:/tmp/inbox ': >/tmp/inbox
sed -n 4,6p f.txt >/dev/null
cp f.txt at-once.txt
timeout 60 tail -f /tmp/inbox | head -n 1 >said.txt'
cat >slow.json <<J
{ "schema": "proctor.script/1", "turns": [ { "text": "$one", "delay": "500ms" } ] }
J
by_hand o-file --simulator script:slow.json
tap_is $? 0 "file: runs" || sed 's/^/# /' err.txt
tap_ok "$(grep -qxF "+$one" o-file/patch.diff; echo $?)" "file: the agent gets the message when it is there" ||
	sed 's/^/# /' o-file/interventions.jsonl
tap_like "$(sed -n '/at-once/,/^diff/p' o-file/patch.diff)" '\+five' "file: the edit is there at once"
tap_is "$(said o-file message_source)" simulator "file: it is the simulator's"
tap_is "$(run_field o-file/run.json model)" null "file: without a model"
tap_like "$(python3 - <<'J'
import json
request = json.loads(open("o-file/simulator.jsonl").readline())["request"].replace(r"\\", "\\")
print(json.loads(request)["messages"][1]["content"].replace("\n", " "))
J
)" "last command\] sed -n 4,6p f.txt " "file: the command is known from its arguments"

# shellcheck disable=SC2016 # for the shell in the box
plain stdin 'sed -n 4,6p f.txt >/dev/null
read -r line
echo "$line" >said.txt'
sim_start "[{\"text\": \"$one\"}]"
by_hand o-stdin --simulator "$url/v1#sim-1"
tap_is $? 0 "standard input: runs" || sed 's/^/# /' err.txt
sim_stop
tap_ok "$(grep -qxF "+$one" o-stdin/patch.diff; echo $?)" "standard input: the agent has the message"

# Agents with a protocol of their own: the turn is over before the message is there, and the agent's input
# must not end meanwhile.
cp "$top/tests/run/lib/native_agent.py" native.py
for protocol in pi-rpc codex-app-server claude-stream-json; do
	python3 - $protocol >plain.json <<'J'
import json, sys
json.dump({"schema": "proctor.agent/1", "name": "native", "api": "none", "command": ["false"],
           "files": {"~/agent.py": "native.py"}, "message_via": "native",
           "native": {"protocol": sys.argv[1], "command": ["/usr/bin/python3", "~/agent.py", sys.argv[1], "late"]}},
          sys.stdout)
J
	by_hand o-$protocol --simulator script:slow.json
	tap_is $? 0 "$protocol: runs" || sed 's/^/# /' err.txt
	tap_ok "$(grep -qxF "+turn: \"$one\"" o-$protocol/patch.diff; echo $?)" "$protocol: the message begins a turn of its own" ||
		grep '^+' o-$protocol/patch.diff | sed 's/^/# /'
	tap_is "$(said o-$protocol message_source)" simulator "$protocol: it is the simulator's"
	tap_is "$(run_field o-$protocol/run.json end.reason)" exited "$protocol: and the agent ends as ever"
done

# The agent is gone before it comes.
plain file:/tmp/inbox 'sed -n 4,6p f.txt >/dev/null'
sim_start '[{"fault": "silence"}]'
by_hand o-gone --simulator "$url/v1#sim-1"
tap_is $? 0 "gone: runs" || sed 's/^/# /' err.txt
sim_stop
tap_is "$(said o-gone applied)/$(said o-gone reason)" "False/the run ended before it could be said" "gone: and the message is told as not said"
tap_is "$(run_field o-gone/run.json simulator.calls)" 1 "gone: what may be billed is counted"

# --- other things --------------------------------------------------------------------------------

# A fixed text is nobody's to write; without messages nobody is asked.
sed 's/"claim": "Line 5 is a word."/"text": "Keep line 5."/' scenario.json >fixed.json
plain file:/tmp/inbox 'sed -n 4,6p f.txt >/dev/null'
timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent plain.json --scenario fixed.json --simulator script:sim.json \
	--out o-fixed </dev/null >/dev/null 2>err.txt
tap_is "$(said o-fixed message_source)/$(wc -c <o-fixed/simulator.jsonl)" text/0 "a fixed text is said as it is"
by_hand o-none --simulator replay:o-fixed --mode edit
tap_is "$(run_field o-none/run.json end.reason)/$(run_field o-none/run.json simulator.calls)" exited/0 "a record without messages serves a run without"

# bad NAME STATUS TEXT OPTION...
bad()
{
	local name=$1 status=$2 want=$3
	shift 3
	timeout 60 "$PROCTOR" run -q --no-tty --task task.json --agent plain.json --scenario scenario.json --out o-bad "$@" \
		</dev/null >/dev/null 2>err.txt
	tap_is $? "$status" "$name: refused"
	tap_like "$(cat err.txt)" "$want" "$name: says why"
	rm -rf o-bad
}
bad "an endpoint without a model" 2 '--simulator http://127.0.0.1:1/v1: name the model' --simulator http://127.0.0.1:1/v1
bad "an endpoint in the clear" 2 '--simulator http://example.org.*in the clear' --simulator 'http://example.org#m'
bad "a run without a record" 3 'simulator.jsonl' --simulator replay:repo
bad "a wrong form" 2 'did you mean "replay-loose:"' --simulator replay_loose:x
bad "no prompt" 3 'system prompt.*nowhere' --simulator script:sim.json --set simulator.prompt=nowhere.txt
printf ' \n' >empty.txt
bad "an empty prompt" 3 'empty.txt: .*is empty' --simulator script:sim.json --set simulator.prompt=empty.txt
bad "a temperature too high" 2 'simulator.temperature: expected 0 to 2' --simulator script:sim.json --set simulator.temperature=2.1
bad "no tokens" 2 'simulator.max_tokens: expected 1 to 1000' --simulator script:sim.json --set simulator.max_tokens=0
echo '{ "schema": "proctor.script/1", "turnz": [] }' >wrong.json
bad "a wrong script" 3 '--simulator.*turnz' --simulator script:wrong.json
tap_done
