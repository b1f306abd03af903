#include "gateway/simlink.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "gateway/lastcall.h"

struct simlink {
	struct simlink_spec spec;
	struct simulate_ops ops;
	struct simulate *sim;
	struct map
		asked; /* number -> seq of the message that completed the question, as a pointer */
	char *context; /* owned: the one that is arriving */
	uint64_t number, total, got;
};

/* Strings one after the other, each with its NUL. */
static void add_text(struct gw_msg *m, const char *s)
{
	size_t n = strlen(s), room = GW_TEXT_MAX - m->n;

	if (!room)
		return;
	n = n < room ? n : room - 1;
	memcpy(m->text + m->n, s, n);
	m->text[m->n + n] = '\0';
	m->n += (uint32_t)n + 1;
}

/* @n bytes as messages of @type; v is { @a, @b, offset, total }. */
static void tell_parts(struct simlink *l, enum gw_type type, uint64_t a, uint64_t b, const char *s,
		       size_t n)
{
	struct gw_msg m = { .type = type, .v = { a, b } };

	gw_parts(&m, s, n, l->spec.tell, l->spec.arg);
}

static void on_said(void *arg, const struct simulate_said *d)
{
	struct simlink *l = arg;
	struct gw_msg m = { .type = GW_SIMULATED };

	if (d->text)
		tell_parts(l, GW_SAID, d->number, 0, d->text, d->n);
	m.ref = (uint32_t)(uintptr_t)map_del(&l->asked, d->number);
	m.v[GWS_NUMBER] = d->number;
	m.v[GWS_TEXT] = d->text ? d->n : 0;
	m.v[GWS_INPUT] = d->usage.input;
	m.v[GWS_OUTPUT] = d->usage.output;
	m.v[GWS_MICRO] = d->micro;
	m.v[GWS_BILLED] = d->billed;
	m.v[GWS_TRIES] = d->tries;
	m.v[GWS_KNOWN] = d->usage.known;
	m.v[GWS_NS] = d->ns;
	add_text(&m, d->why);
	add_text(&m, d->raw_sha256);
	l->spec.tell(l->spec.arg, &m);
}

static void on_mismatch(void *arg, const char *difference)
{
	struct simlink *l = arg;
	struct gw_msg m = { .type = GW_MISMATCH };

	add_text(&m, "simulator: ");
	m.n -= m.n > 0; /* one string */
	add_text(&m, difference);
	l->spec.tell(l->spec.arg, &m);
}

static void on_unmet(void *arg, const char *text)
{
	struct simlink *l = arg;
	struct gw_msg m = { .type = GW_UNMET };

	add_text(&m, text);
	l->spec.tell(l->spec.arg, &m);
}

static void on_failed(void *arg, const char *why)
{
	struct simlink *l = arg;

	l->spec.failed(l->spec.arg, why);
}

struct simlink *simlink_new(const struct simlink_spec *spec)
{
	struct simlink *l = mem_zalloc(1, sizeof(*l));
	struct simulate_spec own = { .base = spec->base,
				     .sim = spec->sim,
				     .source = spec->source,
				     .ops = &l->ops,
				     .record_fd = spec->record_fd,
				     .start = spec->start };

	l->spec = *spec;
	l->ops = (struct simulate_ops){ .said = on_said,
					.mismatch = on_mismatch,
					.unmet = on_unmet,
					.failed = on_failed,
					.arg = l };
	l->sim = simulate_new(&own);
	return l;
}

void simlink_take(struct simlink *l, const struct gw_msg *m)
{
	uint64_t number = m->v[0], at = m->v[2], total = m->v[3];

	if (at == 0) {
		free(l->context);
		l->number = number;
		l->total = total < SIMULATE_CONTEXT_MAX ? total : SIMULATE_CONTEXT_MAX;
		l->context = mem_alloc(l->total + 1);
		l->got = 0;
	}
	if (!l->context || number != l->number || at != l->got || m->n > l->total - l->got)
		return;
	memcpy(l->context + l->got, m->text, m->n);
	l->got += m->n;
	if (l->got < l->total)
		return;
	map_put(&l->asked, number, (void *)(uintptr_t)m->seq);
	simulate_ask(l->sim, number, l->context, l->total);
	free(l->context);
	l->context = NULL;
}

void simlink_last(struct simlink *l, uint64_t call, const struct api_request *q)
{
	auto_buf command = BUF_INIT(LASTCALL_MAX);
	auto_buf output = BUF_INIT(LASTCALL_MAX);

	if (!lastcall_of(q, &command, &output))
		return;
	tell_parts(l, GW_LAST, call, GWL_COMMAND, buf_str(&command), command.len);
	tell_parts(l, GW_LAST, call, GWL_OUTPUT, buf_str(&output), output.len);
}

void simlink_bye(struct simlink *l)
{
	simulate_bye(l->sim);
}

struct simlink *simlink_free(struct simlink *l)
{
	if (!l)
		return NULL;
	simulate_free(l->sim);
	map_done(&l->asked);
	free(l->context);
	free(l);
	return NULL;
}
