#!/usr/bin/env bash
# What real clients do when the model's endpoint fails in each way: no truncated answer is passed on, the
# gateway asks again within its retries, comments break nobody, 400 and 403 stop the client, and run.json
# holds what the endpoint billed.
# usage: edges.sh [AGENT...]; without names those that ./check runs
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
[ $# -gt 0 ] || set -- own pi codex
mkdir source
echo hello >source/a.txt

# How each client runs a command, and how it ends when it gets a 400 and a 403.
#        tool               argument   400  403
clients="pi        bash               command    0    0
         codex     exec_command       cmd        1    1
         claude    Bash               command    1    1
         gemini    run_shell_command  command    144  147
         continue  Bash               command    1    1"

# The first turn (a tool call) is always sound; the fault meets the second one. For each fault:
#   fault     as fakemodel.py has it; *N: the first N times only, +400: then that
#   end       well: the client has the whole answer and ends with 0; 400, 403: it has none, and ends as above;
#             either: it asks again and has the whole answer, or gives up and does not end as if all were well
#   asked     how often the endpoint is asked about the second turn; for Chat, Responses, Anthropic, Gemini
#             where they differ; "+": at least so often
#   billed    how many of these it bills, "-": those that it answered
#   settings  of the profile
# What is asked more than 1 + model.retries times is the client's own doing: one try each.
faults="none            well   1        1
        400             400    1        0
        403             403    1+       0
        429*2           well   3        1
        429*4+400       400    5        0   model.retries=1
        500*1           well   2        1
        500*3+400       400    4        0   model.retries=1
        silence*1       well   2        2   model.timeout=4s
        silence*3+400   400    4        3   model.timeout=2s model.retries=1
        cut*1           well   2        2
        cut*4+400       400    5        4   model.retries=1
        cutclean*1      well   2        2
        cutclean*3+400  400    4        3   model.retries=0
        noend*1         well   1,2,2,2  1,2,2,2
        errorevent*1    well   2        2
        html*1          well   2        2
        reset*1         well   2        2
        comments        well   1        1
        glued           well   1        1
        nonl            well   1        1
        comments        well   1        1   model.delivery=stream
        cut*1           either 1+       -   model.delivery=stream"

# look DIR NAME=VALUE...: the cell's files against what is expected, "ok NAME" or "not NAME: why" a line.
look()
{
	python3 - "$@" <<'PYTHON'
import json, re, sys

# Of these tries nobody tells what they cost.
BROKEN = ("silence", "cut", "cutclean", "noend", "errorevent", "html", "reset")
where, want = sys.argv[1], dict(pair.split("=", 1) for pair in sys.argv[2:])
run = json.load(open(f"{where}/run.json"))
lines = [json.loads(line) for line in open(f"{where}/model.jsonl")]
posts = [e for e in json.load(open(f"{where}.log")) if e["method"] == "POST"]
billed = json.load(open(f"{where}.billed"))
out = open(f"{where}/stdout.log", errors="replace").read()
model, end = run["model"], run["end"]
api = ["openai-chat", "openai-responses", "anthropic", "gemini"].index(model["api"])
retries = int(want["retries"])


def say(good, name, why):
    print(f"ok {name}" if good else f"not {name}: {why}")


def number(text):
    """The number for this API, the first turn included."""
    numbers = text.rstrip("+").split(",")
    return 1 + int(numbers[api if len(numbers) > 1 else 0])


either = want["end"] == "either"
say(end["reason"] == "exited" and (either or end["status"] == int(want["status"])),
    "the agent's own exit ends the run", end)
# Its last word; some clients print each piece by itself.
answered = bool(re.search(r'bytes(\\*"|\s*$)', out, re.M))
if either:
    # pi ends with 0 whatever happens.
    say(answered or end["status"] != 0 or want["client"] == "pi",
        "the client takes no half answer for a whole one", out[-300:])
else:
    say(answered == (want["end"] == "well"), "the client has the whole answer, or none",
        (answered, out[-300:]))
say(all(one["complete"] and not one["note"] for one in lines if one["status"] == 200),
    "no broken answer is passed on", [one["note"] for one in lines])
asked, tries = number(want["asked"]), [one["tries"] for one in lines]
say(len(posts) >= asked if want["asked"].endswith("+") else len(posts) == asked,
    "the endpoint is asked that often", (len(posts), asked))
say(sum(tries) == len(posts), "every try is in the record", (tries, len(posts)))
say(max(tries) <= retries + 1 and all(n == 1 for n in tries[2:]),
    "the gateway asks again within model.retries, a client once", tries)
told = billed["told"]
calls = billed["answers"] if want["billed"] == "-" else number(want["billed"])
say(model["calls"] == calls, "calls are what the endpoint bills", (model["calls"], calls))
if not model["unknown_usage"]:
    say([model[name] for name in ("input_tokens", "cached_tokens", "output_tokens", "unknown_usage")]
        == [calls * 100, calls * 40, calls * 7, 0], "tokens are what the endpoint bills", model)
else:
    say(want["fault"].split("*")[0] in BROKEN and model["input_tokens"] >= 100 * told
        and model["output_tokens"] >= 7 * told,
        "tokens are no fewer than what the endpoint told of", (told, model))
PYTHON
}

# upstream_start ARGUMENT...: tests/tools/fakemodel.py at port $port.
upstream_start()
{
	coproc FAKE { exec timeout 300 python3 "$top/tests/tools/fakemodel.py" "$@"; }
	server=$FAKE_PID
	read -r _ port <&"${FAKE[0]}"
}

# upstream_stop FILE: what it was asked goes to FILE.log, what it billed to FILE.billed.
upstream_stop()
{
	local what
	for what in log billed; do
		python3 -c 'import sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' \
			"http://127.0.0.1:$port/$what" >"$1.$what"
	done
	eval "exec ${FAKE[1]}>&-"
	wait "$server"
}

# cell CLIENT FAULT END ASKED BILLED SETTING...
cell()
{
	local client=$1 fault=$2 end=$3 asked=$4 billed=$5 name=$1/$2${6+ $6} out=$work/out/$1-$tap_n line
	local tool arg status400 status403 status=0 retries=3 path=/f/$2 setting
	local -a set=(--set grace=1s)
	shift 5
	for setting in "$@"; do
		set+=(--set "$setting")
		[ "${setting%%=*}" != model.retries ] || retries=${setting#*=}
	done
	read -r tool arg status400 status403 < <(awk -v c="$client" '$1 == c { print $2, $3, $4, $5 }' <<<"$clients")
	[ "$end" != 400 ] || status=$status400
	[ "$end" != 403 ] || status=$status403
	[ "$fault" != none ] || path=''
	upstream_start --call "$tool" "{\"$arg\": \"cat a.txt\"}"
	timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$client" \
		--model "http://127.0.0.1:$port$path/v1#m" "${set[@]}" --out "$out" </dev/null >/dev/null 2>err.txt
	tap_is $? 0 "$name: runs" || tail -n 5 err.txt | sed 's/^/# /'
	upstream_stop "$out"
	while IFS= read -r line; do
		if [ "${line%% *}" = ok ]; then
			tap_ok 0 "$name: ${line#ok }"
		else
			tap_ok 1 "$name: ${line#not }"
		fi
	done < <(look "$out" client="$client" end="$end" status="$status" asked="$asked" billed="$billed" \
		fault="$fault" retries="$retries" 2>&1 | grep . || echo "not looked at: nothing was said")
}

cat >task.json <<'EOF_TASK'
{ "schema": "proctor.task/1", "instance_id": "edges-1", "problem_statement": "Say what is in a.txt.",
  "source": "source" }
EOF_TASK

# A client of ours asks the same three times: as it was, in another order with another session's id, and
# in pieces with the connection closed before the answer; then something else.
own()
{
	local out=$work/out/own
	cat >source/own.py <<'EOF_OWN'
import http.client, json, os, sys, time, urllib.parse

at = urllib.parse.urlsplit(os.environ["BASE"])
body = {"model": "m", "messages": [{"role": "user", "content": "one"}], "metadata": {"a": 1, "b": 2}}
other = {"metadata": {"b": 3}, "messages": body["messages"], "model": "m"}


def ask(data, read=True):
    c = http.client.HTTPConnection(at.hostname, at.port)
    c.request("POST", at.path + "/chat/completions", json.dumps(data),
              {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["KEY"]})
    answer = c.getresponse().read() if read else b""
    c.close()
    return answer


first = ask(body)
print("same" if first and ask(body) == first else "other")
print("same" if ask(other) == first else "other")
body["messages"][0]["content"] = "another"
ask(body, read=False)  # gone before the answer; it is asked all the same, or not yet
print("new" if ask(body) != first else "old")
EOF_OWN
	cat >own.json <<'EOF_AGENT'
{ "schema": "proctor.agent/1", "name": "own", "command": ["/usr/bin/python3", "own.py"],
  "api": "openai-chat", "base_url_env": "BASE", "key_env": "KEY" }
EOF_AGENT
	upstream_start
	timeout 120 "$PROCTOR" run -q --no-tty --task task.json --agent "$work/own.json" \
		--model "http://127.0.0.1:$port/v1#m" --out "$out" </dev/null >out.txt 2>err.txt
	tap_is $? 0 "own: runs" || tail -n 5 err.txt | sed 's/^/# /'
	upstream_stop "$out"
	tap_is "$(tail -n 3 "$out/stdout.log" | tr '\n' ' ')" "same same new " \
		"own: a delivered answer is given again, byte for byte, and a new question gets a new one"
	tap_is "$(run_field "$out.billed" answers)" 2 "own: two answers are billed"
	tap_is "$(run_field "$out/run.json" model.calls)" 2 "own: two calls are counted"
	tap_is "$(run_field "$out/run.json" model.input_tokens)" 200 "own: a repeated answer costs nothing"
	tap_is "$(python3 -c 'import json, sys
print([json.loads(line)["retry_of"] for line in open(sys.argv[1])][:3])' "$out/model.jsonl")" "[0, 1, 1]" \
		"own: the record says what was given again"
	rm -f source/own.py
}

mkdir out
for name in "$@"; do
	if [ "$name" = own ]; then
		own
		continue
	fi
	need_agent "$name" || continue
	while read -r fault end asked billed settings; do
		# shellcheck disable=SC2086 # the settings are words
		cell "$name" "$fault" "$end" "$asked" "$billed" $settings
	done <<<"$faults"
done
tap_done
