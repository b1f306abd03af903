#include "duration.h"

#include <ctype.h>
#include <stdio.h>

struct unit {
	char letter;
	uint64_t seconds;
};

static const struct unit units[] = {
	{ 'd', 24 * 3600 },
	{ 'h', 3600 },
	{ 'm', 60 },
	{ 's', 1 },
};

#define UNITS (sizeof(units) / sizeof(units[0]))

/* Seconds of one unit, 0 when there is no such unit. */
static uint64_t unit_seconds(char letter)
{
	for (size_t i = 0; i < UNITS; i++) {
		if (units[i].letter == letter)
			return units[i].seconds;
	}
	return 0;
}

/* Read a whole number at *text and move *text behind it. 0, or -1 when there is none. */
static int read_number(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t n = 0;

	if (!isdigit((unsigned char)*p))
		return -1;
	while (isdigit((unsigned char)*p)) {
		n = n * 10 + (uint64_t)(*p - '0');
		p++;
	}
	*text = p;
	*ret = n;
	return 0;
}

/* Add n units of so many seconds to *total. */
static int add_part(uint64_t *total, uint64_t n, uint64_t seconds)
{
	*total += n * seconds;
	return 0;
}

int duration_parse(const char *text, uint64_t *ret)
{
	uint64_t total = 0;

	if (!*text)
		return -1;
	while (*text) {
		uint64_t n, seconds;

		if (read_number(&text, &n) < 0)
			return -1;
		seconds = unit_seconds(*text);
		if (!seconds)
			return -1;
		text++;

		if (add_part(&total, n, seconds) < 0)
			return -1;
	}
	*ret = total;
	return 0;
}

int duration_format(uint64_t seconds, char *out, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < UNITS; i++) {
		uint64_t count = seconds / units[i].seconds;
		int w;

		if (!count && (len || units[i].letter != 's'))
			continue;
		w = snprintf(out + len, n - len, "%llu%c", (unsigned long long)count,
			     units[i].letter);
		if (w < 0 || (size_t)w >= n - len)
			return -1;
		len += (size_t)w;
		seconds %= units[i].seconds;
	}
	return (int)len;
}
