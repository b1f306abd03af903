/* New namespaces, and tasks that nobody traces. */
#include "escape.h"

#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

/* clang-format off */
static const struct call calls[] = {
	{ "unshare-user", SYS_unshare, { CLONE_NEWUSER } },
	{ "unshare-mnt", SYS_unshare, { CLONE_NEWNS } },
	{ "unshare-pid", SYS_unshare, { CLONE_NEWPID } },
	{ "unshare-net", SYS_unshare, { CLONE_NEWNET } },
	{ "unshare-ipc", SYS_unshare, { CLONE_NEWIPC } },
	{ "unshare-uts", SYS_unshare, { CLONE_NEWUTS } },
	{ "unshare-cgroup", SYS_unshare, { CLONE_NEWCGROUP } },
	{ "unshare-time", SYS_unshare, { 0x80 } },
	{ "unshare-bit-32", SYS_unshare, { HI(CLONE_NEWUSER) } },
	{ "clone-user", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
	{ "clone-mnt", SYS_clone, { CLONE_NEWNS | SIGCHLD } },
	{ "clone-pid", SYS_clone, { CLONE_NEWPID | SIGCHLD } },
	{ "clone-net", SYS_clone, { CLONE_NEWNET | SIGCHLD } },
	{ "clone-ipc", SYS_clone, { CLONE_NEWIPC | SIGCHLD } },
	{ "clone-uts", SYS_clone, { CLONE_NEWUTS | SIGCHLD } },
	{ "clone-cgroup", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD } },
	{ "clone-user-high-half", SYS_clone, { HI_ALL(CLONE_NEWUSER | SIGCHLD) } },
	{ "clone-untraced", SYS_clone, { CLONE_UNTRACED | SIGCHLD } },
	{ "clone-untraced-bit-32", SYS_clone, { HI(CLONE_UNTRACED | SIGCHLD) } },
	{ "clone3", SYS_clone3, { 0, 64 } },
	{ NULL },
};
/* clang-format on */

const struct family family_namespaces = {
	"namespaces",
	.calls = calls,
};
