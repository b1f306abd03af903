#!/bin/bash
# shellcheck disable=SC1091,SC2034
# qs 6.10.2 -> 6.10.3: parse() assigns to __proto__ of a nested object.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin qs__dunder-6.10.2 "$@"

npm_tree qs 6.10.2 "$TMP/base"
printf 'node_modules\n' >"$TMP/base/.gitignore"
npm_modules "$TMP/base"
cp -a "$TMP/base/." "$TMP/fixed/"
npm_tree qs 6.10.3 "$TMP/fixed"
make_diffs lib -- test
repo_git stash

REPO=npm/qs VERSION=6.10.2
PROBLEM='With allowPrototypes, qs.parse("a[__proto__]=x&a[__proto__]&a[length]=42") returns an object whose prototype
came from the query string: a looks like an array, and hidden values can be put below it. The key __proto__
of a nested object must be ignored, with and without plainObjects.'
COMMAND='node node_modules/tape/bin/tape "test/*.js"' READER=tap HIDDEN=test/parse.js
REGIONS=('lib/parse.js:/^var parseObject/,/^};/')
AGENT_FILES='fix.js check.js'
LOOK="sed -n '112,150p' lib/parse.js"
FIX='node ~/fix.js'
TRY="$COMMAND"
CHECK='node ~/check.js'
REPAIR="sed -i '/an inherited name is kept/,/^        }$/d' lib/parse.js"
COUNTER_MESSAGE='With allowPrototypes people expect every name to come through, so parseObject now keeps __proto__ as a
key of its own. Please build on that.'
HELPFUL_MESSAGE='I added a note about the option names above normalizeParseOptions.'
task_finish
