#!/usr/bin/env bash
# A real PostgreSQL server as a side service: psql and pgbench in the box work on it, effects change rows, passwords and
# sessions and take it down, every statement is in the record before its result, and nothing of it is left.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$bin" ]; then
	tap_ok 1 "a PostgreSQL server is installed (package postgresql)"
	tap_done
fi
mkdir -p task/repo scratch
export PROCTOR_SCRATCH=$work/scratch
cat >task/task.json <<'END'
{ "schema": "proctor.task/1", "instance_id": "pg-1", "problem_statement": "x", "source": "repo",
  "test": { "command": "true", "reader": "exit", "timeout": "1m" }, "FAIL_TO_PASS": ["exit"], "PASS_TO_PASS": [] }
END
cat >task/shop.sql <<'END'
CREATE TABLE orders (id serial PRIMARY KEY, item text NOT NULL, qty integer NOT NULL);
INSERT INTO orders (item, qty) VALUES ('bolt', 3), ('nut', 4);
GRANT SELECT ON orders TO reader;
END
cat >task/pg.json <<'END'
{ "schema": "proctor.scenario/1", "id": "pg", "family": "F06", "max_rounds": 3,
  "services": [ { "name": "db", "kind": "postgresql", "port": 15432, "database": "shop", "sql": "shop.sql",
      "roles": [ { "name": "app", "password": "p-1" }, { "name": "reader", "password": "p-2" } ] } ],
  "interventions": [
    { "order": 1, "when": { "event": "command_count", "n": 2 }, "effects": [
      { "service": { "name": "db", "sql": "ALTER TABLE orders RENAME COLUMN qty TO quantity; INSERT INTO orders (item, quantity) VALUES ('washer', 9);" } },
      { "service": { "name": "db", "password": { "name": "app", "password": "p-3" }, "revoke": "reader", "terminate": "" } },
      { "service": { "name": "db", "sql": "UPDATE orders SET colour = 1;" } } ] },
    { "order": 2, "when": { "event": "command_count", "n": 4 }, "effects": [ { "service": { "name": "db", "down": true } } ] },
    { "order": 3, "when": { "event": "command_count", "n": 6 }, "effects": [ { "service": { "name": "db", "down": false, "grant": "reader" } } ] } ] }
END
cat >task/repo/work.sh <<END
export PATH=$bin:/usr/bin:/bin
END
cat >>task/repo/work.sh <<'END'
export PGHOST=127.0.0.1 PGPORT=15432 PGDATABASE=shop PGCONNECT_TIMEOUT=10
q() { n=$1 u=$2 p=$3; shift 3; printf '%s: %s\n' "$n" "$(PGUSER=$u PGPASSWORD=$p psql -X -A -t -w "$@" 2>&1 | grep -v '^LINE\|\^$' | tr '\n' ';')"; }
case $1 in
1)
	q rows app p-1 -c 'SELECT item, qty FROM orders ORDER BY id'
	q insert app p-1 -c "INSERT INTO orders (item, qty) VALUES ('screw', 5)"
	q lock app p-1 -c 'SELECT id FROM orders WHERE id = 1 FOR UPDATE'
	q forbidden reader p-2 -c 'DELETE FROM orders'
	q reader reader p-2 -c 'SELECT count(*) FROM orders'
	q wrong app nonsense -c 'SELECT 1'
	q super postgres x -c 'SELECT 1'
	echo 'SELECT item FROM orders WHERE qty = 4;' >bench.sql
	PGUSER=app PGPASSWORD=p-1 pgbench -n -M prepared -t 2 -f bench.sql >/dev/null 2>&1; echo "pgbench: $?"
	cat /proc/[0-9]*/comm | grep -c postgres | sed 's/^/servers seen: /'
	ls -d /pg 2>&1 | sed 's/^/its files: /'
	(PGUSER=app PGPASSWORD=p-1 psql -X -A -t -w -c 'SELECT pg_sleep(100)' >slept.txt 2>&1; echo "ended" >>slept.txt) &
	n=0
	until [ "$(PGUSER=app PGPASSWORD=p-1 psql -X -A -t -w -c "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(1%' AND state = 'active' AND pid <> pg_backend_pid()")" = 1 ] || [ $n = 50 ]; do n=$((n + 1)); sleep 0.1; done
	;;
2)
	n=0
	until grep -q ended slept.txt || [ $n = 50 ]; do n=$((n + 1)); sleep 0.1; done
	grep -o 'terminating connection due to administrator command' slept.txt
	q 'old password' app p-1 -c 'SELECT 1'
	q 'old column' app p-3 -c 'SELECT qty FROM orders'
	q 'rows now' app p-3 -c 'SELECT item, quantity FROM orders ORDER BY id'
	q revoked reader p-2 -c 'SELECT 1'
	;;
3) q down app p-3 -c 'SELECT 1' ;;
4)
	q up app p-3 -c 'SELECT count(*) FROM orders'
	q granted reader p-2 -c 'SELECT 1'
	;;
esac
END
proctor run -q --no-tty --task task/task.json --scenario task/pg.json --out run \
	-- sh -c 'sh work.sh 1; /bin/true; sh work.sh 2; /bin/true; sh work.sh 3; /bin/true; sh work.sh 4' </dev/null >out.txt 2>err.txt
tap_is $? 0 "the run is made" || sed 's/^/# /' err.txt
while read -r want; do
	tap_ok "$(grep -qF -- "$want" out.txt; echo $?)" "the agent gets: $want" || sed 's/^/# /' out.txt err.txt
done <<'END'
rows: bolt|3;nut|4;
insert: INSERT 0 1;
lock: 1;
forbidden: ERROR:  permission denied for table orders;
reader: 3;
wrong: psql: error: connection to server at "127.0.0.1", port 15432 failed: FATAL:  password authentication failed for user "app";
super: psql: error: connection to server at "127.0.0.1", port 15432 failed: FATAL:  pg_hba.conf rejects connection for host "127.0.0.1", user "postgres"
pgbench: 0
servers seen: 0
its files: ls: cannot access '/pg'
terminating connection due to administrator command
old password: psql: error: connection to server at "127.0.0.1", port 15432 failed: FATAL:  password authentication failed for user "app";
old column: ERROR:  column "qty" does not exist;
rows now: bolt|3;nut|4;screw|5;washer|9;
revoked: psql: error: connection to server at "127.0.0.1", port 15432 failed: FATAL:  role "reader" is not permitted to log in;
down: psql: error: connection to server at "127.0.0.1", port 15432 failed: Connection refused;
up: 4;
granted: 1;
END
tap_is "$(run_count run service event=query method=INSERT route=app path=shop mutating=1 "what=INSERT INTO orders (item, qty) VALUES ('screw', 5)")" 1 "a statement, with its role, is recorded"
tap_is "$(run_count run service event=query route=app mutating=0 'what=SELECT id FROM orders WHERE id = 1 FOR UPDATE')" 1 "a lock on rows changes none"
tap_is "$(run_count run service event=query 'what=SELECT item FROM orders WHERE qty = 4;')" 2 "prepared statements, each time they are run"
tap_is "$(run_count run service event=error route=reader 'what=42501 permission denied for table orders')" 1 "what was refused"
tap_is "$(run_count run service event=connect 'what=postgres to shop')" 1 "who came"
tap_is "$(run_count run service event=change)" 4 "every change from outside"
tap_ok "$(grep '"k":"service"' run/trace.jsonl | grep '"event":"query"' | grep -qv '"cmd":'; [ $? -eq 1 ]; echo $?)" "the command that asked is known"
tap_like "$(cat run/interventions.jsonl)" 'db: .*column ..colour.. of relation ..orders.. does not exist' "a change that cannot be made says why"
tap_is "$(run_field run/run.json services.0.changes)" 4 "and counted"
tap_is "$(ls scratch)" "" "nothing is left of the data"

# before QUERY RESULT: the record of a statement stands in front of what the agent does with its result.
order=$(python3 - <<'END'
import json
seen, at = None, None
for line in open("run/trace.jsonl"):
    r = json.loads(line)
    if r.get("k") == "service" and r.get("what", "").startswith("INSERT INTO orders (item, qty) VALUES ('screw'"):
        seen, pid = r["n"], r["pid"]
    if seen and r.get("pid") == pid and r.get("k") == "exit":
        at = r["n"]
        break
print(bool(seen and at and seen < at))
END
)
tap_is "$order" True "before its result"

# below PID: every process below it.
below()
{
	local p
	for p in $(ps -o pid= --ppid "$1"); do
		echo "$p"
		below "$p"
	done
}
# Killed in the middle: the janitor ends the server and removes its data.
"$PROCTOR" run -q --no-tty --task task/task.json --scenario task/pg.json --out killed -- sh -c 'echo began; sleep 100' </dev/null >began.txt 2>&1 &
pid=$!
n=0
until grep -qs began began.txt || [ $n = 300 ]; do n=$((n + 1)); sleep 0.1; done
servers=$(for p in $(below $pid); do [ "$(cat "/proc/$p/comm" 2>/dev/null)" = postgres ] && echo "$p"; done)
tap_ok "$([ -n "$servers" ]; echo $?)" "the server's processes are below the run's"
kill -KILL $pid
wait $pid 2>/dev/null
n=0
until [ -z "$(ls scratch)" ] || [ $n = 100 ]; do n=$((n + 1)); sleep 0.1; done
tap_is "$(ls scratch)" "" "after a kill nothing is left of the data"
left=$(for p in $servers; do [ "$(cat "/proc/$p/comm" 2>/dev/null)" = postgres ] && echo "$p"; done)
tap_is "$left" "" "nor of the server"

# bad SERVICES REGEX [STATUS]
bad()
{
	printf '{ "schema": "proctor.scenario/1", "id": "bad", "mode": "vanilla", "services": [ %s ] }' "$1" >task/bad.json
	proctor run -q --no-tty --task task/task.json --scenario task/bad.json --out bad -- true </dev/null >/dev/null 2>err.txt
	tap_is $? 3 "refused: $1"
	tap_like "$(cat err.txt)" "$2" "refused: says why"
	rm -rf bad
}
bad '{"name": "x", "kind": "postgresql", "port": 8080, "roles": []}' 'roles: 1 to'
bad '{"name": "x", "kind": "postgresql", "port": 8080, "roles": [{"name": "Robert", "password": "x"}]}' 'must be of a-z'
bad "{\"name\": \"x\", \"kind\": \"postgresql\", \"port\": 8080, \"roles\": [{\"name\": \"a\", \"password\": \"x'y\"}]}" 'no quote'
bad '{"name": "x", "kind": "postgresql", "port": 8080, "sql": "SELEC 1;", "roles": [{"name": "a", "password": "x"}]}' 'service "x": sql: .*syntax error at or near "SELEC"'
bad '{"name": "x", "kind": "postgresql", "port": 8080, "roles": [{"name": "a", "password": "x"}]}, {"name": "y", "kind": "postgresql", "port": 8081, "roles": [{"name": "a", "password": "x"}]}' 'one postgresql at most'

# A host without the server.
cat >without.sh <<'END'
mount -t tmpfs none /usr/lib/postgresql || exit 99
exec "$PROCTOR" run -q --no-tty --task task/task.json --scenario task/pg.json --out without -- true </dev/null
END
if [ "$(id -u)" = 0 ]; then
	unshare -m sh without.sh >/dev/null 2>err.txt
else
	unshare -rm sh without.sh >/dev/null 2>err.txt
fi
tap_is $? 4 "without the server the scenario is refused"
tap_like "$(cat err.txt)" 'install the Debian package postgresql' "and says what to install"
tap_done
