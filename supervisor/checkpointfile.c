#include "supervisor/checkpointfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"

#define FILE_MAX_BYTES (1u << 30)
#define LINES_MAX      100000u
#define CHANGES_MAX    2000000u /* of all lines up to the one that is asked for */
#define MODE_MAX       01777u

struct change {
	char *area, *path, *kind, *sha256, *link;
	bool opaque;
	uint64_t mode, size, mtime, ns;
};

struct line {
	uint64_t n, call, stored, messages;
	bool settled, user;
	char *why, *where;
	struct strv processes, held, services;
	struct json_array changed; /* of struct change */
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field change_rows[] = {
	{ "area", JSON_STR, OFF(change, area), true },
	{ "path", JSON_STR, OFF(change, path), true },
	{ "kind", JSON_STR, OFF(change, kind), true },
	{ "opaque", JSON_BOOL, OFF(change, opaque) },
	{ "mode", JSON_U64, OFF(change, mode) },
	{ "size", JSON_U64, OFF(change, size) },
	{ "mtime", JSON_U64, OFF(change, mtime) },
	{ "ns", JSON_U64, OFF(change, ns) },
	{ "sha256", JSON_STR, OFF(change, sha256) },
	{ "link", JSON_STR, OFF(change, link) },
	{ NULL },
};

static const struct json_field line_rows[] = {
	{ "n", JSON_U64, OFF(line, n), true },
	{ "call", JSON_U64, OFF(line, call), true },
	{ "settled", JSON_BOOL, OFF(line, settled), true },
	{ "stored", JSON_U64, OFF(line, stored), true },
	{ "why", JSON_STR, OFF(line, why) },
	{ "where", JSON_STR, OFF(line, where) },
	{ "processes", JSON_STRV, OFF(line, processes), true },
	{ "held", JSON_STRV, OFF(line, held), true },
	{ "services", JSON_STRV, OFF(line, services), true },
	{ "user", JSON_BOOL, OFF(line, user), true },
	{ "messages", JSON_U64, OFF(line, messages), true },
	{ "changed", JSON_ARRAY, OFF(line, changed), true, .rows = change_rows, .size = sizeof(struct change) },
	{ NULL },
};
/* clang-format on */

/* A change with the place it stands at: later ones count. */
struct put {
	struct snapshot_entry e;
	uint64_t call; /* of its line */
	size_t at;
};

/* What was read so far. */
struct reading {
	const char *name;
	struct put *v[SNAPSHOT_AREAS]; /* owned */
	size_t n[SNAPSHOT_AREAS], cap[SNAPSHOT_AREAS], all;
	struct checkpoint_state *ret;
	bool found;
};

void checkpoint_state_done(struct checkpoint_state *c)
{
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		for (size_t i = 0; i < c->n[a]; i++)
			snapshot_entry_done(&c->v[a][i]);
		free(c->v[a]);
		free(c->since[a]);
	}
	free(c->why);
	free(c->where);
	strv_done(&c->processes);
	strv_done(&c->held);
	strv_done(&c->services);
	*c = (struct checkpoint_state){ 0 };
}

/* A plain path below a directory; .git is as good as others here. */
static bool is_below(const char *path)
{
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/");

		if (!n || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
		if (!*p)
			return true;
	}
}

static bool is_digest(const char *s)
{
	return s && strlen(s) == DIGEST_HEX - 1 && strspn(s, "0123456789abcdef") == DIGEST_HEX - 1;
}

/* Why the change means nothing, NULL when it does. */
static const char *wrong(const struct change *c, int *ret_area)
{
	const char *kind = c->kind;

	for (*ret_area = 0; *ret_area < SNAPSHOT_AREAS; ++*ret_area) {
		if (str_eq(c->area, snapshot_area_name((enum snapshot_area) * ret_area)))
			break;
	}
	if (*ret_area == SNAPSHOT_AREAS)
		return "an area that there is not";
	if (!is_below(c->path))
		return "a path that is none";
	if (!kind[0] || kind[1] || !strchr("fdlp-=", kind[0]))
		return "a kind that there is not";
	if (kind[0] == 'f' && (!is_digest(c->sha256) || c->size > SNAPSHOT_FILE_MAX))
		return "a file without digest, or too large";
	if (c->mode > MODE_MAX || c->ns >= 1000000000 || c->mtime > UINT32_MAX * 2ull)
		return "a mode or time that there is not";
	return kind[0] == 'l' && (!c->link || !c->link[0]) ? "a link without target" : NULL;
}

static void take_change(struct reading *r, struct change *c, int area, uint64_t call)
{
	struct put *p;

	MEM_GROW(r->v[area], r->cap[area], r->n[area] + 1);
	p = &r->v[area][r->n[area]];
	*p = (struct put){ .call = call, .at = r->n[area]++ };
	json_unescape_bytes(c->path);
	p->e.path = take_ptr(&c->path);
	p->e.kind = c->kind[0];
	p->e.opaque = c->opaque;
	p->e.mode = (uint32_t)c->mode;
	p->e.size = c->size;
	p->e.mtime = (int64_t)(c->mtime * 1000000000 + c->ns);
	if (p->e.kind == 'f')
		memcpy(p->e.sha256, c->sha256, DIGEST_HEX);
	if (p->e.kind == 'l') {
		json_unescape_bytes(c->link);
		p->e.link = take_ptr(&c->link);
	}
}

static int take_changes(struct reading *r, const struct json_src *src, struct line *l,
			struct err *err)
{
	struct change *c = l->changed.v;

	for (size_t i = 0; i < l->changed.n; i++) {
		auto_free char *where = mem_printf("$.changed[%zu]", i);
		const char *why;
		int area;

		why = ++r->all > CHANGES_MAX ? "more changes than can be" : wrong(&c[i], &area);
		if (why)
			return json_complain(src, where, err, "%s", why);
		take_change(r, &c[i], area, l->call);
	}
	return 0;
}

/* The line that was asked for. */
static void take_line(struct checkpoint_state *s, struct line *l)
{
	s->call = l->call;
	s->settled = l->settled;
	s->user = l->user;
	s->messages = l->messages;
	s->why = take_ptr(&l->why);
	s->where = take_ptr(&l->where);
	s->processes = l->processes;
	s->held = l->held;
	s->services = l->services;
	l->processes = l->held = l->services = (struct strv){ 0 };
}

static int read_line(struct reading *r, size_t number, const char *text, size_t n, uint64_t call,
		     struct err *err)
{
	auto_free char *where = mem_printf("%s: line %zu", r->name, number);
	struct json_src src = { 0 };
	struct line l = { 0 };
	int rc = json_parse(where, text, n, &src, err);

	if (rc < 0)
		return rc;
	rc = json_check_schema(&src, "checkpoints", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, line_rows, &l, err);
	if (rc == 0)
		rc = take_changes(r, &src, &l, err);
	if (rc == 0 && l.call == call) {
		r->found = true;
		take_line(r->ret, &l);
	}
	json_release(line_rows, &l);
	json_src_done(&src);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	const struct put *x = a, *y = b;
	int c = strcmp(x->e.path, y->e.path);

	return c ? c : x->at < y->at ? -1 : x->at > y->at;
}

/* Of each path the last change; one that ends as it began is none. */
static void fold(struct reading *r, int a)
{
	struct checkpoint_state *s = r->ret;
	size_t n = r->n[a];
	uint64_t since = 0;

	if (n)
		qsort(r->v[a], n, sizeof(**r->v), by_path);
	s->v[a] = mem_zalloc(n + 1, sizeof(**s->v));
	s->since[a] = mem_zalloc(n + 1, sizeof(**s->since));
	for (size_t i = 0; i < n; i++) {
		struct put *p = &r->v[a][i];
		bool first = !i || strcmp(p->e.path, p[-1].e.path) != 0;
		bool last = i + 1 == n || strcmp(p->e.path, p[1].e.path) != 0;

		if (first || p[-1].e.kind == '=')
			since = p->call;
		if (!last || p->e.kind == '=')
			continue;
		s->since[a][s->n[a]] = since;
		s->v[a][s->n[a]++] = p->e;
		p->e.path = mem_strdup(p->e.path); /* the next one is held against it */
		p->e.link = NULL;
	}
}

int checkpointfile_parse(const char *name, const char *text, size_t n, uint64_t call,
			 struct checkpoint_state *ret, struct err *err)
{
	struct reading r = { .name = name, .ret = ret };
	const char *p = text, *end = text + n, *nl;
	size_t number = 0;
	int rc = 0;

	*ret = (struct checkpoint_state){ 0 };
	/* A last line without its end was cut by a kill. */
	while (rc == 0 && !r.found && p < end && (nl = memchr(p, '\n', (size_t)(end - p)))) {
		if (++number > LINES_MAX)
			rc = err_set(err, ERR_INPUT, "%s: more than %u lines", name, LINES_MAX);
		else
			rc = read_line(&r, number, p, (size_t)(nl - p), call, err);
		p = nl + 1;
	}
	if (rc == 0 && !r.found)
		rc = err_set(err, ERR_INPUT, "%s: there is no checkpoint of request %llu", name,
			     (unsigned long long)call);
	for (int a = 0; a < SNAPSHOT_AREAS; a++) {
		if (rc == 0)
			fold(&r, a);
		for (size_t i = 0; i < r.n[a]; i++)
			snapshot_entry_done(&r.v[a][i].e);
		free(r.v[a]);
	}
	if (rc < 0)
		checkpoint_state_done(ret);
	return rc;
}

int checkpointfile_load(const char *path, uint64_t call, struct checkpoint_state *ret,
			struct err *err)
{
	auto_buf b = BUF_INIT(FILE_MAX_BYTES);
	int rc = fd_read_file(path, &b, err);

	return rc < 0 ? rc : checkpointfile_parse(path, buf_str(&b), b.len, call, ret, err);
}

const char *checkpoint_session(const struct checkpoint_state *c, const char *pattern)
{
	const char *found = NULL;
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < c->n[SNAPSHOT_BOX]; i++) {
		const struct snapshot_entry *e = &c->v[SNAPSHOT_BOX][i];

		if (e->kind != 'f' || c->since[SNAPSHOT_BOX][i] >= since ||
		    !str_path_glob(pattern, e->path))
			continue;
		found = e->path;
		since = c->since[SNAPSHOT_BOX][i];
	}
	return found;
}

int checkpoint_restore(const struct checkpoint_state *c, const char *store, struct box *box,
		       struct err *err)
{
	int rc = 0;

	for (int a = 0; rc == 0 && a < SNAPSHOT_AREAS; a++)
		rc = snapshot_restore(box, (enum snapshot_area)a, store, c->v[a], c->n[a], err);
	return rc;
}
