#!/usr/bin/env bash
# mocha: spec on the console, json on stdout and in a file.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/readers/npm.sh
. "$here/../npm.sh"
readers_need node npm
readers_npm mocha12 mocha@12.0.3
readers_npm mocha10 mocha@10.8.2
readers_npm mocha8 mocha@8.4.0
for v in 8 10 12; do
	mocha="node /mocha$v/node_modules/mocha/bin/_mocha"
	[ $v -gt 8 ] && mocha="node /mocha$v/node_modules/mocha/bin/mocha.js"
	readers_log spec-$v "$mocha all.js"
	readers_log json-$v "$mocha --reporter json all.js"
	readers_log hooks-$v "$mocha hooks.js"
	readers_log hooks-json-$v "$mocha --reporter json hooks.js"
done
readers_log report-10 "$mocha --reporter json --reporter-option output=/workspace/out.json all.js" out.json
readers_log color-12 "$mocha --color hooks.js"
readers_log forge-12 "$mocha forge.js"
readers_log forge-json-12 "$mocha --reporter json forgejson.js"
readers_log quit-12 "$mocha quit.js"
readers_log quit-json-12 "$mocha --reporter json quit.js"
readers_log crash-12 "$mocha crash.js"
readers_log load-12 "$mocha load.js"
readers_log load-json-12 "$mocha --reporter json load.js"
readers_log empty-12 "$mocha --reporter json --grep nothing quit.js"
readers_log marker-12 "$mocha --reporter json --no-color hooks.js; echo after"
readers_log bail-12 "$mocha --bail all.js"
# Which file ends first is not fixed, nor is where its output lands: only for a look.
[ -n "${READERS_ALL:-}" ] && readers_log parallel-12 "$mocha --parallel --jobs 2 hooks.js forge.js"
exit 0
