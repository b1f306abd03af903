#include "units.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>

#include "table.h"

static unsigned long factor_of(char unit)
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
		factor = factor_of(*text++);
		if (!factor || *text)
			return -1;
	}
	*ret = n * factor;
	return 0;
}
