# shellcheck shell=bash disable=SC2154,SC2034
# For tests/run/escape.sh: what lies outside of the box, and the judgement of attempts by the table.

# host_services: listeners that nobody inside may reach. Sets services (their process) and port; guests are noted.
host_services()
{
	: >"$work/guests"
	/usr/bin/python3 -u - "$mark" "$work/guests" >"$work/port" <<'J' &
import os, select, socket, sys
tcp = socket.socket()
tcp.bind(("0.0.0.0", 0))
name = f"\0{sys.argv[1]}-{tcp.getsockname()[1]}"
abstract = socket.socket(socket.AF_UNIX)
abstract.bind(name)
path = socket.socket(socket.AF_UNIX)
path.bind("host.sock")
dgram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
dgram.bind("host.dgram")
for file in ("host.sock", "host.dgram"):
    os.chmod(file, 0o777)
for s in (tcp, abstract, path):
    s.listen()
print(tcp.getsockname()[1])
while True:
    for s in select.select([tcp, abstract, path, dgram], [], [])[0]:
        if s is dgram:
            s.recv(1)
        else:
            s.accept()[0].close()
        open(sys.argv[2], "a").write(f"{s.getsockname()}\n")
J
	services=$!
	until_there "$work/port"
	port=$(cat "$work/port")
}

# outside: one line "NAME TAB STATE" for each thing that an attempt could change.
outside()
{
	printf 'marks\t%s\n' "$(stat -c %n "/tmp/$mark" "/dev/shm/$mark" "/dev/$mark" "/usr/$mark" "/usr/bin/$mark" "/$mark" 2>/dev/null | tr '\n' ' ')"
	printf 'passwd\t%s\n' "$(md5sum </etc/passwd)"
	printf 'guests\t%s\n' "$(wc -l <"$work/guests")"
	printf 'host\t%s\n' "$(cat /proc/sys/kernel/{hostname,domainname,core_pattern,modprobe,randomize_va_space} \
		/proc/sys/{vm/overcommit_memory,net/ipv4/ip_forward,user/max_user_namespaces,fs/protected_symlinks} \
		/proc/swaps 2>&1 | awk '!/^\//' | md5sum)"
	# Seconds that the clock of the day is ahead of the one that nobody sets, within a few.
	printf 'clock\t%s\n' "$(python3 -c 'import time; print(round((time.time() - time.monotonic()) / 60))')"
	printf 'mounts\t%s\n' "$(awk '$5 == "/" || $5 == "/usr" || $5 == "/mnt" || $5 == "/proc" || $5 == "/proc/sys" {print $3, $5, $6}' /proc/self/mountinfo | md5sum)"
	printf 'workspace\t%s\n' "$(find . -printf '%P %y %m %U %G %s\n' | sort | md5sum)"
	printf 'usr\t%s\n' "$(stat -c '%i %h %a %U %s %Y' /usr/bin/env; md5sum </usr/bin/env | tr '\n' ' ')"
	printf 'processes\t%s\n' "$(cat "/proc/$services/limits" "/proc/$services/oom_score_adj" | md5sum)"
	printf 'keys\t%s\n' "$(grep -c "$mark" /proc/keys 2>/dev/null)"
	printf 'cgroup\t%s\n' "$(cat /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/*/notify_on_release 2>/dev/null | md5sum)"
}

# judge TABLE OUTCOMES TRACE: three assertions for each row at most: what the program saw, what is as before outside, which
# record is there. Rows and attempts must be the same.
judge()
{
	local ok skip text
	while IFS=$'\t' read -r ok skip text; do
		if [ "$skip" != - ]; then
			tap_skip "$text" "$skip: this kernel has none"
		else
			tap_ok "$ok" "$text"
		fi
	done < <(python3 "$top/tests/run/lib/escape.py" "$1" "$2" "$3" "$work/outside.before" "$work/outside.after")
	grep '^#' "$2"
}
