/* Trace records: one JSON line per event. The writer builds the line in a buffer without cJSON,
 * because it runs once per system call of the agent; the reader hands out parsed objects. */
#ifndef BASE_TRACEREC_H
#define BASE_TRACEREC_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Kinds of records, in the order of docs/formats. */
enum trace_kind {
	TK_EXEC,
	TK_SPAWN,
	TK_EXIT,
	TK_OPEN,
	TK_READ,
	TK_WRITE,
	TK_MAP,
	TK_CLOSE,
	TK_EDIT,  /* a followed file has new contents; lines of the change */
	TK_IMAGE, /* the first contents of a followed file */
	TK_RENAME,
	TK_LINK,
	TK_UNLINK,
	TK_TRUNCATE,
	TK_MKDIR,
	TK_CHMOD,
	TK_CONNECT,
	TK_BIND,
	TK_DNS,
	TK_KILL,
	TK_SYSCALL, /* level full: a call without a kind of its own */
	TK_SIGNAL,
	TK_DENY,
	TK_TOUCH,
	TK_INTERVENE,
	TK_MODEL, /* an answer of the model was given to the agent */
	TK_TOOL,  /* a tool call in it */
	TK_RELAY, /* a connection through the gateway ended */
	TK_BUDGET,
	TK_STEP,      /* a request of the main conversation: digests of it and of the workspace */
	TK_FORK,      /* the recorded prefix ends here */
	TK_AUTHORITY, /* goal or verifier has another version from here on */
	TK_SERVICE,   /* a side service was asked, or changed */
	TK_COMMAND,
	TK_NOTE,
	TK_END,
	TK_MAX
};

/* Name of a kind as it stands in the file ("exec", ...). */
const char *tracerec_name(enum trace_kind kind);

/* Kind of a name, TK_MAX when there is none. */
enum trace_kind tracerec_kind(const char *name);

/* What every record carries. */
struct tracerec_head {
	uint64_t n;     /* sequence number from 1 */
	uint64_t t;     /* ns since the run began, CLOCK_MONOTONIC */
	pid_t pid, tid; /* as the host sees them; 0 = proctor itself */
	uint32_t cmd;   /* command id, 0 = the agent's own process */
	uint32_t ep;    /* workspace epoch: interventions applied so far */
};

/* Begin a line. */
void tracerec_begin(struct buf *b, enum trace_kind kind, const struct tracerec_head *head);

/* One field each; @key is ours and needs no escaping. */
void tracerec_str(struct buf *b, const char *key, const char *s, size_t n);
void tracerec_u64(struct buf *b, const char *key, uint64_t v); /* as tracerec_str() */
void tracerec_i64(struct buf *b, const char *key, int64_t v);  /* as tracerec_str() */

/* "lines":[first,last]; left out when first is 0. */
void tracerec_lines(struct buf *b, uint64_t first, uint64_t last);

/* An array of strings, @n of them. */
void tracerec_strings(struct buf *b, const char *key, char *const *v, size_t n);

/* End the line. */
void tracerec_end(struct buf *b);

/* Call @fn for each record of the trace file @path in order. A last line that was cut by a kill
 * is passed over and *ret_cut set; any other bad line is an error. @fn returns 0 to go on.
 * 0, what @fn returned, or -ERR_INPUT. @rec is borrowed for the call. */
int tracerec_read(const char *path, int (*fn)(const cJSON *rec, void *arg), void *arg,
		  bool *ret_cut, struct err *err);

#endif
