/* SHA-256 (FIPS 180-4, by libmd) of bytes and files, as 64 hex digits. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_HEX 65

/* Digest of @n bytes into @out. Returns @out. */
char *digest_bytes(const void *p, size_t n, char out[DIGEST_HEX]);

struct digest;

/* Begin a digest of bytes that come in pieces. End with digest_end(). */
struct digest *digest_new(void);

/* Add @n bytes. */
void digest_add(struct digest *d, const void *p, size_t n);

/* Free @d (NULL is fine: the digest of nothing) after writing the digest of all that was added into @out. Returns @out. */
char *digest_end(struct digest *d, char out[DIGEST_HEX]);

/* Digest of what is left to read of @fd, at most @max bytes. 0, or -1 with errno (EFBIG when there are
 * more; @out is then empty). */
int digest_fd(int fd, uint64_t max, char out[DIGEST_HEX]);

#endif
