#include "sandbox/gitstore_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "sandbox/gitpack.h"
#include "sandbox/gittree.h"

#define CHUNK (256u << 10)

/* One pass over the members of an archive. Everything in it is hostile. */
struct pass {
	const char *name;  /* borrowed: the archive */
	struct archive *a; /* owned */
	uint64_t members, total;
	struct buf bytes; /* contents of the member in hand */
	char *prefix;     /* where a repository lies, e.g. "calc/.git/"; owned, NULL = nowhere */
	/* Pass two, plain: */
	struct gitpack *pack;
	struct gittree tree;
	struct map by_path; /* map_hash(path) -> index in tree + 1 */
	/* Pass two, repository: */
	int to; /* directory that takes what is below prefix */
};

static int broken(const struct pass *p, struct err *err)
{
	const char *why = archive_error_string(p->a);

	return err_set(err, ERR_INPUT,
		       "cannot read %s: %s; expected a git repository, a bundle, a directory or "
		       "a tar archive (plain, gzip, bzip2, xz, zstd)",
		       p->name, why ? why : "unknown format");
}

static int open_archive(struct pass *p, struct err *err)
{
	int rc = ARCHIVE_OK;

	p->a = archive_read_new();
	ensure(p->a, "libarchive gives a reader");
	/* Only filters that are built in: the others run programs of the host. */
	rc |= archive_read_support_filter_gzip(p->a);
	rc |= archive_read_support_filter_bzip2(p->a);
	rc |= archive_read_support_filter_xz(p->a);
	rc |= archive_read_support_filter_zstd(p->a);
	rc |= archive_read_support_format_tar(p->a);
	if (rc != ARCHIVE_OK)
		return err_set(err, ERR_HOST,
			       "libarchive was built without gzip, bzip2, xz or "
			       "zstd; install the distribution's package");
	if (archive_read_open_filename(p->a, p->name, CHUNK) != ARCHIVE_OK)
		return broken(p, err);
	return 0;
}

static void pass_done(struct pass *p)
{
	archive_read_free(p->a);
	buf_done(&p->bytes);
	free(p->prefix);
	gitpack_free(p->pack);
	gittree_done(&p->tree);
	map_done(&p->by_path);
	mem_close(&p->to);
}

/* Name of a member or of a hard link's target without "./" and final "/". NULL when it is
 * absolute, climbs, is longer than a path may be, or is nothing ("./"). Caller frees. */
static char *clean(const char *raw)
{
	unsigned depth = 0;
	char *out, *w;

	if (!raw || raw[0] == '/' || strlen(raw) >= PATH_MAX)
		return NULL;
	w = out = mem_alloc(strlen(raw) + 1);
	while (*raw) {
		size_t n = strcspn(raw, "/");

		if ((n == 2 && strncmp(raw, "..", 2) == 0) || ++depth > GITSTORE_DEPTH_MAX) {
			free(out);
			return NULL;
		}
		if (n && !(n == 1 && *raw == '.')) {
			if (w > out)
				*w++ = '/';
			memcpy(w, raw, n);
			w += n;
		}
		raw += n + (raw[n] == '/');
	}
	*w = '\0';
	return out;
}

/* libarchive converts names of some formats; what cannot be said in this locale is there in UTF-8.
 */
static const char *raw_name(struct archive_entry *e)
{
	const char *s = archive_entry_pathname(e);

	return s ? s : archive_entry_pathname_utf8(e);
}

static const char *raw_hardlink(struct archive_entry *e)
{
	const char *s = archive_entry_hardlink(e);

	return s ? s : archive_entry_hardlink_utf8(e);
}

static const char *raw_symlink(struct archive_entry *e)
{
	const char *s = archive_entry_symlink(e);

	return s ? s : archive_entry_symlink_utf8(e);
}

/* Step to the next member. 1: *ret is its name (caller frees), 0 at the end. */
static int next_member(struct pass *p, struct archive_entry **e, char **ret, struct err *err)
{
	for (;;) {
		int rc = archive_read_next_header(p->a, e);
		char *path;

		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return broken(p, err);
		if (++p->members > GITSTORE_FILES_MAX)
			return err_set(err, ERR_LIMIT, "%s holds more than %u members", p->name,
				       GITSTORE_FILES_MAX);
		path = clean(raw_name(*e));
		if (!path)
			return err_set(err, ERR_INPUT,
				       "%s holds a member called \"%.200s\", which leads out of "
				       "it; make the archive with relative names",
				       p->name, raw_name(*e) ? raw_name(*e) : "");
		if (*path) {
			*ret = path;
			return 1;
		}
		free(path); /* "./": the top itself */
	}
}

static int add_size(struct pass *p, la_int64_t n, struct err *err)
{
	if (n < 0 || (uint64_t)n > GITSTORE_TOTAL_MAX - p->total)
		return err_set(err, ERR_LIMIT, "%s unpacks to more than %llu GiB", p->name,
			       GITSTORE_TOTAL_MAX >> 30);
	p->total += (uint64_t)n;
	return 0;
}

static int read_bytes(struct pass *p, const char *path, struct err *err)
{
	buf_clear(&p->bytes);
	for (;;) {
		size_t room = p->bytes.max - p->bytes.len;
		char *to = buf_reserve(&p->bytes, room < CHUNK ? room : CHUNK);
		la_ssize_t n;

		if (!room || !to)
			return err_set(err, ERR_INPUT, "%s: member %s has more than %llu MiB",
				       p->name, path, GITSTORE_BLOB_MAX >> 20);
		n = archive_read_data(p->a, to, room < CHUNK ? room : CHUNK);
		if (n < 0)
			return broken(p, err);
		if (n == 0)
			break;
		p->bytes.len += (size_t)n;
	}
	return add_size(p, (la_int64_t)p->bytes.len, err);
}

/* Pass one: does a repository lie at the top, or in the one directory that holds everything? The
 * order of members is anybody's, so all names are seen before that is known. */
static int find_repository(const char *name, char **ret_prefix, struct err *err)
{
	struct pass p = { .name = name, .to = -1 };
	auto_free char *first = NULL, *path = NULL;
	bool at_top = false, below = false, mixed = false;
	struct archive_entry *e;
	int rc = open_archive(&p, err);

	while (rc == 0 && !at_top && (rc = next_member(&p, &e, &path, err)) == 1) {
		const char *slash;
		size_t n;

		ensure(path, "a member has a name");
		slash = strchr(path, '/');
		n = slash ? (size_t)(slash - path) : strlen(path);
		rc = add_size(&p, archive_entry_size(e), err);
		if (!first)
			first = mem_strndup(path, n);
		mixed |= strlen(first) != n || strncmp(first, path, n) != 0;
		if (archive_entry_filetype(e) == AE_IFREG) {
			at_top = strcmp(path, ".git/HEAD") == 0;
			below |= slash && strcmp(slash, "/.git/HEAD") == 0;
		}
		free(take_ptr(&path));
	}
	if (rc >= 0 && at_top)
		*ret_prefix = mem_strdup(".git/");
	else if (rc >= 0 && below && !mixed)
		*ret_prefix = mem_printf("%s/.git/", first);
	pass_done(&p);
	return rc < 0 ? rc : 0;
}

/* Index of @path among the files so far, -1 when it is not there. */
static ssize_t find_file(const struct pass *p, const char *path)
{
	size_t i = (size_t)(uintptr_t)map_get(&p->by_path, map_hash(path, strlen(path)));

	if (!i || strcmp(p->tree.file[i - 1].path, path) != 0)
		return -1;
	return (ssize_t)i - 1;
}

static int put(struct pass *p, const char *path, uint32_t mode, const git_oid *id)
{
	ssize_t at = find_file(p, path);

	if (at >= 0) { /* tar: the later member of a name wins */
		p->tree.file[at].mode = mode;
		p->tree.file[at].id = *id;
		return 0;
	}
	map_put(&p->by_path, map_hash(path, strlen(path)),
		(void *)(uintptr_t)(gittree_add(&p->tree, path, mode, id) + 1));
	return 0;
}

static int plain_hardlink(struct pass *p, struct archive_entry *e, const char *path,
			  struct err *err)
{
	auto_free char *target = clean(raw_hardlink(e));
	ssize_t at = target ? find_file(p, target) : -1;
	git_oid id;

	if (at < 0)
		return err_set(err, ERR_INPUT,
			       "%s: member %s is a hard link to \"%.200s\", which is not a file "
			       "of the archive in front of it",
			       p->name, path, target ? target : "");
	id = p->tree.file[at].id;
	return put(p, path, p->tree.file[at].mode, &id);
}

static int plain_member(struct pass *p, struct archive_entry *e, const char *path, struct err *err)
{
	const char *link = raw_symlink(e);
	git_oid id;
	int rc;

	if (!path_is_tame(path))
		return err_set(err, ERR_INPUT,
			       "%s: member %s lies in a .git directory, but no repository is at "
			       "the top of the archive",
			       p->name, path);
	if (archive_entry_hardlink(e) || archive_entry_hardlink_utf8(e))
		return plain_hardlink(p, e, path, err);
	switch (archive_entry_filetype(e)) {
	case AE_IFDIR:
		return 0;
	case AE_IFREG:
		rc = read_bytes(p, path, err);
		if (rc == 0)
			rc = gitpack_add(p->pack, GIT_OBJECT_BLOB, buf_str(&p->bytes), p->bytes.len,
					 &id, err);
		if (rc == 0)
			rc = put(p, path, archive_entry_perm(e) & 0100 ? 0100755 : 0100644, &id);
		return rc;
	case AE_IFLNK:
		if (!link || !*link || strlen(link) >= PATH_MAX)
			return err_set(err, ERR_INPUT, "%s: symbolic link %s has no usable target",
				       p->name, path);
		rc = gitpack_add(p->pack, GIT_OBJECT_BLOB, link, strlen(link), &id, err);
		return rc < 0 ? rc : put(p, path, 0120000, &id);
	default:
		return err_set(err, ERR_INPUT,
			       "%s: member %s is a device, pipe or socket; leave it out", p->name,
			       path);
	}
}

/* The parts of .git that say what commits there are. What could lead elsewhere (alternates,
 * commondir, worktrees), run something (hooks) or set something (config) is not among them. */
static bool is_wanted(const char *path)
{
	static const char *const files[] = { "HEAD", "packed-refs", "shallow" };
	static const char *const dirs[] = { "refs/", "objects/" };

	if (str_starts(path, "objects/info/"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(path, files[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (str_starts(path, dirs[i]))
			return true;
	}
	return false;
}

/* Make the directories above @path below @to. No link is ever made there, so that a path made of
 * plain names cannot lead out; fd_open_beneath() holds that up besides. */
static int make_parents(int to, const char *path)
{
	for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
		auto_free char *dir = mem_strndup(path, (size_t)(s - path));

		if (mkdirat(to, dir, 0700) < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

static int repo_member(struct pass *p, struct archive_entry *e, const char *path, struct err *err)
{
	auto_free char *linked = clean(raw_hardlink(e));
	const char *name = path + strlen(p->prefix);
	auto_fd int fd = -1;
	int rc;

	if (!is_wanted(name) || archive_entry_filetype(e) == AE_IFDIR)
		return 0;
	if (raw_hardlink(e)) {
		auto_fd int from = -1;

		if (linked && str_starts(linked, p->prefix))
			from = fd_open_beneath(p->to, linked + strlen(p->prefix), O_RDONLY, 0);
		buf_clear(&p->bytes);
		if (from < 0 || fd_read_all(from, &p->bytes) < 0)
			return err_set(err, ERR_INPUT,
				       "%s: member %s is a hard link to something "
				       "that is not in front of it",
				       p->name, path);
	} else if (archive_entry_filetype(e) != AE_IFREG) {
		return err_set(err, ERR_INPUT, "%s: member %s is not a plain file", p->name, path);
	} else {
		rc = read_bytes(p, path, err);
		if (rc < 0)
			return rc;
	}
	if (make_parents(p->to, name) == 0)
		fd = fd_open_beneath(p->to, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || fd_write_all(fd, buf_str(&p->bytes), p->bytes.len) < 0)
		return err_sys(err, "cannot unpack %s of %s", path, p->name);
	return 0;
}

/* Unpack the repository below p->prefix into a directory of the store. */
static int open_target(struct gitstore *st, struct pass *p, char **ret_repo, struct err *err)
{
	static const char config[] = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
	auto_free char *dir = path_join(st->path, "source.git");
	auto_fd int fd = -1;

	if (mkdir(dir, 0700) < 0)
		return err_sys(err, "cannot make directory %s", dir);
	p->to = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(p->to, "config", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, config, sizeof(config) - 1) < 0 ||
	    mkdirat(p->to, "refs", 0700) < 0 || mkdirat(p->to, "objects", 0700) < 0)
		return err_sys(err, "cannot write to %s", dir);
	*ret_repo = take_ptr(&dir);
	return 0;
}

static int each_member(struct pass *p, struct err *err)
{
	struct archive_entry *e;
	char *path = NULL;
	int rc = 0;

	while (rc == 0 && (rc = next_member(p, &e, &path, err)) == 1) {
		if (!p->prefix)
			rc = plain_member(p, e, path, err);
		else if (str_starts(path, p->prefix))
			rc = repo_member(p, e, path, err);
		else
			rc = 0;
		free(path);
	}
	return rc;
}

int gitstore_import_archive(struct gitstore *st, const char *path, git_oid *ret_tree,
			    char **ret_repo, struct err *err)
{
	struct pass p = { .name = path, .to = -1, .bytes = BUF_INIT(GITSTORE_BLOB_MAX) };
	auto_free char *repo = NULL;
	int rc = find_repository(path, &p.prefix, err);

	if (rc == 0)
		rc = open_archive(&p, err);
	if (rc == 0)
		rc = p.prefix ? open_target(st, &p, &repo, err) : gitstore_pack(st, &p.pack, err);
	if (rc == 0)
		rc = each_member(&p, err);
	if (rc == 0 && !p.prefix)
		rc = gittree_write(&p.tree, p.pack, ret_tree, err);
	if (rc == 0 && !p.prefix)
		rc = gitstore_pack_end(st, &p.pack, err);
	if (rc == 0)
		*ret_repo = take_ptr(&repo);
	pass_done(&p);
	return rc;
}
