#!/usr/bin/env bash
# A user message goes into the agent's own conversation, by each protocol: small stand-ins that speak them
# as the real ones do, then the real ones where npm has them.
# usage: native.sh [AGENT...]; without names those that ./check runs
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- pi codex
mkdir repo
seq 1 20 >repo/f.txt
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "nat-1", "problem_statement": "Mend \"line 5\".\nPlease.", "source": "repo" }
J
cat >scenario.json <<'J'
{ "schema": "proctor.scenario/1", "id": "nat", "instance_id": "nat-1", "mode": "message", "max_rounds": 1,
  "regions": [ { "path": "f.txt", "start": 5, "end": 6 } ],
  "interventions": [ { "order": 1, "when": { "event": "read", "regions": [0] }, "timing": "after-command",
    "effects": [ { "message": { "text": "I \"looked\" at it, too." } } ] } ] }
J
cp "$top/tests/run/lib/native_agent.py" agent.py

# agent PROTOCOL WAY: an agent file for the stand-in.
agent()
{
	/usr/bin/python3 - "$@" >agent.json <<'J'
import json, sys
json.dump({"schema": "proctor.agent/1", "name": "a", "api": "none", "command": ["false"],
           "files": {"~/agent.py": "agent.py"}, "message_via": "native",
           "native": {"protocol": sys.argv[1],
                      "command": ["/usr/bin/python3", "~/agent.py", *sys.argv[1:]]}}, sys.stdout)
J
}

# go PROTOCOL WAY [OPTION...]: run it into o-PROTOCOL-WAY.
go()
{
	out=o-$1-$2
	agent "$1" "$2"
	shift 2
	timeout 60 "$PROCTOR" run -q --task task.json --agent agent.json --scenario scenario.json --out "$out" "$@" \
		</dev/null >out.txt 2>err.txt
}

has()
{
	grep -qxF -- "+$2" "$1/patch.diff"
}

for protocol in pi-rpc codex-app-server claude-stream-json; do
	go $protocol plain
	tap_is $? 0 "$protocol: runs"
	tap_ok "$(has "$out" 'prompt: "Mend \"line 5\".\nPlease."'; echo $?)" "$protocol: it is given the problem statement" ||
		{ sed 's/^/# /' err.txt "$out/stderr.log"; grep '^+' "$out/patch.diff" | sed 's/^/# /'; }
	tap_ok "$(has "$out" 'steered: "I \"looked\" at it, too."'; echo $?)" "$protocol: the message steers its turn"
	tap_ok "$(has "$out" 'end of input'; echo $?)" "$protocol: its input ends when its work is done"
	tap_is "$(run_field "$out/run.json" end.status)" 0 "$protocol: so it exits"
	tap_is "$(run_count "$out" note via=$protocol message=1)" 1 "$protocol: the trace says that it took the message"
	tap_is "$(run_count "$out" note)" 1 "$protocol: and nothing else"
	tap_ok "$(cmp -s out.txt "$out/stdout.log"; echo $?)" "$protocol: what it says is passed on as ever"

	go $protocol late
	tap_ok "$(has "$out" 'turn: "I \"looked\" at it, too."'; echo $?)" "$protocol: a message that comes as the turn ends begins one" ||
		{ sed 's/^/# /' err.txt "$out/stderr.log"; grep '^+' "$out/patch.diff" | sed 's/^/# /'; }
	tap_is "$(run_count "$out" note via=$protocol message=1)" 1 "$protocol: and is taken"

	go $protocol deaf
	tap_is "$(run_field "$out/run.json" end.reason)" exited "$protocol: an agent that takes no message ends all the same"
	tap_is "$(run_count "$out" note via=$protocol message=1 "lost=the agent ended before it took it")" 1 \
		"$protocol: and the message is lost"

	go $protocol loud
	tap_ok "$(has "$out" 'end of input'; echo $?)" "$protocol: lines without end or sense do no harm"

	go $protocol shut
	tap_is "$(run_field "$out/run.json" end.reason)" exited "$protocol: an agent that closes its input is no end either"
	# Whether the channel is seen to be shut, the write fails, or it lies in a pipe that nobody reads is a matter of
	# moments: at the first the firing is refused.
	tap_is $(($(run_field "$out/run.json" interventions.fired) + $(run_field "$out/run.json" interventions.refused))) 1 \
		"$protocol: though the message was due"
	tap_is "$(grep -c '"k":"note".*"message":1,"lost":"the agent' "$out/trace.jsonl")" 1 "$protocol: and is lost"
done

go pi-rpc plain2 --set model.tell_limits=true --set limits.wall=30s
tap_ok "$(grep -q '^+prompt: .*This work ends at the latest after 30s of wall time' "$out/patch.diff"; echo $?)" \
	"limits are told with the problem statement" || { cat err.txt; grep '^+' "$out/patch.diff"; } | sed 's/^/# /'

# The real ones. The second tool call waits until the message stands in the agent's own files.
cat >script.json <<'J'
{ "schema": "proctor.script/1", "usage": { "input": 1000, "output": 50 },
  "turns": [
    { "expect": { "contains": ["Please."], "lacks": ["at it, too."] }, "tools": [ { "shell": "sed -n 5,6p f.txt" } ] },
    { "expect": { "contains": ["at it, too."] },
      "tools": [ { "shell": "for i in $(seq 20); do grep -rls 'at it, too' ~/.pi ~/.codex ~/.claude >seen.txt; [ -s seen.txt ] && break; sleep 0.25; done; cat seen.txt" } ] },
    { "expect": { "contains": ["at it, too."] }, "text": "I am done." } ] }
J

# look DIR: the requests, one assertion a line: "ok NAME" or "not NAME: why".
look()
{
	/usr/bin/python3 - "$1" <<'J'
import json, sys

lines = [json.loads(line) for line in open(f"{sys.argv[1]}/model.jsonl")]
main = [one for one in lines if one.get("source") == "script" and one["purpose"] == "main"]
run = json.load(open(f"{sys.argv[1]}/run.json"))


def say(good, name, why):
    print(f"ok {name}" if good else f"not {name}: {why}")


def users(one):
    body = json.loads(one["request"].replace("\\\\", "\\"))
    items = body.get("messages") or body.get("input")
    last = [item for item in items if item.get("role") == "user"]
    return [item for item in last if "looked" in json.dumps(item)], items


say(len(main) == 3, "three turns", len(main))
for n, one in enumerate(main[1:]):
    found, items = users(one)
    say(len(found) == 1, f"the message is in request {n + 2} as a turn of the user", found)
    if n == 0:
        say(bool(found) and items[-1] == found[0], "behind the tool's result", items[-1])
say(not any(one["placed"] for one in main), "the gateway placed nothing", "")
say(run["model"]["messages"] == 1 and run["model"]["unmet"] == [], "as expected", run["model"])
J
}

# real NAME: the run of one agent.
real()
{
	local name=$1 out=o-$1 line
	timeout 180 "$PROCTOR" run -q --no-tty --task task.json --agent "$name-native" --scenario scenario.json \
		--model script:script.json --out "$out" </dev/null >out.txt 2>err.txt
	tap_is $? 0 "$name: runs" || tail -n 5 err.txt "$out/stderr.log" | sed 's/^/# /'
	while IFS= read -r line; do
		if [ "${line%% *}" = ok ]; then
			tap_ok 0 "$name: ${line#ok }"
		else
			tap_ok 1 "$name: ${line#not }"
		fi
	done < <(look "$out" 2>&1 | grep . || echo "not the run can be looked at: nothing was said")
	tap_ok "$(grep -q '^+/home/.*json' "$out/patch.diff"; echo $?)" "$name: its own files hold the message" ||
		{ grep '^+' "$out/patch.diff"; tail -n 5 err.txt; } | sed 's/^/# /'
	tap_is "$(run_field "$out/run.json" end.status)" 0 "$name: it ends well"
	tap_is "$(run_count "$out" note message=1)" 1 "$name: the trace says that it took the message"
}

for name in "$@"; do
	need_agent "$name" && real "$name"
done
tap_done
