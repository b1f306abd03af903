#include "sandbox/packsrc.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

#define IDX_MAX    (1ull << 31)
#define IDX_HEAD   (8u + 4u * 256u)
#define WINDOW     (1u << 20)
#define HEAD_MAX   32u /* type and size take at most 10 bytes, the base 20 */
#define SUM_LEN    20u
#define OFF64_FLAG (1u << 31)

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

void packsrc_id(const struct packsrc *s, uint32_t pos, git_oid *ret)
{
	memcpy(ret->id, s->ids + (size_t)pos * GIT_OID_RAWSZ, GIT_OID_RAWSZ);
}

uint64_t packsrc_offset(const struct packsrc *s, uint32_t pos)
{
	uint32_t v = get32(s->off + (size_t)pos * 4);
	const uint8_t *big;

	if (!(v & OFF64_FLAG))
		return v;
	v &= ~OFF64_FLAG;
	if (v >= s->n64)
		return 0; /* inside the pack's header: refused by check_offsets() */
	big = s->off64 + (size_t)v * 8;
	return (uint64_t)get32(big) << 32 | get32(big + 4);
}

ssize_t packsrc_find(const struct packsrc *s, const git_oid *id)
{
	const uint8_t *fan = s->idx + 8;
	uint32_t lo = id->id[0] ? get32(fan + 4 * (id->id[0] - 1u)) : 0;
	uint32_t hi = get32(fan + 4u * id->id[0]);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int d = memcmp(s->ids + (size_t)mid * GIT_OID_RAWSZ, id->id, GIT_OID_RAWSZ);

		if (d == 0)
			return mid;
		if (d < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

/* First place in s->order whose offset is at least @at. */
static uint32_t rank_of(const struct packsrc *s, uint64_t at)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (packsrc_offset(s, s->order[mid]) < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

ssize_t packsrc_at(const struct packsrc *s, uint64_t at)
{
	uint32_t r = rank_of(s, at);

	if (r == s->n || packsrc_offset(s, s->order[r]) != at)
		return -1;
	return s->order[r];
}

const uint8_t *packsrc_bytes(struct packsrc *s, uint64_t at, size_t want, size_t *ret_n)
{
	uint64_t skip = at - s->win_at;

	if (at < s->win_at || skip >= s->win_len ||
	    (s->win_len - skip < want && s->win_len - skip < HEAD_MAX)) {
		ssize_t n;

		do {
			n = pread(s->fd, s->win, WINDOW, (off_t)at);
		} while (n < 0 && errno == EINTR);
		s->win_at = at;
		s->win_len = n > 0 ? (size_t)n : 0;
		skip = 0;
		if (n <= 0)
			return NULL;
	}
	*ret_n = s->win_len - skip < want ? (size_t)(s->win_len - skip) : want;
	return s->win + skip;
}

int packsrc_entry(struct packsrc *s, uint32_t pos, struct packsrc_entry *ret)
{
	uint64_t at = packsrc_offset(s, pos), back;
	uint32_t next = rank_of(s, at + 1);
	struct packsrc_entry e = { .at = at };
	const uint8_t *p;
	size_t n, k = 0;

	e.end = next < s->n ? packsrc_offset(s, s->order[next]) : s->end;
	p = packsrc_bytes(s, at, e.end - at < HEAD_MAX ? (size_t)(e.end - at) : HEAD_MAX, &n);
	if (!p || !n)
		return -1;
	e.type = (p[0] >> 4) & 7;
	while (k < n && p[k] & 0x80)
		k++;
	e.type_len = ++k;
	if (k > sizeof(e.head) || k >= n)
		return -1;
	memcpy(e.head, p, k);
	if (e.type == PACKSRC_REF_DELTA) {
		if (n - k < GIT_OID_RAWSZ)
			return -1;
		memcpy(e.base.id, p + k, GIT_OID_RAWSZ);
		k += GIT_OID_RAWSZ;
	} else if (e.type == PACKSRC_OFS_DELTA) {
		back = p[k] & 0x7f;
		while (p[k] & 0x80) {
			if (++k >= n || back >> 55)
				return -1;
			back = (back + 1) << 7 | (p[k] & 0x7f);
		}
		k++;
		if (!back || back >= at)
			return -1;
		e.base_at = at - back;
	} else if (e.type < GIT_OBJECT_COMMIT || e.type > GIT_OBJECT_TAG) {
		return -1;
	}
	e.head_len = k;
	*ret = e;
	return 0;
}

static int by_offset(const void *a, const void *b, void *arg)
{
	uint64_t x = packsrc_offset(arg, *(const uint32_t *)a);
	uint64_t y = packsrc_offset(arg, *(const uint32_t *)b);

	return x < y ? -1 : x > y;
}

/* Every offset inside the pack, no two the same. */
static int check_offsets(struct packsrc *s)
{
	uint64_t last = 0;

	s->order = mem_zalloc(s->n, sizeof(*s->order));
	for (uint32_t i = 0; i < s->n; i++)
		s->order[i] = i;
	qsort_r(s->order, s->n, sizeof(*s->order), by_offset, s);
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t at = packsrc_offset(s, s->order[i]);

		if (at < 12 || at <= last || at >= s->end)
			return -1;
		last = at;
	}
	return 0;
}

static int check_index(struct packsrc *s, size_t len)
{
	uint32_t last = 0;
	size_t rest;

	if (len < IDX_HEAD + 2 * SUM_LEN || get32(s->idx) != 0xff744f63 || get32(s->idx + 4) != 2)
		return -1;
	for (unsigned f = 0; f < 256; f++) {
		uint32_t v = get32(s->idx + 8 + (size_t)4 * f);

		if (v < last)
			return -1;
		last = v;
	}
	s->n = last;
	rest = len - IDX_HEAD - 2 * SUM_LEN;
	if (!last || rest / 28 < last)
		return -1;
	s->ids = s->idx + IDX_HEAD;
	s->off = s->ids + (size_t)last * 24; /* the CRCs lie between */
	s->off64 = s->off + (size_t)last * 4;
	s->n64 = (rest - (size_t)last * 28) / 8;
	return 0;
}

/* Does the index belong to this pack? Its number of objects and its trailer say so. */
static int check_pack(struct packsrc *s, size_t idx_len)
{
	uint8_t head[12], sum[SUM_LEN];
	struct stat st;

	if (fstat(s->fd, &st) < 0 || st.st_size < (off_t)(sizeof(head) + SUM_LEN))
		return -1;
	s->end = (uint64_t)st.st_size - SUM_LEN;
	if (pread(s->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    pread(s->fd, sum, SUM_LEN, (off_t)s->end) != (ssize_t)SUM_LEN)
		return -1;
	if (memcmp(head, "PACK", 4) != 0 || get32(head + 8) != s->n ||
	    memcmp(sum, s->idx + idx_len - 2 * SUM_LEN, SUM_LEN) != 0)
		return -1;
	return 0;
}

int packsrc_open(const char *idx_path, struct packsrc **ret)
{
	auto_buf idx = BUF_INIT(IDX_MAX);
	struct packsrc *s = mem_zalloc(1, sizeof(*s));
	auto_free char *pack = NULL;
	size_t n = strlen(idx_path), len;

	s->fd = -1;
	if (str_ends(idx_path, ".idx") && fd_read_file(idx_path, &idx, NULL) == 0) {
		pack = mem_printf("%.*s.pack", (int)(n - 4), idx_path);
		s->fd = open(pack, O_RDONLY | O_CLOEXEC);
	}
	s->idx = (uint8_t *)buf_steal(&idx, &len);
	s->win = mem_alloc(WINDOW);
	if (s->fd < 0 || check_index(s, len) < 0 || check_pack(s, len) < 0 ||
	    check_offsets(s) < 0) {
		packsrc_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

struct packsrc *packsrc_free(struct packsrc *s)
{
	if (!s)
		return NULL;
	mem_close(&s->fd);
	free(s->idx);
	free(s->order);
	free(s->win);
	free(s);
	return NULL;
}
