/* The answer half of OpenAI Responses, for the row in api_responses.c. */
#ifndef GATEWAY_API_RESPONSES_INTERNAL_H
#define GATEWAY_API_RESPONSES_INTERNAL_H

#include "gateway/api.h"

/* As the members of struct api of the same name. */
void api_responses_answer(const char *body, size_t n, bool sse, struct api_answer *a);
void api_responses_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
			 struct buf *out);                  /* as above */
void api_responses_count(uint64_t tokens, struct buf *out); /* as above */

#endif
