#include "verifier/stepfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX_BYTES (1u << 30)
#define STEPS_READ_MAX 200000u

struct line_change {
	char *path, *kind, *sha256;
};

struct line {
	uint64_t n, call, files;
	char *request, *workspace, *why;
	struct json_array changed; /* of struct line_change */
};

#define OFF(type, field) offsetof(struct type, field)

/* clang-format off */
static const struct json_field change_rows[] = {
	{ "path", JSON_STR, OFF(line_change, path), true },
	{ "kind", JSON_STR, OFF(line_change, kind), true },
	{ "sha256", JSON_STR, OFF(line_change, sha256) },
	{ NULL },
};

static const struct json_field line_rows[] = {
	{ "n", JSON_U64, OFF(line, n), true },
	{ "call", JSON_U64, OFF(line, call), true },
	{ "request", JSON_STR, OFF(line, request), true },
	{ "workspace", JSON_STR, OFF(line, workspace) },
	{ "why", JSON_STR, OFF(line, why) },
	{ "files", JSON_U64, OFF(line, files) },
	{ "changed", JSON_ARRAY, OFF(line, changed), true, .rows = change_rows, .size = sizeof(struct line_change) },
	{ NULL },
};
/* clang-format on */

static void copy_digest(char out[DIGEST_HEX], const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n == DIGEST_HEX - 1)
		memcpy(out, from, DIGEST_HEX);
	else
		out[0] = '\0';
}

static struct stepfile_step *grow(struct stepfile *f)
{
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 16;
		f->v = mem_realloc(f->v, f->cap, sizeof(*f->v));
	}
	f->v[f->n] = (struct stepfile_step){ 0 };
	return &f->v[f->n++];
}

static void take(struct stepfile *f, struct line *l)
{
	struct stepfile_step *s = grow(f);
	struct line_change *c = l->changed.v;

	s->n = l->n;
	s->call = l->call;
	copy_digest(s->request, l->request);
	copy_digest(s->workspace, l->workspace);
	s->change = mem_zalloc(l->changed.n, sizeof(*s->change));
	for (size_t i = 0; i < l->changed.n; i++) {
		s->change[i].path = take_ptr(&c[i].path);
		json_unescape_bytes(s->change[i].path);
		s->change[i].kind = c[i].kind[0];
		copy_digest(s->change[i].sha256, c[i].sha256);
	}
	s->n_changes = l->changed.n;
}

static int read_line(const char *name, size_t number, const char *text, size_t n,
		     struct stepfile *f, struct err *err)
{
	auto_free char *where = mem_printf("%s: line %zu", name, number);
	struct json_src src = { 0 };
	struct line l = { 0 };
	int rc = json_parse(where, text, n, &src, err);

	if (rc < 0)
		return rc;
	rc = json_check_schema(&src, "steps", err);
	if (rc == 0)
		rc = json_read(&src, "$", src.root, line_rows, &l, err);
	if (rc == 0)
		take(f, &l);
	json_release(line_rows, &l);
	json_src_done(&src);
	return rc;
}

int stepfile_load(const char *path, struct stepfile *ret, struct err *err)
{
	auto_buf b = BUF_INIT(FILE_MAX_BYTES);
	struct stepfile f = { 0 };
	const char *p, *end;
	size_t number = 0;
	int rc = fd_read_file(path, &b, err);

	if (rc < 0)
		return rc;
	p = buf_str(&b);
	end = p + b.len;
	while (rc == 0 && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			break;
		if (++number > STEPS_READ_MAX)
			rc = err_set(err, ERR_INPUT, "%s: more than %u steps", path,
				     STEPS_READ_MAX);
		else
			rc = read_line(path, number, p, (size_t)(nl - p), &f, err);
		p = nl + 1;
	}
	if (rc < 0)
		stepfile_done(&f);
	else
		*ret = f;
	return rc;
}

void stepfile_add(struct stepfile *f, uint64_t n, uint64_t call, const char *request,
		  const struct treestate_look *l)
{
	struct stepfile_step *s = grow(f);

	s->n = n;
	s->call = call;
	copy_digest(s->request, request);
	copy_digest(s->workspace, l->sha256);
	s->change = mem_zalloc(l->n_changes, sizeof(*s->change));
	for (size_t i = 0; i < l->n_changes; i++) {
		s->change[i] = l->change[i];
		s->change[i].path = mem_strdup(l->change[i].path);
	}
	s->n_changes = l->n_changes;
}

const struct stepfile_step *stepfile_find(const struct stepfile *f, uint64_t call)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].call == call)
			return &f->v[i];
	}
	return NULL;
}

/* A change with the place it stands at: later ones count. */
struct put {
	const struct treestate_file *file;
	size_t at;
};

static int by_path(const void *a, const void *b)
{
	const struct put *x = a, *y = b;
	int c = strcmp(x->file->path, y->file->path);

	return c ? c : x->at < y->at ? -1 : x->at > y->at;
}

/* The state at the first step @call: one entry a path, sorted. Caller frees. */
static struct put *state_at(const struct stepfile *f, uint64_t call, size_t *ret_n)
{
	const struct stepfile_step *last = stepfile_find(f, call);
	size_t steps = last ? (size_t)(last - f->v) + 1 : f->n, n = 0, out = 0;
	struct put *v;

	for (size_t i = 0; i < steps; i++)
		n += f->v[i].n_changes;
	v = mem_zalloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t i = 0; i < steps; i++) {
		for (size_t k = 0; k < f->v[i].n_changes; k++, n++)
			v[n] = (struct put){ &f->v[i].change[k], n };
	}
	if (n)
		qsort(v, n, sizeof(*v), by_path);
	for (size_t i = 0; i < n; i++) {
		bool again = i + 1 < n && strcmp(v[i].file->path, v[i + 1].file->path) == 0;

		if (!again && v[i].file->kind != '=')
			v[out++] = v[i];
	}
	*ret_n = out;
	return v;
}

static void tell(struct buf *out, const struct treestate_file *f)
{
	if (!f)
		buf_adds(out, "as in the base");
	else if (f->kind == '-')
		buf_adds(out, "gone");
	else if (f->kind == 'o')
		buf_adds(out, "no file");
	else
		buf_addf(out, "%s%.12s",
			 f->kind == 'l'   ? "a link, "
			 : f->kind == 'x' ? "executable, "
					  : "",
			 f->sha256);
}

int stepfile_difference(const struct stepfile *recorded, const struct stepfile *now, uint64_t call,
			struct buf *out)
{
	size_t na, nb, i = 0, k = 0;
	auto_free struct put *a = state_at(recorded, call, &na);
	auto_free struct put *b = state_at(now, call, &nb);

	while (i < na || k < nb) {
		int c = i == na ? 1 : k == nb ? -1 : strcmp(a[i].file->path, b[k].file->path);
		const struct treestate_file *x = c <= 0 ? a[i].file : NULL;
		const struct treestate_file *y = c >= 0 ? b[k].file : NULL;

		i += c <= 0;
		k += c >= 0;
		if (x && y && x->kind == y->kind && strcmp(x->sha256, y->sha256) == 0)
			continue;
		buf_addf(out, "%s: recorded ", x ? x->path : y->path);
		tell(out, x);
		buf_adds(out, ", now ");
		tell(out, y);
		return 1;
	}
	return 0;
}

void stepfile_done(struct stepfile *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (size_t k = 0; k < f->v[i].n_changes; k++)
			free(f->v[i].change[k].path);
		free(f->v[i].change);
	}
	free(f->v);
	*f = (struct stepfile){ 0 };
}
