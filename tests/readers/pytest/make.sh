#!/usr/bin/env bash
# Debian's pytest with xdist and subtests. READERS_PYTEST=DIR: also other versions, DIR/VERSION holds
# the modules of one (put on PYTHONPATH).
# shellcheck source=tests/readers/lib.sh
. "$(dirname "$0")/../lib.sh"
readers_need env
/usr/bin/python3 -c 'import pytest, xdist, pytest_subtests' 2>/dev/null ||
	readers_skip "python3-pytest, python3-pytest-xdist or python3-pytest-subtests is not installed"

# cases PREFIX COMMAND: what every version is asked.
cases()
{
	local p=$1 py=$2 all="test_names.py test_results.py test_forge.py 'a dir' sub"
	readers_log "$p-rA" "$py -rA $all"
	readers_log "$p-v" "$py -v $all"
	readers_log "$p-inner" "$py -rA test_inner.py"
	readers_log "$p-xunit1" "$py -q --junitxml=o.xml -o junit_family=xunit1 $all" o.xml
}

# more PREFIX COMMAND: and Debian's besides.
more()
{
	local p=$1 py=$2 all="test_names.py test_results.py test_forge.py 'a dir' sub"
	readers_log "$p-v-rA" "$py -v -rA --color=yes $all"
	readers_log "$p-q-rA" "$py -q -rA $all"
	readers_log "$p-vv-ci" "CI=1 $py -vv -rA $all"
	readers_log "$p-count" "$py -v -o console_output_style=count $all"
	readers_log "$p-dots" "$py $all"
	readers_log "$p-tb-no" "$py -rA --tb=no $all"
	readers_log "$p-inner-v" "$py -v test_inner.py"
	readers_log "$p-collection" "$py -rA broken.py small.py"
	readers_log "$p-two-sessions" "$py -rA small.py; $py -rA small_fails.py"
	readers_log "$p-two-sessions-v" "$py -v small_fails.py; $py -v small.py"
	readers_log "$p-xunit2" "$py -q --junitxml=o.xml -o junit_family=xunit2 $all" o.xml
}

debian="/usr/bin/python3 -m pytest -p no:cacheprovider -p no:randomly"
cases 7 "$debian"
more 7 "$debian"
readers_log 7-subtests-rA "$debian -rA test_subtests.py"
readers_log 7-subtests-v "$debian -v test_subtests.py"
readers_log 7-xdist "$debian -n 1 -rA test_names.py test_results.py"
readers_log 7-xdist-v "$debian -n 1 -v test_names.py test_results.py"
readers_log 7-xdist-crash "$debian -n 1 -v crash.py --max-worker-restart=1"
readers_log 7-crash "$debian -v crash.py"
readers_log 7-crash-rA "$debian -rA crash.py"
readers_log 7-leave "$debian -v leave.py"
readers_log 7-hang "timeout 5 $debian -v hang.py"
readers_log 7-s "$debian -s -v -rA test_forge.py"
readers_log 7-s-v "$debian -s -v test_forge.py"
readers_log 7-exitfirst "$debian -x -v test_results.py"
readers_log 7-none "$debian -rA -k nothing small.py"
readers_log 7-usage "$debian --no-such-option"
readers_log 7-atexit "$debian -rA atexit_forge.py"
readers_log 7-warnings "$debian -rA -W error test_results.py"

for dir in "${READERS_PYTEST:-/nonexistent}"/*/; do
	[ -d "$dir" ] || continue
	version=$(basename "$dir")
	binds=()
	readers_bind "$dir" "pytest"
	command="PYTHONPATH=/pytest /usr/bin/python3 -m pytest --tb=short -p no:cacheprovider -p no:xdist -p no:randomly"
	case $version in
	9.*) command="$command -p no:pytest_subtests -p no:subtests_old" ;;
	esac
	cases "${version%%.*}" "$command"
	case $version in
	[89].*)
		readers_log "${version%%.*}-subtests-rA" "$command -rA test_subtests.py"
		readers_log "${version%%.*}-subtests-v" "$command -v test_subtests.py"
		;;
	esac
done
