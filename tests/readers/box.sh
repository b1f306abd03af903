#!/usr/bin/env bash
# box.sh NEWROOT COPY COMMAND [SOURCE NAME]...: inside a new mount and UTS namespace, make a root file
# system out of this one's top directories, with COPY at /workspace and each SOURCE at /NAME, and run
# COMMAND there with nothing of the caller's environment. Not to be called by hand: see lib.sh.
set -eu
new=$1 copy=$2 command=$3
shift 3
mount --make-rprivate /
mount -t tmpfs tmpfs "$new"
for entry in /*; do
	name=${entry#/}
	if [ -L "$entry" ]; then
		cp -P "$entry" "$new/$name"
	elif [ "$name" = tmp ]; then
		mkdir -m 1777 "$new/tmp"
	elif [ -d "$entry" ] && [ "$name" != workspace ]; then
		mkdir "$new/$name"
		mount --rbind "$entry" "$new/$name"
	fi
done
mkdir "$new/workspace" "$new/tmp/home"
mount --bind "$copy" "$new/workspace"
while [ $# -gt 0 ]; do
	mkdir "$new/$2"
	mount --bind "$1" "$new/$2"
	shift 2
done
echo box 2>/dev/null >/proc/sys/kernel/hostname || : # a read-only /proc keeps the name
exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp/home LANG=C.UTF-8 TZ=UTC TERM=dumb \
	PYTHONDONTWRITEBYTECODE=1 \
	chroot "$new" timeout -k 5 100 sh -c "cd /workspace && $command"
