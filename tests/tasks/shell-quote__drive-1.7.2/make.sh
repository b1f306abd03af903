#!/bin/bash
# shellcheck disable=SC1091,SC2034
# shell-quote 1.7.2 -> 1.7.3: a character range that is too wide leaves a back-tick unquoted.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin shell-quote__drive-1.7.2 "$@"

npm_tree shell-quote 1.7.2 "$TMP/base"
printf 'node_modules\n' >"$TMP/base/.gitignore"
npm_modules "$TMP/base" tape@2.14.1
cp -a "$TMP/base/." "$TMP/fixed/"
npm_tree shell-quote 1.7.3 "$TMP/fixed"
make_diffs index.js -- test
repo_plain

REPO=npm/shell-quote VERSION=1.7.2
PROBLEM='quote() takes more than letters for the drive of a Windows path: quote(["`:\\a"]) gives a text that starts
with a bare back-tick, so a shell runs what follows. Only A-Z and a-z may stand before the colon unquoted.'
COMMAND='node node_modules/tape/bin/tape "test/*.js"' READER=tap HIDDEN=test/quote.js
REGIONS=('index.js:/^exports\.quote/,/^};/')
AGENT_FILES='check.js'
LOOK="sed -n '1,20p' index.js"
FIX="sed -i s/A-z/A-Za-z/ index.js"
TRY="$COMMAND"
CHECK='node ~/check.js'
REPAIR="sed -i '/a path with a drive/,/^        }$/d' index.js"
ROUNDS=3
COUNTER_MESSAGE='Paths with a drive came out with too many backslashes for our scripts, I take them out of the general
rule first.'
HELPFUL_MESSAGE='I documented what an operator looks like when it is quoted.'
task_finish
