#include "gateway/tooluse_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* What a template can hold. Texts that are replaced are passed over. */
enum hole { H_PATH, H_FIRST, H_LAST, H_COUNT, H_OFFSET, H_OTHER, H_MAX };

static const struct {
	const char *name;
	enum hole hole;
} holes[] = {
	{ "{path}", H_PATH },     { "{abspath}", H_PATH }, { "{first}", H_FIRST },
	{ "{last}", H_LAST },     { "{count}", H_COUNT },  { "{offset0}", H_OFFSET },
	{ "{old}", H_OTHER },     { "{new}", H_OTHER },    { "{command}", H_OTHER },
	{ "{content}", H_OTHER }, { "{patch}", H_OTHER },
};

/* What was found in the holes. */
struct found {
	bool has[H_MAX];
	uint64_t number[H_MAX];
	struct tooluse *u;
	bool wrong; /* a value that no agent writes */
};

/* The hole at the start of @s and its length, 0 when there is none. */
static size_t hole_at(const char *s, enum hole *hole)
{
	for (size_t i = 0; i < ARRAY_SIZE(holes); i++) {
		if (!str_starts(s, holes[i].name))
			continue;
		*hole = holes[i].hole;
		return strlen(holes[i].name);
	}
	return 0;
}

static void fill(struct found *f, enum hole hole, const char *text, size_t n)
{
	auto_free char *s = mem_strndup(text, n);

	f->has[hole] = true;
	if (hole == H_PATH)
		f->wrong |= !tooluse_path(s, f->u);
	else if (hole != H_OTHER &&
		 (str_u64(s, &f->number[hole]) < 0 || f->number[hole] > TOOLUSE_LINE_MAX))
		f->wrong = true;
}

/* Bytes of @tmpl up to the next hole or its end. */
static size_t literal(const char *tmpl)
{
	enum hole hole;
	size_t n = 0;

	while (tmpl[n] && !(tmpl[n] == '{' && hole_at(tmpl + n, &hole)))
		n++;
	return n;
}

/* Does @text follow the template? A hole takes the shortest text up to the literal behind it, a path
 * or number no line end; the time is that of one search per hole. */
static bool text_fits(const char *tmpl, const char *text, struct found *f)
{
	for (;;) {
		size_t n = literal(tmpl), len, k;
		enum hole hole = H_OTHER;
		const char *end;

		if (strncmp(tmpl, text, n) != 0)
			return false;
		tmpl += n;
		text += n;
		if (!*tmpl)
			return !*text;
		tmpl += hole_at(tmpl, &hole);
		k = literal(tmpl);
		if (!k) {
			end = text + strlen(text);
		} else {
			auto_free char *next = mem_strndup(tmpl, k);

			end = tmpl[k] ? strstr(text, next) : NULL;
			/* the last literal must stand at the very end */
			if (!tmpl[k] && str_ends(text, next))
				end = text + strlen(text) - k;
		}
		if (!end)
			return false;
		len = (size_t)(end - text);
		if (hole != H_OTHER && memchr(text, '\n', len))
			return false;
		fill(f, hole, text, len);
		text = end;
	}
}

/* Does argument @at follow template value @t? Members that the model left out are fine. */
static bool fits(const struct jdoc *t, uint32_t tmpl, const struct jdoc *d, uint32_t at,
		 struct found *f, unsigned depth)
{
	auto_free char *want = jdoc_strdup(t, tmpl), *got = jdoc_strdup(d, at);
	uint32_t e;

	if (depth > 8)
		return false;
	if (want && !got && jdoc_kind(d, at) == J_NUMBER) {
		size_t n = d->v[at].end - d->v[at].start;

		got = mem_strndup(d->text + d->v[at].start, n);
	}
	/* a fixed value with blanks ("Run a command") is prose that the model words anew */
	if (want && !want[literal(want)] && strchr(want, ' '))
		return true;
	if (want)
		return got && text_fits(want, got, f);
	if (jdoc_kind(t, tmpl) != jdoc_kind(d, at))
		return jdoc_kind(t, tmpl) < J_ARRAY;
	if (jdoc_kind(t, tmpl) == J_OBJECT) {
		jdoc_each (m, t, tmpl) {
			auto_buf key = BUF_INIT(4096);

			(void)jdoc_key(t, m, &key); /* members have keys */
			e = jdoc_get(d, at, buf_str(&key));
			if (e != JNONE && jdoc_kind(d, e) != J_NULL &&
			    !fits(t, m, d, e, f, depth + 1))
				return false;
		}
		return true;
	}
	e = jdoc_first(d, at);
	jdoc_each (m, t, tmpl) {
		if (e == JNONE || !fits(t, m, d, e, f, depth + 1))
			return false;
		e = jdoc_next(d, at, e);
	}
	return true;
}

/* Lines from what stands in the holes. */
static bool lines(struct found *f)
{
	uint64_t first = f->has[H_OFFSET] ? f->number[H_OFFSET] + 1 : f->number[H_FIRST];
	bool has_first = f->has[H_OFFSET] || f->has[H_FIRST];
	uint64_t last = f->number[H_LAST];
	bool has_last = f->has[H_LAST] || f->has[H_COUNT];

	first = first ? first : 1;
	if (!f->has[H_LAST] && f->has[H_COUNT])
		last = first + f->number[H_COUNT] - 1;
	return tooluse_range(f->u, has_first, first, has_last, last);
}

static const enum tooluse_kind kinds[AGENT_TOOL_MAX] = {
	[AGENT_TOOL_READ] = TOOLUSE_READ,
	[AGENT_TOOL_EDIT] = TOOLUSE_EDIT,
	[AGENT_TOOL_SHELL] = TOOLUSE_SHELL,
	[AGENT_TOOL_WRITE] = TOOLUSE_EDIT,
};

/* Does the call follow row @t? @args NULL: @text is its plain argument. */
static bool row_fits(const struct agent_tool *t, const struct jdoc *args, const char *text,
		     struct tooluse *u)
{
	struct found f = { .u = u };
	struct jdoc tmpl;
	bool ok;

	*u = (struct tooluse){ 0 };
	if (!t->args || jdoc_parse(&tmpl, t->args, strlen(t->args), NULL) < 0)
		return false;
	if (args) {
		ok = jdoc_kind(&tmpl, 0) == J_OBJECT && jdoc_kind(args, 0) == J_OBJECT &&
		     fits(&tmpl, 0, args, 0, &f, 0);
	} else {
		auto_free char *want = jdoc_strdup(&tmpl, 0);

		ok = want && text_fits(want, text, &f);
	}
	jdoc_done(&tmpl);
	u->kind = kinds[t->kind];
	/* a row without a path in it is about a shell */
	return ok && !f.wrong && lines(&f) && (u->kind == TOOLUSE_SHELL || f.has[H_PATH]);
}

static void by_rows(const struct agent *agent, const char *name, const struct jdoc *args,
		    const char *text, struct tooluse *u)
{
	const struct agent_tool *v = agent ? agent->tools.v : NULL;

	for (int shell = 0; v && shell < 2; shell++) {
		for (size_t i = 0; i < agent->tools.n; i++) {
			if ((v[i].kind == AGENT_TOOL_SHELL) != shell || !str_eq(v[i].name, name) ||
			    v[i].custom != !args)
				continue;
			if (row_fits(&v[i], args, text, u))
				return;
		}
	}
	*u = (struct tooluse){ 0 };
}

void tooluse_rows(const struct agent *agent, const char *name, const struct jdoc *args,
		  struct tooluse *u)
{
	by_rows(agent, name, args, NULL, u);
}

void tooluse_text(const struct agent *agent, const char *name, const char *text, struct tooluse *u)
{
	by_rows(agent, name, NULL, text, u);
}
