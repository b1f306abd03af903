#!/usr/bin/env bash
# The same results with control groups and without, at every trace level, for host and dir: root file
# systems, and for every form that a task's source can have.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
example=$top/examples/calc
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset GIT_DIR GIT_WORK_TREE

# outcome OUT: what must not depend on how the run was made.
outcome()
{
	printf '%s %s %s %s' "$(run_field "$1/run.json" end.reason)" "$(run_field "$1/run.json" end.status)" \
		"$(run_field "$1/run.json" interventions.fired)" "$(run_field "$1/run.json" patch.sha256)"
}

# go NAME OPTIONS...: one Counter-Edit run of the careless agent.
go()
{
	local out=$work/out-$1
	shift
	proctor run -q --no-tty --task "${task:-$example/task.json}" --agent "$example/agents/careless.json" \
		--scenario "$example/counter-edit.json" --out "$out" "$@" </dev/null >/dev/null 2>"$work/err.txt" ||
		sed 's/^/# /' "$work/err.txt"
	outcome "$out"
}

want=$(go plain)
tap_like "$want" "^exited 0 [1-9]" "the example fires"
tap_is "$(go nocg --no-cgroup)" "$want" "without control groups"
tap_is "$(go full --trace full)" "$want" "at trace level full"
tap_is "$(go again)" "$want" "the same again"
# "off" cannot see regions and must say so rather than see nothing.
proctor run -q --task "$example/task.json" --agent "$example/agents/careless.json" --scenario "$example/counter-edit.json" --trace off --out off >/dev/null 2>err.txt </dev/null
status=$?
tap_ok "$([ $status -ne 0 ] || [ "$(run_field off/run.json interventions.fired)" != 0 ]; echo $?)" "trace level off with regions is refused or raised"

# A run names its task so that it can be graded from anywhere.
(cd "$example" && proctor run -q --no-tty --task task.json --agent agents/careful.json --out "$work/rel" </dev/null >/dev/null 2>&1)
tap_like "$(cd / && proctor grade --run "$work/rel" 2>&1)" ": resolved " "a run with relative names is graded from elsewhere"

# The forms of a source: plain directory, git repository, bundle, tar archive.
sources=$work/sources
mkdir -p "$sources"
cp -r "$example/repo" "$sources/git"
(cd "$sources/git" && git init -q -b trunk . && git add -A && GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' \
	git -c user.name=t -c user.email=t@localhost commit -qm base && echo secret >later && git add -A &&
	git -c user.name=t -c user.email=t@localhost commit -qm fix && git tag v2 && git stash -q 2>/dev/null; git checkout -q HEAD~1 2>/dev/null; git branch -f trunk v2; git checkout -q trunk)
base=$(git -C "$sources/git" rev-parse HEAD~1)
git -C "$sources/git" bundle create -q "$sources/all.bundle" --all 2>/dev/null
tar -C "$example" -czf "$sources/repo.tgz" repo
tar -C "$sources/git" -cf "$sources/git.tar" .
for form in git all.bundle git.tar; do
	/usr/bin/python3 - "$example/task.json" "$sources/$form" "$base" >"$work/task-$form.json" <<'J'
import json, re, sys, os
text = re.sub(r"^\s*//.*", "", open(sys.argv[1]).read(), flags=re.M)
v = json.loads(text)
here = os.path.dirname(os.path.abspath(sys.argv[1]))
v["source"], v["base_commit"] = sys.argv[2], sys.argv[3]
for k in ("patch", "test_patch"):
    v[k] = open(os.path.join(here, v[k])).read()
json.dump(v, sys.stdout)
J
	task=$work/task-$form.json
	tap_is "$(task=$task go "src-$form")" "$want" "source: $form"
	tap_is "$(run_field "out-src-$form/run.json" history.head)" "$base" "$form: HEAD is the base commit"
	tap_is "$(run_field "out-src-$form/run.json" history.commits)" 1 "$form: one commit is reachable"
	proctor run -q --no-tty --task "$task" --out "out-hist-$form" -- sh -c \
		'git log --all --oneline | wc -l; git tag; git stash list; git remote; git rev-parse v2; git fsck --unreachable --no-reflogs; git cat-file --batch-all-objects --batch-check | grep -c commit; ls .git/hooks; cat later' \
		</dev/null >hist.txt 2>hist.err
	tap_is "$(tr -s ' \n' ' ' <hist.txt)" "1 v2 1 " "$form: history ends at the base commit" || sed 's/^/# /' hist.err
done
tap_done
