#!/usr/bin/env bash
# tape: its own TAP.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/readers/npm.sh
. "$here/../npm.sh"
readers_need node npm
readers_npm tape5 tape@5.9.0
readers_npm tape4 tape@4.17.0
for v in 4 5; do
	tape="ln -s /tape$v/node_modules node_modules && node node_modules/tape/bin/tape"
	readers_log all-$v "$tape all.js"
	readers_log throws-$v "$tape throws.js"
done
readers_log quit-5 "$tape quit.js"
readers_log crash-5 "$tape crash.js"
readers_log forge-5 "$tape forge.js"
readers_log fine-5 "$tape fine.js"
