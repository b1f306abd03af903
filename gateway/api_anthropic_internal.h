/* The answer half of Anthropic Messages, for the row in api_anthropic.c. */
#ifndef GATEWAY_API_ANTHROPIC_INTERNAL_H
#define GATEWAY_API_ANTHROPIC_INTERNAL_H

#include "gateway/api.h"

/* As the members of struct api of the same name. */
void api_anthropic_answer(const char *body, size_t n, bool sse, struct api_answer *a);
void api_anthropic_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			 struct buf *out);                                  /* as above */
void api_anthropic_error(int status, const char *message, struct buf *out); /* as above */
void api_anthropic_count(uint64_t tokens, struct buf *out);                 /* as above */

#endif
