/* /dev and /proc of a box: a minimal device directory, and a proc file system that shows the box
 * only, with the parts that reach the whole machine read-only or covered. */
#include "sandbox/box_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/mem.h"

#define RO_ATTR (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define NODEV   (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

/* clang-format off */
static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

static const struct {
	const char *name, *to;
} links[] = {
	{ "/dev/fd",     "/proc/self/fd" },
	{ "/dev/stdin",  "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" },
	{ "/dev/stderr", "/proc/self/fd/2" },
	{ "/dev/ptmx",   "pts/ptmx" },
	{ "/dev/core",   "/proc/kcore" },
};

static const char *const read_only[] = {
	"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger",
};

static const char *const masked[] = {
	"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/kmsg",
	"/proc/latency_stats", "/proc/sched_debug", "/proc/acpi", "/proc/scsi", "/proc/asound",
};
/* clang-format on */

static void add_tty(const struct box_spec *spec, struct ops *ops)
{
	char self[64], path[256];
	ssize_t n;

	/* ttyname(3) inside finds the terminal, which belongs to the host's devpts, here. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", spec->stdio[0]);
	n = readlink(self, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	if (path[0] == '/')
		ops_bind(ops, ops_source(ops, path, false, true, MOUNT_ATTR_NOSUID), "/dev/console",
			 true);
}

void devproc_plan(const struct box_spec *spec, struct ops *ops)
{
	bool nested = spec->profile && spec->profile->nested_userns;

	/* A link that a root file system has there would lead the rest astray. */
	ops_add(ops, OPS_DIR, "/dev", NULL)->real = true;
	ops_add(ops, OPS_DIR, "/proc", NULL)->real = true;
	ops_fs(ops, "tmpfs", "mode=0755\nsize=1m", "/dev", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		auto_free char *path = mem_printf("/dev/%s", devices[i]);

		ops_bind(ops, ops_source(ops, path, false, false, MOUNT_ATTR_NOSUID), path, true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		ops_add(ops, OPS_SYMLINK, links[i].name, links[i].to);
	ops_fs(ops, "devpts", "newinstance\nmode=0620\nptmxmode=0666", "/dev/pts",
	       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	ops_fs(ops, "tmpfs", "mode=1777\nsize=50%", "/dev/shm",
	       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	ops_fs(ops, "mqueue", NULL, "/dev/mqueue", NODEV)->optional = true;
	if (spec->new_tty)
		add_tty(spec, ops);
	ops_fs(ops, "proc", NULL, "/proc", NODEV);
	/* A nested sandbox mounts its own proc, which the kernel only lets it do when nothing of
	 * the outer one is covered (mount_too_revealing()). Permissions alone protect it then. */
	if (nested)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(read_only); i++) {
		struct ops_row *r = ops_add(ops, OPS_SELF, read_only[i], NULL);

		r->attr = RO_ATTR;
		r->optional = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(masked); i++)
		ops_add(ops, OPS_HIDE, masked[i], NULL);
}
