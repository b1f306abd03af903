/* Sizes as texts. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stddef.h>

/* Write the shortest text that units_parse() reads back as n. Its length as snprintf() has it. */
int format_size(char *out, size_t room, unsigned long n);

/* Write n right-aligned in so many columns, with blanks in front. As format_size(). */
int format_column(char *out, size_t room, unsigned long n, int width);

#endif
