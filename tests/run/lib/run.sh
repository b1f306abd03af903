# shellcheck shell=bash
# For whole-run tests (tests/run/*.sh): source this first. Gives a scratch directory that goes away
# at the end, the program under test, and short ways to look into what a run left.
#   top      root of the source tree
#   work     scratch directory of this test
#   proctor  the program (function): quiet progress, shipped data of this tree

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
PROCTOR=${PROCTOR:-$top/build/supervisor/proctor}
export PROCTOR_DATADIR=${PROCTOR_DATADIR:-$top/profiles/data}
# shellcheck source=tests/lib/tap.sh
. "$top/tests/lib/tap.sh"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/run-XXXXXX") || exit 1
trap 'chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

proctor()
{
	"$PROCTOR" "$@"
}

# run_field FILE PATH: a value of a JSON file, "PATH" as in "end.reason" or "budgets.0.name";
# strings bare, everything else as JSON, "absent" when it is not there.
run_field()
{
	python3 -c '
import json, sys
try:
    value = json.load(open(sys.argv[1]))
except (OSError, ValueError):
    value = None
for key in sys.argv[2].split("."):
    try:
        value = value[int(key)] if isinstance(value, list) else value[key]
    except (KeyError, IndexError, TypeError, ValueError):
        print("absent")
        sys.exit()
print(value if isinstance(value, str) else json.dumps(value))' "$1" "$2"
}

# run_count DIR KIND [KEY=VALUE...]: number of trace records of that kind with those fields.
run_count()
{
	python3 -c '
import json, sys
wanted = [pair.split("=", 1) for pair in sys.argv[3:]]
n = 0
for line in open(sys.argv[1] + "/trace.jsonl"):
    try:
        rec = json.loads(line)
    except ValueError:
        continue
    n += rec.get("k") == sys.argv[2] and all(str(rec.get(k)) == v for k, v in wanted)
print(n)' "$@"
}

# need_agent NAME: the client is installed (from npm, once, into a cache) and found by "--agent NAME".
# When it is not: a skip where the registry has not got it, a failure otherwise, and status 1.
need_agent()
{
	local status
	PROCTOR_AGENTS=$("$top/tests/tools/agents.sh" "$1" 2>"$work/install.txt")
	status=$?
	export PROCTOR_AGENTS
	if [ $status -eq 77 ]; then
		tap_skip "$1" "$1: $(tail -n 1 "$work/install.txt")"
	elif [ $status -ne 0 ]; then
		tap_ok 1 "$1: is installed"
		sed 's/^/# /' "$work/install.txt"
	fi
	return $((status != 0))
}
