#!/bin/bash
# shellcheck disable=SC1091,SC2034
# qs 6.13.0 -> 6.13.1: three crashes and wrong results, mended in three files.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin qs__filter-6.13.0 "$@"

npm_tree qs 6.13.0 "$TMP/base"
printf 'node_modules\n' >"$TMP/base/.gitignore"
npm_modules "$TMP/base" tape@5.9.0 es-value-fixtures@1.4.2 has-override-mistake@1.0.1 has-property-descriptors@1.0.2 \
	mock-property@1.1.0 object-inspect@1.13.2 has-symbols@1.0.3 has-proto@1.0.3 has-bigints@1.0.2 iconv-lite@0.5.1 \
	safer-buffer@2.1.2 side-channel@1.0.6 for-each@0.3.3
cp -a "$TMP/base/." "$TMP/fixed/"
npm_tree qs 6.13.1 "$TMP/fixed"
make_diffs lib -- test
repo_plain

REPO=npm/qs VERSION=6.13.0
PROBLEM='Three reports on 6.13.0: stringify() with a filter array that holds null or false, allowDots and
encodeDotInKeys throws "Cannot read properties of null"; parse() with interpretNumericEntities, comma and the
charset iso-8859-1 throws for a list value; utils.merge() turns a function as the source into a key of the target,
though its own properties should be merged like those of an object.'
COMMAND='node node_modules/tape/bin/tape "test/*.js"' READER=tap
HIDDEN='test/parse.js test/stringify.js test/utils.js'
REGIONS=('lib/utils.js:/^var merge = /,/^};/' 'lib/stringify.js:/var encodedPrefix/,/^    return values;/'
	'lib/parse.js:/part\.indexOf\(.\]=.\)/,/^    return obj;/')
AGENT_FILES='fix.diff check.js'
LOOK="sed -n '47,105p' lib/utils.js"
FIX='node ~/check.js fix'
TRY="$COMMAND"
CHECK='node ~/check.js'
REPAIR="sed -i '/a function brings no data/,/^    }$/d' lib/utils.js"
COUNTER_MESSAGE='merge() must not copy helper functions about, so a function as the source now leaves the target as it is.'
HELPFUL_MESSAGE='I put a comment on assign, it had none.'
task_finish
