#!/usr/bin/env bash
# A stock Debian 12 in a virtual machine (its own kernel 6.1, systemd, cgroup v2, an ordinary user who has logged in):
# the machine most users have. The root file system is made from the Debian packages that this machine is set up for;
# the programs are those of the ordinary build. Where the machine may not use KVM the processor is emulated, which is
# 20 times slower: then a part of the fast lane runs, named in tests/full/lib/qemu_guest.sh.
#   QEMU_KEEP=DIR   keep root file system and disk there, and use what is there
#   QEMU_ACCEL=tcg  emulate even where KVM seems to work
# shellcheck disable=SC2317 # functions that tap_try calls
# shellcheck source=tests/full/lib.sh
. "$(dirname "$0")/lib.sh"
build_tree "$build" gcc -Dwerror=true
suite=bookworm
hours=5400 # seconds that the machine may run

for program in mmdebstrap qemu-system-x86_64 mkfs.ext4 debugfs; do
	if ! command -v "$program" >/dev/null; then
		tap_ok 1 "$program is there (.ci/packages)"
		tap_done
	fi
done
place=${QEMU_KEEP:-$(mktemp -d "${TMPDIR:-/var/tmp}/qemu-XXXXXX")}
mkdir -p "$place"
# shellcheck disable=SC2154 # set by the trap itself
trap '[ -n "${QEMU_KEEP-}" ] || rm -rf "$place"' EXIT

# What the programs are linked with, what the tests run, and what makes it a machine.
packages=systemd-sysv,dbus,dbus-user-session,libpam-systemd,linux-image-amd64
packages+=,libseccomp2,libgit2-1.5,libcjson1,libarchive13,libmd0,libexpat1,libyaml-0-2,libcurl4,libnftables1
packages+=,libevent-2.1-7,libevent-core-2.1-7,libevent-extra-2.1-7
packages+=,python3,python3-pytest,git,patch,procps,util-linux,strace,iproute2,make,gcc,libc6-dev,perl,ed,diffutils,openssl

# make_root: $place/root from the package sources of this machine.
make_root()
{
	local file
	local -a sources=() options=()
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[ -s "$file" ] && sources+=("$file")
	done
	for file in /etc/apt/apt.conf.d/*; do
		options+=("--aptopt=$file")
	done
	mmdebstrap --variant=minbase --skip=check/empty --include="$packages" "${options[@]}" \
		--aptopt='Acquire::Languages "none"' "$suite" "$place/root" "${sources[@]}" >"$place/root.log" 2>&1
}

# make_user: somebody who logs in at the serial line, runs the tests and says that they are over.
make_user()
{
	local root=$place/root home=$place/root/srv/tester
	chroot "$root" useradd -m -d /srv/tester -s /bin/bash tester 2>/dev/null
	mkdir -p "$root/etc/systemd/system/serial-getty@ttyS0.service.d"
	cat >"$root/etc/systemd/system/serial-getty@ttyS0.service.d/login.conf" <<'EOF'
[Service]
ExecStart=
ExecStart=-/sbin/agetty --autologin tester --keep-baud 115200 %I vt220
EOF
	cat >"$root/etc/systemd/system/over.path" <<'EOF'
[Path]
PathExists=/srv/tester/over
Unit=poweroff.target
[Install]
WantedBy=multi-user.target
EOF
	chroot "$root" systemctl -q enable over.path
	echo tester >"$root/etc/hostname"
	# What no server of Debian does by itself is left out: the time until the login counts.
	chroot "$root" systemctl -q mask systemd-timesyncd.service apt-daily.timer apt-daily-upgrade.timer man-db.timer
	rm -rf "$home/proctor"
	mkdir -p "$home/proctor/build"
	git ls-files -z | xargs -0 tar -c | tar -x -C "$home/proctor"
	(cd "$build" && find supervisor/proctor profiles/data meson-private tests/progs tests/unit -maxdepth 3 -type f \
		\( -perm -u+x -o -path 'profiles/*' \) -print0 | xargs -0 tar -c) | tar -x -C "$home/proctor/build"
	mkdir -p "$home/proctor/build/meson-private"
	cp tests/full/lib/qemu_guest.sh "$home/guest.sh"
	echo "$1" >"$home/accel"
	# shellcheck disable=SC2016 # for the guest
	echo 'if [ "$(tty)" = /dev/ttyS0 ]; then bash ~/guest.sh; touch ~/over; fi' >"$home/.bash_profile"
	chroot "$root" chown -R tester:tester /srv/tester
}

# works ACCEL: does a virtual machine get as far as to say something with it?
works()
{
	local said
	said=$(timeout 60 qemu-system-x86_64 -machine "q35,accel=$1" -cpu max -m 512 -nographic -no-reboot -nic none \
		-kernel "$place/kernel" -append "console=ttyS0 panic=-1" </dev/null 2>/dev/null | head -c 100000)
	[[ $said == *"Linux version"* ]]
}

if [ ! -e "$place/root/vmlinuz" ]; then
	tap_try "Debian 12 is made from packages" make_root || { tail -n 20 "$place/root.log" | sed 's/^/# /'; tap_done; }
fi
cp -L "$place/root/vmlinuz" "$place/kernel" && cp -L "$place/root/initrd.img" "$place/initrd"
accel=${QEMU_ACCEL:-kvm}
[ "$accel" != kvm ] || { [ -w /dev/kvm ] && works kvm; } || accel=tcg
printf '# accelerator: %s\n' "$accel"
make_user "$accel"
rm -f "$place/disk.img"
truncate -s 4G "$place/disk.img"
tap_try "its disk is made" mkfs.ext4 -q -F -d "$place/root" "$place/disk.img"
timeout "$hours" qemu-system-x86_64 -machine "q35,accel=$accel" -cpu max -smp 2 -m 3072 -nographic -no-reboot -nic none \
	-kernel "$place/kernel" -initrd "$place/initrd" -drive "file=$place/disk.img,if=virtio,format=raw" \
	-append "root=/dev/vda rw console=ttyS0 modprobe.blacklist=kvm_amd,kvm_intel,powernow_k8" \
	</dev/null >"$place/console.log" 2>&1
tap_ok $? "the machine has started, run the tests and ended" || tail -n 20 "$place/console.log" | sed 's/^/# /'
for name in about.txt result.txt; do
	debugfs -R "cat /srv/tester/$name" "$place/disk.img" 2>/dev/null >"$place/$name"
	sed 's/^/# /' "$place/$name"
done
tap_like "$(cat "$place/about.txt")" 'kernel 6[.]1[.].*uid=1000.*cgroup2fs' "it is Debian's kernel, an ordinary user, cgroup v2"
tap_like "$(tail -n 1 "$place/result.txt")" '^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped' "the fast lane passes there"
tap_done
