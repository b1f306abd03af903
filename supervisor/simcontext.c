#include "supervisor/simcontext.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define CUT " [the rest is left out]"

/* Bytes of the character at @s, 0 when it is none. */
static size_t character(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, bad;

	return len <= n && str_utf8(s, len, &bad) ? len : 0;
}

static bool control(const char *s)
{
	return ((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f;
}

void simcontext_clean(struct buf *out, const char *s, size_t n, size_t max)
{
	size_t at = 0, chars = 0;

	while (at < n && chars < max) {
		size_t len = character(s + at, n - at);

		if (len && !control(s + at))
			buf_add(out, s + at, len);
		else
			buf_addc(out, '?');
		at += len ? len : 1;
		chars++;
	}
	if (at < n)
		buf_adds(out, CUT);
}

static bool known(const char *s)
{
	return s && s[strspn(s, " \t\r\n")];
}

/* "LABEL: TEXT" on one line. */
static void line(struct buf *out, const char *label, const char *s)
{
	buf_addf(out, "%s: ", label);
	if (known(s))
		simcontext_clean(out, s, strcspn(s, "\n"), SIMCONTEXT_LINE);
	else
		buf_adds(out, "(not known)");
	buf_addc(out, '\n');
}

/* A heading and text of any form behind it. */
static void block(struct buf *out, const char *label, const char *s, size_t max, const char *none)
{
	buf_addf(out, "\n[%s]\n", label);
	if (known(s))
		simcontext_clean(out, s, strlen(s), max);
	else
		buf_adds(out, none);
	buf_addc(out, '\n');
}

static void place(struct buf *out, const struct simcontext *c)
{
	buf_adds(out, "Place of your change: ");
	if (!known(c->path)) {
		buf_adds(out, "(not known)\n");
		return;
	}
	simcontext_clean(out, c->path, strlen(c->path), SIMCONTEXT_LINE);
	if (c->first)
		buf_addf(out, ":%llu-%llu", (unsigned long long)c->first,
			 (unsigned long long)(c->last > c->first ? c->last : c->first));
	buf_addc(out, '\n');
}

static void events(struct buf *out, const struct simcontext *c)
{
	size_t from = c->n_events > SIMCONTEXT_EVENTS ? c->n_events - SIMCONTEXT_EVENTS : 0;

	buf_adds(out, "\n[What the developer did before that, oldest first]\n");
	if (from == c->n_events)
		buf_adds(out, "(nothing yet)\n");
	for (size_t i = from; i < c->n_events; i++) {
		buf_addf(out, "%zu. ", i - from + 1);
		simcontext_clean(out, c->events[i], strlen(c->events[i]), SIMCONTEXT_EVENT);
		buf_addc(out, '\n');
	}
}

void simcontext_write(const struct simcontext *c, struct buf *out)
{
	line(out, "Repository", c->repo);
	line(out, "Task", c->instance_id);
	buf_addf(out, "Number of this message: %llu\n", (unsigned long long)c->index);
	line(out, "Why now", c->reason);
	place(out, c);
	block(out, "The task as the developer has it", c->statement, SIMCONTEXT_STATEMENT,
	      "(not known)");
	events(out, c);
	block(out, "The developer's last command", c->command, SIMCONTEXT_COMMAND, "(not known)");
	block(out, "What it printed", c->output, SIMCONTEXT_OUTPUT, "(nothing, or not known)");
	block(out, "What you believe about your change", c->claim, SIMCONTEXT_CLAIM,
	      "(read it from the change itself)");
	block(out, "Your change", c->diff, SIMCONTEXT_DIFF,
	      "(no change this time: you only ask for how it should be)");
}
