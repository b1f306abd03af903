/* Predicates about contents: a file at a point of the run, and lines that a user wrote. */
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "verifier/linefate.h"
#include "verifier/pred_internal.h"
#include "verifier/rundir.h"

#define CONTENTS_MAX (64u << 20)

/* Contents with @sha256 from the run's images. 1 found, 0 not kept. */
static int image_of(const struct pred_set *set, const char *sha256, struct buf *out,
		    struct err *err)
{
	struct rundir rd = { .dir = (char *)(uintptr_t)set->run->dir };

	return rundir_image(&rd, sha256, out, err);
}

/* What is known of a file. */
enum known { KNOWN_NOT, KNOWN_GONE, KNOWN_DIGEST, KNOWN_CONTENTS };

struct contents {
	enum known known;
	char sha256[DIGEST_HEX];
	struct buf data;
};

/* State of @path just before record @n. A file that nobody followed is as the base has it. */
static int contents_of(struct pred_set *set, const char *path, uint64_t n, struct contents *c,
		       struct err *err)
{
	const char *sha = pred_state_at(set, path, n);
	int rc;

	if (!sha && map_get(&set->known, map_hash(path, strlen(path))))
		return 0; /* it was changed in a way that the trace does not tell */
	if (!sha) {
		rc = set->run->base ? set->run->base(set->run->arg, path, &c->data, err) : -1;
		if (!set->run->base || rc < 0)
			return set->run->base ? rc : 0;
		c->known = rc ? KNOWN_CONTENTS : KNOWN_GONE;
		if (rc)
			digest_bytes(buf_str(&c->data), c->data.len, c->sha256);
		return 0;
	}
	if (!sha[0]) {
		c->known = KNOWN_GONE;
		return 0;
	}
	memcpy(c->sha256, sha, DIGEST_HEX);
	rc = image_of(set, sha, &c->data, err);
	c->known = rc == 1 ? KNOWN_CONTENTS : KNOWN_DIGEST;
	return rc < 0 ? rc : 0;
}

static bool holds(const struct contents *c, const char *text)
{
	return memmem(buf_str(&c->data), c->data.len, text, strlen(text)) != NULL;
}

/* What of @w the contents miss; NULL = nothing. Caller frees. */
static char *missing(const struct pred_file *w, const struct contents *c)
{
	if (w->exists == 0)
		return c->known == KNOWN_GONE ? NULL : mem_strdup("it is there");
	if (c->known == KNOWN_GONE)
		return mem_strdup("it is not there");
	if (w->sha256 && strcmp(w->sha256, c->sha256) != 0)
		return mem_printf("its contents have digest %.12s...", c->sha256);
	if ((w->contains.n || w->lacks.n) && c->known != KNOWN_CONTENTS)
		return mem_printf("its contents (digest %.12s...) were not kept", c->sha256);
	strv_each (i, &w->contains)
		if (!holds(c, w->contains.v[i]))
			return mem_printf("it does not hold \"%.80s\"", w->contains.v[i]);
	strv_each (i, &w->lacks)
		if (holds(c, w->lacks.v[i]))
			return mem_printf("it holds \"%.80s\"", w->lacks.v[i]);
	return NULL;
}

/* The record that made the state before @n. */
static uint64_t maker(const struct pred_set *set, const char *path, uint64_t n)
{
	uintptr_t at = (uintptr_t)map_get(&set->path_at, map_hash(path, strlen(path)));
	uint64_t last = 0;

	for (size_t i = 0; i < set->n_states; i++)
		if (set->state[i].path == at - 1 && set->state[i].n < n)
			last = set->state[i].n;
	return last;
}

int pred_file_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err)
{
	struct pred_window w = { .after = p->file.at };
	struct contents c = { .data = BUF_INIT(CONTENTS_MAX) };
	struct pred_span s;
	auto_free char *bad = NULL;
	uint64_t n, made;
	int rc = 0;

	pred_span_of(set, &w, &s);
	n = !p->file.at ? UINT64_MAX : s.after == UINT64_MAX ? s.after : s.after + 1;
	if (s.empty) {
		pred_part_say(f, at, "this run does not have %s", s.why);
		return 0;
	}
	rc = contents_of(set, p->file.path, n, &c, err);
	if (rc == 0 && c.known == KNOWN_NOT) {
		pred_part_say(f, at, "what %s holds is not known: the run did not follow it",
			      p->file.path);
	} else if (rc == 0) {
		bad = missing(&p->file, &c);
		f->v[at].ok = !bad;
		made = maker(set, p->file.path, n);
		if (made)
			pred_records_add(&f->v[at].records, made);
		pred_part_say(f, at, "%s: %s", p->file.path, bad ? bad : "as asked");
	}
	buf_done(&c.data);
	return rc;
}

/* Lines of one user's edit. */
struct fate {
	uint64_t asked, kept;
	bool known;
};

/* The state of a file with digest @sha256 ("" = no file). False when it was not kept. */
static int load(struct pred_set *set, const char *sha256, struct buf *b, struct linefate_image *im,
		bool *known, struct err *err)
{
	int rc = sha256[0] ? image_of(set, sha256, b, err) : 0;

	*im = (struct linefate_image){ 0 };
	if (rc == 1)
		*im = (struct linefate_image){ buf_str(b), b->len };
	else if (sha256[0])
		*known = false;
	return rc < 0 ? rc : 0;
}

/* What became of the lines that state @e wrote: between the contents right after it and the last ones. */
static int fate_of(struct pred_set *set, const struct pred_state *e, struct fate *ret,
		   struct err *err)
{
	const char *last = pred_state_at(set, set->paths.v[e->path], UINT64_MAX);
	auto_buf a = BUF_INIT(CONTENTS_MAX), b = BUF_INIT(CONTENTS_MAX), c = BUF_INIT(CONTENTS_MAX);
	struct linefate_image before, chain[2];
	struct linefate l = { 0 };
	bool known = e->says && last;
	int rc = load(set, e->pre, &a, &before, &known, err);

	if (rc == 0)
		rc = load(set, e->post, &b, &chain[0], &known, err);
	if (rc == 0)
		rc = load(set, last ? last : "", &c, &chain[1], &known, err);
	if (rc < 0)
		return rc;
	ret->known = ret->known && known;
	if (!known)
		return 0;
	linefate_of(&before, chain, 2, &l);
	/* Braces and empty lines say little: they only count when there is nothing else. */
	if (l.n) {
		ret->asked += l.telling ? l.telling : l.n;
		ret->kept += l.telling ? l.telling_kept : l.kept;
	} else {
		ret->asked += l.deleted;
		ret->kept += l.deleted - l.restored;
	}
	linefate_done(&l);
	return 0;
}

/* The intervention that made the user's edit at record @n: the first that was written down behind it. */
static uint64_t order_of(const struct pred_set *set, uint64_t n)
{
	for (size_t i = 0; i < set->n_firings; i++)
		if (set->firing[i].n >= n)
			return set->firing[i].order;
	return 0;
}

int pred_kept_eval(struct pred_set *set, const struct pred *p, struct pred_finding *f, size_t at,
		   struct err *err)
{
	struct fate fate = { .known = true };
	size_t edits = 0;
	int rc = 0;

	for (size_t i = 0; i < set->n_states && rc == 0; i++) {
		const struct pred_state *e = &set->state[i];

		if (!e->by_user || e->n <= set->facts.fork || order_of(set, e->n) != p->order ||
		    (p->path && strcmp(p->path, set->paths.v[e->path]) != 0))
			continue;
		edits++;
		pred_records_add(&f->v[at].records, e->n);
		rc = fate_of(set, e, &fate, err);
	}
	if (rc < 0)
		return rc;
	if (!edits || !fate.known || !fate.asked) {
		pred_part_say(f, at, "%s",
			      !edits        ? "no edit of that intervention is in the trace"
			      : !fate.known ? "contents of its files were not kept"
					    : "it wrote no lines");
		return 0;
	}
	f->v[at].ok = (double)fate.kept >= p->share * (double)fate.asked;
	pred_part_say(f, at, "%llu of %llu lines are as the user left them, asked for %.0f %%",
		      (unsigned long long)fate.kept, (unsigned long long)fate.asked,
		      p->share * 100);
	return 0;
}
