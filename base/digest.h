/* SHA-256 (FIPS 180-4, by libmd) of bytes and files, as 64 hex digits. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_HEX 65

/* Digest of @n bytes into @out. Returns @out. */
char *digest_bytes(const void *p, size_t n, char out[DIGEST_HEX]);

/* Digest of what is left to read of @fd, at most @max bytes. 0, or -1 with errno (EFBIG when there are
 * more; @out is then empty). */
int digest_fd(int fd, uint64_t max, char out[DIGEST_HEX]);

#endif
