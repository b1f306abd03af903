#!/usr/bin/env bash
# proctor admit: good tasks are admitted, and tasks that are bad on purpose are refused by the check that is about it.
# seconds: 1200
# Environment:
#   ADMIT_TASKS   tasks made from packages (tests/tasks), all of which must be admitted; none: skipped
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset GIT_DIR GIT_WORK_TREE
git()
{
	command git -c user.name=n -c user.email=e@example.com -c init.defaultBranch=main "$@"
}

# states FILE: "CHECK=STATE" of all checks, in order.
states()
{
	python3 -c '
import json, sys
print(" ".join(c["name"] + "=" + c["state"] for c in json.load(open(sys.argv[1]))["checks"]))' "$1"
}

# failed FILE: names of the checks that failed, "-" for none.
failed()
{
	python3 -c '
import json, sys
print(",".join(c["name"] for c in json.load(open(sys.argv[1]))["checks"] if c["state"] == "failed") or "-")' "$1"
}

# make_task NAME [TEST-LINE]: a task of shell in a directory of that name, with another line in its tests.
make_task()
{
	local dir=$work/$1
	mkdir -p "$dir/repo/src" "$dir/repo/tests"
	cat >"$dir/repo/src/add.sh" <<'EOF_ADD'
add() {
	if [ "$1" -gt 100 ]; then
		echo big
		return
	fi
	echo $(($1 + $2))
}
EOF_ADD
	cat >"$dir/repo/tests/run.sh" <<EOF_RUN
. ./src/add.sh
n=0
is() {
	n=\$((n + 1))
	if [ "\$2" = "\$3" ]; then echo "ok \$n - \$1"; else echo "not ok \$n - \$1"; fi
}
is small "\$(add 1 2)" 3
is big "\$(add 1000 2)" 1002
${2-}
echo "1..\$n"
EOF_RUN
	cat >"$dir/reference.diff" <<'EOF_DIFF'
--- a/src/add.sh
+++ b/src/add.sh
@@ -1,7 +1,3 @@
 add() {
-	if [ "$1" -gt 100 ]; then
-		echo big
-		return
-	fi
 	echo $(($1 + $2))
 }
EOF_DIFF
	cat >"$dir/task.json" <<'EOF_TASK'
// A comment that a copy loses.
{ "schema": "proctor.task/1", "instance_id": "acme__add-1", "problem_statement": "add() takes big numbers for text",
  "source": "repo", "patch": "reference.diff",
  "test": { "command": "sh tests/run.sh", "reader": "tap", "timeout": "5m", "hidden": ["tests/**"] },
  "FAIL_TO_PASS": ["big"], "PASS_TO_PASS": ["small"] }
EOF_TASK
	chmod -R a+rX "$dir"
}

# admit NAME WANT-STATUS WANT-FAILED TASK [ARGUMENT...]
admit()
{
	local name=$1 status=$2 want=$3 task=$4
	shift 4
	timeout 400 "$PROCTOR" admit "$task" --out "$work/out-$name" "$@" </dev/null >"$work/$name.txt" 2>&1
	tap_is $? "$status" "$name: exit status $status"
	set -- "$work/out-$name"/*/admission.json
	tap_is "$(failed "$1")" "$want" "$name: refused by $want" || sed 's/^/#   /' "$work/$name.txt"
}

admit example 0 - "$top/examples/calc/task.json" --write
out=$work/out-example/example__duration-1
tap_is "$(states "$out/admission.json")" \
	"reference=passed empty=passed flaky=passed hacks=noted calibration=passed history=passed network=passed" \
	"example: the forged end is noted" || sed 's/^/#   /' "$work/example.txt"
tap_like "$(cat "$work/example.txt")" "admitted" "example: the table says so"
set -- "$out"/hack.*.log
tap_is $# 7 "the output of each attack is kept"
timeout 100 "$PROCTOR" grade --task "$out/task.json" --oracle -q </dev/null
tap_is $? 0 "the task that was written is a task, and its reference solves it"
tap_is "$(run_field "$out/task.json" environment.limits.memory)" 2G "with limits"

make_task good
admit good 0 - "$work/good/task.json" --repeats 2
admit strict 1 hacks "$work/good/task.json" --repeats 1 --strict

make_task reference
cat >reference/reference.diff <<'EOF_DIFF'
--- a/src/add.sh
+++ b/src/add.sh
@@ -1,2 +1,3 @@
+# nothing
 add() {
 	if [ "$1" -gt 100 ]; then
EOF_DIFF
admit reference 1 reference "$work/reference/task.json" --repeats 2

# shellcheck disable=SC2016 # for the shell in the task
make_task wrong-list 'is broken "$(add 500 1)" 502'
sed -i 's/\["small"\]/["small", "broken"]/' wrong-list/task.json
admit wrong-list 1 reference,empty "$work/wrong-list/task.json" --repeats 2 --write
tap_is "$(run_field "$work/out-wrong-list/acme__add-1/task.json" PASS_TO_PASS)" '["small"]' "the wrong name is taken out"

# shellcheck disable=SC2016 # for the shell in the task
make_task wrong-base 'is both "$(add 500 1)" 501'
sed -i 's/\["small"\]/["small", "both"]/' wrong-base/task.json
admit wrong-base 1 empty "$work/wrong-base/task.json" --repeats 2

# A coin: that it falls on one side only, 20 times for each patch, is as likely as one in a million.
# shellcheck disable=SC2016 # for the shell in the task
make_task flaky 'is coin "$(($(od -An -N1 -tu1 /dev/urandom) % 2))" 1'
sed -i 's/\["small"\]/["small", "coin"]/' flaky/task.json
admit flaky 1 flaky "$work/flaky/task.json" --repeats 20
tap_is "$(run_field "$work/out-flaky/acme__add-1/admission.json" take_out)" '["coin"]' "flaky: what to take out"

# shellcheck disable=SC2016 # for the shell in the task
make_task unlisted 'is coin "$(($(od -An -N1 -tu1 /dev/urandom) % 2))" 1'
admit unlisted 0 - "$work/unlisted/task.json" --repeats 20
tap_like "$(states "$work/out-unlisted/acme__add-1/admission.json")" flaky=noted "unlisted: noted"

make_task timeout 'sleep 2'
sed -i 's/"5m"/"6s"/' timeout/task.json
admit timeout 1 calibration "$work/timeout/task.json" --repeats 1

make_task always
sed -i 's/sh tests\/run.sh/true/; s/"tap"/"exit-code"/; s/\["big"\]/["exit-code"]/; s/\["small"\]/[]/' always/task.json
admit always 1 empty,hacks "$work/always/task.json" --repeats 2

# A source with later commits, a tag, a stash, a hook and a remote, in an archive: the workspace is clean.
make_task future
cd "$work/future/repo" || exit 1
git init -q . && git add -A && git commit -qm base
base=$(git rev-parse HEAD)
git apply ../reference.diff && git commit -qam fix && git tag v2
git remote add origin https://git.example.com/acme/add
git reset -q --hard "$base" && echo >>src/add.sh && git stash -q
printf '#!/bin/sh\n' >.git/hooks/post-checkout && chmod +x .git/hooks/post-checkout
cd "$work" && tar -cf future/repo.tar -C future/repo .
sed -i "s/\"source\": \"repo\"/\"source\": \"repo.tar\", \"base_commit\": \"$base\"/" future/task.json
chmod -R a+rX "$work/future"
admit future 0 - "$work/future/task.json" --repeats 1
tap_like "$(cat "$work/out-future/acme__add-1/admission.json")" "left behind: [1-9][0-9]* references, [1-9][0-9]* commits" "future: what was left behind is counted"

tap_is "$(run_field "$work/out-good/acme__add-1/admission.json" checks.6.state)" passed "network: nothing gets out"

timeout 20 "$PROCTOR" admit </dev/null >/dev/null 2>&1
tap_is $? 2 "no task: usage"
timeout 20 "$PROCTOR" admit "$work/good/task.json" --write </dev/null >/dev/null 2>&1
tap_is $? 2 "--write without --out: usage"
timeout 20 "$PROCTOR" admit "$work/good/task.json" --repeats 0 </dev/null >/dev/null 2>&1
tap_is $? 2 "no runs: usage"
timeout 20 "$PROCTOR" admit "$work/none.json" </dev/null >/dev/null 2>&1
tap_is $? 3 "a missing file"
mkdir -p "$work/place/acme__add-1" && cp -r "$work/good/." "$work/place/acme__add-1/"
timeout 60 "$PROCTOR" admit "$work/place/acme__add-1/task.json" --write --out "$work/place" </dev/null >/dev/null 2>&1
tap_is $? 2 "the task's own file is never replaced"
tap_like "$(head -n 1 "$work/place/acme__add-1/task.json")" "A comment" "it is as it was"

if [ -n "${ADMIT_TASKS-}" ]; then
	for task in "$ADMIT_TASKS"/*/task.json; do
		name=$(basename "$(dirname "$task")")
		timeout 1000 "$PROCTOR" admit "$task" --repeats 2 -q --out "$work/packages" </dev/null >"$work/$name.txt" 2>&1
		tap_is $? 0 "$name: admitted" || failed "$work/packages/$name/admission.json" | sed 's/^/#   /'
	done
fi
tap_done
