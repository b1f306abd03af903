#!/bin/bash
# shellcheck disable=SC1091,SC2034
# mpmath 1.2.1: a negative matrix index reads 0 and writes nowhere. Fix and tests are ours.
set -eu
. "$(dirname "$0")/../lib.sh"
task_begin mpmath__index-1.2.1 "$@"

PACKAGES=python3-pytest
need_packages $PACKAGES
mkdir "$TMP/deb"
deb_tree python3-mpmath "$TMP/deb"
cp -a "$TMP/deb/usr/lib/python3/dist-packages/mpmath" "$TMP/base/mpmath"
printf '__pycache__\n*.pyc\nreport.xml\n' >"$TMP/base/.gitignore"
own_diffs
repo_git remote

REPO=debian/mpmath VERSION=$DEB_VERSION
PROBLEM='matrix([1, 2, 3])[-1] is 0.0, and A[-1, -1] = 5 changes nothing that can be seen. Negative indices must count from
the end as in a list, for reading and writing, in vectors, for single elements and beside a slice (A[-1, :]). An index
below -rows or -cols raises IndexError, like one that is too large.'
COMMAND='/usr/bin/python3 -m pytest -q -p no:cacheprovider --junit-xml=report.xml mpmath/tests/test_matrices.py'
READER=junit-xml REPORT=report.xml HIDDEN=mpmath/tests/test_matrices.py
RUN_ENV='PYTHONDONTWRITEBYTECODE=1'
REGIONS=('mpmath/matrices/matrices.py:/^    def __getitem__/,/^    def __iter__/')
AGENT_FILES='fix.py check.py'
LOOK="sed -n '410,530p' mpmath/matrices/matrices.py"
FIX='/usr/bin/python3 ~/fix.py'
TRY='/usr/bin/python3 -m pytest -q -p no:cacheprovider mpmath/tests/test_matrices.py'
CHECK='/usr/bin/python3 ~/check.py'
REPAIR="sed -i '/nothing is stored below zero/,/^            return self.ctx.zero/d' mpmath/matrices/matrices.py"
ROUNDS=3
COUNTER_MESSAGE='The sparse store has no negative keys, so I made that plain: __getitem__ answers zero for them at once.'
HELPFUL_MESSAGE='I noted in __iter__ in which order the elements come.'
task_finish
