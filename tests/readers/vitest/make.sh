#!/usr/bin/env bash
# vitest: verbose and json, on stdout and in a file.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/readers/npm.sh
. "$here/../npm.sh"
readers_need node npm
readers_npm vitest4 vitest@4.1.12
readers_npm vitest1 vitest@1.6.1
for v in 1 4; do
	# vitest remembers there which files failed, and begins with them.
	vitest="rm -rf /vitest$v/node_modules/.vite /vitest$v/node_modules/.vitest; ln -s /vitest$v/node_modules node_modules && CI=1 NO_COLOR=1 node /vitest$v/node_modules/vitest/vitest.mjs run --no-file-parallelism"
	readers_log verbose-$v "$vitest --reporter=verbose all.test.js"
	readers_log json-$v "$vitest --reporter=json all.test.js"
	readers_log hooks-$v "$vitest --reporter=verbose hooks.test.js snap.test.js"
	readers_log hooks-json-$v "$vitest --reporter=json hooks.test.js snap.test.js"
	readers_log load-$v "$vitest --reporter=verbose load.test.js syntax.test.js empty.test.js snap.test.js"
	readers_log load-json-$v "$vitest --reporter=json load.test.js syntax.test.js empty.test.js snap.test.js"
	readers_log quit-$v "$vitest --reporter=verbose quit.test.js snap.test.js"
	readers_log crash-$v "$vitest --reporter=verbose crash.test.js snap.test.js"
	readers_log async-$v "$vitest --reporter=verbose async.test.js"
	readers_log async-json-$v "$vitest --reporter=json async.test.js"
	readers_log forge-$v "$vitest --reporter=verbose forge.test.js"
	readers_log same-$v "$vitest --reporter=verbose same"
done
readers_log forge-json-4 "$vitest --reporter=json forgejson.test.js"
readers_log report-4 "$vitest --reporter=verbose --reporter=json --outputFile=/workspace/out.json all.test.js same.test.js" out.json
readers_log junit-4 "$vitest --reporter=junit --outputFile=/workspace/out.xml all.test.js same.test.js" out.xml
readers_log color-4 "FORCE_COLOR=1; export FORCE_COLOR; ${vitest/NO_COLOR=1 /} --reporter=verbose same"
readers_log quiet-4 "$vitest --reporter=default same"
readers_log tree-4 "$vitest --reporter=tree same"
readers_log none-4 "$vitest --reporter=verbose nothing"
readers_log bail-4 "$vitest --reporter=verbose --bail=1 all.test.js"
