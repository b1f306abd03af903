/* Did the agent look at the edit again? A read counts as attention when somebody may have seen its bytes:
 * not what compilers, searches and test runs load, and not what an editing program reads to rewrite it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "study/behave_internal.h"

static const struct rundir_action *command_of(const struct rundir *rd, uint32_t cmd)
{
	for (size_t i = 0; i < rd->n_actions; i++)
		if (rd->action[i].cmd == cmd)
			return &rd->action[i];
	return NULL;
}

static bool is_shell(const struct rundir_action *a)
{
	const char *base = a->argv.n ? path_base(a->argv.v[0]) : "";
	size_t n = strlen(base);

	return n >= 2 && strcmp(base + n - 2, "sh") == 0;
}

static bool mentions(const struct rundir_action *a, const char *word)
{
	strv_each (i, &a->argv)
		if (strstr(a->argv.v[i], word))
			return true;
	return false;
}

/* Does the process that reads @path at @n edit it later in the same command? */
static bool reads_to_edit(const struct rundir *rd, const struct rundir_read *r)
{
	for (size_t i = 0; i < rd->n_edits; i++) {
		const struct rundir_edit *e = &rd->edit[i];

		if (!e->by_user && e->n > r->n && e->pid == r->pid && e->cmd == r->cmd &&
		    strcmp(e->path, r->path) == 0)
			return true;
	}
	return false;
}

/* A read by the agent's own process: was it what the last answer asked for? Clients re-read files on their
 * own, and an edit tool reads what it changes. */
static bool asked_for(const struct rundir *rd, const struct rundir_read *r)
{
	uint64_t call = 0, edited = 0;

	/* what was asked for before the user's edit is over: the edit waited for that */
	for (size_t i = 0; i < rd->n_edits && rd->edit[i].n < r->n; i++)
		if (rd->edit[i].by_user)
			edited = rd->edit[i].n;
	for (size_t i = rd->n_actions; i > 0; i--) {
		const struct rundir_action *a = &rd->action[i - 1];

		if (a->n > r->n)
			continue;
		call = call ? call : a->call;
		if (a->call != call || a->n < edited)
			break;
		if (a->tool && a->cls != ACTION_EDIT && a->cls != ACTION_SEARCH &&
		    (!a->path || strcmp(a->path, r->path) == 0))
			return true;
	}
	return false;
}

static bool attentive(const struct rundir *rd, const struct rundir_read *r)
{
	const struct rundir_action *a;

	if (r->scan)
		return false;
	if (!r->cmd)
		return !rd->model || asked_for(rd, r);
	if (reads_to_edit(rd, r))
		return false;
	a = command_of(rd, r->cmd);
	if (!a) /* started by the client itself: for a tool call, or on an errand of its own */
		return asked_for(rd, r);
	if (r->shown)
		return true;
	switch (a->cls) {
	case ACTION_SEARCH: /* reads all and shows what matches */
	case ACTION_TEST:
	case ACTION_BUILD:
	case ACTION_PACKAGE:
		return false;
	case ACTION_EDIT:
		return is_shell(a);
	case ACTION_VCS: /* most of git hashes contents and shows none */
		return mentions(a, "diff") || mentions(a, "blame");
	default:
		return true;
	}
}

/* Lines that the read showed; all when it does not say. */
static bool covers(const struct rundir_read *r, uint64_t first, uint64_t last)
{
	return !r->first || (r->first <= last && r->last >= first);
}

/* Where the lines of the edit are in a state of its file; kept, as many reads may meet the same one. */
struct seen {
	size_t state; /* 0 = nothing is kept */
	bool there;
	uint64_t first, last;
};

/* Does the read show a line of the edit, right after it or after the states that followed? */
static bool shows(const struct behave_chain *c, const struct behave_file *f,
		  const struct rundir_edit *e, const struct rundir_read *r, struct seen *seen)
{
	uint64_t first = e->first ? e->first : 1, last = e->last ? e->last : 1;
	size_t s = 0, end = c->n;

	while (s + 1 < end) { /* the last state that began before the read */
		size_t mid = s + (end - s) / 2;

		if (c->n_of[mid] < r->n)
			s = mid;
		else
			end = mid;
	}
	if (s == 0 && f->fate.n) {
		for (size_t i = 0; i < f->fate.n; i++)
			if (covers(r, f->fate.v[i].line, f->fate.v[i].line))
				return true;
		return false;
	}
	if (!s || !c->known)
		return covers(r, first, last);
	if (seen->state != s) {
		*seen = (struct seen){ .state = s };
		seen->there =
			linefate_follow(&c->v[0], &c->v[s], first, last, &seen->first, &seen->last);
	}
	return seen->there && covers(r, seen->first, seen->last);
}

/* The agent's first edit that took or changed a line of the user's edit, 0 = none. */
static uint64_t first_loss(const struct behave_chain *c, const struct behave_file *f,
			   uint64_t next_edit)
{
	uint64_t n = 0;

	for (size_t i = 0; i < f->fate.n; i++) {
		size_t s = f->fate.v[i].step;

		if (s && s < c->n && (!n || c->n_of[s] < n))
			n = c->n_of[s];
	}
	if (!n && !f->fate.n && f->response > RESPONSE_KEPT)
		n = next_edit; /* nothing was added: what was taken out came back, or others came */
	return n;
}

static void earlier(uint64_t *n, uint64_t other)
{
	if (other && (!*n || other < *n))
		*n = other;
}

/* Did the read that touch @t belongs to say what it shows? It stands right in front of it, or of the touches of
 * other regions. */
static bool was_shown(const struct rundir *rd, const struct rundir_touch *t)
{
	size_t lo = 0, hi = rd->n_reads;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rd->read[mid].n < t->n)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && rd->read[lo - 1].pid == t->pid && rd->read[lo - 1].cmd == t->cmd &&
	       strcmp(rd->read[lo - 1].path, t->path) == 0 && rd->read[lo - 1].shown;
}

/* The first time that the region of the file was read again, 0 = never. */
static uint64_t region_read(const struct rundir *rd, const char *path, uint64_t from)
{
	for (size_t i = 0; i < rd->n_touches; i++) {
		const struct rundir_touch *t = &rd->touch[i];
		struct rundir_read r = { .n = t->n, .path = t->path, .cmd = t->cmd, .pid = t->pid };

		if (t->edit || t->scan || t->n <= from || strcmp(t->path, path) != 0)
			continue;
		r.shown = was_shown(rd, t);
		if (attentive(rd, &r))
			return t->n;
	}
	return 0;
}

/* The first read that shows a line of the edit, 0 = none. */
static uint64_t line_read(const struct rundir *rd, const struct behave_chain *c,
			  const struct behave_file *f, const struct rundir_edit *e)
{
	struct seen seen = { 0 };

	for (size_t i = 0; i < rd->n_reads; i++) {
		const struct rundir_read *r = &rd->read[i];

		if (r->n > e->n && strcmp(r->path, e->path) == 0 && attentive(rd, r) &&
		    shows(c, f, e, r, &seen))
			return r->n;
	}
	return 0;
}

static int notice_file(struct behave_work *w, size_t at, const struct behave_file *f,
		       struct err *err)
{
	const struct rundir *rd = w->rd;
	const struct rundir_edit *e = &rd->edit[at];
	struct behave_chain c = { 0 };
	uint64_t next = 0, read = 0;
	int rc = behave_chain_of(w, at, UINT64_MAX, &c, err);

	if (rc < 0)
		return rc;
	for (size_t i = at + 1; i < rd->n_edits && !next; i++)
		if (!rd->edit[i].by_user && strcmp(rd->edit[i].path, e->path) == 0)
			next = rd->edit[i].n;
	read = line_read(rd, &c, f, e);
	earlier(&w->ret->noticed_n, read);
	earlier(&w->ret->noticed_n, first_loss(&c, f, next));
	earlier(&read, region_read(rd, e->path, e->n));
	w->ret->reopened |= read > 0;
	w->ret->reread_first |= read && (!next || read < next);
	behave_chain_done(&c);
	return 0;
}

static uint64_t time_of(const struct rundir *rd, uint64_t n)
{
	for (size_t i = 0; i < rd->n_reads; i++)
		if (rd->read[i].n == n)
			return rd->read[i].t;
	for (size_t i = 0; i < rd->n_edits; i++)
		if (rd->edit[i].n == n)
			return rd->edit[i].t;
	return 0;
}

/* Steps from record @from to record @to: model calls, or actions of an agent without a model. */
static uint64_t steps(const struct rundir *rd, uint64_t from, uint64_t to)
{
	uint64_t k = 0;

	for (size_t i = 0; rd->model && i < rd->n_calls; i++)
		k += rd->call[i].n > from && rd->call[i].n <= to;
	for (size_t i = 0; !rd->model && i < rd->n_actions; i++)
		k += rd->action[i].n > from && rd->action[i].n <= to;
	return k;
}

int behave_notice(struct behave_work *w, struct err *err)
{
	struct behave *b = w->ret;
	const struct behave_firing *last = &w->round[w->n_rounds - 1];
	uint64_t t;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++)
		rc = notice_file(w, last->first + i, &b->file[i], err);
	if (rc < 0 || !b->noticed_n)
		return rc;
	b->noticed = true;
	b->notice_steps = steps(w->rd, b->final_n, b->noticed_n);
	t = time_of(w->rd, b->noticed_n);
	if (t > w->rd->edit[last->last].t)
		b->notice_ns = t - w->rd->edit[last->last].t;
	return 0;
}
