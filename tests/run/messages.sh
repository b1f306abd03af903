#!/usr/bin/env bash
# A user message reaches the agent through each channel: file, standard input, terminal, hook command.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir repo
seq 1 20 >repo/f.txt
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "msg-1", "problem_statement": "none", "source": "repo" }
J
cat >scenario.json <<'J'
{ "schema": "proctor.scenario/1", "id": "msg", "instance_id": "msg-1", "mode": "message", "max_rounds": 1,
  "regions": [ { "path": "f.txt", "start": 5, "end": 6 } ],
  "interventions": [ { "order": 1, "when": { "event": "read", "regions": [0] }, "timing": "after-command",
    "effects": [ { "message": { "text": "I looked at it, too." } } ] } ] }
J

# agent VIA SCRIPT
agent()
{
	printf '%s\n' "$2" >agent.sh
	/usr/bin/python3 - "$1" >agent.json <<'J'
import json, sys
json.dump({"schema": "proctor.agent/1", "name": "a", "api": "none", "command": ["sh", "~/agent.sh"],
           "files": {"~/agent.sh": "agent.sh"}, "message_via": sys.argv[1]}, sys.stdout)
J
}

# said OUT NAME: the agent wrote what it heard to said.txt in the workspace.
said()
{
	tap_ok "$(grep -qsx '+I looked at it, too.' "$1/patch.diff"; echo $?)" "$2: the agent has the message" ||
		{ sed 's/^/# /' "$1/interventions.jsonl"; cut -c1-200 err.txt | sed 's/^/# /'; }
	tap_is "$(run_field "$1/run.json" interventions.fired)" 1 "$2: and it counts"
}

agent file:/tmp/inbox 'cat f.txt >/dev/null
cat /tmp/inbox >said.txt'
proctor run -q --no-tty --task task.json --agent agent.json --scenario scenario.json --out o-file </dev/null >/dev/null 2>err.txt
said o-file file

# shellcheck disable=SC2016 # for the shell in the box
agent stdin 'cat f.txt >/dev/null
read -r line
echo "$line" >said.txt'
proctor run -q --no-tty --task task.json --agent agent.json --scenario scenario.json --out o-stdin </dev/null >/dev/null 2>err.txt
said o-stdin "standard input"

# The hook talks to the living agent: it must not be waited for while the agent is not served. It outlives
# the agent, and its end is awaited all the same.
# shellcheck disable=SC2016 # for the shell in the box
agent 'exec:printf "%s\n" "$1" >/tmp/pipe; sleep 0.3' 'mkfifo /tmp/pipe
cat f.txt >/dev/null
cat /tmp/pipe >said.txt'
proctor run -q --no-tty --task task.json --agent agent.json --scenario scenario.json --out o-exec </dev/null >/dev/null 2>err.txt
said o-exec "hook command"
tap_is "$(run_count o-exec note end=ok)" 1 "hook command: its end is noted"

# shellcheck disable=SC2016 # for the shell in the box
agent pty 'cat f.txt >/dev/null
read -r line
tty >tty.txt
echo "$line" >said.txt'
cat >on_tty.py <<'J'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 1024))))
J
timeout 60 /usr/bin/python3 on_tty.py "$PROCTOR" run -q --task task.json --agent agent.json --scenario scenario.json --out o-pty </dev/null >err.txt 2>&1
said o-pty terminal
tap_done
