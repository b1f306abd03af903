#!/bin/bash
# shellcheck disable=SC1091,SC2034
# cjson 1.7.15: cJSON_Minify takes the end of a string that ends with a backslash for an escaped quote. Fix and test are ours.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin cjson__minify-1.7.15 "$@"

PACKAGES='gcc libc6-dev'
# shellcheck disable=SC2086
need_packages $PACKAGES
deb_source cjson "$TMP/base"
rm -rf "$TMP/base/debian" "$TMP/base/.pc"
printf '*.bin\n' >"$TMP/base/.gitignore"
own_diffs
repo_git stash

REPO=debian/cjson VERSION=$DEB_VERSION
PROBLEM='cJSON_Minify on { "dir" : "C:\\" , "n" : 1 } keeps the blanks (and comments) behind the string: the second of
the two backslashes and the quote are taken for an escaped quote, so the string seems to go on.'
COMMAND='cc -I. -Itests -o minify.bin tests/minify_tests.c tests/unity/src/unity.c -lm && ./minify.bin'
READER=exit-code HIDDEN=tests/minify_tests.c
REGIONS=('cJSON.c:/^static void minify_string/,/^CJSON_PUBLIC.void. cJSON_Minify/')
AGENT_FILES='fix.sh check.c check.sh'
LOOK="sed -n '/^static void minify_string/,/^}/p' cJSON.c"
FIX='sh ~/fix.sh'
TRY="sh -c '$COMMAND'"
CHECK='sh ~/check.sh'
REPAIR="sed -i '/quick way for plain text/,/^    }\$/d' cJSON.c"
COUNTER_MESSAGE='Long strings were slow, minify_string now runs to the next quote that has no backslash before it.'
HELPFUL_MESSAGE='I said in a comment what skip_multiline_comment does at the end of the text.'
task_finish
