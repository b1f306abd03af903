#include "study/mine.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "study/mine_internal.h"
#include "verifier/traj_diff.h"

#define MODELS_MAX  1000u
#define FILES_MAX   100000u
#define CELLS_MAX   4000000u /* files times models */
#define WEIGHED_MAX 2000u    /* candidates that are weighed by how often they were visited */
#define SOURCE_MAX  (16u << 20)

const char *const mine_algorithm_names[] = { "edits", "reads+edits", NULL };
const char *const mine_lines_names[] = { "base", "final", "hunk", NULL };

enum map_kind { MAP_READ, MAP_EDIT, MAP_KINDS };

/* A file that somebody read or edited. */
struct file {
	char *path;                  /* owned */
	struct spans *by[MAP_KINDS]; /* owned, one per model */
	bool noise;
};

/* A candidate region. */
struct cand {
	struct file *file; /* borrowed; NULL: of the reference */
	const char *path;  /* borrowed */
	uint64_t first, last;
	uint64_t support; /* fewest models per line */
	uint64_t models;  /* models that support one of its lines */
	uint64_t weight;  /* visits by reads and edits */
};

struct cands {
	struct cand *v; /* owned */
	size_t n, cap;
};

struct miner {
	const struct mine_options *o;
	const struct trajs *t;
	struct mine_result *res;
	struct strv models; /* that have a trajectory that counts */
	struct file **file; /* owned, of owned */
	size_t n_files, cap_files;
	struct map by_path; /* path hash to struct file */
	struct traj_diff reference;
	size_t active[MAP_KINDS]; /* models that have such an event at all */
	struct err *err;
};

static void note(struct miner *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct miner *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_take(&m->res->notes, mem_vprintf(fmt, ap));
	va_end(ap);
}

static bool counts(const struct miner *m, const struct traj *t)
{
	return t->finished || m->o->unfinished;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int take_models(struct miner *m)
{
	for (size_t i = 0; i < m->t->n; i++) {
		const struct traj *t = &m->t->v[i];

		if (!counts(m, t)) {
			note(m,
			     "%s did not come to its own end%s%s: it does not count, and neither "
			     "does the task in the sense of SWE-Touch",
			     t->file, t->end ? ", but by " : "", t->end ? t->end : "");
			continue;
		}
		m->res->used++;
		if (!strv_has(&m->models, t->model))
			strv_add(&m->models, t->model);
	}
	if (m->models.n > MODELS_MAX)
		return err_set(m->err, ERR_INPUT, "trajectories of more than %u models",
			       MODELS_MAX);
	if (m->models.n)
		qsort(m->models.v, m->models.n, sizeof(*m->models.v), compare_names);
	if (m->models.n == 1)
		note(m,
		     "only one model, %s: nothing can overlap; NAME=FILE names the model of a record",
		     m->models.v[0]);
	return 0;
}

static bool is_hidden(const struct miner *m, const char *path)
{
	if (m->o->hidden)
		strv_each (i, m->o->hidden)
			if (str_path_glob(m->o->hidden->v[i], path))
				return true;
	return false;
}

static struct file *file_of(struct miner *m, const char *path)
{
	uint64_t key = map_hash(path, strlen(path));
	struct file *f = map_get(&m->by_path, key);

	if (f && str_eq(f->path, path))
		return f;
	/* two paths with one hash: nobody does that by chance, and the second one may go */
	if (f || m->n_files >= FILES_MAX || (m->n_files + 1) * m->models.n > CELLS_MAX)
		return NULL;
	f = mem_zalloc(1, sizeof(*f));
	f->path = mem_strdup(path);
	f->noise = mine_noise(path) || is_hidden(m, path);
	for (int k = 0; k < MAP_KINDS; k++)
		f->by[k] = mem_zalloc(m->models.n, sizeof(struct spans));
	MEM_GROW(m->file, m->cap_files, m->n_files + 1);
	m->file[m->n_files++] = f;
	map_put(&m->by_path, key, f);
	return f;
}

static bool has_final(const struct traj *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].final)
			return true;
	return false;
}

/* Lines of an event in the numbers that were asked for; 0,0 = the whole file. False: it has none there. */
static bool lines_of(const struct miner *m, const struct traj_event *e, uint64_t *first,
		     uint64_t *last)
{
	*first = e->first;
	*last = e->last;
	if (m->o->lines == MINE_BASE) {
		*first = e->base_first;
		*last = e->base_last;
		return !e->born;
	}
	if (m->o->lines == MINE_HUNK && e->final && e->hunk_first) {
		*first = e->hunk_first;
		*last = e->hunk_last;
	}
	return !e->final || *first; /* a removed file has no lines any more */
}

static size_t model_index(const struct miner *m, const char *name)
{
	size_t i = 0;

	while (i < m->models.n && !str_eq(m->models.v[i], name))
		i++;
	return i;
}

static void take_events(struct miner *m, const struct traj *t)
{
	size_t model = model_index(m, t->model);
	bool only_final = !m->o->all_edits && has_final(t);

	for (size_t i = 0; i < t->n; i++) {
		const struct traj_event *e = &t->v[i];
		uint64_t first, last;
		struct file *f;

		if (e->scan || (e->edit && only_final && !e->final) ||
		    !lines_of(m, e, &first, &last))
			continue;
		f = file_of(m, e->path);
		if (f)
			mine_spans_add(&f->by[e->edit ? MAP_EDIT : MAP_READ][model], first, last);
	}
}

static bool holds(const struct spans *s)
{
	return s->n || s->whole;
}

/* Settle all sets, and count the models that read or edited anything. */
static void settle(struct miner *m)
{
	for (int k = 0; k < MAP_KINDS; k++)
		for (size_t i = 0; i < m->models.n; i++) {
			bool any = false;

			for (size_t f = 0; f < m->n_files; f++) {
				mine_spans_settle(&m->file[f]->by[k][i]);
				any |= holds(&m->file[f]->by[k][i]);
			}
			m->active[k] += any;
		}
}

static size_t models_in(const struct miner *m, const struct file *f, enum map_kind k)
{
	size_t n = 0;

	for (size_t i = 0; i < m->models.n; i++)
		n += holds(&f->by[k][i]);
	return n;
}

/* How many models make "all". */
static size_t all_of(const struct miner *m, enum map_kind k)
{
	size_t n = m->active[k];

	return m->o->min_models && m->o->min_models < n ? (size_t)m->o->min_models : n;
}

static void cand_add(struct cands *c, const struct cand *v)
{
	MEM_GROW(c->v, c->cap, c->n + 1);
	c->v[c->n++] = *v;
}

/* Contents of base file @path into @out, and their number of lines; 0 when they cannot be had. */
static uint64_t base_file(struct miner *m, const char *path, struct buf *out)
{
	struct err ignored;
	uint64_t n = 0;

	buf_clear(out);
	if (!m->o->io || m->o->io->read(m->o->io->arg, path, out, &ignored) != 1)
		return 0;
	for (const char *p = buf_str(out), *end = p + out->len; p < end; n++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	return n;
}

/* All models mean the whole file: what one of them has known lines of is better; only when nobody has, it
 * is the file. */
static void whole_file(struct miner *m, struct file *f, enum map_kind k, uint64_t support,
		       struct spans *runs, uint64_t **counts)
{
	static const enum map_kind other[MAP_KINDS] = { MAP_EDIT, MAP_READ };
	enum map_kind kinds[2] = { k, other[k] };
	auto_buf text = BUF_INIT(SOURCE_MAX);
	uint64_t n;

	for (int pass = 0; pass < 2 && !runs->n; pass++)
		for (size_t i = 0; i < m->models.n; i++) {
			const struct spans *s = &f->by[kinds[pass]][i];

			for (size_t j = 0; j < s->n; j++)
				mine_spans_add(runs, s->v[j].first, s->v[j].last);
		}
	n = runs->n ? 0 : base_file(m, f->path, &text);
	if (n)
		mine_spans_add(runs, 1, n);
	else if (!runs->n)
		note(m, "%s: nobody's lines are known, and its length is not: left out", f->path);
	mine_spans_settle(runs);
	free(*counts);
	*counts = mem_zalloc(runs->n + 1, sizeof(**counts));
	for (size_t i = 0; i < runs->n; i++)
		(*counts)[i] = support;
}

/* Lines of @f that at least @least models have, as regions: neighbours merged. */
static void regions_of(struct miner *m, struct file *f, enum map_kind k, size_t least,
		       struct cands *out)
{
	const struct spans **set = mem_zalloc(m->models.n + 1, sizeof(*set));
	struct spans runs = { 0 };
	uint64_t *count = NULL;
	size_t before = out->n;

	for (size_t i = 0; i < m->models.n; i++)
		set[i] = &f->by[k][i];
	mine_spans_count(set, m->models.n, least ? least : 1, &runs, &count);
	if (runs.whole)
		whole_file(m, f, k, models_in(m, f, k), &runs, &count);
	for (size_t i = 0; i < runs.n; i++) {
		struct cand *last = out->n > before ? &out->v[out->n - 1] : NULL;

		if (last && runs.v[i].first <= last->last + 1 + m->o->merge_gap) {
			last->last = runs.v[i].last;
			last->support = count[i] < last->support ? count[i] : last->support;
			continue;
		}
		cand_add(out, &(struct cand){ .file = f,
					      .path = f->path,
					      .first = runs.v[i].first,
					      .last = runs.v[i].last,
					      .support = count[i] });
	}
	free(count);
	free(set);
	mine_spans_done(&runs);
}

/* A step of an algorithm. */
struct tier {
	const char *name, *kind;
	enum map_kind map;
	bool main;      /* only files that all read and edited */
	bool noise;     /* noise counts too */
	bool reference; /* lines of the reference patch; without one the step is passed over */
	bool one;       /* lines that one model has */
};

/* clang-format off */
static const struct tier tiers_edits[] = {
	{ .name = "edited_by_several", .kind = "trajectory_edit", .map = MAP_EDIT, .noise = true },
	{ .name = "edited_by_one", .kind = "trajectory_edit", .map = MAP_EDIT, .noise = true, .one = true },
	{ .name = "reference_patch", .kind = "reference_patch_fallback", .reference = true, .noise = true },
	{ 0 },
};

static const struct tier tiers_reads_edits[] = {
	{ .name = "modified_main_non_noise", .kind = "trajectory_edit", .map = MAP_EDIT, .main = true },
	{ .name = "modified_any_non_noise", .kind = "trajectory_edit", .map = MAP_EDIT },
	{ .name = "modified_any", .kind = "trajectory_edit", .map = MAP_EDIT, .noise = true },
	{ .name = "read_main_non_noise", .kind = "trajectory_read", .map = MAP_READ, .main = true },
	{ .name = "read_any_non_noise", .kind = "trajectory_read", .map = MAP_READ },
	{ .name = "reference_patch", .kind = "reference_patch_fallback", .reference = true },
	{ .name = "modified_by_one", .kind = "trajectory_edit", .map = MAP_EDIT, .one = true },
	{ .name = "modified_by_one", .kind = "trajectory_edit", .map = MAP_EDIT, .one = true, .noise = true },
	{ 0 },
};
/* clang-format on */

static bool is_main(const struct miner *m, const struct file *f)
{
	size_t reads = all_of(m, MAP_READ), edits = all_of(m, MAP_EDIT);

	return reads && edits && models_in(m, f, MAP_READ) >= reads &&
	       models_in(m, f, MAP_EDIT) >= edits;
}

static void reference_regions(struct miner *m, const struct tier *tier, struct cands *out)
{
	for (size_t i = 0; i < m->reference.n; i++) {
		const struct traj_diff_change *c = &m->reference.v[i];
		const char *path = m->reference.file[c->file].path;
		struct cand v = { .path = path, .support = 1, .models = 1 };
		struct cand *last = out->n ? &out->v[out->n - 1] : NULL;

		if (m->o->lines == MINE_BASE)
			traj_diff_old(&m->reference, c, &v.first, &v.last);
		else
			traj_diff_new(&m->reference, c, &v.first, &v.last);
		if (!v.first || (!tier->noise && (mine_noise(path) || is_hidden(m, path))))
			continue;
		if (last && str_eq(last->path, path) && v.first <= last->last + 1 + m->o->merge_gap)
			last->last = v.last > last->last ? v.last : last->last;
		else
			cand_add(out, &v);
	}
}

static size_t least_of(const struct miner *m, const struct tier *t)
{
	if (t->one)
		return 1;
	if (m->o->algorithm == MINE_EDITS)
		return m->o->min_models ? (size_t)m->o->min_models : 2;
	return all_of(m, t->map);
}

static void tier_regions(struct miner *m, const struct tier *t, struct cands *out)
{
	if (t->reference) {
		reference_regions(m, t, out);
		return;
	}
	for (size_t i = 0; i < m->n_files; i++) {
		struct file *f = m->file[i];

		if ((t->main && !is_main(m, f)) || (!t->noise && f->noise))
			continue;
		regions_of(m, f, t->map, least_of(m, t), out);
	}
}

/* Keep regions inside their files, and grow those of one line when that was asked for. */
static void fit(struct miner *m, struct cands *c)
{
	auto_buf text = BUF_INIT(SOURCE_MAX);
	const char *path = NULL;
	uint64_t lines = 0;
	size_t n = 0;

	if (!m->o->io || m->o->lines != MINE_BASE)
		return;
	for (size_t i = 0; i < c->n; i++) {
		struct cand v = c->v[i];

		if (!path || !str_eq(path, v.path))
			lines = base_file(m, v.path, &text);
		path = v.path;
		if (lines && v.first > lines)
			v.first = lines; /* a line that was put behind the last one */
		if (lines && v.last > lines)
			v.last = lines;
		if (m->o->enclosing && lines && v.first == v.last)
			(void)mine_enclosing(v.path, buf_str(&text), text.len, &v.first, &v.last);
		for (; n && str_eq(c->v[n - 1].path, v.path) && v.first <= c->v[n - 1].last; n--) {
			const struct cand *p = &c->v[n - 1];

			v.first = v.first < p->first ? v.first : p->first;
			v.last = v.last > p->last ? v.last : p->last;
			v.support = v.support < p->support ? v.support : p->support;
		}
		c->v[n++] = v;
	}
	c->n = n;
}

static void weigh(struct miner *m, const struct tier *t, struct cands *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct cand *v = &c->v[i];

		for (size_t k = 0; v->file && k < m->models.n; k++)
			v->models += mine_spans_hit(&v->file->by[t->map][k], v->first, v->last);
	}
	for (size_t i = 0; c->n <= WEIGHED_MAX && i < m->t->n; i++) {
		const struct traj *tr = &m->t->v[i];

		for (size_t e = 0; counts(m, tr) && e < tr->n; e++) {
			uint64_t first, last;

			if (tr->v[e].scan || !lines_of(m, &tr->v[e], &first, &last) || !first)
				continue;
			for (size_t k = 0; k < c->n; k++)
				c->v[k].weight += c->v[k].first <= last && first <= c->v[k].last &&
						  str_eq(c->v[k].path, tr->v[e].path);
		}
	}
}

static int compare_edits(const void *a, const void *b)
{
	const struct cand *x = a, *y = b;
	int d;

	if (x->models != y->models)
		return x->models > y->models ? -1 : 1;
	d = strcmp(x->path, y->path);
	return d ? d : x->first < y->first ? -1 : x->first > y->first;
}

static int compare_reads_edits(const void *a, const void *b)
{
	const struct cand *x = a, *y = b;

	if (x->support != y->support)
		return x->support > y->support ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return compare_edits(a, b);
}

static void emit(struct miner *m, const struct tier *t, const struct cands *c)
{
	struct regionfile *rf = &m->res->file;
	size_t n = c->n < m->o->max ? c->n : (size_t)m->o->max;

	m->res->found = c->n;
	rf->tier = mem_strdup(t->name);
	rf->region = mem_zalloc(n + 1, sizeof(*rf->region));
	for (size_t i = 0; i < n; i++) {
		const struct cand *v = &c->v[i];
		struct regionfile_region *r = &rf->region[rf->n++];

		*r = (struct regionfile_region){
			.path = mem_strdup(v->path),
			.start = v->first,
			.end = v->last,
			.kind = mem_strdup(t->kind),
			.support = v->support,
		};
		if (!v->file)
			strv_add(&r->models, "reference_patch");
		for (size_t k = 0; v->file && k < m->models.n; k++)
			if (mine_spans_hit(&v->file->by[t->map][k], v->first, v->last))
				strv_add(&r->models, m->models.v[k]);
	}
}

static void walk_tiers(struct miner *m, const struct tier *tiers)
{
	for (const struct tier *t = tiers; t->name; t++) {
		struct cands c = { 0 };

		tier_regions(m, t, &c);
		fit(m, &c);
		weigh(m, t, &c);
		if (c.n)
			qsort(c.v, c.n, sizeof(*c.v),
			      m->o->algorithm == MINE_EDITS ? compare_edits : compare_reads_edits);
		if (c.n)
			emit(m, t, &c);
		free(c.v);
		if (m->res->file.n)
			return;
	}
}

/* All trajectories are of one task. */
static int one_instance(const struct trajs *t, const char **ret, struct err *err)
{
	const struct traj *first = NULL;

	for (size_t i = 0; i < t->n; i++) {
		if (!t->v[i].instance_id)
			continue;
		if (first && !str_eq(first->instance_id, t->v[i].instance_id))
			return err_set(err, ERR_INPUT,
				       "%s is of task %s, but %s of %s; mine one task at a time",
				       first->file, first->instance_id, t->v[i].file,
				       t->v[i].instance_id);
		first = first ? first : &t->v[i];
	}
	*ret = first ? first->instance_id : NULL;
	return 0;
}

static void miner_done(struct miner *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		for (int k = 0; k < MAP_KINDS; k++) {
			for (size_t j = 0; j < m->models.n; j++)
				mine_spans_done(&m->file[i]->by[k][j]);
			free(m->file[i]->by[k]);
		}
		free(m->file[i]->path);
		free(m->file[i]);
	}
	free(m->file);
	map_done(&m->by_path);
	strv_done(&m->models);
	traj_diff_done(&m->reference);
}

int mine_regions(const struct trajs *t, const struct mine_options *o, struct mine_result *ret,
		 struct err *err)
{
	struct mine_result res = { .used = 0 };
	struct miner m = { .o = o, .t = t, .res = &res, .err = err };
	const char *instance = NULL;
	int rc = one_instance(t, &instance, err);

	if (rc == 0)
		rc = take_models(&m);
	if (rc == 0) {
		res.file.instance_id = mem_strdup(instance);
		res.file.algorithm = mem_strdup(mine_algorithm_names[o->algorithm]);
		res.file.lines = mem_strdup(mine_lines_names[o->lines]);
		strv_copy(&res.file.models, &m.models);
		if (o->reference)
			traj_diff_read(&m.reference, o->reference, strlen(o->reference));
		for (size_t i = 0; i < t->n; i++)
			if (counts(&m, &t->v[i]))
				take_events(&m, &t->v[i]);
		settle(&m);
		walk_tiers(&m, o->algorithm == MINE_EDITS ? tiers_edits : tiers_reads_edits);
	}
	miner_done(&m);
	if (rc < 0)
		mine_result_done(&res);
	else
		*ret = res;
	return rc;
}

void mine_result_done(struct mine_result *r)
{
	regionfile_done(&r->file);
	strv_done(&r->notes);
	*r = (struct mine_result){ 0 };
}
