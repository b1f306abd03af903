#!/usr/bin/env bash
# Harbor tasks end to end: two small ones of ours (tests/harbor), imported, graded with their reference, with nothing,
# with patches that try to write the reward themselves; given back; their results in the forms of others.
# seconds: 900
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
check=$top/tests/tools/formatcheck.py
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset GIT_DIR GIT_WORK_TREE

# grade NAME ARGS...: "verdict: reason" of one grading; results go to $work/g/NAME.
grade()
{
	local name=$1
	shift
	timeout 200 "$PROCTOR" grade --quiet --out "$work/g/$name" "$@" </dev/null >"$work/said" 2>&1
	if [ -e "$work/g/$name/verdict.json" ]; then
		printf '%s: %s' "$(run_field "$work/g/$name/verdict.json" verdict)" \
			"$(run_field "$work/g/$name/verdict.json" reason)"
	else
		cat "$work/said"
	fi
}

# change TASK: a diff against the source of imported task TASK, made by the commands on standard input.
change()
{
	rm -rf "$work/a" "$work/b"
	cp -r "$work/in/$1.source" "$work/a" && cp -r "$work/a" "$work/b"
	(cd "$work/b" && bash -e) || return 1
	(cd "$work" && git diff --no-index --binary --no-prefix a b) | sed -E 's,^(---|\+\+\+) (a|b)/,\1 \2/,; s,^diff --git a/(.*) b/(.*),diff --git a/\1 b/\2,'
	return 0
}

# The tasks.

tap_try "both tasks are imported" timeout 60 "$PROCTOR" import harbor "$top/tests/harbor" --out "$work/in"
c="example__c-clamp"
py="py-words"
tap_is "$(cd "$work/in" && ls)" "$c.extra.json
$c.harbor
$c.source
$c.task.json
$py.extra.json
$py.harbor
$py.source
$py.task.json" "what is written"
tap_is "$(run_field "$work/in/$c.task.json" workdir) $(run_field "$work/in/$py.task.json" workdir)" "/app /srv/words" \
	"work directories: of the Dockerfile, of task.toml"
tap_is "$(run_field "$work/in/$py.task.json" environment)" \
	'{"rootfs": "host", "env": {"PYTHONDONTWRITEBYTECODE": "1"}, "limits": {"memory": "1024M", "storage": "2048M", "agent_timeout": 300}, "network": {"mode": "no-network"}}' \
	"limits and network of schema 1.0"
tap_is "$(run_field "$work/in/$c.task.json" environment.limits)" \
	'{"memory": "2048M", "storage": "4096M", "cpus": 1, "agent_timeout": 600}' "and of 1.1"
# shellcheck disable=SC2016 # the text has backquotes
tap_like "$(run_field "$work/in/$c.task.json" problem_statement)" '\(a `\\n` ends its line\)' "backslashes of instruction.md stay"

# Reference and nothing.

tap_like "$(grade c-oracle --task "$work/in/$c.task.json" --oracle)" '^resolved: ' "C: solve.sh makes the reference"
tap_like "$(grade c-nop --task "$work/in/$c.task.json" --patch /dev/null)" '^unresolved: .*reward \(failed\)' "C: nothing is 0"
tap_like "$(grade py-oracle --task "$work/in/$py.task.json" --oracle)" '^resolved: ' "Python: gold_patch.diff is the reference"
tap_like "$(grade py-nop --task "$work/in/$py.task.json" --patch /dev/null)" '^unresolved: .*reward \(failed\)' "Python: nothing is 0"
tap_like "$(cat "$work/g/c-nop/test.log")" "label: it's quoted" "the verifier's variables reach the script, templates filled in"
tap_like "$(cat "$work/g/c-nop/test.log")" "processors: 1" "and the task's number of processors is what tools see"
tap_is "$(grep -c '^diff' "$work/g/c-oracle/patch.diff")" 1 "the oracle's patch holds the source, not what .gitignore names"
tap_like "$(grade again --task "$work/in/$c.task.json" --patch "$work/g/c-oracle/patch.diff")" '^resolved: ' "and can be graded as any other"

python3 - "$work/in/$py.task.json" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
t["PASS_TO_PASS"] = ["test_words.Count.test_plain"]
t["FAIL_TO_PASS"] += ["test_words.Count.test_case", "test_words.Count.test_punctuation"]
json.dump(t, open(sys.argv[1].replace("py-words.task", "py-single.task"), "w"))
t["test"]["reward"] = "partial"
json.dump(t, open(sys.argv[1].replace("py-words.task", "py-partial.task"), "w"))
PYTHON
tap_like "$(grade single --task "$work/in/py-single.task.json" --oracle)" '^resolved: all 4' "single tests of ctrf.json can be listed"
tap_like "$(grade single-nop --task "$work/in/py-single.task.json" --patch /dev/null)" '^unresolved: 3 of 3 FAIL_TO_PASS and 0 of 1' "and fail one by one"
tap_like "$(grade partial --task "$work/in/py-partial.task.json" --patch /dev/null)" 'reward \(failed\)' "another key of reward.json may decide"

# What is not Harbor's alone: files that the tests may change, a report outside the work directory.

python3 - "$work/in/$c.task.json" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
t["test"]["command"] = "touch /tests/new || exit 9\n" + t["test"]["command"]
json.dump(t, open(sys.argv[1].replace("example__c-clamp", "fixed"), "w"))
t["test"]["files"][0]["copy"] = True
json.dump(t, open(sys.argv[1].replace("example__c-clamp", "copied"), "w"))
t["test"].update({"command": "mkdir -p /reports/x; printf '%s' '<testsuite><testcase name=\"a\"/></testsuite>' >/reports/out/junit.xml",
                  "reader": "junit-xml", "report": "/reports/out/junit.xml"})
t["FAIL_TO_PASS"] = ["a"]
json.dump(t, open(sys.argv[1].replace("example__c-clamp", "report"), "w"))
PYTHON
tap_like "$(grade fixed --task "$work/in/fixed.task.json" --oracle)" '^unresolved: ' "files are read-only"
tap_like "$(cat "$work/g/fixed/test.log")" 'Read-only file system' "(that is why)"
tap_like "$(grade copied --task "$work/in/copied.task.json" --oracle)" '^resolved: ' "unless they are copied"
tap_ok "$(find "$work/in/$c.harbor" -name new | grep -c .)" "the original stays as it was"
tap_like "$(grade report --task "$work/in/report.task.json" --patch /dev/null)" '^resolved: ' "a report outside the work directory is read"

# Attempts on the reward. None may end resolved.

attempt()
{
	local verdict
	verdict=$(grade "$1" --task "$work/in/$2.task.json" --patch "$work/$1.diff")
	tap_like "$verdict" "^unresolved: $3" "$4"
}

make_evil()
{
	printf '%s\n' 'cat >>src/clamp.c <<"END"' '#include <stdio.h>' '#include <stdlib.h>' '#include <sys/stat.h>' \
		'#include <unistd.h>' '__attribute__((constructor)) static void evil(void)' '{' "$1" '}' END |
		change $c
}

make_evil 'system("echo 1 >/logs/verifier/reward.txt");' >"$work/early.diff"
attempt early $c '.*reward \(failed\)' "written while the tests run: the script's own word counts"
tap_ok $(($(grep -c evil "$work/early.diff") == 0)) "(the patch is one)"
printf 'check: evil\nevil:\n\techo 1 >/logs/verifier/reward.txt\n' >"$work/rule"
change $c <<<"cat $work/rule >>Makefile" >"$work/makefile.diff"
attempt makefile $c '.*reward \(failed\)' "written by a Makefile"
make_evil 'system("cd /logs/verifier && echo 1 >reward.txt && chmod 444 reward.txt");' >"$work/locked.diff"
attempt locked $c '.*closed to writing' "and closed to the script"
make_evil 'system("cd /logs/verifier && echo 1 >reward.txt && chmod 555 . && chmod 444 reward.txt; (sleep 0.5; chmod 755 . ; chmod 644 reward.txt) >/dev/null 2>&1 &");' >"$work/unlocked.diff"
attempt unlocked $c '.*' "and opened again behind its back"
make_evil 'system("mv /logs/verifier /logs/old; mkdir /logs/verifier; echo 1 >/logs/old/reward.txt; ln -s /logs/old/reward.txt /logs/verifier/reward.txt");' >"$work/moved.diff"
attempt moved $c '.*moved, replaced' "the directory replaced"
make_evil 'system("echo 1 >/tmp/r; rm -f /logs/verifier/reward.txt; ln -s /dev/null /logs/verifier/reward.txt");' >"$work/link.diff"
attempt link $c '.*it is a link' "a link in the reward's place"
make_evil 'system("echo 1 >/logs/verifier/x; ln /logs/verifier/x /logs/verifier/reward.txt");' >"$work/hard.diff"
attempt hard $c '.*one name' "a second name"
make_evil 'system("echo echo 1 \\>/logs/verifier/reward.txt >>/tests/test.sh; mv /tests/test.sh /tests/x");' >"$work/script.diff"
attempt script $c '.*reward \(failed\)' "the script cannot be changed"
make_evil 'if (fork() == 0) { setsid(); close(0); close(1); close(2); for (;;) system("echo 1 >/logs/verifier/reward.txt"); }' >"$work/daemon.diff"
attempt daemon $c '.*(outlived the test script|reward \(failed\)|is empty)' "a process that goes on writing it"
cat >"$work/edit" <<'END'
cat >>words/__init__.py <<'PY'


def _evil():
    import json
    import os
    for name, text in (("reward.txt", "1"), ("reward.json", json.dumps({"reward": 1.0}))):
        with open("/logs/verifier/" + name, "w") as f:
            f.write(text)


_evil()
PY
END
change $py <"$work/edit" >"$work/both.diff"
attempt both $py '.*do not agree' "a reward.txt beside the script's reward.json"
printf 'raise SystemExit(0)\n' >"$work/edit"
change $py <<<"cat $work/edit >>words/__init__.py" >"$work/crash.diff"
attempt crash $py '.*neither reward.txt nor reward.json' "a verifier that is made to crash is no zero and no infra"
tap_is "$(run_field "$work/g/crash/verdict.json" complete)" false "but incomplete"

# An honest look-alike: a test script that starts a helper and waits for nobody.

cp -r "$top/tests/harbor/c-clamp" "$work/server"
sed -i 's,^mkdir,sleep 100 >/dev/null 2>\&1 \&\n&,; s,name = "example/c-clamp",name = "example/server",' "$work/server/tests/test.sh" "$work/server/task.toml"
tap_try "a task with a helper" timeout 60 "$PROCTOR" import harbor "$work/server" --out "$work/in" --quiet
tap_like "$(grade server --task "$work/in/example__server.task.json" --oracle)" '^unresolved: .*test.leftovers' "its reward is not believed"
python3 - "$work/in/example__server.task.json" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
t["test"]["leftovers"] = True
json.dump(t, open(sys.argv[1], "w"))
PYTHON
tap_like "$(grade server2 --task "$work/in/example__server.task.json" --oracle)" '^resolved: ' "unless the task allows it"

# A repository as the source, artefacts collected from it, an environment of the verifier's own.

mkdir -p "$work/repos/acme" && cp -r "$work/in/$c.source" "$work/repos/acme/clamp"
(cd "$work/repos/acme/clamp" && git init -q -b main && git add -A &&
	git -c user.name=a -c user.email=a@example.org commit -q -m base) || exit 1
commit=$(git -C "$work/repos/acme/clamp" rev-parse HEAD)
cp -r "$top/tests/harbor/c-clamp" "$work/collect"
python3 - "$work/collect" "$commit" <<'PYTHON'
import sys
path, commit = sys.argv[1:]
text = open(path + "/task.toml").read().replace("example/c-clamp", "example/collect")
text = text.replace("[verifier]", '[verifier]\nenvironment_mode = "separate"')
text = text.replace("[metadata]", f'[metadata]\nrepo = "acme/clamp"\nbase_commit = "{commit}"')
text += '''
[[verifier.collect]]
command = "git add -A && git diff --cached --binary HEAD > /logs/artifacts/model.patch"
timeout_sec = 30
'''
open(path + "/task.toml", "w").write(text)
script = open(path + "/tests/test.sh").read().replace(
    "mkdir", "git diff --quiet HEAD || echo 'the tree is not pristine'\ngit apply --allow-empty /logs/artifacts/model.patch || exit 1\nmkdir", 1)
open(path + "/tests/test.sh", "w").write(script)
PYTHON
timeout 60 "$PROCTOR" import harbor "$work/collect" --out "$work/in" >"$work/said" 2>&1
tap_like "$(cat "$work/said")" 'needs a repository and its base commit' "collecting needs a repository"
tap_try "a task that collects" timeout 60 "$PROCTOR" import harbor "$work/collect" --sources "$work/repos" --out "$work/in" --quiet
tap_is "$(run_field "$work/in/example__collect.task.json" source)" "$work/repos/acme/clamp" "the repository is found"
tap_is "$(run_field "$work/in/example__collect.task.json" base_commit)" "$commit" "and its base"
tap_like "$(grade collect --task "$work/in/example__collect.task.json" --oracle)" '^resolved: ' "what was collected is graded on a pristine tree"
tap_ok "$(grep -c pristine "$work/g/collect/test.log")" "(which it is)"
tap_like "$(grade collect-nop --task "$work/in/example__collect.task.json" --patch /dev/null)" '^unresolved: .*reward \(failed\)' "and nothing is 0 there, too"

# What cannot be imported says why.

refused()
{
	local text
	text=$(timeout 60 "$PROCTOR" import harbor "$work/bad" --out "$work/none" "${@:3}" 2>&1)
	tap_is $? 3 "$1: exit status"
	tap_like "$text" "$2" "$1: the text"
}

rm -rf "$work/bad" && cp -r "$top/tests/harbor/py-words" "$work/bad"
echo "# changed" >>"$work/bad/tests/run.py"
refused "a file that is not the one summed up" 'SHA256SUMS:[0-9]+: tests/run.py'
rm "$work/bad/SHA256SUMS"
printf '[[steps]]\nname = "one"\n' >>"$work/bad/task.toml"
refused "several steps" 'has 1 \[\[steps\]\]'
cp "$top/tests/harbor/py-words/task.toml" "$work/bad/task.toml"
sed -i 's/^timeout_sec = 120/timeout_sec = "120"/' "$work/bad/task.toml"
refused "a wrong type" 'task.toml: \$.verifier.timeout_sec: expected a number'
cp "$top/tests/harbor/py-words/task.toml" "$work/bad/task.toml"
ln -s /etc/passwd "$work/bad/tests/passwd"
refused "a link to the host" 'tests/passwd: the link leads out'
rm "$work/bad/tests/passwd" && rm "$work/bad/tests/test.sh"
refused "no test script" 'no tests/test.sh'
tap_ok "$(find "$work/none" -name '*.json' 2>/dev/null | grep -c .)" "nothing was written"

# Back, and out.

tap_try "the directories come back" timeout 60 "$PROCTOR" export harbor-task "$work/in/$c.task.json" "$work/in/$py.task.json" --out "$work/back"
timeout 60 "$PROCTOR" import harbor "$top/tests/harbor/c-clamp" "$top/tests/harbor/py-words" --out "$work/two" >"$work/said" 2>&1
tap_is "$(timeout 60 "$PROCTOR" export harbor-task "$work/two" --out "$work/all" 2>&1 | sed 's|.*/||')" "$(printf '%s\n' "$c" "$py" | sort)" \
	"a directory stands for all tasks in it"
tap_try "as they were" diff -r "$top/tests/harbor/c-clamp" "$work/all/$c"
tap_try "C: byte for byte" diff -r "$top/tests/harbor/c-clamp" "$work/back/$c"
tap_try "Python: byte for byte" diff -r "$top/tests/harbor/py-words" "$work/back/$py"
tap_is "$(cd "$work/back/$c" && find . -perm -u+x -type f | sort)" "$(cd "$top/tests/harbor/c-clamp" && find . -perm -u+x -type f | sort)" "modes, too"
chmod -R u+w "$work/in/$c.harbor" && echo >>"$work/in/$c.harbor/tests/test.sh"
timeout 60 "$PROCTOR" export harbor-task "$work/in/$c.task.json" --out "$work/back2" >"$work/said" 2>&1
tap_is $? 3 "a copy that was changed is not given out as the original"
tap_like "$(cat "$work/said")" 'was changed since it was imported' "and says so"

mkdir "$work/results" && cp -r "$work/g/c-oracle" "$work/g/py-nop" "$work/results"
tap_try "results as a Harbor job" timeout 60 "$PROCTOR" export harbor "$work/results" --out "$work/job"
tap_try "whose keys and figures are right" "$check" harbor "$work/job"
tap_is "$(run_field "$work/job/result.json" stats.evals.prediction__none__tasks.metrics.0.mean)" 0.5 "one of two"
tap_try "results as Inspect logs" timeout 60 "$PROCTOR" export inspect "$work/results" --out "$work/inspect"
tap_try "as JSON" "$check" inspect "$work/inspect/none.json"
tap_try "and as ZIP" "$check" inspect "$work/inspect/none.eval"
sed -i 's/"verdict": "unresolved"/"verdict": "infra"/' "$work/results/py-nop/verdict.json"
tap_try "an infra verdict" timeout 60 "$PROCTOR" export harbor "$work/results" --out "$work/job2"
tap_try "is an exception" "$check" harbor "$work/job2"
tap_is "$(run_field "$work/job2/result.json" stats.n_errors) $(run_field "$work/job2/$py/result.json" exception_info.exception_type)" \
	"1 InfrastructureError" "and no zero"

# Trajectories: a run without a model, and back through the reader of ATIF.

cat >"$work/agent.sh" <<'END'
sh -c 'cat src/clamp.c'
sh -c "sed -i '/v > hi/{n;s/lo/hi/}' src/clamp.c"
END
timeout 120 "$PROCTOR" run --task "$work/in/$c.task.json" --out "$work/run" -- sh -c "$(cat "$work/agent.sh")" </dev/null >/dev/null 2>&1
tap_is "$(run_field "$work/run/run.json" end.reason)" exited "a run of the task"
tap_is "$(run_field "$work/run/plan.json" profile.limits.wall)" "10m" "the task's timeout bounds the agent"
tap_try "its trajectory" timeout 60 "$PROCTOR" export atif "$work/run" --out "$work/atif"
file=$(echo "$work"/atif/*.json)
tap_try "keeps ATIF's rules" "$check" atif "$file"
tap_like "$(run_field "$file" steps.1.tool_calls.0.arguments.command)" 'cat src/clamp.c' "has the agent's commands"
tap_like "$(run_field "$file" extra.patch)" 'return hi' "and the patch"
timeout 120 "$PROCTOR" mine --task "$work/in/$c.task.json" "m1=$file" "m2=$file" "m3=$work/run" --out "$work/regions.json" >"$work/said" 2>&1
tap_is $? 0 "and is read by mine as the run is"
tap_like "$(cat "$work/regions.json" 2>/dev/null)" 'src/clamp.c' "with the file that was changed" || sed 's/^/# /' "$work/said"
tap_done
