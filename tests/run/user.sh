#!/usr/bin/env bash
# Users that react: a program in a box of its own that is asked between the agent's turns, or a model; what it sees of the
# workspace, what it says and when, and what a silent, broken or hostile one can do.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p repo/sub
printf 'def add(a, b):\n    return a - b\n' >repo/a.py
echo kept >repo/sub/old.txt
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "user-1", "problem_statement": "Mend add.", "source": "repo", "workdir": "/workspace" }
J

# scenario FIELDS [MORE]: scenario.json with these fields of the user.
scenario()
{
	echo "{ \"schema\": \"proctor.scenario/1\", \"id\": \"u\", \"instance_id\": \"user-1\", \"user\": { $1 } ${2-} }" >scenario.json
}

# program: user.py from standard input; "turns()" gives what is asked, "say()" answers.
program()
{
	cat - >user.py.in
	cat >user.py - user.py.in <<'P'
import json, os, sys, time


def turns():
    for line in sys.stdin:
        yield json.loads(line)


def say(action="no-op", **more):
    print(json.dumps({"action": action, **more}), flush=True)


P
}

# script TURN...: script.json with these turns (JSON).
script()
{
	local IFS=,
	echo "{ \"schema\": \"proctor.script/1\", \"usage\": { \"input\": 100, \"output\": 10 }, \"turns\": [ $* ] }" >script.json
}

# go NAME [OPTION...]: one run of the actor.
go()
{
	out=$1
	shift
	timeout 120 "$PROCTOR" run -q --task task.json --agent actor --model script:script.json --scenario scenario.json \
		--out "$out" "$@" </dev/null >out.txt 2>err.txt
	status=$?
}

# line NAME N FIELD: of the N-th line of user.jsonl.
line()
{
	sed -n "$2p" "$1/user.jsonl" >line.json
	run_field line.json "$3"
}

three='{"text":"I look.","tools":[{"shell":"cat a.py"}]}'
edit='{"tools":[{"shell":"sed -i s/-/+/ a.py; rm sub/old.txt; mkdir new; echo b >new/b.txt"}]}'
end='{"text":"Done."}'

# It sees what the agent said, did and changed, and the workspace itself, which it cannot write.
scenario '"argv": ["python3", "user.py"], "files": ["user.py"], "messages": 2'
program <<'P'
ws = os.environ["WORKSPACE"]
for t in turns():
    found = sorted(os.path.relpath(os.path.join(d, f), ws) for d, _, files in os.walk(ws) for f in files)
    try:
        open(ws + "/mine", "w")
        found.append("written")
    except OSError as e:
        found.append(e.strerror)
    note = ",".join(found)
    if "a + b" in open(ws + "/a.py").read() and not os.path.exists("told"):
        open("told", "w").close()
        say("redirect", text="Write a docstring, too.", note=note)
    elif t["ended"]:
        say("question", text="Is that all?", note=note)
    else:
        say(note=note, text="nobody hears this")
P
script "$three" "$edit" '{"expect":{"contains":["Write a docstring, too."],"lacks":["nobody hears"]},"tools":[{"shell":"echo ok"}]}' "$end"
go seen
tap_is $status 0 "a user that reacts" || sed 's/^/# /' err.txt
tap_is "$(run_field seen/run.json model.unmet)" "[]" "what it said stands in the next request"
tap_is "$(line seen 1 asked.commands)" "[]" "nothing has happened at first"
tap_is "$(line seen 2 asked.said)" "I look." "it is told what the agent said"
tap_is "$(line seen 2 asked.commands.0.command)" "cat a.py" "and did"
tap_like "$(line seen 2 asked.commands.0.output)" "return a - b" "and what came of it"
tap_is "$(line seen 3 asked.changed)" '["a.py", "new/b.txt", "sub/old.txt"]' "and what changed"
tap_is "$(line seen 2 note)" "a.py,sub/old.txt,Read-only file system" "it sees the workspace and cannot write it"
tap_is "$(line seen 3 note)" "a.py,new/b.txt,Read-only file system" "as it is now"
tap_is "$(line seen 5 unsaid)" "the agent had ended its work" "behind the last words nobody listens"
tap_is "$(run_field seen/run.json user.turns)" 5 "five turns"
tap_is "$(run_field seen/run.json user.messages)" 1 "one message"
tap_is "$(run_field seen/run.json user.unsaid)" 1 "one that was not said"
tap_is "$(run_field seen/run.json user.user_correction)" 1.2 "a correction and a nudge"
tap_is "$(run_count seen note user=redirect turn=3 said=1)" 1 "the trace has its turns"
tap_is "$(run_count seen note message=1 call=3)" 1 "and that the message reached the model"
tap_is "$(grep -c told seen/patch.diff)" 0 "what it writes is its own"

# The same answers again: the user says the same at the same place.
go again --model replay:seen
tap_is $status 0 "a replay" || sed 's/^/# /' err.txt
tap_is "$(run_field again/run.json user.messages)" 1 "has the user's message, too"

# The cap; every second request.
program <<'P'
for t in turns():
    say("new_requirement", text="Message %d, %d left." % (t["turn"], t["messages_left"]))
P
echo='{"tools":[{"shell":"echo ok"}]}'
script "$echo" "$echo" "$echo" "$echo" "$end"
go cap
tap_is "$(run_field cap/run.json user.messages)" 2 "no more messages than it may say"
tap_is "$(run_field cap/run.json user.turns)" 2 "and then it is not asked any more"
scenario '"argv": ["python3", "user.py"], "files": ["user.py"], "every": 2, "view": false'
go every
tap_is "$(line every 1 call)/$(line every 2 call)" 2/4 "asked at every second request"
tap_is "$(line every 1 asked.changed)" "[]" "and shown nothing"

# Silence: answers that come a turn late are no answers to the next.
scenario '"argv": ["python3", "user.py"], "files": ["user.py"], "wait": "300ms"'
program <<'P'
before = None
for t in turns():
    if t["turn"] < 3:
        before = t
        continue
    for n in range(2):
        say("redirect", text="too late")
    say("question", text="In time?")
P
script "$echo" "$echo" '{"expect":{"contains":["In time?"],"lacks":["too late"]},"tools":[{"shell":"echo ok"}]}' "$end"
go late
tap_is $status 0 "a user that is silent holds nobody up" || sed 's/^/# /' err.txt
tap_is "$(run_field late/run.json user.late)" 2 "two answers were late"
tap_is "$(run_field late/run.json model.unmet)" "[]" "what comes late is not said"
tap_is "$(line late 1 wrong)" "no answer in time" "the record says so"

# broken NAME WRONG: the program on standard input ends as WRONG, and the run is none the worse.
broken()
{
	program
	go "$1"
	tap_is "$status/$(run_field "$1/run.json" end.reason)" 0/exited "$1: the run ends as ever" || sed 's/^/# /' err.txt
	tap_is "$(line "$1" 1 action)/$(line "$1" 1 wrong)" "no-op/$2" "$1: a no-op"
}

scenario '"argv": ["python3", "user.py"], "files": ["user.py"], "wait": "5s"'
script "$echo" "$edit" "$end"
broken garbage "no JSON object" <<'P'
for t in turns():
    print("\x00 not { json", flush=True)
P
broken unknown "an unknown action" <<'P'
for t in turns():
    say("shout", text="x")
P
broken long "the line is too long" <<'P'
for t in turns():
    print("x" * 200000, flush=True)
P
broken quits "its program has ended" <<'P'
sys.exit(3)
P
tap_is "$(run_field quits/run.json user.gone)" "its program has ended" "quits: and is not asked any more"
tap_is "$(run_field quits/run.json user.turns)" 1 "quits: after the first turn"
tap_is "$(run_count quits note user=gone)" 1 "quits: the trace says so"
broken flood "no JSON object" <<'P'
turns().__next__()
os.set_blocking(1, True)
while True:
    os.write(1, b"no line\n" * 4096)
    os.write(2, b"noise" * 4096)
P
tap_ok "$(test "$(stat -c %s flood/user.log)" -le 65536; echo $?)" "flood: what it writes beside is bounded"
broken hoards "no action" <<'P'
for t in turns():
    if t["turn"] == 1:
        for name in "abc":
            with open(name, "wb") as f:
                for n in range(100):
                    f.write(b"x" * (1 << 20))
    print("{}", flush=True)
P
tap_is "$(run_field hoards/run.json user.gone)" "its program wrote more than it may" "hoards: and is ended"

# Its box: no network, no key, nobody else's processes.
program <<'P'
import socket

for t in turns():
    bad = []
    for address in [("127.0.0.1", 80), ("192.0.2.1", 80)]:
        try:
            socket.create_connection(address, 1)
            bad.append("reached")
        except OSError:
            pass
    others = [p for p in os.listdir("/proc") if p.isdigit() and int(p) > 1 and int(p) != os.getpid()]
    keys = [k for k in os.environ if "KEY" in k or "PROCTOR" in k]
    say(note=repr([bad, others, keys, os.getcwd(), sorted(os.listdir("."))]))
P
PROCTOR_MODEL_KEY=secret go box
tap_is "$(line box 1 note)" "[[], [], [], '/user', ['user.py']]" "its box has no network, no key, nobody else"
tap_is "$(line box 2 note)" "[[], [], [], '/user', ['user.py']]" "and no tool of the agent's either"

# Not asked at all, or refused.
go silent --mode vanilla
tap_is "$(run_field silent/run.json user)" null "a mode without messages has no user"
go alone --mode edit
tap_like "$(cat err.txt)" "no effect of its interventions takes place" "where nothing else happens that mode is refused"
timeout 60 "$PROCTOR" run -q --task task.json --scenario scenario.json --out no-api -- true </dev/null >out.txt 2>err.txt
tap_is $? 3 "an agent without a model API is refused"
tap_like "$(cat err.txt)" "use an agent with an api" "and told why" || sed 's/^/# /' err.txt
scenario '"argv": ["python3"], "massages": 3'
go nearest
tap_like "$(cat err.txt)" 'did you mean "messages"' "the nearest field is named" || sed 's/^/# /' err.txt
scenario '"argv": ["python3"], "files": ["../task.json"]'
go outside
tap_is $status 3 "files stand beside the scenario"
scenario '"argv": ["no-such-program"]'
go missing
tap_like "$(cat err.txt)" "the scenario's user.*no-such-program" "a program that is not there" || sed 's/^/# /' err.txt

# A model in its place.
echo "You are the person who wants add() mended. Say JSON." >prompt.txt
scenario '"prompt": "prompt.txt"'
script "$echo" '{"expect":{"contains":["Name it plus."],"lacks":["gold patch"]},"tools":[{"shell":"echo ok"}]}' "$end"
go model
tap_is $status 2 "a model as user needs one"
tap_like "$(cat err.txt)" "add --simulator MODEL" "and says how"
cat >sim.json <<'J'
{ "schema": "proctor.script/1", "usage": { "input": 50, "output": 5 }, "turns": [
  { "expect": { "contains": ["Mend add.", "messages_left"] }, "text": "{\"action\": \"no-op\"}" },
  { "expect": { "contains": ["echo ok"] }, "text": "Here:\n```json\n{\"action\": \"new_requirement\", \"text\": \"Name it plus.\"}\n```" },
  { "expect": { "contains": ["1. Name it plus."] }, "text": "{\"action\": \"redirect\", \"text\": \"See the gold patch.\"}" },
  { "text": "not JSON" } ] }
J
go model --simulator script:sim.json
tap_is $status 0 "with one" || sed 's/^/# /' err.txt
tap_is "$(run_field model/run.json model.unmet)" "[]" "what it says reaches the agent, and it is asked as it should be"
tap_is "$(grep -c "You are the person" model/simulator.jsonl)" 4 "by its own prompt"
tap_is "$(run_field model/run.json user.messages)" 1 "one message"
tap_is "$(line model 3 wrong)" "its text says what no user knows" "what no user knows is not said"
tap_is "$(run_field model/run.json simulator.calls)" 4 "its calls are metered apart"
tap_is "$(run_field model/run.json model.calls)" 3 "from the agent's"

# An agent that is spoken to by its own protocol goes on when its user has more to say.
if need_agent pi; then
	scenario '"argv": ["python3", "user.py"], "files": ["user.py"], "messages": 1'
	program <<'P'
for t in turns():
    if t["ended"]:
        say("new_requirement", text="One more thing: name it plus.")
    else:
        say()
P
	script '{"tools":[{"shell":"cat a.py"}]}' "$end" '{"expect":{"contains":["One more thing"]},"tools":[{"shell":"sed -i s/add/plus/ a.py"}]}' "$end"
	timeout 120 "$PROCTOR" run -q --task task.json --agent pi-native --model script:script.json --scenario scenario.json \
		--out native </dev/null >out.txt 2>err.txt
	tap_is $? 0 "pi: runs" || sed 's/^/# /' err.txt
	tap_is "$(run_field native/run.json model.main_calls)" 4 "pi: works on after its last words"
	tap_is "$(run_field native/run.json model.unmet)" "[]" "pi: with what the user said"
	tap_is "$(run_field native/run.json user.unsaid)" 0 "pi: nothing is unsaid"
	tap_ok "$(grep -q '^+def plus' native/patch.diff; echo $?)" "pi: and does it"
fi
tap_done
