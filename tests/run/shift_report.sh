#!/usr/bin/env bash
# Pairs of continuations below any number of directories: both averages with their counts, what is in no rate, checks,
# cost, ladder and sweep; the plain table of counts says the same; files that are broken or foreign.
. "$(dirname "$0")/lib/run.sh"

# made DIR: pairs of two agents, two families, three positions, two steps of the ladder, with the arms' files. What
# they come to is worked out below by hand.
made()
{
	python3 - "$1" <<'END'
import json, os, sys

CHECKS = ["task", "preservation", "prohibited", "authority", "fresh_observation", "recovery_order"]


def arm(path, name, success, tokens, fails, end):
    os.makedirs(f"{path}/{name}")
    rows = [{"name": c, "applies": name == "shifted" or c in ("task", "preservation"),
             "ok": c not in fails, "reason": None, "records": [], "parts": []} for c in CHECKS]
    with open(f"{path}/{name}/strict.json", "w") as f:
        json.dump({"schema": "proctor.strict/1", "arm": name, "checks": rows, "success": success}, f)
    with open(f"{path}/{name}/run.json", "w") as f:
        json.dump({"schema": "proctor.run/1", "state": "done", "times": {"wall_ns": 9000000000},
                   "fork": {"at_ns": 4000000000, "arm": name}}, f)
    return {"dir": name, "end": end, "tokens": tokens, "commands": 7, "verdict": "resolved",
            "success": success, "strict": {"valid": True, "success": success}}


def pair(path, agent, scenario, family, position, clean, shifted, fails=(), reason=None, ladder="A0",
         budget=1000000, tokens=1000):
    os.makedirs(path)
    out = {"schema": "proctor.pair/1", "scenario": scenario, "family": family, "agent": agent,
           "model": "m", "position": {"text": position, "fraction": 0.5, "action": 3, "of": 9},
           "budget": budget, "ladder": ladder, "tokens": {"prefix": 500},
           "valid": reason is None, "reason": reason, "detail": reason and "clean arm: it differs",
           "paired": clean and shifted and reason is None,
           "arms": {"clean": arm(path, "clean", clean, tokens, () if clean else ("task",), "exited"),
                    "shifted": arm(path, "shifted", shifted, 2 * tokens, fails,
                                   "exited" if shifted else "limit:total_tokens")}}
    with open(f"{path}/pair.json", "w") as f:
        json.dump(out, f)


top = sys.argv[1]
n = 0
for agent, rows in {
        # scenario, family: (clean, shifted) at 0.1, 0.5, 0.9
        "one": [("s1", "F01", "11 11 10"), ("s2", "F06", "10 00 10")],
        "two": [("s1", "F01", "11 10 00"), ("s2", "F06", "00 01 10")]}.items():
    for scenario, family, cells in rows:
        for position, cell in zip(("0.1", "0.5", "0.9"), cells.split()):
            n += 1
            fails = () if cell[1] == "1" else ("fresh_observation",) if family == "F06" else ("task", "preservation")
            pair(f"{top}/study/{agent}/{scenario}/deep/{position}", agent, scenario, family, position,
                 cell[0] == "1", cell[1] == "1", fails)
pair(f"{top}/study/one/s3/0.5", "one", "s3", "F06", "0.5", True, True, (), "prefix")
pair(f"{top}/ladder/one/s1/0.1", "one", "s1", "F01", "0.1", True, True, (), None, "A3")
pair(f"{top}/ladder/one/s2/0.1", "one", "s2", "F06", "0.1", True, True, (), None, "A3")
pair(f"{top}/sweep/one/s1/0.1", "one", "s1", "F01", "0.1", True, False, ("task",), None, "A0", 250000)
END
}

# csv TABLE DIR...
csv()
{
	local table=$1
	shift
	proctor report --table "$table" --format csv "$@" 2>err.txt | tr -d '\r'
}

# has TEXT NAME: out.txt holds the line.
has()
{
	grep -qxF -- "$1" out.txt
	tap_ok $? "$2" || sed 's/^/# /' out.txt err.txt
}

# column FILE ROW NAME: a field of a CSV file, by the first field of its row.
column()
{
	python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if list(row.values())[0] == sys.argv[2]:
        print(row[sys.argv[3]])
        break' "$@"
}

made "$work/t"

csv pairs t/study >out.txt
for row in 'one/m pairs 7' 'one/m valid 6' 'one/m clean_n 5' 'one/m psr_n 2' 'one/m crr_micro 40' \
	'one/m crr_scenarios 2' 'two/m valid 6' 'two/m clean_n 3' 'two/m shifted_n 2' 'two/m psr_n 1' \
	'two/m over_scenarios_scenarios 2'; do
	read -r who name want <<<"$row"
	[ "$(column out.txt "$who" "$name")" = "$want" ]
	tap_ok $? "$row" || sed 's/^/# /' out.txt
done
# One: s1 2 of 3 clean successes, s2 0 of 2. Two: s1 1 of 2, s2 0 of 1.
[ "$(printf '%.4f' "$(column out.txt one/m crr_macro)")" = 33.3333 ]
tap_ok $? "CRR macro of the one: mean of 2/3 and 0"
[ "$(column out.txt two/m crr_macro)" = 25 ]
tap_ok $? "CRR macro of the other: mean of 1/2 and 0"

csv grid t/study >out.txt
has 'one/m,F01,100,100,0' "the grid of the one"
has 'two/m,F06,0,0,0' "the grid of the other"
csv versus t/study >out.txt
grep -q '^one/m,two/m,6,1,1,0,4,' out.txt
tap_ok $? "systems against each other: 1 both, 1 only the first, 4 neither" || sed 's/^/# /' out.txt
csv invalid t/study >out.txt
grep -q '^one/m,prefix,1,.*s3/0.5/pair.json,clean arm: it differs$' out.txt
tap_ok $? "the invalid pair is apart, with its place and reason" || sed 's/^/# /' out.txt
csv missing t/study >out.txt
has 'one/m,s3,3,all' "missing cells: an invalid pair is one"
has 'two/m,s3,3,all' "and those nobody made"

csv checks t/study >out.txt
grep -q '^one/m,F06,shifted,3,3,0,3,0,.*,3,3,3,0,3,0$' out.txt
tap_ok $? "checks: a fresh observation was missing three times of three, alone" || sed 's/^/# /' out.txt
grep -q '^two/m,all,clean,6,3,3,6,3,0,6,0,,,,' out.txt
tap_ok $? "the clean arm's task, and checks that do not apply" || sed 's/^/# /' out.txt
csv after t/study >out.txt
has 'one/m,clean,6,0,1000,1000,1000,5,5,7,6000,3000' "behind the fork: tokens, five seconds, prefix not paid"
has 'one/m,shifted,6,4,2000,2000,2000,5,5,7,12000,3000' "and those that a limit ended"

csv ladder t/study t/ladder >out.txt
grep -q '^one/m,A3,2,2,2,100,2,100,2,100,.*,2,50,1$' out.txt
tap_ok $? "the ladder: A3 against A0 on the two cells of both" || sed 's/^/# /' out.txt
csv sweep t/study t/sweep >out.txt
grep -q '^one/m,250000,1,1,1,100,0,0,0,0,.*,1,-100,1$' out.txt
tap_ok $? "the sweep: a smaller budget against B on the same cell" || sed 's/^/# /' out.txt

# The plain table of counts gives the same figures, as text and from standard output.
proctor report --counts counts.tsv --table pairs --format csv t >all.csv
proctor report --table pairs --format csv counts.tsv >again.csv
cmp -s all.csv again.csv
tap_ok $? "the table of counts gives the same figures" || diff all.csv again.csv | sed 's/^/# /'
for table in families positions grid ladder sweep versus missing scenarios cells; do
	csv "$table" t >all.csv
	csv "$table" counts.tsv >again.csv
	cmp -s all.csv again.csv && [ -s all.csv ]
	tap_ok $? "$table: the same" || diff all.csv again.csv | sed 's/^/# /'
done
[ "$(proctor report --counts - --table pairs -o /dev/null t | wc -l)" -eq $((1 + 16)) ]
tap_ok $? "a line for each pair"

# The published row from counts.
printf 'scenario\tposition\tagent\tvalid\tclean\tshifted\tpaired\tpairs\nall\tall\tfirst row\t585\t394\t145\t119\t585\n' >row.tsv
proctor report --table pairs row.tsv >out.txt
grep -qE ' 67\.35 .* 24\.79 .* 20\.34 .* 30\.20 ' out.txt
tap_ok $? "the published row from counts" || sed 's/^/# /' out.txt
grep -q 'CRR macro' out.txt
tap_ok $? "both averages are said"

# All forms.
proctor report t >out.txt
for word in 'Clean, shifted and paired' 'By family' 'By position' 'State access' 'Token budget' 'Which evidence' \
	'Invalid pairs' 'Behind the fork' 'without a valid pair'; do
	grep -q "$word" out.txt
	tap_ok $? "all: $word"
done
proctor report --format json t | python3 -c '
import json, sys
r = json.load(sys.stdin)
names = [t["table"] for t in r["tables"]]
sys.exit(not (r["schema"] == "proctor.report/1" and "pairs" in names and "sweep" in names and "cells" not in names))'
tap_ok $? "json"
proctor report --format html -o page.html t && python3 -c '
import html.parser, sys
open_ = []
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            open_.append(tag)
    def handle_endtag(self, tag):
        assert open_ and open_.pop() == tag, tag
P().feed(open("page.html").read())
sys.exit(bool(open_))' && [ "$(grep -c '<svg' page.html)" -eq 4 ]
tap_ok $? "a page: every element is closed, four figures" || grep -c '<svg' page.html
proctor report --format csv -o tables/ t && [ -s tables/table-pairs.csv ] && [ -s tables/table-checks.csv ]
tap_ok $? "a file for each table"

# What is not finished, twice, broken, hostile.
cp -r t u
rm u/study/one/s1/deep/0.1/pair.json
proctor report --table pairs u >out.txt
grep -q '1 directories hold an arm and no pair.json' out.txt
tap_ok $? "an unfinished pair is said"
proctor report --table pairs t t/study >out.txt 2>&1
[ $? -eq 3 ] && grep -q 'are the same pair' out.txt
tap_ok $? "the same pair twice is refused"
echo '{"schema":"proctor.pair/1","agent":' >u/study/one/s2/deep/0.1/pair.json
proctor report --table pairs u >out.txt 2>&1
[ $? -eq 3 ] && grep -q '0.1/pair.json' out.txt
tap_ok $? "a broken file is named"
made v
python3 -c '
import json
p = "v/ladder/one/s1/0.1/pair.json"
d = json.load(open(p))
d["agent"] = "<script>\x1b[31m"
d["arms"]["clean"]["dir"] = "../../../../etc"
json.dump(d, open(p, "w"))'
proctor report --format html v >out.html && ! grep -q '<script>' out.html && ! grep -q $'\x1b' out.html
tap_ok $? "names stay text"
mkdir empty
proctor report empty >out.txt 2>&1
[ $? -eq 3 ]
tap_ok $? "a directory without anything is an error"
proctor report --table familys t >out.txt 2>&1
[ $? -eq 2 ] && grep -q 'did you mean "families"' out.txt
tap_ok $? "the nearest table"
mkdir runs && cp -r t/ladder/one/s1/0.1/clean runs/clean
proctor report runs >out.txt 2>&1
[ $? -eq 3 ] && grep -q 'no pair to report on\|no run to report on' out.txt
tap_ok $? "an arm that was left over is no run either" || sed 's/^/# /' out.txt
proctor report --table 3 t >out.txt 2>&1
[ $? -eq 3 ] && grep -q 'no runs are given' out.txt
tap_ok $? "no runs, no table of runs: arms of pairs are no runs"
tap_done
