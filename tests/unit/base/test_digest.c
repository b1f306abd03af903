/* SHA-256 of bytes and of what is left of a descriptor. */
#include "base/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

int main(void)
{
	/* FIPS 180-4, example of one block, and the empty message */
	static const char abc[] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char empty[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	char out[DIGEST_HEX], whole[DIGEST_HEX];
	size_t n = (1u << 20) + 7;
	auto_free char *big = mem_zalloc(1, n);
	auto_fd int fd = memfd_create("digest", MFD_CLOEXEC);

	tap_is_str(digest_bytes("abc", 3, out), abc, "bytes");
	tap_is_str(digest_bytes("", 0, out), empty, "no bytes");
	tap_ok(digest_fd(fd, 10, out) == 0 && strcmp(out, empty) == 0, "an empty file");
	tap_ok(pwrite(fd, "xabc", 4, 0) == 4 && lseek(fd, 1, SEEK_SET) == 1 &&
		       digest_fd(fd, 3, out) == 0 && strcmp(out, abc) == 0,
	       "what is left, just within the maximum");
	errno = 0;
	tap_ok(lseek(fd, 0, SEEK_SET) == 0 && digest_fd(fd, 3, out) == -1 && errno == EFBIG &&
		       !out[0],
	       "one byte more");
	big[n - 1] = 'x';
	tap_ok(pwrite(fd, big, n, 0) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0 &&
		       digest_fd(fd, n, out) == 0 && strcmp(out, digest_bytes(big, n, whole)) == 0,
	       "more than one piece");
	tap_ok(digest_fd(-1, 3, out) == -1 && errno == EBADF, "a descriptor that cannot be read");
	return tap_done();
}
