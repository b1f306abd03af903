#!/usr/bin/env bash
# The model key is in no file, environment, /proc entry or memory of any process in the box, and in no
# output; shown by searching all of them for it while an agent waits in the box, from outside and inside.
# The endpoint gets it, and nothing of the made-up one.
# seconds: 1200
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# shellcheck source=tests/run/lib/budgets.sh
. "$top/tests/run/lib/budgets.sh"
if grep -qm1 __asan_init "$PROCTOR"; then
	tap_skip "memory of every process" "sanitizer: its own map is larger than can be searched"
	tap_done
fi

hex() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
# Of one shape, so that the agent can look for them without knowing one. "decoy" is in the box.
key=kmk$(hex)q other=kmk$(hex)q cloud=kmk$(hex)q decoy=kmk$(hex)q
dummy=0000000000000000000000000000

# The door: what the agent in the box and this script tell each other.
mkdir door
chmod 777 door
mkfifo -m 666 door/ready door/go

cat >spy.py <<'J'
# Asks the model in the dialect that is its first argument, with its key in every place where one may
# stand; then looks for keys in all that it can see, and waits at the door.
import json, os, re, subprocess, sys, urllib.error, urllib.request

api, base, key = sys.argv[1], os.environ["BASE"].rstrip("/"), os.environ["KEY"]
SHAPE = re.compile(rb"kmk[0-9a-f]{32}q")
USER = {"role": "user", "content": "What is in the repository? " + "x" * 100}
ROUTES = {
    "openai-chat": ("/chat/completions", {"model": "m", "messages": [USER]}),
    "openai-responses": ("/responses", {"model": "m", "input": [USER]}),
    "anthropic": ("/v1/messages?beta=true&key=" + key, {"model": "m", "max_tokens": 99, "messages": [USER]}),
    "gemini": ("/v1beta/models/m:generateContent?key=" + key,
               {"contents": [{"role": "user", "parts": [{"text": "What?"}]}]}),
}


def ask(path, body):
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {
        "Content-Type": "application/json", "Authorization": "Bearer " + key, "x-api-key": key,
        "x-goog-api-key": key, "Cookie": "key=" + key, "openai-organization": key, "User-Agent": key,
        "Proxy-Authorization": key, "anthropic-beta": "x"})
    try:
        with urllib.request.urlopen(request) as r:
            return r.status, dict(r.headers), r.read()
    except urllib.error.HTTPError as e:
        return e.code, dict(e.headers), e.read()


def look(path, limit=1 << 24):
    try:
        with open(path, "rb") as f:
            return SHAPE.findall(f.read(limit))
    except OSError:
        return []


def memory(pid):
    """Of a process that lets us."""
    found = []
    try:
        maps, mem = open(f"/proc/{pid}/maps").read(), open(f"/proc/{pid}/mem", "rb", 0)
    except OSError:
        return found
    for line in maps.splitlines():
        span, how = line.split()[:2]
        a, b = (int(x, 16) for x in span.split("-"))
        if how[0] != "r" or b - a > 1 << 26:
            continue
        try:
            mem.seek(a)
            found += SHAPE.findall(mem.read(b - a))
        except (OSError, ValueError, OverflowError):
            pass
    return found


def everywhere():
    for pid in [p for p in os.listdir("/proc") if p.isdigit()] + ["self"]:
        for name in ("environ", "cmdline", "status", "mountinfo", "maps"):
            yield f"/proc/{pid}/{name}", look(f"/proc/{pid}/{name}")
        yield f"/proc/{pid}/mem", memory(pid)
    for top in ("/home", "/tmp", "/workspace", "/run", "/etc", "/var/tmp", "/dev/shm", "/root", "/opt"):
        for where, dirs, names in os.walk(top):
            for name in names:
                path = os.path.join(where, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    yield path, look(path)


status, headers, text = ask(*ROUTES[api])
with open("notes.txt", "w") as f:
    print("edited", file=f)
    print("status", status, file=f)
    for value in (str(headers).encode(), text):
        for one in SHAPE.findall(value):
            print("in the answer", one.decode(), file=f)
if len(sys.argv) > 2:
    child = subprocess.Popen(["sleep", "1000"])
    with open("notes.txt", "a") as f:
        for place, found in everywhere():
            for one in set(found):
                print("found", place, one.decode(), file=f)
    door = sys.argv[2]
    open(door + "/ready", "w").close()
    open(door + "/go").close()
    child.kill()
print("status", status)
J

# spy API FILE ARGUMENT...
spy()
{
	local api=$1 file=$2
	shift 2
	python3 - "$api" "$decoy" "$@" >"$file" <<'J'
import json, sys
api, decoy, *rest = sys.argv[1:]
json.dump({"schema": "proctor.agent/1", "name": "spy", "api": api,
           "command": ["/usr/bin/python3", "~/spy.py", api, *rest], "env": {"DECOY": decoy},
           "base_url_env": "BASE", "key_env": "KEY", "files": {"~/spy.py": "spy.py"},
           "message_via": "gateway"}, sys.stdout)
J
}

# search TEXT PID OUT: in the processes of PID, the run directory, where boxes are built, the screen.
search()
{
	python3 "$top/tests/tools/memsearch.py" "$1" "$2" "$3" "$scratch" screen.txt
}

# clean NAME WHERE: what a search said, in $found, when everything is as it should be.
clean()
{
	local name=$1 where=$2
	tap_is "$(grep -v -e '^saw' -e '^end' -e '^own .* mem$' <<<"$found")" "" "$name: the key is nowhere $where"
	tap_is "$(tail -n 1 <<<"$found")" end "$name: searched to the end"
}

# during NAME OUT PID: the agent waits; search everything. PID is proctor's.
during()
{
	local name=$1 out=$2 pid=$3 seen
	found=$(search "$key" "$pid" "$out")
	clean "$name" "while it runs"
	# What was searched: the box's first process, which lets only root look into it, the agent and what it
	# started.
	seen=$(grep -c '^saw box [0-9]* [^ ]* [1-9]' <<<"$found")
	tap_ok $((seen < ($(id -u) ? 2 : 3))) "$name: memory of $seen processes in the box"
	if [ "$(id -u)" -eq 0 ]; then
		tap_is "$(grep '^saw box .* 0$' <<<"$found")" "" "$name: of every one of them"
	else
		tap_like "$(grep '^saw box .* 0$' <<<"$found")" '^saw box [0-9]+ init 0$' \
			"$name: of every one but the first, which lets nobody look"
	fi
	# Who may have it: proctor itself and the gateway. That it is found there shows that the search finds.
	tap_is "$(grep '^own .* mem$' <<<"$found" | grep -c janitor)" 0 "$name: not in the janitor's memory"
	if [ "$(id -u)" -eq 0 ]; then
		tap_is "$(grep -c '^own .* mem$' <<<"$found")" 2 "$name: in proctor's and the gateway's memory alone"
	fi
	found=$(search "$other" "$pid" "$out")
	clean "$name, a second key" "while it runs"
	tap_is "$(grep '^own .* mem$' <<<"$found")" "" "$name: a second key is not even kept"
	found=$(search "$cloud" "$pid" "$out" | grep -v '^own ')
	clean "$name, another of the user's secrets" "in the box"
	tap_ok "$(kill -0 "$pid" 2>/dev/null; echo $?)" "$name: proctor is still there"
}

# at_door NAME OUT AGENT SET... -- VARIABLES...: a run, with a search while it waits at the door and
# another behind it.
at_door()
{
	local name=$1 out=$2 agent=$3 pid
	local -a set=(--set "filesystem.write=$work/door")
	shift 3
	while [ "$1" != -- ]; do set+=(--set "$1"); shift; done
	shift
	env "$@" AWS_SECRET_ACCESS_KEY="$cloud" "$PROCTOR" run --no-tty --task task.json --agent "$agent" \
		--model "$upstream_url#m" "${set[@]}" --out "$out" </dev/null >screen.txt 2>&1 &
	pid=$!
	# Whoever ends first: an agent that never comes to the door must not hang this.
	if ! timeout 300 cat door/ready 2>/dev/null; then
		tap_ok 1 "$name: the agent comes to the door"
		tail -n 5 screen.txt | sed 's/^/# /'
	else
		during "$name" "$out" $pid
		: >door/go
	fi
	wait $pid
	tap_ok $? "$name: runs"
	found=$(search "$key" - "$out")
	clean "$name" "afterwards"
	found=$(search "$other" - "$out")
	clean "$name, a second key" "afterwards"
}

# upstream_got NAME HEADER VALUE: the endpoint's view; upstream.json is there.
upstream_got()
{
	local why
	why=$(python3 - "$2" "$3" "$dummy" <<'J'
import json, sys
header, value, dummy = sys.argv[1:]
asked = [e for e in json.load(open("upstream.json")) if e["method"] == "POST"]
if not asked:
    print("nothing was asked")
for e in asked:
    have = {k: v for k, v in e["headers"].items() if k in ("authorization", "x-api-key", "x-goog-api-key", "cookie",
                                                            "proxy-authorization", "openai-organization")}
    if have != {header: value}:
        print("headers", have)
    if dummy in json.dumps([e["headers"], e["path"]]):
        print("the made-up key", e)
    if value.split()[-1] in e["path"] + e["body"]:
        print("the key outside its header")
J
	)
	tap_is "$why" "" "$1: the endpoint got the key, and only it"
}

# Our own agent looks around itself, too.
spy openai-chat spy.json "$work/door"
for var in PROCTOR_MODEL_KEY OPENAI_API_KEY; do
	upstream_start
	if [ $var = PROCTOR_MODEL_KEY ]; then
		at_door "$var" "o-$var" "$work/spy.json" -- PROCTOR_MODEL_KEY="$key" OPENAI_API_KEY="$other"
	else
		at_door "$var" "o-$var" "$work/spy.json" -- OPENAI_API_KEY="$key"
	fi
	upstream_stop
	upstream_got "$var" authorization "Bearer $key"
	tap_is "$(sed -n 's/^+found .* kmk/kmk/p' "o-$var/patch.diff" | sort -u)" "$decoy" "$var: inside, only what was put there is found"
	tap_like "$(cat "o-$var/patch.diff")" "\+found /proc/[0-9]+/environ $decoy" "$var: in the agent's environment"
	tap_like "$(cat "o-$var/patch.diff")" "\+found /proc/[0-9]+/mem $decoy" "$var: and its memory"
	tap_is "$(grep 'in the answer' "o-$var/patch.diff")" "" "$var: nothing in what the model answered"
done

# Every dialect: the right header, whatever the client sent.
for row in "openai-responses OPENAI_API_KEY authorization Bearer" "anthropic ANTHROPIC_API_KEY x-api-key" \
	"gemini GEMINI_API_KEY x-goog-api-key"; do
	read -r api var header bearer <<<"$row"
	spy "$api" "$api.json"
	upstream_start
	env "$var=$key" "$PROCTOR" run -q --no-tty --task task.json --agent "$work/$api.json" --model "$upstream_url#m" \
		--out "o-$api" </dev/null >screen.txt 2>&1
	tap_ok $? "$api: runs"
	upstream_stop
	tap_like "$(cat "o-$api/stdout.log")" "status 200" "$api: is answered"
	upstream_got "$api" "$header" "${bearer:+$bearer }$key"
	found=$(search "$key" - "o-$api")
	clean "$api" "afterwards"
done

# Endpoints that give the key back: in the body, and in the words of an error.
spy openai-chat once.json
mkfifo in out
for fault in echokey 401 500 html; do
	python3 "$top/tests/tools/fakemodel.py" <in >out 2>/dev/null &
	upstream_pid=$!
	exec 7>in
	read -r line <out
	upstream_url=http://127.0.0.1:${line#port }
	PROCTOR_MODEL_KEY=$key timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$work/once.json" \
		--model "$upstream_url/f/$fault/v1#m" --set model.retries=0 --out "o-$fault" </dev/null >screen.txt 2>&1
	tap_ok $? "$fault: runs"
	upstream_stop
	tap_like "$(cat upstream.json)" "Bearer $key" "$fault: the endpoint has the key"
	tap_is "$(grep 'in the answer' "o-$fault/patch.diff")" "" "$fault: the agent has not"
	found=$(search "$key" - "o-$fault")
	clean "$fault" "afterwards"
done

# Real clients: large programs, several processes, and a command of theirs that waits at the door.
for name in pi codex; do
	need_agent "$name" || continue
	IFS=$'\t' read -r -a tool < <(shell_tool "$name" ": >$work/door/ready; cat $work/door/go")
	upstream_start --tool "${tool[@]}" --once
	at_door "$name" "o-$name" "$name" -- OPENAI_API_KEY="$key" PROCTOR_MODEL_KEY=
	upstream_stop
	upstream_got "$name" authorization "Bearer $key"
	tap_is "$(run_field "o-$name/run.json" end.reason)" exited "$name: ends well"
done
tap_done
