#!/usr/bin/env bash
# jest: --verbose on the console, --json on stdout and in a file.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/readers/npm.sh
. "$here/../npm.sh"
readers_need node npm
readers_npm jest30 jest@30.5.2
readers_npm jest29 jest@29.7.0
readers_npm jest24 jest@24.9.0
for v in 29 30; do
	jest="node /jest$v/node_modules/jest/bin/jest.js --ci --rootDir=/workspace --config={} --cacheDirectory=/tmp/jest"
	readers_log verbose-$v "$jest -i --verbose all.test.js"
	readers_log json-$v "$jest -i --json all.test.js"
	readers_log hooks-$v "$jest -i --verbose hooks.test.js snap.test.js"
	readers_log hooks-json-$v "$jest -i --json hooks.test.js snap.test.js"
done
readers_log report-30 "$jest -i --json --outputFile=/workspace/out.json all.test.js same.test.js" out.json
readers_log color-30 "FORCE_COLOR=1 $jest -i --verbose hooks.test.js"
readers_log quiet-30 "$jest -i hooks.test.js same.test.js"
readers_log forge-30 "$jest -i --verbose forge.test.js"
readers_log forge-json-30 "$jest -i --json forgejson.test.js"
readers_log quit-30 "$jest -i --verbose quit.test.js same.test.js"
readers_log quit-json-30 "$jest -i --json quit.test.js"
readers_log crash-30 "$jest -i --verbose crash.test.js"
readers_log load-30 "$jest -i --verbose load.test.js syntax.test.js empty.test.js snap.test.js"
readers_log load-json-30 "$jest -i --json load.test.js syntax.test.js empty.test.js snap.test.js"
readers_log none-30 "$jest -i --verbose nothing"
readers_log filter-30 "$jest -i --verbose -t 'never' hooks.test.js"
readers_log bail-30 "$jest -i --verbose --bail same.test.js sub/same.test.js"
# jest 24 knows no it.failing.
jest24="sed -i /failing/d all.test.js && node /jest24/node_modules/jest/bin/jest.js --ci --rootDir=/workspace"
readers_log verbose-24 "$jest24 --config='{\"testEnvironment\":\"node\"}' -i --verbose all.test.js"
readers_log json-24 "$jest24 --config='{\"testEnvironment\":\"node\"}' -i --json all.test.js"
readers_log workers-30 "$jest -w 2 --verbose hooks.test.js same.test.js sub/same.test.js snap.test.js"
readers_log crash-worker-30 "$jest -w 2 --verbose crash.test.js snap.test.js hooks.test.js"
