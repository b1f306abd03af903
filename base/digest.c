#include "base/digest.h"

#include <errno.h>
#include <sha2.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"

enum { CHUNK = 1 << 18 };

static char *finish(SHA2_CTX *ctx, char out[DIGEST_HEX])
{
	uint8_t sum[SHA256_DIGEST_LENGTH];

	SHA256Final(sum, ctx);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
	return out;
}

char *digest_bytes(const void *p, size_t n, char out[DIGEST_HEX])
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, p, n);
	return finish(&ctx, out);
}

struct digest {
	SHA2_CTX ctx;
};

struct digest *digest_new(void)
{
	struct digest *d = mem_alloc(sizeof(*d));

	SHA256Init(&d->ctx);
	return d;
}

void digest_add(struct digest *d, const void *p, size_t n)
{
	SHA256Update(&d->ctx, p, n);
}

char *digest_end(struct digest *d, char out[DIGEST_HEX])
{
	if (!d)
		return digest_bytes("", 0, out);
	(void)finish(&d->ctx, out);
	free(d);
	return out;
}

int digest_fd(int fd, uint64_t max, char out[DIGEST_HEX])
{
	auto_free unsigned char *chunk = mem_alloc(CHUNK);
	uint64_t sum = 0;
	SHA2_CTX ctx;
	ssize_t n;

	out[0] = '\0';
	SHA256Init(&ctx);
	while ((n = read(fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		sum += (uint64_t)n;
		if (sum > max) {
			errno = EFBIG;
			return -1;
		}
		SHA256Update(&ctx, chunk, (size_t)n);
	}
	(void)finish(&ctx, out);
	return 0;
}
