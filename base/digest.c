#include "base/digest.h"

#include <sha2.h>
#include <stdint.h>
#include <stdio.h>

char *digest_bytes(const void *p, size_t n, char out[DIGEST_HEX])
{
	uint8_t sum[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, p, n);
	SHA256Final(sum, &ctx);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
	return out;
}
