# shellcheck shell=bash
# For tests/readers/RUNNER/make.sh: source this first. A make.sh runs the real runner on a copy of its
# project/ at /workspace, in a mount namespace of its own, and leaves logs free of this machine's paths
# and names.
# usage: make.sh OUTDIR
#   CASE.log     what the runner printed on stdout and stderr
#   CASE.exit    its exit status, 128 + signal when it was killed
#   CASE.report  its report file, where the case has one
# Exit status 77 and a line of why on stderr when the runner is not here.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
runner=$(basename "$here")
[ $# -eq 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
mkdir -p "$1" || exit 1
out=$(cd "$1" && pwd)
binds=()

readers_skip() { echo "$runner: $*" >&2; exit 77; }

# readers_need COMMAND...: skip the whole runner when one of them is missing.
readers_need()
{
	local command
	for command in unshare "$@"; do
		command -v "$command" >/dev/null || readers_skip "$command is not installed"
	done
}

# readers_bind SOURCE NAME: SOURCE is seen as /NAME (one component that no machine has) by the runner.
readers_bind() { binds+=("$1" "$2"); }

# readers_log CASE COMMAND [REPORT]: run COMMAND with sh -c in a fresh copy of project/ at /workspace,
# at most 100 s. REPORT is a file or a glob below /workspace that becomes CASE.report; several files
# are joined in sorted order.
readers_log()
{
	local root copy status
	root=$(mktemp -d /tmp/readers-XXXXXX) || exit 1
	copy=$root/copy
	mkdir "$root/new" || exit 1
	cp -R "$here/project" "$copy" || exit 1
	local flags=(-m -u)
	[ "$(id -u)" -eq 0 ] || flags+=(-U -r)
	unshare "${flags[@]}" bash "$here/../box.sh" "$root/new" "$copy" "$2" ${binds[@]+"${binds[@]}"} \
		</dev/null >"$out/$1.log" 2>&1
	status=$?
	echo $status >"$out/$1.exit"
	if [ $# -gt 2 ]; then
		(
			cd "$copy" || exit 1
			# shellcheck disable=SC2086 # a glob on purpose
			LC_ALL=C cat -- $3 >"$out/$1.report"
		) || { echo "$runner: $1 left no report $3" >&2; rm -rf "$root"; exit 1; }
	fi
	rm -rf "$root"
}
