#!/usr/bin/env bash
# Every input file with every kind of fault: exit status 3, a message with file and position, and
# nothing started.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir repo
echo x >repo/f
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "bad-1", "problem_statement": "none", "source": "repo" }
J
cat >agent.json <<'J'
{ "schema": "proctor.agent/1", "name": "a", "api": "none", "command": ["true"], "message_via": "stdin" }
J
cat >profile.json <<'J'
{ "schema": "proctor.profile/1", "name": "p", "extends": "agent" }
J
cat >scenario.json <<'J'
{ "schema": "proctor.scenario/1", "id": "s", "instance_id": "bad-1", "mode": "vanilla",
  "regions": [ { "path": "f", "start": 1, "end": 1 } ], "interventions": [] }
J
for kind in task agent profile scenario; do cp $kind.json good-$kind.json; done

# try: run with the four files; sets status, said; nothing may be left in out.
try()
{
	rm -rf out
	said=$(proctor run -q --task task.json --agent agent.json --profile ./profile.json --scenario scenario.json --out out 2>&1 </dev/null)
	status=$?
}

# bad KIND NAME PATTERN: the file KIND.json is bad as it stands now.
bad()
{
	try
	tap_is "$status" 3 "$1: $2: exit status 3" || printf '# %s\n' "$said"
	tap_like "$said" "$3" "$1: $2: the message says what and where"
	tap_ok "$([ ! -e out ]; echo $?)" "$1: $2: nothing was started"
	cp "good-$1.json" "$1.json"
}

try
tap_is "$status" 0 "the good files run" || printf '# %s\n' "$said"

declare -A required=([task]=instance_id [agent]=command [profile]=schema [scenario]=id)
declare -A wrong=([task]='"source": 5' [agent]='"command": "true"' [profile]='"limits": []' [scenario]='"regions": {}')
for kind in task agent profile scenario; do
	grep -v "\"${required[$kind]}\"" good-$kind.json >/dev/null
	/usr/bin/python3 - "$kind" "${required[$kind]}" <<'J'
import json, sys
v = json.load(open(f"good-{sys.argv[1]}.json"))
del v[sys.argv[2]]
json.dump(v, open(f"{sys.argv[1]}.json", "w"))
J
	bad $kind "missing field" "$kind.json: \\$.*${required[$kind]}.*missing"
	/usr/bin/python3 - "$kind" "${wrong[$kind]}" <<'J'
import json, sys
v = json.load(open(f"good-{sys.argv[1]}.json"))
v.update(json.loads("{" + sys.argv[2] + "}"))
json.dump(v, open(f"{sys.argv[1]}.json", "w"))
J
	bad $kind "wrong type" "$kind.json: \\$\\.[a-z]+: expected"
	sed 's/"schema"/"shcema": 1, "schema"/' good-$kind.json >$kind.json
	bad $kind "unknown key" "$kind.json: \\$: unknown key \"shcema\""
	printf '{ "schema": "proctor.%s/1",\n  "x\xff": 1 }' $kind >$kind.json
	bad $kind "not UTF-8" "$kind.json:2:5: .*UTF-8"
	/usr/bin/python3 -c 'print("[" * 10000 + "]" * 10000)' >$kind.json
	bad $kind "10,000 levels" "$kind.json:1:65: nested deeper"
	rm $kind.json && truncate -s 1G $kind.json
	bad $kind "1 GB file" "$kind.json has 1073741824 bytes"
	printf '{ "schema": "proctor.%s/1", ' $kind >$kind.json
	bad $kind "cut file" "$kind.json:1:[0-9]+: not valid JSON"
	rm $kind.json
	bad $kind "no file" "$kind.json: No such file"
	sed 's/"schema": "proctor\.[a-z]*/"schema": "proctor.wrong/' good-$kind.json >$kind.json
	bad $kind "another kind" "$kind.json: \\$\\.schema: expected \"proctor.$kind/1\""
done

# Files behind the files.
sed 's/"repo"/"nowhere"/' good-task.json >task.json
bad task "no source" "nowhere"
sed 's/}$/, "patch": "none.diff" }/' good-task.json >task.json
bad task "no reference" "none.diff"
sed 's/"interventions": \[\]/"interventions": [ { "order": 1, "when": { "event": "read" }, "effects": [ { "edit": "e.diff" } ] } ]/; s/vanilla/edit/' good-scenario.json >scenario.json
bad scenario "no edit" "e.diff"
printf 'this is no diff\n' >e.diff
sed 's/"interventions": \[\]/"interventions": [ { "order": 1, "when": { "event": "read" }, "effects": [ { "edit": "e.diff" } ] } ]/; s/vanilla/edit/' good-scenario.json >scenario.json
try
tap_is "$status" 3 "scenario: an edit that is no diff: exit status 3" || printf '# %s\n' "$said"
cp good-scenario.json scenario.json

# Flags.
said=$(proctor run --tsak x 2>&1)
tap_is $? 2 "an unknown option: exit status 2"
tap_like "$said" "did you mean --task" "and the nearest one is named"
cat >talks.json <<'J'
{ "schema": "proctor.agent/1", "name": "talks", "command": ["true"], "api": "openai-chat" }
J
said=$(proctor rnu 2>&1)
tap_is $? 2 "an unknown command: exit status 2"
said=$(cd repo && proctor run --set limits.wal=1 -- true 2>&1)
tap_is $? 2 "an unknown field of --set: exit status 2"
tap_like "$said" "wall" "and the nearest one is named"
said=$(cd repo && proctor run -q --out "$work/none" -- /no/such/program 2>&1)
tap_is $? 8 "a command that is not there: exit status 8"
tap_like "$said" "/no/such/program.*No such file" "and the message names it"
while read -r rule why; do
	said=$(cd repo && proctor run -q --set network.mode=allowlist --set "network.hosts=$rule" -- true 2>&1 </dev/null)
	tap_is $? 2 "host rule $rule: exit status 2"
	tap_like "$said" "$why" "and the message says why"
done <<'E'
http://example.com/ scheme
* [*][.]example[.]com
127.0.0.1:80 loopback
169.254.169.254 link-local
E
said=$(proctor run -q --task "$top/examples/calc/task.json" --agent "$work/talks.json" 2>&1)
tap_is $? 2 "an agent that needs a model, without one: exit status 2"
tap_like "$said" "script:FILE" "and the forms of a model are named"
for model in http://example.com/v1 ftp://x replay: script: "https://user@example.com/"; do
	said=$(proctor run -q --task "$top/examples/calc/task.json" --agent "$work/talks.json" --model "$model" 2>&1)
	tap_ok "$([ $? -eq 2 ]; echo $?)" "--model $model: exit status 2"
	tap_like "$said" "--model" "and the message says what is wrong: $said"
done
said=$(proctor run -q --task "$top/examples/calc/task.json" --agent "$work/talks.json" --model script:/nonexistent 2>&1)
tap_is $? 3 "a script that is not there: exit status 3"
echo '{ "schema": "proctor.script/1", "turns": [ { "txt": "hello" } ] }' >bad-script.json
said=$(proctor run -q --task "$top/examples/calc/task.json" --agent "$work/talks.json" --model script:bad-script.json --out bad-script 2>&1)
tap_ok "$([ $? -ge 3 ]; echo $?)" "a script with an unknown key is refused"
tap_like "$said" 'turns\[0\].*txt.*text' "with place and nearest key: $said"
said=$(cd repo && proctor run -q --no-cgroup --set require=cgroup -- true 2>&1)
tap_is $? 4 "below the floor: exit status 4"
tap_like "$said" "requires cgroup.*proctor doctor" "and the message names the layer and where to look"
said=$(cd repo && proctor run -q --set filesystem.rootfs=dir:/nonexistent -- true 2>&1)
tap_ok "$([ $? -ge 3 ]; echo $?)" "a root file system that is not there"
tap_done
