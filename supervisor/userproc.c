#include "supervisor/userproc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "supervisor/effects.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/gwsim.h"
#include "supervisor/simfilter.h"
#include "supervisor/userproc_internal.h"

/* What counts how much as a correction: SWE-Together's figure is corrections + 0.2 nudges. */
static const struct {
	bool correction, nudge;
} weights[USER_ACTIONS] = {
	[USER_QUESTION] = { .nudge = true },
	[USER_REDIRECT] = { .correction = true },
	[USER_CHECK_EXTERNAL] = { .nudge = true },
};

/* Why nobody is asked any more when nothing is wrong. */
static const char over[] = "the run ended";

static struct buf *note(struct sup *s, const char *what)
{
	struct buf *b = sink_begin(s->sink, TK_NOTE, 0, 0, 0, s->epoch);

	tracerec_str(b, "user", what, strlen(what));
	return b;
}

static uint64_t left(const struct userproc *u)
{
	return u->user->messages > u->messages ? u->user->messages - u->messages : 0;
}

/* --- the end of a turn --------------------------------------------------------------------------- */

static void release(struct sup *s)
{
	struct userproc *u = s->user;
	size_t n = u->n_held;

	u->n_held = 0;
	for (size_t i = 0; i < n; i++) {
		struct gw_msg m = u->held[i];

		if (!s->gw || s->gw_over)
			return;
		if (m.type == GW_ANSWER)
			gwlink_reply(s, &m, GW_ACK);
		else if (!gwsim_request(s, &m))
			gwlink_reply(s, &m, GW_GO);
	}
}

/* Say the text of @a, if it has one. NULL = said, or nothing to say; otherwise why not. */
static const char *say(struct sup *s, const struct userline_answer *a, struct err *err)
{
	struct userproc *u = s->user;

	if (!a->text)
		return NULL;
	if (s->phase >= SUP_KILLED)
		return "the run ended before it could be said";
	/* Only an agent that is spoken to by its own protocol listens behind its last words. */
	if (u->ended && s->plan->agent->via != VIA_NATIVE)
		return "the agent had ended its work";
	if (effects_ops.message(s, a->text, err) < 0)
		return err->text;
	u->messages++;
	strv_add(&u->spoken, a->text);
	return NULL;
}

static void record(struct sup *s, const struct userline_answer *a, const char *unsaid, bool late)
{
	struct userproc *u = s->user;
	struct buf *b = note(s, userline_name(a->action));

	tracerec_u64(b, "turn", u->turn);
	tracerec_u64(b, "call", u->call);
	if (a->text && !unsaid)
		tracerec_u64(b, "said", u->messages);
	if (unsaid)
		tracerec_str(b, "unsaid", unsaid, strlen(unsaid));
	if (u->ended)
		tracerec_u64(b, "ended", 1);
	if (late)
		tracerec_u64(b, "late", 1);
	if (a->wrong)
		tracerec_str(b, "wrong", a->wrong, strlen(a->wrong));
	if (a->note)
		tracerec_str(b, "note", a->note, strlen(a->note));
	sink_end(s->sink);
	userdid_record(s, a, unsaid, late);
}

static void end_turn(struct sup *s, const struct userline_answer *a, bool late)
{
	struct userproc *u = s->user;
	struct err err = { 0 };
	const char *unsaid = say(s, a, &err);

	u->by[a->action]++;
	u->unsaid += unsaid != NULL;
	u->late += late;
	u->wrong += a->wrong != NULL;
	u->held_ns += clock_mono() - u->asked_at;
	record(s, a, unsaid, late);
	u->open = false;
	userdid_clear(u);
	release(s);
}

static void no_answer(struct sup *s, const char *why, bool late)
{
	const struct userline_answer none = { .action = USER_NO_OP, .wrong = why };

	if (s->user->open)
		end_turn(s, &none, late);
}

/* It is not asked any more. */
static void gone(struct sup *s, const char *why)
{
	struct userproc *u = s->user;
	struct buf *b;

	if (u->gone)
		return;
	u->gone = why;
	if (s->phase < SUP_KILLED) {
		b = note(s, "gone");
		tracerec_str(b, "why", why, strlen(why));
		sink_end(s->sink);
	}
	mem_close(&u->box.in);
	mem_close(&u->box.out);
	if (u->box.box)
		box_kill(u->box.box);
	no_answer(s, why, false);
}

/* --- the program's lines -------------------------------------------------------------------------- */

static void take_line(struct sup *s)
{
	struct userproc *u = s->user;
	struct userline_answer a;

	/* The answer to a turn that is over, or to none. */
	if (u->owed || !u->open) {
		u->owed -= u->owed > 0;
		return;
	}
	if (u->line.full)
		a = (struct userline_answer){ .wrong = "the line is too long" };
	else
		userline_read(buf_str(&u->line), u->line.len, false, &a);
	end_turn(s, &a, false);
	userline_done(&a);
}

static void take_bytes(struct sup *s, const char *p, size_t n)
{
	struct userproc *u = s->user;

	while (n && !u->gone) {
		const char *end = memchr(p, '\n', n);
		size_t part = end ? (size_t)(end - p) : n;

		if (!u->line.full)
			(void)buf_add(&u->line, p,
				      part); /* a line that is too long is marked full */
		if (end) {
			take_line(s);
			u->line.full = false;
			buf_clear(&u->line);
		}
		part += end != NULL;
		p += part;
		n -= part;
	}
}

/* What it writes beside: the first LOG_MAX bytes are kept, the rest is swallowed. */
static void take_log(struct userproc *u, const char *p, size_t n)
{
	size_t room = USERPROC_LOG_MAX - u->logged;

	n = n < room ? n : room;
	if (n && fd_write_all(u->log_fd, p, n) == 0)
		u->logged += n;
}

/* Bounded: a flood must not keep us from everything else. */
static bool pull(int *fd, char *buf, size_t size, ssize_t *n)
{
	if (*fd < 0)
		return false;
	*n = read(*fd, buf, size);
	if (*n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (*n <= 0)
		mem_close(fd);
	return *n > 0;
}

void userproc_event(struct sup *s)
{
	struct userproc *u = s->user;
	char part[4096];
	ssize_t n;

	if (!u)
		return;
	for (int i = 0; i < USERPROC_BATCH && pull(&u->box.err, part, sizeof(part), &n); i++)
		take_log(u, part, (size_t)n);
	for (int i = 0; i < USERPROC_BATCH && pull(&u->box.out, part, sizeof(part), &n); i++)
		take_bytes(s, part, (size_t)n);
	if (u->box.box && u->box.out < 0)
		gone(s, "its program has ended");
}

/* Write what waits. */
static void push(struct sup *s)
{
	struct userproc *u = s->user;

	while (u->box.in >= 0 && u->sent < u->send.len) {
		ssize_t n = write(u->box.in, u->send.data + u->sent, u->send.len - u->sent);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			gone(s, "its program has ended");
			return;
		}
		u->sent += (size_t)n;
	}
	buf_clear(&u->send);
	u->sent = 0;
}

/* --- a turn begins --------------------------------------------------------------------------------- */

static void on_model(struct sup *s, const char *text, const char *why)
{
	struct userline_answer a = { .wrong = why };

	if (!s->user || !s->user->open)
		return;
	if (text)
		userline_read(text, strlen(text), true, &a);
	if (a.text && simfilter_refused(a.text, s->plan->task)) {
		userline_done(&a);
		a.wrong = "its text says what no user knows";
	}
	end_turn(s, &a, !text);
	userline_done(&a);
}

static void ask(struct sup *s)
{
	struct userproc *u = s->user;
	struct userline_turn t = {
		.turn = u->turn,
		.call = u->call,
		.said = u->said,
		.commands = &u->commands,
		.outputs = &u->outputs,
		.omitted = u->omitted,
		.changed = &u->changed,
		.left = left(u),
		.ended = u->ended,
	};

	u->asked_at = clock_mono();
	u->due = u->asked_at + u->user->wait;
	buf_clear(&u->asked);
	u->asked.full = false;
	userline_write(&t, &u->asked);
	if (u->user->prompt) {
		auto_buf context = BUF_INIT(SIMULATE_CONTEXT_MAX);

		userdid_context(s, &context);
		gwsim_ask(s, &context, on_model);
		return;
	}
	if (buf_add(&u->send, buf_str(&u->asked), u->asked.len) < 0)
		gone(s, "its program does not read what it is told");
	else
		push(s);
}

/* Hold the world still, and see what became of the workspace. */
static int look(struct sup *s, struct err *err)
{
	struct userproc *u = s->user;
	int rc;

	if (!u->view)
		return 0;
	rc = effects_ops.hold(s, true, err);
	if (rc == 0)
		rc = userview_update(u->view, &u->changed, err);
	(void)effects_ops.hold(s, false, err); /* letting go cannot fail */
	return rc;
}

static bool begin(struct sup *s, const struct gw_msg *m, uint64_t call, bool ended)
{
	struct userproc *u = s->user;
	struct err err;

	if (u->gone || !left(u) || u->turn >= USERPROC_TURNS_MAX)
		return false;
	if (u->box.box && userbox_full(&u->box)) {
		gone(s, "its program wrote more than it may");
		return false;
	}
	if (look(s, &err) < 0) {
		sup_engine_failed(s, &err);
		return false;
	}
	u->turn++;
	u->call = call;
	u->ended = ended;
	u->open = true;
	u->held[u->n_held++] = *m;
	ask(s);
	return true;
}

bool userproc_request(struct sup *s, const struct gw_msg *m)
{
	struct userproc *u = s->user;
	uint64_t call = s->main_calls + 1;

	if (!u || s->phase >= SUP_KILLED)
		return false;
	if (u->open && u->n_held < USERPROC_HELD_MAX) {
		u->held[u->n_held++] = *m;
		return true;
	}
	/* A request that is sent again is none of its own. */
	if (u->open || call == u->last_call || call % u->user->every)
		return false;
	u->last_call = call;
	return begin(s, m, call, false);
}

bool userproc_answer(struct sup *s, const struct gw_msg *m)
{
	struct userproc *u = s->user;

	return u && !u->open && s->phase == SUP_RUNNING && begin(s, m, s->main_calls, true);
}

void userproc_tick(struct sup *s)
{
	struct userproc *u = s->user;

	if (!u || s->alone)
		return;
	if (u->box.box && !u->gone)
		push(s);
	if (!u->open || u->user->prompt || clock_mono() < u->due)
		return;
	u->owed++;
	no_answer(s, "no answer in time", true);
}

/* --- begin and end ---------------------------------------------------------------------------------- */

static int make_file(const char *dir, const char *name, int *ret, struct err *err)
{
	auto_free char *path = path_join(dir, name);

	*ret = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return *ret < 0 ? err_sys(err, "cannot make %s", path) : 0;
}

int userproc_start(struct sup *s, const char *dir, const struct workspace *ws, const char *rootfs,
		   struct janitor *jan, struct err *err)
{
	const struct user *user = scenario_user(s->plan->scenario);
	bool overlay = s->plan->profile->workspace == WORKSPACE_OVERLAY;
	struct userproc *u;
	int rc;

	if (!user)
		return 0;
	if (user->view && !overlay)
		return err_set(
			err, ERR_USAGE,
			"the scenario's user sees the workspace, which is not told apart when "
			"it is used in place; leave out --in-place, or say \"view\": false");
	u = mem_zalloc(1, sizeof(*u));
	s->user = u;
	u->user = user;
	u->box.in = u->box.out = u->box.err = u->log_fd = u->record_fd = -1;
	u->line = (struct buf)BUF_INIT(USERLINE_IN_MAX);
	u->asked = (struct buf)BUF_INIT(user->prompt ? USERPROC_MODEL_MAX : USERLINE_OUT_MAX);
	u->send = (struct buf)BUF_INIT(2 * USERLINE_OUT_MAX);
	u->part = (struct buf)BUF_INIT(USERPROC_PART_MAX);
	rc = make_file(dir, "user.jsonl", &u->record_fd, err);
	if (rc == 0 && user->view)
		rc = userview_new(ws, &u->view, err);
	if (rc < 0 || user->prompt)
		return rc;
	rc = make_file(dir, "user.log", &u->log_fd, err);
	if (rc < 0)
		return rc;
	return userbox_start(s->plan, user, ws, rootfs, u->view ? userview_dir(u->view) : NULL, jan,
			     &u->box, err);
}

int userproc_fd(const struct sup *s, unsigned i)
{
	if (!s->user)
		return -1;
	return i ? s->user->box.err : s->user->box.out;
}

pid_t userproc_pid(const struct sup *s)
{
	const struct box *b = s->user ? s->user->box.box : NULL;

	return b && !b->reaped ? b->init_pid : 0;
}

void userproc_reaped(struct sup *s, int status)
{
	box_reaped(s->user->box.box, status);
}

void userproc_over(struct sup *s)
{
	struct userproc *u = s->user;

	if (!u)
		return;
	no_answer(s, over, false);
	u->n_held = 0;
	gone(s, over);
}

void userproc_summary(const struct sup *s, struct json_w *w)
{
	const struct userproc *u = s->user;
	uint64_t corrections = 0, nudges = 0;

	if (!u) {
		json_null(w, "user");
		return;
	}
	json_open(w, "user", '{');
	json_u64(w, "turns", u->turn);
	json_u64(w, "messages", u->messages);
	json_u64(w, "limit", u->user->messages);
	json_open(w, "actions", '{');
	for (int i = 0; i < USER_ACTIONS; i++) {
		json_u64(w, userline_name((enum user_action)i), u->by[i]);
		corrections += weights[i].correction ? u->by[i] : 0;
		nudges += weights[i].nudge ? u->by[i] : 0;
	}
	json_close(w, '}');
	json_u64(w, "corrections", corrections);
	json_u64(w, "nudges", nudges);
	json_dbl(w, "user_correction", (double)corrections + 0.2 * (double)nudges);
	json_u64(w, "late", u->late);
	json_u64(w, "wrong", u->wrong);
	json_u64(w, "unsaid", u->unsaid);
	json_str(w, "gone", u->gone == over ? NULL : u->gone);
	json_u64(w, "held_ns", u->held_ns);
	json_close(w, '}');
}

void userproc_done(struct sup *s)
{
	struct userproc *u = s->user;

	if (!u)
		return;
	userbox_done(&u->box);
	userview_free(u->view);
	userdid_clear(u);
	strv_done(&u->spoken);
	buf_done(&u->line);
	buf_done(&u->asked);
	buf_done(&u->send);
	buf_done(&u->part);
	mem_close(&u->log_fd);
	mem_close(&u->record_fd);
	free(u);
	s->user = NULL;
}
