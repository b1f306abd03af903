#include "units.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>

#include "table.h"

unsigned long units_factor(char unit)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].unit == unit)
			return table[i].factor;
	}
	return 0;
}

int units_parse(const char *text, unsigned long *ret)
{
	unsigned long n = 0, factor = 1;

	if (!isdigit((unsigned char)*text))
		return -1;
	while (isdigit((unsigned char)*text)) {
		unsigned digit = (unsigned)(*text++ - '0');

		if (n > (ULONG_MAX - digit) / 10)
			return -1;
		n = n * 10 + digit;
	}
	if (*text) {
		factor = units_factor(*text++);
		if (!factor || *text)
			return -1;
	}
	*ret = n * factor;
	return 0;
}

char units_best(unsigned long n, unsigned long *ret)
{
	char unit = 0;

	*ret = 1;
	for (size_t i = 0; n && i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].factor > *ret && n % table[i].factor == 0) {
			*ret = table[i].factor;
			unit = table[i].unit;
		}
	}
	return unit;
}
