#!/usr/bin/env bash
# tests/run/predictions.sh with 500 predictions over the real package tasks and five kills, as root and as an
# ordinary user.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
made=$share/tasks
mapfile -t ids < <(cut -d' ' -f1 tests/tasks/list | grep -v '^sympy') # the eight whose tests take seconds
if ! tests/tasks/make-all.sh "$made" "${ids[@]}" >"$share/make.log" 2>&1; then
	tail -n 20 "$share/make.log" | sed 's/^/# /'
	tap_ok 1 "the package tasks can be made"
	tap_done
fi
chmod -R a+rX "$made"
for who in $users; do
	tap_try "500 predictions, five kills ($who)" as "$who" env PREDICTIONS_TASKS="$made" PREDICTIONS_COUNT=500 \
		PREDICTIONS_KILLS=5 timeout -k 30 7200 "$share/tests/run/predictions.sh"
done
tap_done
