/* Answers that were given, for clients that ask again: the last ones, by digest of the question. */
#ifndef GATEWAY_REPEATS_H
#define GATEWAY_REPEATS_H

#include "base/digest.h"
#include "gateway/api.h"
#include "gateway/http.h"

enum { REPEATS_MAX = 32, REPEATS_BYTES_MAX = 128 << 20 };

struct repeat {
	char key[DIGEST_HEX];
	uint64_t call;
	bool sse;
	enum api_finish finish;
	struct http_blob *blob; /* one reference; NULL = empty slot */
};

/* {0} is empty. */
struct repeats {
	struct repeat v[REPEATS_MAX];
	size_t at; /* next slot: the oldest */
	size_t bytes;
	char failed[REPEATS_MAX][DIGEST_HEX]; /* "" = empty slot */
	size_t failed_at;
};

/* Digest of a question: request target and what is asked (canon_question()). */
void repeats_key(const char *target, const char *body, size_t n, char out[DIGEST_HEX]);

/* Keep @r (moved in); the oldest go when there are too many or too many bytes. */
void repeats_put(struct repeats *rs, struct repeat r);

/* The answer to question @key, NULL when there is none. Borrowed until the next call. */
const struct repeat *repeats_find(const struct repeats *rs, const char *key);

/* Question @key was asked as often as it may be, without an answer: a client that asks it again gets one
 * try each time, else its own retries would multiply those of the gateway. The oldest are forgotten. */
void repeats_fail(struct repeats *rs, const char *key);

/* Was that so? */
bool repeats_failed(const struct repeats *rs, const char *key);

/* Forget all. */
void repeats_done(struct repeats *rs);

#endif
