#include "sandbox/gitcopy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/gitpack.h"
#include "sandbox/gitstore.h"
#include "sandbox/packsrc.h"

#define ALTERNATES_MAX   (1u << 20)
#define ALTERNATES_DEPTH 5 /* as in git */
#define NO_SOURCE        UINT32_MAX
#define STORE_MAX        (128ull << 20) /* more than this is worth looking for deltas */

/* Where an object of the set was found. */
struct place {
	uint64_t at;
	uint32_t src; /* index in copy.src, NO_SOURCE = pack it anew */
	uint32_t pos;
};

struct copy {
	git_repository *repo;     /* borrowed */
	const struct oidset *set; /* borrowed */
	struct packsrc **src;     /* owned */
	size_t n_src, cap_src;
	struct place *place; /* owned; by index in set */
	uint32_t *order;     /* owned; indices of set by source and offset */
	struct gitpack *out; /* owned */
};

static void copy_done(struct copy *c)
{
	for (size_t i = 0; i < c->n_src; i++)
		packsrc_free(c->src[i]);
	free(c->src);
	free(c->place);
	free(c->order);
	gitpack_free(c->out);
}

static void add_packs(struct copy *c, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		auto_free char *path = path_join(dir, de->d_name);
		struct packsrc *src;

		if (!str_ends(de->d_name, ".idx") || packsrc_open(path, &src) < 0)
			continue;
		MEM_GROW(c->src, c->cap_src, c->n_src + 1);
		c->src[c->n_src++] = src;
	}
	if (d)
		closedir(d);
}

/* Packs of object directory @objects and of those it borrows from (gitrepository-layout(5),
 * "objects/info/alternates"); @depth bounds chains that run in a circle. */
static void find_packs(struct copy *c, const char *objects, unsigned depth)
{
	auto_free char *own = path_join(objects, "pack");
	auto_free char *list = path_join(objects, "info/alternates");
	auto_buf text = BUF_INIT(ALTERNATES_MAX);
	char *line, *rest;

	add_packs(c, own);
	if (!depth || access(list, F_OK) < 0 || fd_read_file(list, &text, NULL) < 0 || !text.len)
		return;
	for (rest = text.data; (line = strsep(&rest, "\n"));) {
		auto_free char *dir = path_join(objects, line);

		if (*line && *line != '#')
			find_packs(c, dir, depth - 1);
	}
}

static void locate(struct copy *c)
{
	for (size_t i = 0; i < c->set->n; i++) {
		struct place *pl = &c->place[i];

		pl->src = NO_SOURCE;
		for (uint32_t s = 0; s < c->n_src && pl->src == NO_SOURCE; s++) {
			ssize_t pos = packsrc_find(c->src[s], &c->set->id[i]);

			if (pos < 0)
				continue;
			pl->src = s;
			pl->pos = (uint32_t)pos;
			pl->at = packsrc_offset(c->src[s], pl->pos);
		}
	}
}

static int by_place(const void *a, const void *b, void *arg)
{
	const struct copy *c = arg;
	const struct place *x = &c->place[*(const uint32_t *)a];
	const struct place *y = &c->place[*(const uint32_t *)b];

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_delta(const struct packsrc_entry *e)
{
	return e->type == PACKSRC_OFS_DELTA || e->type == PACKSRC_REF_DELTA;
}

/* Id of the object that entry @e is a delta of. 0, or -1 when there is none. */
static int base_of(const struct packsrc *src, const struct packsrc_entry *e, git_oid *ret)
{
	ssize_t pos;

	if (e->type == PACKSRC_REF_DELTA) {
		*ret = e->base;
		return 0;
	}
	if (e->type != PACKSRC_OFS_DELTA)
		return -1;
	pos = packsrc_at(src, e->base_at);
	if (pos < 0)
		return -1;
	packsrc_id(src, (uint32_t)pos, ret);
	return 0;
}

/* An entry can be passed through when it stands alone, or when its base is in the set and was found
 * earlier in the same pack. Requiring the same pack keeps two packs, each with the other's
 * object as a base, from closing a circle. */
static bool can_pass(const struct copy *c, const struct place *pl)
{
	struct packsrc *src = c->src[pl->src];
	const struct place *base;
	struct packsrc_entry e;
	git_oid id;
	ssize_t i;

	if (packsrc_entry(src, pl->pos, &e) < 0)
		return false;
	if (!is_delta(&e))
		return true;
	if (base_of(src, &e, &id) < 0)
		return false;
	i = oidset_find(c->set, &id);
	if (i < 0)
		return false;
	base = &c->place[i];
	/* A base that will be packed anew goes to the front of the new pack. */
	return base->src == NO_SOURCE || (base->src == pl->src && base->at < pl->at);
}

/* Head of entry @e as it will stand in the new pack: a base that is there already is named by its
 * distance, one that is still to come by its id. Returns the length, 0 when the base is unknown. */
static size_t new_head(const struct copy *c, const struct packsrc *src,
		       const struct packsrc_entry *e, uint8_t out[48])
{
	size_t len = e->type_len, n;
	uint8_t digits[10], *w = digits + sizeof(digits);
	uint64_t base_at, back;
	git_oid base;

	memcpy(out, e->head, len);
	if (!is_delta(e))
		return len;
	if (base_of(src, e, &base) < 0)
		return 0;
	base_at = gitpack_offset(c->out, &base);
	out[0] =
		(uint8_t)((out[0] & 0x8f) | (base_at ? PACKSRC_OFS_DELTA : PACKSRC_REF_DELTA) << 4);
	if (!base_at) {
		memcpy(out + len, base.id, GIT_OID_RAWSZ);
		return len + GIT_OID_RAWSZ;
	}
	back = gitpack_tell(c->out) - base_at;
	*--w = back & 0x7f;
	while (back >>= 7)
		*--w = (uint8_t)(0x80 | (--back & 0x7f));
	n = (size_t)(digits + sizeof(digits) - w);
	memcpy(out + len, w, n);
	return len + n;
}

/* Write one entry to the new pack. */
static int pass(struct copy *c, struct packsrc *src, uint32_t pos, struct err *err)
{
	struct packsrc_entry e;
	uint8_t head[48];
	size_t len = 0, n = 0;
	uint64_t at;
	git_oid id;

	packsrc_id(src, pos, &id);
	if (packsrc_entry(src, pos, &e) == 0)
		len = new_head(c, src, &e, head);
	if (!len)
		return err_set(err, ERR_INPUT, "a pack of the source changed while it was read");
	gitpack_entry(c->out, &id);
	if (gitpack_put(c->out, head, len, err) < 0)
		return -ERR_SYS;
	for (at = e.at + e.head_len; at < e.end; at += n) {
		uint64_t want = e.end - at;
		const uint8_t *p = packsrc_bytes(src, at, want < 1u << 20 ? want : 1u << 20, &n);

		if (!p)
			return err_set(err, ERR_INPUT, "a pack of the source is cut off");
		if (gitpack_put(c->out, p, n, err) < 0)
			return -ERR_SYS;
	}
	return 0;
}

static int pass_all(struct copy *c, struct packsrc *src, struct err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < src->n && rc == 0; i++)
		rc = pass(c, src, src->order[i], err);
	return rc;
}

/* Let libgit2 pack the objects without a usable entry, in directory @tmp. */
static int pack_anew(struct copy *c, const char *tmp, struct err *err)
{
	git_packbuilder *pb = NULL;
	int rc = git_packbuilder_new(&pb, c->repo);

	if (rc == 0)
		git_packbuilder_set_threads(pb, 0); /* as many as there are processors */
	for (size_t i = 0; i < c->set->n && rc == 0; i++) {
		if (c->place[i].src == NO_SOURCE)
			rc = git_packbuilder_insert(pb, &c->set->id[i], NULL);
	}
	if (rc == 0)
		rc = git_packbuilder_write(pb, tmp, 0, NULL, NULL);
	if (rc < 0)
		rc = gitstore_error(err, ERR_INPUT,
				    "cannot pack the history (a partial or damaged clone?)");
	git_packbuilder_free(pb);
	return rc;
}

static int emit_anew(struct copy *c, const char *dir, struct err *err)
{
	auto_free char *tmp = path_join(dir, "anew");
	size_t first = c->n_src;
	int rc = 0;

	if (mkdir(tmp, 0700) < 0)
		return err_sys(err, "cannot make directory %s", tmp);
	rc = pack_anew(c, tmp, err);
	if (rc == 0)
		add_packs(c, tmp);
	if (rc == 0 && c->n_src != first + 1)
		rc = err_set(err, ERR_BUG, "the pack made anew in %s cannot be read", tmp);
	if (rc == 0)
		rc = pass_all(c, c->src[first], err);
	if (fd_remove_tree(AT_FDCWD, tmp) < 0 && rc == 0)
		rc = err_sys(err, "cannot remove %s", tmp);
	return rc;
}

/* Bytes of the objects without a usable entry, at most a little above STORE_MAX. */
static uint64_t loose_bytes(struct copy *c, git_odb *odb)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->set->n && sum <= STORE_MAX; i++) {
		git_object_t type;
		size_t len = 0;

		if (c->place[i].src == NO_SOURCE &&
		    git_odb_read_header(&len, &type, odb, &c->set->id[i]) == 0)
			sum += len;
	}
	return sum;
}

/* Loose objects are stored as they are: looking for deltas among a few thousand files takes
 * seconds, and the pack lives as long as a run. */
static int emit_stored(struct copy *c, git_odb *odb, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < c->set->n && rc == 0; i++) {
		git_odb_object *obj = NULL;

		if (c->place[i].src != NO_SOURCE)
			continue;
		if (git_odb_read(&obj, odb, &c->set->id[i]) < 0)
			return gitstore_error(err, ERR_INPUT,
					      "cannot read the history (a partial or damaged "
					      "clone?)");
		rc = gitpack_add(c->out, git_odb_object_type(obj), git_odb_object_data(obj),
				 git_odb_object_size(obj), NULL, err);
		git_odb_object_free(obj);
	}
	return rc;
}

static int emit_rest(struct copy *c, const char *dir, struct err *err)
{
	git_odb *odb = NULL;
	int rc;

	if (git_repository_odb(&odb, c->repo) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot read the objects of the source");
	rc = loose_bytes(c, odb) <= STORE_MAX ? emit_stored(c, odb, err) : emit_anew(c, dir, err);
	git_odb_free(odb);
	return rc;
}

/* Sort by place, so that packs are read from front to back, and take out what cannot be passed.
 * Returns how many must be packed anew. */
static size_t sort_out(struct copy *c)
{
	size_t anew = 0;

	for (size_t i = 0; i < c->set->n; i++)
		c->order[i] = (uint32_t)i;
	qsort_r(c->order, c->set->n, sizeof(*c->order), by_place, c);
	for (size_t i = 0; i < c->set->n; i++) {
		struct place *pl = &c->place[c->order[i]];

		if (pl->src != NO_SOURCE && !can_pass(c, pl))
			pl->src = NO_SOURCE;
		anew += pl->src == NO_SOURCE;
	}
	return anew;
}

static int copy_all(struct copy *c, const char *dir, struct err *err)
{
	int rc = gitpack_new(dir, &c->out, err);

	if (rc == 0 && sort_out(c) > 0)
		rc = emit_rest(c, dir, err);
	for (size_t i = 0; i < c->set->n && rc == 0; i++) {
		const struct place *pl = &c->place[c->order[i]];

		if (pl->src != NO_SOURCE)
			rc = pass(c, c->src[pl->src], pl->pos, err);
	}
	return rc;
}

int gitcopy_pack(git_repository *repo, const struct oidset *set, const char *dir, uint64_t *ret_n,
		 struct err *err)
{
	auto_free char *objects = path_join(git_repository_path(repo), "objects");
	struct copy c = { .repo = repo, .set = set };
	int rc;

	c.place = mem_zalloc(set->n, sizeof(*c.place));
	c.order = mem_zalloc(set->n, sizeof(*c.order));
	find_packs(&c, objects, ALTERNATES_DEPTH);
	locate(&c);
	rc = copy_all(&c, dir, err);
	if (rc == 0)
		rc = gitpack_finish(c.out, ret_n, err);
	copy_done(&c);
	return rc;
}
