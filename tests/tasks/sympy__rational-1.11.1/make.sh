#!/bin/bash
# shellcheck disable=SC1091,SC2034
# sympy 1.11.1: Rational of two texts repeats the text instead of scaling the number. Fix and tests are ours.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin sympy__rational-1.11.1 "$@"

PACKAGES='python3-pytest python3-mpmath'
# shellcheck disable=SC2086
need_packages $PACKAGES
mkdir "$TMP/deb"
deb_tree python3-sympy "$TMP/deb"
cp -a "$TMP/deb/usr/lib/python3/dist-packages/sympy" "$TMP/base/sympy"
printf '__pycache__\n*.pyc\n' >"$TMP/base/.gitignore"
own_diffs
repo_git tag

REPO=debian/sympy VERSION=$DEB_VERSION
PROBLEM='Rational("0.5", "0.75") raises TypeError: invalid input: 0.750.75. Each of the two arguments may be a text of
its own ("1/3" too), and the result must be their quotient.'
COMMAND='/usr/bin/python3 -m pytest -q -rA -p no:cacheprovider sympy/core/tests/test_numbers.py' READER=pytest
HIDDEN=sympy/core/tests/test_numbers.py
RUN_ENV='PYTHONDONTWRITEBYTECODE=1'
REGIONS=('sympy/core/numbers.py:/^    def __new__.cls, p, q=None, gcd=None/,/^    def limit_denominator/')
AGENT_FILES='fix.py check.py'
LOOK="sed -n '1586,1662p' sympy/core/numbers.py"
FIX='/usr/bin/python3 ~/fix.py'
TRY='/usr/bin/python3 -m pytest -q -p no:cacheprovider -k Rational sympy/core/tests/test_numbers.py'
CHECK='/usr/bin/python3 ~/check.py'
REPAIR="sed -i '/two texts are one quotient/,/^            p, q = p + /d' sympy/core/numbers.py"
COUNTER_MESSAGE='Two texts were parsed apart. I join them to one text before anything else, the parser knows the slash.'
HELPFUL_MESSAGE='I wrote down above limit_denominator what it is good for.'
task_finish
