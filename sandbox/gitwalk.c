#include "sandbox/gitwalk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"

#define SHALLOW_FILE_MAX (64u << 20)

static void reach(struct gitwalk *w, const git_oid *id, enum gitwalk_kind kind)
{
	bool is_new;
	size_t i = oidset_add(&w->seen, id, &is_new);

	if (!is_new)
		return;
	MEM_GROW(w->kind, w->kind_cap, i + 1);
	w->kind[i] = (uint8_t)kind;
	w->commits += kind == GITWALK_COMMIT;
}

static int malformed(const git_oid *id, struct err *err)
{
	return err_set(err, ERR_INPUT, "object %s of the source is damaged; run `git fsck` there",
		       git_oid_tostr_s(id));
}

/* "tree HEX\n" and then any number of "parent HEX\n" (git-cat-file(1)). */
static int visit_commit(struct gitwalk *w, const git_oid *id, const char *p, size_t n,
			struct err *err)
{
	bool edge = w->shallow && oidset_find(w->shallow, id) >= 0;
	git_oid to;

	if (n < 46 || memcmp(p, "tree ", 5) != 0 || git_oid_fromstrn(&to, p + 5, 40) < 0)
		return malformed(id, err);
	if (!w->commits_only)
		reach(w, &to, GITWALK_TREE);
	p += 46;
	n -= 46;
	while (!edge && n >= 48 && memcmp(p, "parent ", 7) == 0) {
		if (git_oid_fromstrn(&to, p + 7, 40) < 0)
			return malformed(id, err);
		reach(w, &to, GITWALK_COMMIT);
		p += 48;
		n -= 48;
	}
	return 0;
}

/* "MODE NAME\0ID" repeated. Submodules ("160000") are commits of another repository. */
static int visit_tree(struct gitwalk *w, const git_oid *id, const char *p, size_t n,
		      struct err *err)
{
	while (n) {
		const char *nul = memchr(p, '\0', n);
		bool link = strncmp(p, "160000 ", 7) == 0;
		bool dir = strncmp(p, "40000 ", 6) == 0 || strncmp(p, "040000 ", 7) == 0;
		size_t len;
		git_oid to;

		if (!nul || (size_t)(nul - p) + 1 + GIT_OID_RAWSZ > n)
			return malformed(id, err);
		len = (size_t)(nul - p) + 1 + GIT_OID_RAWSZ;
		memcpy(to.id, nul + 1, GIT_OID_RAWSZ);
		if (!link)
			reach(w, &to, dir ? GITWALK_TREE : GITWALK_BLOB);
		p += len;
		n -= len;
	}
	return 0;
}

static int visit(struct gitwalk *w, size_t i, struct err *err)
{
	git_oid id = w->seen.id[i]; /* a copy: the array moves as it grows */
	bool commit = w->kind[i] == GITWALK_COMMIT;
	git_odb_object *obj = NULL;
	const char *data;
	size_t n;
	int rc;

	if (w->kind[i] == GITWALK_BLOB)
		return 0;
	if (git_odb_read(&obj, w->odb, &id) < 0)
		return err_set(err, ERR_INPUT,
			       "object %s is missing in the source: a partial or damaged clone; "
			       "run `git fetch --refetch` or `git fsck` there",
			       git_oid_tostr_s(&id));
	data = git_odb_object_data(obj);
	n = git_odb_object_size(obj);
	if (git_odb_object_type(obj) != (commit ? GIT_OBJECT_COMMIT : GIT_OBJECT_TREE))
		rc = malformed(&id, err);
	else if (commit)
		rc = visit_commit(w, &id, data, n, err);
	else
		rc = visit_tree(w, &id, data, n, err);
	git_odb_object_free(obj);
	return rc;
}

int gitwalk_from(struct gitwalk *w, const git_oid *commit, struct err *err)
{
	size_t i = w->seen.n;
	int rc = 0;

	reach(w, commit, GITWALK_COMMIT);
	for (; i < w->seen.n && rc == 0; i++)
		rc = visit(w, i, err);
	return rc;
}

void gitwalk_done(struct gitwalk *w)
{
	oidset_done(&w->seen);
	free(w->kind);
	w->kind = NULL;
	w->kind_cap = 0;
}

int gitwalk_read_shallow(const char *path, struct oidset *ret, struct err *err)
{
	auto_buf text = BUF_INIT(SHALLOW_FILE_MAX);
	const char *p;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (fd_read_file(path, &text, err) < 0)
		return -ERR_INPUT;
	p = buf_str(&text);
	while (*p) {
		size_t n = strcspn(p, "\n");
		git_oid id;

		if (n != GIT_OID_HEXSZ || git_oid_fromstrn(&id, p, n) < 0)
			return err_set(err, ERR_INPUT, "%s holds a line that is no commit id",
				       path);
		oidset_add(ret, &id, NULL);
		p += n + (p[n] == '\n');
	}
	return 0;
}
