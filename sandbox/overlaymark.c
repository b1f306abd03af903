#include "sandbox/overlaymark.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>

#include "base/mem.h"

/* Does @fd carry mark @name with value @value (0 = any)? */
static bool has_mark(int fd, const char *name, char value)
{
	static const char *const spaces[] = { "user", "trusted" };

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		char full[64], got[8] = "";

		snprintf(full, sizeof(full), "%s.overlay.%s", spaces[i], name);
		if (fgetxattr(fd, full, got, sizeof(got)) >= 0 && (!value || got[0] == value))
			return true;
	}
	return false;
}

bool overlaymark_opaque(int fd)
{
	return has_mark(fd, "opaque", 'y');
}

bool overlaymark_whiteout(int dir, const char *name, const struct stat *st)
{
	auto_fd int fd = -1;

	if (S_ISCHR(st->st_mode))
		return st->st_rdev == 0;
	if (!S_ISREG(st->st_mode) || st->st_size)
		return false;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && has_mark(fd, "whiteout", 0);
}
