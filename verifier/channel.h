/* The result channel: what a witness (our code beside or around the test runner) says, apart from
 * anything that is printed. One SOCK_SEQPACKET socket; its end in the box is an inherited descriptor
 * (a socket cannot be opened again through /proc, pidfd_getfd(2) is refused), and the kernel names
 * the process behind every record (SO_PASSCRED, unix(7)). Everything that arrives is hostile.
 *
 * A record is fields with a NUL between them: word, number, kind, then what the kind has. The word of a
 * hello is the nonce of this run, which the environment gave the witness and /proc/PID/environ still
 * shows; that of all later records is the key that the hello brought and that only the witness' memory
 * has.
 *
 *   hello WITNESS VERSION KEY the first record of a process, number 0
 *   test STATUS NAME [READER=NAME]...  one result; the other names are what that log reader says
 *   changed NAME              somebody made a failure a pass on its way to the runner's report
 *   canary NAME WANT GOT      a test of ours
 *   broken WHAT               something the witness stands on was replaced
 *   log BYTES                 output of a test program that the witness started (may hold NUL)
 *   known NAME                a test that this program says it has
 *   end TESTS BAD EXIT        results sent, failures as the runner counts them, its exit status
 *
 * Rules, each of whose breaches ends the channel as a source: the word is right; the first record of a
 * process is its hello; numbers go up by one; nothing follows the end except another
 * hello with number 0; at most CHANNEL_SESSIONS_MAX processes, CHANNEL_RECORDS_MAX records and
 * CHANNEL_BYTES_MAX bytes. */
#ifndef VERIFIER_CHANNEL_H
#define VERIFIER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "verifier/testlog.h"

#define CHANNEL_RECORD_MAX   (48u << 10)
#define CHANNEL_RECORDS_MAX  (4u * TESTLOG_RESULTS_MAX)
#define CHANNEL_BYTES_MAX    (256u << 20)
#define CHANNEL_SESSIONS_MAX 4096u
#define CHANNEL_LOG_MAX      (64u << 20) /* bytes of "log" records together */
#define CHANNEL_KNOWN_MAX    65536u      /* "known" records of one session */
#define CHANNEL_TAMPER_MAX   100u        /* rows kept; the rest is counted */

/* One process that spoke. */
struct channel_session {
	int64_t pid;
	uint64_t next; /* number of its next record */
	bool ended;
	uint64_t tests, bad; /* results that came; failures among them */
	int64_t said_bad, said_exit;
	struct buf log;    /* its "log" records */
	struct strv known; /* its "known" records */
	bool logs, cut;    /* it sends "log" records; some did not fit, or "known" ones */
	char key[65];      /* the word of its records */
	char *who;         /* owned: the witness' name, and the runner's version or the program */
};

struct channel {
	int fd;             /* our end, non-blocking; -1 = none */
	char nonce[33];     /* lower-case hex of 128 random bits */
	const char *reader; /* borrowed: whose names the results take */
	const char *root;   /* borrowed: workdir, as for log readers */
	bool unique; /* the reader's ids are unique: a name that comes again keeps the worse status */
	struct channel_session *session; /* owned; kept after their end */
	size_t n, cap;
	struct map by_pid; /* pid -> index + 1 of its newest session */
	struct test_results results;
	struct strv tamper;   /* "kind detail" */
	uint64_t tamper_more; /* rows that did not fit */
	uint64_t records, bytes, log_bytes;
	char *fault; /* owned: the first breach of a rule; later records are not looked at */
	bool lied;   /* a canary or a replaced function shows that the report cannot be trusted */
};

/* Make the socket pair and draw the nonce. @ch is {0} with reader, root and unique. *ret_box is the
 * end for the box (close-on-exec, caller closes). 0 or negative. */
int channel_open(struct channel *ch, int *ret_box, struct err *err);

/* Take what has arrived, at most some hundred records: a flood must not keep the caller from its other
 * work. True when more may be waiting. */
bool channel_drain(struct channel *ch);

/* One record of @n bytes from process @pid. */
void channel_feed(struct channel *ch, int64_t pid, const char *p, size_t n);

/* What is known outside when the box is dead. */
struct channel_facts {
	const struct testlog_reader *reader; /* for the logs of test programs */
	const char *
		log; /* the command's output, for the lines that name programs; NULL = not needed */
	size_t log_len;
	int exit_status; /* of the command */
	bool plain;      /* that is the runner's */
	bool excused;    /* it may tell of a failure that no session knows */
};

/* Everybody who could speak is dead: read the logs of test programs, and decide whether ch->results are
 * complete (its incomplete and note say). */
void channel_settle(struct channel *ch, const struct channel_facts *f);

/* Did any witness say hello? */
bool channel_spoken(const struct channel *ch);

/* Name and version of the first witness, NULL when none spoke. Borrowed. */
const char *channel_who(const struct channel *ch);

/* Release everything. */
void channel_done(struct channel *ch);

#endif
