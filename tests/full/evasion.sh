#!/usr/bin/env bash
# tests/run/evasion.sh with a million operations and more, as root and as an ordinary user: not one record is missing.
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/lib/clients.sh
. tests/lib/clients.sh
cp "$build/tests/evasion/evasion" "$share/bin/"
for who in $users; do
	tap_try "a million operations ($who)" as "$who" env EVASION_FULL=1 EVASION_LEAST=1000000 \
		timeout -k 30 3500 bash "$share/tests/run/evasion.sh"
done
tap_done
