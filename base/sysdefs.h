/* Kernel constants and structs newer than Debian 12's headers (Linux 6.1), each with the version
 * that brought it. The only place with #if for kernel features. */
#ifndef BASE_SYSDEFS_H
#define BASE_SYSDEFS_H

#include <linux/types.h>
#include <sys/syscall.h>

/* Landlock (landlock(7)); access bits by ABI version. */
#define LL_FS_EXECUTE             (1ull << 0) /* ABI 1, Linux 5.13 */
#define LL_FS_WRITE_FILE          (1ull << 1)
#define LL_FS_READ_FILE           (1ull << 2)
#define LL_FS_READ_DIR            (1ull << 3)
#define LL_FS_REMOVE_DIR          (1ull << 4)
#define LL_FS_REMOVE_FILE         (1ull << 5)
#define LL_FS_MAKE_CHAR           (1ull << 6)
#define LL_FS_MAKE_DIR            (1ull << 7)
#define LL_FS_MAKE_REG            (1ull << 8)
#define LL_FS_MAKE_SOCK           (1ull << 9)
#define LL_FS_MAKE_FIFO           (1ull << 10)
#define LL_FS_MAKE_BLOCK          (1ull << 11)
#define LL_FS_MAKE_SYM            (1ull << 12)
#define LL_FS_REFER               (1ull << 13) /* ABI 2, Linux 5.19 */
#define LL_FS_TRUNCATE            (1ull << 14) /* ABI 3, Linux 6.2 */
#define LL_FS_IOCTL_DEV           (1ull << 15) /* ABI 5, Linux 6.10 */
#define LL_NET_BIND_TCP           (1ull << 0)  /* ABI 4, Linux 6.7 */
#define LL_NET_CONNECT_TCP        (1ull << 1)
#define LL_SCOPE_ABSTRACT_UNIX    (1ull << 0) /* ABI 6, Linux 6.12 */
#define LL_SCOPE_SIGNAL           (1ull << 1)
#define LL_CREATE_RULESET_VERSION (1u << 0)
#define LL_RULE_PATH_BENEATH      1

/* struct landlock_ruleset_attr of ABI 6; a kernel with a lower ABI takes the shorter size. */
struct ll_ruleset_attr {
	__u64 handled_access_fs;
	__u64 handled_access_net; /* ABI 4 */
	__u64 scoped;             /* ABI 6 */
};

struct ll_path_beneath_attr {
	__u64 allowed_access;
	__s32 parent_fd;
} __attribute__((packed));

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule       445
#define __NR_landlock_restrict_self  446
#endif

#ifndef __NR_openat2
#define __NR_openat2 437
#endif

/* mount_setattr(2), Linux 5.12; overlay layers on idmapped mounts, Linux 5.19. */
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif

/* First call number that libseccomp 2.5.4 (Debian 12) cannot name: everything from here on is
 * unknown to the filter's name tables and is refused by number (seccomp(2)). */
#define SYS_FIRST_UNKNOWN 451

#endif
