#!/usr/bin/env bash
# Python's unittest. READERS_PYTHON="3.8=DIR ...": also other versions, DIR/bin/python3 is one.
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need env
[ -x /usr/bin/python3 ] || readers_skip "python3 is not installed"

cases()
{
	readers_log "$1-verbose" "$2 forms.py"
	readers_log "$1-blanks" "$2 blanks.py"
	readers_log "$1-forge" "$2 forge.py"
	readers_log "$1-module" "$2 -m unittest -v forms.Forms forms.Subtests broken"
}

python=/usr/bin/python3
cases debian $python
readers_log small "$python small.py -v"
readers_log quiet "$python small.py"
readers_log buffered "$python forms.py -b"
readers_log failfast "$python forms.py -f Forms.test_fail Forms.test_pass"
readers_log leaves "$python leaves.py"
readers_log killed "$python killed.py"
readers_log hangs "timeout 5 $python hangs.py"
readers_log forged-end "$python forged_end.py"
readers_log two-runs "$python small.py -v; $python small.py -v Small.test_one"
readers_log none "$python small.py -v -k nothing"
readers_log usage "$python small.py --no-such-option"
for pair in ${READERS_PYTHON:-}; do
	binds=()
	readers_bind "${pair#*=}" python
	cases "${pair%%=*}" /python/bin/python3
done
