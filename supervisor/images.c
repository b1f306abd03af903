#include "supervisor/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

void images_init(struct images *im, int run_fd)
{
	*im = (struct images){ .run_fd = run_fd, .dir_fd = -1 };
}

void images_done(struct images *im)
{
	mem_close(&im->dir_fd);
	im->run_fd = -1;
}

static int open_dir(struct images *im)
{
	if (im->dir_fd >= 0)
		return 0;
	if (mkdirat(im->run_fd, "images", 0755) < 0 && errno != EEXIST)
		return -1;
	im->dir_fd = openat(im->run_fd, "images", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return im->dir_fd < 0 ? -1 : 0;
}

/* Under another name first: what bears a digest's name is whole. */
static int write_image(struct images *im, const char *sha256, const void *data, size_t n)
{
	static const char part[] = "part";
	auto_fd int fd = openat(im->dir_fd, part,
				O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	int e;

	if (fd < 0)
		return -1;
	if (fd_write_all(fd, data, n) == 0 && renameat(im->dir_fd, part, im->dir_fd, sha256) == 0)
		return 0;
	e = errno;
	(void)unlinkat(im->dir_fd, part, 0); /* the failure is told by the caller */
	errno = e;
	return -1;
}

static enum image_state not_kept(struct images *im, enum image_state why)
{
	if (im->told)
		return IMAGE_LEFT;
	im->told = true;
	return why;
}

enum image_state images_keep(struct images *im, const char *sha256, const void *data, size_t n)
{
	if (im->run_fd < 0)
		return IMAGE_LEFT;
	if (!data || n > IMAGES_FILE_MAX)
		return not_kept(im, IMAGE_LARGE);
	if (open_dir(im) < 0)
		return not_kept(im, IMAGE_FAILED);
	if (faccessat(im->dir_fd, sha256, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return IMAGE_KEPT;
	if (im->kept + n > IMAGES_RUN_MAX)
		return not_kept(im, IMAGE_LARGE);
	if (write_image(im, sha256, data, n) < 0)
		return not_kept(im, IMAGE_FAILED);
	im->kept += n;
	return IMAGE_KEPT;
}
