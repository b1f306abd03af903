#!/usr/bin/env bash
# A box that opens connections faster than they can be written down: limits and signals are looked at all
# the same, requests to the model are answered, and what was billed at the end is told.
# seconds: 120
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"

# A world without a way out: each allowed connection fails at once.
alone=(unshare -n)
[ "$(id -u)" = 0 ] || alone=(unshare -Urn)
"${alone[@]}" true || tap_ok 1 "a net namespace can be made"

mkdir src && cat >src/flood.py <<'EOF'
import json, os, resource, socket, sys, threading, time, urllib.request

# Each look-up of an owner walks all of these.
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
keep = []
try:
    while len(keep) < 3000:
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(1)
        keep.append(s)
except OSError:
    for s in keep[-50:]:
        s.close()
    del keep[-50:]


def flood(stop):
    while not stop():
        with socket.socket() as s:
            try:
                s.connect(("192.0.2.9", 80))
                s.recv(1)
            except OSError:
                pass


if len(sys.argv) == 1:
    flood(lambda: False)
over = []
threading.Thread(target=flood, args=(lambda: over,)).start()
ends = time.monotonic() + 3
n = 0
while n < 5 or time.monotonic() < ends:
    n += 1
    body = {"model": "m", "messages": [{"role": "user", "content": "question %d" % n}]}
    r = urllib.request.Request(sys.argv[1] + "/chat/completions", json.dumps(body).encode(),
                               {"content-type": "application/json"})
    with urllib.request.urlopen(r, timeout=60) as f:
        assert b"so it is" in f.read()
over.append(True)
print("asked", n, flush=True)
EOF
cat >model.json <<'EOF'
{ "schema": "proctor.script/1", "turns": [], "side": { "text": "so it is" } }
EOF
cat >agent.json <<'EOF'
{ "schema": "proctor.agent/1", "name": "flood", "api": "openai-chat",
  "command": ["python3", "flood.py", "{base_url}"] }
EOF

for trace in off files; do
	(cd src && timeout -k 5 60 "${alone[@]}" "$PROCTOR" run -q --no-tty --set network.mode=public \
		--set limits.wall=3s --set grace=1s --trace $trace --out "$work/wall-$trace" -- \
		python3 flood.py) </dev/null >/dev/null 2>err.txt
	tap_ok $? "trace $trace: a flood of connections ends" || tail -n 3 err.txt
	tap_is "$(run_field wall-$trace/run.json end.reason)" limit:wall "at the limit of wall time"
	tap_ok "$(($(run_field wall-$trace/run.json network.connections) == 0))" "connections were counted"
done

(cd src && timeout -k 5 60 "${alone[@]}" "$PROCTOR" run -q --no-tty --agent ../agent.json \
	--model "script:$work/model.json" --set network.mode=public --trace off \
	--out "$work/asks") </dev/null >out.txt 2>err.txt
tap_ok $? "a flood beside requests ends" || tail -n 3 err.txt
tap_is "$(run_field asks/run.json end.reason)" exited "by itself"
asked=$(sed -n 's/^asked //p' asks/stdout.log)
tap_is "$(run_field asks/run.json model.calls)" "${asked:-none}" "every call is counted"
tap_is "$(grep -c . asks/model.jsonl)" "${asked:-none}" "and recorded"

# A signal in the middle of it.
(cd src && exec timeout -k 5 60 "${alone[@]}" "$PROCTOR" run -q --no-tty --set network.mode=public \
	--set grace=1s --trace off --out "$work/signal" -- python3 flood.py) </dev/null >/dev/null 2>&1 &
pid=$!
for _ in $(seq 300); do
	[ "$(run_field signal/run.json state)" = running ] && grep -qs '"connect"' signal/trace.jsonl && break
	sleep 0.1
done
kill $pid
wait $pid
tap_is "$(run_field signal/run.json end.reason)" interrupted "a signal is heard"
tap_done
