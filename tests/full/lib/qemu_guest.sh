#!/usr/bin/env bash
# What tests/full/qemu.sh runs in its machine, as the user who has logged in: the tests of the fast lane that need no
# compiler run and no network. Emulated processors get those that the kernel and systemd matter to.
cd ~/proctor || exit 1
export PROCTOR_DATADIR=$PWD/profiles/data PROCTOR=$PWD/build/supervisor/proctor MUST_WORK=0 PYTHONDONTWRITEBYTECODE=1
{
	echo "kernel $(uname -r)"
	id
	stat -fc %T /sys/fs/cgroup
	cat /proc/self/cgroup
	"$PROCTOR" doctor
} >~/about.txt 2>&1

if [ "$(cat ~/accel)" = kvm ]; then
	units=(build/tests/unit/*/test_*)
	runs=(tests/run/*.sh)
else
	units=(build/tests/unit/sandbox/test_{box,box_life,cgroup,filter,janitor,ids,probe,workspace}
		build/tests/unit/supervisor/test_{pt,tracee})
	runs=(tests/run/{badinput,example,faults,escape,transparent,inject}.sh)
fi
for unit in "${units[@]}"; do
	[ -x "$unit" ] && printf 'unit/%s\t-\tenv %s\t3000\n' "${unit#build/tests/unit/}" "$unit"
done >list
for run in "${runs[@]}"; do
	printf 'run/%s\t-\tbash %s\t3000\n' "$(basename "$run" .sh)" "$run"
done >>list
# In a group that systemd hands over, as proctor doctor advises: limits by control group are tried there.
printf 'delegated/faults\t-\tsystemd-run --user --scope -q -p Delegate=yes bash tests/run/faults.sh\t3000\n' >>list
python3 tests/lib/taprun.py -j 2 -v list >~/result.txt 2>&1
