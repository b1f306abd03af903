#!/usr/bin/env bash
# Side services: what an agent in the box gets from them, how effects change them while it works, what is recorded.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "sv-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
cat >task/services.json <<'END'
{ "schema": "proctor.scenario/1", "id": "sv", "family": "F06",
  "services": [
    { "name": "api", "kind": "http", "port": 8080, "auth": "session", "keys": ["k-1"],
      "versions": [ { "name": "v1", "prefix": "/v1", "fields": { "items": { "qty": "count" } } },
                    { "name": "v2", "prefix": "/v2", "fields": { "items": { "qty": "quantity" } } } ],
      "collections": { "items": [ { "id": "a", "name": "bolt", "qty": 3 } ] } },
    { "name": "boss", "kind": "ask", "port": 8081, "questions": 2,
      "blockers": [ { "id": "unit", "keywords": ["unit", "seconds"], "resolution": "Use seconds." } ] } ],
  "interventions": [ { "order": 1, "when": { "event": "command_count", "n": 2 }, "effects": [
    { "service": { "name": "api", "version": "v2", "expire_sessions": true, "revoke": "k-1", "add_key": "k-2" } },
    { "service": { "name": "api", "set": { "collection": "items", "id": "b", "value": { "name": "nut", "qty": 9 } } } },
    { "service": { "name": "api", "version": "v3" } } ] } ] }
END
cat >task/repo/ask.py <<'END'
import json, sys, urllib.error, urllib.request
def call(method, path, body=None, port=8080, **headers):
    data = json.dumps(body).encode() if body is not None else None
    r = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), method=method, data=data, headers=headers)
    try:
        with urllib.request.urlopen(r) as a:
            text = a.read().decode()
            return a.status, json.loads(text) if text else None
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())["error"]
def say(name, got):
    print(name, json.dumps(got))
if sys.argv[1] == "1":
    say("schema", call("GET", "/v1/schema"))
    say("nobody", call("GET", "/v1/items"))
    session = call("POST", "/v1/login", {"key": "k-1"})[1]["session"]
    open("/tmp/session", "w").write(session)
    who = {"Authorization": "Bearer " + session}
    say("list", call("GET", "/v1/items", **who))
    say("make", call("POST", "/v1/items", {"name": "x", "count": 1}, **who))
    say("other field", call("POST", "/v1/items", {"name": "x", "quantity": 1}, **who)[0])
    say("gone", call("DELETE", "/v1/items/n1", **who))
    say("patched", call("PATCH", "/v1/items/a", {"count": 5}, **who))
    say("no such", call("GET", "/v1/items/zz", **who)[0])
    say("asked", call("POST", "/ask", {"question": "Which UNIT?"}, 8081))
    say("tools", call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, 8081)[1]["result"]["tools"][0]["name"])
    call = call("POST", "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "ask_human", "arguments": {"question": "colour?"}}}, 8081)
    say("by tool", call[1]["result"]["content"][0]["text"])
else:
    who = {"Authorization": "Bearer " + open("/tmp/session").read()}
    say("old prefix", call("GET", "/v1/items", **who)[0])
    say("old session", call("GET", "/v2/items", **who))
    say("old key", call("POST", "/v2/login", {"key": "k-1"})[0])
    who = {"Authorization": "Bearer " + call("POST", "/v2/login", {"key": "k-2"})[1]["session"]}
    say("now", call("GET", "/v2/items", **who))
    say("no more", call("POST", "/ask", {"question": "unit again?"}, 8081)[1]["answer"])
END
proctor run -q --no-tty --task task/task.json --scenario task/services.json --out run \
	-- sh -c 'python3 ask.py 1; /bin/true; python3 ask.py 2' </dev/null >out.txt 2>err.txt
tap_is $? 0 "the run is made" || sed 's/^/# /' err.txt
while read -r want; do
	tap_ok "$(grep -qxF -- "$want" out.txt; echo $?)" "the agent gets: $want" || sed 's/^/# /' out.txt
done <<'END'
schema [200, {"version": "v1", "prefix": "/v1", "auth": "session", "collections": {"items": ["id", "name", "count"]}}]
list [200, [{"id": "a", "name": "bolt", "count": 3}]]
make [201, {"name": "x", "count": 1, "id": "n1"}]
other field 400
gone [204, null]
patched [200, {"id": "a", "name": "bolt", "count": 5}]
no such 404
asked [200, {"answer": "Use seconds."}]
tools "ask_human"
by tool "I do not know; decide as you think best."
old prefix 410
old session [401, "the session has expired; log in again: POST /v2/login"]
old key 403
now [200, [{"id": "a", "name": "bolt", "quantity": 5}, {"id": "b", "name": "nut", "quantity": 9}]]
no more "I have no time for more questions."
END
tap_is "$(run_count run service service=api event=request)" 14 "every request is recorded"
tap_is "$(run_count run service service=api event=request mutating=1)" 3 "and what changed something"
tap_is "$(run_count run service service=api event=change)" 2 "so is every change from outside"
tap_is "$(run_count run service code=401)" 2 "and what was refused"
tap_ok "$(grep '"k":"service"' run/trace.jsonl | grep -v '"event":"change"' | grep -qv '"cmd":'; [ $? -eq 1 ]; echo $?)" \
	"the command that asked is known"
tap_is "$(run_field run/run.json services.0.state.version)" v2 "its state at the end"
tap_is "$(run_field run/run.json services.1.state.ask_precision)" 0.5 "precision of the questions"
tap_is "$(run_field run/run.json services.1.state.ask_recall)" 1 "and recall"
tap_like "$(cat run/interventions.jsonl)" 'api: .*no version ..v3' "a change that cannot be made says why"

# bad SERVICES REGEX
bad()
{
	printf '{ "schema": "proctor.scenario/1", "id": "bad", "mode": "vanilla", "services": [ %s ] }' "$1" >task/bad.json
	proctor run -q --no-tty --task task/task.json --scenario task/bad.json --out bad -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 3 "refused: $1"
	tap_like "$(cat err.txt)" "$2" "refused: says why"
	rm -rf bad
}
bad '{"name": "x", "kind": "htp", "port": 8080}' 'did you mean "http"'
bad '{"name": "x", "kind": "ask", "port": 80, "blockers": []}' 'port must be from 1024'
bad '{"name": "x", "kind": "ask", "port": 8080, "blockers": []}' 'blockers: 1 to'
bad '{"name": "x", "kind": "http", "port": 8080, "versions": [{"name": "v1", "prefix": "v1"}], "collections": {}}' 'must be like'
tap_done
