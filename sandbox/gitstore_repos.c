#include "sandbox/gitstore_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#define SHALLOW_MAX (64u << 20)
#define LIST_MAX    (1u << 20)
#define HEADER_MAX  (16u << 20) /* lines in front of a bundle's pack */
#define CHUNK       (1u << 20)

/* Append line @text to file @name of the store. */
static int append(struct gitstore *st, const char *name, const char *text, size_t n,
		  struct err *err)
{
	auto_free char *path = path_join(st->path, name);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || fd_write_all(fd, text, n) < 0)
		return err_sys(err, "cannot write %s", path);
	return 0;
}

/* The source's list of commits whose parents are absent becomes the store's. */
static int copy_shallow(struct gitstore *st, const char *common, struct err *err)
{
	auto_free char *path = path_join(common, "shallow");
	auto_buf text = BUF_INIT(SHALLOW_MAX);

	if (access(path, F_OK) < 0)
		return 0;
	if (fd_read_file(path, &text, err) < 0)
		return -ERR_INPUT;
	return append(st, "shallow", buf_str(&text), text.len, err);
}

static int borrow_objects(struct gitstore *st, const char *common, struct err *err)
{
	auto_free char *joined = path_join(common, "objects");
	auto_free char *objects = realpath(joined, NULL);
	auto_free char *line = NULL;
	git_odb *odb = NULL;
	int rc = 0;

	if (!objects || strpbrk(objects, "\n\""))
		return err_set(err, ERR_INPUT, "cannot use the object directory %s: %s", joined,
			       objects ? "its name holds a line break or a quote"
				       : strerror(errno));
	line = mem_printf("%s\n", objects);
	rc = append(st, "objects/info/alternates", line, strlen(line), err);
	if (rc == 0 && (git_repository_odb(&odb, st->repo) < 0 ||
			git_odb_add_disk_alternate(odb, objects) < 0))
		rc = gitstore_error(err, ERR_INPUT, "cannot read the objects of %s", objects);
	git_odb_free(odb);
	return rc;
}

static int each_ref(git_reference *ref, void *pair)
{
	void **arg = pair; /* store and source */
	git_reference *direct = NULL;

	/* A symbolic ref may dangle; it counts all the same. */
	if (git_reference_resolve(&direct, ref) == 0)
		gitstore_source_ref(arg[0], arg[1], git_reference_name(ref),
				    git_reference_target(direct));
	else
		((struct gitstore_source *)arg[1])->n_refs++;
	git_reference_free(direct);
	git_reference_free(ref);
	return 0;
}

int gitstore_import_repo(struct gitstore *st, const char *path, struct gitstore_source *src,
			 struct err *err)
{
	void *arg[2] = { st, src };
	git_repository *repo = NULL;
	int rc;

	if (git_repository_open_ext(&repo, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) < 0)
		return gitstore_error(err, ERR_INPUT, "cannot open the repository %s", path);
	rc = borrow_objects(st, git_repository_commondir(repo), err);
	if (rc == 0)
		rc = copy_shallow(st, git_repository_commondir(repo), err);
	if (rc == 0 && git_reference_foreach(repo, each_ref, arg) < 0)
		rc = gitstore_error(err, ERR_INPUT, "cannot list the refs of %s", path);
	if (rc == 0 && git_reference_name_to_id(&src->head, repo, "HEAD") == 0)
		src->has_head = true;
	git_repository_free(repo);
	return rc;
}

/* The lines of a bundle up to the empty one. */
struct header {
	char **name;
	git_oid *id;
	size_t n, cap, cap_id;
};

static void header_done(struct header *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->name[i]);
	free(h->name);
	free(h->id);
}

static int header_line(struct header *h, const char *path, const char *line, struct err *err)
{
	git_oid id;

	if (line[0] == '-')
		return err_set(err, ERR_INPUT,
			       "bundle %s is incremental: it needs commit %.40s; make a whole one "
			       "with `git bundle create FILE --all`",
			       path, line + 1);
	if (str_starts(line, "@object-format=sha1"))
		return 0;
	if (line[0] == '@')
		return err_set(err, ERR_INPUT,
			       "bundle %s has the capability \"%.60s\", which is not supported; "
			       "make one with `git bundle create FILE --all`",
			       path, line + 1);
	if (strlen(line) < GIT_OID_HEXSZ + 2 || line[GIT_OID_HEXSZ] != ' ' ||
	    git_oid_fromstrn(&id, line, GIT_OID_HEXSZ) < 0)
		return err_set(err, ERR_INPUT, "bundle %s has a malformed header line \"%.60s\"",
			       path, line);
	MEM_GROW(h->name, h->cap, h->n + 1);
	MEM_GROW(h->id, h->cap_id, h->n + 1);
	h->name[h->n] = mem_strdup(line + GIT_OID_HEXSZ + 1);
	h->id[h->n++] = id;
	return 0;
}

/* Read the header of bundle @fd; what was read beyond it is left in @rest. */
static int read_header(int fd, const char *path, struct header *h, struct buf *rest,
		       struct err *err)
{
	bool first = true;
	size_t at = 0;

	for (;;) {
		char *line = rest->len ? rest->data + at : NULL;
		char *nl = line ? memchr(line, '\n', rest->len - at) : NULL;
		char *room;
		ssize_t n;

		if (nl) {
			*nl = '\0';
			at = (size_t)(nl + 1 - rest->data);
			if (nl == line)
				break;
			if (!first && header_line(h, path, line, err) < 0)
				return -ERR_INPUT;
			first = false;
			continue;
		}
		room = buf_reserve(rest, 65536);
		n = room ? read(fd, room, 65536) : 0;
		if (n <= 0)
			return err_set(err, ERR_INPUT, "bundle %s has no end of its header", path);
		rest->len += (size_t)n;
	}
	memmove(rest->data, rest->data + at, rest->len - at);
	rest->len -= at;
	return 0;
}

static int unpack(struct gitstore *st, int fd, const char *path, struct buf *rest, struct err *err)
{
	auto_free char *chunk = mem_alloc(CHUNK);
	git_indexer_progress stats = { 0 };
	git_odb_writepack *wp = NULL;
	git_odb *odb = NULL;
	int rc = git_repository_odb(&odb, st->repo);

	if (rc == 0)
		rc = git_odb_write_pack(&wp, odb, NULL, NULL);
	if (rc == 0 && rest->len)
		rc = wp->append(wp, rest->data, rest->len, &stats);
	while (rc == 0) {
		ssize_t n = read(fd, chunk, CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		rc = wp->append(wp, chunk, (size_t)n, &stats);
	}
	if (rc == 0)
		rc = wp->commit(wp, &stats);
	if (wp)
		wp->free(wp);
	if (rc == 0)
		rc = git_odb_refresh(odb);
	git_odb_free(odb);
	return rc < 0 ? gitstore_error(err, ERR_INPUT, "cannot unpack bundle %s", path) : 0;
}

/* What "HEAD" of a bundle is: its HEAD line, else its only ref, else main or master. */
static void bundle_head(const struct header *h, struct gitstore_source *src)
{
	static const char *const names[] = { "HEAD", "refs/heads/main", "refs/heads/master" };

	for (size_t k = 0; k < ARRAY_SIZE(names) && !src->has_head; k++) {
		for (size_t i = 0; i < h->n && !src->has_head; i++) {
			if (h->n == 1 || strcmp(h->name[i], names[k]) == 0) {
				src->head = h->id[i];
				src->has_head = true;
			}
		}
	}
}

int gitstore_import_bundle(struct gitstore *st, const char *path, struct gitstore_source *src,
			   struct err *err)
{
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_buf rest = BUF_INIT(HEADER_MAX);
	struct header h = { 0 };
	int rc;

	if (fd < 0)
		return err_set(err, ERR_INPUT, "cannot read %s: %s", path, strerror(errno));
	rc = read_header(fd, path, &h, &rest, err);
	if (rc == 0)
		rc = unpack(st, fd, path, &rest, err);
	for (size_t i = 0; i < h.n && rc == 0; i++) {
		if (strcmp(h.name[i], "HEAD") != 0)
			gitstore_source_ref(st, src, h.name[i], &h.id[i]);
	}
	if (rc == 0)
		bundle_head(&h, src);
	header_done(&h);
	return rc;
}
