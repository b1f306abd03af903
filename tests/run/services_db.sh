#!/usr/bin/env bash
# A database on SQLite as a side service: what an agent in the box reads and writes, a migration, a lock and a row of another's
# in the middle of its work, and what the record has of it.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "db-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
cat >task/schema.sql <<'END'
CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL, qty INTEGER NOT NULL CHECK (qty > 0));
INSERT INTO orders VALUES (1, 'bolt', 3), (2, 'nut', 4);
END
printf 'ALTER TABLE orders RENAME COLUMN qty TO quantity;\n' >task/v2.sql
printf "INSERT INTO orders VALUES (7, 'washer', 1);\n" >task/more.sql
cat >task/db.json <<'END'
{ "schema": "proctor.scenario/1", "id": "db", "family": "F06",
  "services": [ { "name": "orders", "kind": "sqlite", "port": 8083, "sql": "schema.sql", "version": "v1",
      "versions": [ { "name": "v2", "sql": "v2.sql" } ] } ],
  "interventions": [
    { "order": 1, "when": { "event": "command_count", "n": 2 }, "effects": [
      { "service": { "name": "orders", "version": "v2", "lock": true } },
      { "service": { "name": "orders", "sql": "more.sql" } },
      { "service": { "name": "orders", "sql": "UPDATE orders SET colour = 1;" } } ] },
    { "order": 2, "when": { "event": "command_count", "n": 4 }, "effects": [
      { "service": { "name": "orders", "lock": false } } ] } ], "max_rounds": 2 }
END
cat >task/repo/ask.py <<'END'
import json, sys, urllib.error, urllib.request
def call(path, body=None):
    r = urllib.request.Request("http://127.0.0.1:8083" + path, data=json.dumps(body).encode() if body else None)
    try:
        with urllib.request.urlopen(r) as a:
            return json.loads(a.read())
    except urllib.error.HTTPError as e:
        return e.code, json.loads(e.read())["error"]
def query(sql, *params):
    got = call("/query", {"sql": sql, "params": params})
    return got if isinstance(got, tuple) else got["rows"] or got["changes"]
def say(name, got):
    print(name, json.dumps(got))
if sys.argv[1] == "1":
    say("version", call("/schema")["version"])
    say("rows", query("SELECT item, qty FROM orders WHERE qty > ?", 3))
    say("insert", query("INSERT INTO orders (item, qty) VALUES (?, ?)", "screw", 5))
    say("refused", query("INSERT INTO orders (item, qty) VALUES ('x', 0)"))
    say("file", query("ATTACH '/etc/passwd' AS p"))
    say("wrong", query("SELECT colour FROM orders"))
    both = call("/query", {"statements": [{"sql": "DELETE FROM orders"}, {"sql": "INSERT INTO orders VALUES (1, 'x', 0)"}]})
    say("both", both)
    say("count", query("SELECT count(*) FROM orders"))
    say("time", query("SELECT datetime('now')"))
elif sys.argv[1] == "2":
    say("version now", call("/schema")["version"])
    say("old column", query("SELECT qty FROM orders"))
    say("rows now", query("SELECT id, item, quantity FROM orders"))
    say("locked", query("DELETE FROM orders WHERE id = 1"))
else:
    say("unlocked", query("DELETE FROM orders WHERE id = 1"))
END
for again in run same; do
	proctor run -q --no-tty --task task/task.json --scenario task/db.json --out $again \
		-- sh -c 'python3 ask.py 1; /bin/true; python3 ask.py 2; /bin/true; python3 ask.py 3' </dev/null >$again.txt 2>err.txt
	tap_is $? 0 "the run is made ($again)" || sed 's/^/# /' err.txt
done
while read -r want; do
	tap_ok "$(grep -qxF -- "$want" run.txt; echo $?)" "the agent gets: $want" || sed 's/^/# /' run.txt
done <<'END'
version "v1"
rows [["nut", 4]]
insert 1
refused [409, "CHECK constraint failed: qty > 0"]
file [403, "not authorized"]
wrong [400, "no such column: colour"]
both [409, "CHECK constraint failed: qty > 0"]
count [[3]]
version now "v2"
old column [400, "no such column: qty"]
rows now [[1, "bolt", 3], [2, "nut", 4], [3, "screw", 5], [7, "washer", 1]]
locked [423, "database is locked"]
unlocked 1
END
tap_ok "$(cmp run.txt same.txt >/dev/null; echo $?)" "another run gets the same answers, times included"
tap_is "$(run_count run service service=orders event=request)" 14 "every request is recorded"
tap_is "$(run_count run service service=orders event=request mutating=1)" 2 "and what changed something"
tap_is "$(run_count run service route=/query version=v1 'what=SELECT item, qty FROM orders WHERE qty > ? ')" 1 "with its SQL and the version it met"
tap_is "$(run_count run service service=orders event=change)" 3 "so is every change from outside"
tap_like "$(cat run/interventions.jsonl)" 'orders: sql: no such column: colour' "a change that cannot be made says why"
tap_is "$(run_field run/run.json services.0.state.version)" v2 "its version at the end"
tap_is "$(run_field run/run.json services.0.state.tables)" '[{"name": "orders", "rows": 3}]' "and its rows"
tap_like "$(cat run/plan.json)" 'CREATE TABLE orders' "the plan holds the SQL of the files"

# bad SERVICE REGEX
bad()
{
	printf '{ "schema": "proctor.scenario/1", "id": "bad", "mode": "vanilla", "services": [ %s ] }' "$1" >task/bad.json
	proctor run -q --no-tty --task task/task.json --scenario task/bad.json --out bad -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 3 "refused: $1"
	tap_like "$(cat err.txt)" "$2" "refused: says why"
	rm -rf bad
}
bad '{"name": "x", "kind": "sqlite", "port": 8080, "sql": "nowhere.sql"}' 'cannot read .*nowhere.sql'
bad '{"name": "x", "kind": "sqlite", "port": 8080, "sql": "CREATE TALE t(x);"}' 'x: sql: near "TALE": syntax error'
bad '{"name": "x", "kind": "sqlit", "port": 8080}' 'did you mean "sqlite"'
tap_done
