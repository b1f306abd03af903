#include "sandbox/gitpack.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/oidset.h"

#define OUT_SIZE    (256u << 10)
#define STORED_MAX  65535u /* bytes of one stored block (RFC 1951 section 3.2.4) */
#define HEADER_SIZE 12u
#define FAN         256u

struct gitpack {
	char *dir; /* owned */
	char *tmp; /* owned; NULL once the file has its name */
	int fd;
	uint8_t *out; /* owned; bytes not written yet */
	size_t out_len;
	uint64_t at; /* size of the pack so far, buffered bytes included */
	struct oidset ids;
	uint64_t *off; /* owned; by index in ids */
	size_t off_cap;
	uint32_t *crc; /* owned; by index in ids */
	size_t crc_cap;
	uint32_t crc_table[256];
};

static void crc_init(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
		table[i] = c;
	}
}

static uint32_t crc_more(const uint32_t table[256], uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	while (n--)
		crc = table[(crc ^ *p++) & 0xff] ^ (crc >> 8);
	return ~crc;
}

/* RFC 1950 section 8.2. */
static uint32_t adler(const uint8_t *p, size_t n)
{
	uint32_t a = 1, b = 0;

	while (n) {
		size_t part = n < 5552 ? n : 5552; /* most bytes before b can overflow */

		n -= part;
		while (part--) {
			a += *p++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

int gitpack_new(const char *dir, struct gitpack **ret, struct err *err)
{
	struct gitpack *p = mem_zalloc(1, sizeof(*p));

	p->dir = mem_strdup(dir);
	p->tmp = mem_printf("%s/tmp_pack_XXXXXX", dir);
	p->fd = mkostemp(p->tmp, O_CLOEXEC);
	if (p->fd < 0) {
		int rc = err_sys(err, "cannot make a pack file in %s", dir);

		free(take_ptr(&p->tmp));
		gitpack_free(p);
		return rc;
	}
	p->out = mem_alloc(OUT_SIZE);
	memset(p->out, 0, HEADER_SIZE); /* filled in when the number of objects is known */
	p->out_len = HEADER_SIZE;
	p->at = HEADER_SIZE;
	crc_init(p->crc_table);
	*ret = p;
	return 0;
}

static int flush(struct gitpack *p, struct err *err)
{
	if (fd_write_all(p->fd, p->out, p->out_len) < 0)
		return err_sys(err, "cannot write %s", p->tmp);
	p->out_len = 0;
	return 0;
}

int gitpack_put(struct gitpack *p, const void *data, size_t n, struct err *err)
{
	const uint8_t *s = data;
	uint32_t *crc = &p->crc[p->ids.n - 1];

	*crc = crc_more(p->crc_table, *crc, s, n);
	p->at += n;
	while (n) {
		size_t room = OUT_SIZE - p->out_len, part = n < room ? n : room;

		memcpy(p->out + p->out_len, s, part);
		p->out_len += part;
		s += part;
		n -= part;
		if (p->out_len == OUT_SIZE && flush(p, err) < 0)
			return -ERR_SYS;
	}
	return 0;
}

uint64_t gitpack_offset(const struct gitpack *p, const git_oid *id)
{
	ssize_t i = oidset_find(&p->ids, id);

	return i < 0 ? 0 : p->off[i];
}

uint64_t gitpack_tell(const struct gitpack *p)
{
	return p->at;
}

void gitpack_entry(struct gitpack *p, const git_oid *id)
{
	bool is_new;
	size_t i = oidset_add(&p->ids, id, &is_new);

	ensure(is_new, "an object goes into a pack once");
	MEM_GROW(p->off, p->off_cap, i + 1);
	MEM_GROW(p->crc, p->crc_cap, i + 1);
	p->off[i] = p->at;
	p->crc[i] = 0;
}

void gitpack_id(git_object_t type, const void *data, size_t n, git_oid *ret_id)
{
	char head[64];
	int len = snprintf(head, sizeof(head), "%s %zu", git_object_type2string(type), n);
	SHA1_CTX ctx;

	SHA1Init(&ctx);
	SHA1Update(&ctx, (const uint8_t *)head, (size_t)len + 1);
	SHA1Update(&ctx, data, n);
	SHA1Final(ret_id->id, &ctx);
}

/* Type and size of an entry: four bits of the size, then seven at a time. */
static size_t entry_head(git_object_t type, size_t n, uint8_t out[16])
{
	size_t len = 0;
	uint8_t c = (uint8_t)(((unsigned)type << 4) | (n & 15));

	for (n >>= 4; n; n >>= 7) {
		out[len++] = c | 0x80;
		c = n & 0x7f;
	}
	out[len++] = c;
	return len;
}

/* A zlib stream (RFC 1950) of stored blocks. */
static int put_stored(struct gitpack *p, const uint8_t *data, size_t n, struct err *err)
{
	static const uint8_t zlib_head[2] = { 0x78, 0x01 };
	uint32_t sum = htobe32(adler(data, n));
	bool last;

	if (gitpack_put(p, zlib_head, sizeof(zlib_head), err) < 0)
		return -ERR_SYS;
	do {
		uint16_t part = (uint16_t)(n < STORED_MAX ? n : STORED_MAX);
		uint8_t head[5];

		last = part == n;
		head[0] = last;
		head[1] = (uint8_t)(part & 0xff);
		head[2] = (uint8_t)(part >> 8);
		head[3] = (uint8_t)~head[1];
		head[4] = (uint8_t)~head[2];
		if (gitpack_put(p, head, sizeof(head), err) < 0 ||
		    gitpack_put(p, data, part, err) < 0)
			return -ERR_SYS;
		data += part;
		n -= part;
	} while (!last);
	return gitpack_put(p, &sum, sizeof(sum), err);
}

int gitpack_add(struct gitpack *p, git_object_t type, const void *data, size_t n, git_oid *ret_id,
		struct err *err)
{
	uint8_t head[16];
	git_oid id;

	gitpack_id(type, data, n, &id);
	if (ret_id)
		*ret_id = id;
	if (oidset_find(&p->ids, &id) >= 0)
		return 0;
	gitpack_entry(p, &id);
	if (gitpack_put(p, head, entry_head(type, n, head), err) < 0)
		return -ERR_SYS;
	return put_stored(p, data, n, err);
}

/* Fill the header in, hash the whole file (its number of objects is known only now) and append the
 * trailer. */
static int seal(struct gitpack *p, uint8_t sum[SHA1_DIGEST_LENGTH], struct err *err)
{
	uint32_t head[3] = { htobe32(0x5041434b), htobe32(2), htobe32((uint32_t)p->ids.n) };
	uint64_t at = 0;
	SHA1_CTX ctx;

	if (flush(p, err) < 0)
		return -ERR_SYS;
	if (pwrite(p->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return err_sys(err, "cannot write %s", p->tmp);
	SHA1Init(&ctx);
	while (at < p->at) {
		ssize_t n = pread(p->fd, p->out, OUT_SIZE, (off_t)at);

		if (n <= 0)
			return err_sys(err, "cannot read %s back", p->tmp);
		SHA1Update(&ctx, p->out, (size_t)n);
		at += (uint64_t)n;
	}
	SHA1Final(sum, &ctx);
	if (fd_write_all(p->fd, sum, SHA1_DIGEST_LENGTH) < 0)
		return err_sys(err, "cannot write %s", p->tmp);
	return 0;
}

static int by_id(const void *a, const void *b, void *arg)
{
	const struct oidset *ids = arg;

	return memcmp(ids->id[*(const uint32_t *)a].id, ids->id[*(const uint32_t *)b].id,
		      GIT_OID_RAWSZ);
}

static uint8_t *put32(uint8_t *w, uint32_t v)
{
	v = htobe32(v);
	memcpy(w, &v, sizeof(v));
	return w + sizeof(v);
}

/* Index version 2: fan-out, ids, CRCs, offsets, offsets beyond 2^31, both checksums. The caller
 * frees the bytes. */
static uint8_t *make_index(const struct gitpack *p, const uint8_t sum[SHA1_DIGEST_LENGTH],
			   size_t *ret_len)
{
	size_t n = p->ids.n, big = 0, k = 0;
	auto_free uint32_t *order = mem_zalloc(n, sizeof(*order));
	uint8_t *data, *w;
	SHA1_CTX ctx;

	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		big += p->off[i] >= 1u << 31;
	}
	qsort_r(order, n, sizeof(*order), by_id, (void *)(uintptr_t)&p->ids);
	w = data = mem_zalloc(8 + 4 * FAN + n * (GIT_OID_RAWSZ + 8) + big * 8 + 40, 1);
	w = put32(w, 0xff744f63);
	w = put32(w, 2);
	for (unsigned f = 0; f < FAN; f++) {
		while (k < n && p->ids.id[order[k]].id[0] <= f)
			k++;
		w = put32(w, (uint32_t)k);
	}
	for (size_t i = 0; i < n; i++, w += GIT_OID_RAWSZ)
		memcpy(w, p->ids.id[order[i]].id, GIT_OID_RAWSZ);
	for (size_t i = 0; i < n; i++)
		w = put32(w, p->crc[order[i]]);
	big = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t off = p->off[order[i]];

		w = put32(w, off < 1u << 31 ? (uint32_t)off : 1u << 31 | (uint32_t)big++);
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t off = p->off[order[i]];

		if (off >= 1u << 31)
			w = put32(put32(w, (uint32_t)(off >> 32)), (uint32_t)off);
	}
	memcpy(w, sum, SHA1_DIGEST_LENGTH);
	w += SHA1_DIGEST_LENGTH;
	SHA1Init(&ctx);
	SHA1Update(&ctx, data, (size_t)(w - data));
	SHA1Final(w, &ctx);
	*ret_len = (size_t)(w - data) + SHA1_DIGEST_LENGTH;
	return data;
}

/* Plain write: an fsync here would wait for every file of a checkout that is under way, and a
 * scratch directory need not survive a crash of the machine. */
static int write_index(const char *path, const uint8_t *data, size_t n, struct err *err)
{
	auto_fd int fd = -1;

	/* The same objects were packed before: same name, and its file cannot be opened for writing but by
	 * root. A reader that has it keeps it. */
	if (unlink(path) < 0 && errno != ENOENT)
		return err_sys(err, "cannot replace %s", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (fd < 0 || fd_write_all(fd, data, n) < 0 || fchmod(fd, 0444) < 0)
		return err_sys(err, "cannot write %s", path);
	return 0;
}

int gitpack_finish(struct gitpack *p, uint64_t *ret_n, struct err *err)
{
	auto_free char *pack = NULL, *idx = NULL;
	auto_free uint8_t *index = NULL;
	uint8_t sum[SHA1_DIGEST_LENGTH];
	char hex[GIT_OID_HEXSZ + 1];
	git_oid name;
	size_t len;
	int rc;

	if (ret_n)
		*ret_n = p->ids.n;
	if (!p->ids.n)
		return 0;
	rc = seal(p, sum, err);
	if (rc < 0)
		return rc;
	memcpy(name.id, sum, sizeof(sum));
	git_oid_tostr(hex, sizeof(hex), &name);
	pack = mem_printf("%s/pack-%s.pack", p->dir, hex);
	idx = mem_printf("%s/pack-%s.idx", p->dir, hex);
	index = make_index(p, sum, &len);
	/* The pack before its index: a reader looks for index files. */
	if (fchmod(p->fd, 0444) < 0 || rename(p->tmp, pack) < 0)
		return err_sys(err, "cannot name %s", pack);
	free(take_ptr(&p->tmp));
	return write_index(idx, index, len, err);
}

struct gitpack *gitpack_free(struct gitpack *p)
{
	if (!p)
		return NULL;
	if (p->tmp)
		(void)unlink(p->tmp); /* best effort: the scratch is removed anyway */
	free(p->tmp);
	mem_close(&p->fd);
	free(p->dir);
	free(p->out);
	free(p->off);
	free(p->crc);
	oidset_done(&p->ids);
	free(p);
	return NULL;
}
