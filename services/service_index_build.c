#include "services/service_index_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <sha1.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/b64.h"
#include "base/mem.h"

#define META_MAX (256u << 10)

/* --- sums ---------------------------------------------------------------------------------------- */

static void sums(struct index_file *f)
{
	uint8_t one[SHA1_DIGEST_LENGTH], large[SHA512_DIGEST_LENGTH];
	auto_buf text = BUF_INIT(sizeof(f->integrity) - 1);
	const uint8_t *p = (const uint8_t *)buf_str(&f->body);
	SHA1_CTX sha1;
	SHA2_CTX sha512;

	digest_bytes(p, f->body.len, f->sha256);
	SHA1Init(&sha1);
	SHA1Update(&sha1, p, f->body.len);
	SHA1Final(one, &sha1);
	for (size_t i = 0; i < sizeof(one); i++)
		snprintf(f->sha1 + 2 * i, 3, "%02x", one[i]);
	SHA512Init(&sha512);
	SHA512Update(&sha512, p, f->body.len);
	SHA512Final(large, &sha512);
	buf_adds(&text, "sha512-");
	(void)b64_add(&text, large, sizeof(large), false); /* 95 characters */
	snprintf(f->integrity, sizeof(f->integrity), "%s", buf_str(&text));
}

/* --- archives ------------------------------------------------------------------------------------ */

static la_ssize_t to_buf(struct archive *a, void *arg, const void *p, size_t n)
{
	(void)a;
	return buf_add(arg, p, n) < 0 ? -1 : (la_ssize_t)n;
}

/* An archive into @b: ZIP, or tar in gzip. Neither compresses: what a compressor makes differs by its version. Times
 * are 0, so that the zone of this machine is not in a ZIP's either (it begins in 1980). */
static struct archive *pack(struct buf *b, bool zip)
{
	struct archive *a = archive_write_new();
	bool good = a != NULL;

	if (good && zip)
		good = archive_write_set_format_zip(a) == ARCHIVE_OK &&
		       archive_write_set_options(a, "zip:compression=store") == ARCHIVE_OK;
	else if (good)
		good = archive_write_set_format_ustar(a) == ARCHIVE_OK &&
		       archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
		       archive_write_set_options(a, "gzip:compression-level=0,gzip:!timestamp") ==
			       ARCHIVE_OK;
	good = good && archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
	       archive_write_open(a, b, NULL, to_buf, NULL) == ARCHIVE_OK;
	if (!good && a)
		archive_write_free(a);
	return good ? a : NULL;
}

static bool put(struct archive *a, const char *path, const char *text, size_t n)
{
	struct archive_entry *e = archive_entry_new();
	bool good = false;

	if (e) {
		archive_entry_set_pathname(e, path);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_size(e, (la_int64_t)n);
		archive_entry_set_mtime(e, 0, 0);
		good = archive_write_header(a, e) == ARCHIVE_OK &&
		       archive_write_data(a, text, n) == (la_ssize_t)n;
	}
	archive_entry_free(e);
	return good;
}

/* Every file of @r below @prefix. */
static bool put_all(struct archive *a, const struct index_release *r, const char *prefix)
{
	const cJSON *f;
	bool good = true;

	cJSON_ArrayForEach (f, r->files) {
		auto_free char *path = mem_printf("%s/%s", prefix, f->string);

		good = good && put(a, path, f->valuestring, strlen(f->valuestring));
	}
	return good;
}

static int finish(struct archive *a, bool good, const struct index_release *r, struct index_file *f,
		  struct err *err)
{
	good = good && a && archive_write_close(a) == ARCHIVE_OK;
	if (a)
		archive_write_free(a);
	if (!good || f->body.full)
		return err_set(err, ERR_INPUT, "package %s %s: cannot make %s%s", r->name,
			       r->version, f->name, f->body.full ? ": more than 1 MiB" : "");
	sums(f);
	return 0;
}

/* --- Python -------------------------------------------------------------------------------------- */

/* The name in file names (PEP 427, PEP 625). Caller frees. */
static char *file_stem(const struct index_release *r)
{
	char *s = mem_printf("%s-%s", r->key, r->version);

	for (size_t i = 0; r->key[i]; i++)
		s[i] = s[i] == '-' ? '_' : s[i];
	return s;
}

/* Core metadata, version 2.1. */
static void metadata(const struct index_release *r, struct buf *b)
{
	buf_addf(b, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n", r->name, r->version);
	if (r->python)
		buf_addf(b, "Requires-Python: %s\n", r->python);
	strv_each (i, &r->requires)
		buf_addf(b, "Requires-Dist: %s\n", r->requires.v[i]);
}

/* What describes a project and is no part of it once installed. */
static bool beside(const char *path)
{
	static const char *const names[] = { "pyproject.toml", "setup.py", "setup.cfg",
					     "MANIFEST.in",    "PKG-INFO", "entry_points.txt" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(path, names[i]) == 0)
			return true;
	}
	return str_starts(path, "README") || str_starts(path, "tests/");
}

/* A line of RECORD (PEP 376). */
static void record(struct buf *b, const char *path, const char *text, size_t n)
{
	uint8_t sum[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)text, n);
	SHA256Final(sum, &ctx);
	buf_addf(b, "%s,sha256=", path);
	(void)b64_add(b, sum, sizeof(sum), true); /* b->full is looked at */
	buf_addf(b, ",%zu\n", n);
}

static bool wheel_file(struct archive *a, struct buf *list, const char *path, const char *text)
{
	record(list, path, text, strlen(text));
	return put(a, path, text, strlen(text));
}

/* PEP 427. */
static int wheel(struct index_release *r, struct index_file *f, struct err *err)
{
	static const char about[] = "Wheel-Version: 1.0\nGenerator: index\n"
				    "Root-Is-Purelib: true\nTag: py3-none-any\n";
	auto_free char *stem = file_stem(r);
	auto_free char *dir = mem_printf("%s.dist-info", stem);
	auto_buf meta = BUF_INIT(META_MAX), list = BUF_INIT(META_MAX);
	struct archive *a;
	const cJSON *one;
	bool good;

	f->name = mem_printf("%s-py3-none-any.whl", stem);
	a = pack(&f->body, true);
	good = a != NULL;
	cJSON_ArrayForEach (one, r->files) {
		const char *path = one->string;

		path += str_starts(path, "src/") ? 4 : 0;
		if (good && !beside(path))
			good = wheel_file(a, &list, path, one->valuestring);
		if (good && strcmp(path, "entry_points.txt") == 0) {
			auto_free char *at = mem_printf("%s/%s", dir, path);

			good = wheel_file(a, &list, at, one->valuestring);
		}
	}
	metadata(r, &meta);
	if (good) {
		auto_free char *m = mem_printf("%s/METADATA", dir);
		auto_free char *w = mem_printf("%s/WHEEL", dir);
		auto_free char *l = mem_printf("%s/RECORD", dir);

		good = wheel_file(a, &list, m, buf_str(&meta)) && wheel_file(a, &list, w, about);
		buf_addf(&list, "%s,,\n", l);
		good = good && put(a, l, buf_str(&list), list.len);
	}
	return finish(a, good && !meta.full && !list.full, r, f, err);
}

static int sdist(struct index_release *r, struct index_file *f, struct err *err)
{
	auto_free char *stem = file_stem(r);
	auto_free char *info = mem_printf("%s/PKG-INFO", stem);
	auto_buf meta = BUF_INIT(META_MAX);
	struct archive *a;
	bool good;

	f->name = mem_printf("%s.tar.gz", stem);
	a = pack(&f->body, false);
	metadata(r, &meta);
	good = a && put_all(a, r, stem) && put(a, info, buf_str(&meta), meta.len);
	return finish(a, good && !meta.full, r, f, err);
}

/* --- npm ----------------------------------------------------------------------------------------- */

static void dependencies(const struct index_release *r, cJSON *manifest)
{
	cJSON *all = r->requires.n ? cJSON_AddObjectToObject(manifest, "dependencies") : NULL;

	for (size_t i = 0; all && i < r->requires.n; i++) {
		const char *one = r->requires.v[i], *at = strchr(one + 1, '@');
		auto_free char *name = mem_strndup(one, at ? (size_t)(at - one) : strlen(one));

		cJSON_AddStringToObject(all, name, at ? at + 1 : "*");
	}
}

/* package.json of the declaration, or one of our own; name and version are the declared ones. */
static int manifest(struct index_release *r, struct err *err)
{
	const char *text =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r->files, "package.json"));

	r->manifest = text ? cJSON_Parse(text) : cJSON_CreateObject();
	if (!cJSON_IsObject(r->manifest))
		return err_set(err, ERR_INPUT, "package %s %s: package.json is no JSON object",
			       r->name, r->version);
	cJSON_DeleteItemFromObjectCaseSensitive(r->manifest, "name");
	cJSON_DeleteItemFromObjectCaseSensitive(r->manifest, "version");
	cJSON_DeleteItemFromObjectCaseSensitive(r->manifest, "dist");
	cJSON_AddStringToObject(r->manifest, "name", r->name);
	cJSON_AddStringToObject(r->manifest, "version", r->version);
	if (!cJSON_HasObjectItem(r->manifest, "dependencies"))
		dependencies(r, r->manifest);
	return 0;
}

static int tgz(struct index_release *r, struct index_file *f, struct err *err)
{
	char *text = cJSON_PrintUnformatted(r->manifest);
	const char *slash = strchr(r->name, '/');
	struct archive *a;
	bool good;

	f->name = mem_printf("%s-%s.tgz", slash ? slash + 1 : r->name, r->version);
	a = pack(&f->body, false);
	cJSON_DeleteItemFromObjectCaseSensitive(r->files, "package.json");
	good = a && text && put(a, "package/package.json", text, strlen(text)) &&
	       put_all(a, r, "package");
	free(text);
	return finish(a, good, r, f, err);
}

/* --- all ----------------------------------------------------------------------------------------- */

static int ready_made(struct index_release *r, struct index_file *f, struct err *err)
{
	f->name = mem_strdup(r->filename);
	if (b64_read(&f->body, r->bytes, strlen(r->bytes)) < 0)
		return err_set(err, ERR_INPUT,
			       "package %s %s: bytes are no base64, or more than 1 MiB", r->name,
			       r->version);
	sums(f);
	return 0;
}

int service_index_build(struct index_release *r, struct err *err)
{
	size_t n = 0;
	int rc = r->npm ? manifest(r, err) : 0;

	for (size_t i = 0; i < INDEX_FORMS_MAX; i++)
		r->file[i].body = (struct buf)BUF_INIT(SERVICE_BODY_MAX);
	if (rc == 0 && r->bytes)
		return ready_made(r, &r->file[n], err);
	if (rc == 0 && r->npm)
		return tgz(r, &r->file[n], err);
	if (rc == 0 && r->wheel)
		rc = wheel(r, &r->file[n++], err);
	if (rc == 0 && r->sdist)
		rc = sdist(r, &r->file[n++], err);
	return rc;
}

void service_index_unbuild(struct index_release *r)
{
	for (size_t i = 0; i < INDEX_FORMS_MAX; i++) {
		free(r->file[i].name);
		buf_done(&r->file[i].body);
	}
	cJSON_Delete(r->manifest);
}
