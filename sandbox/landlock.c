/* The box's Landlock rules: one ruleset, REFER handled and granted wherever writing is, only
 * bits that the kernel's ABI knows (landlock(7)). */
#include "sandbox/box_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/sysdefs.h"

#define LL_READ (LL_FS_EXECUTE | LL_FS_READ_FILE | LL_FS_READ_DIR)
/* MAKE_CHAR and MAKE_BLOCK are handled and never granted. */
#define LL_WRITE                                                                                   \
	(LL_FS_WRITE_FILE | LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR |                \
	 LL_FS_MAKE_REG | LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM | LL_FS_REFER |       \
	 LL_FS_TRUNCATE)
#define LL_ALL (LL_READ | LL_WRITE | LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK | LL_FS_IOCTL_DEV)

struct dirent_head {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

int landlock_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LL_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

/* File system rights that ABI @abi knows. */
static uint64_t known(int abi)
{
	uint64_t bits = LL_ALL;

	if (abi < 5)
		bits &= ~LL_FS_IOCTL_DEV;
	if (abi < 3)
		bits &= ~LL_FS_TRUNCATE;
	if (abi < 2)
		bits &= ~LL_FS_REFER;
	return bits;
}

static int add_rule(int rules, int fd, uint64_t rights)
{
	struct ll_path_beneath_attr attr = { .allowed_access = rights, .parent_fd = fd };

	return (int)syscall(__NR_landlock_add_rule, rules, LL_RULE_PATH_BENEATH, &attr, 0);
}

/* Kernel interfaces are never writable, whatever their mounts say: /proc/self/mem writes where the
 * process itself could not. */
static bool is_kernel(const char *name)
{
	return strcmp(name, "proc") == 0 || strcmp(name, "sys") == 0 || strcmp(name, ".") == 0 ||
	       strcmp(name, "..") == 0;
}

/* Grant writing below top-level directory @name unless its mount is read-only. */
static int grant(int rules, int root, const char *name, uint64_t mask)
{
	int fd = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t rights = LL_READ | LL_WRITE;
	struct statfs fs;
	int rc = 0;

	if (fd < 0)
		return 0; /* a file or a link at the top: read only */
	if (strcmp(name, "dev") == 0)
		rights |= LL_FS_IOCTL_DEV;
	if (fstatfs(fd, &fs) < 0)
		rc = -1;
	else if (!((unsigned long)fs.f_flags & ST_RDONLY))
		rc = add_rule(rules, fd, rights & mask);
	close(fd);
	return rc;
}

static int grant_all(int rules, int root, uint64_t mask)
{
	char buf[4096] __attribute__((aligned(8)));
	long n;

	while ((n = syscall(SYS_getdents64, root, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent_head *d = (const void *)(buf + at);

			if (!is_kernel(d->name) && grant(rules, root, d->name, mask) < 0)
				return -1;
			at += d->len;
		}
	}
	return n < 0 ? -1 : 0;
}

int landlock_confine(bool signal_beside)
{
	int abi = landlock_abi(), rules, root, rc = -1;
	uint64_t mask = known(abi);
	struct ll_ruleset_attr attr = {
		.handled_access_fs = mask,
		.scoped = LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL,
	};
	size_t size;

	if (signal_beside)
		attr.scoped &= ~LL_SCOPE_SIGNAL;
	size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;

	rules = (int)syscall(__NR_landlock_create_ruleset, &attr, size, 0);
	if (rules < 0)
		return -1;
	/* mq_open(3) is checked against the queue's own mount, which "/" does not reach. */
	root = open("/dev/mqueue", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		(void)add_rule(rules, root, (LL_READ | LL_WRITE) & mask); /* else no queues */
		close(root);
	}
	root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		if (add_rule(rules, root, LL_READ & mask) == 0 && grant_all(rules, root, mask) == 0)
			rc = (int)syscall(__NR_landlock_restrict_self, rules, 0);
		close(root);
	}
	close(rules);
	return rc;
}
