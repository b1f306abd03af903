#!/usr/bin/env bash
# Programs that try to read a region's file, connect or execute without a record (tests/evasion): what they counted
# themselves is in the trace. EVASION_FULL=1: as often as the table says for the full lane; EVASION_ONLY: a pattern of ways.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
program=${PROCTOR%/supervisor/proctor}/tests/evasion/evasion
[ -x "$program" ] || program=$(dirname "$PROCTOR")/evasion

fresh()
{
	rm -rf "$work/ws"
	mkdir "$work/ws"
	cp "$program" "$work/ws/evasion"
	for name in tracked tracker; do
		seq 1 2000 >"$work/ws/$name"
	done
	for name in rounded protected grown turned old; do
		seq 1 2000 >"$work/ws/map-$name"
	done
}

# The maps' regions lie on the second page: the first ends in line 1018.
python3 - >scenario.json <<'J'
import json
regions = [{"path": "tracked", "start": 1, "end": 2}]
regions += [{"path": f"map-{n}", "start": 1100, "end": 1110} for n in ("rounded", "protected", "grown", "turned", "old")]
print(json.dumps({"schema": "proctor.scenario/1", "id": "evasion", "instance_id": "evasion-1", "mode": "vanilla",
                  "regions": regions, "interventions": []}))
J
cat >task.json <<'J'
{ "schema": "proctor.task/1", "instance_id": "evasion-1", "problem_statement": "none", "source": "ws" }
J

# one WAY COUNT SETTING SKIP
one()
{
	local way=$1 count=$2 setting=$3 skip=$4 name ok got status out=$work/out-$1
	local -a set=()
	[ "$setting" = - ] || set=(--set "$setting")
	fresh
	timeout 1200 "$PROCTOR" run -q --no-tty --pass-status --task task.json --scenario scenario.json --set limits.wall=20m \
		--set limits.cpu=0 "${set[@]}" --out "$out" -- ./evasion "$way" "$count" </dev/null >"$work/said" 2>"$work/err"
	status=$?
	if [ $status -eq 77 ] && [ "$skip" != - ]; then
		tap_skip "$way" "$skip: this kernel has none"
		return
	fi
	tap_is $status 0 "$way: the program ends well" || head -n 5 "$work/err" "$work/said" | sed 's/^/#   /'
	tap_is "$(run_field "$out/run.json" end.reason)" exited "$way: and the run"
	while IFS=$'\t' read -r ok got name; do
		operations=$((operations + got))
		tap_ok "$ok" "$way: $name"
	done < <(python3 "$top/tests/run/lib/evasion.py" "$work/said" "$out/trace.jsonl")
	rm -rf "$out"
}

operations=0
while IFS=$'\t' read -r way fast full setting skip; do
	# shellcheck disable=SC2254 # a pattern
	case $way in
	'#'*) continue ;;
	${EVASION_ONLY:-*}) one "$way" "$([ -n "${EVASION_FULL-}" ] && echo "$full" || echo "$fast")" "$setting" "$skip" ;;
	esac
done <"$top/tests/tables/evasion.tsv"
echo "# $operations operations were counted and are in the trace"
[ -n "${EVASION_ONLY-}" ] || tap_ok $((operations < ${EVASION_LEAST:-10000})) "$operations operations in sum"
tap_done
