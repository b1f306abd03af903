#!/usr/bin/env bash
# A study of 8 package tasks x 4 scripted agents x 6 conditions x 3 repeats, once undisturbed and once killed five times on the
# way, comes to the same results, line by line. As root, and a part of it as an ordinary user.
# Environment: STUDY_TASKS (names of tasks, default all but sympy's), STUDY_REPEATS (default 3).
# seconds: 7200
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
repeats=${STUDY_REPEATS:-3}
read -ra ids <<<"${STUDY_TASKS:-$(cut -d" " -f1 tests/tasks/list | grep -v -e ^sympy | tr "\n" " ")}"
export PROCTOR_TASK_CACHE=${PROCTOR_TASK_CACHE:-/var/tmp/proctor-tasks}
lib=$share/tests/run/lib/study.py

if ! tests/tasks/make-all.sh "$share/tasks" "${ids[@]}" >"$share/make.log" 2>&1; then
	tail -n 20 "$share/make.log" | sed 's/^/# /'
	tap_ok 1 "the tasks can be made"
	tap_done
fi

# The agents of examples/swe-touch, with what they know of each task.
for task in "$share"/tasks/*/; do
	mkdir "$task/habits"
	cp examples/swe-touch/agents/* "$task"/study/* "$task/habits/"
	files=''
	for f in "$task"/habits/hand.sh "$task"/study/*; do
		files="$files, \"~/${f##*/}\": \"${f##*/}\""
	done
	for agent in careful careless follower by-patch; do
		printf '{ "schema": "proctor.agent/1", "name": "%s", "command": ["sh", "~/agent"], "api": "none",
  "files": { "~/agent": "%s.sh"%s }, "message_via": "file:/tmp/user-message.txt" }\n' "$agent" "$agent" "$files" >"$task/habits/$agent.json"
	done
done
cat >"$share/plan.json" <<JSON
{ "schema": "proctor.study/1", "name": "study576", "tasks": ["tasks/*/task.json"],
  "agents": [ { "agent": "{task_dir}/habits/careful.json" }, { "agent": "{task_dir}/habits/careless.json" },
    { "agent": "{task_dir}/habits/follower.json" }, { "agent": "{task_dir}/habits/by-patch.json" } ],
  "conditions": [
    { "name": "vanilla", "scenario": "{task_dir}/counter-edit.json", "mode": "vanilla" },
    { "name": "message", "scenario": "{task_dir}/counter-edit.json", "mode": "message", "rounds": 1, "pair": "vanilla" },
    { "name": "edit", "scenario": "{task_dir}/counter-edit.json", "mode": "edit", "rounds": 1, "pair": "vanilla" },
    { "name": "both1", "scenario": "{task_dir}/counter-edit.json", "mode": "edit+message", "rounds": 1, "pair": "vanilla" },
    { "name": "both3", "scenario": "{task_dir}/counter-edit.json", "mode": "edit+message", "rounds": 3, "pair": "vanilla" },
    { "name": "co", "scenario": "{task_dir}/co-edit.json", "mode": "co-edit", "pair": "vanilla" } ],
  "repeats": $repeats, "label": true, "retries": { "infra": 3, "backoff": "1s" } }
JSON
chmod -R a+rX "$share"
cells=$((${#ids[@]} * 24 * repeats))

# sound WHO OUT
sound()
{
	tap_is "$(python3 "$lib" sound "$2/journal.db")" sound "$1: the journal of ${2##*/} holds nothing that cannot be"
}

# whole WHO PLAN OUT CELLS: undisturbed, and killed five times in different ways at different moments.
whole()
{
	local who=$1 plan=$2 out=$3 n=$4 how part began=$SECONDS
	as "$who" timeout 3400 "$PROCTOR" study "$plan" --out "$out/plain" --jobs 2 </dev/null >"$share/plain.log" 2>&1
	tap_is $? 0 "$who: an undisturbed study of $n cells" || tail -n 20 "$share/plain.log" | sed 's/^/# /'
	echo "# $((SECONDS - began)) s"
	sound "$who" "$out/plain"
	part=$((n / 7 > 0 ? n / 7 : 1))
	for how in study all later study; do
		as "$who" timeout 3400 python3 "$lib" kill $how $part "$PROCTOR" study "$plan" --out "$out/killed" --jobs 2 >"$share/kill.log" 2>&1
		sound "$who" "$out/killed"
	done
	as "$who" timeout 3400 python3 "$lib" kill cell $part "$PROCTOR" study "$plan" --out "$out/killed" --jobs 2 >"$share/kill.log" 2>&1
	tap_is $? 0 "$who: the study goes on to its end" || tail -n 20 "$share/kill.log" | sed 's/^/# /'
	sound "$who" "$out/killed"
	tap_is "$(python3 "$lib" count "$out/killed/journal.db" "SELECT count(*) FROM attempt WHERE outcome = 'done'")" "$n" "$who: nothing was run twice"
	tap_try "$who: the results are the same, line by line" cmp "$out/plain/results.jsonl" "$out/killed/results.jsonl"
	same_tables "$who" "$out"
}

# The table that people read is the same, too.
same_tables()
{
	local which
	for which in plain killed; do
		"$PROCTOR" report --table 5 "$2/$which" >"$share/$which.table" 2>"$share/$which.err"
	done
	tap_try "$1: so is table 5" cmp "$share/plain.table" "$share/killed.table"
	sed 's/^/# /' "$share/killed.table"
	"$PROCTOR" report --table study "$2/killed" | sed 's/^/# /'
}

sed "s/\"tasks\": \[\"tasks\/\*\/task.json\"\]/\"tasks\": [\"tasks\/${ids[0]}\"]/; s/\"repeats\": $repeats/\"repeats\": 1/" "$share/plan.json" >"$share/few.json"
for who in $users; do
	out=$share/out-$who
	install -d "$out"
	[ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown $user: "$out"
	if [ "$who" = root ]; then
		whole "$who" "$share/plan.json" "$out" "$cells"
	else
		whole "$who" "$share/few.json" "$out" 24
	fi
done
tap_done
