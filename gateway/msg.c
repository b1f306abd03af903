#include "gateway/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

/* A link is in one of these; a message is allowed in a set of them. */
enum gw_state { GWS_STARTING = 1, GWS_RUNNING = 2, GWS_ENDING = 4, GWS_OVER = 8 };

#define LIVE (GWS_RUNNING | GWS_ENDING)

/* What is allowed when. */
struct row {
	const char *name;
	bool from_gateway;
	uint8_t when; /* set of enum gw_state */
	uint8_t then; /* state afterwards, 0 = the same */
	uint8_t ref;  /* type that @ref must have been sent for, 0 = ref must be 0 */
};

/* clang-format off */
static const struct row rows[GW_TYPE_MAX] = {
	[GW_READY]    = { "ready",    true,  GWS_STARTING,        GWS_RUNNING },
	[GW_REQUEST]  = { "request",  true,  LIVE },
	[GW_PLACED]   = { "placed",   true,  LIVE },
	[GW_STRIPPED] = { "stripped", true,  LIVE },
	[GW_TOOL]     = { "tool",     true,  LIVE },
	[GW_ANSWER]   = { "answer",   true,  LIVE },
	[GW_SPENT]    = { "spent",    true,  LIVE },
	[GW_DNS]      = { "dns",      true,  LIVE },
	[GW_CONNECT]  = { "connect",  true,  LIVE },
	[GW_CLOSED]   = { "closed",   true,  LIVE },
	[GW_ROUTE]    = { "route",    true,  LIVE },
	[GW_MISMATCH] = { "mismatch", true,  LIVE },
	[GW_UNMET]    = { "unmet",    true,  LIVE },
	[GW_LAST]     = { "last",     true,  LIVE },
	[GW_SAID]     = { "said",     true,  LIVE },
	[GW_SIMULATED] = { "simulated", true, LIVE,               0, GW_SIMULATE },
	[GW_DONE]     = { "done",     true,  LIVE,                GWS_OVER },
	[GW_FAILED]   = { "failed",   true,  GWS_STARTING | LIVE, GWS_OVER },
	[GW_GO]       = { "go",       false, LIVE,                0, GW_REQUEST },
	[GW_ACK]      = { "ack",      false, LIVE,                0, GW_ANSWER },
	[GW_TEXT]     = { "text",     false, LIVE },
	[GW_SIMULATE] = { "simulate", false, LIVE },
	[GW_ENDING]   = { "ending",   false, LIVE,                GWS_ENDING },
	[GW_BYE]      = { "bye",      false, LIVE,                GWS_ENDING },
	[GW_PING]     = { "ping",     false, LIVE },
	[GW_PONG]     = { "pong",     true,  LIVE,                0, GW_PING },
};
/* clang-format on */

const char *gw_type_name(uint32_t type)
{
	return type < GW_TYPE_MAX && rows[type].name ? rows[type].name : "unknown";
}

void gw_link_init(struct gw_link *l, int fd, bool supervisor)
{
	*l = (struct gw_link){ .fd = fd, .supervisor = supervisor, .state = GWS_STARTING };
}

void gw_link_done(struct gw_link *l)
{
	mem_close(&l->fd);
	free(l->queue);
	l->queue = NULL;
	l->n_queue = l->cap_queue = l->first = 0;
}

void gw_text(struct gw_msg *m, const char *s, size_t n)
{
	m->n = n < GW_TEXT_MAX ? (uint32_t)n : GW_TEXT_MAX;
	memcpy(m->text, s, m->n);
}

void gw_parts(const struct gw_msg *m, const char *s, size_t n,
	      void (*tell)(void *arg, struct gw_msg *m), void *arg)
{
	size_t at = 0;

	do {
		struct gw_msg part = *m;

		part.v[2] = at;
		part.v[3] = n;
		gw_text(&part, s + at, n - at);
		at += part.n;
		tell(arg, &part);
	} while (at < n);
}

static bool put(struct gw_link *l, const struct gw_msg *m)
{
	if (send(l->fd, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EINTR)
		return false;
	/* The other end is gone, or a message is lost, behind which no other makes sense: the link is over, and
	 * the reader finds out at both ends. */
	(void)shutdown(l->fd, SHUT_RDWR); /* over already */
	return true;
}

bool gw_flush(struct gw_link *l)
{
	while (l->n_queue && put(l, l->queue + l->first)) {
		l->first++;
		l->n_queue--;
	}
	if (!l->n_queue)
		l->first = 0;
	return l->n_queue > 0;
}

/* Messages are large and the queue may be long: it is moved to the front when half of it is free, not each
 * time that one has gone. */
static void append(struct gw_link *l, const struct gw_msg *m)
{
	if (l->first > l->cap_queue / 2) {
		memmove(l->queue, l->queue + l->first, l->n_queue * sizeof(*l->queue));
		l->first = 0;
	}
	if (l->first + l->n_queue == l->cap_queue) {
		l->cap_queue = l->cap_queue ? 2 * l->cap_queue : 16;
		l->queue = mem_realloc(l->queue, l->cap_queue, sizeof(*l->queue));
	}
	l->queue[l->first + l->n_queue++] = *m;
}

uint32_t gw_send(struct gw_link *l, struct gw_msg *m)
{
	const struct row *r = &rows[m->type];

	ensure(m->type < GW_TYPE_MAX && r->name && r->from_gateway != l->supervisor,
	       "a message of this end");
	if (!(r->when & l->state))
		return 0; /* the run is over for us: nobody waits for it */
	if (l->n_queue >= GW_QUEUE_MAX)
		return 0;
	m->seq = ++l->sent;
	if (r->then)
		l->state = r->then;
	if (gw_flush(l) || !put(l, m))
		append(l, m);
	return m->seq;
}

static int broken(const struct gw_msg *m, struct err *err, const char *how)
{
	return err_set(err, ERR_REFUSED, "the gateway broke its rules: message %u (%s) %s", m->seq,
		       gw_type_name(m->type), how);
}

/* The table, applied to what the other end sent. */
static int check(struct gw_link *l, const struct gw_msg *m, struct err *err)
{
	const struct row *r = m->type < GW_TYPE_MAX ? &rows[m->type] : NULL;

	if (!r || !r->name)
		return broken(m, err, "is of no known type");
	if (m->seq != l->got + 1)
		return broken(m, err, "is out of order");
	if (m->n > GW_TEXT_MAX)
		return broken(m, err, "is longer than its text");
	if (r->from_gateway != l->supervisor)
		return broken(m, err, "goes the other way");
	if (!(r->when & l->state))
		return broken(m, err, "is not allowed now");
	if (!r->ref != !m->ref || m->ref > l->sent)
		return broken(m, err, "answers nothing that was asked");
	return 0;
}

int gw_recv(struct gw_link *l, struct gw_msg *m, struct err *err)
{
	ssize_t n;
	int rc;

	do
		n = recv(l->fd, m, sizeof(*m), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return err_set(err, ERR_CHILD, "the other end of the gateway's socket is gone");
	if (n != (ssize_t)sizeof(*m))
		return err_set(err, ERR_REFUSED,
			       "the gateway broke its rules: a message of %zd "
			       "bytes",
			       n);
	rc = check(l, m, err);
	if (rc < 0)
		return rc;
	l->got = m->seq;
	if (rows[m->type].then)
		l->state = rows[m->type].then;
	return 1;
}
