#include "supervisor/gwlink.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/anchor.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/gwsim.h"
#include "supervisor/userproc.h"

enum {
	GOODBYE_MS = 5000,
	BATCH = 32, /* messages between two looks at everything else */
};

/* Each of the two takes its parts. */
static void last(struct sup *s, const struct gw_msg *m)
{
	gwsim_last(s, m);
	userproc_last(s, m);
}

static void pong(struct sup *s, const struct gw_msg *m)
{
	(void)m;
	watchdog_answer(s, WATCHDOG_GATEWAY);
}

bool gwlink_ping(struct sup *s)
{
	struct gw_msg m = { .type = GW_PING };

	return s->gw && !s->gw_over && gw_send(&s->gw->link, &m) != 0;
}

/* clang-format off */
static void (*const handlers[GW_TYPE_MAX])(struct sup *s, const struct gw_msg *m) = {
	[GW_REQUEST]  = gwmodel_request,
	[GW_PLACED]   = gwmodel_placed,
	[GW_STRIPPED] = gwmodel_stripped,
	[GW_TOOL]     = gwmodel_tool,
	[GW_ANSWER]   = gwmodel_answer,
	[GW_SPENT]    = gwmodel_spent,
	[GW_ROUTE]    = gwmodel_route,
	[GW_MISMATCH] = gwmodel_mismatch,
	[GW_UNMET]    = gwmodel_unmet,
	[GW_LAST]     = last,
	[GW_SAID]     = gwsim_said,
	[GW_SIMULATED] = gwsim_simulated,
	[GW_DNS]      = gwnet_dns,
	[GW_CONNECT]  = gwnet_connect,
	[GW_CLOSED]   = gwnet_closed,
	[GW_PONG]     = pong,
};
/* clang-format on */

const char *gwlink_text(const struct gw_msg *m, unsigned i, char out[GW_TEXT_MAX + 1])
{
	const char *p = m->text, *end = m->text + m->n;

	while (i && p < end) {
		p += strnlen(p, (size_t)(end - p)) + 1;
		i--;
	}
	out[0] = '\0';
	if (p < end) {
		size_t n = strnlen(p, (size_t)(end - p));

		memcpy(out, p, n);
		out[n] = '\0';
	}
	return out;
}

void gwlink_reply(struct sup *s, const struct gw_msg *m, enum gw_type type)
{
	struct gw_msg r = { .type = type, .ref = m->seq };

	(void)gw_send(&s->gw->link, &r); /* a gateway that is gone is noticed at its end */
}

void gwlink_deny(struct sup *s, struct process *p, const char *what, const char *rule)
{
	pid_t pid = p ? p->pid : 0;
	struct buf *b = sink_begin(s->sink, TK_DENY, pid, pid, p ? p->cmd : 0, s->epoch);

	tracerec_str(b, "what", what, strlen(what));
	tracerec_str(b, "rule", rule, strlen(rule));
	if (p && p->exe)
		tracerec_str(b, "exe", p->exe, strlen(p->exe));
	sink_end(s->sink);
	sup_denied(s, what, rule);
}

void gwlink_error(struct sup *s, enum err_code code, const char *text)
{
	struct err err;

	err_set(&err, code, "%s", text);
	sup_engine_failed(s, &err);
}

/* Its codes are ours, but it is not believed: see gateway/gateway.h. */
static void failed(struct sup *s, uint64_t code, const char *text)
{
	bool known = code >= ERR_USAGE && code <= ERR_CHILD;
	auto_free char *why = mem_printf("the gateway: %s", text);

	s->gw_over = true;
	gwlink_error(s, known ? (enum err_code)code : ERR_CHILD, why);
}

static void done(struct sup *s, uint64_t untold)
{
	struct buf *b;

	s->gw_over = true;
	if (!untold)
		return;
	b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);
	tracerec_u64(b, "network_untold", untold);
	sink_end(s->sink);
}

void gwlink_event(struct sup *s)
{
	char text[GW_TEXT_MAX + 1];
	struct gw_msg m;
	struct err err;
	int rc = 0;

	/* Bounded: a box that opens connections faster than we write records would keep us here, where no
	 * limit and no signal is looked at. What is left brings us back at once. */
	for (int i = 0; i < BATCH && s->gw && !s->gw_over && !s->alone; i++) {
		rc = gw_recv(&s->gw->link, &m, &err);
		if (rc <= 0)
			break;
		if (m.type == GW_FAILED)
			failed(s, m.v[0], gwlink_text(&m, 0, text));
		else if (m.type == GW_DONE)
			done(s, m.v[0]);
		else if (handlers[m.type])
			handlers[m.type](s, &m);
	}
	if (rc < 0 && !s->gw_over) {
		s->gw_over = true;
		if (s->phase < SUP_KILLED)
			gwlink_error(s, err.code, err.text);
	}
}

void gwlink_died(struct sup *s)
{
	s->gw_reaped = true;
	gwlink_event(s); /* what it said before; then its end */
}

void gwlink_tick(struct sup *s)
{
	if (!s->gw || s->gw_over)
		return;
	(void)gw_flush(&s->gw->link); /* what is left is tried at the next tick */
	gwlink_event(s);
}

int gwlink_message(struct sup *s, const char *text, struct err *err)
{
	size_t n = strlen(text), at = 0;
	uint64_t id = ++s->gw_messages;

	if (!s->gw || s->gw_over || !s->plan->model)
		return err_set(
			err, ERR_CHILD,
			"the agent has no model API, so no message can go through it; set its "
			"message_via to stdin, pty, file: or exec:");
	if (n > ANCHOR_TEXT_MAX || id > ANCHORS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d messages, or one longer than %d bytes",
			       ANCHORS_MAX, ANCHOR_TEXT_MAX);
	do {
		struct gw_msg m = { .type = GW_TEXT, .v = { id, at, n } };

		gw_text(&m, text + at, n - at);
		at += m.n;
		if (!gw_send(&s->gw->link, &m))
			return err_set(err, ERR_CHILD,
				       "the gateway does not take messages any more");
	} while (at < n);
	return 0;
}

void gwlink_ending(struct sup *s, enum limit_kind why)
{
	struct gw_msg m = { .type = GW_ENDING, .v = { why } };

	m.v[1] = s->plan->profile->on_limit == ON_LIMIT_FINISH;
	if (s->gw && !s->gw_over)
		(void)gw_send(&s->gw->link, &m); /* gone: there is nobody to tell */
}

static void goodbye(struct sup *s)
{
	uint64_t end = clock_mono() + GOODBYE_MS * CLOCK_MS, now;
	struct gw_msg m = { .type = GW_BYE };

	if (!s->gw || s->gw_over)
		return;
	s->alone = 0;                    /* nobody lives */
	(void)gw_send(&s->gw->link, &m); /* gone: the next look says so */
	while (!s->gw_over && (now = clock_mono()) < end) {
		struct pollfd p = { .fd = s->gw->link.fd, .events = POLLIN };

		(void)poll(&p, 1, (int)((end - now) / CLOCK_MS) + 1); /* EINTR: looked again */
		(void)gw_flush(&s->gw->link);
		gwlink_event(s);
	}
	s->gw_over = true;
}

void gwlink_goodbye(struct sup *s)
{
	goodbye(s);
	gwsim_over(s);
	userproc_over(s);
}
