/* From a failed trial to the setting of this system that is behind it. Only texts: what is on or
 * off is decided by trying (probe.c). */
#include "sandbox/probe_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define CONTAINER                                                                                  \
	"this is a container: start it with --security-opt seccomp=unconfined --security-opt "     \
	"apparmor=unconfined --security-opt systempaths=unconfined (docker, podman)"

/* Settings that switch unprivileged namespaces off: the file, the value that does it, what to do.
 */
static const struct {
	const char *file;
	long value;
	const char *fix;
} userns[] = {
	{ "/proc/sys/user/max_user_namespaces", 0,
	  "sudo sysctl -w user.max_user_namespaces=15000 (and the same line in /etc/sysctl.d/)" },
	{ "/proc/sys/kernel/unprivileged_userns_clone", 0,
	  "sudo sysctl -w kernel.unprivileged_userns_clone=1 (Debian; and the same line in "
	  "/etc/sysctl.d/)" },
	{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	  "give proctor an AppArmor profile with the rule \"userns,\" in /etc/apparmor.d/, or sudo "
	  "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)" },
};

/* What each layer needs of the kernel, when no setting explains it. */
static const char *const kernel[LAYER_MAX] = {
	[LAYER_USERNS] = "a kernel with CONFIG_USER_NS, and no seccomp filter around proctor that "
			 "refuses clone(2)",
	[LAYER_MOUNTS] = "Linux 5.12 or newer, with mounts allowed in user namespaces",
	[LAYER_PIDNS] = "a kernel with CONFIG_PID_NS and a /proc of which nothing is covered",
	[LAYER_NETNS] = "a kernel with CONFIG_NET_NS",
	[LAYER_IPCNS] = "a kernel with CONFIG_IPC_NS",
	[LAYER_UTSNS] = "a kernel with CONFIG_UTS_NS",
	[LAYER_CGROUPNS] = "a kernel with CONFIG_CGROUPS (Linux 4.6)",
	[LAYER_OVERLAY] = "Linux 5.11 or newer with CONFIG_OVERLAY_FS (sudo modprobe overlay)",
	[LAYER_SECCOMP] = "a kernel with CONFIG_SECCOMP_FILTER",
	[LAYER_LANDLOCK] =
		"Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK and \"landlock\" in the "
		"boot parameter lsm=",
	[LAYER_CAPS] = "user namespaces with full capabilities (see userns)",
	[LAYER_NO_NEW_PRIVS] = "Linux 3.5 or newer",
	[LAYER_PTRACE] = "Linux 5.3 or newer, and no seccomp filter around proctor that refuses "
			 "ptrace(2) (docker: --cap-add SYS_PTRACE)",
	[LAYER_CGROUP] = "start proctor in a delegated group: systemd-run --user --scope -p "
			 "Delegate=yes proctor ...",
};

static bool has_value(const char *file, long value)
{
	auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return strtol(text, NULL, 10) == value;
}

static bool in_container(void)
{
	return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

char *probe_fix(enum layer l, int sys)
{
	bool spaces = l <= LAYER_OVERLAY || l == LAYER_CAPS;

	for (size_t i = 0; spaces && i < ARRAY_SIZE(userns); i++) {
		/* Root is not bound by the two that speak of the unprivileged. */
		if (has_value(userns[i].file, userns[i].value) && (i == 0 || geteuid() != 0))
			return mem_strdup(userns[i].fix);
	}
	if (l == LAYER_PTRACE && has_value("/proc/sys/kernel/yama/ptrace_scope", 3))
		return mem_strdup("kernel.yama.ptrace_scope is 3, which only a reboot with another "
				  "value undoes; set it to 1 in /etc/sysctl.d/");
	if (l == LAYER_CGROUP && in_container())
		return mem_strdup("this is a container: start it with --cgroupns=private and a "
				  "writable /sys/fs/cgroup, or go without (limits are then kept by "
				  "rlimits and sampling)");
	if ((sys == EPERM || sys == EACCES) && in_container())
		return mem_strdup(CONTAINER);
	return mem_printf("needs %s", kernel[l] ? kernel[l] : "a newer kernel");
}
