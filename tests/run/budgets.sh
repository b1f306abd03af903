#!/usr/bin/env bash
# Each budget is spent in the middle of a run of each agent: right end reason, patch kept, record complete,
# nothing left, no call beyond the budget as the other end counts it, also with eight calls at once.
# usage: budgets.sh [AGENT...]; without names those that ./check runs
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# shellcheck source=tests/run/lib/budgets.sh
. "$top/tests/run/lib/budgets.sh"
[ $# -gt 0 ] || set -- own pi codex

# What a model lets its agent run, for shells in the box. Some agents refuse "$(" and stop at too many calls.
burn='seq 300000 | while read -r x; do :; done'
fork='seq 400 | (while read -r x; do tail -f /dev/null & done; wait)'
# shellcheck disable=SC2016
fill='for i in 1 2 3 4 5 6; do head -c 40000000 /dev/zero >/tmp/big.$i; done; exec tail -f /dev/null'
flood='head -c 20000 /dev/zero | tr "\000" x'
eat="python3 -c 'import signal; x = [bytearray(64 << 20) for i in range(24)]; signal.pause()'"

# first AGENT: tokens of input of its first request, as the upstream counts them.
declare -A first
measure()
{
	local tool
	IFS=$'\t' read -r -a tool < <(shell_tool "$1" true)
	upstream_start --tool "${tool[@]}"
	timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$2" --model "$upstream_url#m" \
		--set limits.model_calls=1 --set on_limit=finish --set grace=120s --out "out/first-$1" \
		</dev/null >/dev/null 2>err.txt
	upstream_stop
	first[$1]=$(python3 -c 'import json
print(max((e["usage"]["input"] for e in json.load(open("upstream.json")) if e["usage"]), default=0))')
	tap_ok $((first[$1] == 0)) "$1: a request has ${first[$1]} tokens" || tail -n 5 err.txt out/first-"$1"/*.log
}

# model_budgets AGENT MODE KIND...: of the model's kinds, how much makes three calls or so.
model_budgets()
{
	local agent=$1 mode=$2 n=${first[$1]} kind
	local -A much=(
		[model_calls]=4
		[input_tokens]=$((n * 4 + 300))
		[output_tokens]=190
		[total_tokens]=$((n * 7 / 2 + 150))
		[dollars]=$(python3 -c "print('%.6f' % ((2 * $n * 3.5 + 1500) / 1e6))")
	)
	shift 2
	for kind in "$@"; do
		spend "$agent-$kind-$mode" "$agent" "$kind" "${much[$kind]}" "$mode" true
	done
}

# time_budgets AGENT MODE KIND...: what is used up bit by bit, whatever the model says.
time_budgets()
{
	local agent=$1 mode=$2 kind
	local -A much=([wall]=12s [cpu]=6s [output]=200K) doing=([wall]='sleep 1' [cpu]=$burn [output]=$flood)
	case $agent in
	own) much[wall]=3s much[cpu]=2s ;;
	gemini) much[wall]=24s much[cpu]=16s ;;
	esac
	shift 2
	for kind in "$@"; do
		spend "$agent-$kind-$mode" "$agent" "$kind" "${much[$kind]}" "$mode" "${doing[$kind]}"
	done
}

# machine_budgets AGENT MODE: what eats the machine gets no grace, whatever the mode.
machine_budgets()
{
	local agent=$1 mode=$2 memory=1G
	[ "$agent" = own ] && memory=256M
	spend "$agent-memory" "$agent" memory "$memory" "$mode" "$eat"
	spend "$agent-processes" "$agent" processes 200 "$mode" "$fork"
	spend "$agent-disk" "$agent" disk 100M "$mode" "$fill"
}

every_model=(model_calls input_tokens output_tokens total_tokens dollars)
every_time=(wall cpu output)

# whole AGENT: each budget. Our own agent costs little: each with each mode.
whole()
{
	local agent=$1 mode
	if [ "$agent" = own ]; then
		for mode in finish refuse kill; do
			model_budgets own "$mode" "${every_model[@]}"
			time_budgets own "$mode" "${every_time[@]}"
		done
		machine_budgets own kill
		all_together
		no_price
		return
	fi
	model_budgets "$agent" finish "${every_model[@]}"
	time_budgets "$agent" finish "${every_time[@]}"
	model_budgets "$agent" refuse model_calls dollars
	model_budgets "$agent" kill total_tokens
	time_budgets "$agent" kill wall
	machine_budgets "$agent" refuse
}

# together NAME KIND LIMIT MODE N ASKED: eight requests at once behind the first, each with at most 300 tokens
# of output, which it takes; N of them are under way together before one is answered. In all the
# upstream is asked ASKED times.
together()
{
	local name=own-together-$1
	upstream_args=(--once --tokens 300 --gather "$5")
	spend "$name" own8 "$2" "$3" "$4" true
	upstream_args=()
	tap_is "$(asked_n)" "$6" "$name: calls that went out"
}

all_together()
{
	own_agent own8.json 8 300
	for mode in finish refuse kill; do
		together "model_calls-$mode" model_calls 6 "$mode" 5 6
	done
	together input_tokens input_tokens 520 finish 2 4
	together output_tokens output_tokens 1200 finish 3 4
	together total_tokens total_tokens 1780 finish 3 4
	together dollars dollars 0.0132 finish 3 4

	# None is answered before time is up: they may be billed, so they count.
	at_least=9
	together in-flight wall 4s kill 99 9
	at_least=1
	tap_is "$(grep -c 'the run ended before the answer was there' "$last_out/model.jsonl")" 8 \
		"own-together-in-flight: eight calls without an answer in model.jsonl"

	# What an answer leaves over is there for those that wait.
	upstream_start --tool shell '{"command": "true"}' --once --tokens 50 --gather 3
	timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$work/own8.json" --model "$upstream_url#m" \
		--set limits.output_tokens=1250 --set grace=120s --out out/own-rest </dev/null >/dev/null 2>err.txt
	upstream_stop
	tap_is "$(run_field out/own-rest/run.json end.reason)" exited "eight at once, room for three: none is refused"
	tap_is "$(grep ^answers out/own-rest/stdout.log)" "answers 8" "and each has its answer"
	tap_is "$(asked_n)" 9 "which went out once"
}

# A model without a price cannot be held to dollars: nothing goes out.
no_price()
{
	sed 's/"\*"/"another"/' prices.json >other.json
	upstream_start
	timeout 300 "$PROCTOR" run -q --no-tty --task task.json --agent "$work/own.json" --model "$upstream_url#m" \
		--set limits.dollars=1.00 --set model.prices="$work/other.json" --set grace=120s --out out/no-price \
		</dev/null >/dev/null 2>err.txt
	upstream_stop
	tap_is "$(run_field out/no-price/run.json end.reason)" limit:dollars "a model without a price: ended by the budget"
	tap_is "$(asked_n)" 0 "and nothing went out"
	tap_like "$(proctor explain out/no-price)" "price file" "and explain says what to do"
}

# What is left would be seen. (While a program is being replaced by another it has no arguments to show.)
# shellcheck disable=SC2016 # for that shell
alone 0 sh -c 'setsid tail -f /dev/null & i=0
until grep -qa ^tail "/proc/$!/cmdline" || [ $i -ge 10000 ]; do i=$((i + 1)); done'
tap_like "$(cat left.txt)" "^[0-9]+ .*tail -f" "a process that is left is seen"
kill "$(cut -d ' ' -f 1 left.txt)"

for name in "$@"; do
	file=$name
	if [ "$name" = own ]; then
		file=$work/own.json
	else
		need_agent "$name" || continue
	fi
	measure "$name" "$file"
	whole "$name"
done
tap_done
