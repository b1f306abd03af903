#!/usr/bin/env bash
# sympy's own runner. READERS_SYMPY=DIR is a checkout of sympy (read only).
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need env
[ -e "${READERS_SYMPY:-/nonexistent}/bin/test" ] || readers_skip "READERS_SYMPY names no checkout of sympy"
readers_bind "$READERS_SYMPY" sympy
# The runner looks for tests beside the package, so the package comes to the tests.
test="cp -r /sympy/bin /sympy/setup.py . && for d in /sympy/sympy/*; do cp -r \$d sympy/; done &&
PYTHONHASHSEED=1 /usr/bin/python3 -W ignore bin/test --verbose --seed 1"
readers_log verbose "$test sympy/demo/tests/test_forms.py sympy/demo/tests/test_other.py"
readers_log forge "$test sympy/demo/tests/test_forge.py"
readers_log clean "$test sympy/demo/tests/test_clean.py"
readers_log leaves "$test sympy/demo/tests/test_leaves.py"
readers_log broken "$test sympy/demo/tests/test_broken.py sympy/demo/tests/test_clean.py"
readers_log quiet "${test/--verbose/} sympy/demo/tests/test_clean.py"
readers_log colour "$test -C sympy/demo/tests/test_clean.py"
