#include "verifier/position.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/str.h"

const char *const position_nine[] = { "0.1", "0.2", "0.3", "0.4", "0.5",
				      "0.6", "0.7", "0.8", "0.9", NULL };

/* Number among main answers of the answer that asked for action @a (index); a sub-agent's belongs to the main
 * answer before it. */
static uint64_t main_call(const struct rundir *rd, size_t a)
{
	uint64_t n = 0;

	while (n < rd->n_calls && rd->call[n].call <= rd->action[a].call)
		n++;
	return n;
}

/* First action of @cls from index @from on, n_actions when there is none. */
static size_t first_of(const struct rundir *rd, enum action_class cls, size_t from)
{
	while (from < rd->n_actions && rd->action[from].cls != cls)
		from++;
	return from;
}

static size_t first_edit(const struct rundir *rd)
{
	return first_of(rd, ACTION_EDIT, 0);
}

static size_t first_test(const struct rundir *rd)
{
	return first_of(rd, ACTION_TEST, 0);
}

/* A test that passed behind the first edit. */
static size_t first_pass(const struct rundir *rd)
{
	size_t i = first_edit(rd);

	for (i = first_of(rd, ACTION_TEST, i); i < rd->n_actions;
	     i = first_of(rd, ACTION_TEST, i + 1)) {
		int status = rd->action[i].status;

		if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
			break;
	}
	return i;
}

/* Anchors that hang on an action; NULL: on the calls alone. */
static const struct {
	const char *name;
	size_t (*action)(const struct rundir *rd);
	bool before;
	const char *lacks;
} anchors[] = {
	{ "start", NULL, true, NULL },
	{ "before-first-edit", first_edit, true, "edit" },
	{ "after-first-edit", first_edit, false, "edit" },
	{ "before-first-test", first_test, true, "test" },
	{ "after-first-pass", first_pass, false, "test that passed after an edit" },
	{ "before-submit", NULL, false, NULL },
};

const char *const position_anchors[] = { "start",
					 "before-first-edit",
					 "after-first-edit",
					 "before-first-test",
					 "after-first-pass",
					 "before-submit",
					 NULL };

/* Fill what follows from the call: the last action of the prefix. */
static void settle(const struct rundir *rd, struct position *p)
{
	p->action = 0;
	for (size_t i = 0; i < rd->n_actions; i++) {
		if (main_call(rd, i) <= p->call)
			p->action = i + 1;
	}
	if (p->fraction < 0)
		p->fraction = p->actions ? (double)p->action / (double)p->actions : 0;
}

static int at_anchor(const struct rundir *rd, size_t row, struct position *p, struct err *err)
{
	size_t a;

	p->fraction = -1;
	if (!anchors[row].action) {
		p->call = anchors[row].before || !p->calls ? 0 : p->calls - 1;
		settle(rd, p);
		return 0;
	}
	a = anchors[row].action(rd);
	if (a == rd->n_actions)
		return err_set(err, ERR_INPUT,
			       "%s: no position %s: the run has %zu actions and no %s", rd->dir,
			       p->text, rd->n_actions, anchors[row].lacks);
	p->call = main_call(rd, a);
	if (anchors[row].before && p->call)
		p->call--;
	settle(rd, p);
	return 0;
}

static int at_action(const struct rundir *rd, uint64_t action, struct position *p, struct err *err)
{
	if (action < 1 || action > rd->n_actions)
		return err_set(err, ERR_INPUT, "%s: no action %llu: the run has %zu", rd->dir,
			       (unsigned long long)action, rd->n_actions);
	p->call = main_call(rd, (size_t)action - 1);
	settle(rd, p);
	return 0;
}

static int no_position(const char *text, struct err *err)
{
	const char *near = str_nearest(text, position_anchors);

	return err_set(
		err, ERR_USAGE,
		"\"%s\" is no position: give a fraction from 0 to 1 such as 0.5, the number of "
		"an action, or start, before-first-edit, after-first-edit, "
		"before-first-test, after-first-pass, before-submit%s%s%s",
		text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int position_find(const struct rundir *rd, const char *text, struct position *ret, struct err *err)
{
	struct position p = { .fraction = -1, .actions = rd->n_actions, .calls = rd->n_calls };
	uint64_t number;
	char *end;
	int rc = 1;

	if (!text[0] || strlen(text) >= sizeof(p.text))
		return no_position(text, err);
	snprintf(p.text, sizeof(p.text), "%s", text);
	for (size_t i = 0; rc == 1 && i < ARRAY_SIZE(anchors); i++) {
		if (str_eq(text, anchors[i].name))
			rc = at_anchor(rd, i, &p, err);
	}
	if (rc == 1 && str_u64(text, &number) == 0)
		rc = at_action(rd, number, &p, err);
	if (rc == 1) {
		p.fraction = strtod(text, &end);
		if (end == text || *end || !(p.fraction > 0 && p.fraction < 1))
			return no_position(text, err);
		if (!rd->n_actions)
			return err_set(err, ERR_INPUT, "%s: no position %s: the run has no actions",
				       rd->dir, text);
		/* 0.3 * 10 is a hair above 3. */
		rc = at_action(rd, (uint64_t)ceil(p.fraction * (double)rd->n_actions - 1e-9), &p,
			       err);
	}
	if (rc == 0)
		*ret = p;
	return rc;
}
