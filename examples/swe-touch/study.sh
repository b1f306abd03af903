#!/usr/bin/env bash
# A whole SWE-Touch study: mine regions, make and gate a Counter-Edit and a Co-Edit, run every agent under every
# condition, grade, label, report.
#
# usage: study.sh TASKDIR... --out DIR [options]
#   --agents LIST    agents that are studied (default careful,careless,follower)
#   --miners LIST    agents whose undisturbed runs show where the task is decided (default by-sed,by-script,by-patch)
#   --author AGENT   who writes the user edits (default: the operators of "craft --mutate", without a model)
#   --repeats N      runs per agent and condition (default 3)
#   --rounds LIST    K of edit and message together (default 1,3); the largest counts for message and edit alone
#   --seed N         another choice of the operators' edits (default 0)
#   --set F=V        a profile field of all runs, such as limits.dollars=1.00; may be given again
#
# Each TASKDIR holds task.json. Lists are separated by commas. An agent is NAME or NAME@MODEL; NAME is what "proctor
# run --agent" takes: a shipped agent, or a file. The six named above have no model: they are the scripts in agents/
# beside this file, and know of a task what TASKDIR/study/ holds. PROCTOR is the program (default: proctor).
#
# Stopped at any time, it goes on where it was: a run that came to its end is not made again. What it leaves:
#   DIR/TASK/mine/AGENT          runs without a user, every read and edit with its lines
#   DIR/TASK/regions.json        what they agree on
#   DIR/TASK/counter, DIR/TASK/co  the edits, the attempts, and what the gate said
#   DIR/runs/TASK,AGENT,CONDITION,REPEAT   run directories, graded and labelled
#   DIR/results.jsonl            one line per run
#   DIR/tables/                  every table as text, CSV, Markdown and LaTeX
#   DIR/left-out.txt             tasks without a valid edit, and why
set -eu
PROCTOR=${PROCTOR:-proctor}
here=$(cd "$(dirname "$0")" && pwd)

die() { echo "study.sh: $*" >&2; exit 2; }
say() { printf '%(%H:%M:%S)T %s\n' -1 "$*"; }

tasks=() sets=() out='' agents=careful,careless,follower miners=by-sed,by-script,by-patch author='' repeats=3 rounds=1,3 seed=0
while [ $# -gt 0 ]; do
	case $1 in
	--out | --agents | --miners | --author | --repeats | --rounds | --seed | --set)
		[ $# -ge 2 ] || die "$1 needs a value"
		case $1 in
		--set) sets+=(--set "$2") ;;
		*) printf -v "${1#--}" '%s' "$2" ;;
		esac
		shift 2
		;;
	-*) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
	*) [ -e "$1/task.json" ] || die "$1 holds no task.json"; tasks+=("$(cd "$1" && pwd)"); shift ;;
	esac
done
[ ${#tasks[@]} -gt 0 ] || die "give at least one task directory"
[ -n "$out" ] || die "--out DIR is needed"
[[ $repeats =~ ^[1-9][0-9]*$ && $rounds =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "--repeats takes a number, --rounds numbers"
mkdir -p "$out/runs" "$out/tables"
out=$(cd "$out" && pwd)
IFS=, read -ra agents <<<"$agents"
IFS=, read -ra miners <<<"$miners"
IFS=, read -ra rounds <<<"$rounds"
most=$(printf '%s\n' "${rounds[@]}" | sort -n | tail -n 1)

# came_to_an_end RUN: so that it counts. What proctor itself could not do, or was stopped in, does not.
came_to_an_end()
{
	grep -q '"state":[[:space:]]*"done"' "$1/run.json" 2>/dev/null && ! grep -Eq '"reason":[[:space:]]*"(error|interrupted)"' "$1/run.json"
}

# scripted TASKDIR DIR: agent files of the scripts, with what they know of the task.
scripted()
{
	local script name command files='' f
	[ -d "$1/study" ] || return 0
	rm -rf "$2/agents"
	mkdir -p "$2/agents"
	cp "$here"/agents/* "$1"/study/* "$2/agents/"
	for f in "$here/agents/hand.sh" "$1"/study/*; do
		files="$files, \"~/${f##*/}\": \"${f##*/}\""
	done
	for script in "$here"/agents/*; do
		name=${script##*/} command=sh
		[ "${name##*.}" != py ] || command=python3
		[ "$name" != hand.sh ] || continue
		cat >"$2/agents/${name%.*}.json" <<-J
			{ "schema": "proctor.agent/1", "name": "${name%.*}", "command": ["$command", "~/agent"], "api": "none",
			  "files": { "~/agent": "$name"$files }, "message_via": "file:/tmp/user-message.txt" }
		J
	done
}

# as_options AGENT TASKDIR: in "with", how proctor is told of it.
as_options()
{
	local name=${1%%@*} own=$out/${2##*/}/agents/${1%%@*}.json
	[ ! -e "$own" ] || name=$own
	with=(--task "$2/task.json" --agent "$name")
	[[ $1 != *@* ]] || with+=(--model "${1#*@}")
}

# run RUN OPTION...: unless it has been made.
run()
{
	local dir=$1
	shift
	if ! came_to_an_end "$dir"; then
		rm -rf "$dir"
		mkdir -p "${dir%/*}"
		"$PROCTOR" run -q --no-tty --json --out "$dir" "$@" "${sets[@]}" </dev/null >/dev/null
	fi
}

# mine TASKDIR DIR: the critical regions.
mine()
{
	local agent runs=() with
	for agent in "${miners[@]}"; do
		as_options "$agent" "$1"
		run "$2/mine/${agent//\//_}" "${with[@]}" --set watch=workspace
		runs+=("$2/mine/${agent//\//_}")
	done
	[ -s "$2/regions.json" ] || "$PROCTOR" mine --task "$1/task.json" -a reads+edits --enclosing --out "$2/regions.json" "${runs[@]}"
}

# craft TASKDIR DIR KIND: one edit; "made" names its scenario. Status 1: there is none.
craft()
{
	local by=(--mutate --seed "$seed") dir=$2/${3%-edit} status=0
	if [ -n "$author" ]; then
		by=(--agent "${author%%@*}")
		[[ $author != *@* ]] || by+=(--model "${author#*@}")
	fi
	if [ ! -e "$dir/done" ]; then
		rm -rf "$dir"
		"$PROCTOR" craft -q --task "$1/task.json" --regions "$2/regions.json" --kind "$3" "${by[@]}" --out "$dir" || status=$?
		[ $status -le 1 ] || return $status
		# The gate again, for itself: in a study nobody takes the maker's word.
		[ $status -eq 1 ] || "$PROCTOR" gate -q --task "$1/task.json" --out "$dir/again" "$dir"/*.scenario.json || status=$?
		[ $status -le 1 ] || return $status
		echo $status >"$dir/done"
	fi
	made=$(find "$dir" -maxdepth 1 -name '*.scenario.json' | sort | head -n 1)
	return "$(cat "$dir/done")"
}

# one RUN OPTION...: run and grade.
one()
{
	local status=0
	run "$@"
	if ! grep -Eq '"verdict":[[:space:]]*"(resolved|unresolved|invalid)"' "$1/verdict.json" 2>/dev/null; then
		"$PROCTOR" grade -q --run "$1" || status=$?
		[ $status -le 1 ] || die "$1 could not be graded"
	fi
}

# conditions TASKDIR AGENT: every condition. A run is made only when its plan differs from its vanilla run's in
# nothing but the condition (--pair).
conditions()
{
	local task=$1 id=${1##*/} agent=$2 base with k r
	as_options "$agent" "$task"
	for ((r = 1; r <= repeats; r++)); do
		base=$out/runs/$id,${agent//\//_}
		one "$base,vanilla,$r" "${with[@]}" --scenario "$counter" --mode vanilla --repeat "$r"
		for k in message,"$most" edit,"$most" "${rounds[@]/#/edit+message,}"; do
			one "$base,$k,$r" "${with[@]}" --scenario "$counter" --mode "${k%,*}" --rounds "${k#*,}" --repeat "$r" \
				--pair "$base,vanilla,$r"
		done
		[ -z "$co" ] || one "$base,co-edit,$r" "${with[@]}" --scenario "$co" --mode co-edit --repeat "$r" --pair "$base,vanilla,$r"
	done
}

: >"$out/left-out.txt"
for task in "${tasks[@]}"; do
	id=${task##*/} status=0
	say "$id: regions and edits"
	scripted "$task" "$out/$id"
	mine "$task" "$out/$id"
	craft "$task" "$out/$id" counter-edit || status=$?
	if [ $status -eq 1 ]; then
		echo "$id: no valid Counter-Edit, see $id/counter/attempts.jsonl" | tee -a "$out/left-out.txt"
		continue
	fi
	[ $status -eq 0 ] || exit $status
	counter=$made
	craft "$task" "$out/$id" co-edit || status=$?
	[ $status -le 1 ] || exit $status
	co=$made
	[ $status -eq 0 ] || co=''
	[ -n "$co" ] || echo "$id: no valid Co-Edit, see $id/co/attempts.jsonl" | tee -a "$out/left-out.txt"
	for agent in "${agents[@]}"; do
		say "$id: $agent"
		conditions "$task" "$agent"
	done
	"$PROCTOR" label -q "$out/runs/$id",*
done

say "tables"
"$PROCTOR" report --results "$out/results.jsonl" --out "$out/tables/all.txt" "$out/runs"
for format in text csv markdown latex json; do
	for table in runs 3 5 10 tests failures behaviour cost; do
		"$PROCTOR" report --table $table --format $format --out "$out/tables/$table.$format" "$out/results.jsonl"
	done
done
cat "$out/tables/5.text" "$out/tables/failures.text" "$out/tables/behaviour.text"
say "done: $out"
