/* One record under way: names, paths inside the repository, the final diff, base lines. */
#include "verifier/traj_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"

/* Where repositories are in the boxes of public harnesses, when the record does not say. */
static const char *const usual_roots[] = { "/testbed", "/workspace", "/app", "/repo" };

void traj_rec_begin(struct traj_rec *r, struct trajs *out, const char *file, const char *format,
		    const char *root)
{
	MEM_GROW(out->v, out->cap, out->n + 1);
	out->v[out->n] = (struct traj){
		.file = mem_strdup(file),
		.format = mem_strdup(format),
		.model = mem_strdup(format),
	};
	*r = (struct traj_rec){
		.out = out,
		.at = out->n++,
		.root = root ? path_normal(root) : NULL,
		.seen = traj_seen_new(),
	};
}

struct traj *traj_rec_traj(const struct traj_rec *r)
{
	return &r->out->v[r->at];
}

static void replace(char **to, const char *by)
{
	if (!by || !*by)
		return;
	free(*to);
	*to = mem_strdup(by);
}

void traj_rec_name(struct traj_rec *r, const char *instance_id, const char *model)
{
	replace(&traj_rec_traj(r)->instance_id, instance_id);
	replace(&traj_rec_traj(r)->model, model);
}

char *traj_rec_stem(const char *file)
{
	static const char *const ends[] = { ".json", ".traj", ".trajectory" };
	auto_free char *name = mem_strdup(path_base(file));
	char *sep;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_ends(name, ends[i]))
			name[strlen(name) - strlen(ends[i])] = '\0';
	sep = strstr(name, "__");
	if (!sep || sep == name || !strchr(sep, '-') ||
	    !isdigit((unsigned char)name[strlen(name) - 1]))
		return NULL;
	return take_ptr(&name);
}

/* @path without directory @dir in front; NULL when it is not below it. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strncmp(path, dir, n) != 0 || path[n] != '/')
		return NULL;
	return path + n + 1;
}

char *traj_rec_path(const struct traj_rec *r, const char *path)
{
	auto_free char *joined = NULL;
	auto_free char *norm = NULL;
	const char *rel = NULL;

	/* what a shell would still expand is no name */
	if (!path || !*path || strpbrk(path, "*?$`{}<>|\n") || str_starts(path, "~"))
		return NULL;
	joined = r->cwd ? path_join(r->cwd, path) : mem_strdup(path);
	norm = path_normal(joined);
	if (*norm != '/')
		rel = norm;
	else if (r->root)
		rel = below(norm, r->root);
	for (size_t i = 0; !rel && !r->root && i < ARRAY_SIZE(usual_roots); i++)
		rel = below(norm, usual_roots[i]);
	if (!rel || !path_is_tame(rel))
		return NULL;
	return mem_strdup(rel);
}

void traj_rec_add(struct traj_rec *r, bool edit, const char *path, uint64_t first, uint64_t last)
{
	auto_free char *rel = traj_rec_path(r, path);
	struct traj_event e = {
		.edit = edit,
		.path = rel,
		.first = first,
		.last = last < first ? first : last,
		.step = r->step,
	};

	if (!rel)
		return;
	e.base_first = e.first;
	e.base_last = e.last;
	if (!traj_seen_back(r->seen, rel, &e.base_first, &e.base_last))
		e.base_first = e.base_last = 0; /* see traj_rec_end() */
	traj_add(traj_rec_traj(r), &e);
}

void traj_rec_final(struct traj_rec *r, const char *diff)
{
	if (diff)
		traj_diff_read(&r->final, diff, strlen(diff));
	r->ended = r->final.n_files > 0;
}

static void add_final(struct traj_rec *r)
{
	struct traj *t = traj_rec_traj(r);
	const struct traj_diff *d = &r->final;

	for (size_t i = 0; i < d->n; i++) {
		const struct traj_diff_file *f = &d->file[d->v[i].file];
		struct traj_event e = {
			.edit = true,
			.final = true,
			.path = f->path,
			.step = r->step,
			.born = f->born,
			.hunk_first = d->v[i].hunk_first,
			.hunk_last = d->v[i].hunk_last,
		};

		traj_diff_new(d, &d->v[i], &e.first, &e.last);
		traj_diff_old(d, &d->v[i], &e.base_first, &e.base_last);
		if (path_is_tame(f->path))
			traj_add(t, &e);
	}
}

/* Lines of events behind an edit that was not located: the final diff is the best guess. */
static void guess_base(struct traj_rec *r, struct traj_event *e)
{
	uint64_t first = e->first, last = e->last;

	e->born |= !traj_diff_back(&r->final, e->path, &first, &last);
	if (e->base_first || !e->first || e->born)
		return;
	e->base_first = first;
	e->base_last = last;
}

void traj_rec_end(struct traj_rec *r)
{
	struct traj *t = traj_rec_traj(r);

	for (size_t i = 0; i < t->n; i++)
		guess_base(r, &t->v[i]);
	add_final(r);
	traj_diff_done(&r->final);
	traj_seen_free(r->seen);
	free(r->root);
	free(r->cwd);
	free(r->open_file);
	*r = (struct traj_rec){ 0 };
}
