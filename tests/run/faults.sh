#!/usr/bin/env bash
# Agents that misbehave and a supervisor that is killed: right end reason, readable files, the patch
# kept, and within a second nothing left: no process, mount, cgroup, temporary directory.
# shellcheck source=tests/run/lib/run.sh
. "$(dirname "$0")/lib/run.sh"
export PROCTOR_SCRATCH=$work/scratch
mkdir -p "$PROCTOR_SCRATCH" repo
echo old >repo/file.txt

# leftovers: names what a run left behind, nothing when it is clean. MARK is in every command line.
mark=faultmark$$
leftovers()
{
	ls "$PROCTOR_SCRATCH"
	pgrep -u "$(id -u)" -f "$mark" | grep -vx "$$" | while read -r pid; do tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null; done
	grep "$PROCTOR_SCRATCH" /proc/self/mountinfo
	find /sys/fs/cgroup -maxdepth 6 -type d -name "proctor-$1-*" 2>/dev/null
}

# clean NAME PID: nothing is left, now or within a second.
clean()
{
	local left=''
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		left=$(leftovers "$2")
		[ -z "$left" ] && break
		sleep 0.1
	done
	tap_is "$left" "" "$1: nothing is left"
}

# limit NAME REASON SET... -- COMMAND...
limit()
{
	local name=$1 reason=$2 out pid
	local -a set=()
	shift 2
	while [ "$1" != -- ]; do set+=(--set "$1"); shift; done
	shift
	out=$work/out-${name// /-}
	(cd repo && exec "$PROCTOR" run -q --no-tty --out "$out" "${set[@]}" -- "$@" "$mark" </dev/null >/dev/null 2>"$work/err.txt") &
	pid=$!
	wait "$pid"
	tap_is "$(run_field "$out/run.json" end.reason)" "$reason" "$name" || sed 's/^/# /' "$work/err.txt"
	tap_is "$(run_field "$out/run.json" state)" "done" "$name: run.json is finished"
	tap_ok "$(grep -qs '^+touched' "$out/patch.diff"; echo $?)" "$name: the patch is kept"
	clean "$name" "$pid"
}

touched='echo touched >file.txt;'
limit "wall time" limit:wall limits.wall=1s grace=1s -- sh -c "$touched sleep 60"
limit "ignores SIGTERM" limit:wall limits.wall=1s grace=500ms -- sh -c "trap '' TERM; $touched while :; do sleep 0.1; done"
limit "CPU time" limit:cpu limits.cpu=1s grace=1s -- sh -c "$touched while :; do :; done"
limit "fork bomb" limit:processes limits.processes=64 -- sh -c "$touched b() { b | b & b; }; b"
limit "memory" limit:memory limits.memory=64M -- sh -c "$touched exec /usr/bin/python3 -c 'x=bytearray(512<<20); import time; time.sleep(30)'"
limit "disk" limit:disk limits.disk=32M limits.wall=60s -- sh -c "$touched i=0; while :; do head -c 8000000 /dev/zero >big.\$i; i=\$((i+1)); [ \$i -lt 40 ] || sleep 1; done"
limit "output flood" limit:output limits.output=1M grace=500ms -- sh -c "$touched exec yes"
limit "children left behind" exited -- sh -c "$touched setsid sleep 60 & exit 0"

# A signal of the user's.
for sig in INT TERM; do
	out=$work/out-$sig
	(cd repo && exec "$PROCTOR" run -q --no-tty --out "$out" --set grace=1s -- sh -c "$touched sleep 60" "$mark" </dev/null >/dev/null 2>&1) &
	pid=$!
	until grep -q '"argv":\["sleep"' "$out/trace.jsonl" 2>/dev/null; do sleep 0.05; done
	kill -$sig "$pid"
	wait "$pid"
	tap_is "$(run_field "$out/run.json" end.reason)" interrupted "SIG$sig ends the run"
	tap_ok "$(grep -qs '^+touched' "$out/patch.diff"; echo $?)" "SIG$sig: the patch is kept"
	clean "SIG$sig" "$pid"
done

# The supervisor itself is killed.
out=$work/out-kill9
(cd repo && exec "$PROCTOR" run -q --no-tty --out "$out" -- sh -c "$touched sleep 60" "$mark" </dev/null >/dev/null 2>&1) &
pid=$!
until grep -q '"argv":\["sleep"' "$out/trace.jsonl" 2>/dev/null; do sleep 0.05; done
kill -9 "$pid"
wait "$pid" 2>/dev/null
clean "kill -9 of the supervisor" "$pid"
tap_is "$(run_field "$out/run.json" state)" "done" "kill -9: run.json is finished"
tap_is "$(run_field "$out/run.json" end.reason)" error "kill -9: and says so"
tap_ok "$(grep -qs '^+touched' "$out/patch.diff"; echo $?)" "kill -9: the patch is kept"
tap_try "kill -9: the trace can be read" proctor trace "$out"

# The run directory's disk is full.
if [ "$(id -u)" -eq 0 ] && mkdir -p "$work/small" && mount -t tmpfs -o size=256k tmpfs "$work/small" 2>/dev/null; then
	(cd repo && proctor run -q --no-tty --out "$work/small/out" -- sh -c "$touched i=0; while [ \$i -lt 4000 ]; do cat file.txt >/dev/null; i=\$((i+1)); done" "$mark" </dev/null >/dev/null 2>"$work/err.txt")
	tap_is $? 5 "full disk: exit status 5"
	tap_like "$(cat "$work/err.txt")" "No space left on device" "full disk: and the message says so"
	umount "$work/small"
	clean "full disk" $$
else
	tap_skip "full disk" "mount: needs root"
fi
tap_done
