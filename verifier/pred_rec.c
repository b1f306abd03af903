/* A line of the trace as slices: texts are only made of what a predicate asks for. */
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "verifier/pred_internal.h"

enum { NAME_MAX_LEN = 16, NUMBER_DIGITS = 16 };

/* clang-format off */
static const char *const names[PM_MAX] = {
	[PM_N] = "n", [PM_T] = "t", [PM_K] = "k", [PM_PID] = "pid", [PM_CMD] = "cmd", [PM_PATH] = "path", [PM_TO] = "to",
	[PM_BY] = "by", [PM_CLASS] = "class", [PM_ARGV] = "argv", [PM_STATUS] = "status",
	[PM_SIGNAL] = "signal", [PM_TOOL] = "tool", [PM_DOES] = "does", [PM_LINES] = "lines",
	[PM_SHOWN] = "shown", [PM_SCAN] = "scan", [PM_REGION] = "region", [PM_SERVICE] = "service",
	[PM_EVENT] = "event", [PM_METHOD] = "method", [PM_ROUTE] = "route", [PM_CODE] = "code",
	[PM_VERSION] = "version", [PM_MUTATING] = "mutating", [PM_VERDICT] = "verdict", [PM_HOST] = "host",
	[PM_PORT] = "port", [PM_HOLDER] = "holder", [PM_MESSAGE] = "message", [PM_LOST] = "lost",
	[PM_ENDED] = "ended", [PM_CHILD] = "child", [PM_CHILD_CMD] = "child_cmd", [PM_ORDER] = "order",
	[PM_EFFECT] = "effect", [PM_APPLIED] = "applied", [PM_REASON] = "reason", [PM_ARM] = "arm",
	[PM_CALL] = "call", [PM_PRE] = "pre", [PM_POST] = "post", [PM_SHA256] = "sha256",
	[PM_GOAL] = "goal", [PM_VERIFIER] = "verifier", [PM_WHAT] = "what", [PM_PURPOSE] = "purpose", [PM_USER] = "user",
	[PM_RET] = "ret", [PM_FLAGS] = "flags",
};
/* clang-format on */

static size_t hash(const char *s, size_t n)
{
	size_t h = n * 7;

	for (size_t i = 0; i < n; i++)
		h = h * 31 + (unsigned char)s[i];
	return h;
}

void pred_members_init(struct pred_members *m)
{
	memset(m->slot, 0, sizeof(m->slot));
	for (size_t i = 0; i < PM_MAX; i++) {
		size_t at = hash(names[i], strlen(names[i]));

		while (m->slot[at % sizeof(m->slot)])
			at++;
		m->slot[at % sizeof(m->slot)] = (uint8_t)(i + 1);
	}
}

/* Member called @key (a slice with its quotes), PM_MAX when nobody asks for it. */
static enum pred_member member_of(const struct pred_members *m, struct jslice key)
{
	const char *s = key.s + 1;
	size_t n = key.n - 2;

	if (n > NAME_MAX_LEN)
		return PM_MAX;
	for (size_t at = hash(s, n); m->slot[at % sizeof(m->slot)]; at++) {
		size_t i = m->slot[at % sizeof(m->slot)] - 1u;

		if (strncmp(names[i], s, n) == 0 && !names[i][n])
			return (enum pred_member)i;
	}
	return PM_MAX;
}

/* Kind by its name in @v, TK_MAX when it is none of ours. */
static enum trace_kind kind_of(struct jslice v)
{
	char name[NAME_MAX_LEN + 1];

	if (jslice_kind(v) != '"' || v.n < 2 || v.n - 2 > NAME_MAX_LEN)
		return TK_MAX;
	memcpy(name, v.s + 1, v.n - 2);
	name[v.n - 2] = '\0';
	return tracerec_kind(name);
}

int pred_rec_read(struct pred_rec *rec, const struct pred_members *m, const char *line, size_t n,
		  uint64_t kinds, struct err *err)
{
	struct jslice root, key, value;
	struct jslice_walk w;
	bool in = false;
	int rc = jslice_parse("record", line, n, &root, err);

	if (rc < 0)
		return rc;
	rec->has = 0;
	rec->kind = TK_MAX;
	rec->have_path[0] = rec->have_path[1] = rec->have_argv = false;
	if (jslice_kind(root) != '{')
		return 0;
	w = jslice_walk(root);
	while (jslice_member(&w, &key, &value)) {
		enum pred_member i = member_of(m, key);

		if (i == PM_MAX || pred_rec_has(rec, i))
			continue;
		rec->v[i] = value;
		rec->has |= 1ull << i;
		if (i != PM_K)
			continue;
		rec->kind = kind_of(value);
		in = rec->kind < TK_MAX && (kinds & PRED_KIND(rec->kind));
		/* Our writer puts the kind behind the numbers: what else it says is not asked for. */
		if (!in && pred_rec_has(rec, PM_N))
			break;
	}
	rec->n = pred_rec_number(rec, PM_N);
	rec->pid = pred_rec_number(rec, PM_PID);
	rec->cmd = pred_rec_number(rec, PM_CMD);
	return rec->n && pred_rec_has(rec, PM_K);
}

static uint64_t whole(const char *s, size_t n)
{
	uint64_t v = 0;

	if (!n || n > NUMBER_DIGITS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	return v;
}

uint64_t pred_rec_number(const struct pred_rec *rec, enum pred_member m)
{
	return pred_rec_has(rec, m) ? whole(rec->v[m].s, rec->v[m].n) : 0;
}

/* Append the string @v without escapes, at most @max bytes of it. */
static void add_text(struct buf *b, struct jslice v, size_t max)
{
	auto_free char *s = NULL;

	if (jslice_kind(v) != '"' || v.n < 2)
		return;
	if (!memchr(v.s, '\\', v.n)) {
		size_t n = v.n - 2 < max ? v.n - 2 : max;

		buf_add(b, v.s + 1, n);
		return;
	}
	s = jslice_text(v, NULL);
	(void)json_unescape_bytes(s); /* a NUL byte ends it: no path or argument holds one */
	buf_add(b, s, strnlen(s, max));
}

static void start(struct buf *b, size_t max)
{
	b->max = max;
	buf_clear(b);
	b->full = false;
}

const char *pred_rec_text(struct pred_rec *rec, enum pred_member m)
{
	start(&rec->text, PRED_ARGV_MAX);
	if (pred_rec_has(rec, m))
		add_text(&rec->text, rec->v[m], PRED_TEXT_MAX);
	return buf_str(&rec->text);
}

/* Nothing that path_normal() would change? */
static bool is_normal(const char *s)
{
	for (const char *p = strchr(s, '/'); p; p = strchr(p + 1, '/'))
		if (p[1] == '/' || p[1] == '.' || (!p[1] && p != s))
			return false;
	return s[0] != '.';
}

const char *pred_rec_path(struct pred_rec *rec, enum pred_member m)
{
	size_t i = m == PM_TO;
	struct buf *b = &rec->path[i];
	const char *s, *wd = rec->workdir;

	if (rec->have_path[i])
		return buf_str(b);
	rec->have_path[i] = true;
	start(b, 2 * PRED_TEXT_MAX);
	s = pred_rec_text(rec, m);
	if (!s[0])
		return "";
	if (!is_normal(s)) {
		auto_free char *norm = path_normal(s);

		buf_adds(b, norm);
	} else {
		buf_adds(b, s);
	}
	s = buf_str(b);
	if (wd && s[0] == '/' && path_beneath(s, wd)) {
		auto_free char *below = mem_strdup(s[strlen(wd)] ? s + strlen(wd) + 1 : ".");

		start(b, 2 * PRED_TEXT_MAX);
		buf_adds(b, below);
	}
	return buf_str(b);
}

const char *pred_rec_argv(struct pred_rec *rec)
{
	struct jslice_walk w;
	struct jslice v;

	if (rec->have_argv)
		return buf_str(&rec->argv);
	rec->have_argv = true;
	start(&rec->argv, PRED_ARGV_MAX);
	if (!pred_rec_has(rec, PM_ARGV))
		return "";
	w = jslice_walk(rec->v[PM_ARGV]);
	while (jslice_member(&w, NULL, &v) && !rec->argv.full) {
		buf_addc(&rec->argv, ' ');
		add_text(&rec->argv, v, PRED_ARGV_MAX);
	}
	return buf_str(&rec->argv);
}

const char *pred_rec_program(struct pred_rec *rec)
{
	struct jslice_walk w;
	struct jslice v;

	if (rec->kind == TK_EXEC)
		return pred_rec_text(rec, PM_PATH);
	start(&rec->text, PRED_ARGV_MAX);
	if (pred_rec_has(rec, PM_ARGV)) {
		w = jslice_walk(rec->v[PM_ARGV]);
		if (jslice_member(&w, NULL, &v))
			add_text(&rec->text, v, PRED_TEXT_MAX);
	}
	return buf_str(&rec->text);
}

void pred_rec_lines(const struct pred_rec *rec, uint64_t *first, uint64_t *last)
{
	enum pred_member m = pred_rec_has(rec, PM_SHOWN) ? PM_SHOWN : PM_LINES;
	struct jslice_walk w;
	struct jslice v;

	*first = *last = 0;
	if (!pred_rec_has(rec, m))
		return;
	w = jslice_walk(rec->v[m]);
	if (jslice_member(&w, NULL, &v))
		*first = whole(v.s, v.n);
	if (jslice_member(&w, NULL, &v))
		*last = whole(v.s, v.n);
	if (!*first || *last < *first)
		*first = *last = 0;
}

void pred_rec_digest(const struct pred_rec *rec, enum pred_member m, char out[65])
{
	struct jslice v = rec->v[m];

	out[0] = '\0';
	if (!pred_rec_has(rec, m) || v.n != 66)
		return;
	memcpy(out, v.s + 1, 64);
	out[64] = '\0';
	if (strspn(out, "0123456789abcdef") != 64)
		out[0] = '\0';
}

void pred_rec_done(struct pred_rec *rec)
{
	buf_done(&rec->text);
	buf_done(&rec->path[0]);
	buf_done(&rec->path[1]);
	buf_done(&rec->argv);
}
