#include "verifier/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/mem.h"
#include "verifier/channel_internal.h"
#include "verifier/verdict_read.h"

#define DRAIN_MAX       512 /* records at one go */
#define FIELDS_MAX      12  /* of one record */
#define CHANNEL_KEY_MIN 16  /* hex digits of a witness' key */

/* One record taken apart; strings are NUL-terminated inside @text. */
struct record {
	const char *field[FIELDS_MAX]; /* what stands behind the kind */
	size_t n;
	const char *bytes; /* the same place as raw bytes */
	size_t n_bytes;
};

struct kind {
	const char *name;
	size_t fields; /* at least */
	void (*take)(struct channel *ch, struct channel_session *s, const struct record *r);
};

void channel_fault(struct channel *ch, const char *fmt, ...)
{
	va_list ap;

	if (ch->fault)
		return;
	va_start(ap, fmt);
	ch->fault = mem_vprintf(fmt, ap);
	va_end(ap);
	channel_tamper(ch, "channel", ch->fault);
}

void channel_tamper(struct channel *ch, const char *kind, const char *detail)
{
	char *row;

	if (ch->tamper.n >= CHANNEL_TAMPER_MAX) {
		ch->tamper_more++;
		return;
	}
	row = mem_printf("%s %.1000s", kind, detail);
	for (char *c = row; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	if (strv_has(&ch->tamper, row))
		free(row);
	else
		strv_take(&ch->tamper, row);
}

void channel_result(struct channel *ch, const char *name, size_t n, enum test_status s)
{
	auto_free char *id = testlog_name(name, n, ch->root);

	if (ch->unique)
		testlog_add_worse(&ch->results, id, strlen(id), s, 0, 0);
	else
		testlog_add(&ch->results, id, strlen(id), s, 0, 0);
}

/* "-1" to 2^31-1; anything else is -1, which means unknown. */
static int64_t number(const char *s)
{
	uint64_t v;

	return str_u64(s, &v) == 0 && v <= INT32_MAX ? (int64_t)v : -1;
}

static void take_hello(struct channel *ch, struct channel_session *s, const struct record *r)
{
	size_t n = strlen(r->field[2]);

	free(s->who);
	/* A program's name is looked for in the log: as long as profiles/data/witness/exec.c sends it. */
	s->who = mem_printf("%.64s %.200s", r->field[0], r->field[1]);
	if (n < CHANNEL_KEY_MIN || n >= sizeof(s->key))
		channel_fault(ch, "a hello without a key");
	else
		memcpy(s->key, r->field[2], n + 1);
}

static void take_test(struct channel *ch, struct channel_session *s, const struct record *r)
{
	size_t len = strlen(ch->reader);
	int word = verdict_status_of(r->field[0]);
	enum test_status st = word < 0 ? TEST_MISSING : (enum test_status)word;
	bool other = false;

	if (st == TEST_MISSING) {
		channel_fault(ch, "a record with the unknown status \"%.32s\"", r->field[0]);
		return;
	}
	s->tests++;
	s->bad += st == TEST_FAILED || st == TEST_ERROR;
	for (size_t i = 2; i < r->n; i++) {
		const char *alt = r->field[i];

		if (strncmp(alt, ch->reader, len) != 0 || alt[len] != '=')
			continue;
		channel_result(ch, alt + len + 1, strlen(alt + len + 1), st);
		other = true;
	}
	if (!other)
		channel_result(ch, r->field[1], strlen(r->field[1]), st);
}

static void take_changed(struct channel *ch, struct channel_session *s, const struct record *r)
{
	(void)s;
	channel_tamper(ch, "report-hook", r->field[0]);
}

/* A test of ours that must fail and did not: then a pass of any other test says nothing. One that must
 * pass and did not is no sign of a lie: nobody gains by it. */
static void take_canary(struct channel *ch, struct channel_session *s, const struct record *r)
{
	(void)s;
	if (strcmp(r->field[1], "failed") != 0 || strcmp(r->field[2], "failed") == 0 ||
	    strcmp(r->field[2], "error") == 0)
		return;
	ch->lied = true;
	channel_tamper(ch, "canary", r->field[0]);
}

static void take_broken(struct channel *ch, struct channel_session *s, const struct record *r)
{
	(void)s;
	ch->lied = true;
	channel_tamper(ch, "witness", r->field[0]);
}

static void take_log(struct channel *ch, struct channel_session *s, const struct record *r)
{
	s->logs = true;
	if (!s->log.max)
		s->log.max = CHANNEL_LOG_MAX;
	if (ch->log_bytes + r->n_bytes > CHANNEL_LOG_MAX ||
	    buf_add(&s->log, r->bytes, r->n_bytes) < 0)
		s->cut = true;
	else
		ch->log_bytes += r->n_bytes;
}

static void take_known(struct channel *ch, struct channel_session *s, const struct record *r)
{
	(void)ch;
	if (s->known.n < CHANNEL_KNOWN_MAX)
		strv_take(&s->known, testlog_name(r->field[0], strlen(r->field[0]), NULL));
	else
		s->cut = true;
}

static void take_end(struct channel *ch, struct channel_session *s, const struct record *r)
{
	int64_t tests = number(r->field[0]);

	s->ended = true;
	s->said_bad = number(r->field[1]);
	s->said_exit = number(r->field[2]);
	if (tests >= 0 && (uint64_t)tests != s->tests)
		channel_fault(ch,
			      "the witness counted %" PRIi64 " results, but %" PRIu64 " arrived",
			      tests, s->tests);
}

/* clang-format off */
static const struct kind kinds[] = {
	{ "hello",   3, take_hello },
	{ "test",    2, take_test },
	{ "changed", 1, take_changed },
	{ "canary",  3, take_canary },
	{ "broken",  1, take_broken },
	{ "log",     0, take_log },
	{ "known",   1, take_known },
	{ "end",     3, take_end },
};
/* clang-format on */

static struct channel_session *session_of(const struct channel *ch, int64_t pid)
{
	void *at = map_get(&ch->by_pid, (uint64_t)pid);

	return at ? &ch->session[(uintptr_t)at - 1] : NULL;
}

/* A process that says hello. After its end it may do so again: a runner can be called twice in one
 * process, and the kernel gives numbers of dead processes away again. */
static struct channel_session *begin(struct channel *ch, int64_t pid)
{
	struct channel_session *s = session_of(ch, pid);

	if (s && !s->ended) {
		channel_fault(ch, "a witness said hello twice");
		return NULL;
	}
	if (ch->n >= CHANNEL_SESSIONS_MAX) {
		channel_fault(ch, "more than %u processes spoke", CHANNEL_SESSIONS_MAX);
		return NULL;
	}
	MEM_GROW(ch->session, ch->cap, ch->n + 1);
	s = &ch->session[ch->n++];
	*s = (struct channel_session){ .pid = pid, .said_bad = -1, .said_exit = -1 };
	map_put(&ch->by_pid, (uint64_t)pid, (void *)(uintptr_t)ch->n); // NOLINT: a position
	return s;
}

/* The next NUL-terminated field at *@at, NULL when there is none. */
static const char *next_field(const char **at, const char *end)
{
	const char *s = *at, *nul = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	if (nul)
		*at = nul + 1;
	return nul ? s : NULL;
}

static void carry_out(struct channel *ch, int64_t pid, const char *word, uint64_t no,
		      const char *kind, const struct record *r)
{
	struct channel_session *s = session_of(ch, pid);
	const struct kind *k = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			k = &kinds[i];
	if (!k || r->n < k->fields) {
		channel_fault(ch, "a record that is none (\"%.32s\")", kind);
		return;
	}
	if (k->take == take_hello && no == 0 && strcmp(word, ch->nonce) == 0)
		s = begin(ch, pid);
	else if (!s)
		channel_fault(ch, "a process that is no witness sent \"%s\"", kind);
	else if (strcmp(word, s->key) != 0)
		channel_fault(ch, "a record (\"%s\") without its witness' word", kind);
	else if (s->ended)
		channel_fault(ch, "a record (\"%s\") after the end", kind);
	else if (no != s->next)
		channel_fault(ch, "record %" PRIu64 " came where %" PRIu64 " was due", no, s->next);
	if (ch->fault || !s)
		return;
	s->next = no + 1;
	k->take(ch, s, r);
}

void channel_feed(struct channel *ch, int64_t pid, const char *p, size_t n)
{
	auto_free char *text = NULL;
	const char *at, *end, *word, *no_text, *kind;
	struct record r = { 0 };
	uint64_t no;

	ch->records++;
	ch->bytes += n;
	if (ch->fault)
		return;
	if (ch->records > CHANNEL_RECORDS_MAX || ch->bytes > CHANNEL_BYTES_MAX ||
	    n > CHANNEL_RECORD_MAX) {
		channel_fault(ch, "more records than a witness sends");
		return;
	}
	text = mem_dup(p, n); /* with a NUL behind, which ends the last field */
	at = text;
	end = text + n + 1;
	word = next_field(&at, end);
	no_text = next_field(&at, end);
	kind = next_field(&at, end);
	if (!word || !no_text || str_u64(no_text, &no) < 0 || !kind) {
		channel_fault(ch, "a record that is none");
		return;
	}
	r.bytes = at < end ? at : "";
	r.n_bytes = at < end ? (size_t)(end - at) - 1 : 0;
	while (r.n < FIELDS_MAX && (r.field[r.n] = next_field(&at, end)))
		r.n++;
	carry_out(ch, pid, word, no, kind, &r);
}

int channel_open(struct channel *ch, int *ret_box, struct err *err)
{
	unsigned char word[16];
	int ends[2], on = 1;

	ch->fd = -1;
	if (getrandom(word, sizeof(word), 0) != sizeof(word))
		return err_sys(err, "cannot draw random bytes");
	for (size_t i = 0; i < sizeof(word); i++) {
		static const char hex[] = "0123456789abcdef";

		ch->nonce[2 * i] = hex[word[i] >> 4];
		ch->nonce[2 * i + 1] = hex[word[i] & 15];
	}
	ch->nonce[32] = '\0';
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(err, "cannot make the result channel");
	ch->fd = ends[0];
	/* Only our end must not block: a witness waits until there is room. */
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
		close(ends[1]);
		return err_sys(err, "cannot set up the result channel");
	}
	*ret_box = ends[1];
	return 0;
}

bool channel_drain(struct channel *ch)
{
	char bytes[CHANNEL_RECORD_MAX + 1];
	/* Room for the credentials alone: descriptors that somebody sends along are closed by the
	 * kernel (MSG_CTRUNC). */
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} ctl;

	for (int i = 0; i < DRAIN_MAX && ch->fd >= 0; i++) {
		struct iovec iov = { bytes, sizeof(bytes) };
		struct msghdr msg = { .msg_iov = &iov,
				      .msg_iovlen = 1,
				      .msg_control = ctl.bytes,
				      .msg_controllen = sizeof(ctl.bytes) };
		struct ucred cred = { .pid = 0 };
		struct cmsghdr *c;
		ssize_t n = recvmsg(ch->fd, &msg, MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return false;
		/* An empty record cannot be told from the end of the file (recv(2)), nor need it be:
		 * credentials come with records only. */
		c = CMSG_FIRSTHDR(&msg);
		if (n < 0 || (n == 0 && !c)) {
			mem_close(&ch->fd);
			return false;
		}
		if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		channel_feed(ch, cred.pid, bytes, (size_t)n);
	}
	return ch->fd >= 0;
}

bool channel_spoken(const struct channel *ch)
{
	return ch->n > 0;
}

const char *channel_who(const struct channel *ch)
{
	return ch->n ? ch->session[0].who : NULL;
}

void channel_done(struct channel *ch)
{
	for (size_t i = 0; i < ch->n; i++) {
		buf_done(&ch->session[i].log);
		strv_done(&ch->session[i].known);
		free(ch->session[i].who);
	}
	free(ch->session);
	free(ch->fault);
	map_done(&ch->by_pid);
	testlog_done(&ch->results);
	strv_done(&ch->tamper);
	mem_close(&ch->fd);
}
