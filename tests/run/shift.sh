#!/usr/bin/env bash
# Admission of SWE-Shift scenarios: six rows played by scripted agents, and each evidence check caught by its own row. A
# scenario that asks too little, or of the wrong thing, is not admitted.
# usage: shift.sh [SCENARIO...]; without names all that are shipped. SHIFT_AT: positions (default 0.5)
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
shift=$top/examples/shift
at=${SHIFT_AT:-0.5}
cp -r "$shift" scenarios
if [ $# -eq 0 ]; then
	cd scenarios || exit 1
	set -- F*
	cd ..
fi

for name in "$@"; do
	timeout 600 "$PROCTOR" gate "scenarios/$name/scenario.json" --at "$at" --mutations --out out </dev/null >out.txt 2>err.txt
	tap_is $? 0 "$name: admitted, and every mutation is seen by its check" || grep -v 'as expected$' out.txt err.txt | sed 's/^/# /'
	tap_is "$(python3 - "out/$name.gate.json" "scenarios/$name/scenario.json" <<'PYTHON'
import json, sys
gate, scenario = (json.load(open(name)) for name in sys.argv[1:])
rows = {row["name"] for row in gate["rows"] if row["ok"]}
mutated = {row["mutation"] for row in gate["rows"] if "mutation" in row and row["ok"]}
print(len(rows - {"mutation"}), mutated == set(scenario["actors"]["mutations"]))
PYTHON
)" "6 True" "$name: six rows, and all mutations"
done

# Scenario by check: "caught" = the recovery broken in this one way fails exactly this row. A cell that is anything else
# (the check does not apply, nothing breaks it, it was missed) is a hole in the table.
python3 - out >table.txt <<'PYTHON'
import glob, json, sys
checks = ["task", "preservation", "prohibited", "authority", "fresh_observation", "recovery_order"]
for name in sorted(glob.glob(sys.argv[1] + "/*.gate.json")):
    gate = json.load(open(name))
    applies = {c for row in gate["rows"] if row["name"] == "valid_recovery" for c in row.get("applies", [])}
    seen = {row["mutation"]: row["ok"] for row in gate["rows"] if "mutation" in row}
    cells = [("caught" if seen[c] else "MISSED") if c in seen and c in applies else "no mutation" if c in applies else "-" for c in checks]
    print("%-16s" % gate["scenario"], " ".join("%s: %-11s" % pair for pair in zip(checks, cells)))
PYTHON
sed 's/^/# /' table.txt
tap_is "$(grep -o ': caught' table.txt | wc -l)" $(($# * 6)) "every check of every scenario is broken once, and caught by its own row alone"

# spoiled NAME PYTHON REGEX [STATUS [OPTION...]]: change a scenario; then the gate must not admit it, for the reason given.
spoiled()
{
	local name=$1 code=$2 regex=$3 want=${4:-1}
	shift 3
	[ $# -eq 0 ] || shift
	rm -rf spoiled
	cp -r scenarios spoiled
	python3 -c "
import json
path = 'spoiled/F01-shipping/scenario.json'
s = json.load(open(path))
$code
json.dump(s, open(path, 'w'))"
	timeout 300 "$PROCTOR" gate spoiled/F01-shipping/scenario.json "$@" </dev/null >out.txt 2>err.txt
	tap_is $? "$want" "$name: not admitted" || sed 's/^/# /' out.txt err.txt
	tap_like "$(cat out.txt err.txt)" "$regex" "$name: says which row" || sed 's/^/# /' out.txt err.txt
}
spoiled "nothing is to be kept" "s['checks']['preservation'] = []" \
	'unadapted .*fails neither task nor preservation'
spoiled "nobody has to look" "del s['checks']['fresh_observation']" \
	'repair_by_former_state .*counts as success'
spoiled "what the recovery does is forbidden" "s['checks']['prohibited'] = [{'exists': {'kind': 'edit', 'path': 'CHANGELOG.md', 'by': 'agent'}, 'after': 'update'}]" \
	'valid_recovery .*not a success'
spoiled "the update cannot be made" "s['interventions'][0]['effects'] = [{'place': {'path': 'tally/orders.py', 'replace': [['no such text', 'x']]}}]" \
	'the run is not valid'
spoiled "the reference does nothing" "s['actors']['reference'] = 'stale2.json'; json.dump({'schema': 'proctor.script/1', 'turns': [{'tools': [{'shell': 'ls'}]}, {'text': 'Done.'}]}, open('spoiled/F01-shipping/stale2.json', 'w'))" \
	'clean_reference .*not a success'
spoiled "a check that is none" "s['checks']['fresh'] = {}" 'unknown key "fresh"' 3
spoiled "no actors" "del s['actors']" 'give "actors"' 3
spoiled "a mutation of no check" "s['actors']['mutations'] = {'tsk': 'recovery.json'}" 'admitted|valid' 0
spoiled "a mutation of no check, played" "s['actors']['mutations'] = {'tsk': 'recovery.json'}" 'tsk is no check' 3 --mutations
spoiled "the verifier in force breaks nothing" "s['actors']['mutations'] = {'authority': 'verifier:initial'}" 'is the one in force' 3 --mutations
spoiled "a version that nobody declared" "s['actors']['mutations'] = {'authority': 'verifier:drafd'}" 'did you mean "draft"' 3 --mutations
tap_done
