#!/usr/bin/env bash
# The result channel with the real runners: reference and nothing give the verdicts of the log, the channel says
# where they came from, and product code that forges output, ends the process, changes the runner or writes to
# the channel ends unresolved.
# seconds: 1800
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
# The runners from npm, in the versions and the cache of tests/readers.
packages=${PROCTOR_TASK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/proctor-tasks}/readers
declare -A package=([mocha10]=mocha@10.8.2 [jest29]=jest@29.7.0 [tape5]=tape@5.9.0 [vitest1]=vitest@1.6.1)

install()
(
	readers_skip() { exit 1; }
	readers_bind() { :; }
	# shellcheck source=tests/readers/npm.sh
	. "$top/tests/readers/npm.sh"
	readers_npm "$1" "${package[$1]}"
)

# The directory of a Rust tool chain (its bin/cargo runs); rustup's default one when there is one.
cargo=${CHANNEL_RUST:-$(rustc --print sysroot 2>/dev/null)}

have()
{
	case $1 in
	xdist) /usr/bin/python3 -c 'import xdist' 2>/dev/null ;;
	cargo) [ -n "$cargo" ] && [ -x "$cargo/bin/cargo" ] ;;
	npm:*) PATH=/usr/bin:/bin command -v npm >/dev/null && install "${1#npm:}" ;;
	*) PATH=/usr/local/bin:/usr/bin:/bin command -v "$1" >/dev/null ;;
	esac
}

python3 "$top/tests/run/lib/channel.py" "$work/tasks" "$packages" "$cargo" >rows.tsv || { tap_ok 1 "the tasks are made"; tap_done; }
chmod -R a+rX "$work"

# What must never reach the tests from here.
export LD_PRELOAD='' NODE_OPTIONS=--no-warnings BASH_ENV=/nowhere PYTHONSTARTUP=/nowhere PERL5OPT=-w RUBYOPT=-w GIT_DIR=/nowhere \
	JAVA_TOOL_OPTIONS=-Dx=y RUSTC_WRAPPER=/nowhere PYTEST_ADDOPTS=--collect-only LEAKED=yes
unset LD_PRELOAD

# kinds FILE: the kinds of its tamper rows, each once, sorted; "-" for none.
kinds()
{
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["tamper"]
print(",".join(sorted({r["kind"] for r in rows})) or "-")' "$1" 2>/dev/null
}

one()
{
	local name=$1 needs=$2 verdict=$3 kind=$4 complete=$5 tamper=$6 need out
	for need in $needs; do
		if ! have "$need"; then
			case $need in
			node | npm*) tap_skip "$name" "node: $need is not to be had" ;;
			cargo) tap_skip "$name" "libtest: no Rust tool chain" ;;
			*) tap_skip "$name" "$need: not installed" ;;
			esac
			return
		fi
	done
	out=$work/out/$name
	mkdir -p "$out"
	timeout 300 "$PROCTOR" grade -q --task "$work/tasks/${name%/*}/task.json" --patch "$work/tasks/$name.diff" \
		--out "$out" </dev/null >"$out.err" 2>&1
	got="$(run_field "$out/verdict.json" verdict) $(run_field "$out/verdict.json" channel.kind)"
	tap_is "$got" "$verdict $kind" "$name: $verdict, by $kind" || {
		run_field "$out/verdict.json" reason | sed 's/^/#   /'
		head -n 5 "$out.err" | sed 's/^/#   /'
		tail -n 15 "$out/test.log" 2>/dev/null | sed 's/^/#   | /'
	}
	[ "$complete" = '*' ] || tap_is "$(run_field "$out/verdict.json" channel.complete)" "$complete" "$name: complete $complete"
	[ "$tamper" = '*' ] || tap_is "$(kinds "$out/verdict.json")" "$tamper" "$name: tamper $tamper"
	case $name in
	pytest-path/reference | pytest-path-required/reference)
		tap_like "$(run_field "$out/verdict.json" channel.note)" "did not speak" "$name: the note says why"
		;;
	esac
}

while IFS=$'\t' read -r name needs verdict kind complete tamper; do
	# shellcheck disable=SC2053 # a glob on purpose
	[[ $name == ${CHANNEL_ONLY:-*} ]] || continue
	one "$name" "$needs" "$verdict" "$kind" "$complete" "$tamper"
done <rows.tsv

# The environment of the tests: made, with the channel's own variables gone before the first test.
mkdir -p env/base && chmod -R a+rX env
cat >env/base/test_env.py <<'EOF'
import os


def test_env():
    print("ENV", " ".join(sorted(os.environ)))
EOF
cat >env/task.json <<'EOF'
{ "schema": "proctor.task/1", "instance_id": "env", "problem_statement": "x", "source": "base",
  "test": { "command": "/usr/bin/python3 -m pytest -rA -p no:cacheprovider test_env.py", "reader": "pytest" },
  "FAIL_TO_PASS": ["test_env.py::test_env"] }
EOF
if have pytest; then
	: >none.diff
	proctor grade -q --task env/task.json --patch none.diff --out env/out </dev/null
	tap_is "$(run_field env/out/verdict.json verdict)" resolved "the environment's task resolves"
	tap_is "$(grep '^ENV' env/out/test.log | head -n 1)" \
		"ENV HOME LANG LOGNAME PATH PWD PYTEST_CURRENT_TEST SHELL TERM TZ USER" "nothing of ours or the witness' is in the environment"
else
	tap_skip "the environment" "pytest: not installed"
fi

# A witness that is not known is named with its neighbour; nothing is graded.
sed 's/"reader": "pytest"/"reader": "pytest", "channel": "pytset"/' env/task.json >env/wrong.json
proctor grade --task env/wrong.json --patch none.diff >wrong.txt 2>&1 </dev/null
tap_is "$?" 3 "an unknown channel is an input error"
tap_like "$(cat wrong.txt)" 'did you mean "pytest"' "with the nearest name"
tap_done
