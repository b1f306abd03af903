#include "profiles/servicefiles_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/b64.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "profiles/input_internal.h"

enum { FILES_MAX = 200, DEPTH_MAX = 8 };

/* What is left of SERVICEFILES_MAX, and where errors are. */
struct reader {
	const struct json_src *src;
	const char *where, *dir;
	size_t left, files;
};

/* --- one file ------------------------------------------------------------------------------------ */

static int read_bytes(struct reader *r, int at, const char *name, struct buf *b, struct err *err)
{
	auto_fd int fd = openat(at, name, INPUT_OPEN_FLAGS | (at == AT_FDCWD ? 0 : O_NOFOLLOW));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return json_complain(r->src, r->where, err, "cannot read %s: %s", name,
				     strerror(errno));
	if (!S_ISREG(st.st_mode))
		return json_complain(r->src, r->where, err, "%s is not a regular file", name);
	b->max = r->left;
	if (fd_read_all(fd, b) < 0)
		return json_complain(r->src, r->where, err, "cannot read %s: %s", name,
				     errno == EFBIG ? "services have more than 1 MiB of files"
						    : strerror(errno));
	r->left -= b->len;
	return 0;
}

static bool is_text(const struct buf *b)
{
	size_t bad;

	return !b->len || (!memchr(b->data, 0, b->len) && str_utf8(b->data, b->len, &bad));
}

/* --- a directory --------------------------------------------------------------------------------- */

static int no_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
}

static int read_tree(struct reader *r, int at, const char *name, const char *prefix, int depth,
		     cJSON *files, struct err *err);

static int read_entry(struct reader *r, int at, const char *name, const char *path, int depth,
		      cJSON *files, struct err *err)
{
	auto_buf b = BUF_INIT(SERVICEFILES_MAX);
	struct stat st;
	int rc;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return depth < DEPTH_MAX
			       ? read_tree(r, at, name, path, depth + 1, files, err)
			       : json_complain(r->src, r->where, err, "%s is too deep", path);
	if (++r->files > FILES_MAX)
		return json_complain(r->src, r->where, err, "more than %d files", FILES_MAX);
	rc = read_bytes(r, at, name, &b, err);
	if (rc == 0 && !is_text(&b))
		rc = json_complain(r->src, r->where, err,
				   "%s is no text (UTF-8); a package with such files is named "
				   "ready-made by \"file\"",
				   path);
	if (rc == 0)
		cJSON_AddStringToObject(files, path, buf_str(&b));
	return rc;
}

static int read_tree(struct reader *r, int at, const char *name, const char *prefix, int depth,
		     cJSON *files, struct err *err)
{
	auto_fd int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **v = NULL;
	int n = fd < 0 ? -1 : scandirat(fd, ".", &v, no_dots, NULL), rc = 0;

	if (n < 0)
		return json_complain(r->src, r->where, err, "cannot list %s: %s", name,
				     strerror(errno));
	for (int i = 0; i < n; i++) {
		auto_free char *path =
			prefix ? path_join(prefix, v[i]->d_name) : mem_strdup(v[i]->d_name);

		if (rc == 0)
			rc = read_entry(r, fd, v[i]->d_name, path, depth, files, err);
		free(v[i]);
	}
	free(v);
	return rc;
}

/* --- what the members hold ----------------------------------------------------------------------- */

static int need_dir(const struct reader *r, const char *name, struct err *err)
{
	return r->dir ? 0
		      : json_complain(r->src, r->where, err, "\"%s\": a file cannot be named here",
				      name);
}

static int swap(cJSON *object, const char *key, const char *new_key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, new_key, value);
	return 0;
}

static int fill_sql(struct reader *r, cJSON *object, const char *key, const char *text,
		    struct err *err)
{
	auto_buf b = BUF_INIT(SERVICEFILES_MAX);
	auto_free char *path = NULL;
	int rc;

	/* What was read before may end so, too, but is no single word. */
	if (!str_ends(text, ".sql") || strpbrk(text, " \t\r\n;"))
		return 0;
	rc = need_dir(r, text, err);
	if (rc < 0)
		return rc;
	path = input_path(r->dir, text);
	rc = read_bytes(r, AT_FDCWD, path, &b, err);
	if (rc == 0 && !is_text(&b))
		rc = json_complain(r->src, r->where, err, "%s is no text (UTF-8)", path);
	return rc < 0 ? rc : swap(object, key, key, cJSON_CreateString(buf_str(&b)));
}

static int fill_tree(struct reader *r, cJSON *object, const char *key, const char *text,
		     struct err *err)
{
	cJSON *files = cJSON_CreateObject();
	auto_free char *path = NULL;
	int rc = need_dir(r, text, err);

	r->files = 0;
	if (rc == 0) {
		path = input_path(r->dir, text);
		rc = read_tree(r, AT_FDCWD, path, NULL, 0, files, err);
	}
	if (rc == 0)
		return swap(object, key, "files", files);
	cJSON_Delete(files);
	return rc;
}

static int fill_bytes(struct reader *r, cJSON *object, const char *key, const char *text,
		      struct err *err)
{
	auto_buf b = BUF_INIT(SERVICEFILES_MAX), coded = BUF_INIT(SERVICEFILES_MAX * 2);
	auto_free char *path = NULL;
	auto_free char *base = mem_strdup(path_base(text));
	int rc = need_dir(r, text, err);

	if (rc == 0) {
		path = input_path(r->dir, text);
		rc = read_bytes(r, AT_FDCWD, path, &b, err);
	}
	if (rc < 0)
		return rc;
	(void)b64_add(&coded, b.data, b.len, false); /* there is room */
	cJSON_AddStringToObject(object, "bytes", buf_str(&coded));
	return swap(object, key, "filename", cJSON_CreateString(base));
}

/* Members that name files. */
static const struct {
	const char *kind, *list,
		*key; /* list: the member of that name holds the objects; NULL = the service does */
	int (*fill)(struct reader *r, cJSON *object, const char *key, const char *text,
		    struct err *err);
} rows[] = {
	{ "index", "packages", "from", fill_tree }, { "index", "packages", "file", fill_bytes },
	{ "sqlite", NULL, "sql", fill_sql },        { "sqlite", "versions", "sql", fill_sql },
	{ "postgresql", NULL, "sql", fill_sql },
};

static int fill(struct reader *r, size_t row, cJSON *object, struct err *err)
{
	const char *text =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, rows[row].key));

	return text ? rows[row].fill(r, object, rows[row].key, text, err) : 0;
}

static int read_one(struct reader *r, cJSON *service, struct err *err)
{
	const char *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(service, "kind"));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(rows); i++) {
		cJSON *item;

		if (!str_eq(kind, rows[i].kind))
			continue;
		if (!rows[i].list)
			rc = fill(r, i, service, err);
		else
			cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(service,
										   rows[i].list)) {
				rc = fill(r, i, item, err);
				if (rc < 0)
					break;
			}
	}
	return rc;
}

int servicefiles_read(const struct json_src *src, const char *where, const char *dir,
		      cJSON *services, struct err *err)
{
	struct reader r = { .src = src, .dir = dir, .left = SERVICEFILES_MAX };
	size_t i = 0;
	cJSON *one;

	cJSON_ArrayForEach (one, services) {
		auto_free char *at = mem_printf("%s[%zu]", where, i++);
		int rc;

		r.where = at;
		rc = read_one(&r, one, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int servicefiles_effect(const struct json_src *src, const char *where, const char *dir,
			cJSON *change, struct err *err)
{
	struct reader r = { src, where, dir, SERVICEFILES_MAX, 0 };
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(change, "sql"));

	return text ? fill_sql(&r, change, "sql", text, err) : 0;
}
