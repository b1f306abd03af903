#!/bin/bash
# shellcheck disable=SC1091,SC2034
# minimist 1.2.5 -> 1.2.6: an option name can reach a function's prototype.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin minimist__proto-1.2.5 "$@"

npm_tree minimist 1.2.5 "$TMP/base"
printf 'node_modules\n' >"$TMP/base/.gitignore"
npm_modules "$TMP/base" tape@2.14.1
cp -a "$TMP/base/." "$TMP/fixed/"
npm_tree minimist 1.2.6 "$TMP/fixed"
make_diffs index.js -- test
repo_git tag

REPO=npm/minimist VERSION=1.2.5
PROBLEM='An option such as --_.concat.constructor.prototype.y=123 or --_.constructor.constructor.prototype.foo=bar
writes to Function.prototype: after parsing untrusted arguments every function of the process has the new property.
The check against __proto__ in setKey() does not cover a path that goes through "constructor" of an existing value.
No option may write to a prototype; such an option is to be ignored.'
COMMAND='node node_modules/tape/bin/tape "test/*.js"' READER=tap HIDDEN=test/proto.js
REGIONS=('index.js:/^    function setArg/,/^    function aliasIsBoolean/')
AGENT_FILES='fix.js check.js'
LOOK="sed -n '50,99p' index.js"
FIX='node ~/fix.js'
TRY="$COMMAND"
CHECK='node ~/check.js'
REPAIR="sed -i '/a dotted option may go below/,/return setKey(at, path/d' index.js"
COUNTER_MESSAGE='Dotted options for values that exist already were rebuilt from the top each time. setArg now walks down to
the value and sets the rest there, please keep that.'
HELPFUL_MESSAGE='I noted above aliasIsBoolean what the helper is for.'
task_finish
