/* State of a user that reacts: shared by userproc.c and userdid.c only. */
#ifndef SUPERVISOR_USERPROC_INTERNAL_H
#define SUPERVISOR_USERPROC_INTERNAL_H

#include "gateway/lastcall.h"
#include "gateway/simulate.h"
#include "supervisor/sup.h"
#include "supervisor/userbox.h"
#include "supervisor/userline.h"
#include "supervisor/userproc.h"
#include "supervisor/userview.h"

enum {
	USERPROC_HELD_MAX = 256,      /* requests that wait; the gateway has no more */
	USERPROC_BATCH = 16,          /* reads between two looks at everything else */
	USERPROC_LOG_MAX = 64 << 10,  /* bytes of user.log */
	USERPROC_COMMANDS_MAX = 64,   /* of the agent's, that one turn tells */
	USERPROC_DID_MAX = 512 << 10, /* bytes of these and their outputs */
	USERPROC_PART_MAX = LASTCALL_MAX,
	USERPROC_MODEL_MAX = 40 << 10,  /* bytes of a line that a model is shown */
	USERPROC_RECORD_MAX = 64 << 20, /* bytes of user.jsonl */
	USERPROC_TURNS_MAX = 100000,
};

struct userproc {
	const struct user *user; /* borrowed */
	struct userbox box;
	struct userview *view; /* owned; NULL = it sees nothing */
	const char *gone;      /* static: why it is not asked any more, NULL = it is */
	int log_fd, record_fd; /* owned: user.log, user.jsonl */
	size_t logged, recorded;
	struct buf send; /* lines for it, from @sent on */
	size_t sent;
	struct buf line; /* of its, as it arrives */
	uint64_t owed;   /* answers of turns that are over, which still may come */
	/* the turn */
	bool open, ended;
	uint64_t turn, call, last_call, due, asked_at;
	struct buf asked; /* its line */
	struct gw_msg held[USERPROC_HELD_MAX];
	size_t n_held;
	/* what the agent did since the last one */
	struct buf part; /* as it arrives */
	char *said, *command;
	struct strv commands, outputs, changed;
	size_t did_bytes;
	uint64_t omitted;
	/* what it did itself */
	struct strv spoken;
	uint64_t by[USER_ACTIONS], messages, late, wrong, unsaid, held_ns;
};

/* Forget what the agent did. */
void userdid_clear(struct userproc *u);

/* What the model behind the user is asked: the task, what it has said before, the line of this turn. */
void userdid_context(struct sup *s, struct buf *out);

/* Write the turn's line of user.jsonl. */
void userdid_record(struct sup *s, const struct userline_answer *a, const char *unsaid, bool late);

#endif
