#include "duration.h"

#include <stdio.h>
#include <string.h>

static int count, failed;

static void ok(int good, const char *name)
{
	count++;
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", count, name);
}

/* text is seconds long. */
static void reads(const char *text, uint64_t seconds, const char *name)
{
	uint64_t got = 0;

	ok(duration_parse(text, &got) == 0 && got == seconds, name);
}

/* text is refused and the result left alone. */
static void refuses(const char *text, const char *name)
{
	uint64_t got = 4711;

	ok(duration_parse(text, &got) == -1 && got == 4711, name);
}

static void writes(uint64_t seconds, const char *text, const char *name)
{
	char out[64];

	ok(duration_format(seconds, out, sizeof(out)) == (int)strlen(text) && !strcmp(out, text),
	   name);
}

int main(void)
{
	char tiny[4];

	reads("90s", 90, "seconds");
	reads("5m", 300, "minutes");
	reads("1d12h30m", 131400, "several units");
	reads("0s", 0, "nothing");
	reads("366d", 366ull * 24 * 3600, "the longest duration");
	refuses("", "empty text");
	refuses("h", "a unit without a number");
	refuses("5", "a number without a unit");
	refuses("5x", "an unknown unit");
	writes(0, "0s", "write nothing");
	writes(131400, "1d12h30m", "write several units");
	ok(duration_format(131400, tiny, sizeof(tiny)) == -1, "write into too little room");

	printf("1..%d\n", count);
	return failed ? 1 : 0;
}
