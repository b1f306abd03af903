/* Prices of models: micro-dollars per million tokens. A shipped table (Table 7 of SWE-Touch and
 * public prices, each with date and source), a user's own file, or LiteLLM's table. */
#ifndef PROFILES_PRICES_H
#define PROFILES_PRICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"

/* One model. Rates are micro-dollars per 1,000,000 tokens. */
struct price {
	char *model; /* owned; exact, or a prefix ending in "*" */
	uint64_t input, output;
	uint64_t cached;      /* cache read; the input rate when the file does not say */
	uint64_t cache_write; /* the input rate when the file does not say */
	char *source, *date;  /* owned */
};

/* Sorted so that the longest match wins. */
struct prices {
	struct price *v; /* owned */
	size_t n;
	char sha256[DIGEST_HEX]; /* of the file */
	char *file;              /* owned */
};

/* Read a proctor.prices/1 file or LiteLLM's model_prices_and_context_window.json (told apart by
 * "schema"). @path NULL: the shipped table. 0 or -ERR_INPUT with position. Free with
 * prices_free(). */
int prices_load(const char *path, struct prices **ret, struct err *err);

/* As prices_load() from bytes. */
int prices_parse(const char *name, const char *text, size_t n, struct prices **ret,
		 struct err *err);

/* Row for @model: exact, then the longest prefix row, then the same without a vendor prefix
 * ("openai/gpt-5" = "gpt-5") and without a date suffix ("-20250929", "-2025-09-29", "-latest").
 * NULL: unknown, which is not zero. */
const struct price *prices_find(const struct prices *p, const char *model);

/* Cost in micro-dollars, rounded up, of @input tokens of which @cached came from the cache and
 * @cache_write went into it, and @output tokens. Saturates. */
uint64_t price_cost(const struct price *p, uint64_t input, uint64_t cached, uint64_t cache_write,
		    uint64_t output);

/* Free; NULL is fine. Returns NULL. */
struct prices *prices_free(struct prices *p);

#endif
