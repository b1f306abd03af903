/* Binary changes of git: contents or a delta, deflated. libgit2 1.5 decodes the text; its inflating
 * loop does not end on a stream that is cut or damaged, so that part is libarchive's here. */
#include "triggers/apply_internal.h"

#include <archive.h>
#include <git2.h>
#include <string.h>

#include "base/mem.h"

#define GZIP_HEAD 10 /* RFC 1952 */
#define GZIP_TAIL 8
#define ZLIB_HEAD 2 /* RFC 1950 */
#define ZLIB_TAIL 4

static void reader_free(struct archive **a)
{
	archive_read_free(*a);
}

/* Inflate a zlib stream that must give exactly @want bytes: its deflate body, dressed as gzip for
 * libarchive. 0 or -1. */
static int inflate_exact(const struct patch_binary *b, struct buf *out)
{
	static const char head[GZIP_HEAD] = "\x1f\x8b\x08\0\0\0\0\0\0\x03";
	__attribute__((cleanup(reader_free))) struct archive *a = archive_read_new();
	auto_buf gz = BUF_INIT(2u * APPLY_DIFF_MAX);
	struct archive_entry *entry;
	char *to;

	if (!b->inflated)
		return 0;
	if (b->len < ZLIB_HEAD + ZLIB_TAIL || b->inflated > APPLY_FILE_MAX || !a)
		return -1;
	buf_add(&gz, head, GZIP_HEAD);
	buf_add(&gz, b->data + ZLIB_HEAD, b->len - ZLIB_HEAD - ZLIB_TAIL);
	for (int i = 0; i < GZIP_TAIL; i++)
		buf_addc(&gz, 0);
	if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    archive_read_open_memory(a, gz.data, gz.len) != ARCHIVE_OK ||
	    archive_read_next_header(a, &entry) != ARCHIVE_OK)
		return -1;
	while (out->len < b->inflated) {
		char chunk[16384];
		la_ssize_t n = archive_read_data(a, chunk, sizeof(chunk));

		if (n <= 0 || (size_t)n > b->inflated - out->len ||
		    buf_add(out, chunk, (size_t)n) < 0)
			return -1;
	}
	/* nothing may follow */
	to = buf_reserve(out, 1);
	return to && archive_read_data(a, to, 1) == 0 ? 0 : -1;
}

/* Reading position in a delta. */
struct delta {
	const unsigned char *p, *end;
};

static int delta_size(struct delta *d, uint64_t *size)
{
	unsigned shift = 0;

	*size = 0;
	while (d->p < d->end && shift < 63) {
		unsigned char c = *d->p++;

		*size |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return 0;
		shift += 7;
	}
	return -1;
}

/* Bytes of a number that are there as the bits of @bits say. */
static int delta_number(struct delta *d, unsigned bits, unsigned n, uint64_t *v)
{
	*v = 0;
	for (unsigned i = 0; i < n; i++) {
		if (!(bits & (1u << i)))
			continue;
		if (d->p >= d->end)
			return -1;
		*v |= (uint64_t)*d->p++ << (8 * i);
	}
	return 0;
}

/* git's delta (gitformat-pack(5)): copies from the base and literal bytes. 0 or -1. */
static int delta_apply(const struct buf *delta, const char *base, size_t n, struct buf *out)
{
	struct delta d = { (const unsigned char *)buf_str(delta), NULL };
	uint64_t from, to;

	d.end = d.p + delta->len;
	if (delta_size(&d, &from) < 0 || delta_size(&d, &to) < 0 || from != n ||
	    to > APPLY_FILE_MAX)
		return -1;
	while (d.p < d.end) {
		unsigned char op = *d.p++;
		uint64_t off, len;

		if (op & 0x80) {
			if (delta_number(&d, op & 0xf, 4, &off) < 0 ||
			    delta_number(&d, (op >> 4) & 7, 3, &len) < 0)
				return -1;
			len = len ? len : 0x10000;
			if (off > n || len > n - off || len > to - out->len ||
			    buf_add(out, base + off, (size_t)len) < 0)
				return -1;
			continue;
		}
		if (!op || op > d.end - d.p || op > to - out->len || buf_add(out, d.p, op) < 0)
			return -1;
		d.p += op;
	}
	return out->len == to ? 0 : -1;
}

/* Does an index line name contents at all? */
static bool names(const char *hex)
{
	return *hex && strspn(hex, "0") != strlen(hex);
}

/* Do @n bytes have the (perhaps shortened) object name @hex? */
static bool has_name(const char *hex, const char *data, size_t n)
{
	git_oid oid;
	char full[GIT_OID_HEXSZ + 1];

	if (git_odb_hash(&oid, data, n, GIT_OBJECT_BLOB) < 0)
		return false;
	git_oid_tostr(full, sizeof(full), &oid);
	return strncmp(full, hex, strlen(hex)) == 0;
}

/* The change of @f. NULL, or why it cannot be (static). */
static const char *change(const struct patch_file *f, const char *before, size_t n, struct buf *out)
{
	const struct patch_binary *b = &f->bin;
	auto_buf raw = BUF_INIT(APPLY_FILE_MAX + 1u);

	if (!b->data)
		return "the diff does not hold its contents (made without --binary)";
	if (names(f->new_name) && has_name(f->new_name, before, n))
		return buf_add(out, before, n) < 0 ? "it is too large" : NULL; /* there already */
	if (names(f->old_name) && !has_name(f->old_name, before, n))
		return "it is not the version that the diff was made from";
	if (inflate_exact(b, &raw) < 0)
		return "its compressed contents are damaged";
	if (b->delta && delta_apply(&raw, before, n, out) < 0)
		return "its delta does not fit";
	if (!b->delta && buf_add(out, buf_str(&raw), raw.len) < 0)
		return "it is too large";
	if (names(f->new_name) && !has_name(f->new_name, buf_str(out), out->len))
		return "the outcome is not what the diff says it should be";
	return NULL;
}

int patch_binary_apply(const struct patch_file *f, const char *before, size_t n, struct buf *out,
		       char **reason)
{
	const char *why = "libgit2 cannot be set up";

	if (git_libgit2_init() >= 0) {
		why = change(f, before ? before : "", n, out);
		git_libgit2_shutdown();
	}
	if (why)
		*reason = mem_printf("%s: binary change: %s", f->path, why);
	return !why;
}

/* Where the callback of patch_binary_take() is. */
struct taking {
	struct patch *p;
	git_diff *diff;
	size_t at;
};

static int take(const git_diff_delta *delta, const git_diff_binary *bin, void *arg)
{
	struct taking *t = arg;
	struct patch_file *f;

	while (t->at < t->p->n_files &&
	       git_diff_get_delta(t->diff, t->p->file[t->at].delta) != delta)
		t->at++;
	if (t->at >= t->p->n_files)
		return 0;
	f = &t->p->file[t->at];
	if (!bin->contains_data || bin->new_file.type == GIT_DIFF_BINARY_NONE)
		return 0;
	f->bin.data = mem_dup(bin->new_file.data, bin->new_file.datalen);
	f->bin.len = bin->new_file.datalen;
	f->bin.inflated = bin->new_file.inflatedlen;
	f->bin.delta = bin->new_file.type == GIT_DIFF_BINARY_DELTA;
	return 0;
}

int patch_binary_take(struct patch *p, git_diff *diff)
{
	struct taking t = { p, diff, 0 };

	return git_diff_foreach(diff, NULL, take, NULL, NULL, &t);
}
