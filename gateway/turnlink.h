/* What a user that reacts is told of the agent, as messages to the supervisor. */
#ifndef GATEWAY_TURNLINK_H
#define GATEWAY_TURNLINK_H

#include "gateway/api.h"
#include "gateway/msg.h"

/* Tell the last answer that request @q of main call @call holds: GW_LAST with GWL_SAID, GWL_DID and GWL_GOT. */
void turnlink_request(void (*tell)(void *arg, struct gw_msg *m), void *arg, uint64_t call,
		      const struct api_request *q);

/* Tell the text (NULL: "") of the answer of @call, which is about to be told. */
void turnlink_answer(void (*tell)(void *arg, struct gw_msg *m), void *arg, uint64_t call,
		     const char *text);

#endif
