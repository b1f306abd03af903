#include "profiles/image.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "profiles/image_json.h"

#define CHUNK       (256u << 10)
#define INDEXES_MAX 3 /* index of a layout, of an image's platforms, and one to spare */

static const char *const schemes[] = { "oci:", "docker-archive:" };

bool image_is(const char *s)
{
	return str_starts(s, schemes[0]) || str_starts(s, schemes[1]);
}

struct image *image_free(struct image *im)
{
	if (!im)
		return NULL;
	for (size_t i = 0; i < im->n_layers; i++)
		free(im->layers[i].name);
	free(im->layers);
	strv_done(&im->env);
	strv_done(&im->entrypoint);
	strv_done(&im->cmd);
	free(im->workdir);
	free(im->user);
	free(im->config);
	free(im->path);
	free(im->tag);
	free(im);
	return NULL;
}

/* Where the files of an image lie. */
struct place {
	const char *path; /* borrowed */
	int fd;           /* owned: the layout's directory; -1 = an archive */
};

static int broken(const struct place *p, struct archive *a, struct err *err)
{
	const char *why = archive_error_string(a);

	return err_set(
		err, ERR_INPUT,
		"cannot read image %s: %s; expected an OCI layout or what docker save writes",
		p->path, why ? why : "unknown format");
}

static int open_archive(const struct place *p, struct archive **ret, struct err *err)
{
	struct archive *a = archive_read_new();

	ensure(a, "libarchive gives a reader");
	/* Only filters that are built in: the others run programs of the host. */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	if (archive_read_open_filename(a, p->path, CHUNK) != ARCHIVE_OK) {
		int rc = broken(p, a, err);

		archive_read_free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

/* Step to the next plain file of @a. 1: *ret is its name, borrowed; 0 at the end. */
static int next_file(const struct place *p, struct archive *a, unsigned *members, const char **ret,
		     struct err *err)
{
	struct archive_entry *e;
	int rc;

	while ((rc = archive_read_next_header(a, &e)) != ARCHIVE_EOF) {
		const char *name;

		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return broken(p, a, err);
		if (++*members > IMAGE_MEMBERS_MAX)
			return err_set(err, ERR_LIMIT, "image %s holds more than %u members",
				       p->path, IMAGE_MEMBERS_MAX);
		name = archive_entry_pathname(e);
		if (!name)
			name = archive_entry_pathname_utf8(e);
		if (!name || archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e))
			continue;
		while (str_starts(name, "./"))
			name += 2;
		*ret = name;
		return 1;
	}
	return 0;
}

static int read_member(const struct place *p, struct archive *a, const char *name, struct buf *out,
		       struct err *err)
{
	for (;;) {
		size_t room = out->max - out->len;
		char *to = buf_reserve(out, room < CHUNK ? room : CHUNK);
		la_ssize_t n;

		if (!room || !to)
			return err_set(err, ERR_INPUT, "image %s: %s has more than %u MiB", p->path,
				       name, IMAGE_JSON_MAX >> 20);
		n = archive_read_data(a, to, room < CHUNK ? room : CHUNK);
		if (n < 0)
			return broken(p, a, err);
		if (n == 0)
			return 0;
		out->len += (size_t)n;
	}
}

static int missing(const struct place *p, const char *name, struct err *err)
{
	return err_set(err, ERR_INPUT, "image %s: no file %s%s", p->path, name,
		       strcmp(name, "index.json") == 0
			       ? "; for the form of docker save write \"docker-archive:FILE\""
		       : strcmp(name, "manifest.json") == 0
			       ? "; for an OCI layout write \"oci:LAYOUT\""
			       : "; the image is not complete");
}

static int open_blob(const struct place *p, const char *name, int *ret, struct err *err)
{
	struct stat st;

	*ret = fd_open_beneath(p->fd, name, O_RDONLY | O_NONBLOCK, 0);
	if (*ret < 0 && errno == ENOENT)
		return missing(p, name, err);
	if (*ret < 0)
		return err_set(err, ERR_INPUT, "image %s: cannot open %s: %s", p->path, name,
			       strerror(errno));
	if (fstat(*ret, &st) < 0 || !S_ISREG(st.st_mode)) {
		mem_close(ret);
		return err_set(err, ERR_INPUT, "image %s: %s is no plain file", p->path, name);
	}
	return 0;
}

/* The small file @name as text. 0 or negative. */
static int read_json(const struct place *p, const char *name, struct buf *out, struct err *err)
{
	struct archive *a = NULL;
	unsigned members = 0;
	const char *at;
	int rc;

	if (p->fd >= 0) {
		auto_fd int fd = -1;

		rc = open_blob(p, name, &fd, err);
		if (rc == 0 && fd_read_all(fd, out) < 0)
			rc = err_set(err, ERR_INPUT, "image %s: cannot read %s: %s", p->path, name,
				     strerror(errno));
		return rc;
	}
	rc = open_archive(p, &a, err);
	if (rc < 0)
		return rc;
	while ((rc = next_file(p, a, &members, &at, err)) == 1 && strcmp(at, name) != 0)
		;
	if (rc == 1)
		rc = read_member(p, a, name, out, err);
	else if (rc == 0)
		rc = missing(p, name, err);
	archive_read_free(a);
	return rc;
}

/* As read_json() for the blob @sum, which must have that digest. *ret_name is for errors (caller
 * frees). */
static int read_blob(const struct place *p, const char *sum, struct buf *out, char **ret_name,
		     struct err *err)
{
	auto_free char *name = mem_printf("blobs/sha256/%s", sum);
	char is[DIGEST_HEX];
	int rc = read_json(p, name, out, err);

	if (rc < 0)
		return rc;
	if (strcmp(digest_bytes(buf_str(out), out->len, is), sum) != 0)
		return err_set(err, ERR_INPUT, "image %s: %s has digest %s; copy the image again",
			       p->path, name, is);
	*ret_name = mem_printf("%s: %s", p->path, name);
	return 0;
}

static int take_config(struct image *im, const char *name, struct buf *text, struct err *err)
{
	int rc = image_json_config(name, buf_str(text), text->len, im, err);

	if (rc < 0)
		return rc;
	digest_bytes(buf_str(text), text->len, im->digest);
	im->config = buf_steal(text, NULL);
	return 0;
}

static int read_oci(const struct place *p, struct image *im, struct err *err)
{
	auto_buf text = BUF_INIT(IMAGE_JSON_MAX);
	auto_free char *name = mem_printf("%s: index.json", p->path);
	struct image_ref ref = { .index = true };
	char config[DIGEST_HEX];
	int rc = read_json(p, "index.json", &text, err);

	for (int i = 0; rc == 0 && ref.index; i++) {
		if (i == INDEXES_MAX)
			return err_set(err, ERR_INPUT, "image %s: indexes lead to more indexes",
				       p->path);
		rc = image_json_index(name, buf_str(&text), text.len, i ? NULL : im->tag, &ref,
				      err);
		if (rc < 0)
			return rc;
		buf_clear(&text);
		free(take_ptr(&name));
		rc = read_blob(p, ref.sum, &text, &name, err);
	}
	if (rc == 0)
		rc = image_json_manifest(name, buf_str(&text), text.len, im, config, err);
	if (rc < 0)
		return rc;
	buf_clear(&text);
	free(take_ptr(&name));
	rc = read_blob(p, config, &text, &name, err);
	return rc < 0 ? rc : take_config(im, name, &text, err);
}

static int read_docker(const struct place *p, struct image *im, struct err *err)
{
	auto_buf text = BUF_INIT(IMAGE_JSON_MAX);
	auto_free char *name = mem_printf("%s: manifest.json", p->path);
	auto_free char *config = NULL;
	int rc = read_json(p, "manifest.json", &text, err);

	if (rc == 0)
		rc = image_json_docker(name, buf_str(&text), text.len, im->tag, im, &config, err);
	if (rc < 0)
		return rc;
	buf_clear(&text);
	free(take_ptr(&name));
	name = mem_printf("%s: %s", p->path, config);
	rc = read_json(p, config, &text, err);
	return rc < 0 ? rc : take_config(im, name, &text, err);
}

/* Path and tag of @s, see image_read(). */
static int split(const char *s, struct image *im, struct err *err)
{
	struct stat st;

	if (stat(s, &st) == 0) {
		im->path = mem_strdup(s);
		return 0;
	}
	for (const char *c = strchr(s, ':'); c; c = strchr(c + 1, ':')) {
		auto_free char *path = mem_strndup(s, (size_t)(c - s));

		if (stat(path, &st) == 0 && c[1]) {
			im->path = take_ptr(&path);
			im->tag = mem_strdup(c + 1);
			return 0;
		}
	}
	return err_set(err, ERR_INPUT,
		       "image %s: no such directory or file; give an OCI layout, a tar archive of "
		       "one, or a file made by docker save",
		       s);
}

static int open_place(const struct image *im, struct place *ret, struct err *err)
{
	struct stat st;

	*ret = (struct place){ im->path, -1 };
	if (stat(im->path, &st) < 0)
		return err_set(err, ERR_INPUT, "image %s: %s", im->path, strerror(errno));
	if (S_ISREG(st.st_mode))
		return 0;
	if (!S_ISDIR(st.st_mode) || im->docker)
		return err_set(err, ERR_INPUT, "image %s is no %s", im->path,
			       im->docker ? "file; for a directory write \"oci:LAYOUT\""
					  : "directory or archive");
	ret->fd = open(im->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->fd < 0)
		return err_set(err, ERR_INPUT, "image %s: %s", im->path, strerror(errno));
	return 0;
}

int image_read(const char *text, struct image **ret, struct err *err)
{
	struct place p = { .fd = -1 };
	struct image *im;
	int rc;

	if (!image_is(text))
		return err_set(err, ERR_INPUT, "\"%s\" is no image", text);
	im = mem_zalloc(1, sizeof(*im));
	im->docker = str_starts(text, schemes[1]);
	rc = split(text + strlen(schemes[im->docker]), im, err);
	if (rc == 0)
		rc = open_place(im, &p, err);
	if (rc == 0)
		rc = im->docker ? read_docker(&p, im, err) : read_oci(&p, im, err);
	mem_close(&p.fd);
	if (rc == 0)
		*ret = take_ptr(&im);
	image_free(im);
	return rc;
}

static ssize_t read_file(struct image_stream *s, void *p, size_t n)
{
	ssize_t got;

	do {
		got = read(s->fd, p, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		s->why = strerror(errno);
	return got;
}

static ssize_t read_from_archive(struct image_stream *s, void *p, size_t n)
{
	la_ssize_t got = archive_read_data(s->a, p, n);

	if (got < 0)
		s->why = archive_error_string(s->a) ? archive_error_string(s->a) : "broken archive";
	return got < 0 ? -1 : got;
}

/* Layer @i is done, and with it all that hold the same. */
static void settle(const struct image *im, bool *left, size_t i)
{
	for (size_t k = 0; k < im->n_layers; k++) {
		if (strcmp(im->layers[k].diff_id, im->layers[i].diff_id) == 0)
			left[k] = false;
	}
}

static int each_blob(const struct place *p, const struct image *im, bool *left,
		     const struct image_sink *sink, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < im->n_layers; i++) {
		struct image_stream s = { .read = read_file, .fd = -1 };

		if (!left[i])
			continue;
		rc = open_blob(p, im->layers[i].name, &s.fd, err);
		if (rc == 0)
			rc = sink->layer(sink->arg, i, &s, err);
		mem_close(&s.fd);
		settle(im, left, i);
	}
	return rc;
}

/* docker save writes a layer that an image has twice as a symbolic link the second time: it is found
 * by its other name. */
static int each_member(const struct place *p, const struct image *im, bool *left,
		       const struct image_sink *sink, struct err *err)
{
	struct image_stream s = { .read = read_from_archive, .fd = -1 };
	struct archive *a = NULL;
	unsigned members = 0;
	const char *name;
	int rc = open_archive(p, &a, err);

	if (rc < 0)
		return rc;
	s.a = a;
	while ((rc = next_file(p, a, &members, &name, err)) == 1) {
		size_t i = 0;

		while (i < im->n_layers && !(left[i] && strcmp(im->layers[i].name, name) == 0))
			i++;
		if (i == im->n_layers)
			continue;
		rc = sink->layer(sink->arg, i, &s, err);
		if (rc < 0)
			break;
		settle(im, left, i);
	}
	archive_read_free(a);
	return rc;
}

int image_layers(const struct image *im, const bool *want, const struct image_sink *sink,
		 struct err *err)
{
	auto_free bool *left = mem_dup(want, im->n_layers * sizeof(*want));
	struct place p = { .fd = -1 };
	int rc = open_place(im, &p, err);

	if (rc == 0)
		rc = p.fd >= 0 ? each_blob(&p, im, left, sink, err)
			       : each_member(&p, im, left, sink, err);
	for (size_t i = 0; rc == 0 && i < im->n_layers; i++) {
		if (left[i])
			rc = missing(&p, im->layers[i].name, err);
	}
	mem_close(&p.fd);
	return rc;
}
