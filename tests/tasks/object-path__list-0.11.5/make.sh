#!/bin/bash
# shellcheck disable=SC1091,SC2034
# object-path 0.11.5 -> 0.11.6: a list as a path component passes the check on magic names.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin object-path__list-0.11.5 "$@"

npm_tree object-path 0.11.5 "$TMP/base"
printf 'node_modules\n' >"$TMP/base/.gitignore"
npm_modules "$TMP/base"
cp -a "$TMP/base/." "$TMP/fixed/"
npm_tree object-path 0.11.6 "$TMP/fixed"
make_diffs index.js -- test.js
repo_git remote

REPO=npm/object-path VERSION=0.11.5
PROBLEM='objectPath.withInheritedProps.set({}, [["__proto__"], "injected"], 1) still writes to Object.prototype: the
component is a list, the comparison with "__proto__" is strict, and the property access turns it into text. The
same holds for [["constructor"], "prototype", "injected"]. Both must throw like the plain names do.'
COMMAND='node node_modules/mocha/bin/_mocha --reporter tap test.js' READER=tap HIDDEN=test.js
REGIONS=('index.js:/^    function set\(/,/^    }/')
AGENT_FILES='fix.js check.js'
LOOK="sed -n '97,145p' index.js"
FIX='node ~/fix.js'
TRY="$COMMAND"
CHECK='node ~/check.js'
REPAIR="sed -i '/a list inside a path/,/^      }$/d' index.js"
COUNTER_MESSAGE='Grouped components such as [["a"], "b"] are used by our callers, set() now goes into the group first.'
HELPFUL_MESSAGE='Added a line about has() for the readers of the file.'
task_finish
