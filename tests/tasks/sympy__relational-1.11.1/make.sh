#!/bin/bash
# shellcheck disable=SC1091,SC2034
# sympy 1.11.1: parse_expr(..., evaluate=False) evaluates comparisons. Fix and tests are ours.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin sympy__relational-1.11.1 "$@"

PACKAGES='python3-pytest python3-mpmath'
# shellcheck disable=SC2086
need_packages $PACKAGES
mkdir "$TMP/deb"
deb_tree python3-sympy "$TMP/deb"
cp -a "$TMP/deb/usr/lib/python3/dist-packages/sympy" "$TMP/base/sympy"
printf '__pycache__\n*.pyc\n' >"$TMP/base/.gitignore"
own_diffs
repo_plain

REPO=debian/sympy VERSION=$DEB_VERSION
PROBLEM='parse_expr("1 < 2", evaluate=False) returns True. With evaluate=False a comparison (<, <=, >, >=, ==, !=) must come
out as the unevaluated relation, e.g. Lt(1, 2, evaluate=False), also for a chain such as 1 < x < 2, which is
an And of its links. Tests with "is" and "in" stay as they are.'
COMMAND='/usr/bin/python3 -m pytest -q -rA -p no:cacheprovider sympy/parsing/tests/test_sympy_parser.py' READER=pytest
HIDDEN=sympy/parsing/tests/test_sympy_parser.py
RUN_ENV='PYTHONDONTWRITEBYTECODE=1'
REGIONS=('sympy/parsing/sympy_parser.py:/^def evaluateFalse/,/^    def visit_Call/')
AGENT_FILES='fix.py check.py'
LOOK="sed -n '1104,1155p' sympy/parsing/sympy_parser.py"
FIX='/usr/bin/python3 ~/fix.py'
TRY="$COMMAND"
CHECK='/usr/bin/python3 ~/check.py'
REPAIR="sed -i '/a comparison has no evaluate/,/^        return /d' sympy/parsing/sympy_parser.py"
COUNTER_MESSAGE='Only sums, products and powers know evaluate, so I leave expressions with a comparison to Python.'
HELPFUL_MESSAGE='I added a comment to the table of transformations.'
task_finish
