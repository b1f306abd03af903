#include "profiles/limits.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

#define ROW(kind_, name_, json_, doc_)                                                             \
	[kind_] = { .name = name_,                                                                 \
		    .kind = json_,                                                                 \
		    .off = offsetof(struct limits, max) + (kind_) * sizeof(uint64_t),              \
		    .doc = doc_ }

/* clang-format off */
const struct json_field limits_rows[LIMIT_MAX + 1] = {
	ROW(LIMIT_WALL,		 "wall",	  JSON_DURATION, "wall time of the run; 0 = no limit"),
	ROW(LIMIT_CPU,		 "cpu",		  JSON_DURATION, "CPU time, user and system, of the whole box"),
	ROW(LIMIT_MEMORY,	 "memory",	  JSON_SIZE,	 "memory of the whole box"),
	ROW(LIMIT_PROCESSES,	 "processes",	  JSON_U64,	 "processes and threads alive at once"),
	ROW(LIMIT_OPEN_FILES,	 "open_files",	  JSON_U64,	 "open descriptors per process"),
	ROW(LIMIT_DISK,		 "disk",	  JSON_SIZE,	 "bytes written to the box's layers"),
	ROW(LIMIT_OUTPUT,	 "output",	  JSON_SIZE,	 "bytes on stdout and stderr together"),
	ROW(LIMIT_MODEL_CALLS,	 "model_calls",	  JSON_U64,	 "calls of the model API"),
	ROW(LIMIT_INPUT_TOKENS,	 "input_tokens",  JSON_U64,	 "tokens sent to the model"),
	ROW(LIMIT_OUTPUT_TOKENS, "output_tokens", JSON_U64,	 "tokens the model answered with"),
	ROW(LIMIT_TOTAL_TOKENS,	 "total_tokens",  JSON_U64,	 "tokens in both directions"),
	ROW(LIMIT_DOLLARS,	 "dollars",	  JSON_MONEY,	 "price of all model calls, such as \"3.00\""),
	[LIMIT_MAX] = { .name = NULL },
};
/* clang-format on */

const char *limits_name(enum limit_kind kind)
{
	ensure(kind >= 0 && kind < LIMIT_MAX, "a limit of the table");
	return limits_rows[kind].name;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* The largest unit that divides @v; @units go from large to small and end with factor 1. */
static void scaled(const struct unit *units, uint64_t v, char out[40])
{
	while (units->factor > 1 && v % units->factor)
		units++;
	snprintf(out, 40, "%llu%s", (unsigned long long)(v / units->factor), units->suffix);
}

static void money(uint64_t v, char out[40])
{
	unsigned frac = (unsigned)(v % 1000000), digits = 6;

	for (; digits > 2 && frac % 10 == 0; digits--)
		frac /= 10;
	snprintf(out, 40, "%llu.%0*u", (unsigned long long)(v / 1000000), (int)digits, frac);
}

const char *limits_text(enum limit_kind kind, uint64_t v, char out[40])
{
	static const struct unit times[] = {
		{ "d", 86400000000000ull }, { "h", 3600000000000ull }, { "m", 60000000000ull },
		{ "s", 1000000000ull },     { "ms", 1000000ull },      { "ns", 1 },
	};
	static const struct unit sizes[] = {
		{ "T", 1ull << 40 }, { "G", 1ull << 30 }, { "M", 1ull << 20 },
		{ "K", 1ull << 10 }, { "", 1 },
	};
	static const struct unit plain[] = { { "", 1 } };
	enum json_kind json = limits_rows[kind].kind;

	if (json == JSON_MONEY)
		money(v, out);
	else if (v == 0)
		snprintf(out, 40, "0");
	else
		scaled(json == JSON_DURATION ? times : json == JSON_SIZE ? sizes : plain, v, out);
	return out;
}
