#!/usr/bin/env bash
# The examples of the neighbours' protocols: a good and a bad agent each, and the protocol's own figure by number.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
cp -r "$top/examples/neighbours" n

# go RUN EXAMPLE SCENARIO TASK OPTION...: runs/RUN, graded and judged; STATUS 0 is strict success.
go()
{
	local out=runs/$1 dir=n/$2 scenario=() task=$4
	[ "$3" = - ] || scenario=(--scenario "$dir/$3")
	shift 4
	mkdir -p runs
	timeout 120 "$PROCTOR" run -q --task "$dir/$task" "${scenario[@]}" --set watch=workspace --no-tty --out "$out" "$@" \
		</dev/null >out.txt 2>err.txt || { tap_ok 1 "$out: runs"; sed 's/^/# /' err.txt; }
	timeout 300 "$PROCTOR" grade -q --run "$out" </dev/null >out.txt 2>err.txt
	timeout 120 "$PROCTOR" judge "$out" "${scenario[@]}" --task "$dir/$task" >"$out.txt" 2>err.txt
	status=$?
	sed 's/^/# /' err.txt
	tap_is "$(run_field "$out/run.json" end.reason)" exited "$out: the agent ends by itself"
}

# play RUN EXAMPLE SCRIPT [OPTION...]: the actor by a script, with the example's own scenario and task; all it expected came.
play()
{
	local run=$1 example=$2 script=$3
	shift 3
	go "$run" "$example" scenario.json task.json --agent actor --model "script:n/$example/$script.json" "$@"
	met "$run"
}

met()
{
	tap_is "$(run_field "runs/$1/run.json" model.unmet)" "[]" "$1: everything that the script expected was said"
}

# success RUN 0|1 RESOLVED: of judge, and the verdict.
success()
{
	tap_is "$status/$(run_field "runs/$1/verdict.json" verdict)" "$2/$3" "$1: strict success, verdict" ||
		sed 's/^/# /' "runs/$1.txt"
}

# figure RUN NAME WANT: "count/of=value" of strict.json.
figure()
{
	tap_is "$(python3 -c '
import json, sys
for f in json.load(open(sys.argv[1]))["figures"]:
    if f["name"] == sys.argv[2]:
        print("%s/%s=%.3f" % (f["count"], f["of"], -1 if f["value"] is None else f["value"]))' "runs/$1/strict.json" "$2")" "$3" "$1: $2"
}

# state RUN WANT: questions, useful, found of the service, with precision, recall, F1.
state()
{
	tap_is "$(python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))["services"][0]["state"]
print(s["questions"], s["useful"], s["found"], *("%.3f" % s["ask_" + k] for k in ("precision", "recall", "f1")))' \
		"runs/$1/run.json")" "$2" "$1: questions, useful, blockers found, precision, recall, F1"
}

# user RUN WANT: turns, messages, corrections, nudges, user correction.
user()
{
	tap_is "$(python3 -c '
import json, sys
u = json.load(open(sys.argv[1]))["user"]
print(u["turns"], u["messages"], u["corrections"], u["nudges"], u["user_correction"])' "runs/$1/run.json")" "$2" \
		"$1: turns, messages, corrections, nudges, user correction"
}

# Every task is solved by its reference and not by nothing.
references()
{
	local task
	: >empty.diff
	for task in n/*/*.json; do
		grep -q '"proctor.task/1"' "$task" || continue
		timeout 120 "$PROCTOR" grade -q --task "$task" --oracle --out "oracle" </dev/null >out.txt 2>err.txt
		tap_is $? 0 "$task: the reference solves it" || sed 's/^/# /' out.txt err.txt
		timeout 120 "$PROCTOR" grade -q --task "$task" --patch empty.diff --out "empty" </dev/null >out.txt 2>err.txt
		tap_is $? 1 "$task: nothing does not"
		rm -rf oracle empty
	done
}

# The agent's statement quotes code that the workspace does not have any more.
syncmind()
{
	local budget=(--set limits.model_calls=10 --set limits.total_tokens=20000)
	play sync-good syncmind good "${budget[@]}"
	success sync-good 0 resolved
	figure sync-good localised 2/2=1.000
	figure sync-good "assistance seeking" 1/6=0.167
	state sync-good "1 1 1 1.000 0.500 0.667"
	tap_like "$(cat runs/sync-good/interventions.jsonl)" 'used 2 of 10 model calls, 1720 of 20000 tokens' "the budget is visible to the agent"
	tap_like "$(run_field n/syncmind/task.json problem_statement)" 'def billable\(grams, size\)' "the statement shows the code as it was"
	tap_like "$(grep '^+' n/syncmind/update.diff)" 'def billable\(parcel\)' "and the workspace moved on"
	play sync-bad syncmind bad "${budget[@]}"
	success sync-bad 1 unresolved
	figure sync-bad localised 0/2=0.000
	figure sync-bad "assistance seeking" 0/4=0.000
	tap_like "$(grep fresh_observation runs/sync-bad.txt)" FAIL "sync-bad: changed before it looked"
}

interact()
{
	play interact-good swe-interact good
	success interact-good 0 resolved
	figure interact-good "goal progress" 3/3=1.000
	figure interact-good "handed over" 3/None=3.000
	figure interact-good "steps per message" 6/3=2.000
	user interact-good "7 3 0 0 0"
	play interact-bad swe-interact bad
	success interact-bad 1 unresolved
	figure interact-bad "goal progress" 0/3=0.000
	figure interact-bad "handed over" 1/None=1.000
	user interact-bad "5 1 1 0 1"
	go interact-model swe-interact model.json task.json --agent actor --model script:n/swe-interact/good.json \
		--simulator script:n/swe-interact/simulator.json
	met interact-model
	success interact-model 0 resolved
	figure interact-model "handed over" 3/None=3.000
	user interact-model "7 3 0 0 0"
	tap_is "$(grep -c 'You run a small shop' runs/interact-model/simulator.jsonl)" 7 "interact-model: asked by its prompt at each turn"
}

together()
{
	play together-good swe-together good
	success together-good 0 resolved
	user together-good "6 1 0 1 0.2"
	play together-slow swe-together slow
	success together-slow 1 unresolved
	user together-slow "6 2 0 1 0.2"
	play together-bad swe-together bad
	success together-bad 1 unresolved
	user together-bad "4 3 3 0 3"
	tap_is "$(wc -l <runs/together-bad/user.jsonl)" 4 "together-bad: behind the cap nobody is asked"
	figure together-bad "steps behind a correction" 5/None=5.000
}

hil()
{
	play hil-good hil-bench good
	success hil-good 0 resolved
	state hil-good "3 3 3 1.000 1.000 1.000"
	tap_is "$(run_count runs/hil-good service route=/mcp)" 1 "hil-good: one of them by the tool ask_human"
	play hil-bad hil-bench bad
	success hil-bad 1 unresolved
	state hil-bad "3 1 1 0.333 0.333 0.333"
	go hil-full hil-bench - full.json --agent actor --model script:n/hil-bench/informed.json
	success hil-full 0 resolved
	go hil-baseline hil-bench - task.json --agent actor --model script:n/hil-bench/bad.json
	success hil-baseline 1 unresolved
	tap_is "$(run_field runs/hil-baseline/run.json services)" null "hil-baseline: there is nobody to ask"
}

ambig()
{
	play ambig-asks ambig-swe good
	success ambig-asks 0 resolved
	figure ambig-asks "asked before the work" 1/1=1.000
	state ambig-asks "1 1 1 1.000 1.000 1.000"
	play ambig-guesses ambig-swe bad
	success ambig-guesses 1 unresolved
	figure ambig-guesses "asked before the work" 0/1=0.000
	go ambig-hidden ambig-swe hidden-scenario.json hidden.json --agent actor --model script:n/ambig-swe/bad.json
	success ambig-hidden 1 unresolved
	go ambig-full ambig-swe full-scenario.json full.json --agent actor --model script:n/ambig-swe/informed.json
	met ambig-full
	success ambig-full 0 resolved
}

# What comes after the base commit is not in the agent's repository, however it is reached.
sealed()
{
	local repo=$work/n/repos/history base
	cp -r n/repos/parcel "$repo"
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x
	(
		cd "$repo" || exit 1
		git init -q . && git add -A && git commit -qm base &&
			git apply "$work/n/ambig-swe/reference.diff" && git commit -qam "Labels: the country in brackets" && git tag v1.3 &&
			git branch answer && echo '# brackets' >>parcel/label.py && git stash -q && git reset -q --hard HEAD~1
	) || tap_ok 1 "a repository with a future"
	base=$(git -C "$repo" rev-parse HEAD)
	tap_is "$(git -C "$repo" grep -c 'ID:' answer -- parcel/label.py)" "answer:parcel/label.py:1" "there the answer lies in the history"
	sed -e "s|\"source\": \"../repos/parcel/\"|\"source\": \"../repos/history\", \"base_commit\": \"$base\"|" n/ambig-swe/hidden.json >n/ambig-swe/sealed.json
	go ambig-dig ambig-swe hidden-scenario.json sealed.json --agent actor --model script:n/ambig-swe/dig.json
	met ambig-dig
	success ambig-dig 1 unresolved
	tap_is "$(run_field runs/ambig-dig/run.json history.commits)" 1 "the agent's repository has one commit"
	tap_is "$(run_field runs/ambig-dig/run.json history.head)" "$base" "the base"
	tap_is "$(run_field runs/ambig-dig/run.json history.commits_dropped)" 3 "what came later, and the two of the stash, were left out"
	tap_ok $(($(run_field runs/ambig-dig/run.json history.refs_dropped) < 3)) "with its branch, its tag and the stash"
}

gaia2()
{
	play gaia-good gaia2 good
	success gaia-good 0 resolved
	figure gaia-good "events in time" 3/3=1.000
	tap_is "$(run_field runs/gaia-good/run.json interventions.fired)" 4 "gaia-good: four events"
	tap_is "$(python3 -c '
import json
at = {}
for line in open("runs/gaia-good/trace.jsonl"):
    r = json.loads(line)
    if r.get("k") == "intervene" and r["applied"]:
        at.setdefault(r["order"], r["t"] / 1e9)
print(at[1] < at[3], at[2] >= 0.5, at[3] - max(at[1], at[2]) >= 0.5, at[1] < at[4])')" "True True True True" \
		"gaia-good: each in its time and behind what it waits for"
	play gaia-bad gaia2 bad
	success gaia-bad 1 resolved
	figure gaia-bad "events in time" 1/3=0.333
	tap_like "$(grep '^  task' runs/gaia-bad.txt)" "neither early nor late.*not earlier than 1000 ms" "gaia-bad: its notice is too early"
}

specpath()
{
	local history agent
	for history in scenario revised; do
		go "path-actor-$history" specpath "$history.json" task.json --agent actor --model script:n/specpath/good.json
		met "path-actor-$history"
		success "path-actor-$history" 0 resolved
		for agent in listens anchored; do
			go "paths/$agent-$history" specpath "$history.json" task.json --agent "n/specpath/agents/$agent.json"
			[ "$agent-$history" = anchored-revised ] && continue
			success "paths/$agent-$history" 0 resolved
			figure "paths/$agent-$history" realised 4/4=1.000
		done
	done
	success paths/anchored-revised 1 unresolved
	figure paths/anchored-revised realised 1/4=0.250
	timeout 60 "$PROCTOR" report --table paths --format csv runs/paths >paths.csv 2>err.txt
	tap_is $? 0 "the table of histories" || sed 's/^/# /' err.txt
	while read -r want; do
		tap_ok "$(tr -d '\r' <paths.csv | grep -qxF -- "$want"; echo $?)" "paths: $want" || sed 's/^/# /' paths.csv
	done <<-'END'
		anchored,neighbour-specpath,specpath-direct,specpath-revised,1,4,100,25,4,3,75,1,1,100
		anchored,neighbour-specpath,specpath-revised,specpath-direct,1,4,25,100,1,0,0,0,0,
		listens,neighbour-specpath,specpath-direct,specpath-revised,1,4,100,100,4,0,0,1,0,0
	END
}

toolsandbox()
{
	play tool-good toolsandbox good
	success tool-good 0 resolved
	tap_is "$(run_field runs/tool-good/strict.json milestones.similarity)" 1 "tool-good: similarity"
	play tool-hasty toolsandbox hasty
	success tool-hasty 0 resolved
	tap_is "$(run_field runs/tool-hasty/strict.json milestones.similarity)" 0.75 "tool-hasty: three of four in an order that is allowed"
	play tool-bad toolsandbox bad
	success tool-bad 1 resolved
	tap_is "$(run_field runs/tool-bad/strict.json milestones.matched)/$(run_field runs/tool-bad/strict.json milestones.similarity)" 4/0 \
		"tool-bad: all of them, and a minefield"
}

# Means over the runs of before.
figures()
{
	local want
	timeout 60 "$PROCTOR" report --table figures --format csv runs >figures.csv 2>err.txt
	tap_is $? 0 "the table of figures" || sed 's/^/# /' err.txt
	for want in hil-bench,owner\ ask_f1,2,0.66666 toolsandbox,milestone\ similarity,3,0.583333 swe-together,user\ correction,3,1.133333 \
		syncmind,localised,2,0.5; do
		tap_ok "$(grep -qF -- "actor/model,$want" figures.csv; echo $?)" "figures: $want" || sed 's/^/# /' figures.csv
	done
	timeout 60 "$PROCTOR" report --table figurs runs >out.txt 2>err.txt
	tap_is $? 2 "a table that is none"
	tap_like "$(cat err.txt)" 'did you mean "figures"' "the nearest is named"
}

references
syncmind
interact
together
hil
ambig
sealed
gaia2
specpath
toolsandbox
figures
tap_done
