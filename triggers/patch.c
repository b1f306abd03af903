/* A diff as data: libgit2 parses, this file copies what the ladder needs. Not for putting it
 * anywhere (apply.c). */
#include "triggers/apply.h"

#include <git2.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "triggers/apply_internal.h"

void patch_line_set(struct text_line *l, const char *p, size_t n, char kind)
{
	size_t core = n;

	l->p = p;
	l->len = (uint32_t)n;
	l->kind = kind;
	l->end = END_NONE;
	if (n && p[n - 1] == '\n') {
		l->end = n > 1 && p[n - 2] == '\r' ? END_CRLF : END_LF;
		core -= l->end == END_CRLF ? 2 : 1;
	}
	l->hash = map_hash(p, core);
}

/* "MESSAGE at line N" of libgit2 with N in the user's text. */
static int complain(const struct patch_origins *origins, struct err *err)
{
	const git_error *ge = git_error_last();
	const char *text = ge && ge->message ? ge->message : "not a diff";
	const char *at = strstr(text, " at line ");
	unsigned long line = at ? strtoul(at + 9, NULL, 10) : 0;

	if (!line)
		return err_set(err, ERR_INPUT, "diff: %s", text);
	return err_set(err, ERR_INPUT, "diff: line %zu: %.*s", patch_text_origin(origins, line),
		       (int)(at - text), text);
}

static const enum patch_op op_of[] = {
	[GIT_DELTA_ADDED] = PATCH_ADD,         [GIT_DELTA_DELETED] = PATCH_DELETE,
	[GIT_DELTA_RENAMED] = PATCH_RENAME,    [GIT_DELTA_COPIED] = PATCH_COPY,
	[GIT_DELTA_UNREADABLE] = PATCH_MODIFY, [GIT_DELTA_CONFLICTED] = PATCH_MODIFY,
};

/* The text of a line. libgit2 1.5 keeps a copy that ends at the first NUL but says the length of
 * the whole line, so it is taken from the text that was parsed. NULL when that does not fit. */
static const char *line_text(const struct patch *p, const git_diff_line *l)
{
	size_t at = l->content_offset < 0 ? SIZE_MAX : (size_t)l->content_offset;

	if (at >= p->n_bytes)
		return NULL;
	/* an empty context line may lack its blank */
	if (p->bytes[at] == l->origin)
		at++;
	else if (l->origin != ' ' || p->bytes[at] != '\n')
		return NULL;
	if (l->content_len > p->n_bytes - at ||
	    memcmp(p->bytes + at, l->content, strnlen(l->content, l->content_len)) != 0)
		return NULL;
	return p->bytes + at;
}

/* "\ No newline at end of file" takes the end of the line before it; its CR as well when the
 * whole diff has been given CRLF ends. */
static void cut_end(struct text_line *l, const char *marker)
{
	bool crlf = l->end == END_CRLF && str_ends(marker, "\r\n");

	if (l->end != END_NONE)
		patch_line_set(l, l->p, l->len - (crlf ? 2u : 1u), l->kind);
}

/* Take the lines of hunk @k. */
static int take_hunk(struct patch *p, struct patch_file *f, git_patch *gp, size_t k,
		     struct err *err)
{
	struct patch_hunk *h = &f->hunk[k];
	const git_diff_hunk *gh;
	size_t n;

	if (git_patch_get_hunk(&gh, &n, gp, k) < 0)
		return err_set(err, ERR_INPUT, "diff: %s: hunk %zu cannot be read", f->path, k + 1);
	h->old_start = (uint64_t)gh->old_start;
	h->old_n = (uint64_t)gh->old_lines;
	h->new_start = (uint64_t)gh->new_start;
	h->new_n = (uint64_t)gh->new_lines;
	h->line = p->line + p->n_lines;
	for (size_t i = 0; i < n; i++) {
		const git_diff_line *gl;
		struct text_line *l = p->line + p->n_lines;
		const char *text;

		if (git_patch_get_line_in_hunk(&gl, gp, k, i) < 0)
			return err_set(err, ERR_INPUT, "diff: %s: a line cannot be read", f->path);
		if (gl->origin != ' ' && gl->origin != '+' && gl->origin != '-') {
			if (h->n)
				cut_end(&l[-1], gl->content);
			continue;
		}
		text = line_text(p, gl);
		if (!text)
			return err_set(err, ERR_INPUT, "diff: %s: a line cannot be found", f->path);
		patch_line_set(l, text, gl->content_len, gl->origin);
		p->n_lines++;
		h->n++;
	}
	for (size_t i = 0; i < h->n; i++) {
		f->lf += h->line[i].end == END_LF;
		f->crlf += h->line[i].end == END_CRLF;
	}
	return 0;
}

static int take_file(struct patch *p, git_diff *diff, size_t i, struct err *err)
{
	const git_diff_delta *d = git_diff_get_delta(diff, i);
	struct patch_file *f = &p->file[p->n_files++];
	git_patch *gp = NULL;
	int r = 0;

	f->path = mem_strdup(d->new_file.path ? d->new_file.path : d->old_file.path);
	f->old_path = mem_strdup(d->old_file.path ? d->old_file.path : f->path);
	f->op = (size_t)d->status < ARRAY_SIZE(op_of) ? op_of[d->status] : PATCH_MODIFY;
	f->old_mode = d->old_file.mode;
	f->mode = d->new_file.mode;
	f->delta = i;
	if (d->old_file.id_abbrev)
		git_oid_tostr(f->old_name, (size_t)d->old_file.id_abbrev + 1, &d->old_file.id);
	if (d->new_file.id_abbrev)
		git_oid_tostr(f->new_name, (size_t)d->new_file.id_abbrev + 1, &d->new_file.id);
	if (!f->path || !path_is_tame(f->path) || !path_is_tame(f->old_path))
		return err_set(err, ERR_INPUT,
			       "diff: \"%s\" is not a plain path below the repository: remove it",
			       f->path ? f->path : "");
	if (git_patch_from_diff(&gp, diff, i) < 0)
		return err_set(err, ERR_INPUT, "diff: %s: cannot be read", f->path);
	f->binary = (git_diff_get_delta(diff, i)->flags & GIT_DIFF_FLAG_BINARY) != 0;
	if (gp && !f->binary) {
		f->n_hunks = git_patch_num_hunks(gp);
		f->hunk = mem_zalloc(f->n_hunks + 1, sizeof(*f->hunk));
		for (size_t k = 0; k < f->n_hunks && r == 0; k++)
			r = take_hunk(p, f, gp, k, err);
	}
	f->empty_old = f->n_hunks == 1 && f->hunk[0].old_n == 0 && f->hunk[0].old_start == 0;
	git_patch_free(gp);
	return r;
}

static int take_all(struct patch *p, git_diff *diff, struct err *err)
{
	size_t n = git_diff_num_deltas(diff), lines = 0;
	bool binary = false;
	int r = 0;

	if (n > PATCH_FILES_MAX)
		return err_set(err, ERR_INPUT, "diff: more than %u files", PATCH_FILES_MAX);
	for (size_t i = 0; i < p->n_bytes; i++)
		lines += p->bytes[i] == '\n';
	/* every line of a hunk is a line of the text, so the array cannot overflow */
	p->line = mem_zalloc(lines + 1, sizeof(*p->line));
	p->file = mem_zalloc(n + 1, sizeof(*p->file));
	for (size_t i = 0; i < n && r == 0; i++) {
		r = take_file(p, diff, i, err);
		binary |= p->file[i].binary;
	}
	if (r == 0 && binary && patch_binary_take(p, diff) < 0)
		r = err_set(err, ERR_INPUT, "diff: its binary changes cannot be read");
	return r;
}

int patch_parse(const char *text, size_t n, struct patch **ret, struct err *err)
{
	auto_buf canon = BUF_INIT(2u * APPLY_DIFF_MAX);
	struct patch_origins origins = { 0 };
	struct patch *p = NULL;
	git_diff *diff = NULL;
	int r;

	if (n > APPLY_DIFF_MAX)
		return err_set(err, ERR_INPUT, "diff: %zu bytes, the limit is %u", n,
			       APPLY_DIFF_MAX);
	if (git_libgit2_init() < 0)
		return err_set(err, ERR_HOST, "libgit2 cannot be set up");
	r = patch_text_normal(text, n, &canon, &origins, err);
	if (r == 0 && git_diff_from_buffer(&diff, buf_str(&canon), canon.len) < 0)
		r = complain(&origins, err);
	else if (r == 0 && git_diff_num_deltas(diff) == 0)
		r = err_set(err, ERR_INPUT, "diff: there is no change in it");
	if (r == 0) {
		p = mem_zalloc(1, sizeof(*p));
		p->bytes = buf_steal(&canon, &p->n_bytes);
		r = take_all(p, diff, err);
	}
	git_diff_free(diff);
	git_libgit2_shutdown();
	free(origins.v);
	if (r < 0) {
		patch_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

struct patch *patch_free(struct patch *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n_files; i++) {
		free(p->file[i].old_path);
		free(p->file[i].path);
		free(p->file[i].hunk);
		free(p->file[i].bin.data);
	}
	free(p->file);
	free(p->line);
	free(p->bytes);
	free(p);
	return NULL;
}

size_t patch_files(const struct patch *p)
{
	return p->n_files;
}

const char *patch_path(const struct patch *p, size_t i)
{
	return p->file[i].path;
}

void patch_counts(const struct patch *p, uint64_t *added, uint64_t *removed)
{
	*added = *removed = 0;
	for (size_t i = 0; i < p->n_lines; i++) {
		*added += p->line[i].kind == '+';
		*removed += p->line[i].kind == '-';
	}
}
