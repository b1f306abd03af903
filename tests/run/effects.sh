#!/usr/bin/env bash
# What effects do to the box, seen by what runs in it: files are placed, ports and locks held, processes started and ended,
# space taken, versions changed. And what cannot be is refused with its place.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo
printf 'one\ntwo\n' >task/repo/a.txt
printf 'from a file\n' >task/given.txt
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "fx-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
cat >task/effects.json <<'END'
{ "schema": "proctor.scenario/1", "id": "fx", "family": "F05", "authority": { "v2": { "problem_statement": "y" } },
  "interventions": [ { "order": 1, "when": { "event": "command_count", "n": 5 }, "effects": [
   { "runtime": { "listen": { "name": "redis", "port": 7070, "answer": "hello\n" } } },
   { "runtime": { "lock": { "name": "flocker", "path": "lock.file", "kind": "flock" } } },
   { "runtime": { "lock": { "name": "fcntler", "path": "/tmp/fc.lock", "kind": "fcntl" } } },
   { "runtime": { "start": { "name": "worker", "argv": ["sleep", "1000"] } } },
   { "runtime": { "fill": { "path": "/tmp/big", "bytes": "1M" } } },
   { "runtime": { "empty": { "path": "/home/agent/cache" } } },
   { "runtime": { "kill": { "program": "victim.sh", "signal": "TERM" } } },
   { "place": { "path": "new/dir/f.txt", "text": "base ${BASE}\n", "mode": "0755", "mtime": "2001-02-03T04:05:06Z" } },
   { "place": { "path": "a.txt", "replace": [["two", "TWO"]], "mtime": "same" } },
   { "place": { "path": "/home/agent/given", "from": "given.txt" } },
   { "place": { "path": "/home/agent/link", "link": "given" } },
   { "place": { "path": "/home/agent/old", "absent": true } },
   { "authority": { "goal": "v2" } },
   { "runtime": { "listen": { "name": "second", "port": 7070 } } },
   { "runtime": { "release": { "name": "nobody" } } },
   { "place": { "path": "a.txt", "replace": [["three", "3"]] } } ] } ] }
END
cat >look.py <<'END'
import fcntl, os, socket, subprocess
print("answer", socket.create_connection(("127.0.0.1", 7070)).recv(100))
def tried(name, what):
    try:
        what()
        print(name, "free")
    except OSError as e:
        print(name, e.errno)
tried("bind", lambda: socket.socket().bind(("", 7070)))
tried("flock", lambda: fcntl.flock(open("lock.file", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB))
tried("fcntl", lambda: fcntl.lockf(open("/tmp/fc.lock", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB))
st = os.stat("new/dir/f.txt")
print("big", os.stat("/tmp/big").st_size, "cache", os.listdir("/home/agent/cache"))
print("placed", len(open("new/dir/f.txt").read()), int(st.st_mtime), oct(st.st_mode))
print("text", open("a.txt").read().split(), open("/home/agent/link").read().strip(), os.path.exists("/home/agent/old"))
names = subprocess.run(["ps", "-e", "-o", "comm="], capture_output=True, text=True).stdout.split()
print("first", open("/proc/1/cmdline").read().strip("\0"))
print("names", sorted(set(n for n in names if n in ("redis", "flocker", "fcntler", "sleep", "victim.sh"))))
subprocess.run(["pkill", "-x", "flocker"])
for _ in range(100):
    if subprocess.run(["pgrep", "-x", "flocker"], capture_output=True).returncode:
        break
tried("after", lambda: fcntl.flock(open("lock.file", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB))
END
cp look.py task/repo/
cat >agent.sh <<'END'
/bin/mkdir -p ~/cache ~/old/deep
printf '#!/bin/sh\nwhile :; do sleep 0.2; done\n' >/tmp/victim.sh; /bin/chmod +x /tmp/victim.sh; sh /tmp/victim.sh &
/bin/touch ~/cache/x
/bin/true
/bin/true five
/bin/true six
python3 look.py
END
proctor run -q --no-tty --task task/task.json --scenario task/effects.json --set watch=workspace --out run \
	-- sh -c "$(cat agent.sh)" </dev/null >out.txt 2>err.txt
tap_is $? 0 "the run is made" || sed 's/^/# /' err.txt
while read -r want; do
	tap_ok "$(grep -qxF -- "$want" out.txt; echo $?)" "seen in the box: $want" || sed 's/^/# /' out.txt
done <<'END'
answer b'hello\n'
bind 98
flock 11
fcntl 11
big 1048576 cache []
placed 46 981173106 0o100755
text ['one', 'TWO'] from a file False
first init
names ['fcntler', 'flocker', 'redis', 'sleep']
after free
END
tap_is "$(python3 -c '
import json
print([int(json.loads(line)["applied"]) for line in open("run/interventions.jsonl")])')" \
	'[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]' "thirteen effects are made, three cannot be"
tap_like "$(grep -o '"reason":"second[^"]*' run/interventions.jsonl)" 'second: bind: Address already in use' "a port that is held: says so"
tap_like "$(grep -o '"reason":"nothing called[^,]*' run/interventions.jsonl)" 'nobody' "nothing is held under that name"
tap_like "$(grep -o '"reason":"place a.txt[^,]*' run/interventions.jsonl)" 'is not in the file' "a text that is not there is not replaced"
tap_is "$(run_field run/run.json authority.goal)" v2 "the version of the goal"
tap_is "$(run_count run authority goal=v2 verifier=initial)" 1 "and its record"
tap_is "$(run_count run edit by=user path=a.txt)" 1 "what was placed is an edit of the user"
tap_is "$(run_count run note holder=flocker what=lock)" 1 "what is held has its record"
tap_ok "$(grep -q '"holder":"flocker","ended"' run/trace.jsonl; echo $?)" "so has its end"
tap_ok "$(! grep -q '"holder":"redis","ended"' run/trace.jsonl; echo $?)" "what ends with the box has none"

# bad EFFECT REGEX
bad()
{
	printf '{ "schema": "proctor.scenario/1", "id": "bad", "family": "F05", "interventions": [ { "order": 1, "when": { "event": "command_count", "n": 1 }, "effects": [ %s ] } ] }' "$1" >task/bad.json
	proctor run -q --no-tty --task task/task.json --scenario task/bad.json --out bad -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 3 "refused: $1"
	tap_like "$(cat err.txt)" "$2" "refused: says where and why"
}
bad '{"place": {"path": "../x", "text": "y"}}' 'effects\[0\].place: path "../x" must be absolute'
bad '{"place": {"path": "x", "text": "y", "link": "z"}}' 'exactly one of text, from, link'
bad '{"place": {"path": "x", "text": "y", "mode": "0999"}}' 'no octal mode'
bad '{"place": {"path": "x", "touch": true, "mtime": "soon"}}' 'is no time'
bad '{"place": {"path": "x", "from": "none.txt"}}' 'none.txt'
bad '{"runtime": {"listen": {"name": "x", "port": 70000}}}' 'port must be from 1 to 65535'
bad '{"runtime": {"kill": {"name": "x", "port": 7}}}' 'exactly one of name, port, program'
bad '{"runtime": {"kill": {"name": "x", "signal": "SIGX"}}}' 'signal must be one of'
bad '{"runtime": {"lok": {"name": "x", "path": "y"}}}' 'exactly one of start, kill'
bad '{"runtime": {"fill": {"path": "x"}}}' 'either bytes or leave'
bad '{"authority": {"goal": "v3"}}' 'no version "v3"'
bad '{"service": {"name": "api", "down": true}}' 'no service "api"'
tap_done
