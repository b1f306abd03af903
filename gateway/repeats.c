#include "gateway/repeats.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void repeats_key(const char *target, const char *body, size_t n, char out[DIGEST_HEX])
{
	char sum[DIGEST_HEX];
	auto_free char *both =
		mem_printf("%s %s", digest_bytes(body ? body : "", body ? n : 0, sum), target);

	digest_bytes(both, strlen(both), out);
}

static void drop(struct repeats *rs, struct repeat *r)
{
	if (!r->blob)
		return;
	rs->bytes -= r->blob->n;
	http_blob_unref(r->blob);
	*r = (struct repeat){ 0 };
}

void repeats_put(struct repeats *rs, struct repeat r)
{
	struct repeat *slot = &rs->v[rs->at];

	drop(rs, slot);
	*slot = r;
	rs->bytes += r.blob->n;
	rs->at = (rs->at + 1) % REPEATS_MAX;
	/* Round the ring from the oldest on; the newest, which stands behind all, stays. */
	for (size_t i = 0; i + 1 < REPEATS_MAX && rs->bytes > REPEATS_BYTES_MAX; i++)
		drop(rs, &rs->v[(rs->at + i) % REPEATS_MAX]);
}

const struct repeat *repeats_find(const struct repeats *rs, const char *key)
{
	for (size_t i = 0; i < REPEATS_MAX; i++) {
		if (rs->v[i].blob && strcmp(rs->v[i].key, key) == 0)
			return &rs->v[i];
	}
	return NULL;
}

void repeats_fail(struct repeats *rs, const char *key)
{
	if (repeats_failed(rs, key))
		return;
	snprintf(rs->failed[rs->failed_at], DIGEST_HEX, "%s", key);
	rs->failed_at = (rs->failed_at + 1) % REPEATS_MAX;
}

bool repeats_failed(const struct repeats *rs, const char *key)
{
	for (size_t i = 0; i < REPEATS_MAX; i++) {
		if (strcmp(rs->failed[i], key) == 0)
			return true;
	}
	return false;
}

void repeats_done(struct repeats *rs)
{
	for (size_t i = 0; i < REPEATS_MAX; i++)
		drop(rs, &rs->v[i]);
}
