/* User messages that the client does not know of: each is put into the first main request after it
 * was given, behind all tool results, and again at the same place into every later request. The
 * place is remembered by what stands before it (a tool call id, else a digest), never by number:
 * compaction and truncation move numbers. */
#ifndef GATEWAY_ANCHOR_H
#define GATEWAY_ANCHOR_H

#include "base/buf.h"
#include "gateway/api.h"

enum { ANCHORS_MAX = 256, ANCHOR_TEXT_MAX = 64 << 10 };

enum reattach { REATTACH_NEVER, REATTACH_ONCE };

struct anchor {
	char *text;              /* owned */
	char *id;                /* owned: tool call id before it; NULL = digest counts */
	char digest[DIGEST_HEX]; /* of kind and text of the item before it (canon_text()) */
	uint32_t nth;            /* how many items like that one stood before it, itself included;
				  * when fewer are left, the last of them is taken */
	bool placed;             /* it has its anchor */
	bool moved;              /* it was attached again once */
	bool lost;     /* its anchor vanished (compaction) and it was not attached again */
	uint64_t call; /* first request that carried it */
};

struct anchors {
	struct anchor v[ANCHORS_MAX];
	size_t n;
	enum reattach reattach;
};

/* What anchors_place() did with one message. */
struct placed {
	size_t index; /* of the message */
	bool first, again_elsewhere, lost_now;
	uint32_t entry; /* behind which entry of the client's list; 0 with lost_now */
};

/* Give a message. 0, or -ERR_LIMIT (too many, too long). */
int anchors_add(struct anchors *a, const char *text, size_t n, struct err *err);

/* Queue the edits that put every message into main request @q as call @call; what was done is told
 * in @done (room for ANCHORS_MAX). A request without any item gets none: they wait. Several messages behind one item keep their order. With
 * q->stateful a placed message is not put in again: the server has it. Returns how many were put in. */
size_t anchors_place(struct anchors *a, const struct api_request *q, uint64_t call,
		     struct jedit *edits, struct placed *done, size_t *n_done);

/* Is a message waiting for its first request? */
bool anchors_waiting(const struct anchors *a);

/* Free. */
void anchors_done(struct anchors *a);

#endif
