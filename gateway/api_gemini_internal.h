/* The answer half of Gemini generateContent, for the row in api_gemini.c. */
#ifndef GATEWAY_API_GEMINI_INTERNAL_H
#define GATEWAY_API_GEMINI_INTERNAL_H

#include "gateway/api.h"

/* As the members of struct api of the same name. */
void api_gemini_answer(const char *body, size_t n, bool sse, struct api_answer *a);
void api_gemini_write(const struct api_answer *a, const struct api_request *q, uint64_t serial,
		      struct buf *out);                                  /* as above */
void api_gemini_error(int status, const char *message, struct buf *out); /* as above */
void api_gemini_count(uint64_t tokens, struct buf *out);                 /* as above */
void api_gemini_models(const char *model, struct buf *out);              /* as above */

#endif
