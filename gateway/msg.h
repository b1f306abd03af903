/* What gateway and supervisor say to each other: numbered messages of one size over a SEQPACKET
 * socket, with a table of what is allowed when. The gateway parses what hostile programs send, so
 * the supervisor trusts it with nothing more than this table grants: it cannot name a descriptor, a
 * process or a path to act on. */
#ifndef GATEWAY_MSG_H
#define GATEWAY_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { GW_TEXT_MAX = 1024, GW_VALUES = 11 };

enum gw_type {
	/* gateway to supervisor */
	GW_READY = 1, /* confined and listening */
	GW_REQUEST,   /* a request of the model API: v = call, purpose, items, bytes, port of the
		     * client's socket; text = SHA-256 of its canonical form; waits for GW_GO */
	GW_PLACED,   /* a user message stands in the request of call v[0]: v = call, index, first */
	GW_STRIPPED, /* text = what was taken out of the request of call v[0]; v[1] refused */
	GW_TOOL,     /* tool call of the answer of call v[0]: v = call, kind, first, last; text =
			 * path, or tool name when kind is none */
	GW_ANSWER, /* an answer is ready: v = see enum gw_answer; text = model; waits for GW_ACK */
	GW_SPENT,  /* a budget refused a call: v = limit kind, used, limit */
	GW_DNS, /* a name was asked for: v = allowed, qtype, source port, tcp; text = "name\0rule" */
	GW_CONNECT,  /* a connection was decided: v = allowed, port, source port, family; text =
			 * "name\0address\0rule" */
	GW_CLOSED,   /* a relayed connection ended: v = bytes out, bytes in, ns; text = name */
	GW_ROUTE,    /* a request to no model route: text = "method path" (cut) */
	GW_MISMATCH, /* a strict replay differs: text = first difference; the run ends */
	GW_FAILED,   /* the gateway cannot go on: v = code (enum err_code), text = why; it exits */
	GW_UNMET,    /* an expectation of the script was not met: text */
	GW_LAST, /* part of what the agent did before main request v[0], which is told next: v = call,
		   * enum gw_last, offset, total; text = bytes of the agent's */
	GW_SAID, /* part of a text of the simulated user: v = message, 0, offset, total; text = bytes */
	GW_SIMULATED, /* ref = the last GW_SIMULATE of a message, which is written or is not: v = see
		       * enum gw_simulated; text = "why not\0SHA-256 of what the model wrote" */
	GW_DONE, /* the answer to GW_BYE: everything was said but v[0] reports of the network that a
			* flood crowded out; it exits */
	/* supervisor to gateway */
	GW_GO,       /* ref = GW_REQUEST: forward it */
	GW_ACK,      /* ref = GW_ANSWER: release it */
	GW_TEXT,     /* part of a user message: v = message, offset, total; text = bytes */
	GW_SIMULATE, /* part of the context that a message is to be written from: v = message, 0,
		      * offset, total; text = bytes; waits for GW_SIMULATED */
	GW_ENDING, /* the run ends for limit v[0] (LIMIT_MAX: another reason): every further request
			 * gets the closing answer (v[1] = 1) or the refusal (0) */
	GW_BYE,    /* the box is dead: say what is left to be said, then GW_DONE */
	GW_PING,   /* are you there? waits for GW_PONG */
	GW_PONG,   /* ref = GW_PING: yes; from the gateway */
	GW_TYPE_MAX
};

/* Values of GW_ANSWER. */
enum gw_answer {
	GWA_CALL,
	GWA_PURPOSE,
	GWA_STATUS,
	GWA_INPUT,
	GWA_CACHED,
	GWA_OUTPUT,
	GWA_MICRO, /* UINT64_MAX unknown */
	GWA_FINISH,
	GWA_TRIES,
	GWA_FLAGS,
	GWA_BILLED /* calls of a model that it took: tries that may have been billed, usable or not;
		    * tokens are those of all of them, estimates where the endpoint told none */
};
enum {
	GWAF_MODEL = 1,  /* a model (or script, or record) answered: not made by the gateway */
	GWAF_USAGE = 2,  /* it carried usage */
	GWAF_REPEAT = 4, /* given again from the record: costs nothing */
};

/* What a GW_LAST is part of: the last tool call and its result, for who writes messages; for a user that
 * reacts the text of the last answer, and each of its calls with its result. */
enum gw_last { GWL_COMMAND, GWL_OUTPUT, GWL_SAID, GWL_DID, GWL_GOT };

/* Values of GW_SIMULATED. */
enum gw_simulated {
	GWS_NUMBER, /* of the message */
	GWS_TEXT,   /* bytes of its text, told in GW_SAID before; 0 none */
	GWS_INPUT,  /* tokens of all tries that may have been billed */
	GWS_OUTPUT,
	GWS_MICRO, /* UINT64_MAX unknown */
	GWS_BILLED,
	GWS_TRIES,
	GWS_KNOWN, /* no token count is an estimate */
	GWS_NS,    /* from the question to this */
};

struct gw_msg {
	uint32_t type; /* enum gw_type */
	uint32_t seq;  /* from 1, each direction by itself, no gaps */
	uint32_t ref;  /* seq of the message that is answered, 0 none */
	uint32_t n;    /* bytes in text */
	uint64_t v[GW_VALUES];
	char text[GW_TEXT_MAX];
};

/* One end of the conversation. */
struct gw_link {
	int fd;               /* SEQPACKET, non-blocking; owned */
	bool supervisor;      /* which end this is */
	uint32_t sent, got;   /* last numbers */
	uint32_t state;       /* enum gw_state */
	uint32_t asked;       /* seq of messages that wait for an answer (supervisor's count) */
	struct gw_msg *queue; /* owned: what the socket did not take yet, from @first on */
	uint32_t n_queue, cap_queue, first;
};

enum { GW_QUEUE_MAX = 16384 };

/* Begin at one end; takes over @fd. */
void gw_link_init(struct gw_link *l, int fd, bool supervisor);

/* Send @m (type, ref, v, text, n are the caller's; seq is set here). What the socket does not take
 * waits in the queue. Checked against the table: a message that may not be sent now is our own bug.
 * Returns seq, or 0 when the queue is full (the message is dropped). */
uint32_t gw_send(struct gw_link *l, struct gw_msg *m);

/* Try to send what waits. True while something waits still (poll for writing). */
bool gw_flush(struct gw_link *l);

/* Receive one message. 1 = @m is set and allowed now, 0 = none at present, -ERR_CHILD = the other end
 * is gone, -ERR_REFUSED = it broke the table (@err says how). */
int gw_recv(struct gw_link *l, struct gw_msg *m, struct err *err);

/* Set text of a message, cut at GW_TEXT_MAX. */
void gw_text(struct gw_msg *m, const char *s, size_t n);

/* Tell @s of @n bytes in as many messages as it needs, one when it is empty: each is @m with the offset in v[2],
 * the total in v[3], and that part as text. */
void gw_parts(const struct gw_msg *m, const char *s, size_t n,
	      void (*tell)(void *arg, struct gw_msg *m), void *arg);

/* Name of a type, for error texts. Static. */
const char *gw_type_name(uint32_t type);

/* Close and free. */
void gw_link_done(struct gw_link *l);

#endif
