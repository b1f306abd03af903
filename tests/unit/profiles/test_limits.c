/* limits.c: names, texts, and that a text reads back as the amount it came from. */
#include "profiles/limits.h"

#include "base/mem.h"
#include "base/str.h"
#include "tests/lib/tap.h"

#define SEC 1000000000ull

/* clang-format off */
static const struct {
	enum limit_kind kind;
	uint64_t v;
	const char *text;
} rows[] = {
	{ LIMIT_WALL,	     0,			 "0" },
	{ LIMIT_WALL,	     3600 * SEC,	 "1h" },
	{ LIMIT_WALL,	     90 * 60 * SEC,	 "90m" },
	{ LIMIT_WALL,	     2 * 86400 * SEC,	 "2d" },
	{ LIMIT_WALL,	     61 * SEC,		 "61s" },
	{ LIMIT_CPU,	     500000000ull,	 "500ms" },
	{ LIMIT_CPU,	     1ull,		 "1ns" },
	{ LIMIT_CPU,	     UINT64_MAX,	 "18446744073709551615ns" },
	{ LIMIT_MEMORY,	     4ull << 30,	 "4G" },
	{ LIMIT_MEMORY,	     1536ull << 20,	 "1536M" },
	{ LIMIT_DISK,	     4097,		 "4097" },
	{ LIMIT_OUTPUT,	     64ull << 20,	 "64M" },
	{ LIMIT_PROCESSES,   1024,		 "1024" },
	{ LIMIT_DOLLARS,     0,			 "0.00" },
	{ LIMIT_DOLLARS,     3000000,		 "3.00" },
	{ LIMIT_DOLLARS,     125,		 "0.000125" },
	{ LIMIT_DOLLARS,     1230000,		 "1.23" },
	{ LIMIT_DOLLARS,     100000,		 "0.10" },
};
/* clang-format on */

int main(void)
{
	char out[40];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t back = 1;

		tap_is_str(limits_text(rows[i].kind, rows[i].v, out), rows[i].text, rows[i].text);
		switch (limits_rows[rows[i].kind].kind) {
		case JSON_SIZE:
			str_size(out, &back);
			break;
		case JSON_MONEY:
			str_money(out, &back);
			break;
		case JSON_DURATION:
			if (str_ends(out, "ns"))
				continue;
			str_duration(out, &back);
			break;
		default:
			str_u64(out, &back);
		}
		tap_is_u64(back, rows[i].v, "reads back");
	}
	for (int k = 0; k < LIMIT_MAX; k++) {
		tap_ok(limits_name(k) && limits_rows[k].doc,
		       "limit %d has a name and a line of text", k);
		tap_is_u64(limits_rows[k].off, (uint64_t)k * 8, limits_name(k));
	}
	tap_ok(!limits_rows[LIMIT_MAX].name, "the rows end");
	return tap_done();
}
