#!/usr/bin/env bash
# The demo's table comes out as expected, and what a run leaves is what docs/formats.md promises.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
tap_try "the demo's table is as expected" env PROCTOR="$PROCTOR" "$top/demo" "$work/demo" || tap_done
for run in careful-vanilla careful-counter-edit careless-vanilla careless-counter-edit; do
	dir=$work/demo/$run
	for file in run.json trace.jsonl interventions.jsonl patch.diff verdict.json report.json; do
		test -e "$dir/$file"
		tap_ok $? "$run: $file is there"
	done
	tap_is "$(run_field "$dir/run.json" state)" "done" "$run: state"
	tap_is "$(run_field "$dir/run.json" end.reason)" exited "$run: end reason"
	tap_is "$(run_field "$dir/run.json" plan_digest | wc -c)" 65 "$run: plan digest"
done
tap_is "$(run_field "$work/demo/careless-counter-edit/run.json" interventions.fired)" 1 "one round"
tap_is "$(run_count "$work/demo/careless-counter-edit" intervene)" 2 "an edit and a message"
for scenario in counter-edit co-edit; do
	tap_try "$scenario passes the gate" proctor gate --task "$top/examples/calc/task.json" \
		--out "$work/gate" "$top/examples/calc/$scenario.json"
	tap_is "$(run_field "$work/gate/$scenario-1.gate.json" verdict)" valid "$scenario: gate.json says so"
done
tap_done
