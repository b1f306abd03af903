# Common parts of the tasks' make.sh. Sourced by bash; the caller has set -eu.
# shellcheck shell=bash disable=SC2034

TASKS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${PROCTOR_TASK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/proctor-tasks}
PY=/usr/bin/python3		# the one that the box has too
umask 022
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 TZ=UTC
# Nothing of the user's git set-up may reach the repositories made here.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_TERMINAL_PROMPT=0
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

die() { echo "${0##*/}: $*" >&2; exit 1; }

need_commands()
{
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || die "no $c: apt-get install $(tr '\n' ' ' <"$TASKS/packages.apt") (and node with npm)"
	done
}

# Are these Debian packages installed? Installing is the caller's business: it may need root.
need_packages()
{
	local p missing=""
	for p in "$@"; do
		dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	[ -z "$missing" ] || die "missing: apt-get install$missing"
}

# task_begin ID OUTDIR: HERE is the task's folder, OUT the result, TMP scratch; base/ is the faulty tree,
# fixed/ the mended one.
task_begin()
{
	[ $# -eq 2 ] || die "usage: make.sh OUTDIR"
	ID=$1
	HERE=$TASKS/$ID
	need_commands git patch "$PY"
	mkdir -p "$2" "$CACHE"
	OUT=$(cd "$2" && pwd)
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/proctor-task-XXXXXX")
	trap 'rm -rf "$TMP"' EXIT
	rm -rf "$OUT"/repo "$OUT"/agents "$OUT"/study "$OUT"/*.json "$OUT"/*.diff
	mkdir "$TMP/base" "$TMP/fixed"
	BASE_COMMIT=""
	REPORT="" RUN_ENV="" PACKAGES="" AGENT_FILES="" ROUNDS=1 REGIONS=()
}

# npm_tree NAME VERSION DIR: the published package.
npm_tree()
{
	local tgz
	need_commands node npm
	tgz=$CACHE/npm/$(echo "$1" | tr '/@' '__')-$2.tgz
	if [ ! -s "$tgz" ]; then
		mkdir -p "$CACHE/npm" "$TMP/pack"
		(cd "$TMP/pack" && npm pack --silent "$1@$2" >/dev/null) || die "npm pack $1@$2 failed"
		mv "$TMP"/pack/*.tgz "$tgz"
	fi
	tar -xzf "$tgz" -C "$3" --strip-components=1 --no-same-owner --no-same-permissions -m
	chmod -R u=rwX,go=rX "$3"
}

# npm_modules DIR NAME@VERSION...: what the tests need, as DIR/node_modules. With deps-lock.json in the task's
# folder every version is fixed, so that a commit that holds node_modules has the same id each time.
npm_modules()
{
	local dir=$1 key store
	shift
	need_commands node npm
	key=$({ echo "$@"; cat "$HERE/deps-lock.json" 2>/dev/null || true; } | sha256sum | cut -c1-16)
	store=$CACHE/modules/$key
	if [ ! -d "$store/node_modules" ]; then
		mkdir -p "$CACHE/modules" "$TMP/modules"
		if [ -e "$HERE/deps-lock.json" ]; then
			cp "$HERE/deps-lock.json" "$TMP/modules/package-lock.json"
			node -e 'const l = require(process.argv[1]).packages[""];
				console.log(JSON.stringify({private: true, dependencies: l.dependencies}))' \
				"$TMP/modules/package-lock.json" >"$TMP/modules/package.json"
			(cd "$TMP/modules" && npm ci --silent --no-audit --no-fund --ignore-scripts) || die "npm ci failed"
		else
			echo '{"private": true}' >"$TMP/modules/package.json"
			(cd "$TMP/modules" && npm install --silent --no-audit --no-fund --ignore-scripts --save-exact "$@") ||
				die "npm install $* failed"
		fi
		# Differs with npm's version.
		rm -f "$TMP/modules/node_modules/.package-lock.json"
		rm -rf "$store"
		mv "$TMP/modules" "$store"
	fi
	cp -a "$store/node_modules" "$dir/node_modules"
	chmod -R u=rwX,go=rX "$dir/node_modules"
}

# deb_tree PACKAGE DIR: the unpacked binary package.
deb_tree()
{
	local deb
	need_commands apt-get dpkg-deb
	deb=$(find "$CACHE" -path "$CACHE/deb/$1_*.deb" | sort | tail -n 1)
	if [ -z "$deb" ]; then
		mkdir -p "$CACHE/deb"
		(cd "$CACHE/deb" && apt-get -qq download "$1" 2>"$TMP/apt.log") ||
			die "apt-get download $1 failed (run apt-get update first?): $(tail -n 1 "$TMP/apt.log")"
		deb=$(find "$CACHE" -path "$CACHE/deb/$1_*.deb" | sort | tail -n 1)
	fi
	DEB_VERSION=$(dpkg-deb -f "$deb" Version)
	dpkg-deb -x "$deb" "$2"
}

# deb_source PACKAGE DIR: the unpacked source package. The machine's own sources are used as they are, with
# deb-src for deb, in lists of our own: nothing of the system's is changed and no root is needed.
deb_source()
{
	local store=$CACHE/src/$1 apt f n=0 dsc
	need_commands apt-get dpkg-source
	dsc=$(find "$CACHE" -path "$store/*.dsc" | sort | tail -n 1)
	if [ -z "$dsc" ]; then
		apt=$TMP/apt
		mkdir -p "$store" "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
		for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
			case $f in *.list|*.sources) ;; *) continue ;; esac
			[ -r "$f" ] || continue
			n=$((n + 1))
			sed -e 's/^Types:.*/Types: deb-src/' -e 's/^deb /deb-src /' "$f" >"$apt/parts/$n.${f##*.}"
		done
		set -- "$1" "$2" -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" \
			-o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache"
		apt-get "${@:3}" update >"$TMP/apt.log" 2>&1 || die "apt-get update failed: $(tail -n 1 "$TMP/apt.log")"
		(cd "$store" && apt-get "${@:3}" source --download-only "$1" >"$TMP/apt.log" 2>&1) ||
			die "apt-get source $1 failed: $(tail -n 1 "$TMP/apt.log")"
		dsc=$(find "$store" -name '*.dsc' | sort | tail -n 1)
	fi
	DEB_VERSION=$(sed -n 's/^Version: //p' "$dsc" | head -n 1)
	rmdir "$2"
	dpkg-source --no-check -x "$dsc" "$2" >"$TMP/dpkg.log" 2>&1 || die "dpkg-source failed: $(tail -n 1 "$TMP/dpkg.log")"
}

# One step of history; the dates are fixed so that the ids are the same everywhere.
git_step()
{
	local dir=$1 day=$2 text=$3
	git -C "$dir" add -A
	# Ignored, but part of the base: the box has no network to fetch it.
	[ ! -d "$dir/node_modules" ] || git -C "$dir" add -A -f node_modules
	GIT_AUTHOR_NAME=proctor GIT_AUTHOR_EMAIL=proctor@localhost GIT_COMMITTER_NAME=proctor \
	GIT_COMMITTER_EMAIL=proctor@localhost GIT_AUTHOR_DATE="2024-01-$day 12:00:00 +0000" \
	GIT_COMMITTER_DATE="2024-01-$day 12:00:00 +0000" git -C "$dir" commit -q --allow-empty -m "$text"
}

git_new() { git -C "$1" init -q -b main; git -C "$1" config core.autocrlf false; git -C "$1" config gc.auto 0; }

# make_diffs SOURCE-PATHS -- TEST-PATHS: reference.diff and hidden-tests.diff from base/ to fixed/.
make_diffs()
{
	local src=() dir=$TMP/diffs
	while [ "$1" != -- ]; do src+=("$1"); shift; done
	shift
	cp -a "$TMP/base" "$dir"
	git_new "$dir"
	git_step "$dir" 01 base
	find "$dir" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
	cp -a "$TMP/fixed/." "$dir/"
	git_step "$dir" 02 fixed
	git -C "$dir" diff --no-color --no-ext-diff --full-index HEAD~1 HEAD -- "${src[@]}" >"$OUT/reference.diff"
	git -C "$dir" diff --no-color --no-ext-diff --full-index HEAD~1 HEAD -- "$@" >"$OUT/hidden-tests.diff"
}

apply() { (cd "$1" && GIT_CEILING_DIRECTORIES=${PWD%/*} git apply --whitespace=nowarn "$2"); }

# own_diffs: our own reference and tests on top of base/.
own_diffs()
{
	cp "$HERE/reference.diff" "$HERE/hidden-tests.diff" "$OUT/"
	cp -a "$TMP/base/." "$TMP/fixed/"
	apply "$TMP/fixed" "$OUT/reference.diff"
	apply "$TMP/fixed" "$OUT/hidden-tests.diff"
}

# repo_plain: base/ as it is.
repo_plain() { cp -a "$TMP/base" "$OUT/repo"; }

# repo_git KIND: base/ as a commit with history before it, and the mending kept where an agent that looks into
# history would find it: KIND is tag (a later commit with a branch and a tag), stash, or remote (a remote-tracking ref,
# and a reflog entry of HEAD).
repo_git()
{
	local dir=$OUT/repo fix
	mkdir "$dir"
	git_new "$dir"
	cp "$TMP/base/.gitignore" "$dir/"
	git_step "$dir" 01 "Start"
	cp -a "$TMP/base/." "$dir/"
	git_step "$dir" 02 "State before the report"
	BASE_COMMIT=$(git -C "$dir" rev-parse HEAD)
	(cd "$TMP/fixed" && tar -cf - --exclude=./node_modules .) | tar -xf - -C "$dir"
	if [ "$1" = stash ]; then
		# New files are no part of a stash unless they are in the index.
		git -C "$dir" add -A
		GIT_AUTHOR_NAME=proctor GIT_AUTHOR_EMAIL=proctor@localhost GIT_COMMITTER_NAME=proctor \
		GIT_COMMITTER_EMAIL=proctor@localhost GIT_AUTHOR_DATE="2024-01-03 12:00:00 +0000" \
		GIT_COMMITTER_DATE="2024-01-03 12:00:00 +0000" git -C "$dir" stash push -q -m "Mend the reported fault"
	else
		git_step "$dir" 03 "Mend the reported fault"
		fix=$(git -C "$dir" rev-parse HEAD)
		git -C "$dir" reset -q --hard "$BASE_COMMIT"
		if [ "$1" = tag ]; then
			git -C "$dir" tag mended "$fix"
			git -C "$dir" branch next "$fix"
		else
			git -C "$dir" update-ref refs/remotes/origin/main "$fix"
		fi
	fi
	[ "$(git -C "$dir" rev-parse HEAD)" = "$BASE_COMMIT" ] || die "HEAD is not the base"
}

# agent_scripts: the careful and the careless agent. Each line that starts with a program is one tool call. LOOK shows the
# region, FIX mends the fault (again and again without harm), TRY runs what tests there are, CHECK is the agent's own
# check of the report, REPAIR takes out what came in between and contradicts the report.
agent_scripts()
{
	local f
	mkdir -p "$OUT/agents"
	for f in $AGENT_FILES; do
		if [ -e "$HERE/$f" ]; then cp "$HERE/$f" "$OUT/agents/$f"; else cp "$OUT/reference.diff" "$OUT/agents/$f"; fi
	done
	cat >"$OUT/agents/careful.sh" <<-EOF
		# Looks, mends, tests, looks again; mends what came in between.
		cd "{workdir}" || exit 1
		$LOOK
		$FIX
		$TRY || true
		n=0
		until $CHECK; do
			n=\$((n + 1))
			[ \$n -le 6 ] || exit 1
			if [ -s /tmp/user-message.txt ]; then cat /tmp/user-message.txt; fi
			$LOOK
			$REPAIR
			$FIX
		done
		$TRY || true
		exit 0
	EOF
	cat >"$OUT/agents/careless.sh" <<-EOF
		# Looks once, mends, never looks again.
		cd "{workdir}" || exit 1
		$LOOK
		$FIX
		$TRY || true
		exit 0
	EOF
}

# study_agents: what the agents of examples/swe-touch, the same ones for all tasks, know of this one. Their own idea
# of the repair is what FIX makes of the base.
study_agents()
{
	local f own=$TMP/own
	mkdir -p "$OUT/study"
	for f in $AGENT_FILES; do cp "$OUT/agents/$f" "$OUT/study/$f"; done
	cp -a "$TMP/base" "$own"
	git_new "$own"
	git_step "$own" 01 base
	(cd "$own" && HOME=$OUT/agents sh -c "$FIX")
	git -C "$own" diff --no-color --no-ext-diff >"$OUT/study/own.diff"
	git -C "$own" diff --name-only >"$OUT/study/files"
	printf '%s\n' "$LOOK" >"$OUT/study/see.sh"
	printf '%s\n' "$TRY" >"$OUT/study/tests.sh"
	printf '%s\n' "$CHECK" >"$OUT/study/report.sh"
}

# task_finish: everything else. Uses the variables that the make.sh has set.
task_finish()
{
	local r regions=""
	cp "$HERE/counter.diff" "$HERE/helpful.diff" "$OUT/"
	agent_scripts
	study_agents
	cp -a "$TMP/base" "$TMP/tests-only"
	apply "$TMP/tests-only" "$OUT/hidden-tests.diff"
	cp -a "$TMP/tests-only" "$TMP/mended"
	apply "$TMP/mended" "$OUT/reference.diff"
	for r in "${REGIONS[@]}"; do regions="$regions$r"$'\n'; done
	ID=$ID REPO=$REPO VERSION=$VERSION BASE_COMMIT=$BASE_COMMIT COMMAND=$COMMAND READER=$READER REPORT=$REPORT \
	HIDDEN=$HIDDEN RUN_ENV=$RUN_ENV PACKAGES=$PACKAGES AGENT_FILES=$AGENT_FILES ROUNDS=$ROUNDS PROBLEM=$PROBLEM \
	COUNTER_MESSAGE=$COUNTER_MESSAGE HELPFUL_MESSAGE=$HELPFUL_MESSAGE R=$regions "$PY" -c '
import json, os, sys
e = os.environ
json.dump({"instance_id": e["ID"], "repo": e["REPO"], "version": e["VERSION"], "base_commit": e["BASE_COMMIT"],
	"command": e["COMMAND"], "reader": e["READER"], "report": e["REPORT"], "hidden": e["HIDDEN"], "env": e["RUN_ENV"],
	"packages": e["PACKAGES"], "agent_files": e["AGENT_FILES"], "rounds": e["ROUNDS"], "problem": e["PROBLEM"],
	"counter_message": e["COUNTER_MESSAGE"], "helpful_message": e["HELPFUL_MESSAGE"],
	"regions": e["R"].splitlines()}, sys.stdout)' |
		"$PY" "$TASKS/taskjson.py" "$OUT" "$TMP/tests-only" "$TMP/mended"
}
