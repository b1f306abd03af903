#!/usr/bin/env bash
# Side services in a record that is continued twice: the prefix runs again against services made anew and is the recorded one,
# request by request; the update changes an index, a SQLite and a PostgreSQL database in the shifted arm alone.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$bin" ]; then
	tap_ok 1 "a PostgreSQL server is installed (package postgresql)"
	tap_done
fi
mkdir -p task/repo
echo start >task/repo/notes.txt
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "sf-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
cat >task/scenario.json <<'END'
{ "schema": "proctor.scenario/1", "id": "sf", "instance_id": "sf-1", "family": "F07", "max_rounds": 1,
  "services": [
    { "name": "pypi", "kind": "index", "port": 8082, "packages": [
      { "name": "slugger", "version": "1.0", "files": { "slugger.py": "V = 'one'\n" } },
      { "name": "slugger", "version": "1.1", "files": { "slugger.py": "V = 'two'\n" }, "unpublished": true } ] },
    { "name": "lite", "kind": "sqlite", "port": 8083, "sql": "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'one');" },
    { "name": "pg", "kind": "postgresql", "port": 15432, "roles": [ { "name": "app", "password": "p" } ],
      "sql": "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'one');" } ],
  "interventions": [ { "order": 1, "when": { "event": "anchor", "anchor": "fork" }, "effects": [
    { "service": { "name": "pypi", "publish": { "package": "slugger", "version": "1.1" } } },
    { "service": { "name": "lite", "sql": "UPDATE t SET v = 'changed' WHERE id = 1;" } },
    { "service": { "name": "pg", "sql": "UPDATE t SET v = 'changed' WHERE id = 1;" } } ] } ] }
END
cat >task/repo/lite.sh <<'END'
python3 -c 'import sys, json, urllib.request as u
print(u.urlopen("http://127.0.0.1:8083/query", json.dumps({"sql": sys.argv[1]}).encode()).read().decode())' "$1"
END
cat >task/repo/pg.sh <<END
PGPASSWORD=p $bin/psql -X -A -t -w -h 127.0.0.1 -p 15432 -U app app -c "\$1"
END
cat >task/repo/index.sh <<'END'
python3 -c 'import re, urllib.request as u
print(re.findall(">(slugger[^<]*)<", u.urlopen("http://127.0.0.1:8082/simple/slugger/").read().decode()))'
END
python3 - <<'END'
import json
def script(name, *turns):
    json.dump({"schema": "proctor.script/1", "usage": {"input": 1000, "output": 50}, "turns": list(turns)}, open(name, "w"))
def shell(command, **more):
    return dict(tools=[{"shell": command}], **more)
look = [shell("sh lite.sh 'SELECT v, random(), datetime() FROM t'"), shell("sh pg.sh 'SELECT v FROM t'"), shell("sh index.sh")]
write = [shell("sh lite.sh \"INSERT INTO t (v) VALUES ('mine') RETURNING id\""), shell("sh pg.sh \"INSERT INTO t VALUES (2, 'mine')\""),
    shell("sh lite.sh 'SELECT count(*) FROM t'"), shell("sh pg.sh 'SELECT count(*) FROM t'"), shell("echo done >>notes.txt")]
script("record.json", *look, *write, {"text": "Done."})
ask = shell("sh lite.sh 'SELECT v FROM t'; sh pg.sh 'SELECT v FROM t'; sh index.sh")
script("clean.json", ask, dict(text="Done.", expect={"contains": ["one", "mine"]}))
script("shifted.json", ask, dict(text="Done.", expect={"contains": ["changed", "slugger-1.1", "mine"]}))
END
timeout 200 "$PROCTOR" run -q --no-tty --task task/task.json --agent actor --scenario task/scenario.json \
	--set watch=workspace --model script:record.json --out rec </dev/null >out.txt 2>err.txt
tap_is $? 0 "the record is made" || sed 's/^/# /' err.txt
tap_is "$(run_count rec service event=request code=200)" 4 "what the record has of HTTP"
tap_is "$(run_count rec service event=query)" 3 "and of PostgreSQL"
timeout 400 "$PROCTOR" fork rec --at 0.9 --clean-model script:clean.json --shifted-model script:shifted.json --no-grade \
	--out pair </dev/null >fork.txt 2>err.txt
tap_is $? 0 "the pair is valid: the prefix came back" || sed 's/^/# /' fork.txt err.txt
for arm in clean shifted; do
	tap_is "$(run_field pair/$arm/run.json end.reason)" exited "the $arm arm ended by itself" || sed 's/^/# /' fork.txt
	tap_is "$(run_field pair/$arm/run.json model.unmet)" '[]' "the $arm arm sees what it expects"
done
tap_is "$(run_count pair/clean service event=change)" 0 "no change in the clean arm"
tap_is "$(run_count pair/shifted service event=change)" 3 "three in the shifted one"
tap_done
