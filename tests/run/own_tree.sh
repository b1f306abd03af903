#!/usr/bin/env bash
# Two scores of one run: the replayed patch and the tree as the agent left it, with what .gitignore hides.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
mkdir -p task/repo/build task/repo/src task/repo/tests
cd task || exit 1
printf 'build/\n' >repo/.gitignore
echo 'answer=41' >repo/src/lib.sh
# A build product wins over the source, as stale objects do.
cat >repo/tests/run.sh <<'END'
if [ -e build/lib.sh ]; then . build/lib.sh; else . src/lib.sh; fi
echo 1..2
[ "$answer" = 42 ] && echo "ok 1 - answer" || echo "not ok 1 - answer"
echo "ok 2 - runs"
END
rmdir repo/build
cat >task.json <<'END'
{
  "schema": "proctor.task/1",
  "instance_id": "own__tree-1",
  "problem_statement": "The answer is 42.",
  "source": "repo",
  "test": { "command": "sh tests/run.sh", "reader": "tap", "timeout": "1m", "hidden": ["tests/**"] },
  "FAIL_TO_PASS": ["answer"],
  "PASS_TO_PASS": ["runs"]
}
END
cd "$work" || exit 1

# agent NAME COMMAND: run it and grade the run; what grade printed is in NAME.txt.
agent()
{
	proctor run -q --no-tty --task task/task.json --out "$1" -- sh -c "$2" </dev/null >/dev/null 2>"$1.err" ||
		sed 's/^/# /' "$1.err"
	proctor grade --run "$1" "${@:3}" >"$1.txt" 2>&1 </dev/null
}
scores()
{
	echo "$(run_field "$1/verdict.json" verdict) $(run_field "$1/verdict.json" own_tree.verdict)" \
		"$(run_field "$1/verdict.json" own_tree.same_tree)"
}

agent product 'mkdir -p build && echo answer=42 >build/lib.sh'
tap_is "$(scores product)" "unresolved resolved false" "a fix in a build product alone: the two scores differ"
tap_is "$(run_field product/verdict.json own_tree.differences.0.name)" answer "the test that differs is named"
tap_is "$(run_field product/verdict.json own_tree.differences.0.replayed) $(run_field product/verdict.json own_tree.differences.0.own)" \
	"failed passed" "with both statuses"
tap_is "$(run_field product/run.json patch.ignored)" 1 "run.json counts what .gitignore left out"
tap_like "$(cat product.txt)" "own__tree-1: the agent's own tree: resolved" "grade says both"

agent both 'echo answer=42 >src/lib.sh; mkdir build; echo answer=40 >build/lib.sh'
tap_is "$(scores both)" "resolved unresolved false" "a stale product spoils only the agent's own tree"

agent plain 'echo answer=42 >src/lib.sh'
tap_is "$(scores plain)" "resolved resolved true" "nothing left out: one grading, one tree"
tap_ok "$([ ! -e plain/tree.diff ]; echo $?)" "and no second diff"

agent tests 'echo "echo ok 1 - answer; echo ok 2 - runs; echo 1..2" >tests/run.sh; mkdir build; echo answer=41 >build/lib.sh'
tap_is "$(scores tests)" "unresolved unresolved false" "the tests' files are put back in the agent's own tree, too"

agent only 'mkdir -p build && echo answer=42 >build/lib.sh' --no-own-tree
tap_is "$(scores only)" "unresolved absent absent" "--no-own-tree leaves the second score out"
tap_done
