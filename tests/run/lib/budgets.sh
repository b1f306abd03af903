# shellcheck shell=bash disable=SC2154,SC2034
# For tests of budgets: an agent of our own, an upstream that counts (tests/tools/meteredmodel.py), runs
# of agents against it, and what must hold afterwards. Source it behind run.sh.
#   scratch   where the boxes of this test are built

scratch=$work/scratch
export PROCTOR_SCRATCH=$scratch
mkdir -p "$scratch" repo

upstream_pid='' upstream_url=''
trap 'upstream_stop; chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT

cat >agent.py <<'J'
# A small agent: chat completions, one tool, nothing else. With a number N as its second argument it
# sends N requests at once after its first tool call.
import hashlib, json, os, subprocess, sys, threading, urllib.error, urllib.request

BASE = os.environ["OPENAI_BASE_URL"]
TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": {
    "type": "object", "properties": {"command": {"type": "string"}}}}}]


def ask(messages, **more):
    """(status, answer); what was got is told on standard output."""
    body = json.dumps({"model": "m", "messages": messages, **more}).encode()
    request = urllib.request.Request(BASE + "/chat/completions", body, {
        "Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
    try:
        with urllib.request.urlopen(request) as r:
            status, text = r.status, r.read()
    except urllib.error.HTTPError as e:
        status, text = e.code, e.read()
    print("got", status, hashlib.sha256(text).hexdigest(), flush=True)
    return status, json.loads(text)


def turn(messages):
    """One step; the exit status of the agent, None to go on."""
    status, answer = ask(messages, tools=TOOLS)
    if status != 200:
        print(answer["error"]["message"], flush=True)
        return 3
    message = answer["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print("says", message["content"], flush=True)
        return 0
    for call in message["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        out = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = out.stdout.decode("utf-8", "replace")
        sys.stdout.write(text)
        sys.stdout.flush()
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text[:2000] or "(nothing)"})
    return None


def many(n, most):
    """N requests at once; most: output tokens each may have, 0 = not said."""
    more = {"max_tokens": most} if most else {}
    heard = [None] * n

    def one(i):
        heard[i] = ask([{"role": "user", "content": f"question {i} " + "x" * 400}], **more)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    closing = [a for s, a in heard if s == 200 and "stop here" in a["choices"][0]["message"]["content"]]
    print("answers", sum(s == 200 for s, _ in heard) - len(closing), flush=True)
    return 0 if closing else 3


messages = [{"role": "user", "content": sys.argv[1]}]
status = turn(messages)
if status is None and len(sys.argv) > 2:
    status = many(int(sys.argv[2]), int(sys.argv[3]))
while status is None:
    status = turn(messages)
sys.exit(status)
J

# own_agent FILE ARGUMENT...: our agent with these arguments behind the problem statement.
own_agent()
{
	local file=$1
	shift
	python3 - "$@" >"$file" <<'J'
import json, sys
json.dump({"schema": "proctor.agent/1", "name": "own", "api": "openai-chat",
           "command": ["/usr/bin/python3", "~/agent.py", "{problem_statement}", *sys.argv[1:]],
           "base_url_env": "OPENAI_BASE_URL", "key_env": "OPENAI_API_KEY", "files": {"~/agent.py": "agent.py"},
           "tools": {"shell": {"name": "shell", "args": {"command": "{command}"}}},
           "message_via": "gateway"}, sys.stdout)
J
}
own_agent own.json

echo old >repo/file.txt
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "budget-1", "problem_statement": "Go on until I say stop.",
  "source": "repo" }
J
cat >prices.json <<'J'
{ "schema": "proctor.prices/1",
  "prices": [ { "model": "*", "input": "2.00", "output": "10.00", "source": "this test", "date": "2026-01-01" } ] }
J

# upstream_start ARGUMENT...: sets upstream_url.
upstream_start()
{
	local line
	mkfifo up.in up.out
	python3 "$top/tests/tools/meteredmodel.py" "$@" <up.in >up.out 2>up.err &
	upstream_pid=$!
	exec 7>up.in
	read -r line <up.out
	rm -f up.in up.out
	upstream_url=http://127.0.0.1:${line#port }
}

# upstream_stop: its log goes to upstream.json.
upstream_stop()
{
	[ -n "$upstream_pid" ] || return 0
	python3 -c 'import sys, urllib.request
sys.stdout.write(urllib.request.urlopen(sys.argv[1] + "/log").read().decode())' "$upstream_url" >upstream.json 2>/dev/null
	exec 7>&-
	wait "$upstream_pid"
	upstream_pid=''
}

# shell_tool AGENT COMMAND: what a model says to run COMMAND by the agent's own tool: its name, a tab,
# the arguments. AGENT is own, or the name of a shipped one.
shell_tool()
{
	python3 -c '
import json, re, sys
name, command, top = sys.argv[1:4]
path = f"{name}.json" if name.startswith("own") else f"{top}/profiles/data/agents/{name}.json"
tool = json.loads(re.sub(r"(?m)^\s*//.*$", "", open(path).read()))["tools"]["shell"]
args = {k: command if v == "{command}" else v for k, v in tool["args"].items()}
print(tool["name"], json.dumps(args), sep="\t")' "$1" "$2" "$top"
}

# alone SECONDS COMMAND...: run it; what of it still lives SECONDS later is named in left.txt. Orphans of every depth, those of
# PID namespaces too, come to the nearest subreaper above them (prctl(2), PR_SET_CHILD_SUBREAPER).
alone()
{
	rm -f left.txt
	python3 - "$@" <<'J'
import ctypes, os, subprocess, sys, time

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open("err.txt", "w"))
status = child.wait()


def orphans():
    """What lives; who has died meanwhile is reaped."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            return []
    with open("/proc/self/task/%d/children" % os.getpid()) as f:
        return f.read().split()


end = time.monotonic() + float(sys.argv[1])  # for what is dying at present
while orphans() and time.monotonic() < end:
    time.sleep(0.05)
with open("left.txt", "w") as f:
    for pid in orphans():
        print(pid, open(f"/proc/{pid}/cmdline").read().replace("\0", " "), file=f)
sys.exit(status if status >= 0 else 128 - status)
J
}

# holds OUT KIND MODE: what must hold after a run whose budget KIND was spent with on_limit MODE; one
# line each: "ok NAME" or "not NAME: why". upstream.json is there.
holds()
{
	python3 - "$1" "$2" "$3" "$work" <<'J'
import hashlib, json, re, sys

where, kind, mode, work = sys.argv[1:5]
MODEL = ("model_calls", "input_tokens", "output_tokens", "total_tokens", "dollars")
AT_ONCE = ("memory", "processes", "disk")


def say(good, name, why=""):
    print(f"ok {name}" if good else f"not {name}: {why}")


def unescape(text):
    """A body's bytes as they were (docs/formats.md)."""
    if "\\" not in text:
        return text.encode()
    return re.sub(rb"\\(\\|x[0-9a-f]{2})", lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]),
                  text.encode())


def price(u):
    return 2 * u["input"] + 10 * u["output"]  # micro-dollars


run = json.load(open(f"{where}/run.json"))
lines = [json.loads(line) for line in open(f"{where}/model.jsonl")]
trace = [json.loads(line) for line in open(f"{where}/trace.jsonl")]
# A request that was still to be answered when the box was killed may be billed.
asked = [{"usage": e["usage"] or {"input": 0, "output": 0}}
         for e in json.load(open(f"{work}/upstream.json")) if e["method"] == "POST"]
live = [one for one in lines if one["source"] == "live"]
made = [one for one in lines if one["source"] == "gateway"]
end, model = run["end"], run["model"]
budgets = {b["name"]: b for b in run["budgets"]}

say(end["reason"] == "limit:" + kind, "right end reason", end)
say(run["state"] == "done", "run.json is finished", run["state"])

# What left, as the other end counts it.
used = {"model_calls": len(asked), "input_tokens": sum(e["usage"]["input"] for e in asked),
        "output_tokens": sum(e["usage"]["output"] for e in asked),
        "dollars": sum(price(e["usage"]) for e in asked)}
used["total_tokens"] = used["input_tokens"] + used["output_tokens"]
if kind in MODEL:
    say(used[kind] <= budgets[kind]["limit"], "nothing beyond the budget", (used, budgets))
    say(len(asked) >= 2, "spent in the middle of the run", len(asked))
got = (model["calls"], model["input_tokens"], model["output_tokens"], model["micro_dollars"])
want = (used["model_calls"], used["input_tokens"], used["output_tokens"], used["dollars"])
cut = [one for one in made if one["tries"]]  # no answer came before the box was dead
say(len(live) + len(cut) == len(asked), "each call is in model.jsonl", (len(live), len(cut), len(asked)))
if cut:
    say(got[0] == want[0], "run.json counts every call", (got, want))
else:
    say(got == want, "run.json says what the other end counted", (got, want))
    billed = sorted((one["usage"]["input"], one["usage"]["output"]) for one in live)
    say(billed == sorted((e["usage"]["input"], e["usage"]["output"]) for e in asked),
        "and model.jsonl, call by call", billed)

# What the agent got, where it tells.
hashes = {hashlib.sha256(unescape(one["answer"])).hexdigest() for one in lines}
told = [line.split() for line in open(f"{where}/stdout.log", errors="replace") if line.startswith("got ")]
lost = [t for t in told if t[2] not in hashes]
say(not lost, "every answer that the agent got is in model.jsonl", lost)

warned = [r for r in trace if r.get("k") == "budget" and r["name"] == kind]
say(len(warned) == 1, "one warning", warned)
if warned:
    say(warned[0]["limit"] == budgets[kind]["limit"], "with the limit", warned)

closing = [one for one in made if one["status"] == 200 and not one["tries"]]
refused = [one for one in made if one["status"] == 400]
if kind in AT_ONCE or mode == "kill":
    say(end.get("status") is None, "the agent is killed", end)
elif mode == "finish":
    say(closing and not refused, "there is a closing answer", [(m["status"], m["note"]) for m in made])
    say(end.get("status") == 0, "the agent ends by itself, content", end)
else:
    say(refused and not closing, "there is a refusal", [(m["status"], m["note"]) for m in made])
    say(end.get("status") is not None, "the agent ends by itself", end)
if kind in MODEL and mode != "kill":
    say(all(kind in m["note"] for m in made), "which names the budget", [m["note"] for m in made])
J
}

# report NAME: lines of holds() on standard input become assertions.
report()
{
	local line
	while IFS= read -r line; do
		if [ "${line%% *}" = ok ]; then
			tap_ok 0 "$1: ${line#ok }"
		else
			tap_ok 1 "$1: ${line#not }"
		fi
	done < <(grep . || echo "not looked at: nothing was said")
}

# asked_n: how many requests the upstream got.
asked_n()
{
	grep -o '"method": "POST"' upstream.json | wc -l
}

# spend NAME AGENT KIND LIMIT MODE COMMAND [SET...]: a run of AGENT whose model wants COMMAND again and
# again, until KIND is spent. COMMAND edits notes.txt first. A limit of time may strike before a slow
# machine has come that far, which is that the upstream was asked $at_least times: then there is more of it.
# $upstream_args: more for the upstream.
# Sets last_out, the run's directory.
at_least=1 upstream_args=() last_out=''
spend()
{
	local name=$1 agent=$2 kind=$3 limit=$4 mode=$5 command="echo edited @N@ >>notes.txt; $6" out try file=$2
	local -a more=() tool
	shift 6
	while [ $# -gt 0 ]; do more+=(--set "$1"); shift; done
	[[ $agent = own* ]] && file=$work/$agent.json
	IFS=$'\t' read -r -a tool < <(shell_tool "$agent" "$command")
	for try in 1 2 3 4 5; do
		out=$work/out/$name-$try
		last_out=$out
		upstream_start --tool "${tool[@]}" "${upstream_args[@]}"
		alone 20 timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$file" \
			--model "$upstream_url#m" --set "limits.$kind=$limit" --set "on_limit=$mode" \
			--set grace=120s --set "model.prices=$work/prices.json" "${more[@]}" --out "$out"
		tap_status=$?
		upstream_stop
		case $kind in
		wall | cpu) ;;
		*) break ;;
		esac
		grep -qs '^+edited' "$out/patch.diff" && [ "$(asked_n)" -ge "$at_least" ] && break
		limit=$((2 * ${limit%s}))s
	done
	if ! tap_ok "$tap_status" "$name: runs"; then
		tail -n 5 err.txt "$out/stderr.log" 2>/dev/null | sed 's/^/# /'
		return
	fi
	report "$name" < <(holds "$out" "$kind" "$mode" 2>&1)
	tap_ok "$(grep -qs '^+edited' "$out/patch.diff"; echo $?)" "$name: the patch is kept"
	tap_is "$(cat left.txt 2>&1)" "" "$name: no process is left"
	tap_is "$(ls "$scratch")" "" "$name: nor anything else"
	tap_like "$(proctor explain "$out" 2>&1)" "limit:$kind.*limits\.$kind=" "$name: explain names limit and change"
}
