#include "supervisor/studyshow.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "study/progress.h"
#include "study/table.h"

#define TEXT_MAX   (1u << 20)
#define JSON_TICK  (5 * CLOCK_SEC) /* how often programs are told that time has passed */
#define WIDTH_ELSE 80
#define ROWS_ELSE  24

static void fill_total(const struct studyshow *s, const struct sched_state *st,
		       struct progress_total *t)
{
	*t = (struct progress_total){ .micro_dollars = st->micro_dollars,
				      .tokens = st->tokens,
				      .work_ns = st->work_ns,
				      .unknown_cost = st->unknown_cost,
				      .started = st->started,
				      .limits = s->limits,
				      .left_ns = st->left.wall_ns };
	memcpy(t->count, st->count, sizeof(t->count));
}

/* What an event says, without the time. */
static void words(enum sched_what what, const struct journal_cell *c, const char *text,
		  struct buf *out)
{
	if (c)
		buf_addf(out, "%s", c->key);
	switch (what) {
	case SCHED_STARTED:
		buf_adds(out, c->attempts > 1 ? ": started again" : ": started");
		break;
	case SCHED_ADOPTED:
		buf_adds(out, ": still runs, taken over");
		break;
	case SCHED_LOST:
		buf_adds(out, ": was lost with an earlier call, thrown away");
		break;
	case SCHED_TAKEN_IN:
		buf_adds(out, ": had ended under an earlier call: ");
		progress_end(c, out);
		break;
	case SCHED_ENDED:
		buf_adds(out, ": ");
		progress_end(c, out);
		break;
	case SCHED_WAITS:
		buf_addf(out, "waiting: %s", text);
		break;
	case SCHED_BUDGET:
	case SCHED_STOPS:
		buf_addf(out, "%s", text);
		break;
	case SCHED_TICK:
		break;
	}
}

static void event_line(enum sched_what what, const struct journal_cell *c, const char *text)
{
	auto_buf b = BUF_INIT(TEXT_MAX), safe = BUF_INIT(TEXT_MAX);
	time_t now = time(NULL);
	struct tm tm;
	char when[16];

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	words(what, c, text, &b);
	table_safe(&safe, buf_str(&b));
	printf("%s %s\n", when, buf_str(&safe));
	fflush(stdout); /* who reads through a pipe wants it now */
}

void studyshow_clear(struct studyshow *s)
{
	if (s->drawn)
		printf("\r\033[%uA\033[J", s->drawn);
	s->drawn = 0;
	fflush(stdout);
}

static void block_line(struct studyshow *s, const char *text)
{
	printf("%s\033[K\n", text);
	s->drawn++;
}

/* Running cells, why nothing more is started, the bar. */
static void block(struct studyshow *s, const struct sched_state *st)
{
	struct winsize ws = { 0 };
	size_t width = WIDTH_ELSE, rows = ROWS_ELSE;
	struct progress_total total;
	auto_buf b = BUF_INIT(TEXT_MAX);

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col) {
		width = ws.ws_col - 1u;
		rows = ws.ws_row;
	}
	for (size_t i = 0; i < st->n_running && i + 4 < rows; i++) {
		buf_clear(&b);
		progress_cell(st->running[i].cell, &st->running[i].live, clock_wall(), width, &b);
		block_line(s, buf_str(&b));
	}
	if (st->waits) {
		buf_clear(&b);
		progress_cut(&b, st->waits, width);
		block_line(s, buf_str(&b));
	}
	fill_total(s, st, &total);
	buf_clear(&b);
	progress_total(&total, width, &b);
	block_line(s, buf_str(&b));
	fflush(stdout);
}

static void json_running(struct json_w *w, const struct sched_state *st)
{
	uint64_t now = clock_wall();

	json_open(w, "running", '[');
	for (size_t i = 0; i < st->n_running; i++) {
		const struct sched_running *r = &st->running[i];

		json_open(w, NULL, '{');
		json_str(w, "key", r->cell->key);
		json_u64(w, "steps", r->live.steps);
		json_u64(w, "tokens", r->live.tokens);
		json_u64(w, "micro_dollars", r->live.micro_dollars);
		json_str(w, "touch", r->live.touch[0] ? r->live.touch : NULL);
		json_u64(w, "age_ns", now > r->cell->began ? now - r->cell->began : 0);
		json_u64(w, "memory", r->memory);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void json_event(enum sched_what what, const struct journal_cell *c, const char *text,
		       const struct sched_state *st)
{
	auto_buf b = BUF_INIT(TEXT_MAX);
	struct json_w w = { .b = &b };
	char when[32];

	json_open(&w, NULL, '{');
	json_str(&w, "schema", "proctor.study-event/1");
	json_str(&w, "at", clock_text(clock_wall(), when));
	json_str(&w, "event", sched_words[what]);
	json_str(&w, "key", c ? c->key : NULL);
	json_str(&w, "state", c ? journal_states[c->state] : NULL);
	json_str(&w, "verdict", c ? c->figures.verdict : NULL);
	json_str(&w, "text", text);
	for (size_t i = 0; i < CELL_STATES; i++)
		if (i != CELL_RUNNING)
			json_u64(&w, journal_states[i], st->count[i]);
	json_u64(&w, "tokens", st->tokens);
	json_u64(&w, "micro_dollars", st->micro_dollars);
	json_u64(&w, "left_ns", st->left.wall_ns);
	json_running(&w, st);
	json_close(&w, '}');
	puts(buf_str(&b));
	fflush(stdout);
}

/* Is it time to tell programs that time has passed? */
static bool due(struct studyshow *s, enum sched_what what)
{
	uint64_t now = clock_mono();

	if (what == SCHED_TICK && now - s->ticked < JSON_TICK)
		return false;
	s->ticked = now;
	return true;
}

void studyshow_tell(void *arg, enum sched_what what, const struct journal_cell *cell,
		    const char *text, const struct sched_state *st)
{
	struct studyshow *s = arg;

	switch (s->form) {
	case STUDYSHOW_QUIET:
		return;
	case STUDYSHOW_JSON:
		if (due(s, what))
			json_event(what, cell, text, st);
		return;
	case STUDYSHOW_LINES:
		if (what != SCHED_TICK)
			event_line(what, cell, text);
		return;
	case STUDYSHOW_TERMINAL:
		studyshow_clear(s);
		if (what != SCHED_TICK && what != SCHED_WAITS)
			event_line(what, cell, text);
		block(s, st);
		return;
	}
}
