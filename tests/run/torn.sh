#!/usr/bin/env bash
# 1,000 at-touch edits of one file under eight busy processes: not one torn read.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
rounds=1000
torn=${PROCTOR%/supervisor/proctor}/tests/progs/torn
[ -x "$torn" ] || torn=$(dirname "$PROCTOR")/torn
mkdir -p repo
cp "$torn" repo/torn
awk 'BEGIN { for (i = 1; i <= 100; i++) printf "%03d %-11s\n", i, (i == 10 || i == 90) ? "old" : "-" }' >old.txt
sed 's/old/new/' old.txt >repo/file.txt
diff -u --label a/file.txt --label b/file.txt old.txt repo/file.txt >edit.diff
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "torn-1", "problem_statement": "none", "source": "repo" }
J
cat >scenario.json <<J
{ "schema": "proctor.scenario/1", "id": "torn", "instance_id": "torn-1",  "mode": "edit",
  "max_rounds": $rounds, "regions": [ { "path": "file.txt", "start": 10, "end": 10 } ],
  "interventions": [ { "order": 1, "when": { "event": "edit", "regions": [0], "count_scans": true },
    "timing": "at-touch", "effects": [ { "edit": "edit.diff" } ] } ] }
J
proctor run -q --task task.json --scenario scenario.json --out out --set limits.processes=64 -- \
	./torn file.txt $rounds >said.txt 2>err.txt
tap_is "$(run_field out/run.json end.status)" 0 "no torn read" || sed "s|^|# |" err.txt
tap_like "$(cat said.txt)" "rounds ([0-9]+) reads [0-9]+ torn 0" "the program counts none"
fired=$(run_field out/run.json interventions.fired)
[ "$fired" -ge $((rounds - 10)) ]
tap_ok $? "$fired of $rounds edits were made ($(cat said.txt))"
tap_done
