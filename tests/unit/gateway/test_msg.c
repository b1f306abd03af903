/* The conversation of gateway and supervisor: numbers, the table of what is allowed when, a socket that
 * does not take everything. */
#include "gateway/msg.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/tap.h"

struct pair {
	struct gw_link sup, gw;
	int raw; /* the gateway's end, to send what no honest gateway would */
};

static void pair_init(struct pair *p)
{
	int sv[2] = { -1, -1 };

	tap_ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sv) == 0,
	       "a pair of sockets");
	gw_link_init(&p->sup, sv[0], true);
	gw_link_init(&p->gw, sv[1], false);
	p->raw = sv[1];
}

static void pair_done(struct pair *p)
{
	gw_link_done(&p->sup);
	gw_link_done(&p->gw);
}

static int recv_type(struct gw_link *l, struct gw_msg *m)
{
	struct err err = { ERR_NONE, 0, "" };
	int rc = gw_recv(l, m, &err);

	return rc > 0 ? (int)m->type : rc;
}

static void test_honest(void)
{
	struct pair p;
	struct gw_msg m = { .type = GW_READY }, q = { .type = GW_REQUEST, .v = { 7 } };
	uint32_t seq;

	pair_init(&p);
	tap_ok(recv_type(&p.sup, &m) == 0, "nothing is there at first");
	m = (struct gw_msg){ .type = GW_READY };
	(void)gw_send(&p.gw, &m);
	seq = gw_send(&p.gw, &q);
	tap_is_u64(seq, 2, "messages are numbered from 1");
	tap_ok(recv_type(&p.sup, &m) == GW_READY && recv_type(&p.sup, &m) == GW_REQUEST,
	       "and come in order");
	tap_is_u64(m.v[0], 7, "with their values");
	q = (struct gw_msg){ .type = GW_GO, .ref = m.seq };
	(void)gw_send(&p.sup, &q);
	tap_ok(recv_type(&p.gw, &m) == GW_GO && m.ref == 2, "the answer names the question");
	gw_link_done(&p.sup);
	tap_ok(recv_type(&p.gw, &m) == -ERR_CHILD, "the end of the other end is seen");
	pair_done(&p);
}

/* One message straight into the socket, in state "running" when @ready. */
static void dishonest(bool ready, struct gw_msg bad, size_t n, const char *want)
{
	struct pair p;
	struct gw_msg m = { .type = GW_READY };
	struct err err = { ERR_NONE, 0, "" };
	int rc;

	pair_init(&p);
	if (ready) {
		(void)gw_send(&p.gw, &m);
		(void)gw_recv(&p.sup, &m, &err);
	}
	tap_ok(send(p.raw, &bad, n, 0) == (ssize_t)n, "sent");
	rc = gw_recv(&p.sup, &m, &err);
	tap_ok(rc == -ERR_REFUSED && strstr(err.text, want), "refused: %s", err.text);
	pair_done(&p);
}

static void test_dishonest(void)
{
	size_t n = sizeof(struct gw_msg);

	dishonest(false, (struct gw_msg){ .type = GW_REQUEST, .seq = 1 }, n, "not allowed now");
	dishonest(true, (struct gw_msg){ .type = GW_READY, .seq = 2 }, n, "not allowed now");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 3 }, n, "out of order");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 1 }, n, "out of order");
	dishonest(true, (struct gw_msg){ .type = 0, .seq = 2 }, n, "no known type");
	dishonest(true, (struct gw_msg){ .type = GW_TYPE_MAX, .seq = 2 }, n, "no known type");
	dishonest(true, (struct gw_msg){ .type = 0xffffffff, .seq = 2 }, n, "no known type");
	dishonest(true, (struct gw_msg){ .type = GW_GO, .seq = 2, .ref = 1 }, n, "other way");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 2, .n = GW_TEXT_MAX + 1 }, n,
		  "longer than its text");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 2, .ref = 1 }, n,
		  "nothing that was");
	dishonest(true, (struct gw_msg){ .type = GW_SIMULATE, .seq = 2 }, n, "other way");
	dishonest(true, (struct gw_msg){ .type = GW_SIMULATED, .seq = 2 }, n, "nothing that was");
	dishonest(true, (struct gw_msg){ .type = GW_SIMULATED, .seq = 2, .ref = 1 }, n,
		  "nothing that was");
	dishonest(false, (struct gw_msg){ .type = GW_SAID, .seq = 1 }, n, "not allowed now");
	dishonest(false, (struct gw_msg){ .type = GW_LAST, .seq = 1 }, n, "not allowed now");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 2 }, n - 1, "bytes");
	dishonest(true, (struct gw_msg){ .type = GW_DNS, .seq = 2 }, 1, "bytes");
}

static void test_full_socket(void)
{
	struct pair p;
	struct gw_msg m = { .type = GW_READY };
	uint32_t sent = 0;
	bool more = true;

	pair_init(&p);
	(void)gw_send(&p.gw, &m);
	for (uint32_t i = 0; i < 20000; i++) {
		m = (struct gw_msg){ .type = GW_CLOSED, .v = { i } };
		sent += gw_send(&p.gw, &m) != 0;
	}
	tap_ok(p.gw.n_queue <= GW_QUEUE_MAX && sent < 20000,
	       "what nobody takes is bounded: %u sent", sent);
	while (more) {
		more = gw_flush(&p.gw);
		while (recv_type(&p.sup, &m) > 0)
			;
	}
	tap_is_u64(p.sup.got, sent + 1, "all that were taken arrive, in order");
	pair_done(&p);
}

/* A message that is to be written, and its parts back. */
static void test_simulated(void)
{
	struct pair p;
	struct gw_msg m = { .type = GW_READY }, q = { .type = GW_SIMULATE, .v = { 1, 0, 0, 2 } };
	uint32_t seq;

	pair_init(&p);
	tap_ok(gw_send(&p.sup, &q) == 0, "not before the gateway is there");
	(void)gw_send(&p.gw, &m);
	(void)recv_type(&p.sup, &m);
	gw_text(&q, "ab", 2);
	seq = gw_send(&p.sup, &q);
	tap_ok(seq && recv_type(&p.gw, &m) == GW_SIMULATE && m.n == 2, "a context goes out");
	q = (struct gw_msg){ .type = GW_SAID, .v = { 1, 0, 0, 1 } };
	gw_text(&q, "x", 1);
	(void)gw_send(&p.gw, &q);
	q = (struct gw_msg){ .type = GW_SIMULATED, .ref = seq, .v = { 1, 1 } };
	(void)gw_send(&p.gw, &q);
	tap_ok(recv_type(&p.sup, &m) == GW_SAID && recv_type(&p.sup, &m) == GW_SIMULATED &&
		       m.ref == seq,
	       "the text comes back as its answer");
	pair_done(&p);
}

int main(void)
{
	test_honest();
	test_simulated();
	test_dishonest();
	test_full_socket();
	return tap_done();
}
