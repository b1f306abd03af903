/* images/ of a run directory: written once, whole or not at all, within bounds. */
#include "supervisor/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tests/lib/tap.h"

static enum image_state keep(struct images *im, const void *data, size_t n)
{
	char sum[DIGEST_HEX];

	return images_keep(im, digest_bytes(data ? data : "", n, sum), data, n);
}

/* Bytes of images/NAME, or -1. */
static int64_t size_of(int dir, const char *name, mode_t *mode)
{
	auto_free char *path = mem_printf("images/%s", name);
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	*mode = st.st_mode & 07777;
	return st.st_size;
}

static void test_kept(int dir)
{
	struct images im;
	struct stat st;
	char sum[DIGEST_HEX];
	mode_t mode = 0;

	images_init(&im, dir);
	tap_ok(fstatat(dir, "images", &st, 0) < 0, "nothing is made before there is an image");
	tap_ok(keep(&im, "hello\n", 6) == IMAGE_KEPT && im.kept == 6, "kept");
	tap_ok(size_of(dir, digest_bytes("hello\n", 6, sum), &mode) == 6 && mode == 0644,
	       "under its digest, for all to read");
	tap_ok(keep(&im, "hello\n", 6) == IMAGE_KEPT && im.kept == 6, "once");
	tap_ok(keep(&im, "", 0) == IMAGE_KEPT && size_of(dir, digest_bytes("", 0, sum), &mode) == 0,
	       "an empty one");
	tap_ok(size_of(dir, "part", &mode) < 0, "nothing half-written is left");
	images_done(&im);
}

static void test_bounds(int dir)
{
	auto_free char *big = mem_zalloc(1, IMAGES_FILE_MAX + 1);
	struct images im;
	unsigned n = 0;
	enum image_state st;

	images_init(&im, dir);
	tap_ok(keep(&im, big, IMAGES_FILE_MAX + 1) == IMAGE_LARGE, "too large a file");
	tap_ok(keep(&im, NULL, 3) == IMAGE_LEFT, "is said once; bytes that were not read");
	tap_ok(keep(&im, "small\n", 6) == IMAGE_KEPT, "others are kept on");
	/* as if the run had kept almost all that it may */
	im.kept = IMAGES_RUN_MAX - 100;
	im.told = false;
	do {
		char text[32];

		snprintf(text, sizeof(text), "image number %05u\n", n);
		st = keep(&im, text, strlen(text));
		n += st == IMAGE_KEPT;
	} while (st == IMAGE_KEPT && n < 100);
	tap_ok(st == IMAGE_LARGE && n == 5, "the run's maximum: %u more of 19 bytes", n);
	tap_ok(keep(&im, "small\n", 6) == IMAGE_KEPT, "what is there stays known");
	images_done(&im);
	images_init(&im, -1);
	tap_ok(keep(&im, "x", 1) == IMAGE_LEFT, "no run directory, no images");
	images_done(&im);
}

static void test_failures(int dir)
{
	struct images im;
	int fd = openat(dir, "images", O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	close(fd);
	images_init(&im, dir);
	tap_ok(keep(&im, "x", 1) == IMAGE_FAILED && errno == ENOTDIR,
	       "a file in the way of images/");
	tap_ok(keep(&im, "x", 1) == IMAGE_LEFT, "is said once");
	images_done(&im);
	unlinkat(dir, "images", 0);
	/* a full disk: the device that always is */
	mkdirat(dir, "images", 0755);
	tap_ok(symlinkat("/dev/full", dir, "images/part") == 0, "set up");
	images_init(&im, dir);
	tap_ok(keep(&im, "x", 1) == IMAGE_FAILED,
	       "a link in the place of a new image is not followed");
	images_done(&im);
}

int main(void)
{
	for (unsigned i = 0; i < 3; i++) {
		static void (*const tests[])(int) = { test_kept, test_bounds, test_failures };
		char name[] = "/tmp/test-images-XXXXXX";
		int dir;

		if (!mkdtemp(name))
			return 1;
		dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		tests[i](dir);
		close(dir);
		fd_remove_tree(AT_FDCWD, name);
	}
	return tap_done();
}
