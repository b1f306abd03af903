#!/usr/bin/env bash
# node --test of node 20: reporters spec, tap and junit. Output of other major versions differs.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need node
node -e 'process.exit(parseInt(process.versions.node) === 20 ? 0 : 1)' || readers_skip "node is not version 20"
for reporter in spec tap; do
	node="node --test --test-reporter=$reporter"
	readers_log $reporter-all "$node all.test.js"
	readers_log $reporter-hooks "$node hooks.test.js"
	readers_log $reporter-forge "$node forge.test.js"
	readers_log $reporter-quit "$node quit.test.js fine.test.js"
	readers_log $reporter-crash "$node crash.test.js fine.test.js"
	readers_log $reporter-load "$node load.test.js plain.test.js fine.test.js"
	readers_log $reporter-alone "node --test-reporter=$reporter all.test.js"
	readers_log $reporter-alone-crash "node --test-reporter=$reporter crash.test.js"
	readers_log $reporter-alone-quit "node --test-reporter=$reporter quit.test.js"
done
readers_log junit-all "node --test --test-reporter=junit --test-reporter-destination=/workspace/out.xml all.test.js" out.xml
