#include "format.h"

#include <stdio.h>

#include "units.h"

int format_size(char *out, size_t room, unsigned long n)
{
	unsigned long factor;
	char unit = units_best(n, &factor);

	if (!unit)
		return snprintf(out, room, "%lu", n);
	return snprintf(out, room, "%lu%c", n / factor, unit);
}

int format_column(char *out, size_t room, unsigned long n, int width)
{
	char text[32];

	format_size(text, sizeof(text), n);
	return snprintf(out, room, "%*s", width, text);
}
