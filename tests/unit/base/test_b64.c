/* Base64: the vectors of RFC 4648, what is refused, every length back and forth. */
#include "base/b64.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "tests/lib/tap.h"

static void vectors(void)
{
	static const char *const rows[][3] = {
		{ "", "", "" },
		{ "f", "Zg==", "Zg" },
		{ "fo", "Zm8=", "Zm8" },
		{ "foo", "Zm9v", "Zm9v" },
		{ "foob", "Zm9vYg==", "Zm9vYg" },
		{ "fooba", "Zm9vYmE=", "Zm9vYmE" },
		{ "foobar", "Zm9vYmFy", "Zm9vYmFy" },
		{ "\xff\xef\xbf", "/++/", "_--_" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf a = BUF_INIT(100), b = BUF_INIT(100), c = BUF_INIT(100);

		b64_add(&a, rows[i][0], strlen(rows[i][0]), false);
		tap_is_str(buf_str(&a), rows[i][1], "in text");
		b64_add(&b, rows[i][0], strlen(rows[i][0]), true);
		tap_is_str(buf_str(&b), rows[i][2], "in a URL");
		tap_ok(b64_read(&c, rows[i][1], strlen(rows[i][1])) == 0, "is read");
		tap_is_str(buf_str(&c), rows[i][0], "and comes back");
	}
}

static void refused(void)
{
	static const char *const rows[] = { "Z",    "Zg",   "Zg=",   "Zg==Zg==", "=Zg=", "====",
					    "A===", "Zm9-", "Zm9\n", "Zm 9",     "Z=g=" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_buf b = BUF_INIT(100);

		tap_ok(b64_read(&b, rows[i], strlen(rows[i])) < 0, "refused: row %zu", i);
	}
}

static void lengths(void)
{
	uint8_t bytes[70];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 11);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		auto_buf a = BUF_INIT(100), b = BUF_INIT(100), small = BUF_INIT(10);

		b64_add(&a, bytes, n, false);
		tap_ok(b64_read(&b, buf_str(&a), a.len) == 0 && b.len == n &&
			       (!n || memcmp(b.data, bytes, n) == 0),
		       "%zu bytes come back", n);
		tap_ok((b64_read(&small, buf_str(&a), a.len) < 0) == (n > 10), "the bound holds");
	}
}

int main(void)
{
	vectors();
	refused();
	lengths();
	return tap_done();
}
