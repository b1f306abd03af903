#!/usr/bin/env bash
# Real runs of the example, careful and careless agent, vanilla and touched, twice each, graded and labelled:
# the report tells each in words, and its tables are right in every format.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
cp -r "$top/examples/calc" calc
mkdir runs

# go AGENT SCENARIO REPEAT: one graded run.
go()
{
	local dir=runs/$1-$2-$3
	timeout 200 "$PROCTOR" run -q --no-tty --task calc/task.json --agent "calc/agents/$1.json" \
		--scenario "calc/$2.json" --repeat "$3" --out "$dir" </dev/null >out.txt 2>&1 || return
	timeout 200 "$PROCTOR" grade -q --run "$dir" >out.txt 2>&1
	[ $? -le 1 ]
}

# report ARGUMENT...: its output in $out (and report.txt), its messages in $messages, its status in $status.
report()
{
	timeout 60 "$PROCTOR" report "$@" >report.txt 2>error.txt
	status=$?
	out=$(cat report.txt)
	messages=$(cat error.txt)
}

for agent in careful careless; do
	for scenario in vanilla counter-edit; do
		for repeat in 1 2; do
			go $agent $scenario $repeat
			tap_ok $? "$agent, $scenario, repeat $repeat"
		done
	done
done
for run in runs/*-counter-edit-*; do
	tap_try "$run is labelled" timeout 60 "$PROCTOR" label -q "$run"
done

# One run in words.
report runs/careless-counter-edit-2
tap_like "$out" "task +example__duration-1" "one run: its task"
tap_like "$out" "condition +edit\+message \(K=1\), repeat 2, scenario counter-edit-1" "one run: its condition"
tap_like "$out" "verdict +unresolved: [0-9]+ of 6 FAIL_TO_PASS" "one run: its verdict"
tap_like "$out" "touched +1 fired, 0 refused" "one run: what was put in"
tap_like "$out" "round 1: edit \(exact\), on read of src/duration.c:30-75" "one run: where and how"
tap_like "$out" "failure +[a-z_]+ \(by rule\): " "one run: type of failure"
tap_like "$out" "afterwards +reads 0, edits [1-9], tests [0-9]+; the edit was kept" "one run: what came after"
report --format json runs/careless-counter-edit-2
tap_is "$(wc -l <report.txt)" 1 "one run: its record"
tap_is "$(run_field report.txt response)" kept "one run: its record says what became of the edit"
# The same without the files that come later.
cp -r runs/careless-counter-edit-2 bare
rm bare/verdict.json bare/behaviour.json bare/interventions.jsonl
sed -i 's/"verdict":.*"unresolved"/"x": 1/' bare/run.json
report bare
tap_like "$out" "verdict +none: not graded" "one run: not graded yet"
tap_is "$status" 0 "which is no error"

# All formats of all tables; numbers by the one, shapes by the others.
for format in json csv markdown latex text; do
	tap_try "all tables as $format" timeout 60 "$PROCTOR" report --format $format --out $format/ runs
done
tap_is "$(find csv | wc -l)" "$(find json | wc -l)" "the same tables in each"
python3 - <<'PYTHON' >lines.txt
import csv, glob, json, os, re

def show(*words):
    print(*words, sep="|")

table = {}
for path in sorted(glob.glob("json/*.json")):
    doc = json.load(open(path))
    table[doc["table"]] = doc["rows"]
    name = os.path.basename(path)[:-5]
    rows = list(csv.DictReader(open(f"csv/{name}.csv", newline="")))
    same = len(rows) == len(doc["rows"]) and all(
        all(mine[k] == ("" if v is None else v if isinstance(v, str) else mine[k])
            and (not isinstance(v, float) or float(mine[k]) == v) for k, v in theirs.items())
        for mine, theirs in zip(rows, doc["rows"]))
    markdown = [l.count("|") - l.count("\\|") for l in open(f"markdown/{name}.md") if l.startswith("|")]
    tex = open(f"latex/{name}.tex").read()
    plain = re.sub(r"\\[\\{}]", "", tex)
    columns = len(re.search(r"begin\{tabular\}\{(\w+)\}", tex).group(1))
    body = [l for l in tex.splitlines() if l.endswith("\\\\") and "multicolumn" not in l]
    ands = {len(re.findall(r"(?<!\\)&", l)) + 1 for l in body}
    show("shape", name, same, len(set(markdown)) == 1, plain.count("{") == plain.count("}"),
         ands == {columns}, tex.count("\\begin{") == tex.count("\\end{"))
for row in table["3"]:
    show("3", row["model"], row["vanilla_resolve"], row["edit_message_k_1_resolve"],
         row["edit_message_k_1_resolve_sd"], row["delta_resolve"], row["retention"])
for row in table["10"]:
    show("10", row["model"], row["vanilla_solved_kept"], row["vanilla_solved_lost"])
for row in table["runs"]:
    show("runs", row["model"], row["condition"], row["runs"], row["resolved"], row["fired"])
for row in table["failures"]:
    show("failures", row["model"], row["pairs"], row["labelled"])
for row in table["behaviour"]:
    show("behaviour", row["model"], row["the_edit_was_runs"], row["the_edit_was_kept"])
PYTHON
while IFS= read -r line; do
	case $line in
	shape*) tap_like "$line" "^shape\|table-[a-z0-9]+\|True\|True\|True\|True\|True$" "$line" ;;
	esac
done <lines.txt
tap_is "$(grep -c ^shape lines.txt)" "$(find json -type f | wc -l)" "each table was looked at"
tap_is "$(grep '^3|' lines.txt)" "3|careful|100|100|0|0|100
3|careless|100|0|0|-100|0
3|Mean|100|50|None|-50|50" "table 3: the careless agent falls, the careful one does not"
tap_is "$(grep '^10|' lines.txt)" "10|careful|1|0
10|careless|0|1
10|Total|1|1" "table 10"
tap_is "$(grep '^runs|' lines.txt)" "runs|careful|vanilla|2|2|None
runs|careful|edit+message (K=1)|2|2|1
runs|careless|vanilla|2|2|None
runs|careless|edit+message (K=1)|2|0|1" "runs by result"
tap_is "$(grep '^failures|' lines.txt)" "failures|careless|2|2
failures|All|2|2" "failures: two runs, both labelled"
tap_like "$(grep '^behaviour|careless' lines.txt)" "^behaviour\|careless\|2\|100$" "behaviour: the careless agent keeps it"

# Patch sizes, by hand: the reference and the edit of the example.
changed()
{
	grep -c '^[+-][^+-]' "$1"
}
report --table 2 --sizes calc/counter-edit.json --format json
tap_is "$(run_field report.txt tables.0.rows.0.user_edit_lines)" "$(changed calc/edit.diff)" "table 2: the edit"
tap_is "$(run_field report.txt tables.0.rows.0.reference_repair_lines)" "$(changed calc/reference.diff)" \
	"table 2: the reference"

# Wrong use and wrong input.
expect()
{
	local want=$1 text=$2
	shift 2
	report "$@"
	tap_is "$status" "$want" "report $*: status $want"
	tap_like "$messages" "$text" "and why"
}
expect 2 "give a run directory"
expect 2 "unknown table \"test\", did you mean \"tests\"" --table test runs
expect 2 "csv holds one table" --format csv runs
expect 3 "cannot look at nowhere" nowhere
expect 3 "holds neither a run directory" calc
expect 3 "nothing for table 5: no model has more than two conditions" --table 5 runs
echo '{"schema":"proctor.result/1"' >cut.jsonl
expect 3 "cut.jsonl:1:1:" cut.jsonl
# Another task under the same name: no pair.
cp -r runs other
sed 's/"problem_statement": "/&Please. /' calc/task.json >calc/changed.json
rm -rf other/careful-vanilla-1
timeout 200 "$PROCTOR" run -q --no-tty --task calc/changed.json --agent calc/agents/careful.json \
	--scenario calc/vanilla.json --repeat 1 --out other/careful-vanilla-1 </dev/null >out.txt 2>&1
expect 3 "other/careful-[a-z-]+-1 and other/careful-[a-z-]+-1 are no pair.*problem_statement" other
report --force-pairs --table runs other
tap_like "$out" "1 pairs are counted although" "but for --force-pairs"
tap_done
