#include "supervisor/gwsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/path.h"
#include "gateway/lastcall.h"
#include "gateway/simulate.h"
#include "supervisor/effects.h"
#include "supervisor/gwlink_internal.h"
#include "supervisor/simcontext.h"
#include "supervisor/simfilter.h"
#include "supervisor/steer.h"
#include "triggers/message.h"

enum {
	HELD_MAX = 256,       /* questions to the model that wait; the gateway has no more */
	EVENTS_MAX = 8,       /* that are remembered */
	EVENT_COMMAND = 250,  /* characters of a command in a remembered event */
	EVENT_OUTPUT = 300,   /* and of its output */
	SLACK_S = 5,          /* that the gateway may be late */
	QUIET_S = 10,         /* without a request an agent with a channel of its own may be idle */
	EVENT_ROOM = 4 << 10, /* bytes of an event */
	COMMAND_ROOM = 8 << 10, /* bytes of a command's text */
};

#define OVER "the run ended before it could be said"

enum state {
	PEND_WAITS, /* for the agent's next request, which tells its last command */
	PEND_ASKED,
	PEND_READY, /* to be said, behind those before it */
};

/* A message that was promised to the engine. */
struct pending {
	TAILQ_ENTRY(pending) link; /* in the order of the firings */
	enum state state;
	uint64_t number; /* towards the gateway; 0 not asked */
	struct firing f; /* its strings are below or static */
	char *touch_path, *template_sha256, *fallback, *fallback_source; /* owned */
	char *path, *claim; /* owned: what it is about */
	uint64_t first, last, stage;
	uint64_t
		due; /* clock_mono() when it is given up; waiting: asked for all the same, 0 never */
	char *text;  /* owned: as it arrives; NULL none */
	uint64_t total, got;
	char why[128]; /* why the text cannot be said, "" while it can */
	char context_sha256[DIGEST_HEX], raw_sha256[DIGEST_HEX];
	uint64_t ns;
	/* It is no message: who asked for it. NULL = a message. */
	void (*told)(struct sup *s, const char *text, const char *why);
};

struct gwsim {
	const struct simulator *sim; /* borrowed */
	TAILQ_HEAD(, pending) list;
	uint64_t numbers;
	uint32_t held[HELD_MAX]; /* seq of GW_REQUEST that wait */
	size_t n_held;
	uint64_t held_since, held_ns;
	/* what the agent did */
	struct buf part[2];     /* by enum gw_last: as it arrives */
	char *command, *output; /* owned: the last one; NULL none */
	struct strv events;     /* oldest first, at most EVENTS_MAX */
	/* for run.json */
	uint64_t calls, input, output_tokens, micro, unknown_costs, unknown_usage, messages,
		fallbacks;
};

void gwsim_open(struct sup *s)
{
	struct gwsim *g;

	if (!s->plan->simulator)
		return;
	g = mem_zalloc(1, sizeof(*g));
	g->sim = s->plan->simulator;
	TAILQ_INIT(&g->list);
	for (size_t i = 0; i < ARRAY_SIZE(g->part); i++)
		g->part[i] = (struct buf)BUF_INIT(LASTCALL_MAX);
	s->sim = g;
}

static void pending_free(struct gwsim *g, struct pending *p)
{
	TAILQ_REMOVE(&g->list, p, link);
	free(p->touch_path);
	free(p->template_sha256);
	free(p->fallback);
	free(p->fallback_source);
	free(p->path);
	free(p->claim);
	free(p->text);
	free(p);
}

void gwsim_done(struct sup *s)
{
	struct gwsim *g = s->sim;
	struct pending *p;

	if (!g)
		return;
	while ((p = TAILQ_FIRST(&g->list)))
		pending_free(g, p);
	for (size_t i = 0; i < ARRAY_SIZE(g->part); i++)
		buf_done(&g->part[i]);
	free(g->command);
	free(g->output);
	strv_done(&g->events);
	free(g);
	s->sim = NULL;
}

/* --- what the agent did ------------------------------------------------------------------------ */

/* The last command becomes an event of the past. */
static void remember(struct gwsim *g)
{
	auto_buf b = BUF_INIT(EVENT_ROOM);

	if (!g->command)
		return;
	simcontext_clean(&b, g->command, strlen(g->command), EVENT_COMMAND);
	if (g->output && g->output[0]) {
		buf_adds(&b, "\n   -> ");
		simcontext_clean(&b, g->output, strlen(g->output), EVENT_OUTPUT);
	}
	if (g->events.n == EVENTS_MAX) {
		free(g->events.v[0]);
		memmove(g->events.v, g->events.v + 1, g->events.n * sizeof(*g->events.v));
		g->events.n--;
	}
	strv_add(&g->events, buf_str(&b));
}

static void now_did(struct gwsim *g, char *command, char *output)
{
	remember(g);
	free(g->command);
	free(g->output);
	g->command = command;
	g->output = output;
}

void gwsim_last(struct sup *s, const struct gw_msg *m)
{
	struct gwsim *g = s->sim;
	struct buf *b;
	char *command, *output;

	if (!g || m->v[1] >= ARRAY_SIZE(g->part))
		return;
	b = &g->part[m->v[1]];
	if (m->v[2] == 0)
		buf_clear(b);
	if (m->v[2] != b->len || buf_add(b, m->text, m->n) < 0 || m->v[1] != GWL_OUTPUT ||
	    b->len < m->v[3])
		return;
	command = mem_strndup(buf_str(&g->part[GWL_COMMAND]), g->part[GWL_COMMAND].len);
	output = mem_strndup(buf_str(b), b->len);
	/* A request that is sent again, or one behind a user's word, shows what was known. */
	if (str_eq(command, g->command) && str_eq(output, g->output)) {
		free(command);
		free(output);
		return;
	}
	now_did(g, command, output);
}

/* "sh -c TEXT" is TEXT to everybody who reads it. */
static char *command_text(char *const *argv)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh" };
	auto_buf b = BUF_INIT(COMMAND_ROOM);
	bool shell = false;

	for (size_t i = 0; argv[0] && i < ARRAY_SIZE(shells); i++)
		shell |= str_eq(path_base(argv[0]), shells[i]);
	if (shell && argv[1] && argv[1][0] == '-' && strchr(argv[1], 'c') && argv[2])
		return mem_strndup(argv[2], COMMAND_ROOM);
	for (size_t i = 0; argv[i]; i++) {
		size_t n = strlen(argv[i]), room = b.max - b.len;

		if (i && room)
			buf_addc(&b, ' ');
		room = b.max - b.len;
		buf_add(&b, argv[i], n < room ? n : room);
	}
	return buf_steal(&b, NULL);
}

void gwsim_command(struct sup *s, char *const *argv)
{
	/* An agent with an API tells its calls and their output itself. */
	if (s->sim && !s->plan->model && argv && argv[0])
		now_did(s->sim, command_text(argv), NULL);
}

/* --- asking ------------------------------------------------------------------------------------ */

/* Why the message falls due, in words for the one who writes it. */
static void put_reason(const struct firing *f, struct buf *out)
{
	static const struct {
		const char *event, *did;
	} rows[] = { { "open", "opened" }, { "read", "read" }, { "edit", "changed" } };

	for (size_t i = 0; f->touch_event && i < ARRAY_SIZE(rows); i++) {
		if (!str_eq(f->touch_event, rows[i].event))
			continue;
		buf_addf(out, "the developer has just %s ", rows[i].did);
		simcontext_clean(out, f->touch_path ? f->touch_path : "this file",
				 strlen(f->touch_path ? f->touch_path : "this file"), 200);
		if (f->touch_first)
			buf_addf(out, ", lines %llu-%llu", (unsigned long long)f->touch_first,
				 (unsigned long long)f->touch_last);
		return;
	}
	buf_adds(out, "the developer has come to a further point of the work");
}

/* The diff that went with the message, NULL when this condition makes none. */
static const char *diff_of(const struct scenario *sc, uint64_t order)
{
	const struct intervention *iv;

	if (!sc || !order || order > sc->n_interventions ||
	    !scenario_effect_fits((enum scenario_mode)sc->mode, EFFECT_EDIT))
		return NULL;
	iv = &sc->interventions[order - 1];
	for (size_t i = 0; i < iv->n_effects; i++)
		if (iv->effects[i].kind == EFFECT_EDIT)
			return iv->effects[i].diff;
	return NULL;
}

static void write_context(struct sup *s, const struct pending *p, struct buf *out)
{
	const struct gwsim *g = s->sim;
	const struct task *t = s->plan->task;
	auto_buf reason = BUF_INIT(EVENT_ROOM);
	struct simcontext c = {
		.repo = t->repo,
		.instance_id = t->instance_id,
		.statement = t->problem_statement,
		.index = p->stage,
		.path = p->path,
		.first = p->first,
		.last = p->last,
		.command = g->command,
		.output = g->output,
		.events = (const char *const *)g->events.v,
		.n_events = g->events.n,
		.claim = p->claim,
		.diff = diff_of(s->plan->scenario, p->f.order),
	};

	put_reason(&p->f, &reason);
	c.reason = buf_str(&reason);
	simcontext_write(&c, out);
}

static void give_up(struct pending *p, const char *why)
{
	p->state = PEND_READY;
	snprintf(p->why, sizeof(p->why), "%s", why);
}

static void post(struct sup *s, struct pending *p, const struct buf *b)
{
	size_t at = 0;

	digest_bytes(buf_str(b), b->len, p->context_sha256);
	if (!s->gw || s->gw_over) {
		give_up(p, "there is no gateway");
		return;
	}
	p->number = ++s->sim->numbers;
	p->state = PEND_ASKED;
	p->due = clock_mono() + s->sim->sim->whole + SLACK_S * CLOCK_SEC;
	do {
		struct gw_msg m = { .type = GW_SIMULATE, .v = { p->number, 0, at, b->len } };

		gw_text(&m, buf_str(b) + at, b->len - at);
		at += m.n;
		if (!gw_send(&s->gw->link, &m))
			give_up(p, "the gateway takes nothing any more");
	} while (at < b->len && p->state == PEND_ASKED);
}

static void ask(struct sup *s, struct pending *p)
{
	auto_buf b = BUF_INIT(SIMCONTEXT_MAX);

	write_context(s, p, &b);
	post(s, p, &b);
}

/* --- saying ------------------------------------------------------------------------------------ */

/* @said false: the run is over, and it only goes on record. */
static void say(struct sup *s, struct pending *p, bool said, const char *over)
{
	struct gwsim *g = s->sim;
	struct firing_simulator by = { .model = g->sim->name,
				       .prompt_sha256 = g->sim->prompt_sha256,
				       .context_sha256 = p->number ? p->context_sha256 : NULL,
				       .raw_sha256 = p->raw_sha256[0] ? p->raw_sha256 : NULL,
				       .ns = p->ns };
	auto_free char *text = p->text && !p->why[0] ? simfilter_trim(p->text) : NULL;
	const char *refused = text ? simfilter_refused(text, s->plan->task) : NULL;
	auto_free char *source = NULL;
	struct err err = { 0 };

	if (refused)
		snprintf(p->why, sizeof(p->why), "%s", refused);
	if (!p->why[0] && !text)
		snprintf(p->why, sizeof(p->why), "%s", over ? over : "no answer");
	if (p->why[0])
		source = mem_printf("%s (simulator: %s)", p->fallback_source, p->why);
	p->f.message = p->why[0] ? p->fallback : text;
	p->f.message_source = source ? source : "simulator";
	p->f.template_sha256 = source ? p->template_sha256 : NULL;
	p->f.simulator = &by;
	p->f.late = true;
	p->f.applied = said && effects_ops.message(s, p->f.message, &err) >= 0;
	p->f.reason = p->f.applied ? NULL : said ? err.text : over;
	if (p->f.applied) {
		g->messages++;
		g->fallbacks += source != NULL;
	}
	effects_ops.fired(s, &p->f);
}

/* Questions to the model that waited go on. */
static void release(struct sup *s)
{
	struct gwsim *g = s->sim;

	for (size_t i = 0; i < g->n_held; i++) {
		struct gw_msg m = { .type = GW_GO, .ref = g->held[i] };

		if (s->gw && !s->gw_over)
			(void)gw_send(&s->gw->link, &m); /* gone: noticed at its end */
	}
	if (g->n_held)
		g->held_ns += clock_mono() - g->held_since;
	g->n_held = 0;
}

/* To who asked; requests may go on there, and bring us back here. */
static void hand_over(struct sup *s, struct pending *p)
{
	void (*told)(struct sup * s, const char *text, const char *why) = p->told;
	auto_free char *why = p->why[0] ? mem_strdup(p->why) : NULL;
	auto_free char *text = why ? NULL : take_ptr(&p->text);

	pending_free(s->sim, p);
	told(s, text, why);
}

/* Say what is ready, in the order of the firings. */
static void serve(struct sup *s)
{
	struct gwsim *g = s->sim;
	struct pending *p;

	while ((p = TAILQ_FIRST(&g->list)) && p->state == PEND_READY) {
		if (p->told) {
			hand_over(s, p);
			continue;
		}
		say(s, p, s->phase < SUP_KILLED, OVER);
		pending_free(g, p);
	}
	if (p)
		return;
	steer_wait(s, false);
	release(s);
}

/* --- from the engine --------------------------------------------------------------------------- */

/* One intervention is one epoch, however late its message comes (see op_fired()). */
static void count_epoch(struct sup *s, const struct firing *f)
{
	if (f->order == s->last_order && f->round == s->last_round)
		return;
	s->epoch++;
	s->last_order = f->order;
	s->last_round = f->round;
}

bool gwsim_later(void *arg, const struct firing *f, const struct message_about *about)
{
	struct sup *s = arg;
	struct gwsim *g = s->sim;
	struct pending *p;

	if (!g)
		return false;
	p = mem_zalloc(1, sizeof(*p));
	p->f = *f;
	p->f.touch_path = p->touch_path = mem_strdup(f->touch_path);
	p->template_sha256 = mem_strdup(f->template_sha256);
	p->fallback = mem_strdup(f->message);
	p->fallback_source = mem_strdup(f->message_source);
	p->path = mem_strdup(about->path);
	p->claim = mem_strdup(about->claim);
	p->first = about->first;
	p->last = about->last;
	p->stage = about->stage;
	TAILQ_INSERT_TAIL(&g->list, p, link);
	count_epoch(s, f);
	steer_wait(s, true);
	/* The next request tells what the agent did last. What goes into it has to wait for it anyway;
	 * another channel may be what an idle agent waits for. */
	if (s->plan->model) {
		if (s->plan->agent->via != VIA_GATEWAY)
			p->due = clock_mono() + QUIET_S * CLOCK_SEC;
		return true;
	}
	ask(s, p);
	serve(s);
	return true;
}

void gwsim_ask(struct sup *s, const struct buf *context,
	       void (*told)(struct sup *s, const char *text, const char *why))
{
	struct pending *p = mem_zalloc(1, sizeof(*p));

	p->told = told;
	TAILQ_INSERT_TAIL(&s->sim->list, p, link);
	post(s, p, context);
	serve(s);
}

/* --- from the gateway -------------------------------------------------------------------------- */

bool gwsim_request(struct sup *s, const struct gw_msg *m)
{
	struct gwsim *g = s->sim;
	struct pending *p;

	if (!g || s->phase >= SUP_KILLED)
		return false;
	TAILQ_FOREACH(p, &g->list, link)
	{
		if (p->state == PEND_WAITS)
			ask(s, p);
	}
	serve(s);
	if (TAILQ_EMPTY(&g->list) || g->n_held == HELD_MAX)
		return false;
	if (!g->n_held)
		g->held_since = clock_mono();
	g->held[g->n_held++] = m->seq;
	return true;
}

static struct pending *find(const struct gwsim *g, uint64_t number)
{
	struct pending *p;

	TAILQ_FOREACH(p, &g->list, link)
	{
		if (p->number == number && p->state == PEND_ASKED)
			return p;
	}
	return NULL;
}

void gwsim_said(struct sup *s, const struct gw_msg *m)
{
	struct pending *p = s->sim ? find(s->sim, m->v[0]) : NULL;

	if (!p || m->v[3] > SIMULATE_TEXT_MAX)
		return;
	if (m->v[2] == 0) {
		free(p->text);
		p->total = m->v[3];
		p->text = mem_zalloc(p->total + 1, 1);
		p->got = 0;
	}
	if (!p->text || m->v[2] != p->got || m->n > p->total - p->got)
		return;
	memcpy(p->text + p->got, m->text, m->n);
	p->got += m->n;
}

static void count(struct gwsim *g, const struct gw_msg *m)
{
	g->calls += m->v[GWS_BILLED];
	g->input += m->v[GWS_INPUT];
	g->output_tokens += m->v[GWS_OUTPUT];
	g->unknown_usage += m->v[GWS_BILLED] && !m->v[GWS_KNOWN];
	if (m->v[GWS_MICRO] == UINT64_MAX)
		g->unknown_costs++;
	else
		g->micro += m->v[GWS_MICRO];
}

void gwsim_simulated(struct sup *s, const struct gw_msg *m)
{
	char text[GW_TEXT_MAX + 1];
	struct pending *p;

	if (!s->sim)
		return;
	count(s->sim, m);
	p = find(s->sim, m->v[GWS_NUMBER]);
	if (!p)
		return; /* given up before it came */
	p->state = PEND_READY;
	p->ns = m->v[GWS_NS];
	snprintf(p->why, sizeof(p->why), "%s", gwlink_text(m, 0, text));
	snprintf(p->raw_sha256, sizeof(p->raw_sha256), "%.64s", gwlink_text(m, 1, text));
	/* Not whole, or with a NUL in it. */
	if (!p->why[0] && (!p->text || p->got != p->total || p->total != m->v[GWS_TEXT] ||
			   strlen(p->text) != p->total))
		snprintf(p->why, sizeof(p->why), "not plain text");
	serve(s);
}

void gwsim_tick(struct sup *s)
{
	uint64_t now = clock_mono();
	struct pending *p;

	if (!s->sim || s->alone)
		return;
	TAILQ_FOREACH(p, &s->sim->list, link)
	{
		if (p->state == PEND_WAITS && p->due && now >= p->due)
			ask(s, p);
		if (p->state != PEND_ASKED || (now < p->due && !s->gw_over))
			continue;
		p->ns = now - (p->due - s->sim->sim->whole - SLACK_S * CLOCK_SEC);
		give_up(p, "no answer in time");
	}
	if (!TAILQ_EMPTY(&s->sim->list))
		serve(s);
}

void gwsim_over(struct sup *s)
{
	struct gwsim *g = s->sim;
	struct pending *p;

	if (!g)
		return;
	while ((p = TAILQ_FIRST(&g->list))) {
		if (!p->told)
			say(s, p, false,
			    p->state == PEND_WAITS ? "the agent did not ask its model again"
						   : OVER);
		pending_free(g, p);
	}
	g->n_held = 0;
}

void gwsim_summary(const struct sup *s, struct json_w *w)
{
	const struct gwsim *g = s->sim;

	if (!g) {
		json_null(w, "simulator");
		return;
	}
	json_open(w, "simulator", '{');
	json_str(w, "source", model_kind_name(g->sim->model->kind));
	json_str(w, "name", g->sim->name);
	json_u64(w, "messages", g->messages);
	json_u64(w, "fallbacks", g->fallbacks);
	json_u64(w, "calls", g->calls);
	json_u64(w, "input_tokens", g->input);
	json_u64(w, "output_tokens", g->output_tokens);
	json_u64(w, "unknown_usage", g->unknown_usage);
	if (g->unknown_costs)
		json_null(w, "micro_dollars"); /* unknown is not zero */
	else
		json_u64(w, "micro_dollars", g->micro);
	json_str(w, "prices_sha256", g->sim->prices->sha256);
	json_u64(w, "held_ns", g->held_ns);
	json_close(w, '}');
}
