/* The bounded buffer against a plain model, at and around its maximum. */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void limits(void)
{
	auto_buf b = BUF_INIT(10);

	tap_is_str(buf_str(&b), "", "an empty buffer is \"\"");
	tap_ok(buf_adds(&b, "0123456789") == 0 && !b.full, "filling to the maximum");
	tap_ok(buf_addc(&b, 'x') < 0 && b.full, "one more is refused");
	tap_is_str(buf_str(&b), "0123456789", "what was there stays");
	tap_ok(buf_add(&b, "", 0) == 0, "nothing fits always");
	buf_clear(&b);
	tap_ok(b.len == 0 && !b.full && b.cap > 0, "clear keeps the memory");
	tap_ok(buf_adds(&b, "01234567890") < 0 && b.len == 0, "a piece too long is refused whole");
	tap_ok(buf_addf(&b, "%s", "0123456789a") < 0 && b.len == 0, "also by printf");
	tap_ok(buf_add(&b, "", SIZE_MAX) < 0, "a length that would overflow is refused");
	buf_clear(&b);
	buf_addu(&b, 0);
	buf_addu(&b, 42);
	tap_is_str(buf_str(&b), "042", "decimal numbers");
	buf_done(&b);
	tap_ok(!b.data && !b.cap && b.max == 10, "done empties");
	tap_ok(buf_adds(&b, "again") == 0, "and the buffer is usable again");
}

static void numbers(void)
{
	static const uint64_t v[] = { 0, 9, 10, 4294967295u, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		auto_buf b = BUF_INIT(100);
		char want[32];

		buf_addu(&b, v[i]);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)v[i]);
		tap_is_str(buf_str(&b), want, "buf_addu");
	}
}

static void stealing(void)
{
	struct buf b = BUF_INIT(100);
	size_t n = 99;
	char *p;

	p = buf_steal(&b, &n);
	tap_ok(p && !*p && n == 0, "stealing from an empty buffer gives \"\"");
	free(p);
	buf_add(&b, "a\0b", 3);
	p = buf_steal(&b, &n);
	tap_ok(n == 3 && memcmp(p, "a\0b", 4) == 0, "stolen bytes end with NUL");
	tap_ok(!b.data && b.len == 0, "the buffer is empty");
	free(p);
	b.max = 1;
	buf_adds(&b, "ab");
	free(buf_steal(&b, NULL));
	tap_ok(!b.full, "stealing forgets that something was refused");
	buf_done(&b);
}

static void model(void)
{
	auto_free char *want = mem_alloc(5000);
	auto_buf b = BUF_INIT(5000);
	size_t n = 0;
	bool same = true;

	srand(1);
	for (int i = 0; i < 20000; i++) {
		char piece[64];
		size_t len = (size_t)rand() % sizeof(piece);
		bool fits = n + len <= 5000;

		for (size_t k = 0; k < len; k++)
			piece[k] = (char)rand();
		if (rand() % 400 == 0) {
			buf_clear(&b);
			n = 0;
			continue;
		}
		same = same && (buf_add(&b, piece, len) == 0) == fits;
		if (fits) {
			memcpy(want + n, piece, len);
			n += len;
		}
		same = same && b.len == n && (!b.data || b.data[n] == '\0') && b.cap <= 10000;
	}
	tap_ok(same && memcmp(buf_str(&b), want, n) == 0, "20000 random additions as the model");
}

static void reserve(void)
{
	auto_buf b = BUF_INIT(8);
	char *p = buf_reserve(&b, 8);

	tap_ok(p != NULL, "reserve up to the maximum");
	memcpy(p, "12345678", 9);
	b.len = 8;
	tap_is_str(buf_str(&b), "12345678", "room for the NUL is included");
	tap_ok(buf_reserve(&b, 1) == NULL && b.full, "reserve past the maximum");
}

int main(void)
{
	limits();
	numbers();
	stealing();
	model();
	reserve();
	return tap_done();
}
